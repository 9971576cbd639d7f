//! A lower bound on the cycles of code on values, known before registers are assigned.
//!
//! Arithmetic is counted. Loads are counted as if registers were assigned by Belady's rule (1966): spill the value
//! whose next use is farthest. If all loads cost the same, no rule loads less. Stores of
//! spilled values, copies and moves of pointers are left out.

use std::collections::BTreeSet;

use machine::isa::avr::cores::Core;
use machine::isa::avr::instructions::Timing;

use crate::target::avr::code::{Code, Value, VirtualInsn};

/// Cycles that `code` takes at least, with the registers `free`, each from a step on.
pub fn cycles(core: &Core, code: &Code, free: &[(u8, usize)]) -> u64 {
    let cost = |timing| u64::from((core.cycles)(timing));
    let step = |step: &VirtualInsn| match step {
        VirtualInsn::Mul { .. } => cost(Timing::Multiply),
        VirtualInsn::Two { .. } => cost(Timing::Alu),
        VirtualInsn::Result { .. } => cost(Timing::Store),
        // Some of these vanish.
        VirtualInsn::Clear { .. }
        | VirtualInsn::Clears { .. }
        | VirtualInsn::Mask { .. }
        | VirtualInsn::Carry { .. }
        | VirtualInsn::Set
        | VirtualInsn::Return { .. }
        | VirtualInsn::Pair { .. }
        | VirtualInsn::Move { .. } => 0,
    };
    let computed: u64 = code.steps.iter().map(step).sum();
    computed + cost(Timing::Load) * loads(code, free)
}

/// Loads if every eviction is the best one; numbers are made again for nothing.
fn loads(code: &Code, free: &[(u8, usize)]) -> u64 {
    let in_register = |value: &Value| code.product[value.0].is_none();
    // By step, those before it last.
    let mut uses = vec![vec![]; code.operands.len()];
    for (t, step) in code.steps.iter().enumerate().rev() {
        step.reads().for_each(|v| uses[v.0].push(t));
    }
    // By their next use, the values in registers.
    let mut here = BTreeSet::new();
    let mut count = 0;
    for (t, step) in code.steps.iter().enumerate() {
        let room = free.iter().filter(|(_, from)| *from <= t).count();
        for value in step.reads().filter(in_register) {
            if !here.remove(&(t, value)) && code.numbers[value.0].is_none() {
                count += 1;
            }
            uses[value.0].pop();
        }
        for value in step.reads().chain(step.makes()).filter(in_register) {
            here.extend(uses[value.0].last().map(|next| (*next, value)));
        }
        while here.len() > room {
            here.pop_last();
        }
    }
    count
}
