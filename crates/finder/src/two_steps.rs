//! A difference in two steps, on machines without a borrow flag, is the same in one: with `t = x - y + 2^W a` and
//! `d = x - y - c + 2^W b`, `t - c` is `d` and borrows `b - a`.

use machine::domain::Sum;
use machine::domain::variable::{BitValue, Value};

use crate::algebra::{Algebra, NO};

impl Algebra {
    /// `t - c`, if `x - y - c` was computed before.
    pub(crate) fn second_step<const W: u32>(
        &mut self,
        t: Value,
        c: Value,
        c_in: Value,
    ) -> Option<Sum<Self, W>> {
        let (x, y, Value::ZERO, BitValue::Var(a)) = self.compared.get(&t)? else {
            return None;
        };
        let known = self.differences.get(&(x, y, c, W));
        let (word, BitValue::Var(b)) = known.filter(|_| c_in == Value::ZERO && c != c_in)? else {
            return None;
        };
        let borrow = self.linear(&[(b, 1), (a, -1)], 0, 1);
        Some(Self::opaque(word, BitValue::Var(borrow)))
    }

    /// `a + (b - a)` of such a borrow.
    pub(crate) fn both_borrows<const W: u32>(
        &self,
        a: Value,
        rest: Value,
        c_in: Value,
    ) -> Option<Sum<Self, W>> {
        let (Value::Var(a), Value::Var(rest), Value::ZERO) = (a, rest, c_in) else {
            return None;
        };
        match self.sum(rest)? {
            ([(b, 1), (taken, -1)], 0) if *taken == a => Some(Self::opaque(Value::Var(*b), NO)),
            _ => None,
        }
    }
}
