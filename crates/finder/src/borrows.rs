//! Carries and borrows without a flag: two comparisons for each word, of which at most one is true.
//!
//! `d = a - b + 2^W x`, then `e = d - c + 2^W y`; or `t = b + c - 2^W x`, then
//! `e = a - t + 2^W y`; or `s = a + b - 2^W x`, then `e = s + c - 2^W y`. Always
//! `2^W (x + y)` is `e - rest` or `rest - e`, and the bounds of `e` and of the rest show that
//! `x + y` is a bit.

use std::collections::BTreeMap;

use machine::domain::public::Public;
use machine::domain::trace::{Combination, Entry, Step};
use machine::domain::variable::{BitValue, Value, VarId};
use machine::domain::{Domain, Sum};

use crate::algebra::{Algebra, NO};

/// Why the sum of two bits is one.
enum Joint {
    /// They are never both set: the equations around them say so.
    Apart(Vec<Combination>),
    /// They left one number: the sum of the equations of both words, in which the sum of the bits has this factor.
    Borrows(Combination, i64),
}

impl Algebra {
    /// `x + y` of two bits, if it is a bit because they are the borrows of one difference.
    pub(crate) fn joint_borrow(&mut self, x: Value, y: Value, w: u32) -> Option<Value> {
        let (Value::Var(x), Value::Var(y)) = (x, y) else {
            return None;
        };
        let outer = self.left_by(x.max(y))?;
        let reason = self.joint_reason(x, y, w).filter(|_| outer.factor > 0)?;
        Some(Value::Var(self.joint_bit(x, y, reason)))
    }

    /// `y + 1` if the bit `t` is set, else `y`, or the other way round, of a bit `y`: `y + t`, or `y + 1 - t`. So conditional
    /// instructions count two borrows.
    pub(crate) fn counted<const W: u32>(
        &mut self,
        t: VarId,
        set: Value,
        clear: Value,
    ) -> Option<Value> {
        let is_more = |x: Value, y: Value| match (x, y) {
            (Value::Var(x), Value::Var(y)) => self.sum(x) == Some((&[(y, 1)][..], 1)),
            _ => false,
        };
        let (bit, y) = match (is_more(set, clear), is_more(clear, set)) {
            (true, _) => (BitValue::Var(t), clear),
            (false, true) => (self.not(&BitValue::Var(t)), set),
            (false, false) => return None,
        };
        if self.bound(y, W) > 1 {
            return None;
        }
        let bit = self.concrete_bit(&bit);
        Some(self.add::<W>(&y, &bit, &NO).word)
    }

    /// `(2^W - 1) x - y`, or `x - y`, for two borrows of one difference, of which one at most is 1. The
    /// first is the upper half of a double word from which a word and a borrow were taken:
    /// `2^W - 1` times the joint borrow. The other has the joint borrow for its lowest bit.
    pub(crate) fn borrow_again<const W: u32>(
        &mut self,
        a: Value,
        b: Value,
        c: Value,
    ) -> Option<Sum<Self, W>> {
        let y = match (b, c) {
            (Value::Var(y), Value::ZERO) | (Value::ZERO, Value::Var(y)) => y,
            _ => return None,
        };
        let (x, is_mask) = match (self.mask_bit(a, W), a) {
            (Some((x, _)), _) => (x, true),
            (None, Value::Var(x)) => (x, false),
            _ => return None,
        };
        let Value::Var(both) = self.joint_borrow(Value::Var(x), Value::Var(y), W)? else {
            return None;
        };
        let word = match is_mask {
            // (2^W - 1) (x + y) = (2^W - 1) x - y + 2^W y.
            true => self.mask_of::<W>(both),
            // (x + y) + (2^W - 2) y = x - y + 2^W y.
            false => {
                let full = (1 << W) - 1;
                Value::Var(self.linear(&[(both, 1), (y, full - 1)], 0, full as u64))
            }
        };
        Some(Self::opaque(word, BitValue::Var(y)))
    }

    /// `x > y`, from the words `d = x - y + 2^W b` and `c = 1 - b`: no borrow, and `d` is not 0. It is the
    /// borrow of `y - x`.
    pub(crate) fn higher(&mut self, c: VarId, d: VarId) -> BitValue {
        let Some((x, y, Value::ZERO, BitValue::Var(b))) = self.compared.get(&Value::Var(d)) else {
            return BitValue::Opaque;
        };
        let complements = |c: VarId, b: VarId| self.only_term(Value::Var(c)) == Some(((b, -1), 1));
        if !complements(c, b) && !complements(b, c) {
            return BitValue::Opaque;
        }
        let no = self.flag(false);
        self.sub::<32>(&y, &x, &no).carry
    }

