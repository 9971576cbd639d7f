//! Pointers that move along: `@R` and `@R+` take a cycle and a word less than `x(R)`.
//!
//! For each pointer, access by access, the cheapest way through the numbers of words that it has moved by: it moves on with
//! `@R+`, or by an addition where no flag is wanted, which costs little where the multiplier is waited for anyway.

use machine::isa::msp430::code::{Dest, Insn, Source};
use machine::isa::msp430::cores::Core;
use machine::isa::msp430::instructions::Op;

use crate::target::msp430::interrupts::flagless;

/// An access through a pointer.
struct Access {
    /// Which instruction.
    at: usize,
    /// The word behind the first.
    word: usize,
    /// Does the instruction read it?
    reads: bool,
    /// May the pointer move on?
    moves: bool,
    /// Before which instruction behind the last access it may be moved, and is that for nearly nothing?
    gap: Option<(usize, bool)>,
}

/// What is done at an access: by how many words the pointer has moved before, and has when it is read, and if it moves on then.
#[derive(Clone, Copy)]
struct Step {
    before: usize,
    during: usize,
    on: bool,
}

/// Quarters of a cycle.
const CYCLE: u32 = 4;

/// What an addition of so many words takes, which is nearly nothing where there is a wait.
fn addition(words: usize, free: bool) -> u32 {
    // The constant generator makes 2, 4 and 8.
    let cycles = if matches!(words, 1 | 2 | 4) { 1 } else { 2 };
    match free {
        true => cycles * CYCLE / 2,
        false => cycles * CYCLE,
    }
}

/// The accesses through `base`, as long as it is a pointer; none if one instruction makes two.
fn accesses(core: &Core, insns: &[Insn], base: u8) -> Option<Vec<Access>> {
    let flagless = flagless(insns);
    // Behind OP2H there is a wait.
    let begins = |at: usize| match insns[at].ops.dest() {
        Dest::Absolute(to) => core.multiplier.is_some_and(|m| m.takes_two_words(to)),
        _ => false,
    };
    let mut list: Vec<Access> = Vec::new();
    let mut from = 0;
    for (at, insn) in insns.iter().enumerate() {
        let source = match insn.ops.source() {
            Source::Indexed(r, x) if r == base => Some(x),
            Source::Indirect(r) if r == base => Some(0),
            _ => None,
        };
        let dest = match insn.ops.dest() {
            Dest::Indexed(r, y) if r == base => Some(y),
            _ => None,
        };
        let ends = insn.writes() >> base & 1 == 1;
        if let Some(x) = source.or(dest) {
            if source.and(dest).is_some() {
                return None;
            }
            let mut places = (from..=at).filter(|q| flagless[*q]);
            let waits = places.clone().find(|q| *q > 0 && begins(*q - 1));
            let gap = waits.map(|q| (q, true));
            list.push(Access {
                at,
                word: usize::from(x / 2),
                reads: source.is_some(),
                moves: source.is_some() && !ends,
                gap: gap.or_else(|| places.next_back().map(|q| (q, false))),
            });
            from = at + 1;
        }
        if ends {
            break;
        }
    }
    Some(list)
}

/// The cheapest steps.
fn steps(accesses: &[Access]) -> Vec<Step> {
    let states = accesses.iter().map(|a| a.word).max().unwrap_or(0) + 2;
    let mut costs = vec![None; states];
    costs[0] = Some(0);
    let mut ways: Vec<Vec<Option<Step>>> = Vec::with_capacity(accesses.len());
    for access in accesses {
        let mut next: Vec<Option<u32>> = vec![None; states];
        let mut way = vec![None; states];
        let mut offer = |to: usize, cost: u32, step: Step| {
            if next[to].is_none_or(|known| cost < known) {
                next[to] = Some(cost);
                way[to] = Some(step);
            }
        };
        for (before, cost) in costs.iter().enumerate() {
            let Some(cost) = *cost else { continue };
            let step = |during, on| Step { before, during, on };
            let here = before == access.word;
            if !here {
                let more = if access.reads { CYCLE } else { 0 };
                offer(before, cost + more, step(before, false));
            }
            let there = match (here, access.gap) {
                (true, _) => Some(0),
                (false, Some((_, free))) if access.reads => {
                    Some(addition(before.abs_diff(access.word), free))
                }
                _ => None,
            };
            if let Some(more) = there {
                offer(access.word, cost + more, step(access.word, false));
                if access.moves {
                    offer(access.word + 1, cost + more, step(access.word, true));
                }
            }
        }
        costs = next;
        ways.push(way);
    }
    let last = (0..states).filter(|p| costs[*p].is_some());
    let mut at = last.min_by_key(|p| costs[*p]).unwrap_or(0);
    let mut list = Vec::with_capacity(accesses.len());
    for way in ways.iter().rev() {
        let Some(step) = way[at] else { break };
        list.push(step);
        at = step.before;
    }
    list.reverse();
    list
}

/// The instruction with its access where the pointer is now.
fn moved(insn: &Insn, access: &Access, step: Step, base: u8) -> Insn {
    let by = (access.word as i32 - step.during as i32) * 2;
    let (mut source, mut dest) = (insn.ops.source(), insn.ops.dest());
    match (access.reads, by) {
        (true, 0) if step.on => source = Source::Increment(base),
        (true, 0) => source = Source::Indirect(base),
        (true, by) => source = Source::Indexed(base, by as u16),
        (false, by) => dest = Dest::Indexed(base, by as u16),
    }
    Insn::two(insn.op, source, dest)
}

/// The instructions with the pointers `bases` moving along, and where each of them is then.
pub fn along(
    core: &Core,
    insns: &[Insn],
    bases: impl Iterator<Item = u8>,
) -> (Vec<Insn>, Vec<usize>) {
    let mut list = insns.to_vec();
    // Before which instructions pointers are moved.
    let mut additions: Vec<Vec<Insn>> = vec![Vec::new(); insns.len()];
    for base in bases {
        let Some(accesses) = accesses(core, insns, base) else {
            continue;
        };
        for (access, step) in accesses.iter().zip(steps(&accesses)) {
            list[access.at] = moved(&list[access.at], access, step, base);
            let by = (step.during as i32 - step.before as i32) * 2;
            if let (Some((at, _)), 1..) = (access.gap, by.abs()) {
                let op = if by > 0 { Op::ADD } else { Op::SUB };
                let by = Source::Constant(by.unsigned_abs() as u16);
                additions[at].push(Insn::two(op, by, Dest::Register(base)));
            }
        }
    }
    let (mut out, mut places) = (Vec::with_capacity(list.len()), Vec::new());
    for (insn, before) in list.into_iter().zip(additions) {
        out.extend(before);
        places.push(out.len());
        out.push(insn);
    }
    (out, places)
}
