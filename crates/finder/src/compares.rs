//! Comparisons: the conditions under which a sum of bits is 1.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use judge::prove::Open;
use machine::domain::trace::{Answer, Comparison, Multiples, Sum};
use machine::domain::variable::{Value, VarId};
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};

use crate::algebra::Algebra;
use crate::homes::Home;
use crate::modular::{Modulus, Residue, once, remainder};
use crate::remainder::Remainder;

/// `times + products + x`, a number of times that `M` is added.
#[derive(Clone, Copy)]
pub(crate) struct Multiple<'a> {
    pub times: &'a BTreeMap<VarId, BigInt>,
    pub products: &'a BTreeMap<(VarId, VarId), BigInt>,
    pub x: &'a BigInt,
}

/// For `X = P + M multiple`, which has `offset` more: bits whose sum `s` is added `u` times.
pub(crate) struct Compares<'a> {
    pub multiple: Multiple<'a>,
    pub offset: i64,
    pub bits: &'a [VarId],
    pub u: &'a BigInt,
}

/// Multiples of the modulus that a comparison may be off by where as many `R` are added.
pub(crate) const LIFTS: RangeInclusive<i64> = -8..=-2;

impl Residue<'_> {
    /// Is `X + limit s` (or `X - limit s`) `+ shift` a sum of words in `0 .. limit`?
    fn is_word(
        &self,
        algebra: &Algebra,
        homes: &[Home],
        asked: &Compares<'_>,
        limit: &BigInt,
        shift: &BigInt,
    ) -> Option<Comparison> {
        let weight = limit * if asked.u.is_positive() { 1 } else { -1 };
        let found = self.difference(algebra, homes, asked.multiple, asked.bits, weight);
        let (mut rest, used) = found.ok()?;
        rest.constant += shift;
        let most = rest.terms.iter().map(|(v, by)| {
            let bound = algebra.vars[*v as usize].bound;
            match by.is_negative() {
                true => algebra.is_lost(*v).then(BigInt::zero),
                false => Some(by * bound),
            }
        });
        let most: Option<BigInt> = most.sum();
        let fits = most.is_some_and(|most| most + &rest.constant < *limit);
        let mut products = rest.products.keys();
        let lost = products.all(|(x, y)| algebra.is_lost(*x) || algebra.is_lost(*y));
        let is_word = fits && lost && !rest.constant.is_negative();
        let kept = |(v, by): (&VarId, &BigInt)| (!by.is_negative()).then(|| (*v, by.clone()));
        is_word.then(|| Comparison {
            sum: asked.bits.iter().map(|v| (*v, BigInt::one())).collect(),
            times: asked.u.clone(),
            answer: Answer::Itself,
            offset: asked.offset.into(),
            limit: limit.clone(),
            shift: shift.clone(),
            bits: None,
            digits: Sum {
                constant: rest.constant.clone(),
                terms: rest.terms.iter().filter_map(kept).collect(),
            },
            zeros: Vec::new(),
            used,
        })
    }

    /// For `X = P + M multiple`: the sum of `bits` is 1 just when `X < 0` (`u > 0`; the answer is 0), or when
    /// `X` is the answer or more.
    pub(crate) fn is_compared(
        &self,
        algebra: &Algebra,
        homes: &[Home],
        asked: &Compares<'_>,
    ) -> Option<(BigInt, Comparison)> {
        let r = self.all();
        let Compares {
            offset, bits, u, ..
        } = *asked;
        let is_word =
            |limit: &BigInt, shift: &BigInt| self.is_word(algebra, homes, asked, limit, shift);
        let zero = BigInt::zero();
        if LIFTS.contains(&offset) {
            // X + j R is, and R s more: s = 1 just when X >= (1 - j) R.
            let lift = &r * -offset;
            let lifted = is_word(&r, &lift).filter(|_| u.is_negative())?;
            return Some((r - lift, lifted));
        }
        if u.is_positive() {
            // A difference may have one word more than the modulus.
            let limits = [r.clone(), &r << self.w];
            let found = limits.iter().find_map(|limit| is_word(limit, &zero))?;
            return Some((zero, found));
        }
        if let Some(found) = is_word(&r, &zero) {
            return Some((r, found));
        }
        // X + limit is a sum of words and of limit s.
        let mut limits = vec![r];
        if let Modulus::Number(m) = &self.modulus {
            limits.push(BigInt::one() << m.bits());
        }
        let mut limits = limits.iter().filter(|_| bits.len() == 1);
        let found = limits.find_map(|limit| is_word(limit, limit))?;
        Some((zero, found))
    }

    /// What is left of `P + M multiple + weight * (sum of bits)`.
    fn difference(
        &self,
        algebra: &Algebra,
        homes: &[Home],
        Multiple { times, products, x }: Multiple<'_>,
        bits: &[VarId],
        weight: BigInt,
    ) -> Result<(Remainder, Multiples), Open> {
        let mut p = self.operands(algebra, 1)?;
        for (v, u) in times {
            self.add_modulus(&mut p, Value::Var(*v), u)?;
        }
        if let Modulus::Number(m) = &self.modulus {
            for ((v, y), u) in products {
                p.add_product(Value::Var(*v), Value::Var(*y), &once(u * m))?;
            }
        }
        self.add_modulus(&mut p, Value::ONE, x)?;
        for v in bits {
            p.add_value(Value::Var(*v), &once(weight.clone()))?;
        }
        p.settle(homes, None);
        p.eliminate()?;
        Ok((remainder(&p), p.used()))
    }
}
