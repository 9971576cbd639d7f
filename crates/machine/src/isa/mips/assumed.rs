//! What the o32 calling convention says of registers at entry and at return (MIPS ABI supplement to System V,
//! chapter 3).

use std::ops::RangeInclusive;

use crate::domain::place::Base;
use crate::isa::assumed::{Assumption, Back, Holds, markdown};
use crate::isa::mips::registers::REGISTERS;

/// HI, LO and the guard bits, behind the registers among a machine's words.
pub const ACCUMULATOR: RangeInclusive<u8> = 32..=34;

/// What functions are entered with and give back.
pub fn rows() -> Vec<Assumption> {
    let anything = Holds::Anything;
    let nobody = "nobody";
    let mut rows = vec![
        Assumption::registers(1..=3, anything, nobody, Back::Free),
        Assumption::registers(4..=7, anything, "nobody; arguments", Back::Free),
        Assumption::registers(8..=15, anything, nobody, Back::Free),
        Assumption::registers(16..=23, anything, nobody, Back::Kept),
        Assumption::registers(24..=24, anything, nobody, Back::Free),
        Assumption::registers(
            25..=25,
            Holds::OwnAddress,
            "callers of position-independent code, where the file says the address; else anything",
            Back::Free,
        ),
        Assumption::registers(
            26..=27,
            Holds::Changing,
            "nobody: interrupt handlers write them at any time",
            Back::Untouched,
        ),
        Assumption::registers(28..=28, anything, nobody, Back::Kept),
        Assumption::registers(
            29..=29,
            Holds::Stack(Base::STACK),
            "chapter 3, *The Stack Frame*: a multiple of 8 always, and held to that after every instruction; 16 bytes \
             above it are the function's to write",
            Back::Above(Base::STACK, 0),
        ),
        Assumption::registers(30..=30, anything, nobody, Back::Kept),
        Assumption::registers(
            31..=31,
            Holds::ReturnAddress,
            "the caller's JAL",
            Back::Free,
        ),
    ];
    rows.push(Assumption {
        what: "HI, LO",
        ..Assumption::registers(ACCUMULATOR, anything, nobody, Back::Free)
    });
    rows
}

/// The rows as a table in Markdown.
pub fn table() -> String {
    markdown(&rows(), |r| format!("${}", REGISTERS[usize::from(r & 31)]))
}

/// Must the callee preserve register `r`? $k0 and $k1 belong to the kernel of the system, $ra is how it returns.
pub fn is_callee_saved(r: u8) -> bool {
    rows().iter().any(|row| {
        let is_owed = row.back != Back::Free || row.holds == Holds::ReturnAddress;
        is_owed && row.speaks_of(r)
    })
}
