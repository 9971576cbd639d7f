//! What the calling conventions of the AVR say of registers, flags and I/O registers at entry and at return.

use std::ops::RangeInclusive;

use crate::domain::place::Base;
use crate::isa::assumed::{Assumption, Back, Holds, Subject, markdown};
use crate::isa::avr::convention::Abi;
use crate::isa::avr::core::{Core, Set};

/// SP, low byte first, RAMPZ and EIND, behind the registers among a machine's words.
pub const SP: RangeInclusive<u8> = 32..=33;
pub const RAMPZ: u8 = 34;
pub const EIND: u8 = 35;

/// Which parts a row is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum On {
    All,
    /// Those that have RAMPZ and do not page data with it.
    Rampz,
    /// Those that page data with it.
    Paging,
    /// Those with a 22-bit program counter.
    Eind,
}

/// The bit of SREG that lets interrupts in.
pub const INTERRUPTS: u8 = 7;
/// Y, low and high.
const Y: [u8; 2] = [28, 29];

impl On {
    fn is(self, core: &Core) -> bool {
        match self {
            On::All => true,
            On::Rampz => core.has_rampz() && !core.pages_data(),
            On::Paging => core.pages_data(),
            On::Eind => core.has_eind(),
        }
    }

    /// Is it about some part with such a core?
    fn is_in(self, set: Set) -> bool {
        match self {
            On::All => true,
            On::Rampz | On::Paging | On::Eind => set != Set::Avrrc,
        }
    }
}

/// Registers `from ..= 31` of one kind after the other.
fn registers(abi: &Abi, from: u8) -> Vec<Assumption> {
    let row = |r: u8| {
        let (holds, promised, back) = match (abi.data_stack && Y.contains(&r), abi.zero == Some(r))
        {
            (true, _) => (
                Holds::Stack(Base::DATA_STACK),
                "CAVR-4, page 102: it is the stack pointer of data",
                Back::Above(Base::DATA_STACK, 0),
            ),
            (_, true) => (Holds::Zero, "avr-gcc, *ABI*, `__zero_reg__`", Back::Zero),
            (false, false) if abi.preserves(r) => {
                (Holds::Anything, "nobody; arguments", Back::Kept)
            }
            (false, false) => (Holds::Anything, "nobody; arguments", Back::Free),
        };
        (r, holds, promised, back)
    };
    let mut rows: Vec<Assumption> = Vec::new();
    for (r, holds, promised, back) in (from..32).map(row) {
        let like = rows
            .last_mut()
            .filter(|last| (last.holds, last.back) == (holds, back));
        match like {
            Some(Assumption {
                place: Subject::Words(range),
                ..
            }) => *range = *range.start()..=r,
            _ => rows.push(Assumption::registers(r..=r, holds, promised, back)),
        }
    }
    rows
}

/// All rows of `abi` where return addresses have `pc_bytes` bytes, whichever part they are about.
fn all(abi: &Abi, pc_bytes: u8, first_register: u8) -> Vec<(On, Assumption)> {
    let rows = registers(abi, first_register).into_iter();
    let mut rows: Vec<_> = rows.map(|row| (On::All, row)).collect();
    let mut add = |(on, place, what), parts, holds, promised, back| {
        let row = Assumption {
            place,
            what,
            parts,
            holds,
            promised,
            back,
        };
        rows.push((on, row));
    };
    let word = |on, id: u8, what| (on, Subject::Words(id..=id), what);
    let (stack, anything) = (Holds::Stack(Base::STACK), Holds::Anything);
    let promised = "the hardware: CALL and PUSH store at SP, then lower it";
    add(
        (On::All, Subject::Words(SP), "SP"),
        "",
        stack,
        promised,
        Back::Above(Base::STACK, pc_bytes),
    );
    let arithmetic = (On::All, Subject::Flags(0..=6), "SREG: C, Z, N, V, S, H, T");
    add(arithmetic, "", anything, "nobody", Back::Free);
    let promised = "nobody: the caller may be in a critical section. While the function runs it is as at entry, or 0";
    add(
        (On::All, Subject::Flags(INTERRUPTS..=INTERRUPTS), "SREG: I"),
        "",
        anything,
        promised,
        Back::Kept,
    );
    let over_flash = "more than 64 KB of flash, no more of data";
    let promised = match abi.data_stack {
        true => "nobody (CAVR-4, page 102: scratch)",
        false => {
            "nobody: avr-gcc leaves there what ELPM needed last (GCC manual, AVR options, RAMPZ)"
        }
    };
    add(
        word(On::Rampz, RAMPZ, "RAMPZ"),
        over_flash,
        anything,
        promised,
        Back::Free,
    );
    let promised = match abi.data_stack {
        true => {
            "callers whose data pointers have 16 bits, as ours; CAVR-4 says only that it is scratch"
        }
        false => {
            "startup code, every function and interrupt handler (GCC manual, AVR options, RAMPZ)"
        }
    };
    add(
        word(On::Paging, RAMPZ, "RAMPZ"),
        "more than 64 KB of data (XMEGA)",
        Holds::Zero,
        promised,
        Back::Zero,
    );
    add(
        (On::Paging, Subject::Elsewhere, "RAMPX, RAMPY, RAMPD"),
        "more than 64 KB of data (XMEGA)",
        Holds::Zero,
        promised,
        Back::Untouched,
    );
    let over_pc = "22-bit program counter";
    match abi.data_stack {
        true => add(
            word(On::Eind, EIND, "EIND"),
            over_pc,
            anything,
            "nobody (CAVR-4, page 102: scratch)",
            Back::Free,
        ),
        false => add(
            word(On::Eind, EIND, "EIND"),
            over_pc,
            Holds::Zero,
            "reset, and a linker that puts what is called indirectly, or a jump to it, into the lowest 128 KB; \
             no function changes it (GCC manual, AVR options, EIND)",
            Back::Zero,
        ),
    }
    rows
}

fn kept(rows: Vec<(On, Assumption)>, is_about: impl Fn(On) -> bool) -> Vec<Assumption> {
    let rows = rows.into_iter().filter(|(on, _)| is_about(*on));
    rows.map(|(_, row)| row).collect()
}

/// What functions on `core`, whose return addresses have `pc_bytes` bytes, are entered with and give back.
pub fn rows(core: &Core, pc_bytes: usize) -> Vec<Assumption> {
    let rows = all(core.abi, pc_bytes as u8, core.set.first_register());
    kept(rows, |on| on.is(core))
}

/// The rows of the convention of `core` on every part with such an instruction set, as a table in Markdown.
pub fn table(core: &Core) -> String {
    let rows = all(core.abi, core.pc_bytes as u8, core.set.first_register());
    markdown(&kept(rows, |on| on.is_in(core.set)), |r| format!("r{r}"))
}
