//! From a schedule to a whole function: columns, addressing, registers saved.

use super::abi;
use super::code::Insn;
use super::columns::Columns;
use super::cores::{Core, Effects, Pipeline};
use super::instructions::Timing;
use super::outlook::Outlook;
use super::pointers;
use super::search;
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
    tile_registers: 0,
};

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

/// The cheapest function that runs `schedule`, of all that the search ends with.
///
/// # Errors
/// When registers run out, or a pointer does not reach.
pub fn best(schedule: &Schedule, core: &Core) -> Result<Program<Insn>, LowerError> {
    let Schedule::Blocks(blocks) = schedule else {
        return Err(LowerError::Words);
    };
    let outlook = Outlook::of(blocks).ok_or(LowerError::RowMachine("an ARM7TDMI"))?;
    let mut best: Option<(u64, Program<Insn>)> = None;
    let mut error = LowerError::Registers;
    for state in search::columns(&outlook, core)? {
        match function(state, core) {
            Ok((cost, program)) => {
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    best = Some((cost, program));
                }
            }
            Err(e) => error = e,
        }
    }
    best.map(|(_, program)| program).ok_or(error)
}

/// The function of these columns, and the cycles of its body.
fn function(columns: Columns<'_>, core: &Core) -> Result<(u64, Program<Insn>), LowerError> {
    let (items, notes) = columns.finish();
    let resolved = pointers::resolve(&items).ok_or(LowerError::Addressing)?;
    let mut body = Vec::with_capacity(resolved.len());
    let mut notes = notes.into_iter().peekable();
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
    let cost = most_cycles(&body, core);
    program.insns = [before, body, after].concat();
    Ok((cost, program))
}
