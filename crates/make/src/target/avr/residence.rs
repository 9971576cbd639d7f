//! Which values are in registers at which time: live ranges and spills.
//!
//! Between two uses a value stays in its register, or it is spilled. The order of the
//! instructions is known, so this is a choice among intervals, no more of which may overlap than
//! there are registers. An interval is worth the cycles of the spill that it saves: 2 for the load, 2 more for a store
//! if memory does not hold the value, less 1 if an instruction that overwrites the register has to
//! work on a copy. `intervals.rs` finds the best choice. A value is stored only once, so the worth of
//! an interval depends on the others, and the choice is repeated a few times.
//!
//! Time: instruction `t` reads at point `2t` and writes at point `2t + 1`.

use crate::allocate::OutOfRegisters;
use crate::intervals::{Interval, choose};
use crate::target::avr::code::{Code, Value, VirtualInsn};

/// Worth in eighths of a cycle: an access, with its share of pointer moves; a number loaded, with its
/// share of moves; and a copy.
const ACCESS: i64 = 17;
const NUMBER: i64 = 10;
const COPY: i64 = 8;
/// Rounds in which the stores settle.
const ROUNDS: usize = 3;

/// A value's life: where it is made, where it is read, whether it stays in between.
#[derive(Clone, Default, Debug)]
pub struct Life {
    /// The steps that make it (not of an operand word) and read it.
    pub events: Vec<usize>,
    /// After each event but the last: does it stay in a register until the next one?
    pub stays: Vec<bool>,
    /// It is stored when it is made.
    pub stored: bool,
}

impl Life {
    /// Does it stay in a register after that event?
    pub fn stays(&self, event: usize) -> bool {
        self.stays.get(event).is_some_and(|stays| *stays)
    }
}

/// The lives of all values; those in r0 and r1 have none.
pub struct Residence {
    pub lives: Vec<Life>,
}

/// The operand whose register the result takes, if its life ends there: the first one, or either.
pub fn tied(step: &VirtualInsn) -> impl Iterator<Item = Value> {
    let [a, b] = match step {
        VirtualInsn::Two { x, y, .. } => [Some(*x), y.filter(|_| step.commutes())],
        _ => [None, None],
    };
    a.into_iter().chain(b.filter(|b| Some(*b) != a))
}

/// A value between two of its events.
struct Gap {
    value: usize,
    /// The event before it.
    event: usize,
    from: usize,
    to: usize,
    /// What it costs to stay: the copy that an instruction works on.
    copy: i64,
}

impl Residence {
    /// The best lives with `registers[t]` registers at step `t`.
    ///
    /// # Errors
    /// When there are fewer than one instruction needs.
    pub fn of(code: &Code, registers: &[usize]) -> Result<Self, OutOfRegisters> {
        let in_register = |v: &Value| code.product[v.0].is_none();
        let mut lives = vec![Life::default(); code.operands.len()];
        let mut places = Vec::with_capacity(2 * registers.len());
        for (t, step) in code.steps.iter().enumerate() {
            for value in step.reads().chain(step.makes()).filter(in_register) {
                lives[value.0].events.push(t);
            }
            for needed in [
                step.reads().filter(in_register).count(),
                step.makes().filter(in_register).count(),
            ] {
                places.push(registers[t].checked_sub(needed).ok_or(OutOfRegisters)?);
            }
        }
        let home = homes(code, &lives);
        let gaps = gaps(code, &lives);
        for (gap, stays) in gaps.iter().zip(best(code, &gaps, &home, &places)) {
            let life = &mut lives[gap.value];
            life.stays.push(stays);
            life.stored |= !stays && gap.event < home[gap.value];
        }
        Ok(Self { lives })
    }
}

