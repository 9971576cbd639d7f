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
//! 2. `Z = V + R k` with `V = T - s M`. If `s = 0` always, `V = T`, which is enough if `2 M` or `R` is the bound.
//!    `A` alone, if it is below `M`, gives `T < M` by itself. If not, a comparison says when it is 1: an equation `2^L (1 - s) = D - (T - M)`, or `R s = T - D`, found like
//!    the first, with words `0 <= D < 2^L` (`< R`) and `M <= 2^L`. The first says `s = 1` just when `T >= M`, the
//!    second when `T >= R`: nothing else is possible, as `T - M` lies in `-M .. R` and `T` in `0 .. 2 R`. If `s` is
//!    the borrow of `0 - u`, the second is found with `u` for `s`; then `u` is 0 or 1, and `s = u`.
//! 3. So `V` is less than `M`, or than `R`; `Z` is a number of `n` words, hence `k = 0` and `Z = V`.

use std::cell::RefCell;
use std::collections::BTreeMap;

use judge::checker;
use judge::checker::{By, Reduction};
use judge::prove::Open;
use machine::domain::public::Public;
use machine::domain::trace::{Compared, Entry, Multiples, Reason, Step, Sum, Vanishing};
use machine::domain::variable::{Def, Value, VarId};
use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use spec::modulus::Reduce;

use crate::algebra::Algebra;
use crate::homes::{Home, homes};
use crate::polynomial::{Polynomial, Scaled};
use crate::remainder::Remainder;
use crate::{identity, polynomial};

/// `M`: a number, or the words of an operand.
pub enum Modulus<'a> {
    Number(BigInt),
    Words(&'a [Value]),
}

impl<'a> Modulus<'a> {
    /// As the checker is asked about it.
    pub fn of(modulus: &checker::Modulus<'a>) -> Self {
        match modulus {
            checker::Modulus::Number(m) => Self::Number((*m).clone()),
            checker::Modulus::Words(m) => Self::Words(m),
        }
    }
}

/// What is to be shown.
pub struct Reduced<'a> {
    pub w: u32,
    pub result: &'a [Value],
    pub a: &'a [Value],
    pub by: By<'a>,
    pub modulus: Modulus<'a>,
    pub reduce: Reduce,
    /// What [`Algebra::cancels`] said of words.
    pub zeros: RefCell<BTreeMap<VarId, Option<Multiples>>>,
}

/// `constant + sum factor * variable`.
#[derive(Clone, Default)]
struct Form {
    constant: BigInt,
    terms: BTreeMap<VarId, BigInt>,
}

/// `Q M - R M s + R^2 k`.
#[derive(Default)]
struct Parts {
    quotient: BTreeMap<VarId, BigInt>,
    s: Form,
    lost: Form,
}

impl Parts {
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
                        self.lost.terms.insert(v, k);
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

impl Form {
    /// As it is written down.
    fn traced(&self) -> Sum {
        Sum {
            constant: self.constant.clone(),
            terms: self.terms.clone().into_iter().collect(),
        }
    }
}

fn open(text: &str) -> Open {
    Open {
        text: text.into(),
        pc: None,
    }
}

impl Algebra {
    /// Uses what the contract promises from now on.
    pub(crate) fn use_promise(&mut self, promise: Step) {
        match promise {
            // A word that may be 0 or 1 is let be 2: sums take bits for carries.
            Step::Below { v, most } => {
                let bound = &mut self.vars[v as usize].bound;
                *bound = if most == 1 { 2 } else { most }.min(*bound);
            }
            Step::Inverse { m, inverse, bits } => self.inverse = Some((m, inverse, bits)),
            Step::Inverses { m, inverse, .. } => self.claims.quotients.modulus = Some((m, inverse)),
            // `m'` with `m m' = -1 mod 2^w` may be computed from it.
            Step::Odd { m } => {
                self.odd = Some(m);
                self.sought = Some(crate::known::Sought::of(m));
            }
            _ => {}
        }
    }

    /// `v` if `x y = -v (mod 2^w)`: one is `v m' mod 2^w`, the other `m`.
    pub(crate) fn cancelled(&self, x: VarId, y: VarId, w: u64) -> Option<VarId> {
        let (m, inverse, bits) = self.inverse.filter(|(.., bits)| w <= *bits)?;
        let w = w.min(bits);
        let q = match (x == m, y == m) {
            (true, _) => y,
            (_, true) => x,
            _ => return None,
        };
        match self.vars[q as usize].def {
            Def::Low { a, b, w: low, .. } if u64::from(low) >= w => match (a, b) {
                (Value::Var(v), Value::Var(i)) | (Value::Var(i), Value::Var(v)) if i == inverse => {
                    Some(v)
                }
                _ => None,
            },
            _ => match self.quotients.borrow().get(&q) {
                Some((v, low)) if *low >= w => Some(*v),
                _ => None,
            },
        }
    }

