//! Facts beside the equations: a product equals a simpler value where a factor is a bit, or where the contract promises it.

use machine::domain::variable::{Def, Value, VarId};
use num_bigint::BigInt;
use num_traits::One;

use crate::checker::polynomial::{Number, Polynomial};
use crate::checker::refused::Check;
use crate::checker::state::Checker;

impl Checker<'_> {
    fn is_bit(&self, v: VarId) -> bool {
        let range = self.known(v);
        range.is_some_and(|(least, most)| least >= 0 && most <= 1)
    }

    /// `x y = factor v`, modulo `2^left` if that is given:
    ///
    /// | product | is | where |
    /// |---|---|---|
    /// | `b b` | `b` | `b` is a bit |
    /// | `b (b z)` | `b z` | `b` is a bit |
    /// | `b c` | 0 | the bits exclude each other |
    /// | `m y` | `y` modulo 2 | `m` is odd |
    /// | `m (v m')` | `-v` modulo `2^w` | `m m' = -1` modulo as much |
    pub(super) fn beside(&self, x: VarId, y: VarId, left: Option<u64>) -> Option<(VarId, i64)> {
        let holds = |product: VarId, t: VarId| match self.def(product) {
            Ok(Def::Product { a, b }) => (a == t || b == t) && self.is_bit(t),
            Ok(Def::Free | Def::Carry | Def::Low { .. } | Def::Linear { .. }) | Err(_) => false,
        };
        if x == y && self.is_bit(x) || holds(x, y) {
            return Some((x, 1));
        }
        if holds(y, x) {
            return Some((y, 1));
        }
        if self.exclusive.contains(&(x.min(y), x.max(y))) {
            return Some((x, 0));
        }
        if let Some(odd) = self.odd.filter(|odd| [x, y].contains(odd))
            && left.is_some_and(|left| left <= 1)
        {
            return Some((if x == odd { y } else { x }, 1));
        }
        let v = self.quotient_of(x, y, left)?;
        Some((v, -1))
    }

    /// `v` if `x y = -v` modulo what is left of the modulus: `x = m`, `y = v m' mod 2^w`, and `m m' = -1`.
    fn quotient_of(&self, x: VarId, y: VarId, left: Option<u64>) -> Option<VarId> {
        let (m, inverse, known) = self.inverse?;
        let q = match (x == m, y == m) {
            (true, _) => y,
            (_, true) => x,
            (false, false) => return None,
        };
        // A product that no operation named has no equation.
        self.known(q)?;
        let left = left?;
        let (v, w) = match self.def(q).ok()? {
            Def::Low { a, b, w, .. } => match (a, b) {
                (Value::Var(v), Value::Var(i)) | (Value::Var(i), Value::Var(v)) if i == inverse => {
                    (v, u64::from(w))
                }
                (Value::Var(_) | Value::Public(_), Value::Var(_) | Value::Public(_)) => {
                    return None;
                }
            },
            Def::Free | Def::Carry | Def::Linear { .. } | Def::Product { .. } => {
                *self.quotients.get(&q)?
            }
        };
        (left <= w && left <= known).then_some(v)
    }

    /// `q = v m' (mod 2^w)`: from now on a product with `q` stays as it is.
    pub(super) fn quotient(
        &mut self,
        q: VarId,
        v: VarId,
        w: u32,
        used: &[(usize, BigInt)],
    ) -> Check {
        let (_, inverse, _) = self.inverse.ok_or("no modulus has an inverse")?;
        let mut p = Polynomial::new(Some(w.into()));
        p.add(q, Number::new(BigInt::one(), 0));
        self.multiply(&mut p, v, inverse, Number::new(BigInt::from(-1), 0))?;
        self.take_lemmas(&mut p, used)?;
        self.is_zero(p)?;
        self.quotients.insert(q, (v, w.into()));
        self.atoms.insert(q);
        Ok(())
    }

    /// `x` is 0 modulo 2, so the bit that a cut leaves below is 0.
    pub(super) fn even(&mut self, x: VarId, bit: VarId, used: &[(usize, BigInt)]) -> Check {
        let known = self.cuts.get(&(x, 1)).and_then(|(low, _)| *low);
        if known != Some(Value::Var(bit)) {
            return Err("it is not the lowest bit");
        }
        let mut p = Polynomial::new(Some(1));
        p.add(x, Number::new(BigInt::one(), 0));
        self.take_lemmas(&mut p, used)?;
        self.is_zero(p)?;
        self.range(bit)?;
        self.narrow(bit, (0, 0))
    }
}
