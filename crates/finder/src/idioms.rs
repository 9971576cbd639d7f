//! Idioms of carries: sums that are undone, and masks that become carries again.
//!
//! Machines keep a carry in other ways than in a flag: as the outcome of a comparison, or
//! as a word of ones. Here such words are recognised by their definitions.

use machine::domain::public::{Public, PublicBit};
use machine::domain::trace::Combination;
use machine::domain::variable::{BitValue, Def, Value, VarId};
use machine::domain::{Domain, Logic, Shift, Sum};

use crate::algebra::{Algebra, NO};
use crate::carries::Leaving;

impl Algebra {
    /// If `s = x + y - 2^W c` and `y < 2^W`, then `s - x = y - 2^W c`: comparing a sum with an
    /// addend (SLTU on a machine without a carry flag) gives the carry. `y` may be a sum itself; a carry
    /// that was added may be taken back, too, as where words of several registers are compared. So it is where `s` is kept in `k < W` bits, `s = x + y - 2^k c` with `y < 2^k`.
    pub(crate) fn undo_sum(
        &mut self,
        s: Value,
        x: Value,
        c_in: Value,
        w: u32,
    ) -> Option<(Value, BitValue)> {
        let (s, x, c_in) = match (s, x, c_in) {
            (Value::Var(s), Value::Var(x), c_in) => (s, x, c_in),
            (Value::Var(s), Value::ZERO, Value::Var(c)) => (s, c, Value::ZERO),
            _ => return None,
        };
        let (terms, constant) = self.sum(s)?;
        let (sum, carry, bits) = match terms {
            [sum @ .., (c, factor)] if *factor < -1 && factor.unsigned_abs().is_power_of_two() => {
                (sum, Some(*c), factor.trailing_zeros())
            }
            sum => (sum, None, w),
        };
        // A piece of a sum: the sum itself is one term.
        let (sum, constant) = match (sum, constant) {
            ([(whole, 1)], 0) if *whole != x => self.sum(*whole)?,
            _ => (sum, constant),
        };
        let mut rest = sum.to_vec();
        let at = sum
            .iter()
            .position(|(v, k)| *v == x && matches!(k, 1 | 2))?;
        match rest[at].1 {
            1 => drop(rest.swap_remove(at)),
            _ => rest[at].1 = 1,
        }
        // What the borrow takes away is a term of the sum, or a part of its constant.
        let taken = match c_in {
            Value::Var(c) => {
                rest.swap_remove(rest.iter().position(|term| *term == (c, 1))?);
                0
            }
            Value::Public(Public::Known(k)) => i64::try_from(k).ok()?,
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => return None,
        };
        let constant = constant.checked_sub(taken)?;
        if carry.is_some_and(|c| self.vars[c as usize].bound > 1) || bits > w {
            return None;
        }
        let other = self.word_of(&rest, constant, bits)?;
        let Some(c) = carry else {
            return Some((other, NO));
        };
        if bits == w {
            return Some((other, BitValue::Var(c)));
        }
        // y - 2^bits c + 2^w c
        let mut form = (vec![(c, (1 << w) - (1 << bits))], 0);
        Self::collect(&mut form, other, 1);
        let word = self.linear(&form.0, form.1, (1 << w) - 1);
        Some((Value::Var(word), BitValue::Var(c)))
    }

    /// A sum of variables and a number, if it is always a word of `bits` bits.
    fn word_of(&mut self, terms: &[(VarId, i64)], constant: i64, bits: u32) -> Option<Value> {
        let full = (1u64 << bits) - 1;
        let mut bound = u64::try_from(constant).ok().filter(|k| *k <= full)?;
        for (v, factor) in terms {
            bound += (*factor == 1).then_some(self.vars[*v as usize].bound)?;
        }
        (bound <= full).then(|| match (terms, constant) {
            ([], k) => Value::Public(Public::Known(k as u64)),
            ([(y, _)], 0) => Value::Var(*y),
            _ => Value::Var(self.linear(terms, constant, bound)),
        })
    }

