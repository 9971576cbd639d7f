//! From any schedule to whole functions, for machines that have loops and calls of the engine.

use machine::program::Program;

use crate::engine::calls::{self, Calls};
use crate::engine::halves::{self, Recursive};
use crate::engine::scans;
use crate::engine::straight::{Straight, in_words, registers};
use crate::engine::sweep::Sweep;
use crate::lower::Limits;
use crate::refusal::{LowerError, those_made};
use crate::schedule::{Scans, Schedule, Words};

/// A machine with words of 32 bits and without a carry flag.
pub trait Whole: Straight + Calls {
    /// Code with loops.
    type Flow: Sweep<Isa = Self>;
    /// Code of drivers.
    type Code: Recursive<Isa = Self>;

    /// No code of drivers yet.
    fn code(core: &Self::Core) -> Self::Code;

    /// Are there registers for what a product keeps that calls itself?
    fn can_recur(_core: &Self::Core) -> bool {
        true
    }
}

/// Functions that run `schedule` in the registers of the limits: with few registers to save, and with more.
///
/// # Errors
/// When registers or the stack run out, or a word is too far from its pointer.
pub fn lower<M: Whole>(
    schedule: &Schedule,
    core: &M::Core,
    limits: Limits,
) -> Result<Vec<Program<M::Insn>>, LowerError> {
    match schedule {
        Schedule::Stages(stages) => {
            calls::all::<M>(stages, core, |schedule| alone::<M>(schedule, core, limits))
        }
        schedule => alone::<M>(schedule, core, limits),
    }
}

/// The same of a schedule without stages.
///
/// # Errors
/// When registers or the stack run out, or a word is too far from its pointer.
pub fn alone<M: Whole>(
    schedule: &Schedule,
    core: &M::Core,
    limits: Limits,
) -> Result<Vec<Program<M::Insn>>, LowerError> {
    let made = match schedule {
        Schedule::Blocks(blocks) => {
            let words = Words::of(spec::Op::Mul, M::WORD_BITS, blocks);
            in_words::<M>(&words, core, limits)
        }
        Schedule::Words(words) => in_words::<M>(words, core, limits),
        Schedule::Tiles(_) => return Err(LowerError::Tiles),
        Schedule::Loops(_) => return Err(LowerError::Loops),
        Schedule::Halves(_) if !M::can_recur(core) => return Err(LowerError::Registers),
        Schedule::Halves(halves) => {
            let bases = |scans: &Scans| those_made(in_scans::<M>(scans, core, limits));
            return halves::lower(halves, bases, || M::code(core));
        }
        Schedule::Scans(scans) => return those_made(in_scans::<M>(scans, core, limits)),
        Schedule::Stages(_) => return Err(LowerError::Nested),
    };
    // The last one has the most registers.
    Ok(those_made(made)?.into_iter().flatten().collect())
}

/// The registers that need not be saved, and all there are.
fn few_and_all<M: Straight>(core: &M::Core, limits: Limits) -> [Vec<u8>; 2] {
    let all = registers::<M>(core, limits);
    let mut few = all.clone();
    few.truncate(M::free_of_charge(core));
    [few, all]
}

/// Products in a pass of an inner loop, where nothing is said.
const UNROLL: [usize; 3] = [1, 2, 4];

fn in_scans<M: Whole>(
    scans: &Scans,
    core: &M::Core,
    limits: Limits,
) -> Vec<Result<Program<M::Insn>, LowerError>> {
    if scans.side.is_some() {
        return vec![Err(LowerError::Blocks)];
    }
    if let Some(error) = M::without_products(core)
        && !scans.strands.is_empty()
    {
        return vec![Err(error)];
    }
    let unroll = match scans.unroll {
        Some(unroll) => vec![unroll],
        None => UNROLL.to_vec(),
    };
    let made = few_and_all::<M>(core, limits)
        .into_iter()
        .flat_map(|registers| {
            let made = unroll
                .iter()
                .map(move |u| scans::lower::<M::Flow>(scans, core, &registers, *u));
            made.collect::<Vec<_>>()
        });
    made.collect()
}
