//! Newton's steps to `m'` with `m m' = -1`.
//!
//! Quotients of several words: `q = u m' (mod X)` with `m m' = -1 (mod X)`, so that `u + q m` is a multiple of `X`; and the
//! product of the lower halves of `q` and `m`, which is known without a multiplication. The argument is in
//! `domain/quotient.rs`.

use machine::domain::trace::Equation;
use machine::domain::variable::{Def, Value, VarId};
use num_bigint::BigInt;
use num_traits::One;

use crate::checker::polynomial::Polynomial;
use crate::checker::refused::Check;
use crate::checker::state::Checker;

impl Checker<'_> {
    /// Newton's step. Let `m e = 1 + 2^k j` for the odd `m`, `sign s = 2 - m e (mod 2^w)` and `low = e s (mod 2^w)`: then
    /// `m sign low = m e (2 - m e) = 1 - (m e - 1)^2 = 1 - 2^(2k) j^2 (mod 2^w)`. `e = m` starts with `k = 3`, as the
    /// square of an odd number is 1 modulo 8.
    pub(super) fn newton(
        &mut self,
        e: VarId,
        low: VarId,
        s: Value,
        sign: i8,
        used: &[(usize, BigInt)],
    ) -> Check {
        let m = self.odd.ok_or("no number is odd")?;
        let near = self.near.get(&e).copied();
        let k = near.or((e == m).then_some(3));
        let k = k.ok_or("it is near no inverse")?;
        let Def::Low { a, b, w, .. } = self.def(low)? else {
            return Err("it is no product");
        };
        self.range(low)?;
        let factors = [Value::Var(e), s];
        if ![[a, b], [b, a]].contains(&factors) || ![1, -1].contains(&sign) {
            return Err("it is no step to an inverse");
        }
        let w = u64::from(w);
        let mut p = Polynomial::new(Some(w));
        p.add_words(0, &[s], &sign.into(), 0)?;
        p.add_words(0, &[Value::ONE], &(-2).into(), 0)?;
        let product = [&[Value::Var(m)][..], &[Value::Var(e)]];
        self.add_numbers(&mut p, 0, product, &BigInt::one(), 0)?;
        self.take_lemmas(&mut p, used)?;
        self.is_zero(p)?;
        let bits = w.min(2 * k);
        if sign == 1 {
            self.near.insert(low, bits);
        } else {
            self.inverse = Some((m, low, bits));
        }
        Ok(())
    }

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
