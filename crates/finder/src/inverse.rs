//! `m' = -m^-1 mod 2^W`, computed from an odd `m` by Newton's steps.
//!
//! Words `e` with `m e = 1 (mod 2^k)` are kept: `m` itself with `k = 3`, as the square of an odd number is 1
//! modulo 8. Let `m e = 1 + 2^k j`. Then `m e (2 - m e) = 1 - 2^(2k) j^2`, so the low word of `e s` is known for
//! twice as many bits if `s = 2 - m e (mod 2^W)`; and if `s = m e - 2`, `m` times it is `-1`. Both are equations
//! modulo `2^W`, shown by elimination and written down.

use machine::domain::trace::{Entry, Multiples, Step};
use machine::domain::variable::{Value, VarId};
use num_bigint::BigInt;

use crate::algebra::Algebra;
use crate::polynomial::{Polynomial, Scaled};

impl Algebra {
    /// `low` is the low word of a product.
    pub(crate) fn note_inverse(&mut self, low: VarId, factors: [Value; 2], w: u32) {
        let Some(sought) = &self.sought else {
            return;
        };
        let m = sought.m;
        let [a, b] = factors;
        let known = |x: Value| sought.near.iter().find(|(e, _)| Value::Var(*e) == x);
        let steps = [(a, b), (b, a)].into_iter();
        let mut steps = steps.filter_map(|(e, s)| Some((*known(e)?, s)));
        let found = steps.find_map(|((e, bits), s)| {
            let mut signs = [1, -1].into_iter();
            let step = signs.find_map(|sign| {
                let used = self.is_step(m, e, s, sign, w)?;
                Some(Step::Newton {
                    e,
                    s,
                    sign,
                    low,
                    used,
                })
            })?;
            Some((step, (2 * bits).min(w)))
        });
        let found = found.map(|(step, bits)| {
            let is_opposite = matches!(step, Step::Newton { sign: -1, .. });
            self.note(Entry::Step(step));
            (is_opposite, bits)
        });
        match (found, &mut self.sought) {
            (Some((false, bits)), Some(sought)) => sought.near.push((low, bits)),
            (Some((true, bits)), _) if bits == w => {
                self.inverse = Some((m, low, w.into()));
                self.sought = None;
            }
            _ => {}
        }
    }

    /// The claims by which `sign s = 2 - m e (mod 2^w)`, if it is.
    fn is_step(&self, m: VarId, e: VarId, s: Value, sign: i8, w: u32) -> Option<Multiples> {
        let by = |factor: i8| Scaled::new(BigInt::from(factor), 0);
        let mut p = Polynomial::new(self, w.into());
        p.add_value(s, &by(sign)).ok()?;
        p.add_product(Value::Var(m), Value::Var(e), &by(1)).ok()?;
        p.add_value(Value::ONE, &by(-2)).ok()?;
        p.close().ok()?;
        Some(p.used())
    }
}