    /// The most that `a + b` can be if they are carries of one word: with `s = x - 2^W a` and
    /// `t = s + y - 2^W b`, `2^W (a + b) = x + y - t <= x + y`.
    pub(crate) fn carries_of_one_word(
        &self,
        a: Value,
        b: Value,
        w: u32,
    ) -> Option<(u64, Combination)> {
        let (Value::Var(a), Value::Var(b)) = (a, b) else {
            return None;
        };
        let (first, second) = (a.min(b), a.max(b));
        let (x, y) = (self.left_by(first)?, self.left_by(second)?);
        let carries = x.factor == -(1 << w) && y.factor == x.factor;
        let follows = y.terms.contains(&(x.word, 1));
        let most = |left: &Leaving<'_>, c: VarId| {
            let others = left
                .others(c)
                .filter(|(v, factor)| *factor > 0 && *v != x.word);
            let product = |(v, k)| i128::from(self.vars[v as usize].bound) * i128::from(k);
            others.map(product).sum::<i128>() + i128::from(left.constant)
        };
        let most = u64::try_from((most(&x, first) + most(&y, second)) >> w).ok();
        let by = vec![(x.word, 1), (y.word, 1)];
        most.filter(|_| carries && follows).map(|most| (most, by))
    }

    /// `((v, k), constant)` if `value = k v + constant`.
    pub(crate) fn only_term(&self, value: Value) -> Option<((VarId, i64), i64)> {
        let Value::Var(v) = value else {
            return None;
        };
        match self.sum(v)? {
            ([term], constant) => Some((*term, constant)),
            _ => None,
        }
    }

    /// The bit `b` if `value = (2^W - 1) * b`, and the bit `1 - b` where that has a name.
    pub(crate) fn mask_bit(&self, value: Value, w: u32) -> Option<(VarId, Option<VarId>)> {
        let ((bit, factor), constant) = self.only_term(value)?;
        if factor != (1 << w) - 1 || constant != 0 || self.vars[bit as usize].bound > 1 {
            return None;
        }
        let complement = self
            .only_term(Value::Var(bit))
            .and_then(|((c, factor), constant)| {
                (factor == -1 && constant == 1 && self.vars[c as usize].bound <= 1).then_some(c)
            });
        Some((bit, complement))
    }

    /// `(2^W - 1) b + 1 + c = 2^W b + (1 - b) + c`: a word that was made 1 too small, made right. Numbers
    /// that leave a carry whatever `c` is are of this kind: `b` is 1 then.
    pub(crate) fn unmask<const W: u32>(
        &mut self,
        a: Value,
        b: Value,
        c: &BitValue,
    ) -> Option<Sum<Self, W>> {
        if let (Value::Public(Public::Known(x)), Value::Public(Public::Known(y))) = (a, b)
            && (x + y) >> W == 1
        {
            let rest = self.known::<W>(x + y);
            let sum = self.add::<W>(&rest, &Value::ZERO, c);
            let one = self.flag(true);
            return Some(Self::opaque(sum.word, one));
        }
        let one = Value::Public(Public::Known(1));
        let mask = match (a, b) {
            (mask, k) | (k, mask) if k == one => mask,
            _ => return None,
        };
        let (bit, complement) = self.mask_bit(mask, W)?;
        let complement = match complement {
            Some(c) => c,
            None => self.linear(&[(bit, -1)], 1, 1),
        };
        let sum = self.add::<W>(&Value::Var(complement), &Value::ZERO, c);
        Some(Self::opaque(sum.word, BitValue::Var(bit)))
    }

    /// `(2^W - 1) v`: all ones if the bit `v` is set.
    pub(crate) fn mask_of<const W: u32>(&mut self, v: VarId) -> Value {
        let full = (1u64 << W) - 1;
        let mask = Value::Var(self.linear(&[(v, full as i64)], 0, full));
        if let Some((_, Some(carry))) = self.mask_bit(mask, W) {
            // The carry 1 - v has the place that the mask takes in its chain.
            self.add::<W>(&Value::ZERO, &Value::ZERO, &BitValue::Var(carry));
        }
        mask
    }

    /// `b + (2^W - 1) = (2^W - 1) (1 - b) + 2^W b` of a bit `b`.
    pub(crate) fn less_one<const W: u32>(&mut self, a: Value, b: Value) -> Option<Sum<Self, W>> {
        let full = Value::Public(Public::Known((1 << W) - 1));
        let bit = match (a, b) {
            (Value::Var(bit), ones) | (ones, Value::Var(bit)) if ones == full => bit,
            _ => return None,
        };
        if W == 1 || self.vars[bit as usize].bound > 1 {
            return None;
        }
        let other = self.linear(&[(bit, -1)], 1, 1);
        Some(Self::opaque(self.mask_of::<W>(other), BitValue::Var(bit)))
    }

    /// The bit `b` if `value` is `(2^W - 1) b` or the complement of such a word.
    pub(crate) fn selector(&mut self, value: Value, w: u32) -> Option<VarId> {
        if let Some((bit, _)) = self.mask_bit(value, w) {
            return Some(bit);
        }
        let full = (1i64 << w) - 1;
        let (term, constant) = self.only_term(value)?;
        if (term.1, constant) != (-1, full) {
            return None;
        }
        let (bit, complement) = self.mask_bit(Value::Var(term.0), w)?;
        Some(match complement {
            Some(c) => c,
            None => self.linear(&[(bit, -1)], 1, 1),
        })
    }

    /// The mask of `s op t`: of `s t`, `s + t - s t`, or exactly one of the two, `s + t - 2 s t`.
    fn mask_of_bits(&mut self, op: Logic, s: VarId, t: VarId, full: i64) -> Value {
        let both = self.new_var(Def::Product { a: s, b: t }, 1);
        let bit = match op {
            Logic::And => both,
            Logic::Or => self.linear(&[(s, 1), (t, 1), (both, -1)], 0, 1),
            Logic::Xor => self.linear(&[(s, 1), (t, 1), (both, -2)], 0, 1),
        };
        Value::Var(self.linear(&[(bit, full)], 0, full as u64))
    }

    /// The same of two words below `2^j`, which are words of `j` bits.
    pub(crate) fn masked_narrow(&mut self, op: Logic, a: Value, b: Value, w: u32) -> Option<Value> {
        let most = self.bound(a, w).max(self.bound(b, w));
        let mut narrow = [8, 16].into_iter().filter(|j| *j < w && most >> j == 0);
        narrow.find_map(|j| self.masked(op, a, b, j))
    }

    /// `a op b` where one is a mask of the bit `s`, or both are bits. With the other word `x`
    /// and `m = (2^W - 1) s`: `x & m = s x`, `x | m = x + m - s x`, `x ^ m = x + m - 2 s x`.
    pub(crate) fn masked(&mut self, op: Logic, a: Value, b: Value, w: u32) -> Option<Value> {
        if let (Logic::Or, Some(borrow)) = (op, self.joint_borrow(a, b, w)) {
            return Some(borrow);
        }
        let (selector, mask, x) = match (self.selector(a, w), self.selector(b, w)) {
            (Some(s), _) => (s, a, b),
            (None, Some(s)) => (s, b, a),
            (None, None) if self.bound(a, w) <= 1 && self.bound(b, w) <= 1 => match (a, b) {
                (Value::Var(s), _) => (s, a, b),
                (_, Value::Var(s)) => (s, b, a),
                _ => return None,
            },
            (None, None) => return None,
        };
        let full = (1i64 << w) - 1;
        if let (Some((s, _)), Some((t, _))) = (self.mask_bit(mask, w), self.mask_bit(x, w))
            && s != t
            && op == Logic::Xor
        {
            return Some(self.mask_of_bits(op, s, t, full));
        }
        let both = match (self.mask_bit(x, w), x) {
            (Some((bit, _)), _) if bit == selector => x,
            (Some((bit, _)), _) if op == Logic::Or => {
                return Some(self.mask_of_bits(op, selector, bit, full));
            }
            (Some((bit, _)), _) => self.mask_of_bits(Logic::And, selector, bit, full),
            (None, Value::Var(b)) => match self.absorbed(b, selector) {
                Some(known) => Value::Var(known),
                None => {
                    let bound = self.bound(x, w);
                    let b = self.without_implied(b, selector);
                    Value::Var(self.new_var(Def::Product { a: selector, b }, bound))
                }
            },
            (None, Value::Public(Public::Known(k))) => {
                Value::Var(self.linear(&[(selector, k as i64)], 0, k))
            }
            (None, Value::Public(Public::Pointer { .. } | Public::Negated { .. })) => return None,
        };
        let taken = match op {
            Logic::And => return Some(both),
            Logic::Or => -1,
            Logic::Xor => -2,
        };
        let mut form = (Vec::with_capacity(3), 0);
        Self::collect(&mut form, mask, 1);
        Self::collect(&mut form, x, 1);
        Self::collect(&mut form, both, taken);
        let bound = match self.bound(mask, w).max(self.bound(x, w)) {
            0..=1 => 1,
            _ => full as u64,
        };
        Some(Value::Var(self.linear(&form.0, form.1, bound)))
    }

    /// `2 a + c` of a small signed sum `a`: the carry is its sign.
    pub(crate) fn double_signed(
        &mut self,
        a: Value,
        c: Value,
        w: u32,
    ) -> Option<(Value, BitValue)> {
        let Value::Var(v) = a else {
            return None;
        };
        let Some(Value::Var(sign)) = self.top_bit(v, w) else {
            return None;
        };
        let mut form = (vec![(v, 2), (sign, -(1 << w))], 0);
        Self::collect(&mut form, c, 1);
        let word = self.linear(&form.0, form.1, (1 << w) - 1);
        Some((Value::Var(word), BitValue::Var(sign)))
    }

    /// Shifts that bring out the sign of a small signed sum.
    pub(crate) fn shift_sign<const W: u32>(
        &mut self,
        kind: Shift,
        a: Value,
        count: u32,
    ) -> Option<(Value, BitValue)> {
        let Value::Var(v) = a else {
            return None;
        };
        match kind {
            Shift::Left if count == 1 => self.double_signed(a, Value::ZERO, W),
            Shift::Right if count == W - 1 => Some((self.top_bit(v, W)?, BitValue::Opaque)),
            Shift::ArithmeticRight if count == W - 1 => {
                let word = match self.top_bit(v, W)? {
                    Value::Var(sign) => self.mask_of::<W>(sign),
                    Value::Public(Public::Known(0)) => Value::ZERO,
                    Value::Public(Public::Known(1)) => self.known::<W>(u64::MAX),
                    Value::Public(
                        Public::Known(_) | Public::Pointer { .. } | Public::Negated { .. },
                    ) => return None,
                };
                Some((word, BitValue::Opaque))
            }
            _ => None,
        }
    }

    /// `x` if `bit`, else `y`: for two numbers, and for a word and the next one, which is a sum.
    pub(crate) fn chosen<const W: u32>(
        &mut self,
        bit: &BitValue,
        x: Value,
        y: Value,
    ) -> Option<Value> {
        let BitValue::Var(b) = *bit else {
            return None;
        };
        if let (Value::Public(Public::Known(x)), Value::Public(Public::Known(y))) = (x, y) {
            if (x, y) == (1, 0) {
                return Some(Value::Var(b));
            }
            let step = x as i64 - y as i64;
            return Some(Value::Var(self.linear(&[(b, step)], y as i64, x.max(y))));
        }
        // (y + z mod 2^W) if b, else y: (y + b z) mod 2^W, z being 1, or a carry that left a word so made.
        if let Some((step, over)) = self.stepped::<W>(y, x, b) {
            return self.step::<W>(y, b, step, over);
        }
        let BitValue::Var(not) = self.not(bit) else {
            return None;
        };
        let (step, over) = self.stepped::<W>(x, y, not)?;
        self.step::<W>(x, not, step, over)
    }

    /// `b z` if `next` is `(word + z) mod 2^W`, and the carry that left it.
    fn stepped<const W: u32>(
        &self,
        word: Value,
        next: Value,
        b: VarId,
    ) -> Option<(VarId, Option<VarId>)> {
        let (Value::Var(word), Value::Var(next)) = (word, next) else {
            return None;
        };
        let (terms, constant) = self.sum(next)?;
        let (terms, over) = match terms {
            [terms @ .., (over, factor)] if *factor == -(1 << W) => (terms, Some(*over)),
            terms => (terms, None),
        };
        match (terms, constant) {
            ([(v, 1)], 1) if *v == word => Some((b, over)),
            ([(v, 1), (z, 1)], 0) if *v == word => Some((*self.stepped.get(&(b, *z))?, over)),
            _ => None,
        }
    }

    fn step<const W: u32>(
        &mut self,
        word: Value,
        b: VarId,
        step: VarId,
        over: Option<VarId>,
    ) -> Option<Value> {
        let sum = self.add::<W>(&word, &Value::ZERO, &BitValue::Var(step));
        if let (Some(over), BitValue::Var(carry)) = (over, sum.carry) {
            self.stepped.insert((b, over), carry);
        }
        Some(sum.word)
    }

    /// Any word, of which bit `index` is `bit` and the others are those of `word`: a status register.
    pub(crate) fn pack(&mut self, word: Value, index: u32, bit: BitValue, w: u32) -> Value {
        let (base, mut bits) = match word {
            Value::Var(v) if self.packed.contains_key(&v) => self.packed[&v].clone(),
            _ => (word, Vec::new()),
        };
        bits.retain(|(i, _)| *i != index);
        bits.push((index, bit));
        let packed = self.unknown_word(w);
        if let Value::Var(v) = packed {
            self.packed.insert(v, (base, bits));
        }
        packed
    }

    /// Bit `index` of a word that holds flags.
    pub(crate) fn packed_bit(&self, word: Value, index: u32) -> BitValue {
        let v = match word {
            Value::Var(v) => v,
            Value::Public(Public::Known(k)) => {
                return BitValue::Public(PublicBit::Known(k >> index & 1 == 1));
            }
            Value::Public(_) => return BitValue::Opaque,
        };
        match self.packed.get(&v) {
            Some((base, bits)) => match bits.iter().find(|(i, _)| *i == index) {
                Some((_, bit)) => *bit,
                None => self.packed_bit(*base, index),
            },
            None if index == 0 && self.vars[v as usize].bound <= 1 => BitValue::Var(v),
            None => BitValue::Opaque,
        }
    }
}
