//! A joint bound: a linear form with positive factors, and its largest value.

use machine::domain::ids::Map;
use machine::domain::public::Public;
use machine::domain::variable::{Value, VarId};
use num_bigint::BigUint;
use num_traits::One;

use crate::checker::refused::Check;

/// Words of another joint bound that were added: the first at `2^shift`, each next one `2^w` times as heavy.
pub struct Slice {
    pub(crate) of: u32,
    /// Where its first word stands in the other one.
    pub(crate) from: u32,
    pub(crate) words: Vec<Value>,
    pub(crate) w: u32,
    pub(crate) shift: u32,
    /// The most that each of its words is, together.
    pub(crate) each: BigUint,
    /// What was counted for it.
    pub(crate) most: BigUint,
    /// The state of the other one ([`Bounded::taken`]) that held all these words.
    pub(crate) seen: u64,
}

/// Slices by where they end, the exponent of 2 of the word that would follow; of those that end there the oldest first.
#[derive(Default)]
pub struct Slices(Map<u32, Vec<Slice>>);

impl Slices {
    pub(crate) fn push(&mut self, slice: Slice) {
        let end = slice.shift + slice.w * slice.words.len() as u32;
        self.0.entry(end).or_default().push(slice);
    }

    /// Takes out the first that ends there and is wanted.
    pub(crate) fn take(&mut self, end: u32, wanted: impl Fn(&Slice) -> bool) -> Option<Slice> {
        let here = self.0.get_mut(&end)?;
        let at = here.iter().position(wanted)?;
        Some(here.remove(at))
    }
}

/// `form <= total`; all factors and the constant of the form are positive.
#[derive(Default)]
pub struct Bounded {
    /// Variables with exponents of 2; the same may be there more than once.
    pub(crate) form: Vec<(VarId, u32)>,
    pub(crate) constant: BigUint,
    pub(crate) total: BigUint,
    pub(crate) slices: Slices,
    /// The carry that was masked last, and what of it is in the form.
    pub(crate) masked: Option<(VarId, VarId)>,
    /// How often something was taken from the form.
    pub(crate) taken: u64,
}

impl Bounded {
    /// Adds `2^shift y`.
    pub(crate) fn add(&mut self, y: Value, shift: u32) -> Check {
        match y {
            Value::Var(v) => self.form.push((v, shift)),
            Value::Public(Public::Known(k)) => self.constant += BigUint::from(k) << shift,
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => {
                return Err("an address is no number");
            }
        }
        Ok(())
    }

    /// The factor of a variable.
    pub(crate) fn factor(&self, v: VarId) -> BigUint {
        let here = self.form.iter().filter(|(x, _)| *x == v);
        here.map(|(_, shift)| power(*shift)).sum()
    }

    /// Takes `2^shift by v` away from the form, which has as much.
    pub(crate) fn take(&mut self, v: VarId, by: u64, shift: u32) -> Check {
        self.taken += 1;
        let whole = by
            .is_power_of_two()
            .then(|| (v, shift + by.trailing_zeros()));
        if let Some(i) = self.form.iter().rposition(|digit| Some(*digit) == whole) {
            self.form.remove(i);
            return Ok(());
        }
        let (there, share) = (self.factor(v), BigUint::from(by) << shift);
        if there < share {
            return Err("a joint bound does not hold this word");
        }
        let rest = there - share;
        self.form.retain(|(x, _)| *x != v);
        let digits = (0..rest.bits()).filter(|bit| rest.bit(*bit));
        self.form.extend(digits.map(|bit| (v, bit as u32)));
        Ok(())
    }

    /// `y` instead of `x`, as often.
    pub(crate) fn rename(&mut self, x: VarId, y: VarId) {
        self.taken += 1;
        for (v, _) in self.form.iter_mut().filter(|(v, _)| *v == x) {
            *v = y;
        }
    }

    /// Does the form hold at least `2^shift` times this word?
    pub(crate) fn holds(&self, word: Value, shift: u32) -> bool {
        match word {
            Value::Var(v) => {
                let mut digits = self.form.iter().rev();
                digits.any(|(x, s)| *x == v && *s >= shift) || self.factor(v) >= power(shift)
            }
            Value::Public(Public::Known(k)) => self.constant >= BigUint::from(k) << shift,
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => false,
        }
    }

    /// Is this word there with just this factor?
    pub(crate) fn is_at(&self, word: Value, shift: u32) -> bool {
        let mut digits = self.form.iter().rev();
        matches!(word, Value::Var(v) if digits.any(|digit| *digit == (v, shift)))
    }

    /// Does the form hold the words of a slice?
    pub(crate) fn holds_slice(&self, slice: &Slice) -> bool {
        let mut words = slice.words.iter().zip(slice.from..);
        self.taken == slice.seen || words.all(|(word, i)| self.holds(*word, slice.w * i))
    }
}

pub fn power(shift: u32) -> BigUint {
    BigUint::one() << shift
}
