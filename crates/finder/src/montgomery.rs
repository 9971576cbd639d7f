//! Montgomery's reduction: is `R Z = A B (mod M)` and `Z` below its bound, for all inputs?
//!
//! `R = 2^(W n)`. Elimination brings `R Z - A B` over the integers to
//!
//! `R Z = A B + Q M - R M s + R^2 k`
//!
//! with sums of variables `Q`, `s` and `k`; carries that were dropped on the way are shown to be 0
//! ([`crate::lost`]). The words that a quotient word `q = v m' mod 2^W` made 0 are where carries come from: each
//! is shown to be 0 modulo `2^W`, and so may be added as often as its carry asks (`Polynomial::settle`).
//!
//! 1. `0 <= Q < R`, from the bounds of its variables. Then `T = (A B + Q M) / R`, an integer as all
//!    else in the equation is, is less than `2 M` if `A B < R M`, and than `R + M` if `A B < R^2`.
//! 2. `Z = V + R k` with `V = T - s M`. If `s = 0` always, `V = T`, which may be below the bound already. If not, a
//!    comparison says when `s` is 1: an equation `2^L (1 - s) = D - (T - M)`, or `R s = T - D`, found like the first,
//!    with words `0 <= D < 2^L` (`< R`). The first says `s = 1` just when `T >= M`, the second when `T >= R`. If `s` is
//!    the borrow of `0 - u`, the second is found with `u` for `s`; then `u` is 0 or 1, and `s = u`.
//! 3. So `V` is less than `M`, or than `R`; `Z` is a number of `n` words, hence `k = 0` and `Z = V`.
//!
//! It is written down as any residue is, with `U = Q - R s` and `h = W n` ([`crate::residue`]).

use std::cell::RefCell;
use std::collections::BTreeMap;

use judge::checker::Corner;
use judge::prove::Open;
use machine::domain::trace::{Answer, Comparison, Multiples, Reason, Sum, Vanishing};
use machine::domain::variable::{Def, Value, VarId};
use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use crate::algebra::Algebra;
use crate::homes::{Home, homes};
use crate::modular::{Modulus, Residue, open};
use crate::polynomial;
use crate::polynomial::{Polynomial, Scaled};
use crate::remainder::Remainder;

/// What is to be shown.
pub(crate) struct Reduced<'a> {
    /// With `R` for `2^h`.
    goal: &'a Residue<'a>,
    /// What [`Algebra::cancels`] said of words.
    zeros: RefCell<BTreeMap<VarId, Option<Multiples>>>,
}

/// `constant + sum factor * variable`.
#[derive(Clone, Default)]
struct LinearMap {
    constant: BigInt,
    terms: BTreeMap<VarId, BigInt>,
}

/// `Q M - R M s + R^2 k`.
#[derive(Default)]
struct Parts {
    quotient: BTreeMap<VarId, BigInt>,
    s: LinearMap,
    lost: BTreeMap<VarId, BigInt>,
    lost_products: BTreeMap<(VarId, VarId), BigInt>,
}

/// What a comparison found: the difference, words in it that are 0, and the claims that it used.
struct Compared {
    digits: Sum,
    zeros: Vec<Vanishing>,
    used: Multiples,
}

impl Parts {
    /// `Q - R s`.
    fn multiples(&self, r: &BigInt) -> Sum {
        let quotient = self.quotient.iter().map(|(v, by)| (*v, by.clone()));
        let s = self.s.terms.iter().map(|(v, by)| (*v, -by * r));
        Sum {
            constant: -&self.s.constant * r,
            terms: quotient.chain(s).collect(),
        }
    }

    /// `by M v`, part of `s` if it is a multiple of `r`.
    fn put(&mut self, v: VarId, by: BigInt, r: &BigInt) {
        match by.is_multiple_of(r) {
            true => self.s.terms.insert(v, -by / r),
            false => self.quotient.insert(v, by),
        };
    }