    /// Finds the words `q = v m' mod 2^w` that were made by additions. A product with one of them stays as it
    /// is, as if MUL had made it.
    fn find_quotients(&self, w: u32) {
        let Some((_, inverse, _)) = self.inverse else {
            return;
        };
        for q in 0..self.vars.len() as VarId {
            if let Some((v, used)) = self.added_up(q, inverse, w) {
                self.note(Entry::Step(Step::Quotient { q, v, w, used }));
                self.quotients.borrow_mut().insert(q, (v, w.into()));
            }
        }
    }

    /// `v` if `q = v m' (mod 2^w)` was made by additions, with the lowest digit of `v` last: `x + m'` or `x`.
    fn added_up(&self, q: VarId, inverse: VarId, w: u32) -> Option<(VarId, Multiples)> {
        let (terms, _) = self.sum(q)?;
        let holds = |v: VarId, term: VarId| {
            let sum = self.sum(v).map_or(&[][..], |(terms, _)| terms);
            sum.contains(&(term, 1))
        };
        let digit = terms
            .iter()
            .find_map(|(t, _)| match self.vars[*t as usize].def {
                Def::Product { a, b } if holds(b, inverse) => Some(a),
                Def::Product { a, b } if holds(a, inverse) => Some(b),
                _ => None,
            })?;
        let (digits, _) = self.sum(digit)?;
        let (v, _) = digits.iter().find(|(_, factor)| *factor == 1)?;
        let mut p = Polynomial::new(self, w.into());
        let one = Scaled::new(BigInt::one(), 0);
        p.add_value(Value::Var(q), &one).ok()?;
        let [whole, inverse] = [*v, inverse].map(Value::Var);
        p.add_product(whole, inverse, &one.times(-1)).ok()?;
        p.close().is_ok().then(|| (*v, p.used()))
    }

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
    /// What the checker will be asked.
    pub fn of(goal: &Reduction<'a>) -> Self {
        Self {
            w: goal.w,
            result: goal.result,
            a: goal.a,
            by: goal.by,
            modulus: Modulus::of(&goal.modulus),
            reduce: goal.reduce,
            zeros: RefCell::default(),
        }
    }
}

impl Reduced<'_> {
    fn bits(&self) -> u64 {
        u64::from(self.w) * self.result.len() as u64
    }

    /// `2^(bits)`.
    fn power(bits: u64) -> BigInt {
        BigInt::one() << bits
    }

    /// Shows the congruence and the bound.
    ///
    /// # Errors
    /// What stayed open.
    pub fn show(&self, algebra: &Algebra) -> Result<(), Open> {
        let homes = homes(algebra, self.w);
        algebra.find_quotients(self.w);
        let one = Scaled::new(BigInt::one(), 0);
        let mut p = self.factors(algebra, &one.times(-1))?;
        for (i, word) in self.result.iter().enumerate() {
            let weight = self.bits() + u64::from(self.w) * i as u64;
            p.add_value(*word, &Scaled::new(BigInt::one(), weight))?;
        }
        let (rest, zeros) = self.eliminated(&mut p, &homes)?;
        let used = p.used();
        let parts = self.parts(rest).map_err(|rest| odd_term(algebra, &rest))?;
        let Parts { quotient, s, lost } = &parts;
        let because = |compared: Option<Compared>| {
            let reason = Reason::Montgomery {
                used: used.clone(),
                quotient: quotient.clone().into_iter().collect(),
                s: s.traced(),
                k: lost.traced(),
                zeros: zeros.clone(),
                compared,
            };
            *algebra.reason.borrow_mut() = Some(reason);
        };
        let r = Self::power(self.bits());
        let most = |(v, u): (&VarId, &BigInt)| u * algebra.vars[*v as usize].bound;
        if quotient.values().any(Signed::is_negative)
            || quotient.iter().map(most).sum::<BigInt>() >= r
        {
            return Err(open("the quotient may be negative or too large"));
        }
        if s.constant.is_zero() && s.terms.is_empty() {
            return match self.is_below() {
                true => {
                    because(None);
                    Ok(())
                }
                false => Err(open("the modulus is never subtracted at the end")),
            };
        }
        match self.compared(algebra, &homes, &parts) {
            Some(found) => {
                because(Some(found));
                Ok(())
            }
            None => Err(open(
                "the modulus may be subtracted when it must not be, or not when it must",
            )),
        }
    }

