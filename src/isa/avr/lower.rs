//! From a schedule to a whole function: pointers set up, columns, registers saved.

use super::abi;
use super::code::Insn;
use super::columns::{Choices, Columns};
use super::instructions::Op;
use super::pointers;
use crate::facts::Facts;
use crate::isa::LowerError;
use crate::program::Program;
use crate::schedule::Schedule;

/// What a method may know: r2..r25 are free once r0, r1 hold the product and X, Y, Z point.
pub const FACTS: Facts = Facts {
    word_bits: 8,
    free_registers: 24,
    accumulator_registers: 3,
    constant_registers: 1,
};

/// Every choice of lowering that may pay; the cheapest result is taken.
pub const CHOICES: [Choices; 2] = [
    Choices { clear_pairs: false },
    Choices { clear_pairs: true },
];

/// The function that runs `schedule`.
///
/// # Errors
/// When registers run out, or a pointer cannot move where it must.
pub fn lower(schedule: &Schedule, choices: Choices) -> Result<Program<Insn>, LowerError> {
    if schedule.column_blocks().is_none() {
        return Err(LowerError::RowMachine("an AVR"));
    }
    let columns = Columns::lower(schedule, choices).map_err(|_| LowerError::Registers)?;
    let (pointers, resolved) = pointers::resolve(&columns.items).ok_or(LowerError::Addressing)?;
    let mut body: Vec<Insn> = pointers
        .iter()
        .zip(abi::ARGUMENTS)
        .map(|(p, argument)| Insn::rr(Op::MOVW, p.low(), argument))
        .collect();
    let mut program = Program::new();
    let mut notes = columns.notes.into_iter().peekable();
    let mut body_notes = Vec::new();
    for (i, insns) in resolved.into_iter().enumerate() {
        while let Some((_, text)) = notes.next_if(|(at, _)| *at == i) {
            body_notes.push((body.len(), text));
        }
        body.extend(insns);
    }
    let (before, after) = abi::frame(&body);
    let offset = before.len();
    program.notes.push((0, "save registers".into()));
    program.notes.push((offset, "point to r, a, b".into()));
    program
        .notes
        .extend(body_notes.into_iter().map(|(at, text)| (at + offset, text)));
    program
        .notes
        .push((offset + body.len(), "restore registers".into()));
    program.insns = [before, body, after].concat();
    Ok(program)
}
