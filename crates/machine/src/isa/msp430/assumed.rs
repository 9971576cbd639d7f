//! What the EABI says of registers and flags at entry and at return (SLAA534, *MSP430 Embedded Application Binary
//! Interface*, section 3), and what is assumed of the multiplier.

use crate::domain::place::Base;
use crate::isa::assumed::{Assumption, Back, Holds, Subject, markdown};
use crate::isa::msp430::multiplier::{Irq, WORDS};

/// GIE among the flags, which are the bits of SR.
pub const INTERRUPTS: u8 = 3;
/// The multiplier's words, behind the registers among a machine's words.
pub const MULTIPLIER: u8 = 16;

/// What functions are entered with and give back.
pub fn rows(irq: Irq) -> Vec<Assumption> {
    let (anything, nobody) = (Holds::Anything, "nobody");
    let row =
        |registers, promised, back| Assumption::registers(registers, anything, promised, back);
    let last = MULTIPLIER + WORDS as u8 - 1;
    vec![
        Assumption::registers(
            1..=1,
            Holds::Stack(Base::STACK),
            "section 3.2: even always, and held to that after every instruction; CALL left the return address there",
            Back::Above(Base::STACK, 2),
        ),
        row(4..=10, nobody, Back::Kept),
        row(11..=11, nobody, Back::Free),
        row(12..=15, "nobody; arguments", Back::Free),
        Assumption {
            place: Subject::Flags(0..=2),
            what: "SR: C, Z, N",
            ..row(0..=0, nobody, Back::Free)
        },
        Assumption {
            place: Subject::Flags(INTERRUPTS..=INTERRUPTS),
            what: "SR: GIE",
            ..row(
                0..=0,
                "nobody: the caller may be in a critical section. While the function runs it is as at entry, or 0",
                Back::Kept,
            )
        },
        Assumption {
            place: Subject::Flags(4..=7),
            what: "SR: CPUOFF, OSCOFF, SCG0, SCG1",
            ..row(0..=0, nobody, Back::Kept)
        },
        Assumption {
            place: Subject::Flags(8..=8),
            what: "SR: V",
            ..row(0..=0, nobody, Back::Free)
        },
        Assumption {
            place: Subject::Words(MULTIPLIER..=last),
            what: "the multiplier",
            parts: "with a multiplier",
            ..row(0..=0, irq.promised(), Back::Free)
        },
    ]
}

/// The rows as a table in Markdown.
pub fn table() -> String {
    markdown(&rows(Irq::None), |r| format!("r{r}"))
}

/// Must the callee preserve register `r`?
pub fn is_callee_saved(r: u8) -> bool {
    (4..=10).contains(&r)
}
