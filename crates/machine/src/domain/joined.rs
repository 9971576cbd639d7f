//! A branch followed both ways, and the two states joined by the finder or by the record.

use crate::domain::answers::{Answers, Run};
use crate::domain::asked::operand_bit;
use crate::domain::variable::BitValue;
use crate::domain::word::Domain;
use crate::fault::Fault;
use crate::of_width;

/// Goes on at a branch on `bit` as it was told to.
pub fn go_on<A: Answers>(d: &mut A, bit: &BitValue, fault: Fault) -> Result<bool, Fault> {
    let pc = d.run().pc as usize;
    let ways = &mut d.run_mut().ways;
    if let Some(outcome) = ways.forced.take() {
        ways.first.get_or_insert((pc, fault));
        return Ok(outcome);
    }
    let undecided = match bit {
        // Where operands lie is no bit of theirs.
        BitValue::Public(_) => None,
        BitValue::Var(_) | BitValue::Top { .. } | BitValue::Zero { .. } | BitValue::Opaque => {
            // One variable for all that is joined.
            let bit = operand_bit(d, *bit);
            Some(d.named(bit))
        }
    };
    d.run_mut().ways.undecided = undecided;
    Err(fault)
}

/// Keeps the memory as it is now, under a number.
pub fn keep<A: Answers>(d: &mut A) -> usize {
    let run = d.run_mut();
    run.ways.kept.push(run.memory.cells.clone());
    run.ways.kept.len() - 1
}

/// The memory as it was when it was kept.
pub fn resume<A: Answers>(d: &mut A, kept: usize) {
    let run = d.run_mut();
    if let Some(cells) = run.ways.kept.get(kept) {
        run.memory.cells.clone_from(cells);
    }
}

/// The memory where `bit` is set, and the one that was kept where it is not.
pub fn join<A: Answers>(d: &mut A, bit: &BitValue, clear: usize) {
    let run = d.run_mut();
    let Some(other) = run.ways.kept.get(clear) else {
        return;
    };
    for (at, width, set, clear) in run.memory.meet(other) {
        match of_width!(width, |W| d.select::<W>(bit, &set, &clear)) {
            Ok(word) => d.run_mut().memory.set(at, width, word),
            // Of a word that no machine has nothing is known.
            Err(_) => d.run_mut().memory.remove(at),
        }
    }
}

impl Run {
    /// The first branch that went both ways.
    pub fn joined(&self) -> Option<&(usize, Fault)> {
        self.ways.first.as_ref()
    }
}
