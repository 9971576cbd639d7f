//! `m' = -m^-1 mod 2^W`, computed from an odd `m` by Newton's steps.
//!
//! Words `e` with `m e = 1 (mod 2^k)` are kept: `m` itself with `k = 3`, as the square of an odd number is 1
//! modulo 8. Let `m e = 1 + 2^k j`. Then `m e (2 - m e) = 1 - 2^(2k) j^2`, so the low word of `e s` is known for
//! twice as many bits if `s = 2 - m e (mod 2^W)`; and if `s = m e - 2`, `m` times it is `-1`. Both are equations
//! modulo `2^W`, shown by elimination.

use num_bigint::BigInt;

use super::algebra::{Algebra, Value, VarId};
use super::polynomial::{Polynomial, Scaled};

/// What is known on the way to `m'`.
pub(super) struct Sought {
    m: VarId,
    /// Words `e`, and the bits that are right.
    near: Vec<(VarId, u32)>,
}

impl Sought {
    /// `m` is odd.
    pub fn of(m: VarId) -> Self {
        Self {
            m,
            near: vec![(m, 3)],
        }
    }
}

impl Algebra {
    /// `low` is the low word of a product.
    pub(super) fn note_inverse(&mut self, low: VarId, factors: [Value; 2], w: u32) {
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
            let sign = signs.find(|sign| self.is_step((m, e), (s, *sign), w))?;
            Some((sign, (2 * bits).min(w)))
        });
        match (found, &mut self.sought) {
            (Some((1, bits)), Some(sought)) => sought.near.push((low, bits)),
            (Some((_, bits)), _) if bits == w => {
                self.inverse = Some((m, low, w.into()));
                self.sought = None;
            }
            _ => {}
        }
    }

    /// Is `sign s = 2 - m e (mod 2^w)`?
    fn is_step(&self, (m, e): (VarId, VarId), (s, sign): (Value, i64), w: u32) -> bool {
        let by = |factor: i64| Scaled::new(BigInt::from(factor), 0);
        let mut p = Polynomial::new(self, w.into());
        let sum = p
            .add_value(s, &by(sign))
            .and_then(|()| p.add_product(Value::Var(m), Value::Var(e), &by(1)))
            .and_then(|()| p.add_value(Value::ONE, &by(-2)));
        sum.is_ok() && p.close().is_ok()
    }
}
