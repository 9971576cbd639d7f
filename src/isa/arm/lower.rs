//! From a schedule to a whole function: columns, addressing, registers saved.

use super::abi;
use super::code::Insn;
use super::columns::{Choices, Columns};
use super::cores::{Core, Effects, Pipeline};
use super::instructions::Timing;
use super::pointers;
use crate::facts::Facts;
use crate::isa::LowerError;
use crate::program::Program;
use crate::schedule::Schedule;

/// What a method may know: of r0 to r12 and r14, three point and two take the product.
pub const FACTS: Facts = Facts {
    word_bits: 32,
    free_registers: 9,
    accumulator_registers: 3,
    constant_registers: 0,
};

/// Choices that may pay.
fn choices() -> impl Iterator<Item = Choices> {
    [1, 2, 3, 4, 6, 9, 12].into_iter().flat_map(|horizon| {
        [false, true].into_iter().flat_map(move |overlap| {
            (0..3).map(move |results| Choices {
                horizon,
                overlap,
                results,
            })
        })
    })
}

/// The most cycles of `insns`, straight through.
fn most_cycles(insns: &[Insn], core: &Core) -> u64 {
    let mut pipeline = Pipeline;
    let cost = |insn: &Insn| {
        let timing = insn.form().timing;
        let block = matches!(timing, Timing::LoadMultiple | Timing::StoreMultiple);
        let effects = Effects {
            words: if block { insn.ops.k.count_ones() } else { 0 },
            ..Effects::default()
        };
        (core.cycles)(&mut pipeline, timing, &effects).max
    };
    insns.iter().map(cost).sum()
}

/// The cheapest function that runs `schedule`, of all choices.
///
/// # Errors
/// When registers run out, or a pointer does not reach.
pub fn best(schedule: &Schedule, core: &Core) -> Result<Program<Insn>, LowerError> {
    let mut best: Option<(u64, Program<Insn>)> = None;
    let mut error = LowerError::Registers;
    for choices in choices() {
        match lower(schedule, choices) {
            Ok((program, body)) => {
                let cost = most_cycles(&body, core);
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    best = Some((cost, program));
                }
            }
            Err(e) => error = e,
        }
    }
    best.map(|(_, program)| program).ok_or(error)
}

/// The function that runs `schedule`, and its body.
///
/// # Errors
/// When registers run out, or a pointer does not reach.
pub fn lower(
    schedule: &Schedule,
    choices: Choices,
) -> Result<(Program<Insn>, Vec<Insn>), LowerError> {
    let columns = Columns::lower(schedule, choices)?;
    let resolved = pointers::resolve(&columns.items).ok_or(LowerError::Addressing)?;
    let mut body = Vec::with_capacity(resolved.len());
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
    let mut program = Program::new();
    if offset > 0 {
        program.notes.push((0, "save registers".into()));
    }
    program
        .notes
        .extend(body_notes.into_iter().map(|(at, text)| (at + offset, text)));
    program
        .notes
        .push((offset + body.len(), "restore registers".into()));
    program.insns = [before, body.clone(), after].concat();
    Ok((program, body))
}
