//! What the calling conventions of the AVR say of registers, flags and I/O registers at entry and at return.

use std::ops::RangeInclusive;

use crate::domain::place::Base;
use crate::isa::assumed::{Back, Holds, Row, markdown};
use crate::isa::avr::convention::Abi;
use crate::isa::avr::core::{Core, Set};

/// What a row speaks of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    Registers(RangeInclusive<u8>),
    /// Bits of SREG.
    Flags(RangeInclusive<u8>),
    Sp,
    /// On parts that have it, or that do not page data with it.
    Rampz,
    /// The same where data is paged with it.
    PagingRampz,
    /// RAMPX, RAMPY and RAMPD, there: no access to them is followed.
    OtherPages,
    Eind,
}

/// The bit of SREG that lets interrupts in.
pub const INTERRUPTS: u8 = 7;
/// Y, low and high.
const Y: [u8; 2] = [28, 29];

impl Place {
    fn text(&self) -> String {
        /// Names of the bits of SREG.
        const FLAGS: [&str; 8] = ["C", "Z", "N", "V", "S", "H", "T", "I"];
        let range = |name: &dyn Fn(u8) -> String, range: &RangeInclusive<u8>| {
            let (first, last) = (*range.start(), *range.end());
            match last - first {
                0 => name(first),
                1 => format!("{}, {}", name(first), name(last)),
                _ => format!("{} to {}", name(first), name(last)),
            }
        };
        match self {
            Place::Registers(all) => range(&|r| format!("r{r}"), all),
            Place::Flags(all) => {
                let names: Vec<_> = all.clone().map(|s| FLAGS[usize::from(s & 7)]).collect();
                format!("SREG: {}", names.join(", "))
            }
            Place::Sp => "SP".into(),
            Place::Rampz | Place::PagingRampz => "RAMPZ".into(),
            Place::OtherPages => "RAMPX, RAMPY, RAMPD".into(),
            Place::Eind => "EIND".into(),
        }
    }

    /// Has `core` it?
    fn is_on(&self, core: &Core) -> bool {
        match self {
            Place::Registers(_) | Place::Flags(_) | Place::Sp => true,
            Place::Rampz => core.has_rampz() && !core.pages_data(),
            Place::PagingRampz | Place::OtherPages => core.pages_data(),
            Place::Eind => core.has_eind(),
        }
    }

    /// Has some part with such a core it?
    fn is_in(&self, set: Set) -> bool {
        match self {
            Place::Registers(_) | Place::Flags(_) | Place::Sp => true,
            Place::Rampz | Place::PagingRampz | Place::OtherPages | Place::Eind => {
                set != Set::Avrrc
            }
        }
    }
}

/// Registers `from ..= 31` of one kind after the other.
fn registers(abi: &Abi, from: u8) -> Vec<Row<Place>> {
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
    let mut rows: Vec<Row<Place>> = Vec::new();
    for (r, holds, promised, back) in (from..32).map(row) {
        let like = rows
            .last_mut()
            .filter(|last| (last.holds, last.back) == (holds, back));
        match like {
            Some(Row {
                place: Place::Registers(range),
                ..
            }) => *range = *range.start()..=r,
            _ => rows.push(Row {
                place: Place::Registers(r..=r),
                parts: "",
                holds,
                promised,
                back,
            }),
        }
    }
    rows
}

/// All rows of `abi` where return addresses have `pc_bytes` bytes, whichever part they are about.
fn all(abi: &Abi, pc_bytes: u8, first_register: u8) -> Vec<Row<Place>> {
    let mut rows = registers(abi, first_register);
    let mut add = |place, parts, holds, promised, back| {
        rows.push(Row {
            place,
            parts,
            holds,
            promised,
            back,
        });
    };
    let (stack, anything) = (Holds::Stack(Base::STACK), Holds::Anything);
    let promised = "the hardware: CALL and PUSH store at SP, then lower it";
    add(
        Place::Sp,
        "",
        stack,
        promised,
        Back::Above(Base::STACK, pc_bytes),
    );
    add(Place::Flags(0..=6), "", anything, "nobody", Back::Free);
    let promised = "nobody: the caller may be in a critical section. While the function runs it is as at entry, or 0";
    add(
        Place::Flags(INTERRUPTS..=INTERRUPTS),
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
    add(Place::Rampz, over_flash, anything, promised, Back::Free);
    let promised = match abi.data_stack {
        true => {
            "callers whose data pointers have 16 bits, as ours; CAVR-4 says only that it is scratch"
        }
        false => {
            "startup code, every function and interrupt handler (GCC manual, AVR options, RAMPZ)"
        }
    };
    add(
        Place::PagingRampz,
        "more than 64 KB of data (XMEGA)",
        Holds::Zero,
        promised,
        Back::Zero,
    );
    add(
        Place::OtherPages,
        "more than 64 KB of data (XMEGA)",
        Holds::Zero,
        promised,
        Back::Untouched,
    );
    let over_pc = "22-bit program counter";
    match abi.data_stack {
        true => add(
            Place::Eind,
            over_pc,
            anything,
            "nobody (CAVR-4, page 102: scratch)",
            Back::Free,
        ),
        false => add(
            Place::Eind,
            over_pc,
            Holds::Zero,
            "reset, and a linker that puts what is called indirectly, or a jump to it, into the lowest 128 KB; \
             no function changes it (GCC manual, AVR options, EIND)",
            Back::Zero,
        ),
    }
    rows
}

/// What functions on `core` are entered with and give back.
pub fn rows(core: &Core) -> Vec<Row<Place>> {
    let first = core.set.first_register();
    let mut rows = all(core.abi, core.pc_bytes as u8, first);
    rows.retain(|row| row.place.is_on(core));
    rows
}

/// The rows of the convention of `core` on every part with such an instruction set, as a table in Markdown.
pub fn table(core: &Core) -> String {
    let mut rows = all(core.abi, core.pc_bytes as u8, core.set.first_register());
    rows.retain(|row| row.place.is_in(core.set));
    markdown(&rows, Place::text)
}