    /// What of `rest` is a multiple of the number `m`, or of `m r` and of `r^2`.
    fn take_multiples(&mut self, m: &BigInt, r: &BigInt, rest: &mut Remainder) {
        for (v, by) in std::mem::take(&mut rest.terms) {
            let (high, low) = by.div_rem(r);
            // by = R (-M s + R k) of a bit that is part of both.
            let of_s = |i: &BigInt| (&high + i * m).is_multiple_of(r);
            let times = (-2..=2).map(BigInt::from).find(of_s);
            match (low.is_zero(), times) {
                (true, Some(times)) => {
                    let k: BigInt = (&high + &times * m) / r;
                    if !k.is_zero() {
                        self.lost.insert(v, k);
                    }
                    if !times.is_zero() {
                        self.put(v, -times * r, r);
                    }
                }
                _ if by.is_multiple_of(m) => self.put(v, by / m, r),
                _ => {
                    rest.terms.insert(v, by);
                }
            }
        }
        let (times, left) = rest.constant.div_rem(&(m * r));
        self.s.constant = -times;
        rest.constant = left;
    }
}

impl Algebra {
    /// Is the word 0, because it is 0 modulo `2^w`? Then the claims that say so.
    fn cancels(&self, word: VarId, w: u32) -> Option<Multiples> {
        let mut p = Polynomial::new(self, w.into());
        let one = Scaled::new(BigInt::one(), 0);
        let below = self.vars[word as usize].bound >> w == 0;
        let cancels = below && p.add_value(Value::Var(word), &one).is_ok() && p.close().is_ok();
        cancels.then(|| p.used())
    }
}

impl<'a> Reduced<'a> {
    pub(crate) fn of(goal: &'a Residue<'a>) -> Self {
        Self {
            goal,
            zeros: RefCell::default(),
        }
    }
}

