//! Residues without Montgomery's factor: is `2^h Z = P (mod M)` and `Z` below its bound, for all inputs?
//!
//! `P` is a sum, a difference or a product of the operands, of shifted numbers times the number `2^-s mod M`, `R = 2^(W n)`,
//! and `h` is 1 where a number is halved, else 0. Elimination brings `2^h Z - P` over the integers to
//!
//! `2^h Z = P + M U + 2^h R k`,  `U = sum u[i] v[i] + u`,
//!
//! with variables `v[i]` and whole numbers `u[i]`, `u`; `k` is a sum of variables, too. Then
//!
//! 1. Some `v[i]` are bits that compare: an equation `D = X + 2^L v` with words `0 <= D < 2^L` says that
//!    `v = 1` just when `X < 0`, and `R v = X - D` with `0 <= D < R` that it is 1 just when `X >= R`; and
//!    `2^L v = X + 2^L - D` with `0 <= D < 2^L` just when `X >= 0`. So does a
//!    sum `v` of bits, if `-R <= X < R`, or if `0 <= X < 2 R`: then no value but 0 and 1 is left for it. They
//!    come one after the other: `T[0] = P + M (u + what of U is no such bit)`, `T[i] = T[i-1] + u[i] M v[i]`,
//!    `X` is `T[i-1]` or `M` more or less.
//! 2. The range of `T[0]` follows from that of the operands and of the other variables, or from the words
//!    that it is a sum of on the way to `P`; that of `T[i]` from the two cases of `v[i]`.
//! 3. If the last `T` lies in `0 .. 2^h bound`, and `bound <= R`, it is `2^h Z`: both lie in `0 .. 2^h R`, and
//!    they differ by a multiple of it, so `k = 0`.
//!
//! With a modulus that is an operand, the ends of a range are linear in `M`: they are kept as their values
//! at the ends of the interval that `M` lies in.

use std::collections::BTreeMap;

use judge::checker::Corner;
use judge::prove::Open;
use machine::domain::trace;
use machine::domain::trace::{Comparison, Reason, Sum, Vanishing};
use machine::domain::variable::{Value, VarId};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use crate::algebra::Algebra;
use crate::compares::{Compares, LIFTS, Multiple};
use crate::homes::{Home, homes};
use crate::modular::{Modulus, Residue, once, open, remainder};
use crate::montgomery::{Reduced, odd_term};
use crate::polynomial;
use crate::polynomial::Polynomial;
use crate::remainder::Remainder;

/// `2^h Z - P = M (sum u v + u) + 2^h R (sum k v + k)`; of a number `M`, some `v` are products of two variables.
#[derive(Default)]
struct Parts {
    multiples: BTreeMap<VarId, BigInt>,
    products: BTreeMap<(VarId, VarId), BigInt>,
    constant: BigInt,
    lost: BTreeMap<VarId, BigInt>,
    lost_constant: BigInt,
}

impl Parts {
    /// As it is written down, without claims and comparisons.
    fn told(&self, algebra: &Algebra) -> Reason {
        let even = algebra.even_bits().iter().filter_map(Value::variable);
        let even = even.map(|word| Vanishing {
            word,
            by: BigInt::one(),
            used: Vec::new(),
        });
        Reason {
            multiples: traced(&self.multiples, &self.constant),
            products: self.products.clone().into_iter().collect(),
            lost: Some(traced(&self.lost, &self.lost_constant)),
            zeros: even.collect(),
            ..Reason::default()
        }
    }
}

/// A sum as it is written down.
fn traced(terms: &BTreeMap<VarId, BigInt>, constant: &BigInt) -> Sum {
    Sum {
        constant: constant.clone(),
        terms: terms.clone().into_iter().collect(),
    }
}

/// The range of the last `T`, what the bits compare, and what the first `T` is a sum of.
type Found = (Range, Vec<Comparison>, Vec<trace::ShownSum>);

/// The least and the most of a number, at each corner.
type Range = Vec<(BigInt, BigInt)>;

/// Multiples of the modulus that a comparison may be off by.
const OFFSETS: [i64; 3] = [0, 1, -1];

/// Bits of which one comparison is the sum at most.
const MOST_BITS: usize = 3;

