//! What the procedure call standard says of registers and flags at entry and at return (ARM IHI 0042).

use crate::domain::place::Base;
use crate::isa::arm::code::register;
use crate::isa::assumed::{Assumption, Back, Holds, Subject, markdown};

/// The status register below its flags, behind the registers among a machine's words.
pub const STATUS: u8 = 15;

/// What functions are entered with and give back.
pub fn rows() -> Vec<Assumption> {
    let anything = Holds::Anything;
    vec![
        Assumption::registers(
            0..=3,
            anything,
            "nobody; arguments (section 5.5)",
            Back::Free,
        ),
        Assumption::registers(4..=11, anything, "nobody", Back::Kept),
        Assumption::registers(
            12..=12,
            anything,
            "nobody (linkers' veneers write it)",
            Back::Free,
        ),
        Assumption::registers(
            13..=13,
            Holds::Stack(Base::STACK),
            "section 5.2.1: a full descending stack; a multiple of 4 always, and held to that after every instruction; \
             of 8 between functions, which the proof does not use",
            Back::Above(Base::STACK, 0),
        ),
        Assumption::registers(14..=14, Holds::ReturnAddress, "the caller's BL", Back::Free),
        Assumption {
            place: Subject::Flags(0..=3),
            what: "N, Z, C, V",
            ..Assumption::registers(0..=0, anything, "nobody", Back::Free)
        },
        Assumption {
            what: "mode, I and F of the status register",
            ..Assumption::registers(STATUS..=STATUS, anything, "nobody", Back::Untouched)
        },
    ]
}

/// The rows as a table in Markdown.
pub fn table() -> String {
    markdown(&rows(), register)
}