    /// If `s = x - y + 2^W c`, then `x - s = y - 2^W c`: comparing a minuend with the difference gives
    /// the borrow. A borrow that was taken away may be given back, too.
    pub(crate) fn undo_difference(
        &mut self,
        x: Value,
        s: Value,
        c_in: Value,
        w: u32,
    ) -> Option<(Value, BitValue)> {
        let (Value::Var(s), Value::Var(x)) = (s, x) else {
            return None;
        };
        let (terms, constant) = self.sum(s)?;
        let (&(c, _), rest) = match terms.split_last()? {
            (last, rest) if last.1 == 1 << w => (last, rest),
            _ => return None,
        };
        let mut rest = rest.to_vec();
        rest.swap_remove(rest.iter().position(|term| *term == (x, 1))?);
        // What is taken away once more is a term of the difference, or a part of its constant.
        let given = match c_in {
            Value::Var(c) => {
                rest.swap_remove(rest.iter().position(|term| *term == (c, -1))?);
                0
            }
            Value::Public(Public::Known(k)) => i64::try_from(k).ok()?,
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => return None,
        };
        let constant = constant.checked_add(given)?;
        let mut bound = u64::try_from(-constant).ok()?;
        for (v, factor) in &mut rest {
            bound += (*factor == -1).then_some(self.vars[*v as usize].bound)?;
            *factor = 1;
        }
        let other = match (rest.as_slice(), constant) {
            ([(y, _)], 0) => Value::Var(*y),
            _ => Value::Var(self.linear(&rest, -constant, bound)),
        };
        (bound >> w == 0).then_some((other, BitValue::Var(c)))
    }

    /// `x + y` of two carries into the same word of a joint bound, which counts the sum from now on.
    pub(crate) fn joint_carry(&mut self, x: Value, y: Value, w: u32) -> Option<Value> {
        let (Value::Var(a), Value::Var(b)) = (x, y) else {
            return None;
        };
        let place = self.bounds.meet(a, b)?;
        let sum = match self.joint_reason(a, b, w) {
            Some(reason) => self.joint_bit(a, b, reason),
            None => {
                let bound = self.vars[a as usize].bound + self.vars[b as usize].bound;
                self.linear(&[(a, 1), (b, 1)], 0, bound)
            }
        };
        self.bounds.pass_on([a, b], sum, place);
        self.note_joints();
        Some(Value::Var(sum))
    }

    /// `x + y`, a bit for this reason.
    fn joint_bit(&mut self, x: VarId, y: VarId, reason: Joint) -> VarId {
        let sum = self.linear(&[(x, 1), (y, 1)], 0, 1);
        let by = match reason {
            Joint::Apart(by) => by,
            Joint::Borrows(mut by, factor) => {
                by.push((sum, factor));
                vec![by]
            }
        };
        let (v, most) = (sum, 1);
        self.note(Entry::Step(Step::Bound { v, most, by }));
        sum
    }

    /// Why `x + y` is a bit, if it is.
    fn joint_reason(&self, x: VarId, y: VarId, w: u32) -> Option<Joint> {
        let (x, y) = (x.min(y), x.max(y));
        let (inner, outer) = (self.left_by(x)?, self.left_by(y)?);
        let apart = || self.exclusive_by(x, y).map(Joint::Apart);
        let step = outer.terms.iter().find(|(v, _)| *v == inner.word);
        let Some(by) = step.map(|(_, by)| *by).filter(|by| by.abs() == 1) else {
            return apart();
        };
        if outer.factor.abs() != 1 << w || by * inner.factor != outer.factor {
            return apart();
        }
        // e = rest +- 2^w (x + y)
        let mut rest = BTreeMap::new();
        let last = outer.others(y).filter(|(v, _)| *v != inner.word);
        let first = inner.others(x).map(|(v, factor)| (v, factor * by));
        for (v, factor) in last.chain(first) {
            *rest.entry(v).or_insert(0i128) += i128::from(factor);
        }
        let bound = |v: VarId| i128::from(self.vars[v as usize].bound);
        let constant = i128::from(outer.constant) + i128::from(inner.constant * by);
        let sum = |part: fn(i128) -> i128| {
            let parts = rest.iter().map(|(v, factor)| bound(*v) * part(*factor));
            constant + parts.sum::<i128>()
        };
        let most = match outer.factor > 0 {
            true => bound(y + 1) - sum(|factor| factor.min(0)),
            false => sum(|factor| factor.max(0)),
        };
        match most >> w <= 1 {
            true => Some(Joint::Borrows(
                vec![(outer.word, 1), (inner.word, by)],
                -outer.factor,
            )),
            false => apart(),
        }
    }
}
