//! Masked words are computed where they are read. AND, OR and EOR leave the carry alone. So a word that one of
//! them makes, and that is read once, need not be made before it is read; until then its operands stay live instead.

use machine::isa::avr::instructions::Op;

use crate::target::avr::code::{Code, VirtualInsn};

/// Moves each AND, OR and EOR of a value that is read once to where that is.
pub(super) fn sink(code: &mut Code) {
    let mut reads = vec![0; code.operands.len()];
    for value in code.steps.iter().flat_map(VirtualInsn::reads) {
        reads[value.0] += 1;
    }
    let mut waiting = vec![None; code.operands.len()];
    let mut notes = std::mem::take(&mut code.notes).into_iter().peekable();
    for (i, step) in std::mem::take(&mut code.steps).into_iter().enumerate() {
        while let Some((_, text)) = notes.next_if(|(at, _)| *at <= i) {
            code.notes.push((code.steps.len(), text));
        }
        match step {
            VirtualInsn::Two {
                op: Op::AND | Op::OR | Op::EOR,
                out,
                ..
            } if reads[out.0] == 1 => waiting[out.0] = Some(step),
            _ => place(step, &mut waiting, &mut code.steps),
        }
    }
}

/// Puts what `step` reads and waits before it.
fn place(step: VirtualInsn, waiting: &mut [Option<VirtualInsn>], steps: &mut Vec<VirtualInsn>) {
    for value in step.reads() {
        if let Some(made) = waiting[value.0].take() {
            place(made, waiting, steps);
        }
    }
    steps.push(step);
}
