//! Products that are reduced by Montgomery's factor; `montgomery.rs` of crate `finder` has the argument.

use machine::domain::trace::{Compared, Reason, Sum, Vanishing};
use machine::domain::variable::{Value, VarId};
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use spec::modulus::Reduce;

use crate::checker::form::Form;
use crate::checker::modulus::Modulus;
use crate::checker::polynomial::{Number, Polynomial};
use crate::checker::refused::Check;
use crate::checker::state::Checker;

/// What `A` is multiplied by before it is reduced.
#[derive(Clone, Copy)]
pub enum By<'a> {
    Factor(&'a [Value]),
    /// The words of a number below the modulus.
    Residue(&'a [Value]),
    One,
}

fn power(bits: u64) -> BigInt {
    BigInt::one() << bits
}

impl Checker<'_> {
    /// Words that are 0 modulo `2^w` by their definitions, and below it: they are 0, however often they are there.
    fn vanish(&mut self, p: &mut Polynomial, w: u32, words: &[Vanishing]) -> Check {
        for Vanishing { word, by, used } in words {
            self.lies(&Form::of(Value::Var(*word))?, (0, (1 << w) - 1))?;
            if self.range(*word)? != (0, 0) {
                let mut zero = Polynomial::new(Some(w.into()));
                zero.add(*word, Number::new(BigInt::one(), 0));
                self.take_lemmas(&mut zero, used)?;
                self.is_zero(zero)?;
            }
            p.add(*word, Number::new(-by, 0));
        }
        Ok(())
    }
}

/// `2^(w n) Z = A B (mod M)` and `Z` as small as `reduce` says, if the factors are as small as it says.
pub struct Reduction<'a> {
    pub w: u32,
    /// `n` words.
    pub result: &'a [Value],
    pub a: &'a [Value],
    pub by: By<'a>,
    pub modulus: Modulus<'a>,
    pub reduce: Reduce,
}

