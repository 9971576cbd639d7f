//! Ordering straight-line code so that it waits as little as possible.
//!
//! A greedy list scheduler, the same for every machine whose results may be late: of the next `WINDOW` instructions, the
//! first that may go now without waiting goes next. Untrusted: what comes out is proved again.

use std::collections::{BTreeSet, VecDeque};

use machine::codec::{Insn, Operands, Places};
use machine::isa::clock::{Line, Timed, WorkOf};

/// Instructions looked at.
const WINDOW: usize = 64;

/// An access to memory: the register that points there, how far from it the word is, if that is all that it touches, and
/// whether it is a store. Pointers differ, or the contract keeps them apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    pub base: u8,
    pub offset: Option<i32>,
    pub is_store: bool,
}

impl Access {
    /// Must two stay in their order?
    fn conflicts(&self, other: &Self) -> bool {
        let apart = matches!((self.offset, other.offset), (Some(x), Some(y)) if x != y);
        self.base == other.base && !apart && (self.is_store || other.is_store)
    }
}

/// An instruction to be placed, with what the order depends on.
pub struct Node<I, W> {
    pub index: usize,
    pub insn: I,
    /// What it takes of the pipeline.
    pub work: W,
    pub reads: Places,
    pub writes: Places,
    pub access: Option<Access>,
}

/// Instructions in their order, of which the next `WINDOW` wait to be placed.
pub struct Waiting<S: Iterator> {
    source: S,
    nodes: VecDeque<S::Item>,
}

impl<I, W, S: Iterator<Item = Node<I, W>>> Waiting<S> {
    pub fn new(mut source: S) -> Self {
        let nodes = source.by_ref().take(WINDOW).collect();
        Self { source, nodes }
    }

    /// Takes the first instruction that waits least on this line, and how long it does.
    pub fn next(&mut self, line: &impl Line<Work = W>) -> Option<(S::Item, u64)> {
        let (at, wait) = self.choose(line);
        let node = self.nodes.remove(at)?;
        self.nodes.extend(self.source.next());
        Some((node, wait))
    }

    fn choose(&self, line: &impl Line<Work = W>) -> (usize, u64) {
        let (mut read, mut written): (Places, Places) = (0, 0);
        let mut touched: Vec<&Access> = Vec::new();
        let mut best = (0, u64::MAX);
        for (i, node) in self.nodes.iter().enumerate() {
            let registers = node.reads & written | node.writes & (read | written);
            let meets = |access: &Access| touched.iter().any(|other| access.conflicts(other));
            if registers == 0 && !node.access.as_ref().is_some_and(meets) {
                let wait = line.wait(&node.work);
                if wait < best.1 {
                    best = (i, wait);
                }
                if wait == 0 {
                    break;
                }
            }
            read |= node.reads;
            written |= node.writes;
            touched.extend(&node.access);
        }
        best
    }
}

/// `code` in a better order, with the old index of each instruction, if each takes as long as it may.
pub fn order<O: Operands, C: Timed<O>>(
    core: &C,
    code: &[Insn<O>],
    access: impl Fn(&Insn<O>) -> Option<Access>,
) -> Vec<(usize, Insn<O>)> {
    let node = |(index, insn): (usize, &Insn<O>)| -> Node<Insn<O>, WorkOf<C, O>> {
        let [_, work] = core.observing(insn, &core.work(insn), None);
        Node {
            index,
            insn: *insn,
            work,
            reads: insn.reads(),
            writes: insn.writes(),
            access: access(insn),
        }
    };
    let mut waiting = Waiting::new(code.iter().enumerate().map(node));
    let mut line = C::Line::default();
    let mut out = Vec::with_capacity(code.len());
    while let Some((node, _)) = waiting.next(&line) {
        line.issue(&node.work);
        out.push((node.index, node.insn));
    }
    out
}

/// `code` with loops in a better order, with the old index of each instruction: the stretches that begin at `starts` are
/// ordered each on its own, where that is faster.
pub fn stretches<O: Operands, C: Timed<O>>(
    core: &C,
    code: &[Insn<O>],
    starts: &BTreeSet<usize>,
    access: impl Fn(&Insn<O>) -> Option<Access>,
) -> Vec<(usize, Insn<O>)> {
    // Pointers of a loop may meet: a store stays among all other accesses.
    let somewhere = |insn: &Insn<O>| {
        access(insn).map(|access| Access {
            base: 0,
            offset: None,
            ..access
        })
    };
    let bounds = starts.iter().copied().chain([0, code.len()]);
    let bounds: BTreeSet<_> = bounds.filter(|at| *at <= code.len()).collect();
    let bounds: Vec<_> = bounds.into_iter().collect();
    let mut out = Vec::with_capacity(code.len());
    for pair in bounds.windows(2) {
        let (from, old) = (pair[0], &code[pair[0]..pair[1]]);
        let ordered = order(core, old, somewhere);
        let new: Vec<_> = ordered.iter().map(|(_, insn)| *insn).collect();
        match most_cycles(core, &new) < most_cycles(core, old) {
            true => out.extend(ordered.into_iter().map(|(at, insn)| (at + from, insn))),
            false => out.extend((from..).zip(old.iter().copied())),
        }
    }
    out
}

/// The most cycles of `code`, straight through.
pub fn most_cycles<O: Operands, C: Timed<O>>(core: &C, code: &[Insn<O>]) -> u64 {
    let mut line = C::Line::default();
    for insn in code {
        let [_, most] = core.observing(insn, &core.work(insn), None);
        line.issue(&most);
    }
    line.end()
}

/// Where each old index is now.
pub fn moved<I>(ordered: &[(usize, I)]) -> Vec<usize> {
    let mut now = vec![0; ordered.len()];
    for (at, (old, _)) in ordered.iter().enumerate() {
        now[*old] = at;
    }
    now
}
