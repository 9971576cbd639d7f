//! Place the o32 calling convention says of registers at entry and at return (MIPS ABI supplement to System V,
//! chapter 3).

use std::ops::RangeInclusive;

use crate::domain::place::Base;
use crate::isa::assumed::{Back, Holds, Row, markdown};
use crate::isa::mips::registers::REGISTERS;

/// Place a row speaks of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    Registers(RangeInclusive<u8>),
    /// HI, LO, and the guard bits where there are some.
    Accumulator,
}

impl Place {
    fn text(&self) -> String {
        let name = |r: &u8| format!("${}", REGISTERS[usize::from(r & 31)]);
        match self {
            Place::Registers(all) => match all.end() - all.start() {
                0 => name(all.start()),
                1 => format!("{}, {}", name(all.start()), name(all.end())),
                _ => format!("{} to {}", name(all.start()), name(all.end())),
            },
            Place::Accumulator => "HI, LO".into(),
        }
    }
}

/// Place functions are entered with and give back.
pub fn rows() -> Vec<Row<Place>> {
    let row = |first, last, holds, promised, back| Row {
        place: Place::Registers(first..=last),
        parts: "",
        holds,
        promised,
        back,
    };
    let anything = Holds::Anything;
    let nobody = "nobody";
    let mut rows = vec![
        row(1, 3, anything, nobody, Back::Free),
        row(4, 7, anything, "nobody; arguments", Back::Free),
        row(8, 15, anything, nobody, Back::Free),
        row(16, 23, anything, nobody, Back::Kept),
        row(24, 24, anything, nobody, Back::Free),
        row(
            25,
            25,
            Holds::OwnAddress,
            "callers of position-independent code, where the file says the address; else anything",
            Back::Free,
        ),
        row(
            26,
            27,
            Holds::Changing,
            "nobody: interrupt handlers write them at any time",
            Back::Untouched,
        ),
        row(28, 28, anything, nobody, Back::Kept),
        row(
            29,
            29,
            Holds::Stack(Base::STACK),
            "chapter 3, *The Stack Frame*: a multiple of 8 always, and held to that after every instruction; 16 bytes \
             above it are the function's to write",
            Back::Above(Base::STACK, 0),
        ),
        row(30, 30, anything, nobody, Back::Kept),
        row(31, 31, Holds::ReturnAddress, "the caller's JAL", Back::Free),
    ];
    rows.push(Row {
        place: Place::Accumulator,
        parts: "",
        holds: anything,
        promised: nobody,
        back: Back::Free,
    });
    rows
}

/// The rows as a table in Markdown.
pub fn table() -> String {
    markdown(&rows(), Place::text)
}

/// Must the callee preserve register `r`? $k0 and $k1 belong to the kernel of the system, $ra is how it returns.
pub fn is_callee_saved(r: u8) -> bool {
    rows().iter().any(|row| match &row.place {
        Place::Registers(range) => {
            let is_owed = row.back != Back::Free || row.holds == Holds::ReturnAddress;
            is_owed && range.contains(&r)
        }
        Place::Accumulator => false,
    })
}
