//! A product with a sign: what is claimed of a product of two absolute values, complemented where exactly one of
//! the differences is negative.
//!
//! With `T1 = |D1| = (1 - 2 s1) D1`, `T2 = (1 - 2 s2) D2` and `P = T1 T2` shown, `s = s1 + s2 - 2 s1 s2` and words
//! `F[i] = P[i] + s (2^W - 1) - 2 s P[i]`, `n` of them:
//! `F = (1 - 2 s) P + s (2^(W n) - 1)`, and as `(1 - 2 s)(1 - 2 s1)(1 - 2 s2) = 1`, `F = D1 D2 + s (2^(W n) - 1)`.

use judge::prove::Open;
use machine::domain::trace::Step;
use machine::domain::variable::{Value, VarId};
use num_bigint::{BigInt, BigUint};

use crate::algebra::Algebra;
use crate::claim::Equation;
use crate::claims::Product;
use crate::polynomial::{Polynomial, Scaled};

impl Algebra {
    /// Is it `F = D1 D2 + s (2^(W n) - 1)`? Then, with its bound, it is shown.
    pub(crate) fn product_of_distances(
        &self,
        equation: &Equation,
    ) -> Result<Option<(Equation, Step)>, String> {
        let Some((factors, mask)) = self.factors(equation) else {
            return Ok(None);
        };
        let [x, y] = factors.map(|i| &self.claims.magnitudes[i]);
        let mut shown = self.claims.shown().iter();
        let product = shown.position(|e| match &e.terms[..] {
            [t] => {
                let alike = t.x == x.words && t.y == y.words || t.x == y.words && t.y == x.words;
                alike && t.sign == 1 && t.shift + e.lead == 0
            }
            _ => false,
        });
        let index = product.ok_or("no product of its absolute values is known")?;
        let product = &self.claims.shown()[index].words;
        if product.len() != equation.words.len() {
            return Err("no product of its absolute values is known".into());
        }
        let (s, _) = self
            .mask_bit(mask, equation.w)
            .ok_or("its mask is not all ones or 0")?;
        let shown = self.is_odd(s, [x.negative, y.negative]);
        let shown = shown.and_then(|()| {
            let mut words = product.iter().zip(&equation.words);
            words.try_for_each(|(p, f)| self.is_complement(*f, *p, s, equation.w))
        });
        shown.map_err(|open| open.text)?;
        let bits = u64::from(equation.w) * equation.words.len() as u64;
        let step = Step::Signed {
            equation: equation.traced(),
            product: index,
            factors,
            mask,
        };
        let most = (BigUint::from(1u8) << bits) - 1u8;
        let equation = Equation {
            most,
            ..equation.clone()
        };
        Ok(Some((equation, step)))
    }

    /// The numbers of the absolute values of `D1` and `D2`, and the word of which the last term consists.
    fn factors(&self, equation: &Equation) -> Option<([usize; 2], Value)> {
        let [a, b, c, d, masks] = &equation.terms[..] else {
            return None;
        };
        let mask = *masks.x.first()?;
        let is_number =
            masks.y.is_empty() && masks.sign == 1 && masks.x.len() == equation.words.len();
        let is_product = equation.terms.iter().all(|t| t.shift == 0)
            && [a.sign, b.sign, c.sign, d.sign] == [1, -1, -1, 1]
            && [&b.x, &b.y, &c.x, &c.y] == [&a.x, &d.y, &d.x, &a.y];
        if equation.lead > 0 || !is_number || !is_product || masks.x.iter().any(|w| *w != mask) {
            return None;
        }
        let known = |plus: &[Value], minus: &[Value]| {
            let is = |t: &Product, sign: i8, words: &[Value]| {
                t.sign == sign && t.shift == 0 && t.y.is_empty() && t.x == words
            };
            let mut magnitudes = self.claims.magnitudes.iter();
            magnitudes.position(|m| match &m.terms[..] {
                [p, q] => is(p, 1, plus) && is(q, -1, minus),
                _ => false,
            })
        };
        Some(([known(&a.x, &d.x)?, known(&a.y, &d.y)?], mask))
    }

    /// `s = s1 + s2 - 2 s1 s2`.
    fn is_odd(&self, s: VarId, [s1, s2]: [VarId; 2]) -> Result<(), Open> {
        let one = Scaled::new(BigInt::from(1), 0);
        let mut p = Polynomial::new(self, u64::MAX);
        p.add_value(Value::Var(s), &one)?;
        p.add_value(Value::Var(s1), &one.times(-1))?;
        p.add_value(Value::Var(s2), &one.times(-1))?;
        p.add_product(Value::Var(s1), Value::Var(s2), &one.times(2))?;
        p.close()
    }

    /// `f = p + s (2^W - 1) - 2 s p`.
    fn is_complement(&self, f: Value, p: Value, s: VarId, w: u32) -> Result<(), Open> {
        let one = Scaled::new(BigInt::from(1), 0);
        let mut sum = Polynomial::new(self, u64::MAX);
        sum.add_value(f, &one)?;
        sum.add_value(p, &one.times(-1))?;
        sum.add_value(Value::Var(s), &one.times(1 - (1 << w)))?;
        sum.add_product(Value::Var(s), p, &one.times(2))?;
        sum.close()
    }
}
