//! Facts beside the equations: a product equals a simpler value where a factor is a bit, or where the contract promises it.

use machine::domain::trace::{Entry, Multiples, Step};
use machine::domain::variable::{Def, Value, VarId};
use num_bigint::BigInt;
use num_traits::One;

use crate::algebra::Algebra;
use crate::polynomial::{Polynomial, Scaled};

impl Algebra {
    /// `x y = factor v` modulo `2^left`: a bit times itself, or times what it was multiplied by before; a quotient word
    /// `v m'` times `m`; an odd number modulo 2. Bits that exclude each other are looked for at the end
    /// (`Polynomial::close`), as that takes a search.
    pub(crate) fn beside(&self, x: VarId, y: VarId, left: u64) -> Option<(VarId, i64)> {
        let once = |v| (v, 1);
        let opposite = |v| (v, -1);
        let absorbed = self.absorbed(x, y).map(once);
        let cancelled = || match left <= u64::from(u64::BITS) {
            true => self.cancelled(x, y, left).map(opposite),
            false => None,
        };
        let of_odd = || self.of_odd(x, y).filter(|_| left <= 1).map(once);
        absorbed.or_else(cancelled).or_else(of_odd)
    }

    /// The variable equal to `x y`, if there is one: `t t = t` and `t (t x) = t x` for a bit `t`.
    pub(crate) fn absorbed(&self, x: VarId, y: VarId) -> Option<VarId> {
        let holds = |product: VarId, t: VarId| match self.vars[product as usize].def {
            Def::Product { a, b } => (a == t || b == t) && self.is_bit(t),
            _ => false,
        };
        match (x == y && self.is_bit(x), holds(x, y), holds(y, x)) {
            (true, ..) | (_, true, _) => Some(x),
            (_, _, true) => Some(y),
            _ => None,
        }
    }

    /// `x` if the other one is odd: their product is `x`, modulo 2.
    fn of_odd(&self, x: VarId, y: VarId) -> Option<VarId> {
        self.parity.as_ref()?;
        let odd = self.odd?;
        match (x == odd, y == odd) {
            (true, _) => Some(y),
            (_, true) => Some(x),
            _ => None,
        }
    }

    /// Uses what the contract promises from now on.
    pub(crate) fn use_promise(&mut self, promise: Step) {
        match promise {
            // A word that may be 0 or 1 is let be 2: sums take bits for carries.
            Step::Below { v, most } => {
                let bound = &mut self.vars[v as usize].bound;
                *bound = if most == 1 { 2 } else { most }.min(*bound);
            }
            Step::Bit { v } => self.vars[v as usize].bound = 1,
            Step::Inverse { m, inverse, bits } => self.inverse = Some((m, inverse, bits)),
            Step::Inverses { m, inverse, .. } => self.claims.quotients.modulus = Some((m, inverse)),
            // `m'` with `m m' = -1 mod 2^w` may be computed from it.
            Step::Odd { m } => {
                self.odd = Some(m);
                self.sought = Some(crate::known::Sought::of(m));
            }
            _ => {}
        }
    }

    /// `v` if `x y = -v (mod 2^w)`: one is `v m' mod 2^w`, the other `m`.
    fn cancelled(&self, x: VarId, y: VarId, w: u64) -> Option<VarId> {
        let (m, inverse, bits) = self.inverse.filter(|(.., bits)| w <= *bits)?;
        let w = w.min(bits);
        let q = match (x == m, y == m) {
            (true, _) => y,
            (_, true) => x,
            _ => return None,
        };
        match self.vars[q as usize].def {
            Def::Low { a, b, w: low, .. } if u64::from(low) >= w => match (a, b) {
                (Value::Var(v), Value::Var(i)) | (Value::Var(i), Value::Var(v)) if i == inverse => {
                    Some(v)
                }
                _ => None,
            },
            _ => match self.quotients.borrow().get(&q) {
                Some((v, low)) if *low >= w => Some(*v),
                _ => None,
            },
        }
    }

    /// Finds the words `q = v m' mod 2^w` that were made by additions. A product with one of them stays as it
    /// is, as if MUL had made it.
    pub(crate) fn find_quotients(&self, w: u32) {
        let Some((_, inverse, _)) = self.inverse else {
            return;
        };
        for q in 0..self.vars.len() as VarId {
            if let Some((v, used)) = self.added_up(q, inverse, w) {
                self.note(Entry::Step(Step::Quotient { q, v, w, used }));
                self.quotients.borrow_mut().insert(q, (v, w.into()));
            }
        }
    }

    /// `v` if `q = v m' (mod 2^w)` was made by additions, with the lowest digit of `v` last: `x + m'` or `x`.
    fn added_up(&self, q: VarId, inverse: VarId, w: u32) -> Option<(VarId, Multiples)> {
        let (terms, _) = self.sum(q)?;
        let holds = |v: VarId, term: VarId| {
            let sum = self.sum(v).map_or(&[][..], |(terms, _)| terms);
            sum.contains(&(term, 1))
        };
        let digit = terms
            .iter()
            .find_map(|(t, _)| match self.vars[*t as usize].def {
                Def::Product { a, b } if holds(b, inverse) => Some(a),
                Def::Product { a, b } if holds(a, inverse) => Some(b),
                _ => None,
            })?;
        let (digits, _) = self.sum(digit)?;
        let (v, _) = digits.iter().find(|(_, factor)| *factor == 1)?;
        let mut p = Polynomial::new(self, w.into());
        let one = Scaled::new(BigInt::one(), 0);
        p.add_value(Value::Var(q), &one).ok()?;
        let [whole, inverse] = [*v, inverse].map(Value::Var);
        p.add_product(whole, inverse, &one.times(-1)).ok()?;
        p.close().is_ok().then(|| (*v, p.used()))
    }
}
