//! From a schedule to a whole function: words in registers, registers saved.

use machine::isa::msp430::abi::{STACK_LIMIT, is_callee_saved};
use machine::isa::msp430::code::{Dest, Insn, Source};
use machine::isa::msp430::cores::Core;
use machine::isa::msp430::instructions::Op;
use machine::isa::msp430::multiplier::{Irq, Kind};
use machine::isa::msp430::operands::{SP, SR};
use machine::program::Program;

use crate::allocate::OutOfRegisters;
use crate::engine::words::Choices;
use crate::facts::{Facts, Style};
use crate::lower::Limits;
use crate::refusal::LowerError;
use crate::schedule::{Schedule, WordStep, Words};
use crate::target::claims;
use crate::target::msp430::sweeps::{Accumulator, Lowering};

/// Registers beside those that may point: first those that a function need not save.
const REGISTERS: [u8; 10] = [15, 14, 11, 10, 9, 8, 7, 6, 5, 4];
const FREE_OF_CHARGE: usize = 3;

/// What a method may know: all registers but PC, SP, SR, the constant generator and two pointers.
pub fn facts() -> Facts {
    Facts {
        word_bits: 16,
        free_registers: REGISTERS.len(),
        accumulator_registers: 3,
        constant_registers: 0,
        tile_registers: 0,
        one_time: false,
        style: Style::Unrolled,
    }
}

/// Functions that run `schedule` in the registers of the limits.
///
/// # Errors
/// When registers or the stack run out, or there is none for the schedule or the core.
pub fn lower(
    schedule: &Schedule,
    core: &Core,
    limits: Limits,
) -> Result<Vec<Program<Insn>>, LowerError> {
    match schedule {
        Schedule::Blocks(blocks) => in_words(&Words::of(spec::Op::Mul, 16, blocks), core, limits),
        Schedule::Words(words) => in_words(words, core, limits),
        Schedule::Tiles(_) => Err(LowerError::Tiles),
        Schedule::Loops(_) => Err(LowerError::Loops),
        Schedule::Halves(_) | Schedule::Stages(_) => Err(LowerError::NotYet("MSP430")),
        Schedule::Scans(_) => Err(LowerError::Scans),
    }
}

/// How many more registers than those free of charge are tried.
const SAVED: [usize; 5] = [0, 2, 4, 6, 7];

fn in_words(words: &Words, core: &Core, limits: Limits) -> Result<Vec<Program<Insn>>, LowerError> {
    let multiplies = |step: &WordStep| matches!(step, WordStep::Sweep(_) | WordStep::Wide { .. });
    let base = core.multiplier.map_or(0, |m| m.base);
    let kind = core.multiplier.map(|m| m.kind);
    if kind != Some(Kind::Mpy16) && words.steps.iter().any(multiplies) {
        return Err(LowerError::NotYet("cores without MPY16"));
    }
    if !matches!(core.irq, Irq::None | Irq::MaskAll) {
        return Err(LowerError::NotYet(
            "this use of the multiplier by interrupts",
        ));
    }
    if words.lengths.len() > 3 {
        return Err(LowerError::Registers);
    }
    let all = &REGISTERS[..limits.registers.min(REGISTERS.len())];
    let mut counts = SAVED
        .map(|more| (FREE_OF_CHARGE + more).min(all.len()))
        .to_vec();
    counts.dedup();
    let (mut made, mut error) = (Vec::new(), LowerError::Registers);
    for count in counts {
        for reuse in [true, false] {
            let choices = Choices {
                weight: 8,
                spare: 0,
                shifts: false,
                rotate: false,
                reuse,
            };
            let l = Lowering::of(words, &all[..count], Accumulator::new(base), choices);
            let program = l
                .map_err(|OutOfRegisters| LowerError::Registers)
                .and_then(|l| function(words, l, core));
            match program {
                Ok(program) => made.push(program),
                Err(other) => error = other,
            }
        }
    }
    if made.is_empty() {
        Err(error)
    } else {
        Ok(made)
    }
}

/// A whole function.
fn function(words: &Words, l: Lowering<'_>, core: &Core) -> Result<Program<Insn>, LowerError> {
    let written = l.insns.iter().fold(0, |all, insn| all | insn.writes());
    let saved = (4..16).filter(|r| written >> r & 1 == 1 && is_callee_saved(*r));
    let mut saved: Vec<u8> = saved.collect();
    let masks = core.multiplier.is_some() && core.irq == Irq::MaskAll;
    if masks {
        saved.push(SR);
    }
    let scratch = 2 * l.bank.scratch_words();
    let need = scratch + 2 * saved.len();
    if need as i64 > STACK_LIMIT {
        let limit = STACK_LIMIT as usize;
        return Err(LowerError::Stack { need, limit });
    }
    let moves = |op| {
        let room = Source::Constant(scratch as u16);
        (scratch > 0).then(|| Insn::two(op, room, Dest::Register(SP)))
    };
    let push = |r: &u8| Insn::one(Op::PUSH, Source::Register(*r));
    let mut program = Program::new();
    program.insns.extend(saved.iter().map(push));
    if masks {
        // DINT, and the instruction that an interrupt may still come before.
        let dint = Insn::two(Op::BIC, Source::Constant(8), Dest::Register(SR));
        program.insns.extend([dint, Insn::nop()]);
    }
    program.insns.extend(moves(Op::SUB));
    let start = program.insns.len();
    if start > 0 {
        program.notes.push((0, "save registers".into()));
    }
    let notes = l.notes.iter().map(|(at, text)| (at + start, text.clone()));
    program.notes.extend(notes);
    program.insns.extend(&l.insns);
    let end = program.insns.len();
    program
        .notes
        .push((end, "restore registers, return".into()));
    program.insns.extend(moves(Op::ADD));
    let pop = |r: &u8| Insn::pop(Dest::Register(*r));
    program.insns.extend(saved.iter().rev().map(pop));
    program.insns.push(Insn::ret());
    program.claims = claims::of(words, &l.written, |at| Some(at + start));
    Ok(program)
}
