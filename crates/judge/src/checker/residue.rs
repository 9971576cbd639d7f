//! Products and sums modulo a number, with Montgomery's factor or without: `2^h Z = P (mod M)` and `Z` below its bound.
//! The arguments are in [`finder::residue`] and [`finder::montgomery`].

use std::collections::BTreeMap;

use machine::domain::trace::{Comparison, ResidueReason, ShownSum, Sum, Vanishing};
use machine::domain::variable::{Value, VarId};
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};

use crate::checker::form::Form;
use crate::checker::modulus::Modulus;
use crate::checker::polynomial::{Number, Polynomial};
use crate::checker::refused::Check;
use crate::checker::state::Checker;
use crate::checker::term::Term;

/// What holds where the modulus is at one end of the interval that it lies in.
#[derive(Clone)]
pub struct Corner {
    pub modulus: BigInt,
    /// The range of `P`, both inclusive.
    pub least: BigInt,
    pub most: BigInt,
    /// What `Z` must be below.
    pub bound: BigInt,
}

/// `2^h Z = P (mod M)`, `Z` in words of `w` bits, `P` a sum of terms times `scale`.
pub struct Residue<'a> {
    pub w: u32,
    pub result: &'a [Value],
    /// 1 where a number is halved; the bits of the result where it is reduced by Montgomery's factor; else 0.
    pub h: u64,
    pub value: Vec<Term<'a>>,
    pub scale: BigInt,
    pub modulus: Modulus<'a>,
    /// One for a number, two for an operand: what is linear in `M` lies between its values at both, what is convex
    /// (the most of a product of two factors) not above them.
    pub corners: Vec<Corner>,
}

/// The least and the most of a number, at each corner.
type Ranges = Vec<(BigInt, BigInt)>;

/// What `U` still adds, each variable once.
type Multiples = BTreeMap<VarId, BigInt>;

