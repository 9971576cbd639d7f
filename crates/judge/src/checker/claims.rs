//! Absolute values, and products of two of them with their sign.

use machine::domain::trace::{Equation, Product};
use machine::domain::variable::{Value, VarId};
use num_bigint::BigInt;
use num_traits::One;

pub use crate::checker::lemma::Magnitude;
use crate::checker::polynomial::Polynomial;
use crate::checker::refused::Check;
use crate::checker::state::Checker;

impl Checker<'_> {
    /// The bit of which a word is `2^w - 1` times.
    fn mask_bit(&mut self, mask: Value, w: u32) -> Check<VarId> {
        let not = "a mask is not all ones or 0";
        let Value::Var(v) = mask else { return Err(not) };
        let Some(([(bit, ones)], 0)) = self.sum(v) else {
            return Err(not);
        };
        let range = self.range(*bit)?;
        match i128::from(*ones) == (1 << w) - 1 && range.0 >= 0 && range.1 <= 1 {
            true => Ok(*bit),
            false => Err(not),
        }
    }

    /// `words = |D|` of `n` words: `wrapped = D + 2^(w n) s` lies in `0 .. 2^(w n)`, hence `s = 1` just where
    /// `D < 0`. With `D > -2^(w n)`, `(1 - 2 s) D` lies there as the words do, and both agree modulo `2^(w n)`.
    pub(super) fn magnitude(
        &mut self,
        e: &Equation,
        wrapped: &[Value],
        mask: Value,
        used: [&[(usize, BigInt)]; 2],
    ) -> Check {
        let (w, one) = (e.w, BigInt::one());
        let bits = u64::from(w) * e.words.len() as u64;
        let s = self.mask_bit(mask, w)?;
        if wrapped.len() != e.words.len() || e.lead > 0 || e.terms.iter().any(|t| !t.y.is_empty()) {
            return Err("the parts of an absolute value do not match");
        }
        let mut below = BigInt::ZERO;
        for term in e.terms.iter().filter(|t| t.sign < 0) {
            below += BigInt::from(self.largest(&term.x, w)?) << (w as usize * term.shift);
        }
        let fits = [&e.words[..], wrapped].map(|words| self.largest(words, w));
        let [words, wraps] = fits;
        if below.bits() > bits || words?.bits() > bits || wraps?.bits() > bits {
            return Err("a difference may be too small");
        }
        let mut p = Polynomial::new(None);
        p.add_words(w, wrapped, &one, 0)?;
        p.add_words(w, &[Value::Var(s)], &-&one, bits)?;
        for term in &e.terms {
            self.add_term(&mut p, w, term, &-&one)?;
        }
        self.take_lemmas(&mut p, used[0])?;
        self.is_zero(p)?;
        // words - D + 2 s D
        let mut p = Polynomial::new(Some(bits));
        self.add_equation(&mut p, e, &one)?;
        for term in &e.terms {
            let twice = Product {
                y: vec![Value::Var(s)],
                ..term.clone()
            };
            self.add_term(&mut p, w, &twice, &BigInt::from(2))?;
        }
        self.take_lemmas(&mut p, used[1])?;
        self.is_zero(p)?;
        self.magnitudes.push(Magnitude {
            w,
            words: e.words.clone(),
            terms: e.terms.clone(),
            negative: s,
        });
        Ok(())
    }

    /// `F = D1 D2 + s (2^(w n) - 1)` with `|D1| |D2| = P` shown, `s = s1 + s2 - 2 s1 s2` and every word
    /// `F[i] = P[i] + s (2^w - 1) - 2 s P[i]`.
    pub(super) fn signed(
        &mut self,
        e: &Equation,
        product: usize,
        factors: [usize; 2],
        mask: Value,
    ) -> Check {
        let (w, one) = (e.w, BigInt::one());
        let s = self.mask_bit(mask, w)?;
        let [d1, d2] = factors.map(|i| self.magnitudes.get(i));
        let (Some(d1), Some(d2)) = (d1, d2) else {
            return Err("there is no such absolute value");
        };
        let known = self.lemmas.get(product).ok_or("there is no such claim")?;
        let known = &known.equation;
        let bits = u64::from(w) * e.words.len() as u64;
        if d1.w != w || d2.w != w || known.w != w || known.lead + e.lead > 0 {
            return Err("the parts of a product with a sign do not match");
        }
        let is_product = matches!(&known.terms[..], [t] if t.shift == 0 && t.sign == 1
            && (t.x == d1.words && t.y == d2.words || t.x == d2.words && t.y == d1.words));
        if !is_product || known.words.len() != e.words.len() {
            return Err("it is not the product of these absolute values");
        }
        let (s1, s2) = (Value::Var(d1.negative), Value::Var(d2.negative));
        let number = |k: i64| crate::checker::polynomial::Number::new(k.into(), 0);
        let mut p = Polynomial::new(None);
        p.add(s, number(1));
        p.add_value(s1, number(-1))?;
        p.add_value(s2, number(-1))?;
        self.add_product(&mut p, s1, s2, number(2))?;
        self.is_zero(p)?;
        for (f, x) in e.words.iter().zip(&known.words) {
            let mut p = Polynomial::new(None);
            p.add_value(*f, number(1))?;
            p.add_value(*x, number(-1))?;
            p.add(s, number(1 - (1 << w)));
            self.add_product(&mut p, Value::Var(s), *x, number(2))?;
            self.is_zero(p)?;
        }
        // The terms are D1 D2 and the mask.
        let mut p = Polynomial::new(None);
        for term in &e.terms {
            self.add_term(&mut p, w, term, &one)?;
        }
        for x in &d1.terms {
            for y in &d2.terms {
                let by = BigInt::from(-x.sign * y.sign);
                let shift = u64::from(w) * (x.shift + y.shift) as u64;
                self.add_numbers(&mut p, w, [&x.x, &y.x], &by, shift)?;
            }
        }
        p.add_words(w, &[Value::Var(s)], &-&one, bits)?;
        p.add_words(w, &[Value::Var(s)], &one, 0)?;
        self.is_zero(p)?;
        let all = (num_bigint::BigUint::one() << bits) - 1u8;
        self.keep(e, all)
    }
}