/// The gaps of all lives, value by value.
fn gaps(code: &Code, lives: &[Life]) -> Vec<Gap> {
    let copied = copied(code, lives);
    let mut gaps = Vec::new();
    for (value, life) in lives.iter().enumerate() {
        for (event, ends) in life.events.windows(2).enumerate() {
            let copy = copied[ends[0]] == Some(Value(value)) && makes(code, ends[0]) != Some(value);
            let made = event == 0 && !code.is_given(value);
            gaps.push(Gap {
                value,
                event,
                from: 2 * ends[0] + if made { 2 } else { usize::from(!copy) },
                to: 2 * ends[1],
                copy: if copy { COPY } else { 0 },
            });
        }
    }
    gaps
}

/// In which gaps values stay, with `places[p]` registers at point `p`: the cheapest round. From event `home[v]` on memory
/// holds value `v`.
fn best(code: &Code, gaps: &[Gap], home: &[usize], places: &[usize]) -> Vec<bool> {
    let mut best: Option<(i64, Vec<bool>)> = None;
    // The gaps of each value in which it is not in a register, of the round before; the last of them.
    let mut away = vec![0usize; home.len()];
    let mut sole = vec![usize::MAX; home.len()];
    let mut before = Vec::new();
    for _ in 0..ROUNDS {
        let interval = |gap: &Gap| {
            let v = gap.value;
            // Its store is on this gap's account if no other one needs it.
            let others = away[v] - usize::from(sole[v] == gap.event && away[v] == 1);
            let store = gap.event < home[v] && others == 0;
            Interval {
                from: gap.from,
                to: gap.to,
                worth: way_back(code, v) * if store { 2 } else { 1 } - gap.copy,
            }
        };
        let intervals: Vec<Interval> = gaps.iter().map(interval).collect();
        if intervals == before {
            break;
        }
        let chosen = choose(places, &intervals);
        before = intervals;
        away.fill(0);
        let mut cost = 0;
        for (gap, stays) in gaps.iter().zip(&chosen) {
            let v = gap.value;
            if *stays {
                cost += gap.copy;
                continue;
            }
            cost += way_back(code, v);
            if gap.event < home[v] {
                cost += if away[v] == 0 { ACCESS } else { 0 };
                away[v] += 1;
                sole[v] = gap.event;
            }
        }
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, chosen));
        }
    }
    best.map_or_else(Vec::new, |(_, chosen)| chosen)
}

/// What it takes to have a value in a register again.
fn way_back(code: &Code, value: usize) -> i64 {
    match code.numbers[value] {
        Some(_) => NUMBER,
        None => ACCESS,
    }
}

/// The value that step makes.
fn makes(code: &Code, t: usize) -> Option<usize> {
    code.steps[t].makes().next().map(|v| v.0)
}

/// Of each step that overwrites a value: that one, if all it could overwrite are read again later.
fn copied(code: &Code, lives: &[Life]) -> Vec<Option<Value>> {
    let next = |value: &Value, t: usize| {
        let events = &lives[value.0].events;
        events.get(events.partition_point(|e| *e <= t)).copied()
    };
    let steps = code.steps.iter().enumerate();
    steps
        .map(|(t, step)| {
            let tied: Vec<_> = tied(step).filter(|v| code.product[v.0].is_none()).collect();
            let again: Option<Vec<_>> = tied.iter().map(|v| Some((next(v, t)?, *v))).collect();
            again?.into_iter().max().map(|(_, value)| value)
        })
        .collect()
}

/// From which gap on memory holds each value without being asked: always an operand word, a word
/// of the result once it is written.
fn homes(code: &Code, lives: &[Life]) -> Vec<usize> {
    let mut home = vec![usize::MAX; lives.len()];
    for (v, home) in home.iter_mut().enumerate() {
        if code.is_given(v) {
            *home = 0;
        }
    }
    for (t, step) in code.steps.iter().enumerate() {
        if let VirtualInsn::Result { x, .. } = step {
            let event = lives[x.0].events.partition_point(|e| *e < t);
            home[x.0] = home[x.0].min(event);
        }
    }
    home
}
