//! Both ways through a branch on a bit that is not the same in every run, and memory joined behind them.

use super::Domain;
use super::abstract_memory::Cells;
use super::algebra::{Algebra, BitValue, Value, VarId};
use crate::fault::Fault;

/// Branches that went both ways.
#[derive(Default)]
pub(super) struct Ways {
    /// The bit of the branch that failed last.
    pub undecided: Option<BitValue>,
    /// What the next such branch does.
    pub forced: Option<bool>,
    /// Memory at branches that are not joined yet.
    pub kept: Vec<Cells<Value>>,
    /// The fault, and the address, of the first branch that was joined.
    pub first: Option<(usize, Fault)>,
}

impl Algebra {
    /// Goes on at a branch on `bit` as it was told to.
    pub(super) fn go_on(&mut self, bit: &BitValue, fault: Fault) -> Result<bool, Fault> {
        if let Some(outcome) = self.ways.forced.take() {
            self.ways.first.get_or_insert((self.pc as usize, fault));
            return Ok(outcome);
        }
        self.ways.undecided = match bit {
            // Where operands lie is no bit of theirs.
            BitValue::Public(_) => None,
            // One variable for all that is joined.
            bit => Some(Self::as_bit(self.concrete_bit(bit))),
        };
        Err(fault)
    }

    /// Where a variable was made, as reports say it.
    pub(super) fn made_at(&self, v: VarId) -> String {
        let pc = self.vars[v as usize].pc.wrapping_sub(self.first);
        format!("a word made at {pc:#x}")
    }

    /// The first branch that went both ways.
    pub fn joined(&self) -> Option<&(usize, Fault)> {
        self.ways.first.as_ref()
    }

    pub(super) fn keep_cells(&mut self) -> usize {
        self.ways.kept.push(self.memory.cells.clone());
        self.ways.kept.len() - 1
    }

    pub(super) fn resume_cells(&mut self, kept: usize) {
        if let Some(cells) = self.ways.kept.get(kept) {
            self.memory.cells.clone_from(cells);
        }
    }

    pub(super) fn join_cells(&mut self, bit: &BitValue, clear: usize) {
        let Some(other) = self.ways.kept.get(clear) else {
            return;
        };
        for (at, width, set, clear) in self.memory.meet(other) {
            let word = match width {
                8 => self.select::<8>(bit, &set, &clear),
                16 => self.select::<16>(bit, &set, &clear),
                _ => self.select::<32>(bit, &set, &clear),
            };
            self.memory.set(at, width, word);
        }
    }
}
