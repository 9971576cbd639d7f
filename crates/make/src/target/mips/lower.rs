//! What a MIPS32 says of its functions: registers, choices, instructions ordered.

use machine::isa::mips::MipsIsa;
use machine::isa::mips::code::Insn;
use machine::isa::mips::cores::Core;
use machine::isa::mips::instructions::{Feature, Op};

use crate::engine::frames::{Frame, frame};
use crate::engine::straight::{Placed, Straight, placed};
use crate::engine::whole::Whole;
use crate::engine::words::Choices;
use crate::facts::{Facts, Style};
use crate::refusal::LowerError;
use crate::target::mips::accumulator::Accumulator;
use crate::target::mips::driver::Code;
use crate::target::mips::flow::Flow;
use crate::target::mips::order::order;
use crate::target::mips::registers::{CALLEE_SAVED, CALLER_SAVED};
use crate::target::mips::sweeps::Lowering;

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
        tile_rows: false,
        one_time: false,
        style: Style::Unrolled,
    }
}

impl Straight for MipsIsa {
    const MORE: &'static [usize] = &[0, CALLEE_SAVED.len()];
    const SHIFTS: &'static [bool] = &[false, true];

    fn usable(_: &Core) -> Vec<u8> {
        [&CALLER_SAVED[..], &CALLEE_SAVED].concat()
    }

    fn free_of_charge(_: &Core) -> usize {
        CALLER_SAVED.len()
    }

    /// How much dearer the way back of a value is that memory does not hold; registers that loads leave free.
    fn choices(_: &Core) -> Vec<Choices> {
        let late = [(4, 0), (8, 0), (8, 3), (8, 6)].map(|choice| (choice, false));
        let all = late.into_iter().chain([((4, 4), true)]);
        let choices = all.map(|((weight, spare), early)| Choices {
            early,
            weight,
            spare,
            rotate: true,
            ..Choices::default()
        });
        choices.collect()
    }

    fn accumulators(core: &Core) -> Vec<Accumulator> {
        let paired = [true, false].into_iter();
        let paired = paired.filter(|paired| !paired || core.features.has(Feature::MaddHl));
        let accumulator = |paired| Accumulator {
            features: core.features,
            paired,
            ..Accumulator::default()
        };
        paired.map(accumulator).collect()
    }

    fn functions(l: &Lowering<'_>, core: &Core, _: &[u8]) -> Result<Vec<Placed<Self>>, LowerError> {
        let (scratch, one) = (l.bank.scratch_words(), l.accumulator.one);
        Ok(vec![function(&l.insns, &l.notes, scratch, one, core)?])
    }
}

impl Whole for MipsIsa {
    type Flow = Flow;
    type Code = Code;

    fn code(_: &Core) -> Code {
        Code::default()
    }
}

/// A whole function with `scratch` words of memory, ordered. `one`: from which instruction on a
/// register holds 1. With it, where each instruction of `body` is.
fn function(
    body: &[Insn],
    notes: &[(usize, String)],
    scratch: usize,
    one: Option<(usize, u8)>,
    core: &Core,
) -> Result<Placed<MipsIsa>, LowerError> {
    let Frame {
        before, mut after, ..
    } = frame::<MipsIsa>(core, body, scratch)?;
    let slot = after.pop();
    let back = after.pop();
    let (start, end) = (before.len(), before.len() + body.len());
    let one = one.map(|(at, r)| (start + at, r));
    let code = [&before[..], body, &after].concat();
    let mut ordered = order(core, &code, one);
    // The last instruction, or the move of $sp, goes to the delay slot.
    let slot = match slot {
        Some(nop) if nop.op == Op::SLL => ordered.pop().or(Some((code.len(), nop))),
        other => other.map(|insn| (code.len(), insn)),
    };
    ordered.extend(back.map(|insn| (code.len(), insn)));
    ordered.extend(slot);
    // After a wait its NOP has the same index.
    Ok(placed(ordered, start..end, notes))
}
