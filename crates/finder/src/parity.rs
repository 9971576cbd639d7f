//! Lowest bits, where a number is halved: `x = 2 h + b`, and `b` is 0 if `x` is, modulo 2.
//!
//! A halving drops `b`; the final equation gets it back if it is known to be 0 (`A + M` of two odd numbers). Words
//! are looked at when they are cut, by elimination modulo 2, where an odd word times `x` is `x`.

use machine::domain::trace::{Entry, Noted, Step};
use machine::domain::variable::{Def, Value};
use num_bigint::BigInt;
use num_traits::One;

use crate::algebra::Algebra;
use crate::known::Parity;
use crate::polynomial::{Polynomial, Scaled};

impl Algebra {
    /// From now on lowest bits are looked at. The input `a`, the lowest word of what is halved, is `2 h + b`
    /// from the start, so that `b` is no difference.
    pub fn watch_parity(&mut self, a: Value) {
        if let Value::Var(v) = a {
            let most = self.vars[v as usize].bound;
            let [b, h] = [1, most >> 1].map(|bound| self.new_var(Def::Free, bound));
            let sum = self.linear(&[(b, 1), (h, 2)], 0, most);
            self.vars[v as usize].def = self.vars[sum as usize].def;
            self.cuts.whole(v, (Value::Var(b), Value::Var(h)));
            // The input is these two from the start.
            for Noted { entry, .. } in self.log.get_mut() {
                if let Entry::Unknown { v: input, w } = *entry
                    && input == v
                {
                    *entry = Entry::Halved { v, w, b, h };
                }
            }
        }
        self.parity = Some(Parity::default());
    }

    /// `x = 2 h + bit` was cut.
    pub(crate) fn note_parity(&mut self, x: Value, bit: Value) {
        let known = |parity: &Parity| parity.zeros.contains(&bit);
        if self.parity.as_ref().is_none_or(known) || bit.variable().is_none() {
            return;
        }
        let mut p = Polynomial::new(self, 1);
        let one = Scaled::new(BigInt::one(), 0);
        let is_even = p.add_value(x, &one).is_ok() && p.close().is_ok();
        let used = p.used();
        if let (true, Value::Var(x), Value::Var(bit)) = (is_even, x, bit) {
            self.note(Entry::Step(Step::Even { x, bit, used }));
        }
        if let (true, Some(parity)) = (is_even, &mut self.parity) {
            parity.zeros.push(bit);
        }
    }

    /// Lowest bits that are 0.
    pub(crate) fn even_bits(&self) -> &[Value] {
        self.parity.as_ref().map_or(&[], |parity| &parity.zeros)
    }
}
