//! Carries that nobody catches, because they are 0.
//!
//! A carry `c` left a word `s = x - 2^W c`, so `2^W c = x - s`. The sum on the right is unrolled,
//! latest first: a word with a positive factor is replaced by its definition, and a carry `c'` with
//! a positive factor by `(x' - s') / 2^W`, `s'` the word that it left. The words of an accumulator
//! cancel on the way, and whatever order the instructions have, what remains is what was added up:
//! products (both words of one jointly), words, claimed sums, each bounded. Terms with negative factors only make it less. At
//! any point, if the bounds of the positive terms add up to less than `2^W`, then `c < 1`.

use std::cell::RefCell;
use std::collections::BTreeMap;

use machine::domain::trace::{Entry, Step};
use machine::domain::variable::{Def, Value, Var, VarId};
use num_bigint::BigInt;

use crate::algebra::Algebra;
use crate::claim::Equation;
use crate::polynomial::Scaled;

/// `1` in the scale of the sums: far enough up that factors stay whole when carries are unrolled.
const ONE: u64 = 1 << 32;

/// The most replacements for one carry.
const MOST_STEPS: usize = 1 << 16;

/// The turn of a variable, and the variable.
type Turn = (VarId, VarId);

/// An upper bound in the making: `settled` and the positive terms of `active`.
struct UpperBound<'a> {
    algebra: &'a Algebra,
    /// Terms by the turn of their variable.
    active: BTreeMap<Turn, Scaled>,
    /// The most of each positive term of them, added up.
    positive: Scaled,
    /// Constants, and the most of terms that are not replaced any more.
    settled: Scaled,
    /// Equations, products and claims that were used, and how often.
    equations: Vec<(VarId, Scaled)>,
    products: RefCell<Vec<(VarId, Scaled)>>,
    used_claims: Vec<(usize, Scaled)>,
}

impl Algebra {
    /// Is it a carry that is never set?
    pub(crate) fn is_lost(&self, v: VarId) -> bool {
        let is_carry = self.vars[v as usize].def == Def::Carry;
        is_carry && (self.is_never_set(v) || self.is_excluded(v))
    }
    /// Is the carry `c` 0 in every run?
    pub fn is_never_set(&self, c: VarId) -> bool {
        let mut sum = UpperBound {
            algebra: self,
            active: BTreeMap::new(),
            positive: Scaled::ZERO,
            settled: Scaled::ZERO,
            equations: Vec::new(),
            products: RefCell::default(),
            used_claims: Vec::new(),
        };
        if !sum.add_left(c, &Scaled::power(ONE), None) {
            return false;
        }
        let claims = &self.claims;
        let mut order = claims.order.iter().rev().peekable();
        for _ in 0..MOST_STEPS {
            if sum.is_below_one() {
                self.note(Entry::Step(sum.step(c)));
                return true;
            }
            let last = sum.active.last_key_value().map(|(key, _)| *key);
            let Some(((rank, v), by)) = last.and_then(|key| Some((key, sum.take(key)?))) else {
                return false;
            };
            match order.next_if(|(claim, _)| *claim >= rank) {
                Some((_, index)) => {
                    sum.change((rank, v), &by);
                    if let Some(equation) = claims.get(*index) {
                        sum.settle_claim(*index, equation);
                    }
                }
                None if by.is_positive() || sum.is_complement(v) => sum.replace(v, &by),
                None => sum.replace_borrow(v, &by),
            }
        }
        false
    }
}

