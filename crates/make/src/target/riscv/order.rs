//! Ordering straight-line code so that it waits as little as possible.
//!
//! A greedy list scheduler: of the next `WINDOW` instructions, the first that may go now without waiting goes next.
//! Untrusted: what comes out is proved again.

use std::collections::VecDeque;

use machine::isa::clock::{Line, Scoreboard, Timed, Work};
use machine::isa::riscv::code::{Insn, Places};
use machine::isa::riscv::cores::Core;
use machine::isa::riscv::instructions::Timing;

/// Instructions looked at.
const WINDOW: usize = 64;

/// An instruction to be placed, with what the order depends on.
struct Node {
    index: usize,
    insn: Insn,
    timing: Timing,
    /// What it takes of the pipeline at most.
    work: Work,
}

impl Node {
    fn new(core: &Core, index: usize, insn: &Insn) -> Self {
        let [_, work] = core.observing(insn, &core.work(insn), None);
        Self {
            index,
            insn: *insn,
            timing: insn.form().timing,
            work,
        }
    }

    /// The place in memory it touches: pointers differ, or the contract keeps them apart.
    fn memory(&self) -> Option<(u8, i32)> {
        let touches = matches!(self.timing, Timing::Load | Timing::Store);
        touches.then_some((self.insn.ops.s, self.insn.ops.k))
    }

    fn is_store(&self) -> bool {
        self.timing == Timing::Store
    }
}

/// Does an instruction on this core ever wait for another's result?
pub fn waits(core: &Core) -> bool {
    let costs = &core.costs;
    let times = [costs.load, costs.multiply, costs.multiply_high];
    times.iter().any(|t| t.wait > 0 || t.unit > t.issue)
}

/// `code` in a better order, with the old index of each instruction.
pub fn order(core: &Core, code: &[Insn]) -> Vec<(usize, Insn)> {
    if !waits(core) {
        return code.iter().copied().enumerate().collect();
    }
    let mut pipeline = Scoreboard::default();
    let mut source = code
        .iter()
        .enumerate()
        .map(|(at, insn)| Node::new(core, at, insn));
    let mut waiting: VecDeque<Node> = source.by_ref().take(WINDOW).collect();
    let mut out = Vec::with_capacity(code.len());
    while let Some(node) = waiting.remove(choose(&waiting, &pipeline)) {
        waiting.extend(source.next());
        pipeline.issue(&node.work);
        out.push((node.index, node.insn));
    }
    out
}

/// The first instruction that waits least.
fn choose(waiting: &VecDeque<Node>, pipeline: &Scoreboard) -> usize {
    let (mut read, mut written): (Places, Places) = (0, 0);
    let mut touched: Vec<((u8, i32), bool)> = Vec::new();
    let mut best = (0, u64::MAX);
    for (i, node) in waiting.iter().enumerate() {
        let Work { reads, writes, .. } = node.work;
        let registers = reads & written | writes & (read | written);
        let same = |at| {
            let mut list = touched.iter();
            list.any(|(place, store)| *place == at && (*store || node.is_store()))
        };
        if registers == 0 && !node.memory().is_some_and(same) {
            let when = pipeline.earliest(&node.work);
            if when < best.1 {
                best = (i, when);
            }
            if when == pipeline.now() {
                break;
            }
        }
        read |= reads;
        written |= writes;
        if let Some(at) = node.memory() {
            touched.push((at, node.is_store()));
        }
    }
    best.0
}