impl Reduction<'_> {
    /// The exponent of `R`.
    fn bits(&self) -> u64 {
        u64::from(self.w) * self.result.len() as u64
    }

    /// `2^bits R Z = A B + Q M - R M s + R^2 k` for words `Q < R`; then `Z = (A B + Q M) / R - s M`.
    pub(super) fn holds(&self, d: &mut Checker<'_>, reason: &Reason) -> Check {
        let Reason::Montgomery {
            used,
            quotient,
            s,
            k,
            zeros,
            compared,
        } = reason
        else {
            return Err("the reason given is one for another goal");
        };
        let r = power(self.bits());
        d.are_words(self.result, self.w)?;
        let (least, most) = d.range_of_sum(quotient)?;
        if least.is_negative() || most >= r {
            return Err("the quotient may be negative or too large");
        }
        let mut p = self.product(d, &BigInt::from(-1))?;
        p.add_words(self.w, self.result, &BigInt::one(), self.bits())?;
        let modulus = (self.modulus, self.w);
        d.add_multiples(&mut p, modulus, quotient, &BigInt::from(-1))?;
        d.add_multiples(&mut p, modulus, &s.terms, &r)?;
        d.add_modulus(&mut p, modulus, Value::ONE, &(&s.constant * &r))?;
        p.add_sum(k, &-(&r * &r))?;
        d.take_lemmas(&mut p, used)?;
        d.vanish(&mut p, self.w, zeros)?;
        d.is_zero(p)?;
        match compared {
            None if s.terms.is_empty() && s.constant.is_zero() && self.is_below(d)? => Ok(()),
            None => Err("the modulus is never subtracted at the end"),
            Some(compared) => self.is_compared(d, quotient, s, compared),
        }
    }

    /// `sign A B`.
    fn product(&self, d: &Checker<'_>, sign: &BigInt) -> Check<Polynomial> {
        let mut p = Polynomial::new(None);
        let b = match self.by {
            By::Factor(words) | By::Residue(words) => words,
            By::One => &[Value::ONE],
        };
        d.add_numbers(&mut p, self.w, [self.a, b], sign, 0)?;
        Ok(p)
    }

    /// Is `T = (A B + Q M) / R` always as small as the result must be?
    fn is_below(&self, d: &mut Checker<'_>) -> Check<bool> {
        // 2 M <= R
        let leaves_a_bit = matches!(self.modulus, Modulus::Number(m) if m.bits() < self.bits());
        let single = self.a.len() <= self.result.len();
        Ok(match (self.reduce, self.by) {
            // A B < 4 M^2 <= R M, so T < 2 M.
            (Reduce::Lazy, By::Factor(_) | By::Residue(_) | By::One) => true,
            // A + Q M < M + (R - 1) M; and if A is only less than R, T <= M < R.
            (Reduce::Full | Reduce::Almost, By::One) if single => true,
            // T < 2 M <= R
            (Reduce::Almost, By::One) => leaves_a_bit,
            // T < B + M, B < M
            (Reduce::Almost, By::Residue(b)) => {
                let m = match self.modulus {
                    Modulus::Number(m) => Some(m),
                    Modulus::Words(_) => None,
                };
                let small =
                    |m: &BigInt| Ok(BigInt::from(d.largest(b, self.w)?) + m <= power(self.bits()));
                leaves_a_bit || m.map_or(Ok(false), small)?
            }
            (Reduce::Almost, By::Factor(_))
            | (Reduce::Full, By::Factor(_) | By::Residue(_) | By::One) => false,
        })
    }

    /// With words `D`: `2^L (1 - s) = D - (T - M)`, `0 <= D < 2^L`, so that `s = 1` just where `T >= M`; or
    /// `R s = T - D`, `0 <= D < R`, so that `s = 1` just where `T >= R`.
    fn is_compared(
        &self,
        d: &mut Checker<'_>,
        quotient: &[(u32, BigInt)],
        s: &Sum,
        compared: &Compared,
    ) -> Check {
        let r = power(self.bits());
        let Compared {
            bits,
            borrow,
            digits,
            zeros,
            used,
        } = compared;
        let limit = match (bits, self.reduce) {
            (Some(bits), _) => power(*bits),
            (None, Reduce::Almost) => r.clone(),
            (None, Reduce::Full | Reduce::Lazy) => return Err("a comparison with another number"),
        };
        let fits = match self.modulus {
            Modulus::Number(m) => *m <= limit,
            Modulus::Words(words) => power(u64::from(self.w) * words.len() as u64) <= limit,
        };
        // s is a bit: by its range, or as the comparison leaves no other value, since -M <= T - M < R.
        let (low, high) = d.range_of_sum(&s.terms)?;
        let is_bit = low + &s.constant >= BigInt::zero() && high + &s.constant <= BigInt::one();
        if !fits || !(is_bit || limit >= r) {
            return Err("a comparison has too few words");
        }
        let compared_sum = match borrow {
            None => s,
            Some(u) => &borrowed(d, self.w, s, *u)?,
        };
        let weight = &r * &limit;
        let mut p = self.product(d, &BigInt::from(-1))?;
        let modulus = (self.modulus, self.w);
        d.add_multiples(&mut p, modulus, quotient, &BigInt::from(-1))?;
        p.add_sum(compared_sum, &weight)?;
        if bits.is_some() {
            p.add_value(Value::ONE, Number::new(-weight, 0))?;
            d.add_modulus(&mut p, modulus, Value::ONE, &r)?;
        }
        // What is left is -R D.
        p.add_terms(digits, &r);
        let (least, most) = d.range_of_sum(digits)?;
        if least.is_negative() || most >= limit {
            return Err("a comparison may overflow");
        }
        d.take_lemmas(&mut p, used)?;
        d.vanish(&mut p, self.w, zeros)?;
        d.is_zero(p)
    }
}

/// Of the borrow `s` of `0 - u`, which is a bit, `u`: then `u` is 0 or 1, and `s = u`.
fn borrowed(d: &Checker<'_>, w: u32, s: &Sum, u: VarId) -> Check<Sum> {
    const NONE: &str = "no borrow is compared";
    let [(v, by)] = &s.terms[..] else {
        return Err(NONE);
    };
    let word = *d.left.get(v).ok_or("a borrow left no word")?;
    let (terms, constant) = d.sum(word).ok_or("it is no sum")?;
    let mut terms = terms.to_vec();
    terms.sort_unstable_by_key(|(_, factor)| *factor);
    let is_borrow = matches!(&terms[..], [(x, -1), (c, weight)]
        if *x == u && c == v && *weight == 1 << w);
    if !by.is_one() || !s.constant.is_zero() || constant != 0 || !is_borrow {
        return Err(NONE);
    }
    Ok(Sum {
        constant: BigInt::zero(),
        terms: vec![(u, BigInt::one())],
    })
}
