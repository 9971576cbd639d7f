//! From a schedule to a whole function: words in registers, waits for the multiplier, registers saved.

use machine::isa::msp430::code::{Dest, Insn};
use machine::isa::msp430::cores::Core;
use machine::isa::msp430::multiplier::{Irq, Kind};
use machine::program::Program;

use crate::allocate::OutOfRegisters;
use crate::engine::words::Choices;
use crate::facts::{Facts, Style};
use crate::lower::Limits;
use crate::refusal::LowerError;
use crate::schedule::{Schedule, WordStep, Words};
use crate::target::claims;
use crate::target::msp430::frame::frame;
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
    if core.irq == Irq::MaskPerColumn {
        return Err(LowerError::NotYet("--irq mask-per-column"));
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

/// The function of which this is the body.
fn function(words: &Words, l: Lowering<'_>, core: &Core) -> Result<Program<Insn>, LowerError> {
    let (body, places) = settled(core, &l.insns);
    let (before, after) = frame(core, &body, l.bank.scratch_words())?;
    let (start, end) = (before.len(), before.len() + body.len());
    let place = |at: usize| places.get(at).map_or(end, |place| start + place);
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

/// Cycles from the end of an instruction that begins a product of 16 by 16 bits until the multiplier may be written: SLAU049,
/// section 7.2.3; SLAU208, table 25-6.
fn busy(kind: Kind) -> u16 {
    match kind {
        Kind::Mpy16 => 3,
        Kind::Mpy32 => 4,
    }
}

/// The instructions with a NOP where the multiplier would be written too early, and where each of them is then.
fn settled(core: &Core, insns: &[Insn]) -> (Vec<Insn>, Vec<usize>) {
    let (mut list, mut places) = (Vec::with_capacity(insns.len()), Vec::new());
    let busy = core
        .multiplier
        .map_or(0, |multiplier| busy(multiplier.kind));
    let mut passed = busy;
    for insn in insns {
        let to = match insn.ops.dest() {
            Dest::Absolute(at) => core
                .multiplier
                .filter(|m| m.register(at.into()).is_some())
                .zip(Some(at)),
            Dest::Register(_) | Dest::Indexed(..) | Dest::Symbolic(_) => None,
        };
        // It writes in the last of its own cycles.
        if to.is_some() && passed + core.cycles(insn) < busy {
            list.push(Insn::nop());
        }
        places.push(list.len());
        list.push(*insn);
        passed = match to.is_some_and(|(multiplier, at)| multiplier.starts(at)) {
            true => 0,
            false => (passed + core.cycles(insn)).min(busy),
        };
    }
    (list, places)
}
