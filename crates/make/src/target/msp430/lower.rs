//! From a schedule to a whole function: words in registers, waits for the multiplier, registers saved.

use machine::isa::msp430::Msp430Isa;
use machine::isa::msp430::code::Insn;
use machine::isa::msp430::cores::Core;
use machine::isa::msp430::multiplier::Kind;
use machine::program::Program;

use crate::allocate::OutOfRegisters;
use crate::engine::basic::Moves;
use crate::engine::words::Choices;
use crate::facts::{Facts, Style};
use crate::lower::Limits;
use crate::refusal::LowerError;
use crate::schedule::{Schedule, WordStep, Words};
use crate::target::claims;
use crate::target::msp430::frame::frame;
use crate::target::msp430::interrupts::{Masked, by_columns, masked};
use crate::target::msp430::pointers::along;
use crate::target::msp430::sweeps::{Accumulator, Lowering};
use crate::target::msp430::waits::settled;

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
        Schedule::Tiles(_) if core.multiplier.is_none() => Err(LowerError::NoProducts(core.name)),
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
    if core.multiplier.is_none() && words.steps.iter().any(multiplies) {
        return Err(LowerError::NoProducts(core.name));
    }
    let base = core.multiplier.map_or(0, |m| m.base);
    if words.lengths.len() > 3 {
        return Err(LowerError::Registers);
    }
    let all = &REGISTERS[..limits.registers.min(REGISTERS.len())];
    let mut counts = SAVED
        .map(|more| (FREE_OF_CHARGE + more).min(all.len()))
        .to_vec();
    counts.dedup();
    let wide = core.multiplier.is_some_and(|m| m.kind == Kind::Mpy32);
    let both: &[bool] = if wide { &[true, false] } else { &[false] };
    let (mut best, mut error) = (None, LowerError::Registers);
    for count in counts {
        for reuse in [true, false] {
            for pairs in both {
                let choices = Choices {
                    weight: 8,
                    spare: 0,
                    shifts: false,
                    rotate: false,
                    reuse,
                };
                let accumulator = Accumulator::new(base, *pairs);
                let l = Lowering::of(words, &all[..count], accumulator, choices);
                let spare = all.get(count).copied().filter(|_| wide);
                let programs = l
                    .map_err(|OutOfRegisters| LowerError::Registers)
                    .and_then(|l| functions(words, &l, core, spare));
                match programs {
                    Ok(programs) => best = cheapest(core, best.into_iter().chain(programs)),
                    Err(other) => error = other,
                }
            }
        }
    }
    match best {
        Some(best) => Ok(vec![best]),
        None => Err(error),
    }
}

/// The first of those that take the fewest cycles, whose code is straight.
fn cheapest(core: &Core, programs: impl Iterator<Item = Program<Insn>>) -> Option<Program<Insn>> {
    let cycles = |program: &Program<Insn>| {
        let insns = program.insns.iter();
        insns.map(|insn| u64::from(core.cycles(insn))).sum::<u64>()
    };
    programs.min_by_key(cycles)
}

/// Functions of which this is the body, with and without a register to fill waits with.
fn functions(
    words: &Words,
    l: &Lowering<'_>,
    core: &Core,
    spare: Option<u8>,
) -> Result<Vec<Program<Insn>>, LowerError> {
    let pointers = Msp430Isa::RESULT..=Msp430Isa::RESULT + words.lengths.len() as u8;
    let (insns, moved) = along(core, &l.insns, pointers);
    let spares = [None].into_iter().chain(spare.map(Some));
    let function = |spare| function(words, l, core, (&insns, &moved), spare);
    spares.map(function).collect()
}

/// The function of which these instructions are the body, `moved` is where those of the lowering are among them.
fn function(
    words: &Words,
    l: &Lowering<'_>,
    core: &Core,
    (insns, moved): (&[Insn], &[usize]),
    spare: Option<u8>,
) -> Result<Program<Insn>, LowerError> {
    let (mut body, mut places) = settled(core, insns, spare);
    let (masked, scratch) = (masked(core, &body), l.bank.scratch_words());
    if masked == Masked::ByColumns {
        let (closed, now) = by_columns(core, &body, 2 * scratch);
        places.iter_mut().for_each(|place| *place = now[*place]);
        body = closed;
    }
    let (before, after) = frame(core, &body, scratch, masked)?;
    let (start, end) = (before.len(), before.len() + body.len());
    let place = |at: usize| {
        let place = moved.get(at).and_then(|at| places.get(*at));
        place.map_or(end, |place| start + place)
    };
    let mut program = Program::new();
    if start > 0 {
        program.notes.push((0, "save registers".into()));
    }
    let notes = l.notes.iter();
    program
        .notes
        .extend(notes.map(|(at, text)| (place(*at), text.clone())));
    program
        .notes
        .push((end, "restore registers, return".into()));
    program.claims = claims::of(words, &l.written, |at| Some(place(at)));
    program.insns = [before, body, after].concat();
    Ok(program)
}