impl UpperBound<'_> {
    /// What was concluded, in whole numbers.
    fn step(&self, c: VarId) -> Step {
        let products = self.products.borrow();
        let shifts = (self.equations.iter().chain(products.iter())).map(|(_, by)| by.shift);
        let shifts = shifts.chain(self.used_claims.iter().map(|(_, by)| by.shift));
        let least = shifts.min().unwrap_or(ONE).min(ONE);
        let whole = |by: &Scaled| by.with_shift(by.shift - least).value();
        Step::NeverSet {
            c,
            scale: BigInt::from(1) << (ONE - least),
            by: (self.equations.iter().map(|(v, by)| (*v, whole(by)))).collect(),
            products: (products.iter().map(|(v, by)| (*v, whole(by)))).collect(),
            claims: (self.used_claims.iter().map(|(i, by)| (*i, whole(by)))).collect(),
        }
    }

    fn add(&mut self, v: VarId, by: &Scaled) {
        self.change((self.algebra.vars[v as usize].rank, v), by);
    }

    /// Adds `by` to the factor of a term.
    fn change(&mut self, key: Turn, by: &Scaled) {
        let before = self.counted(key, -1);
        let term = self.active.entry(key).or_insert(Scaled::ZERO);
        term.add(by);
        if term.is_zero() {
            self.active.remove(&key);
        }
        let after = self.counted(key, 1);
        before
            .into_iter()
            .chain(after)
            .for_each(|most| self.positive.add(&most));
    }

    /// Takes a term away: its factor.
    fn take(&mut self, key: Turn) -> Option<Scaled> {
        let before = self.counted(key, -1);
        before.into_iter().for_each(|most| self.positive.add(&most));
        self.active.remove(&key)
    }

    /// `sign` times the most of a term, if it is positive.
    fn counted(&self, key: Turn, sign: i128) -> Option<Scaled> {
        let by = self.active.get(&key).filter(|by| by.is_positive())?;
        let bound = i128::from(self.algebra.vars[key.1 as usize].bound);
        Some(by.times_wide(bound * sign))
    }

    /// Counts `by * most`.
    fn settle(&mut self, most: impl Into<BigInt>, by: &Scaled) {
        self.settled.add(&by.times_large(most));
    }

    fn settle_variable(&mut self, v: VarId, by: &Scaled) {
        self.settle(self.algebra.vars[v as usize].bound, by);
    }

    /// Do the bounds of the positive terms add up to less than 1?
    fn is_below_one(&self) -> bool {
        let below = |most: u64, total: &Scaled| {
            !total.is_positive() || total.odd_bits() + total.shift <= most
        };
        let mut total = self.settled.clone();
        total.add(&self.positive);
        if below(ONE, &total) || !below(ONE + 1, &total) {
            return below(ONE, &total);
        }
        let mut pairs = Vec::new();
        // Both words of a product together are a little less than each at its most.
        for ((_, v), by) in self.active.iter().filter(|(_, by)| by.is_positive()) {
            let Var { bound, def, .. } = self.algebra.vars[*v as usize];
            if let Def::Low { a, b, hi, w } = def
                && self.has_high(hi, w, by)
            {
                let most = self.most(a, b, w);
                let high = BigInt::from(self.algebra.vars[hi as usize].bound) << w;
                total.add(&by.times_large(most - high - bound));
                pairs.push((*v, by.clone()));
            }
        }
        if below(ONE, &total) {
            self.products.borrow_mut().extend(pairs);
            return true;
        }
        false
    }

    /// Adds `by * c` as `by / 2^w (x - s)`, if `c` was left by `s = x - 2^w c`; `-s` is at most 0.
    /// A borrow left `s = x + 2^w c`: then it is `by / 2^w (s - x)`, where `s` is at most its bound; `there`
    /// is a multiple of `s` to begin with.
    fn add_left(&mut self, c: VarId, by: &Scaled, there: Option<&Scaled>) -> bool {
        let Some(left) = self.algebra.left_by(c).filter(|_| by.shift >= 64) else {
            return false;
        };
        // The weight of a carry is 2^w, that of a borrow -2^w here.
        let w = left.factor.trailing_zeros();
        if left.factor.unsigned_abs() != 1 << w {
            return false;
        }
        let by = by.with_shift(by.shift - u64::from(w));
        let sign = -left.factor.signum();
        self.equations.push((left.word, by.times(sign)));
        if sign < 0 {
            let mut all = by.clone();
            all.add(there.unwrap_or(&Scaled::ZERO));
            if all.is_positive() {
                self.settle_variable(left.word, &all);
            }
        }
        self.settle(left.constant * sign, &by);
        for (v, factor) in left.others(c) {
            self.add(v, &by.times(factor * sign));
        }
        true
    }

    /// What is taken of a word that a borrow left, if the borrow is added, goes with what it adds.
    fn replace_borrow(&mut self, s: VarId, taken: &Scaled) {
        let borrow = self.algebra.sum(s).and_then(|(terms, _)| {
            let is_borrow = |(v, by): &&(VarId, i64)| *by > 0 && self.algebra.is_left_by(*v, s);
            terms.iter().find(is_borrow)
        });
        let Some((c, _)) = borrow.copied() else {
            return;
        };
        let key = (self.algebra.vars[c as usize].rank, c);
        let added = self.active.get(&key).filter(|by| by.is_positive()).cloned();
        if added.is_some_and(|by| self.add_left(c, &by, Some(taken))) {
            self.take(key);
        }
    }

    /// Is it a number less a variable? Taken away, it adds that variable.
    fn is_complement(&self, v: VarId) -> bool {
        matches!(self.algebra.sum(v), Some(([(_, factor)], _)) if *factor < 0)
    }

    /// Adds `by * v` by the definition of `v`.
    fn replace(&mut self, v: VarId, by: &Scaled) {
        match self.algebra.vars[v as usize].def {
            Def::Linear { .. } => {
                let Some((terms, constant)) = self.algebra.sum(v) else {
                    return;
                };
                self.equations.push((v, by.clone()));
                self.settle(constant, by);
                for (t, factor) in terms {
                    self.add(*t, &by.times(*factor));
                }
            }
            Def::Low { a, b, hi, w } => self.settle_product(v, [a, b], hi, w, by),
            Def::Carry if self.add_left(v, by, None) => {}
            Def::Carry | Def::Free | Def::Product { .. } => self.settle_variable(v, by),
        }
    }

    /// `lo + 2^w hi` is at most the product of the bounds.
    fn settle_product(&mut self, lo: VarId, [a, b]: [Value; 2], hi: VarId, w: u32, by: &Scaled) {
        if !self.has_high(hi, w, by) {
            return self.settle_variable(lo, by);
        }
        let key = (self.algebra.vars[hi as usize].rank, hi);
        self.change(key, &by.carried(u64::from(w)));
        self.products.borrow_mut().push((lo, by.clone()));
        self.settle(self.most(a, b, w), by);
    }

    /// Is there at least `by 2^w hi`?
    fn has_high(&self, hi: VarId, w: u32, by: &Scaled) -> bool {
        let key = (self.algebra.vars[hi as usize].rank, hi);
        self.active.get(&key).is_some_and(|there| {
            let mut rest = there.clone();
            rest.add(&by.carried(u64::from(w)));
            !rest.is_negative()
        })
    }

    /// The product of the bounds.
    fn most(&self, a: Value, b: Value, w: u32) -> BigInt {
        BigInt::from(self.algebra.bound(a, w)) * self.algebra.bound(b, w)
    }

    /// Words of a claim are jointly at most its right side.
    fn settle_claim(&mut self, index: usize, equation: &Equation) {
        let weighted = equation.words.iter().enumerate().filter_map(|(i, v)| {
            let Value::Var(v) = v else {
                return None;
            };
            let key = (self.algebra.vars[*v as usize].rank, *v);
            Some((key, u64::from(equation.w) * i as u64))
        });
        let weighted: Vec<_> = weighted.collect();
        let mut least: Option<Scaled> = None;
        for (key, weight) in &weighted {
            let Some(by) = self.active.get(key).filter(|by| by.is_positive()) else {
                return;
            };
            let Some(shift) = by.shift.checked_sub(*weight) else {
                return;
            };
            let by = by.with_shift(shift);
            let mut rest = by.clone();
            if let Some(least) = &least {
                rest.add(&least.times(-1));
            }
            if least.is_none() || rest.is_negative() {
                least = Some(by);
            }
        }
        let Some(factor) = least else {
            return;
        };
        for (key, weight) in weighted {
            self.change(key, &factor.carried(weight));
        }
        self.used_claims.push((index, factor.clone()));
        self.settle(BigInt::from(equation.most.clone()), &factor);
    }
}
