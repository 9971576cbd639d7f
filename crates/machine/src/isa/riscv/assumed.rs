//! What the ILP32 and ILP32E calling conventions say of registers at entry and at return (*RISC-V ABIs Specification*
//! 1.0, chapters 1 and 2).

use crate::domain::place::Base;
use crate::isa::assumed::{Assumption, Back, Holds, markdown};
use crate::isa::riscv::registers::REGISTERS;

/// What functions are entered with and give back.
pub fn rows() -> Vec<Assumption> {
    let row = |registers, parts, holds, promised, back| Assumption {
        parts,
        ..Assumption::registers(registers, holds, promised, back)
    };
    let (anything, nobody, all, wide) = (Holds::Anything, "nobody", "", "ILP32");
    vec![
        row(
            1..=1,
            all,
            Holds::ReturnAddress,
            "the caller's JALR or JAL",
            Back::Free,
        ),
        row(
            2..=2,
            all,
            Holds::Stack(Base::STACK),
            "section 2.1: a multiple of 16 always, of 4 in ILP32E, and held to that after every instruction",
            Back::Above(Base::STACK, 0),
        ),
        row(
            3..=4,
            all,
            anything,
            "nobody: the program's start sets them",
            Back::Untouched,
        ),
        row(5..=7, all, anything, nobody, Back::Free),
        row(8..=9, all, anything, nobody, Back::Kept),
        row(10..=15, all, anything, "nobody; arguments", Back::Free),
        row(16..=17, wide, anything, "nobody; arguments", Back::Free),
        row(18..=27, wide, anything, nobody, Back::Kept),
        row(28..=31, wide, anything, nobody, Back::Free),
    ]
}

/// The rows as a table in Markdown.
pub fn table() -> String {
    markdown(&rows(), |r| REGISTERS[usize::from(r & 31)].into())
}

/// Must the callee preserve register `r`? ra is how it returns.
pub fn is_callee_saved(r: u8) -> bool {
    rows().iter().any(|row| {
        let is_owed = row.back != Back::Free || row.holds == Holds::ReturnAddress;
        is_owed && row.speaks_of(r)
    })
}
