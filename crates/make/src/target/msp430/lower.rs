//! What MSP430 says of its functions: registers, choices, pointers that move along, waits for the multiplier, interrupts.

use machine::isa::Isa;
use machine::isa::msp430::Msp430Isa;
use machine::isa::msp430::code::Insn;
use machine::isa::msp430::cores::Core;
use machine::isa::msp430::multiplier::Kind;
use machine::program::Program;

use crate::engine::basic::Moves;
use crate::engine::straight::{self, Placed, Straight, placed};
use crate::engine::words::Choices;
use crate::facts::{Facts, Style};
use crate::lower::Limits;
use crate::refusal::{LowerError, those_made};
use crate::schedule::{Scans, Schedule, Words};
use crate::target::msp430::columns;
use crate::target::msp430::frame::frame;
use crate::target::msp430::interrupts::{Masked, by_columns, masked};
use crate::target::msp430::pointers::along;
use crate::target::msp430::renamed;
use crate::target::msp430::sweeps::{Accumulator, Lowering};
use crate::target::msp430::tiles;
use crate::target::msp430::waits::settled;

/// Registers beside those that may point: first those that a function need not save.
const REGISTERS: [u8; 10] = [15, 14, 11, 10, 9, 8, 7, 6, 5, 4];
const FREE_OF_CHARGE: [u8; 3] = [15, 14, 11];

/// What a method may know: all registers but PC, SP, SR, the constant generator and two pointers.
pub fn facts(core: &Core) -> Facts {
    Facts {
        word_bits: 16,
        free_registers: REGISTERS.len(),
        accumulator_registers: 3,
        constant_registers: 0,
        tile_registers: match core.multiplier {
            Some(_) => 0,
            None => tiles::COUNT,
        },
        tile_rows: core.multiplier.is_none(),
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
    let made = match (schedule, Msp430Isa::without_products(core)) {
        (Schedule::Blocks(blocks), _) => {
            in_words(&Words::of(spec::Op::Mul, 16, blocks), core, limits)
        }
        (Schedule::Words(words), _) => in_words(words, core, limits),
        (Schedule::Tiles(tiles), Some(_)) => tiles::lower(core, tiles),
        (Schedule::Tiles(_), None) => Err(LowerError::Tiles),
        (Schedule::Scans(scans), None) => in_loops(scans, core),
        (Schedule::Scans(scans), Some(_)) if scans.strands.is_empty() => in_loops(scans, core),
        (_, Some(error)) => Err(error),
        (Schedule::Loops(_), None) => Err(LowerError::Loops),
        (Schedule::Halves(_) | Schedule::Stages(_), None) => Err(LowerError::NotYet("MSP430")),
    };
    let made = made?.into_iter();
    Ok(made.map(|p| renamed::program(core.abi, p)).collect())
}

/// Products in a pass of an inner loop, where nothing is said.
const UNROLL: [usize; 3] = [1, 2, 4];

/// Functions with loops.
fn in_loops(scans: &Scans, core: &Core) -> Result<Vec<Program<Insn>>, LowerError> {
    if scans.side.is_some() {
        return Err(LowerError::Blocks);
    }
    let unroll = match scans.unroll {
        Some(unroll) => vec![unroll],
        None => UNROLL.to_vec(),
    };
    let made = unroll.into_iter().map(|u| columns::lower(core, scans, u));
    those_made(made.collect())
}

/// The cheapest of the functions.
fn in_words(words: &Words, core: &Core, limits: Limits) -> Result<Vec<Program<Insn>>, LowerError> {
    if words.lengths.len() > 3 {
        return Err(LowerError::Registers);
    }
    let made = those_made(straight::in_words::<Msp430Isa>(words, core, limits))?;
    let cheapest = made.into_iter().flatten().min_by_key(|p| cycles(core, p));
    Ok(cheapest.into_iter().collect())
}

/// Cycles of the body, and of the call, all code being straight.
fn cycles(core: &Core, program: &Program<Insn>) -> (u64, u64) {
    let (mut body, mut call) = (0, 0);
    for insn in &program.insns {
        let cycles = u64::from(core.cycles(insn));
        call += cycles;
        if !Msp430Isa::is_frame(core, insn) {
            body += cycles;
        }
    }
    (body, call)
}

/// Is there a multiplier of 32 by 32 bits?
fn is_wide(core: &Core) -> bool {
    core.multiplier.is_some_and(|m| m.kind == Kind::Mpy32)
}

impl Straight for Msp430Isa {
    const MORE: &'static [usize] = &[0, 2, 4, 6, 7];
    const SHIFTS: &'static [bool] = &[false];

    fn usable(_: &Core) -> Vec<u8> {
        REGISTERS.to_vec()
    }

    fn free_of_charge(core: &Core) -> usize {
        let free = FREE_OF_CHARGE.iter();
        free.filter(|r| !core.abi.preserves(**r)).count()
    }

    fn choices(_: &Core) -> Vec<Choices> {
        let choices = [true, false].map(|reuse| Choices {
            weight: 8,
            reuse,
            ..Choices::default()
        });
        choices.to_vec()
    }

    /// With products of two words by two where there are any, and without.
    fn accumulators(core: &Core) -> Vec<Accumulator> {
        let pairs: &[bool] = if is_wide(core) {
            &[true, false]
        } else {
            &[false]
        };
        let base = core.multiplier.map_or(0, |m| m.base);
        let pairs = pairs.iter();
        pairs.map(|pairs| Accumulator::new(base, *pairs)).collect()
    }

    fn without_products(core: &Core) -> Option<LowerError> {
        let multiplies = core.multiplier.is_some();
        (!multiplies).then_some(LowerError::ByAdditions(core.name))
    }

    /// With and without a register to fill waits with.
    fn functions(
        l: &Lowering<'_>,
        core: &Core,
        left: &[u8],
    ) -> Result<Vec<Placed<Self>>, LowerError> {
        let pointers = Self::RESULT..=Self::RESULT + l.words.lengths.len() as u8;
        let (insns, moved) = along(core, &l.insns, pointers);
        let spare = left.first().copied().filter(|_| is_wide(core));
        let spares = [None].into_iter().chain(spare.map(Some));
        let function = |spare| function(l, core, (&insns, &moved), spare);
        spares.map(function).collect()
    }
}

/// The function of which these instructions are the body, `moved` is where those of the lowering are among them.
fn function(
    l: &Lowering<'_>,
    core: &Core,
    (insns, moved): (&[Insn], &[usize]),
    spare: Option<u8>,
) -> Result<Placed<Msp430Isa>, LowerError> {
    let (mut body, mut places) = settled(core, insns, spare);
    let (masked, scratch) = (masked(core, &body), l.bank.scratch_words());
    if masked == Masked::ByColumns {
        let (closed, now) = by_columns(core, &body, 2 * scratch);
        places.iter_mut().for_each(|place| *place = now[*place]);
        body = closed;
    }
    let (before, after) = frame(core, &body, scratch, masked)?;
    let (start, end) = (before.len(), before.len() + l.insns.len());
    // What was put before an instruction has its index.
    let index = |at| moved.partition_point(|moved| places[*moved] < at);
    let body = (0..).zip(body).map(|(at, insn)| (start + index(at), insn));
    let all = (0..).zip(before).chain(body).chain((end..).zip(after));
    Ok(placed(all, start..end, &l.notes))
}
