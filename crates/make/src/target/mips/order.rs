//! Ordering straight-line code so that it waits as little as possible.
//!
//! A greedy list scheduler: of the next `WINDOW` instructions, the first that may go now
//! without waiting goes next. Untrusted: what comes out is proved again.
//!
//! Where the multiplier is early for small operands, a wait for it becomes NOPs, so that
//! the early case has nothing to gain: the same worst case, and one time for all operands.

use machine::isa::clock::{Line, Scoreboard, Timed, Work};
use machine::isa::mips::code::{HI, Insn, LO, Places};
use machine::isa::mips::cores::Core;
use machine::isa::mips::instructions::{Op, Timing};

/// Instructions looked at.
const WINDOW: usize = 64;

/// An instruction to be placed, with what the order depends on.
struct Node {
    index: usize,
    insn: Insn,
    timing: Timing,
    /// What it takes of the pipeline.
    work: Work,
    reads: Places,
    writes: Places,
}

impl Node {
    fn new(core: &Core, index: usize, insn: &Insn) -> Self {
        // MUL leaves HI and LO unpredictable.
        let lost = match insn.op {
            Op::MUL => HI | LO,
            _ => 0,
        };
        Self {
            index,
            insn: *insn,
            timing: insn.form().timing,
            work: core.work(insn),
            reads: insn.reads(),
            writes: insn.writes() | lost,
        }
    }

    /// The place in memory it touches: pointers differ, or the contract keeps them apart.
    fn memory(&self) -> Option<(u8, i32)> {
        matches!(self.timing, Timing::Load | Timing::Store)
            .then_some((self.insn.ops.s, self.insn.ops.k))
    }

    fn is_store(&self) -> bool {
        self.timing == Timing::Store
    }
}

/// The pipelines for the shortest and for the longest time.
#[derive(Clone, Default)]
pub struct Clock {
    pub fast: Scoreboard,
    pub slow: Scoreboard,
}

impl Clock {
    /// Issues `insn`, of which the core says `work`, and whose observed operand is `value` if it is known.
    pub fn issue(&mut self, core: &Core, insn: &Insn, work: &Work, value: Option<u64>) {
        let [least, most] = core.observing(insn, work, value);
        self.fast.issue(&least);
        self.slow.issue(&most);
    }
}

/// `code` in a better order, with the old index of each instruction (that of its successor for a NOP).
/// `one` is a register that holds 1 from the instruction of that index on.
pub fn order(core: &Core, code: &[Insn], one: Option<(usize, u8)>) -> Vec<(usize, Insn)> {
    order_after(core, code, one, &mut Clock::default())
}

/// The same for code that starts when `clock` says, which goes on.
pub fn order_after(
    core: &Core,
    code: &[Insn],
    one: Option<(usize, u8)>,
    clock: &mut Clock,
) -> Vec<(usize, Insn)> {
    let mut waiting: std::collections::VecDeque<Node> = std::collections::VecDeque::new();
    let mut source = code
        .iter()
        .enumerate()
        .map(|(at, insn)| Node::new(core, at, insn));
    waiting.extend(source.by_ref().take(WINDOW));
    let mut out = Vec::with_capacity(code.len());
    while !waiting.is_empty() {
        let (at, when) = choose(&waiting, &clock.slow);
        let Some(node) = waiting.remove(at) else {
            break;
        };
        waiting.extend(source.next());
        if clock.fast.earliest(&node.work) != when {
            while clock.slow.now() < when {
                let nop = Insn::three(Op::SLL, 0, 0, 0);
                clock.issue(core, &nop, &core.work(&nop), None);
                out.push((node.index, nop));
            }
        }
        let is_one = one.is_some_and(|(from, r)| r == node.insn.ops.t && node.index > from);
        clock.issue(core, &node.insn, &node.work, is_one.then_some(1));
        out.push((node.index, node.insn));
    }
    out
}

/// The first instruction that waits least, and when it goes.
fn choose(waiting: &std::collections::VecDeque<Node>, pipeline: &Scoreboard) -> (usize, u64) {
    let (mut read, mut written): (Places, Places) = (0, 0);
    let mut touched: Vec<((u8, i32), bool)> = Vec::new();
    let mut best = (0, u64::MAX);
    for (i, node) in waiting.iter().enumerate() {
        let registers = node.reads & written | node.writes & (read | written);
        let memory = node.memory().is_some_and(|at| {
            touched
                .iter()
                .any(|(place, store)| *place == at && (*store || node.is_store()))
        });
        if registers == 0 && !memory {
            let when = pipeline.earliest(&node.work);
            if when < best.1 {
                best = (i, when);
            }
            if when == pipeline.now() {
                break;
            }
        }
        read |= node.reads;
        written |= node.writes;
        if let Some(at) = node.memory() {
            touched.push((at, node.is_store()));
        }
    }
    best
}