impl<'a> Residue<'a> {
    /// Shows the congruence and the bound.
    ///
    /// # Errors
    /// What stayed open.
    pub fn show(&self, algebra: &Algebra) -> Result<(), Open> {
        if self.h == self.bits() {
            return Reduced::of(self).show(algebra);
        }
        let homes = homes(algebra, self.w);
        let mut p = self.operands(algebra, -1)?;
        self.add_result(&mut p)?;
        // The bits that halving drops, if they are 0.
        for bit in algebra.even_bits() {
            p.add_value(*bit, &once(BigInt::one()))?;
        }
        let modulus = match &self.modulus {
            Modulus::Number(value) => Some(polynomial::Modulus {
                value,
                w: self.w,
                words: 2 * self.result.len(),
            }),
            Modulus::Words(_) => None,
        };
        p.settle(&homes, modulus);
        p.eliminate()?;
        let used = p.used();
        let parts = self.parts(algebra, remainder(&p));
        let parts = parts.map_err(|rest| odd_term(algebra, &rest))?;
        // Bits, in the order in which they were made.
        let is_bit = |v: &VarId| algebra.vars[*v as usize].bound == 1;
        let mut bits: Vec<_> = parts.multiples.keys().copied().filter(is_bit).collect();
        let range = loop {
            match self.compared(algebra, &homes, &parts, &bits)? {
                Ok((range, compared, stages)) => {
                    let reason = Reason {
                        used,
                        compared,
                        stages,
                        ..parts.told(algebra)
                    };
                    *algebra.reason.borrow_mut() = Some(reason);
                    break range;
                }
                // It compares nothing: it is one of the others.
                Err(other) => bits.retain(|v| *v != other),
            }
        };
        let fits = |(corner, (least, most)): (&Corner, &(BigInt, BigInt))| {
            let bound: BigInt = self.bound(corner) << self.h;
            !least.is_negative() && *most < bound && bound <= self.top()
        };
        match self.corners.iter().zip(&range).all(fits) {
            true => Ok(()),
            false => Err(open(
                "the result may be negative, or as large as its bound: a multiple of the modulus is \
                 missing, or taken when it must not be",
            )),
        }
    }

    /// Multiples of `M` and of `2^h R`; or what is neither.
    fn parts(&self, algebra: &Algebra, mut rest: Remainder) -> Result<Parts, Remainder> {
        let mut parts = match &self.modulus {
            Modulus::Number(m) => self.multiples_of_number(m, &mut rest),
            Modulus::Words(words) => match rest.take_modulus(words, self.w) {
                Some((multiples, constant)) => {
                    self.multiples_of_words(multiples, constant, &mut rest)
                }
                None => return Err(rest),
            },
        };
        rest.terms.retain(|v, _| !algebra.is_lost(*v));
        rest.products
            .retain(|(x, y), _| !algebra.is_lost(*x) && !algebra.is_lost(*y));
        parts.multiples.retain(|_, by| !by.is_zero());
        parts.lost.retain(|_, by| !by.is_zero());
        match rest.terms.is_empty() && rest.products.is_empty() && rest.constant.is_zero() {
            true => Ok(parts),
            false => Err(rest),
        }
    }

    /// What of `rest` is a multiple of a number `m`, or differs from one by a multiple of `2^h R`.
    fn multiples_of_number(&self, m: &BigInt, rest: &mut Remainder) -> Parts {
        let mut parts = Parts::default();
        let top = self.top();
        // by = u M + k 2^h R.
        let most: BigInt = &top / m + 1;
        let split = |by: &BigInt| {
            if by.is_multiple_of(m) {
                return Some((by / m, BigInt::zero()));
            }
            let few = [0, 1, -1, 2, -2].map(BigInt::from);
            let few = few.into_iter().chain([most.clone(), -&most]);
            let few = few.chain([&most - 1, 1 - &most]);
            let mut few = few.map(|u| (by - &u * m, u));
            let (left, u) = few.find(|(left, _)| left.is_multiple_of(&top))?;
            Some((u, left / &top))
        };
        for (v, by) in std::mem::take(&mut rest.terms) {
            match split(&by) {
                Some((u, k)) => {
                    parts.multiples.insert(v, u);
                    parts.lost.insert(v, k);
                }
                None => {
                    rest.terms.insert(v, by);
                }
            }
        }
        rest.products.retain(|pair, by| {
            let is_multiple = by.is_multiple_of(m);
            if is_multiple {
                parts.products.insert(*pair, &*by / m);
            }
            !is_multiple
        });
        if let Some((u, k)) = split(&rest.constant) {
            rest.constant.set_zero();
            (parts.constant, parts.lost_constant) = (u, k);
        }
        parts
    }

    /// Multiples of a modulus in words, and what of `rest` is a multiple of `2^h R` beside them.
    fn multiples_of_words(
        &self,
        multiples: BTreeMap<VarId, BigInt>,
        constant: BigInt,
        rest: &mut Remainder,
    ) -> Parts {
        let top = self.top();
        let mut lost = BTreeMap::new();
        for (v, by) in std::mem::take(&mut rest.terms) {
            match by.is_multiple_of(&top) {
                true => lost.insert(v, by / &top),
                false => rest.terms.insert(v, by),
            };
        }
        Parts {
            multiples,
            constant,
            lost,
            ..Parts::default()
        }
    }

