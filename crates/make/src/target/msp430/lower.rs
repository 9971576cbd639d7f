//! From a schedule to a whole function: words in registers, waits for the multiplier, registers saved.

use machine::isa::msp430::Msp430Isa;
use machine::isa::msp430::code::{Dest, Insn};
use machine::isa::msp430::cores::Core;
use machine::isa::msp430::multiplier::{Irq, Kind};
use machine::program::Program;

use crate::engine::straight::{self, Placed, Straight, placed};
use crate::engine::words::Choices;
use crate::facts::{Facts, Style};
use crate::lower::Limits;
use crate::refusal::{LowerError, those_made};
use crate::schedule::{Schedule, Words};
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

fn in_words(words: &Words, core: &Core, limits: Limits) -> Result<Vec<Program<Insn>>, LowerError> {
    if core.irq == Irq::MaskPerColumn {
        return Err(LowerError::NotYet("--irq mask-per-column"));
    }
    if words.lengths.len() > 3 {
        return Err(LowerError::Registers);
    }
    let made = those_made(straight::in_words::<Msp430Isa>(words, core, limits))?;
    Ok(made.into_iter().flatten().collect())
}

impl Straight for Msp430Isa {
    const MORE: &'static [usize] = &[0, 2, 4, 6, 7];
    const SHIFTS: &'static [bool] = &[false];

    fn usable(_: &Core) -> Vec<u8> {
        REGISTERS.to_vec()
    }

    fn free_of_charge(_: &Core) -> usize {
        FREE_OF_CHARGE
    }

    fn choices(_: &Core) -> Vec<Choices> {
        let choices = [true, false].map(|reuse| Choices {
            weight: 8,
            reuse,
            ..Choices::default()
        });
        choices.to_vec()
    }

    fn accumulator(core: &Core) -> Accumulator {
        Accumulator::new(core.multiplier.map_or(0, |m| m.base))
    }

    fn without_products(core: &Core) -> Option<&'static str> {
        core.multiplier.is_none().then_some(core.name)
    }

    fn function(l: &Lowering<'_>, core: &Core) -> Result<Placed<Self>, LowerError> {
        let body = settled(core, &l.insns);
        let insns: Vec<Insn> = body.iter().map(|(_, insn)| *insn).collect();
        let (before, after) = frame(core, &insns, l.bank.scratch_words())?;
        let (start, end) = (before.len(), before.len() + l.insns.len());
        let body = body.into_iter().map(|(at, insn)| (start + at, insn));
        let all = (0..).zip(before).chain(body).chain((end..).zip(after));
        Ok(placed(all, start..end, &l.notes))
    }
}

/// Cycles from the end of an instruction that begins a product of 16 by 16 bits until the multiplier may be written: SLAU049,
/// section 7.2.3; SLAU208, table 25-6.
fn busy(kind: Kind) -> u16 {
    match kind {
        Kind::Mpy16 => 3,
        Kind::Mpy32 => 4,
    }
}

/// The instructions, each with its index, with a NOP where the multiplier would be written too early.
fn settled(core: &Core, insns: &[Insn]) -> Vec<(usize, Insn)> {
    let mut list = Vec::with_capacity(insns.len());
    let busy = core
        .multiplier
        .map_or(0, |multiplier| busy(multiplier.kind));
    let mut passed = busy;
    for (at, insn) in insns.iter().enumerate() {
        let to = match insn.ops.dest() {
            Dest::Absolute(at) => core
                .multiplier
                .filter(|m| m.register(at.into()).is_some())
                .zip(Some(at)),
            Dest::Register(_) | Dest::Indexed(..) | Dest::Symbolic(_) => None,
        };
        // It writes in the last of its own cycles.
        if to.is_some() && passed + core.cycles(insn) < busy {
            list.push((at, Insn::nop()));
        }
        list.push((at, *insn));
        passed = match to.is_some_and(|(multiplier, at)| multiplier.starts(at)) {
            true => 0,
            false => (passed + core.cycles(insn)).min(busy),
        };
    }
    list
}
