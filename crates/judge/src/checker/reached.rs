//! Is a goal reached? Its equation holds modulo a power of 2 by definitions, and both sides are less than that power apart,
//! so they are equal.

use machine::domain::trace::{Reason, ShownSum, Sum, Vanishing};
use machine::domain::variable::{Value, VarId};
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};

use crate::checker::form::Form;
use crate::checker::goal::{Corner, Goal, Ranges, Rest};
use crate::checker::modulus::Modulus;
use crate::checker::polynomial::{Number, Polynomial};
use crate::checker::refused::Check;
use crate::checker::state::Checker;

/// A sum of `U`, each variable once.
type Terms = Vec<(VarId, BigInt)>;

impl Checker<'_> {
    /// Does the goal hold, for this reason?
    ///
    /// # Errors
    /// Why that is not shown.
    pub fn reached(&mut self, goal: &Goal<'_>, reason: &Reason) -> Check {
        goal.holds(self, reason)
    }

    pub(super) fn are_words(&mut self, words: &[Value], w: u32) -> Check {
        let mut words = words.iter();
        words.try_for_each(|word| self.lies(&Form::of(*word)?, (0, (1 << w) - 1)))
    }

    /// The range of a sum of variables.
    pub(super) fn range_of_sum(&mut self, sum: &[(VarId, BigInt)]) -> Check<(BigInt, BigInt)> {
        let (mut least, mut most) = (BigInt::zero(), BigInt::zero());
        for (v, by) in sum {
            let (low, high) = self.range(*v)?;
            let (x, y) = (by * low, by * high);
            least += x.clone().min(y.clone());
            most += x.max(y);
        }
        Ok((least, most))
    }

    /// Adds words as often as they are said to be there: each is 0, as it is 0 modulo `2^w` by its definition, and below
    /// that.
    pub(super) fn vanish(&mut self, p: &mut Polynomial, w: u32, words: &[Vanishing]) -> Check {
        for Vanishing { word, by, used } in words {
            self.lies(&Form::of(Value::Var(*word))?, (0, (1 << w) - 1))?;
            if self.range(*word)? != (0, 0) {
                let mut zero = Polynomial::new(Some(w.into()));
                zero.add(*word, Number::new(BigInt::one(), 0));
                self.take_lemmas(&mut zero, used)?;
                self.is_zero(zero)?;
            }
            p.add(*word, Number::new(by.clone(), 0));
        }
        Ok(())
    }
}