    /// The range of the last `T` if `bits` are those that compare, or the first bit that does not.
    fn compared(
        &self,
        algebra: &Algebra,
        homes: &[Home],
        parts: &Parts,
        bits: &[VarId],
    ) -> Result<Result<Found, VarId>, Open> {
        let (mut range, stages) = self.first_range(algebra, parts, bits)?;
        let mut comparisons = Vec::new();
        // U of the T at hand.
        let mut times = parts.multiples.clone();
        times.retain(|v, _| !bits.contains(v));
        let mut left = bits;
        while let Some(first) = left.first() {
            let u = &parts.multiples[first];
            let alike = left.iter().take_while(|v| parts.multiples[v] == *u);
            let alike = 1..=alike.take(MOST_BITS).count();
            let tries = alike.flat_map(|count| OFFSETS.map(move |offset| (count, offset)));
            let mut tries = tries.chain(LIFTS.map(|offset| (1, offset)));
            let found = tries.find_map(|(count, offset)| {
                let x = &parts.constant + offset;
                if count > 1 && !self.is_within(&range, offset, u) {
                    return None;
                }
                let multiple = Multiple {
                    times: &times,
                    products: &parts.products,
                    x: &x,
                };
                let asked = Compares {
                    multiple,
                    offset,
                    bits: &left[..count],
                    u,
                };
                let from = self.is_compared(algebra, homes, &asked)?;
                Some((count, offset, from))
            });
            let Some((count, offset, (from, comparison))) = found else {
                return Ok(Err(*first));
            };
            comparisons.push(comparison);
            // s = 1 just when T + offset M < 0, or when it is `from` or more.
            let ends = self.corners.iter().zip(&mut range);
            for (Corner { modulus, .. }, (least, most)) in ends {
                let step = u * modulus;
                let limit = &from - modulus * offset;
                let (below, above) = ((least.clone(), &limit - 1), (limit, most.clone()));
                let (set, unset) = match u.is_positive() {
                    true => (below, above),
                    false => (above, below),
                };
                *least = unset.0.min(set.0 + &step);
                *most = unset.1.max(set.1 + &step);
            }
            times.extend(left[..count].iter().map(|v| (*v, u.clone())));
            left = &left[count..];
        }
        Ok(Ok((range, comparisons, stages)))
    }

    /// Does `X = T + offset M` lie in `-R .. R` (`u > 0`), or in `0 .. 2 R`?
    fn is_within(&self, range: &Range, offset: i64, u: &BigInt) -> bool {
        let r = self.all();
        let [low, high] = match u.is_positive() {
            true => [-&r, r],
            false => [BigInt::zero(), 2 * r],
        };
        self.corners
            .iter()
            .zip(range)
            .all(|(corner, (least, most))| {
                let by = &corner.modulus * offset;
                least + &by >= low && most + by < high
            })
    }

    /// The range of `T[0] = 2^h Z - M sum u v - 2^h R k`, the sum over `bits`.
    fn first_range(
        &self,
        algebra: &Algebra,
        parts: &Parts,
        bits: &[VarId],
    ) -> Result<(Range, Vec<trace::ShownSum>), Open> {
        let mut best = [None, None];
        let others = || parts.multiples.iter().filter(|(v, _)| !bits.contains(v));
        let ends = |corner: &Corner| {
            let constant = &parts.constant * &corner.modulus;
            let (mut least, mut most) = (&corner.least + &constant, &corner.most + &constant);
            let bound = |v: VarId| algebra.vars[v as usize].bound;
            let products = parts.products.iter();
            let products = products.map(|((x, y), u)| u * bound(*x) * bound(*y));
            for most_times in others().map(|(v, u)| u * bound(*v)).chain(products) {
                let share = most_times * &corner.modulus;
                match share.is_negative() {
                    true => least += share,
                    false => most += share,
                }
            }
            (least, most)
        };
        let mut range: Range = self.corners.iter().map(ends).collect();
        if let ([(least, most)], Modulus::Number(_)) = (range.as_mut_slice(), &self.modulus) {
            let mut t = Polynomial::new(algebra, u64::MAX);
            self.add_result(&mut t)?;
            for v in bits {
                self.add_modulus(&mut t, Value::Var(*v), &-&parts.multiples[v])?;
            }
            let top = self.top();
            for (v, k) in &parts.lost {
                t.add_value(Value::Var(*v), &once(-k * &top))?;
            }
            t.add_value(Value::ONE, &once(-&parts.lost_constant * &top))?;
            // A few replacements for each word are a sweep and the chains after it.
            let mut stages = 64 * (self.result.len() + 4);
            t.eliminate_while(|t| {
                let Some((low, high)) = t.range() else {
                    return false;
                };
                let better = [low > *least, high < *most];
                if better.contains(&true) {
                    let form = t.form();
                    for (slot, _) in best.iter_mut().zip(better).filter(|(_, better)| *better) {
                        *slot = form.clone();
                    }
                }
                *least = low.max(std::mem::take(least));
                *most = high.min(std::mem::take(most));
                stages -= 1;
                stages > 0
            })?;
        }
        Ok((range, best.into_iter().flatten().collect()))
    }
}
