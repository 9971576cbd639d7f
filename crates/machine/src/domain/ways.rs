//! Both ways through a branch on a bit that is not the same in every run, and memory joined behind them.

use crate::domain::abstract_memory::Cells;
use crate::domain::variable::{BitValue, Value};
use crate::fault::Fault;

/// Branches that went both ways.
#[derive(Default)]
pub struct Ways {
    /// The bit of the branch that failed last.
    pub undecided: Option<BitValue>,
    /// What the next such branch does.
    pub forced: Option<bool>,
    /// Memory at branches that are not joined yet.
    pub kept: Vec<Cells<Value>>,
    /// The fault, and the address, of the first branch that was joined.
    pub first: Option<(usize, Fault)>,
}