impl Reduced<'_> {
    /// Shows the congruence and the bound.
    ///
    /// # Errors
    /// What stayed open.
    pub(crate) fn show(&self, algebra: &Algebra) -> Result<(), Open> {
        let w = self.goal.w;
        let homes = homes(algebra, w);
        algebra.find_quotients(w);
        algebra.find_unions();
        let mut p = self.goal.operands(algebra, -1)?;
        self.goal.add_result(&mut p)?;
        let (rest, zeros) = self.eliminated(&mut p, &homes)?;
        let used = p.used();
        let parts = self.parts(rest).map_err(|rest| odd_term(algebra, &rest))?;
        let r = self.goal.all();
        let most = |(v, u): (&VarId, &BigInt)| u * algebra.vars[*v as usize].bound;
        if parts.quotient.values().any(Signed::is_negative)
            || parts.quotient.iter().map(most).sum::<BigInt>() >= r
        {
            return Err(open("the quotient may be negative or too large"));
        }
        let compared = match parts.s.constant.is_zero() && parts.s.terms.is_empty() {
            true if self.is_below() => None,
            true => return Err(open("the modulus is never subtracted at the end")),
            false => Some(self.compared(algebra, &homes, &parts).ok_or_else(|| {
                open("the modulus may be subtracted when it must not be, or not when it must")
            })?),
        };
        let reason = Reason {
            used,
            multiples: parts.multiples(&r),
            lost: Some(Sum {
                constant: BigInt::zero(),
                terms: parts.lost.into_iter().collect(),
            }),
            lost_products: parts.lost_products.into_iter().collect(),
            zeros,
            compared: compared.into_iter().collect(),
            ..Reason::default()
        };
        *algebra.reason.borrow_mut() = Some(reason);
        Ok(())
    }

    /// Is `A B + (R - 1) M` always below `R` times the bound?
    fn is_below(&self) -> bool {
        let r = self.goal.all();
        let fits = |c: &Corner| &c.most + (&r - 1) * &c.modulus < self.goal.bound(c) * &r;
        self.goal.corners.iter().all(fits)
    }

    /// [`Algebra::cancels`], each word once.
    fn cancels(&self, algebra: &Algebra, word: VarId) -> Option<Multiples> {
        let mut zeros = self.zeros.borrow_mut();
        let why = zeros
            .entry(word)
            .or_insert_with(|| algebra.cancels(word, self.goal.w));
        why.clone()
    }

    /// Replaces all that can be, and leaves out words that are 0.
    fn eliminated<'d>(
        &'d self,
        p: &mut Polynomial<'d>,
        homes: &'d [Home],
    ) -> Result<(Remainder, Vec<Vanishing>), Open> {
        let modulus = match &self.goal.modulus {
            Modulus::Number(value) => Some(polynomial::Modulus {
                value,
                w: self.goal.w,
                words: self.goal.result.len(),
            }),
            Modulus::Words(_) => None,
        };
        p.settle(homes, modulus);
        p.eliminate()?;
        let mut rest = p.remainder();
        let mut zeros = Vec::new();
        for word in &rest.left {
            if !p.is_conditional(*word)
                && let Some(used) = self.cancels(p.algebra, *word)
                && let Some(by) = rest.terms.remove(word)
            {
                let word = *word;
                let by = -by;
                zeros.push(Vanishing { word, by, used });
            }
        }
        // Carries that were dropped where there are none: a row of its own ends in each of them.
        let is_lost = |v: &VarId| {
            let is_carry = p.algebra.vars[*v as usize].def == Def::Carry;
            is_carry && p.algebra.is_never_set(*v)
        };
        rest.terms.retain(|v, _| !is_lost(v));
        Ok((rest, zeros))
    }

    /// How it is decided whether the modulus is subtracted: by a comparison, or by what goes beyond the words.
    fn compared(&self, algebra: &Algebra, homes: &[Home], parts: &Parts) -> Option<Comparison> {
        let (r, s) = (self.goal.all(), &parts.s);
        // s, or 1 - s, is the sum that compares.
        let sign = match (&s.constant, s.constant.is_one()) {
            (_, true) => -1,
            (constant, false) if constant.is_zero() => 1,
            (_, false) => return None,
        };
        let comparison = |found: Compared, bits: Option<u64>, answer: Answer| {
            let limit = &r << bits.unwrap_or(self.goal.bits());
            let terms = s.terms.iter();
            Comparison {
                sum: terms.map(|(v, by)| (*v, by * sign)).collect(),
                times: -&r * sign,
                answer,
                bits: None,
                // X is R (T - M), or R T; with 1 - s, M is subtracted already.
                offset: match (bits, sign) {
                    (Some(_), 1) => -&r,
                    (None, -1) => r.clone(),
                    _ => BigInt::zero(),
                },
                shift: match (bits, sign) {
                    (Some(_), 1) => limit.clone(),
                    (None, -1) => -&limit,
                    _ => BigInt::zero(),
                },
                limit,
                digits: found.digits,
                zeros: found.zeros,
                used: found.used,
            }
        };
        let quotient = &parts.quotient;
        let compared =
            |s: &LinearMap, bits: Option<u64>| self.is_compared(algebra, homes, quotient, s, bits);
        let bits = self.compared_bits().into_iter();
        let mut below = bits.filter_map(|bits| Some((bits, compared(s, Some(bits))?)));
        if let Some((bits, found)) = below.next() {
            return Some(comparison(found, Some(bits), Answer::Itself));
        }
        if let Some(told) = self.told(algebra, s, &compared) {
            return Some(told);
        }
        if self
            .goal
            .corners
            .iter()
            .any(|corner| self.goal.bound(corner) != r)
        {
            return None;
        }
        if let Some(found) = compared(s, None) {
            return Some(comparison(found, None, Answer::Itself));
        }
        let top = compared_with_zero(algebra, s, self.goal.w)?;
        let u = *top.terms.keys().next()?;
        let found = compared(&top, None)?;
        Some(comparison(found, None, Answer::Borrow(u)))
    }

    /// A bit `s`, or `1 - s`, that two bits `x` and `y` tell: `R 2^bits (i x + j y + k) = R (T - M) - R D`.
    fn told(
        &self,
        algebra: &Algebra,
        s: &LinearMap,
        compared: &dyn Fn(&LinearMap, Option<u64>) -> Option<Compared>,
    ) -> Option<Comparison> {
        let (Some((e, factor)), true) = (s.terms.first_key_value(), s.terms.len() == 1) else {
            return None;
        };
        let [x, y] = algebra.asked(*e)?;
        let ways = [(1, -1, 0), (-1, 1, 0), (1, 1, -1), (-1, -1, 1)].map(|(i, j, k)| {
            let terms = BTreeMap::from([(x, BigInt::from(i)), (y, BigInt::from(j))]);
            (terms, BigInt::from(k))
        });
        let tries = self.compared_bits().into_iter();
        let mut tries = tries.flat_map(|bits| ways.iter().map(move |way| (bits, way)));
        let (bits, (t, k), found) = tries.find_map(|(bits, way)| {
            let above = LinearMap {
                constant: 1 + &way.1,
                terms: way.0.clone(),
            };
            Some((bits, way, compared(&above, Some(bits))?))
        })?;
        let r = self.goal.all();
        let limit = &r << bits;
        Some(Comparison {
            sum: vec![(*e, BigInt::one())],
            times: -factor * &r,
            answer: Answer::Told {
                t: t.clone().into_iter().collect(),
            },
            bits: None,
            // With 1 - s, M is subtracted already.
            offset: match s.constant.is_zero() {
                true => -r,
                false => BigInt::zero(),
            },
            shift: -k * &limit,
            limit,
            digits: found.digits,
            zeros: found.zeros,
            used: found.used,
        })
    }

    /// `Q`, `s` and `k` of `rest = Q M - R M s + R^2 k`.
    fn parts(&self, mut rest: Remainder) -> Result<Parts, Remainder> {
        let r = self.goal.all();
        let square = &r * &r;
        let mut parts = Parts::default();
        match &self.goal.modulus {
            Modulus::Number(m) => parts.take_multiples(m, &r, &mut rest),
            Modulus::Words(words) => {
                let Some((multiples, times)) = rest.take_modulus(words, self.goal.w) else {
                    return Err(rest);
                };
                for (v, by) in multiples {
                    parts.put(v, by, &r);
                }
                let (times, left) = times.div_rem(&r);
                if !left.is_zero() {
                    return Err(rest);
                }
                parts.s.constant = -times;
            }
        }
        rest.terms.retain(|v, by| {
            let is_multiple = by.is_multiple_of(&square);
            if is_multiple && !by.is_zero() {
                parts.lost.insert(*v, &*by / &square);
            }
            !is_multiple
        });
        rest.products.retain(|pair, by| {
            let is_multiple = by.is_multiple_of(&square);
            if is_multiple {
                parts.lost_products.insert(*pair, &*by / &square);
            }
            !is_multiple
        });
        match (rest.terms.is_empty(), rest.products.is_empty()) {
            (true, true) if rest.constant.is_zero() => Ok(parts),
            _ => Err(rest),
        }
    }

    /// Bits that a comparison with `M` may take: at least the words that `M` has, at most one more than all.
    fn compared_bits(&self) -> Vec<u64> {
        let w = u64::from(self.goal.w);
        let own = match &self.goal.modulus {
            Modulus::Number(m) => m.bits().next_multiple_of(w),
            Modulus::Words(_) => self.goal.bits(),
        };
        let words = own / w..=self.goal.bits() / w + 1;
        words.map(|n| w * n).collect()
    }

    /// Is `2^bits (1 - s) = D - (T - M)`, or without `bits` `R s = T - D`, with `D` words from 0 to
    /// `2^bits - 1` (`R - 1`)?
    fn is_compared(
        &self,
        algebra: &Algebra,
        homes: &[Home],
        quotient: &BTreeMap<VarId, BigInt>,
        s: &LinearMap,
        bits: Option<u64>,
    ) -> Option<Compared> {
        let found = self.difference(algebra, homes, quotient, s, bits);
        let (rest, zeros, used) = found.ok()?;
        let r = self.goal.all();
        let mut most = BigInt::zero();
        let mut digits = Vec::new();
        for (v, by) in &rest.terms {
            if by.sign() == Sign::Plus || !by.is_multiple_of(&r) {
                return None;
            }
            let digit: BigInt = -by / &r;
            most += &digit * algebra.vars[*v as usize].bound;
            digits.push((*v, -by));
        }
        let fits = most.bits() <= bits.unwrap_or(self.goal.bits());
        let is_sum = rest.constant.is_zero() && rest.products.is_empty();
        // What is compared is the opposite of what was eliminated.
        let opposite = |(claim, by): (usize, BigInt)| (claim, -by);
        let turned = |zero: Vanishing| Vanishing {
            by: -zero.by,
            ..zero
        };
        (fits && is_sum).then(|| Compared {
            digits: Sum {
                constant: BigInt::zero(),
                terms: digits,
            },
            zeros: zeros.into_iter().map(turned).collect(),
            used: used.into_iter().map(opposite).collect(),
        })
    }

    /// `-R D`: what is left of `R M - R 2^bits (1 - s) - R T`, or of `R^2 s - R T`, for `R T = A B + Q M`.
    fn difference(
        &self,
        algebra: &Algebra,
        homes: &[Home],
        quotient: &BTreeMap<VarId, BigInt>,
        s: &LinearMap,
        bits: Option<u64>,
    ) -> Result<(Remainder, Vec<Vanishing>, Multiples), Open> {
        let number = |k: BigInt| (Value::ONE, Scaled::new(k, 0));
        let r = self.goal.all();
        let weight = &r << bits.unwrap_or(self.goal.bits());
        let mut p = self.goal.operands(algebra, -1)?;
        let (value, by) = number(&s.constant * &weight);
        p.add_value(value, &by)?;
        for (v, factor) in &s.terms {
            p.add_value(Value::Var(*v), &Scaled::new(factor * &weight, 0))?;
        }
        for (v, u) in quotient {
            self.goal.add_modulus(&mut p, Value::Var(*v), &-u)?;
        }
        if bits.is_some() {
            let (value, by) = number(-weight);
            p.add_value(value, &by)?;
            self.goal.add_modulus(&mut p, Value::ONE, &r)?;
        }
        let (rest, zeros) = self.eliminated(&mut p, homes)?;
        Ok((rest, zeros, p.used()))
    }
}

