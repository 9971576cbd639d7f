//! From a schedule to a whole function: pointers set up, columns, registers saved.

use super::abi;
use super::code::Insn;
use super::columns::{Choices, Columns, ORDER};
use super::cores::Core;
use super::instructions::Op;
use super::pointers::{self, Item};
use super::rows::Rows;
use super::tiles;
use super::words::{self, Lowering};
use crate::facts::Facts;
use crate::isa::LowerError;
use crate::program::Program;
use crate::schedule::{Schedule, Words};

/// What a method may know: r2..r25 are free once r0, r1 hold the product and X, Y, Z point.
pub const FACTS: Facts = Facts {
    word_bits: 8,
    free_registers: 24,
    accumulator_registers: 3,
    constant_registers: 1,
    tile_registers: 0,
};

/// What a method may know of `core`.
pub fn facts(core: &Core) -> Facts {
    Facts {
        tile_registers: match core.multiplies() {
            true => 0,
            false => tiles::registers(core),
        },
        ..FACTS
    }
}

/// Every choice of lowering columns that may pay; the cheapest result is taken.
const CHOICES: [Choices; 2] = [
    Choices { clear_pairs: false },
    Choices { clear_pairs: true },
];

/// Functions that run `schedule`, any of which may be the cheapest.
///
/// # Errors
/// When registers run out, or a pointer cannot move where it must.
pub fn lower(schedule: &Schedule, core: &Core) -> Result<Vec<Program<Insn>>, LowerError> {
    let schedule = match schedule {
        Schedule::Tiles(tiles) => return tiles::lower(core, tiles),
        _ if !core.multiplies() => return Err(LowerError::NoMultiplier(core.name)),
        Schedule::Blocks(blocks) => blocks,
        Schedule::Words(words) => return in_words(core, words),
    };
    if let Some(blocks) = schedule.column_blocks() {
        let lowered = CHOICES.iter().map(|choices| {
            let columns = Columns::lower(schedule, &blocks, *choices);
            let Columns { items, notes, .. } = columns.map_err(|_| LowerError::Registers)?;
            function(core, &items, notes)
        });
        return lowered.collect();
    }
    let blocks = schedule.row_blocks().ok_or(LowerError::Mixed)?;
    let rows = Rows::lower(schedule.n, &blocks).map_err(|_| LowerError::Registers)?;
    Ok(vec![function(core, &rows.items, rows.notes)?])
}

/// Functions that run a schedule in words.
fn in_words(core: &Core, schedule: &Words) -> Result<Vec<Program<Insn>>, LowerError> {
    let mut list = Vec::new();
    for clear_pairs in [false, true] {
        for weight in [4, 6, 8, 12] {
            let choices = words::Choices {
                clear_pairs,
                weight,
            };
            let order: Vec<_> = ORDER.iter().map(|r| (*r, 0)).collect();
            let l = Lowering::of(schedule, &order, choices).map_err(|_| LowerError::Registers)?;
            if l.bank.scratch_words() > 0 {
                continue;
            }
            list.push(function(core, &l.items, l.notes)?);
        }
    }
    Ok(list)
}

/// A whole function: pointers set up, accesses resolved, registers saved.
fn function(
    core: &Core,
    items: &[Item],
    notes: Vec<(usize, String)>,
) -> Result<Program<Insn>, LowerError> {
    let (pointers, resolved) = pointers::resolve(items).ok_or(LowerError::Addressing)?;
    let mut body: Vec<Insn> = pointers
        .iter()
        .zip(abi::ARGUMENTS)
        .map(|(p, argument)| Insn::rr(Op::MOVW, p.low(), argument))
        .collect();
    let mut program = Program::new();
    let mut notes = notes.into_iter().peekable();
    let mut body_notes = Vec::new();
    for (i, insns) in resolved.into_iter().enumerate() {
        while let Some((_, text)) = notes.next_if(|(at, _)| *at == i) {
            body_notes.push((body.len(), text));
        }
        body.extend(insns);
    }
    let (before, after) = abi::frame(core, &body);
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
