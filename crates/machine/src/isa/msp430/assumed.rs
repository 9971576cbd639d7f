//! What the calling conventions say of registers and flags at entry and at return (SLAA534, *MSP430 Embedded Application
//! Binary Interface*, section 3, and what [`convention`](crate::isa::msp430::convention) names), and what is assumed of the
//! multiplier.

use crate::domain::place::Base;
use crate::isa::assumed::{Assumption, Back, Holds, Subject, markdown};
use crate::isa::msp430::convention::{Abi, GCC, LARGE};
use crate::isa::msp430::multiplier::{Irq, WORDS};

/// GIE among the flags, which are the bits of SR.
pub const INTERRUPTS: u8 = 3;
/// The multiplier's words, behind the registers among a machine's words.
pub const MULTIPLIER: u8 = 16;

/// Bits 19 to 16 of the registers, behind those.
pub const HIGH: u8 = MULTIPLIER + WORDS as u8;

/// What functions are entered with and give back.
pub fn rows(abi: &Abi, irq: Irq) -> Vec<Assumption> {
    let (anything, nobody) = (Holds::Anything, "nobody");
    let row =
        |registers, promised, back| Assumption::registers(registers, anything, promised, back);
    let last = MULTIPLIER + WORDS as u8 - 1;
    let r11 = if abi.preserves(11) {
        Back::Kept
    } else {
        Back::Free
    };
    let mut list = vec![
        Assumption::registers(
            1..=1,
            Holds::Stack(Base::STACK),
            "section 3.2: even always, and held to that after every instruction; the call left the return address there",
            Back::Above(Base::STACK, if abi.large { 4 } else { 2 }),
        ),
        row(4..=10, nobody, Back::Kept),
        row(11..=11, nobody, r11),
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
    ];
    if abi.large {
        list.extend(high());
    }
    list
}

/// Bits 19 to 16 of the registers in the large model.
fn high() -> [Assumption; 4] {
    let row = |range: [u8; 2], what, holds, promised, back| Assumption {
        what,
        parts: "large model",
        ..Assumption::registers(HIGH + range[0]..=HIGH + range[1], holds, promised, back)
    };
    const BELOW: &str = "the linker, which puts the stack below 64 KB (-mdata-region=lower)";
    const DATA: &str = "the linker, which puts data below 64 KB; of a register without an argument no address is made";
    [
        row(
            [1, 1],
            "bits 19 to 16 of r1",
            Holds::Zero,
            BELOW,
            Back::Zero,
        ),
        row(
            [4, 10],
            "bits 19 to 16 of r4 to r10",
            Holds::Anything,
            "nobody",
            Back::Kept,
        ),
        row(
            [11, 11],
            "bits 19 to 16 of r11",
            Holds::Anything,
            "nobody",
            Back::Free,
        ),
        row(
            [12, 15],
            "bits 19 to 16 of r12 to r15",
            Holds::Zero,
            DATA,
            Back::Free,
        ),
    ]
}

/// The rows as a table in Markdown.
pub fn table() -> String {
    let mut list = rows(&GCC, Irq::None);
    let large = rows(&LARGE, Irq::None).into_iter();
    list.extend(large.skip_while(|row| row.parts != "large model"));
    markdown(&list, |r| format!("r{r}"))
}