impl Checker<'_> {
    /// Adds words as often as they are said to be there: each is 0, as it is 0 modulo `2^w` by its definition, and below
    /// that.
    fn vanish(&mut self, p: &mut Polynomial, w: u32, words: &[Vanishing]) -> Check {
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

/// Of the borrow `s` of `0 - u`, `u`: where `u` is 0 or 1, `s = u`.
fn borrowed(d: &Checker<'_>, w: u32, sum: &[(VarId, BigInt)], u: VarId) -> Check {
    const NONE: &str = "no borrow is compared";
    let [(v, by)] = sum else {
        return Err(NONE);
    };
    let word = *d.left.get(v).ok_or("a borrow left no word")?;
    let (terms, constant) = d.sum(word).ok_or("it is no sum")?;
    let mut terms = terms.to_vec();
    terms.sort_unstable_by_key(|(_, factor)| *factor);
    let is_borrow = matches!(&terms[..], [(x, -1), (c, weight)]
        if *x == u && c == v && *weight == 1 << w);
    match by.is_one() && constant == 0 && is_borrow {
        true => Ok(()),
        false => Err(NONE),
    }
}

impl Residue<'_> {
    /// `2^h Z = P + M U + 2^h R k`, and parts of `U` compare: so the range of `P + M U` is known, and lies in
    /// `0 .. 2^h bound`, so that it is `2^h Z`.
    pub(super) fn holds(&self, d: &mut Checker<'_>, reason: &ResidueReason) -> Check {
        let one = BigInt::one();
        let top = &one << (u64::from(self.w) * self.result.len() as u64 + self.h);
        d.are_words(self.result, self.w)?;
        let mut p = self.operands(d, &-&one)?;
        self.add_result(&mut p)?;
        d.vanish(&mut p, self.w, &reason.zeros)?;
        let minus = -&one;
        self.add_multiples(d, &mut p, &reason.multiples, &minus)?;
        self.add_products(d, &mut p, reason, &minus)?;
        p.add_sum(&reason.lost, &-&top)?;
        d.take_lemmas(&mut p, &reason.used)?;
        d.is_zero(p)?;
        // What of U compares, and T[0] has not yet.
        let mut left = Multiples::new();
        let mut times = reason.multiples.clone();
        let compared: Vec<_> = reason.compared.iter().flat_map(|c| &c.sum).collect();
        let compares = |v: VarId| compared.iter().any(|(other, _)| *other == v);
        for (v, u) in &reason.multiples.terms {
            if compares(*v) && left.insert(*v, u.clone()).is_some() {
                return Err("a multiple is named twice");
            }
        }
        times.terms.retain(|(v, _)| !left.contains_key(v));
        let mut ranges = self.first_ranges(d, reason, [&times, &of(&left)], &top)?;
        for comparison in &reason.compared {
            self.compare(d, reason, comparison, &mut ranges, &times)?;
            for (v, factor) in &comparison.sum {
                let u = factor * &comparison.times;
                if left.remove(v).as_ref() != Some(&u) {
                    return Err("a comparison is not of what is added");
                }
                times.terms.push((*v, u));
            }
        }
        let fits = |(corner, (least, most)): (&Corner, &(BigInt, BigInt))| {
            let bound: BigInt = &corner.bound << self.h;
            !least.is_negative() && *most < bound && bound <= top
        };
        match self.corners.iter().zip(&ranges).all(fits) {
            true => Ok(()),
            false => Err("the result may be negative, or as large as its bound"),
        }
    }

    /// `sign P`.
    fn operands(&self, d: &Checker<'_>, sign: &BigInt) -> Check<Polynomial> {
        let mut p = Polynomial::new(None);
        d.add_value(&mut p, &self.value, &(sign * &self.scale))?;
        Ok(p)
    }

    /// Adds `2^h Z`.
    fn add_result(&self, p: &mut Polynomial) -> Check {
        p.add_words(self.w, self.result, &BigInt::one(), self.h)
    }

    /// Adds `by M` times a sum.
    fn add_multiples(&self, d: &Checker<'_>, p: &mut Polynomial, sum: &Sum, by: &BigInt) -> Check {
        d.add_multiples(p, self.modulus, self.w, &sum.terms, by)?;
        d.add_modulus(p, self.modulus, self.w, Value::ONE, &(&sum.constant * by))
    }

    /// Adds `by M` times the products of two variables among `U`, for a number `M`.
    fn add_products(
        &self,
        d: &Checker<'_>,
        p: &mut Polynomial,
        reason: &ResidueReason,
        by: &BigInt,
    ) -> Check {
        let Modulus::Number(m) = self.modulus else {
            return match reason.products.is_empty() {
                true => Ok(()),
                false => Err("products are multiplied by the modulus"),
            };
        };
        let mut products = reason.products.iter();
        products.try_for_each(|((x, y), u)| {
            let by = Number::new(u * by * m, 0);
            d.add_product(p, Value::Var(*x), Value::Var(*y), by)
        })
    }

    /// The ranges of `T[0] = P + M times`, where `left` is what of `U` compares.
    fn first_ranges(
        &self,
        d: &mut Checker<'_>,
        reason: &ResidueReason,
        [times, left]: [&Sum; 2],
        top: &BigInt,
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
        // T[0] is also 2^h Z less the rest, which is a sum of words in other ways.
        for ShownSum { sum, used } in &reason.stages {
            let mut t = Polynomial::new(None);
            self.add_result(&mut t)?;
            self.add_multiples(d, &mut t, left, &BigInt::from(-1))?;
            t.add_sum(&reason.lost, &-top)?;
            t.add_sum(sum, &BigInt::from(-1))?;
            d.take_lemmas(&mut t, used)?;
            d.is_zero(t)?;
            let (least, most) = d.range_of_sum(&sum.terms)?;
            range.0 = range.0.clone().max(least + &sum.constant);
            range.1 = range.1.clone().min(most + &sum.constant);
        }
        Ok(ranges)
    }

    /// `D = X + shift + limit s`, or `- limit s` if the answer is not negative, is a sum of digits, `0 <= D < limit`.
    fn is_within(
        &self,
        d: &mut Checker<'_>,
        reason: &ResidueReason,
        comparison: &Comparison,
        times: &Sum,
    ) -> Check {
        let c = comparison;
        let weight = match c.times.is_positive() {
            true => c.limit.clone(),
            false => -&c.limit,
        };
        let mut p = self.operands(d, &BigInt::one())?;
        self.add_multiples(d, &mut p, times, &BigInt::one())?;
        self.add_products(d, &mut p, reason, &BigInt::one())?;
        d.add_modulus(&mut p, self.modulus, self.w, Value::ONE, &c.offset)?;
        match c.borrow {
            Some(u) => p.add(u, Number::new(weight, 0)),
            None => p.add_terms(&c.sum, &weight),
        }
        p.add_value(Value::ONE, Number::new(c.shift.clone(), 0))?;
        p.add_sum(&c.digits, &BigInt::from(-1))?;
        d.take_lemmas(&mut p, &c.used)?;
        d.vanish(&mut p, self.w, &c.zeros)?;
        d.is_zero(p)?;
        let (least, most) = d.range_of_sum(&c.digits.terms)?;
        match (least + &c.digits.constant).is_negative() || most + &c.digits.constant >= c.limit {
            true => Err("a comparison may overflow"),
            false => Ok(()),
        }
    }

    /// Is `s` 0 or 1: a bit, or as `X + shift` lies where [`Residue::is_within`] leaves no other value?
    fn is_bit(&self, d: &mut Checker<'_>, c: &Comparison, ranges: &Ranges) -> Check<bool> {
        if let ([(v, by)], None) = (&c.sum[..], c.borrow)
            && by.is_one()
            && let (0.., ..=1) = d.range(*v)?
        {
            return Ok(true);
        }
        // -limit <= X + shift < limit, or 0 <= X + shift < 2 limit.
        let first = match c.times.is_positive() {
            true => -&c.limit,
            false => BigInt::zero(),
        };
        let last: BigInt = &first + &c.limit * 2;
        let mut corners = self.corners.iter().zip(ranges);
        Ok(corners.all(|(corner, (least, most))| {
            let by = &corner.modulus * &c.offset + &c.shift;
            least + &by >= first && most + by < last
        }))
    }

    /// `s` is 1 just where `X = T + offset M` is negative, or where it is some number or more. So `T + u M s` has another
    /// range than `T`.
    fn compare(
        &self,
        d: &mut Checker<'_>,
        reason: &ResidueReason,
        comparison: &Comparison,
        ranges: &mut Ranges,
        times: &Sum,
    ) -> Check {
        let c = comparison;
        if c.times.is_zero() || !c.limit.is_positive() {
            return Err("a comparison of nothing");
        }
        if let Some(u) = c.borrow {
            borrowed(d, self.w, &c.sum, u)?;
        }
        if !self.is_bit(d, c, ranges)? {
            return Err("a comparison leaves more than two answers");
        }
        self.is_within(d, reason, c, times)?;
        // s = 1 just where X + shift < 0 (u > 0), or where it is `limit` or more.
        let from = match c.times.is_positive() {
            true => -&c.shift,
            false => &c.limit - &c.shift,
        };
        for (Corner { modulus, .. }, (least, most)) in self.corners.iter().zip(ranges) {
            let step = &c.times * modulus;
            let limit = &from - modulus * &c.offset;
            let (below, above) = ((least.clone(), &limit - 1), (limit, most.clone()));
            let (set, unset) = match c.times.is_positive() {
                true => (below, above),
                false => (above, below),
            };
            *least = unset.0.min(set.0 + &step);
            *most = unset.1.max(set.1 + &step);
        }
        Ok(())
    }
}

/// As a sum.
fn of(multiples: &Multiples) -> Sum {
    Sum {
        constant: BigInt::zero(),
        terms: multiples.clone().into_iter().collect(),
    }
}