/// `u` if `s` is the borrow of `0 - u`, which is 1 just when `u` is not 0.
fn compared_with_zero(algebra: &Algebra, s: &LinearMap, w: u32) -> Option<LinearMap> {
    let (v, factor) = s.terms.first_key_value()?;
    if s.terms.len() > 1 || !factor.is_one() || !s.constant.is_zero() {
        return None;
    }
    // 2^w s - u
    let left = algebra.left_by(*v)?;
    let (u, _) = left.terms.iter().find(|(_, factor)| *factor == -1)?;
    let alone = left.terms.len() == 2 && left.constant == 0 && left.factor == 1 << w;
    alone.then(|| LinearMap {
        constant: BigInt::zero(),
        terms: BTreeMap::from([(*u, BigInt::one())]),
    })
}

/// What of a remainder is no multiple of the modulus.
pub(crate) fn odd_term(algebra: &Algebra, rest: &Remainder) -> Open {
    let name = |v: VarId| match algebra.name(v) {
        Some(name) => name.to_string(),
        None => algebra.made_at(v),
    };
    let what = match (
        rest.products.first_key_value(),
        rest.terms.first_key_value(),
    ) {
        (Some(((x, y), by)), _) => format!("{by:#x} * {} * {}", name(*x), name(*y)),
        (None, Some((v, by))) => format!("{by:#x} * {}", name(*v)),
        (None, None) => format!("{:#x}", rest.constant),
    };
    open(&format!(
        "the result is not the product reduced: {what} is left over"
    ))
}
