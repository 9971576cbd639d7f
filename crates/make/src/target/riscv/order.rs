//! Whether code waits on a core, and which memory an instruction touches.

use std::collections::BTreeSet;

use machine::isa::riscv::code::Insn;
use machine::isa::riscv::cores::Core;
use machine::isa::riscv::instructions::Timing;

use crate::engine::order::{self, Access};

/// The word or part of a word that it touches.
fn access(insn: &Insn) -> Option<Access> {
    let timing = insn.form().timing;
    matches!(timing, Timing::Load | Timing::Store).then_some(Access {
        base: insn.ops.s,
        offset: Some(insn.ops.k),
        is_store: timing == Timing::Store,
    })
}

/// Does an instruction on this core ever wait for another's result?
pub fn waits(core: &Core) -> bool {
    let costs = &core.costs;
    let times = [costs.load, costs.multiply, costs.multiply_high];
    times.iter().any(|t| t.wait > 0 || t.unit > t.issue)
}

/// `code` in a better order, with the old index of each instruction.
pub fn order(core: &Core, code: &[Insn]) -> Vec<(usize, Insn)> {
    match waits(core) {
        true => order::order(core, code, access),
        false => code.iter().copied().enumerate().collect(),
    }
}

/// The same of code with loops, whose stretches begin at `starts`.
pub fn order_loops(core: &Core, code: &[Insn], starts: &BTreeSet<usize>) -> Vec<Insn> {
    match waits(core) {
        true => {
            let ordered = order::stretches(core, code, starts, access);
            ordered.into_iter().map(|(_, insn)| insn).collect()
        }
        false => code.to_vec(),
    }
}