    /// `sign * A B`.
    fn factors<'d>(&self, algebra: &'d Algebra, sign: &Scaled) -> Result<Polynomial<'d>, Open> {
        let mut p = Polynomial::new(algebra, u64::MAX);
        let b = match self.by {
            By::Factor(words) | By::Residue(words) => words,
            By::One => &[Value::ONE],
        };
        identity::add_product(&mut p, self.w, sign, self.a, b)?;
        Ok(p)
    }

    /// Is `T` always below the bound?
    fn is_below(&self) -> bool {
        match (self.reduce, &self.by) {
            // A + Q M < M + (R - 1) M, and if A is only less than R, T <= M < R.
            (Reduce::Full | Reduce::Almost, By::One) if self.is_single() => true,
            // T < B + M, and B < M
            (Reduce::Almost, By::Residue(b)) => self.leaves_a_bit() || self.is_small(b),
            // T < 2 M <= R
            (Reduce::Almost, By::One) => self.leaves_a_bit(),
            (Reduce::Full | Reduce::Almost, _) => false,
            (Reduce::Lazy, _) => true,
        }
    }

    /// `B + M <= R`?
    fn is_small(&self, b: &[Value]) -> bool {
        let digit = |(i, word): (usize, &Value)| match word {
            Value::Public(Public::Known(digit)) => {
                Some(BigInt::from(*digit) << (self.w as usize * i))
            }
            _ => None,
        };
        let b: Option<BigInt> = b.iter().enumerate().map(digit).sum();
        match (&self.modulus, b) {
            (Modulus::Number(m), Some(b)) => b + m <= Self::power(self.bits()),
            _ => false,
        }
    }

    /// Has `A` as many words as the result?
    fn is_single(&self) -> bool {
        self.a.len() <= self.result.len()
    }

    /// [`Algebra::cancels`], each word once.
    fn cancels(&self, algebra: &Algebra, word: VarId) -> Option<Multiples> {
        let mut zeros = self.zeros.borrow_mut();
        let why = zeros
            .entry(word)
            .or_insert_with(|| algebra.cancels(word, self.w));
        why.clone()
    }

    /// Replaces all that can be, and leaves out words that are 0.
    fn eliminated<'d>(
        &'d self,
        p: &mut Polynomial<'d>,
        homes: &'d [Home],
    ) -> Result<(Remainder, Vec<Vanishing>), Open> {
        let modulus = match &self.modulus {
            Modulus::Number(value) => Some(polynomial::Modulus {
                value,
                w: self.w,
                words: self.result.len(),
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
    fn compared(&self, algebra: &Algebra, homes: &[Home], parts: &Parts) -> Option<Compared> {
        let Parts { quotient, s, .. } = parts;
        let compared =
            |s: &Form, bits: Option<u64>| self.is_compared(algebra, homes, quotient, s, bits);
        let bits = self.compared_bits().into_iter();
        let below = bits.map(|bits| compared(s, Some(bits)));
        below.flatten().next().or_else(|| {
            let allowed = self.reduce == Reduce::Almost;
            let with = |s: &Form| compared(s, None).filter(|_| allowed);
            with(s).or_else(|| {
                let top = compared_with_zero(algebra, s, self.w)?;
                let borrow = top.terms.keys().next().copied();
                let found = with(&top)?;
                Some(Compared { borrow, ..found })
            })
        })
    }

    /// `Q`, `s` and `k` of `rest = Q M - R M s + R^2 k`.
    fn parts(&self, mut rest: Remainder) -> Result<Parts, Remainder> {
        let r = Self::power(self.bits());
        let square = &r * &r;
        let mut parts = Parts::default();
        match &self.modulus {
            Modulus::Number(m) => parts.take_multiples(m, &r, &mut rest),
            Modulus::Words(words) => {
                let Some((multiples, times)) = rest.take_modulus(words, self.w) else {
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
                parts.lost.terms.insert(*v, &*by / &square);
            }
            !is_multiple
        });
        match (rest.terms.is_empty(), rest.products.is_empty()) {
            (true, true) if rest.constant.is_zero() => Ok(parts),
            _ => Err(rest),
        }
    }

    /// `2 M <= R`?
    fn leaves_a_bit(&self) -> bool {
        matches!(&self.modulus, Modulus::Number(m) if m.bits() < self.bits())
    }

    /// Bits that a comparison with `M` may take: at least the words that `M` has, at most one more than all.
    fn compared_bits(&self) -> Vec<u64> {
        let w = u64::from(self.w);
        let own = match &self.modulus {
            Modulus::Number(m) => m.bits().next_multiple_of(w),
            Modulus::Words(_) => self.bits(),
        };
        let words = own / w..=self.bits() / w + 1;
        words.map(|n| w * n).collect()
    }

    /// Is `2^bits (1 - s) = D - (T - M)`, or without `bits` `R s = T - D`, with `D` words from 0 to
    /// `2^bits - 1` (`R - 1`)?
    fn is_compared(
        &self,
        algebra: &Algebra,
        homes: &[Home],
        quotient: &BTreeMap<VarId, BigInt>,
        s: &Form,
        bits: Option<u64>,
    ) -> Option<Compared> {
        let found = self.difference(algebra, homes, quotient, s, bits);
        let (rest, zeros, used) = found.ok()?;
        let r = Self::power(self.bits());
        let mut most = BigInt::zero();
        let mut digits = Vec::new();
        for (v, by) in &rest.terms {
            if by.sign() == Sign::Plus || !by.is_multiple_of(&r) {
                return None;
            }
            let digit: BigInt = -by / &r;
            most += &digit * algebra.vars[*v as usize].bound;
            digits.push((*v, digit));
        }
        let fits = most < Self::power(bits.unwrap_or(self.bits()));
        let is_sum = rest.constant.is_zero() && rest.products.is_empty();
        (fits && is_sum).then_some(Compared {
            bits,
            borrow: None,
            digits,
            zeros,
            used,
        })
    }

    /// `-R D`: what is left of `R M - R 2^bits (1 - s) - R T`, or of `R^2 s - R T`, for `R T = A B + Q M`.
    fn difference(
        &self,
        algebra: &Algebra,
        homes: &[Home],
        quotient: &BTreeMap<VarId, BigInt>,
        s: &Form,
        bits: Option<u64>,
    ) -> Result<(Remainder, Vec<Vanishing>, Multiples), Open> {
        let one = Scaled::new(BigInt::one(), 0);
        let number = |k: BigInt| (Value::ONE, Scaled::new(k, 0));
        let r = Self::power(self.bits());
        let weight = &r << bits.unwrap_or(self.bits());
        let mut p = self.factors(algebra, &one.times(-1))?;
        let (value, by) = number(&s.constant * &weight);
        p.add_value(value, &by)?;
        for (v, factor) in &s.terms {
            p.add_value(Value::Var(*v), &Scaled::new(factor * &weight, 0))?;
        }
        for (v, u) in quotient {
            self.add_modulus(&mut p, Value::Var(*v), &-u)?;
        }
        if bits.is_some() {
            let (value, by) = number(-weight);
            p.add_value(value, &by)?;
            self.add_modulus(&mut p, Value::ONE, &r)?;
        }
        let (rest, zeros) = self.eliminated(&mut p, homes)?;
        Ok((rest, zeros, p.used()))
    }

    /// Adds `by * value * M`.
    fn add_modulus(&self, p: &mut Polynomial<'_>, value: Value, by: &BigInt) -> Result<(), Open> {
        match &self.modulus {
            Modulus::Number(m) => p.add_value(value, &Scaled::new(by * m, 0)),
            Modulus::Words(words) => {
                for (j, m) in words.iter().enumerate() {
                    let by = by << (self.w as usize * j);
                    p.add_product(value, *m, &Scaled::new(by, 0))?;
                }
                Ok(())
            }
        }
    }
}

/// `u` if `s` is the borrow of `0 - u`, which is 1 just when `u` is not 0.
fn compared_with_zero(algebra: &Algebra, s: &Form, w: u32) -> Option<Form> {
    let (v, factor) = s.terms.first_key_value()?;
    if s.terms.len() > 1 || !factor.is_one() || !s.constant.is_zero() {
        return None;
    }
    // 2^w s - u
    let left = algebra.left_by(*v)?;
    let (u, _) = left.terms.iter().find(|(_, factor)| *factor == -1)?;
    let alone = left.terms.len() == 2 && left.constant == 0 && left.factor == 1 << w;
    alone.then(|| Form {
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
