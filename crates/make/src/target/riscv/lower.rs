//! What RISC-V says of its functions: registers, choices, and instructions ordered and in their shortest forms.

use machine::isa::riscv::RiscvIsa;
use machine::isa::riscv::cores::Core;

use crate::engine::frames::{Frame, frame};
use crate::engine::straight::{Placed, Straight, placed};
use crate::engine::whole::Whole;
use crate::engine::words::Choices;
use crate::facts::{Facts, Style};
use crate::refusal::LowerError;
use crate::target::riscv::accumulator::Accumulator;
use crate::target::riscv::driver::Code;
use crate::target::riscv::flow::{Flow, shortest};
use crate::target::riscv::order::{order, waits};
use crate::target::riscv::registers::{CALLEE_SAVED, CALLER_SAVED};
use crate::target::riscv::sweeps::Lowering;

/// What a method may know of `core`: all registers but zero, sp, gp, tp and three pointers.
pub fn facts(core: &Core) -> Facts {
    Facts {
        word_bits: 32,
        free_registers: RiscvIsa::usable(core).len(),
        // Three words, and a product of two.
        accumulator_registers: 5,
        constant_registers: 0,
        tile_registers: 0,
        tile_rows: false,
        one_time: false,
        style: Style::Unrolled,
    }
}

impl Straight for RiscvIsa {
    const MORE: &'static [usize] = &[0, 3, 6, 8, 10, 12, 13];
    const SHIFTS: &'static [bool] = &[true];
    const ROWS: bool = true;

    fn usable(core: &Core) -> Vec<u8> {
        let all = CALLER_SAVED.into_iter().chain(CALLEE_SAVED);
        let there = core.features.registers();
        all.filter(|r| *r < there).collect()
    }

    fn free_of_charge(core: &Core) -> usize {
        let there = core.features.registers();
        CALLER_SAVED.iter().filter(|r| **r < there).count()
    }

    /// How much dearer the way back of a value is that memory does not hold; do pointers become free?
    fn choices(core: &Core) -> Vec<Choices> {
        let choices = [(8, true), (4, true), (8, false), (4, false)];
        let choices = choices.into_iter().map(|(weight, reuse)| Choices {
            weight,
            reuse,
            rotate: waits(core),
            ..Choices::default()
        });
        choices.collect()
    }

    fn accumulators(_: &Core) -> Vec<Accumulator> {
        vec![Accumulator::default()]
    }

    fn without_products(core: &Core) -> Option<LowerError> {
        let multiplies = core.features.multiply;
        (!multiplies).then_some(LowerError::NoProducts(core.name))
    }

    fn functions(l: &Lowering<'_>, core: &Core, _: &[u8]) -> Result<Vec<Placed<Self>>, LowerError> {
        let Frame { before, after, .. } = frame::<Self>(core, &l.insns, l.bank.scratch_words())?;
        let (start, end) = (before.len(), before.len() + l.insns.len());
        let (last, rest) = after.split_last().ok_or(LowerError::Registers)?;
        let code = [&before[..], &l.insns, rest].concat();
        let mut ordered = order(core, &code);
        ordered.push((code.len(), *last));
        let short = |(at, insn)| (at, shortest(insn, core.features));
        let (program, places) = placed(ordered.into_iter().map(short), start..end, &l.notes);
        match program.insns.iter().any(|insn| insn.code().is_err()) {
            true => Err(LowerError::Displacement),
            false => Ok(vec![(program, places)]),
        }
    }
}

impl Whole for RiscvIsa {
    type Flow = Flow;
    type Code = Code;

    fn code(core: &Core) -> Code {
        Code::new(core.features)
    }

    /// A record and what is added up take all registers that need not be saved.
    fn can_recur(core: &Core) -> bool {
        core.features.registers() == 32
    }
}
