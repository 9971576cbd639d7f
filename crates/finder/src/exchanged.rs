//! One of two words under a bit, or two words exchanged: `a ^ ((a ^ b) & -t)` is `b` if the bit `t` is set, else `a`; so is
//! `(b & -t) | (a & ~-t)`.

use machine::domain::variable::{BitValue, Def, Value, VarId};
use machine::domain::{Domain, Logic};

use crate::algebra::Algebra;

impl Algebra {
    /// `a ^ (t x)` where `x = a ^ b` of words of `W` bits.
    pub(crate) fn exchanged<const W: u32>(
        &mut self,
        op: Logic,
        a: Value,
        b: Value,
    ) -> Option<Value> {
        let ways = [(a, b), (b, a)].into_iter().filter(|_| op == Logic::Xor);
        let (t, [one, other]) = ways
            .filter_map(|(word, masked)| self.under_bit(word, masked, W))
            .next()?;
        Some(self.select::<W>(&BitValue::Var(t), &other, &one))
    }

    /// The bit `t` and the words `word` and `b`, if `masked` is `t (word ^ b)`.
    fn under_bit(&self, word: Value, masked: Value, w: u32) -> Option<(VarId, [Value; 2])> {
        let Value::Var(masked) = masked else {
            return None;
        };
        let Def::Product { a: t, b: x } = self.vars[masked as usize].def else {
            return None;
        };
        let (of, [c, d]) = self.xors.get(&x)?;
        let other = match word {
            word if word == c => d,
            word if word == d => c,
            _ => return None,
        };
        (of == w && self.vars[t as usize].bound <= 1).then_some((t, [word, other]))
    }

    /// `t x | (1 - t) y` of a bit `t`: `x` if it is set, else `y`.
    pub(crate) fn under_two_bits<const W: u32>(
        &mut self,
        op: Logic,
        a: Value,
        b: Value,
    ) -> Option<Value> {
        let (t, x) = self.of_bit(a)?;
        let (u, y) = self.of_bit(b)?;
        let (bit, x, y) = match (op, self.is_other(t, u), self.is_other(u, t)) {
            (Logic::And, _, _) | (Logic::Or | Logic::Xor, false, false) => return None,
            (Logic::Or | Logic::Xor, true, _) => (u, y, x),
            (Logic::Or | Logic::Xor, false, true) => (t, x, y),
        };
        let [x, y] = [x, y].map(Value::Var);
        Some(self.select::<W>(&BitValue::Var(bit), &x, &y))
    }

    /// The bit and the word of a product.
    fn of_bit(&self, word: Value) -> Option<(VarId, VarId)> {
        let Value::Var(v) = word else {
            return None;
        };
        match self.vars[v as usize].def {
            Def::Product { a, b } if self.vars[a as usize].bound <= 1 => Some((a, b)),
            Def::Product { .. } | Def::Free | Def::Carry | Def::Linear { .. } | Def::Low { .. } => {
                None
            }
        }
    }

    /// Is `t = 1 - u`?
    fn is_other(&self, t: VarId, u: VarId) -> bool {
        self.sum(t) == Some((&[(u, -1)][..], 1))
    }
}
