//! What the procedure call standard says of registers and flags at entry and at return (ARM IHI 0042).

use std::ops::RangeInclusive;

use crate::domain::place::Base;
use crate::isa::arm::code::register;
use crate::isa::assumed::{Back, Holds, Row, markdown};

/// What a row speaks of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    Registers(RangeInclusive<u8>),
    /// N, Z, C and V.
    Flags,
    /// The rest of the status register.
    Mode,
}

impl Place {
    fn text(&self) -> String {
        match self {
            Place::Registers(all) if all.start() == all.end() => register(*all.start()),
            Place::Registers(all) => {
                format!("{} to {}", register(*all.start()), register(*all.end()))
            }
            Place::Flags => "N, Z, C, V".into(),
            Place::Mode => "mode, I and F of the status register".into(),
        }
    }
}

/// What functions are entered with and give back.
pub fn rows() -> Vec<Row<Place>> {
    let row = |place, holds, promised, back| Row {
        place,
        parts: "",
        holds,
        promised,
        back,
    };
    let anything = Holds::Anything;
    let registers = |from, to| Place::Registers(from..=to);
    vec![
        row(
            registers(0, 3),
            anything,
            "nobody; arguments (section 5.5)",
            Back::Free,
        ),
        row(registers(4, 11), anything, "nobody", Back::Kept),
        row(
            registers(12, 12),
            anything,
            "nobody (linkers' veneers write it)",
            Back::Free,
        ),
        row(
            registers(13, 13),
            Holds::Stack(Base::STACK),
            "section 5.2.1: a full descending stack; a multiple of 4 always, and held to that after every instruction; \
             of 8 between functions, which the proof does not use",
            Back::Above(Base::STACK, 0),
        ),
        row(
            registers(14, 14),
            Holds::ReturnAddress,
            "the caller's BL",
            Back::Free,
        ),
        row(Place::Flags, anything, "nobody", Back::Free),
        row(Place::Mode, anything, "nobody", Back::Untouched),
    ]
}

/// The rows as a table in Markdown.
pub fn table() -> String {
    markdown(&rows(), Place::text)
}
