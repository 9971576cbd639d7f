//! One of two words under a bit, or two words exchanged: `a ^ ((a ^ b) & -t)` is `b` if the bit `t` is set, else `a`.

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
}
