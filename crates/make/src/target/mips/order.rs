//! Ordering straight-line code so that it waits as little as possible: [`crate::engine::order`], and NOPs.
//!
//! Where the multiplier is early for small operands, a wait for it becomes NOPs, so that
//! the early case has nothing to gain: the same worst case, and one time for all operands.

use machine::isa::clock::{Line, Scoreboard, Timed, Work};
use machine::isa::mips::code::{HI, Insn, LO};
use machine::isa::mips::cores::Core;
use machine::isa::mips::instructions::{Op, Timing};

use crate::engine::order::{Access, Node, Waiting};

/// What the order of an instruction depends on.
fn node(core: &Core, index: usize, insn: &Insn) -> Node<Insn, Work> {
    // MUL leaves HI and LO unpredictable.
    let lost = match insn.op {
        Op::MUL => HI | LO,
        _ => 0,
    };
    let timing = insn.form().timing;
    let touches = matches!(timing, Timing::Load | Timing::Store);
    Node {
        index,
        insn: *insn,
        work: core.work(insn),
        reads: insn.reads(),
        writes: insn.writes() | lost,
        access: touches.then_some(Access {
            base: insn.ops.s,
            offset: Some(insn.ops.k),
            is_store: timing == Timing::Store,
        }),
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
    let nodes = code.iter().enumerate();
    let mut waiting = Waiting::new(nodes.map(|(at, insn)| node(core, at, insn)));
    let mut out = Vec::with_capacity(code.len());
    while let Some((node, wait)) = waiting.next(&clock.slow) {
        let when = clock.slow.now() + wait;
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
