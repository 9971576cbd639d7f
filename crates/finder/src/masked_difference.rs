//! One of two words under a bit: `x + ((y - x) & -t)` modulo `2^W`, with a bit `t` that the contract promises.
//!
//! With `d = y - x + 2^W c` the choice is `z = x + t y - t x`, which is `x` or `y`; the masked word is `z - x + 2^W t c`, and
//! the sum is `z` and leaves the carry `t c`.

use machine::domain::variable::{BitValue, Def, Value};
use machine::domain::{Domain, Logic, Sum};

use crate::algebra::Algebra;
use crate::known::Masked;

impl Algebra {
    /// `t d`, if `t` is promised and `d` is a difference of two words.
    pub(crate) fn masked_difference<const W: u32>(
        &mut self,
        op: Logic,
        a: Value,
        b: Value,
    ) -> Option<Value> {
        let (t, d) = match (op, self.selector(a, W), self.selector(b, W)) {
            (Logic::And, Some(t), None) => (t, b),
            (Logic::And, None, Some(t)) => (t, a),
            _ => return None,
        };
        let (y, x, Value::ZERO, BitValue::Var(c)) = self.compared.get(&d)? else {
            return None;
        };
        let promised = match self.only_term(Value::Var(t)) {
            Some(((s, 1), 0)) => s,
            Some(_) | None => t,
        };
        if self.vars[promised as usize].def != Def::Free {
            return None;
        }
        // t (y - x) = (x + t y - t x) - x
        let Value::Var(chosen) = self.select::<W>(&BitValue::Var(t), &y, &x) else {
            return None;
        };
        let carry = self.new_var(Def::Product { a: t, b: c }, 1);
        let mut form = (vec![(chosen, 1), (carry, 1 << W)], 0);
        Self::collect(&mut form, x, -1);
        let word = self.linear(&form.0, form.1, (1 << W) - 1);
        let chosen = Value::Var(chosen);
        self.masked.insert(word, Masked { x, chosen, carry });
        Some(Value::Var(word))
    }

    /// `x + t d` with such a word.
    pub(crate) fn chosen_by_difference<const W: u32>(
        &mut self,
        a: Value,
        b: Value,
        c_in: Value,
    ) -> Option<Sum<Self, W>> {
        let masked = |word: Value| match word {
            Value::Var(v) => self.masked.get(&v).copied(),
            Value::Public(_) => None,
        };
        let ways = [(a, masked(b)), (b, masked(a))];
        let found = ways
            .into_iter()
            .find_map(|(x, masked)| masked.filter(|masked| masked.x == x));
        let Masked { chosen, carry, .. } = found.filter(|_| c_in == Value::ZERO)?;
        Some(Self::opaque(chosen, BitValue::Var(carry)))
    }
}
