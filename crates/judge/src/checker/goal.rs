//! Goals: what the result must be, from the words that the operation found and left.

use machine::domain::trace::{Multiples, Reason};
use machine::domain::variable::{Value, VarId};
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};

use crate::checker::folded::Folded;
use crate::checker::form::Form;
use crate::checker::montgomery::Reduction;
use crate::checker::polynomial::{Number, Polynomial};
use crate::checker::refused::Check;
use crate::checker::residue::Residue;
use crate::checker::state::Checker;

/// What is to hold for all inputs.
pub enum Goal<'a> {
    /// `R = A B`, modulo the weight of the word behind the last of the result.
    Product(Product<'a>),
    /// `R = floor(A B / 2^(w n))`, all of `n` words.
    High(Product<'a>),
    Sum(Addition<'a>),
    Montgomery(Reduction<'a>),
    Residue(Residue<'a>),
    Folded(Folded<'a>),
}

/// A product of words of `w` bits, and what is said to be part of it.
pub struct Product<'a> {
    pub w: u32,
    pub result: &'a [Value],
    pub a: &'a [Value],
    pub b: &'a [Value],
}

/// `R + s 2^(w n) C = A + s B` of numbers in `n` words of `w` bits, with the number `C` in words of `v` bits and the
/// sign `s`.
pub struct Addition<'a> {
    pub sign: i64,
    pub w: u32,
    pub result: &'a [Value],
    pub a: &'a [Value],
    pub b: &'a [Value],
    pub v: u32,
    pub returned: &'a [Value],
}

impl Checker<'_> {
    /// Does the goal hold, for this reason?
    ///
    /// # Errors
    /// Why that is not shown.
    pub fn reached(&mut self, goal: &Goal<'_>, reason: &Reason) -> Check {
        match (goal, reason) {
            (Goal::Product(product), Reason::Identity { used }) => product.is_low(self, used),
            (Goal::High(product), Reason::High { used, low }) => product.is_high(self, used, low),
            (Goal::Sum(sum), Reason::Identity { used }) => sum.holds(self, used),
            (Goal::Montgomery(reduction), Reason::Montgomery { .. }) => {
                reduction.holds(self, reason)
            }
            (Goal::Residue(residue), Reason::Residue(reason)) => residue.holds(self, reason),
            (
                Goal::Folded(folded),
                Reason::Folded {
                    reduced,
                    quotient,
                    bits,
                    by,
                    used,
                },
            ) => folded.holds(self, [reduced, quotient], bits, by, used),
            (
                Goal::Residue(_)
                | Goal::Folded(_)
                | Goal::Product(_)
                | Goal::High(_)
                | Goal::Sum(_)
                | Goal::Montgomery(_),
                Reason::Identity { .. }
                | Reason::High { .. }
                | Reason::Montgomery { .. }
                | Reason::Residue(_)
                | Reason::Folded { .. },
            ) => Err("the reason given is one for another goal"),
        }
    }

    pub(super) fn are_words(&mut self, words: &[Value], w: u32) -> Check {
        let mut words = words.iter();
        words.try_for_each(|word| self.lies(&Form::of(*word)?, (0, (1 << w) - 1)))
    }

    /// The range of a sum of variables.
    pub(super) fn range_of_sum(&mut self, sum: &[(u32, BigInt)]) -> Check<(BigInt, BigInt)> {
        let (mut least, mut most) = (BigInt::zero(), BigInt::zero());
        for (v, by) in sum {
            let (low, high) = self.range(*v)?;
            let (x, y) = (by * low, by * high);
            least += x.clone().min(y.clone());
            most += x.max(y);
        }
        Ok((least, most))
    }
}

impl Product<'_> {
    /// Bits of the result.
    fn bits(&self) -> u64 {
        u64::from(self.w) * self.result.len() as u64
    }

    /// `2^base R - A B`, modulo so many bits.
    fn difference(&self, d: &mut Checker<'_>, bits: u64, base: u64) -> Check<Polynomial> {
        d.are_words(self.result, self.w)?;
        let mut p = Polynomial::new(Some(bits));
        p.add_words(self.w, self.result, &BigInt::one(), base)?;
        d.add_numbers(&mut p, self.w, [self.a, self.b], &BigInt::from(-1), 0)?;
        Ok(p)
    }

    fn is_low(&self, d: &mut Checker<'_>, used: &Multiples) -> Check {
        let mut p = self.difference(d, self.bits(), 0)?;
        d.take_lemmas(&mut p, used)?;
        d.is_zero(p)
    }

    /// `2^(w n) R + low = A B`, and `low` is less than `2^(w n)`.
    fn is_high(&self, d: &mut Checker<'_>, used: &Multiples, low: &[(VarId, BigInt)]) -> Check {
        let all = self.bits();
        if self.a.len() != self.result.len() || self.b.len() != self.result.len() {
            return Err("the high half has another length");
        }
        d.are_words(self.a, self.w)?;
        d.are_words(self.b, self.w)?;
        let mut p = self.difference(d, 2 * all, all)?;
        d.take_lemmas(&mut p, used)?;
        for (v, by) in low {
            p.add(*v, Number::new(by.clone(), 0));
        }
        let (least, most) = d.range_of_sum(low)?;
        if least.is_negative() || most.bits() > all {
            return Err("the words below the result may add up to more than they are");
        }
        d.is_zero(p)
    }
}

impl Addition<'_> {
    fn holds(&self, d: &mut Checker<'_>, used: &Multiples) -> Check {
        for (words, bits) in [
            (self.result, self.w),
            (self.returned, self.v),
            (self.a, self.w),
            (self.b, self.w),
        ] {
            d.are_words(words, bits)?;
        }
        if self.a.len() > self.result.len() || self.b.len() > self.result.len() {
            return Err("an operand is longer than the result");
        }
        // Both sides are less than 2^bits apart.
        let top = u64::from(self.w) * self.result.len() as u64;
        let bits = top + u64::from(self.v) * self.returned.len() as u64;
        let (one, sign) = (BigInt::one(), BigInt::from(self.sign));
        let mut p = Polynomial::new(Some(bits));
        p.add_words(self.w, self.result, &one, 0)?;
        p.add_words(self.v, self.returned, &sign, top)?;
        p.add_words(self.w, self.a, &-one, 0)?;
        p.add_words(self.w, self.b, &-sign, 0)?;
        d.take_lemmas(&mut p, used)?;
        d.is_zero(p)
    }
}
