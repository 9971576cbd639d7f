//! From a schedule to a whole function: columns or rows, ordered, registers saved.

use super::abi;
use super::code::Insn;
use super::columns;
use super::cores::Core;
use super::instructions::{Feature, Op};
use super::order::order;
use super::registers::{CALLEE_SAVED, CALLER_SAVED, Draft};
use super::rows;
use crate::facts::Facts;
use crate::isa::LowerError;
use crate::program::Program;
use crate::schedule::{Blocks, Schedule};

/// What a method may know of `core`: all registers but $zero, $k0, $k1, $gp, $sp and three pointers.
pub fn facts(core: &Core) -> Facts {
    let wide = core.features.has(Feature::WideAcc);
    Facts {
        word_bits: 32,
        free_registers: CALLER_SAVED.len() + CALLEE_SAVED.len(),
        // HI and LO accumulate; a low word on its way to memory, a word on its way from
        // there, and without guard bits HI before and after, a carry, and their count.
        accumulator_registers: if wide { 2 } else { 5 },
        constant_registers: 1,
        tile_registers: 0,
    }
}

/// Functions that run `schedule`: with few registers to save, and with all there are.
///
/// # Errors
/// When registers run out.
pub fn lower(schedule: &Schedule, core: &Core) -> Result<Vec<Program<Insn>>, LowerError> {
    let Schedule::Blocks(schedule) = schedule else {
        return Err(LowerError::Words);
    };
    let few = function(schedule, core, &CALLER_SAVED);
    let all = function(schedule, core, &[&CALLER_SAVED[..], &CALLEE_SAVED].concat());
    match (few, all) {
        (Ok(few), Ok(all)) => Ok(vec![few, all]),
        (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(vec![one]),
        (Err(_), Err(error)) => Err(error),
    }
}

fn function(schedule: &Blocks, core: &Core, registers: &[u8]) -> Result<Program<Insn>, LowerError> {
    let has = |feature| core.features.has(feature);
    let mut draft = Draft::new(registers.iter().copied());
    match (schedule.column_blocks(), schedule.row_blocks()) {
        (Some(blocks), _) => {
            columns::lower(schedule, &blocks, core.features, &mut draft)?;
        }
        (None, Some(blocks)) => {
            rows::lower(schedule, &blocks, has(Feature::MaddHl), &mut draft)?;
        }
        (None, None) => return Err(LowerError::Mixed),
    }
    let one = draft.known_one();
    let (before, mut after) = abi::frame(&draft.insns);
    let slot = after.pop();
    let back = after.pop();
    let (start, end) = (before.len(), before.len() + draft.insns.len());
    let one = one.map(|(at, r)| (start + at, r));
    let code = [before, draft.insns, after].concat();
    let mut ordered = order(core, &code, one);
    // The last instruction, or the move of $sp, goes to the delay slot.
    let slot = match slot {
        Some(nop) if nop.op == Op::SLL => ordered.pop().or(Some((code.len(), nop))),
        other => other.map(|insn| (code.len(), insn)),
    };
    ordered.extend(back.map(|insn| (code.len(), insn)));
    ordered.extend(slot);
    let mut program = Program::new();
    let mut remarks = vec![(0, "save registers".to_string())];
    remarks.extend(draft.notes.into_iter().map(|(at, text)| (at + start, text)));
    remarks.push((end, "restore registers, return".into()));
    let mut remarks = remarks.into_iter().peekable();
    if start == 0 {
        remarks.next();
    }
    for (index, insn) in ordered {
        while let Some((_, text)) = remarks.next_if(|(at, _)| *at <= index) {
            program.notes.push((program.insns.len(), text));
        }
        program.insns.push(insn);
    }
    Ok(program)
}
