//! Quotients of several words: `q = u m' (mod X)` with `m m' = -1 (mod X)`, so that `u + q m` is a multiple of `X`; and the
//! product of the lower halves of `q` and `m`, which is known without a multiplication. The argument is in
//! `domain/quotient.rs`.

use num_bigint::BigInt;
use num_traits::One;

use super::polynomial::Polynomial;
use super::{Check, Checker};
use crate::domain::trace::Equation;
use crate::domain::variable::Value;

/// What is known of one modulus.
#[derive(Default)]
pub struct Quotients {
    /// `m` and `m'`, words of `w` bits: a promise of the contract.
    pub inverses: Option<(Vec<Value>, Vec<Value>, u32)>,
    /// `q` and `u`.
    shown: Option<(Vec<Value>, Vec<Value>)>,
    /// `l = q_0 m_0`.
    halves: Vec<Equation>,
}

impl Checker<'_> {
    /// `q = u m' (mod X)`. From now on words of `q` stay as they are where they are factors.
    pub(super) fn long_quotient(&mut self, e: &Equation, used: &[(usize, BigInt)]) -> Check {
        let inverses = self.long.inverses.as_ref();
        let (_, inverse, w) = inverses.ok_or("no modulus has an inverse")?;
        let k = inverse.len();
        let [term] = &e.terms[..] else {
            return Err("it is no quotient");
        };
        let alike = e.w == *w && [e.words.len(), term.x.len()] == [k, k] && term.y == *inverse;
        if !alike || e.lead + term.shift > 0 || term.sign != 1 {
            return Err("it is no quotient");
        }
        let mut p = Polynomial::new(Some(u64::from(e.w) * k as u64));
        self.add_equation(&mut p, e, &BigInt::one())?;
        self.take_lemmas(&mut p, used)?;
        self.is_zero(p)?;
        self.long.shown = Some((e.words.clone(), term.x.clone()));
        let words = e.words.iter().filter_map(Value::variable);
        self.atoms.extend(words);
        Ok(())
    }

    /// `l = q_0 m_0`: both sides lie below `X`, and differ by a multiple of it when `(1 - Y)(u + q m)` is added.
    pub(super) fn half(&mut self, e: &Equation, used: &[(usize, BigInt)]) -> Check {
        let (Some((m, _, w)), Some((q, u))) = (&self.long.inverses, &self.long.shown) else {
            return Err("no quotient is known");
        };
        let k = q.len();
        let [term] = &e.terms[..] else {
            return Err("it is no half of a quotient's product");
        };
        let alike = k % 2 == 0 && e.w == *w && e.words.len() == k && m.len() >= k;
        let is_half = alike && term.x == q[..k / 2] && term.y == m[..k / 2];
        if !is_half || e.lead + term.shift > 0 || term.sign != 1 {
            return Err("it is no half of a quotient's product");
        }
        let (m, q, u) = (m[..k].to_vec(), q.clone(), u.clone());
        self.below(e)?;
        let mut p = Polynomial::new(Some(u64::from(e.w) * k as u64));
        self.add_equation(&mut p, e, &BigInt::one())?;
        let half = u64::from(e.w) * k as u64 / 2;
        for (sign, shift) in [(1, 0), (-1, half)] {
            let by = BigInt::from(sign);
            p.add_words(e.w, &u, &by, shift)?;
            self.add_numbers(&mut p, e.w, [&q, &m], &by, shift)?;
        }
        self.take_lemmas(&mut p, used)?;
        self.is_zero(p)?;
        self.long.halves.push(e.clone());
        Ok(())
    }

    /// Of a number that is divided by `X`, takes `(1 + Y)(l - q_0 m_0)` away, which is 0.
    pub(super) fn take_halves(&self, p: &mut Polynomial, e: &Equation) -> Check {
        let Some((q, _)) = &self.long.shown else {
            return Ok(());
        };
        if e.lead != q.len() || e.words.len() != q.len() + 1 {
            return Ok(());
        }
        let y = BigInt::one() << (e.w as usize * q.len() / 2);
        let by = -(y + 1u8);
        let mut halves = self.long.halves.iter();
        halves.try_for_each(|half| self.add_equation(p, half, &by))
    }
}
