//! Bits that are never both 1: two carries or borrows on the way of one number.
//!
//! Suppose both are 1. The equations around them (the definitions of words, and of the words that
//! carries left) narrow the intervals of their variables, as a term lies within what the others leave
//! for it. Where an interval becomes empty, they were not both 1.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use machine::domain::trace::{Combination, Entry, Step};
use machine::domain::variable::VarId;

use crate::algebra::Algebra;

/// The most equations, nearest first: enough for a chain through eight words.
const MOST_EQUATIONS: usize = 64;
/// The same for one bit alone: two chains through 64 words.
const MORE_EQUATIONS: usize = 512;
/// How often all of them are looked at.
const MOST_ROUNDS: usize = 32;

/// What every word is.
const ANY: (i128, i128) = (0, u64::MAX as i128);

/// `constant + sum of terms = 0`, each variable once.
struct Equation {
    /// The variable whose definition it is.
    word: VarId,
    terms: Vec<(VarId, i128)>,
    constant: i128,
}

/// The least and the most of each variable.
type Intervals = BTreeMap<VarId, (i128, i128)>;

impl Equation {
    /// Narrows the intervals of its variables: did it? `None` if one becomes empty.
    fn narrow(&self, intervals: &mut Intervals) -> Option<bool> {
        let of = |intervals: &Intervals, v| intervals.get(v).copied().unwrap_or(ANY);
        let mut narrowed = false;
        for (v, k) in &self.terms {
            // k v = -(constant + the other terms)
            let (mut from, mut to) = (-self.constant, -self.constant);
            for (other, by) in self.terms.iter().filter(|(other, _)| other != v) {
                let (least, most) = of(intervals, other);
                from -= (least * by).max(most * by);
                to -= (least * by).min(most * by);
            }
            let (from, to) = if *k > 0 { (from, to) } else { (-to, -from) };
            let k = k.abs();
            let old = of(intervals, v);
            let new = (
                old.0.max(-(-from).div_euclid(k)),
                old.1.min(to.div_euclid(k)),
            );
            if new.0 > new.1 {
                return None;
            }
            narrowed |= new != old;
            intervals.insert(*v, new);
        }
        Some(narrowed)
    }
}

impl Algebra {
    /// The equations that say that the bits `x` and `y` are never both 1, if some do.
    pub(crate) fn exclusive_by(&self, x: VarId, y: VarId) -> Option<Vec<Combination>> {
        let is_bit = |v: VarId| self.vars[v as usize].bound <= 1;
        let bits = x != y && is_bit(x) && is_bit(y);
        let impossible = bits && self.are_impossible([x, y], MOST_EQUATIONS);
        impossible.then(|| self.equations(&[x, y], MOST_EQUATIONS))
    }

    /// Are the bits `x` and `y` never both 1?
    pub(crate) fn are_exclusive(&self, x: VarId, y: VarId) -> bool {
        let by = self.exclusive_by(x, y);
        let found = by.is_some();
        if let Some(by) = by {
            self.note(Entry::Step(Step::Exclusive { x, y, by }));
        }
        found
    }

    /// Is the carry `x` never set, because the chains around it leave no room for it?
    pub(crate) fn is_excluded(&self, x: VarId) -> bool {
        let excluded =
            self.vars[x as usize].bound <= 1 && self.are_impossible([x, x], MORE_EQUATIONS);
        if excluded {
            let by = self.equations(&[x], MORE_EQUATIONS);
            let (v, most) = (x, 0);
            self.note(Entry::Step(Step::Bound { v, most, by }));
        }
        excluded
    }

    /// Is the bit `y` 1 wherever the bit `x` is?
    pub(crate) fn follows(&self, x: VarId, y: VarId) -> bool {
        let is_bit = |v: VarId| self.vars[v as usize].bound <= 1;
        let supposed = |list: &[(VarId, i128)]| self.supposed(list, &[x, y], MOST_EQUATIONS);
        let follows = x != y && is_bit(x) && is_bit(y) && supposed(&[(x, 1), (y, 0)]).is_none();
        if follows {
            let by = self.equations(&[x, y], MOST_EQUATIONS);
            self.note(Entry::Step(Step::Follows { x, y, by }));
        }
        follows
    }

    /// The words whose definitions are the equations around these variables.
    fn equations(&self, start: &[VarId], limit: usize) -> Vec<Combination> {
        let (equations, _) = self.around(start, limit);
        equations.iter().map(|e| vec![(e.word, 1)]).collect()
    }

    /// The one value of each of these bits where a variable has this value, if they have one.
    pub(crate) fn forced(&self, known: (VarId, i128), bits: &[VarId]) -> Option<Vec<i128>> {
        let intervals = self.supposed(&[known], bits, MOST_EQUATIONS)?;
        let only = |v: &VarId| {
            let (least, most) = intervals.get(v)?;
            (least == most).then_some(*least)
        };
        bits.iter().map(only).collect()
    }

    /// The equations by which they do.
    pub(crate) fn forced_by(&self, bits: &[VarId]) -> Vec<Combination> {
        self.equations(bits, MOST_EQUATIONS)
    }

    /// Are these bits never both 1?
    fn are_impossible(&self, [x, y]: [VarId; 2], limit: usize) -> bool {
        let both = [(x, 1), (y, 1)];
        self.supposed(&both, &[x, y], limit).is_none()
    }

    /// What is left for the variables around `start` where some have these values; `None` if they cannot.
    fn supposed(
        &self,
        values: &[(VarId, i128)],
        start: &[VarId],
        limit: usize,
    ) -> Option<Intervals> {
        let (equations, mut intervals) = self.around(start, limit);
        let values = values.iter().map(|(v, value)| (*v, (*value, *value)));
        intervals.extend(values);
        for _ in 0..MOST_ROUNDS {
            let mut narrowed = false;
            for equation in &equations {
                narrowed |= equation.narrow(&mut intervals)?;
            }
            if !narrowed {
                break;
            }
        }
        Some(intervals)
    }

    /// The equations around some variables, and the bounds of the variables in them.
    fn around(&self, start: &[VarId], limit: usize) -> (Vec<Equation>, Intervals) {
        let (mut equations, mut intervals) = (Vec::new(), Intervals::new());
        let (mut seen, mut queue) = (
            BTreeSet::new(),
            start.iter().copied().collect::<VecDeque<_>>(),
        );
        while let Some(v) = queue.pop_front() {
            let word = self.left_by(v).map_or(v, |left| left.word);
            let Some((terms, constant)) = self.sum(word) else {
                continue;
            };
            if equations.len() == limit {
                break;
            }
            if !seen.insert(word) {
                continue;
            }
            let mut sum = BTreeMap::from([(word, -1)]);
            for (v, k) in terms {
                *sum.entry(*v).or_insert(0) += i128::from(*k);
            }
            for v in sum.keys() {
                intervals.insert(*v, (0, i128::from(self.vars[*v as usize].bound)));
                queue.push_back(*v);
            }
            equations.push(Equation {
                word,
                terms: sum.into_iter().filter(|(_, k)| *k != 0).collect(),
                constant: i128::from(constant),
            });
        }
        (equations, intervals)
    }
}