impl Goal<'_> {
    fn holds(&self, d: &mut Checker<'_>, reason: &Reason) -> Check {
        d.are_words(self.result, self.w)?;
        for term in &self.value {
            d.are_words(term.a, term.w)?;
            d.are_words(term.b.unwrap_or_default(), term.w)?;
        }
        let below = self.below(d, &reason.low)?;
        self.is_equation(d, reason)?;
        if self.rest == Rest::Above {
            return Ok(());
        }
        let ranges = self.last_ranges(d, reason)?;
        // 2^h Z + low
        let (power, r) = (
            BigInt::one() << self.bits,
            BigInt::one() << (u64::from(self.w) * self.result.len() as u64),
        );
        let left = ((r - 1) << self.h) + below;
        let fits = |(corner, (least, most)): (&Corner, &(BigInt, BigInt))| {
            let is_near = *most < power && &left - least < power;
            let is_below = |bound: &BigInt| !least.is_negative() && *most < bound << self.h;
            is_near && corner.bound.as_ref().is_none_or(is_below)
        };
        match !ranges.is_empty() && self.corners.iter().zip(&ranges).all(fits) {
            true => Ok(()),
            false => Err("the result may be negative, or as large as its bound"),
        }
    }

    /// The most that the words below the result are: nothing, or less than `2^h`.
    fn below(&self, d: &mut Checker<'_>, low: &Terms) -> Check<BigInt> {
        let (least, most) = d.range_of_sum(low)?;
        match (self.rest, low.is_empty()) {
            (Rest::Nothing | Rest::Below | Rest::Above, true) => Ok(most),
            (Rest::Below, false) if !least.is_negative() && most.bits() <= self.h => Ok(most),
            (Rest::Nothing | Rest::Below | Rest::Above, false) => {
                Err("the words below the result may add up to more than they are")
            }
        }
    }

    /// `2^h Z + low = P + M U + 2^bits k`, or without `k` modulo `2^bits`.
    fn is_equation(&self, d: &mut Checker<'_>, reason: &Reason) -> Check {
        let modulo = reason.lost.is_none().then_some(self.bits);
        let minus = -BigInt::one();
        let mut p = self.operands(d, &minus, modulo)?;
        self.add_result(d, &mut p, reason)?;
        d.vanish(&mut p, self.w, &reason.zeros)?;
        self.add_multiples(d, &mut p, &reason.multiples, &minus)?;
        self.add_products(d, &mut p, reason, &minus)?;
        d.take_lemmas(&mut p, &reason.used)?;
        d.is_zero(p)
    }

    /// The ranges of `P + M U`, of which sums compare.
    fn last_ranges(&self, d: &mut Checker<'_>, reason: &Reason) -> Check<Ranges> {
        // What of U compares, and T[0] has not yet.
        let compared: Vec<_> = reason.compared.iter().flat_map(|c| &c.sum).collect();
        let compares = |v: &VarId| compared.iter().any(|(other, _)| other == v);
        let (mut left, first): (Terms, Terms) = {
            let terms = reason.multiples.terms.iter().cloned();
            terms.partition(|(v, _)| compares(v))
        };
        left.sort_unstable();
        if left.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err("a multiple is named twice");
        }
        let mut times = Sum {
            constant: reason.multiples.constant.clone(),
            terms: first,
        };
        let mut ranges = self.first_ranges(d, reason, &times, &left)?;
        for comparison in &reason.compared {
            self.compare(d, reason, comparison, &mut ranges, &times)?;
            for (v, factor) in &comparison.sum {
                let u = factor * &comparison.times;
                let at = left.iter().position(|(other, by)| other == v && *by == u);
                let at = at.ok_or("a comparison is not of what is added")?;
                times.terms.push(left.swap_remove(at));
            }
        }
        Ok(ranges)
    }

    /// Adds `2^h Z + low - 2^bits k`.
    fn add_result(&self, d: &Checker<'_>, p: &mut Polynomial, reason: &Reason) -> Check {
        p.add_words(self.w, self.result, &BigInt::one(), self.h)?;
        p.add_terms(&reason.low, &BigInt::one());
        match &reason.lost {
            Some(k) => {
                let power = -(BigInt::one() << self.bits);
                p.add_sum(k, &power)?;
                let mut products = reason.lost_products.iter();
                products.try_for_each(|((x, y), by)| {
                    if d.known(*x).is_none() || d.known(*y).is_none() {
                        return Err("a variable is used before it has a meaning");
                    }
                    let by = Number::new(by * &power, 0);
                    d.add_product(p, Value::Var(*x), Value::Var(*y), by)
                })
            }
            None => Ok(()),
        }
    }

    /// The ranges of `T[0] = P + M times`, where `left` is what of `U` compares.
    fn first_ranges(
        &self,
        d: &mut Checker<'_>,
        reason: &Reason,
        times: &Sum,
        left: &Terms,
    ) -> Check<Ranges> {
        let (mut low, mut high) = d.range_of_sum(&times.terms)?;
        low += &times.constant;
        high += &times.constant;
        for ((x, y), u) in &reason.products {
            let ((0.., x), (0.., y)) = (d.range(*x)?, d.range(*y)?) else {
                return Err("a factor may be below 0");
            };
            let most: BigInt = u * x * y;
            low += most.clone().min(BigInt::zero());
            high += most.max(BigInt::zero());
        }
        let ends = |c: &Corner| (&c.least + &low * &c.modulus, &c.most + &high * &c.modulus);
        let mut ranges: Ranges = self.corners.iter().map(ends).collect();
        let ([range], Modulus::Number(_)) = (&mut ranges[..], self.modulus) else {
            return Ok(ranges);
        };
        if reason.lost.is_none() && !reason.stages.is_empty() {
            return Err("a sum equals no number, but what is left of one");
        }
        // T[0] is also 2^h Z less the rest, which is a sum of words in other ways.
        for ShownSum { sum, used } in &reason.stages {
            let mut t = Polynomial::new(None);
            self.add_result(d, &mut t, reason)?;
            d.add_multiples(&mut t, self.modulus, self.w, left, &BigInt::from(-1))?;
            t.add_sum(sum, &BigInt::from(-1))?;
            d.take_lemmas(&mut t, used)?;
            d.is_zero(t)?;
            let (least, most) = d.range_of_sum(&sum.terms)?;
            range.0 = range.0.clone().max(least + &sum.constant);
            range.1 = range.1.clone().min(most + &sum.constant);
        }
        Ok(ranges)
    }
}
