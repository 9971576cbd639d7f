//! Bits of a word, and words that are one thing or another.
//!
//! A word is `sum 2^i d[i]` of its digits: `d[1] ...` are new bits and
//! `d[0] = word - sum 2^i d[i]`, so that whoever adds all digits up gets the word back.
//! Doubling a word moves its digits.
//!
//! With a bit `t`, "`x` if `t`, else `y`" is `y + t x - t y`. A condition holds in one of two
//! worlds: a carry made under `t` and masked by it is `t c`; masked again it stays so
//! (`t t = t`), and where `t = 0` it is 0.

use machine::domain::public::{Public, PublicBit};
use machine::domain::trace::Entry;
use machine::domain::variable::{BitValue, Def, Value, VarId};
use machine::domain::{Domain, Logic};

use crate::algebra::{Algebra, NO};

/// A choice by the bit `t`.
struct Choice {
    t: VarId,
    set: Value,
    clear: Value,
}

impl Algebra {
    pub(crate) fn is_bit(&self, v: VarId) -> bool {
        self.vars[v as usize].bound <= 1
    }

    /// `y` if `x = s y` for a bit `s` that is 1 wherever the bit `t` is, so that `t x = t y`; else `x`.
    pub(crate) fn without_implied(&mut self, x: VarId, t: VarId) -> VarId {
        let Def::Product { a, b } = self.vars[x as usize].def else {
            return x;
        };
        for (s, y) in [(a, b), (b, a)] {
            let follows = match self.follows.get(&(t, s)) {
                Some(known) => known,
                None => self.follows(t, s),
            };
            self.follows.put((t, s), follows);
            if follows {
                return y;
            }
        }
        x
    }

    /// The digits of a word of `w` bits, lowest first.
    fn digits_of(&mut self, v: VarId, w: u32) -> Vec<Value> {
        if let Some(known) = self.digits.get(&v) {
            return known.clone();
        }
        if let Some((bit, _)) = self.mask_bit(Value::Var(v), w) {
            let digits = vec![Value::Var(bit); w as usize];
            self.note_digits(v, &digits);
            return digits;
        }
        let bound = self.vars[v as usize].bound;
        let mut list = vec![Value::Var(v)];
        let mut terms = vec![(v, 1)];
        for i in 1..w {
            list.push(match bound >> i {
                0 => Value::ZERO,
                _ => {
                    let digit = self.new_var(Def::Carry, 1);
                    terms.push((digit, -(1 << i)));
                    Value::Var(digit)
                }
            });
        }
        if bound > 1 {
            let lowest = self.linear(&terms, 0, 1);
            if let Some((digit, _)) = terms.last() {
                self.leaves(lowest, *digit);
            }
            list[0] = Value::Var(lowest);
        }
        self.note_digits(v, &list);
        self.digits.insert(v, list.clone());
        list
    }

    fn note_digits(&self, word: VarId, digits: &[Value]) {
        let digits = digits.to_vec();
        self.note(Entry::Digits { word, digits });
    }

    /// Bit `i` of a word of `w` bits.
    pub(crate) fn digit(&mut self, v: VarId, i: u32, w: u32) -> Value {
        if i + 1 == w
            && !self.digits.contains_key(&v)
            && let Some(top) = self.top_bit(v, w).or_else(|| self.known_top(v, w))
        {
            return top;
        }
        self.digits_of(v, w)[i as usize]
    }

    /// `2 a + c` where the digits of `a` are known, or `a` is an input: the top one leaves.
    pub(crate) fn double_digits(
        &mut self,
        a: Value,
        c: Value,
        w: u32,
    ) -> Option<(Value, BitValue)> {
        let Value::Var(v) = a else {
            return None;
        };
        let is_input = self.vars[v as usize].def == Def::Free && c == Value::ZERO;
        if !self.digits.contains_key(&v) && !is_input {
            return None;
        }
        let mut digits = self.digits_of(v, w);
        let top = digits.pop()?;
        digits.insert(0, c);
        if digits.iter().all(|d| *d == Value::ZERO) {
            return Some((Value::ZERO, Self::as_bit(top)));
        }
        let word = self.doubled(v, c, top, w);
        if let Value::Var(word) = word {
            self.note_digits(word, &digits);
            self.digits.insert(word, digits);
        }
        Some((word, Self::as_bit(top)))
    }

    /// `bit ? x : y` by a variable that is no complement of another.
    fn choice(&mut self, bit: &BitValue, x: Value, y: Value) -> Option<Choice> {
        if *bit == BitValue::Opaque {
            return None;
        }
        let Value::Var(v) = self.concrete_bit(bit) else {
            return None;
        };
        Some(match self.only_term(Value::Var(v)) {
            Some(((t, -1), 1)) if self.is_bit(t) => Choice {
                t,
                set: y,
                clear: x,
            },
            _ => Choice {
                t: v,
                set: x,
                clear: y,
            },
        })
    }

    /// `t value`.
    fn under(&mut self, t: VarId, value: Value) -> Value {
        // "b is 0" times b is 0, "b is not 0" times b is b.
        if let (Some((word, is)), Value::Var(v)) = (self.zero_of_bit.get(&t), value)
            && word == v
        {
            return if is { Value::ZERO } else { value };
        }
        match value {
            Value::Public(Public::Known(1)) => Value::Var(t),
            Value::Public(Public::Known(0))
            | Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => Value::ZERO,
            Value::Public(Public::Known(k)) => Value::Var(self.linear(&[(t, k as i64)], 0, k)),
            Value::Var(v) => match self.absorbed(v, t) {
                Some(known) => Value::Var(known),
                None => {
                    let bound = self.vars[v as usize].bound;
                    Value::Var(self.new_var(Def::Product { a: t, b: v }, bound))
                }
            },
        }
    }

    /// What `value` is where `t = 0`.
    fn unless(&self, t: VarId, value: Value) -> Value {
        match value {
            Value::Var(v) if self.absorbed(v, t) == Some(v) => Value::ZERO,
            other => other,
        }
    }

    /// `clear + t set - t clear`.
    fn combine(&mut self, choice: &Choice, bound: u64) -> Value {
        let Choice { t, set, .. } = *choice;
        let clear = self.unless(t, choice.clear);
        let with = self.under(t, set);
        if clear == Value::ZERO {
            return with;
        }
        let without = self.under(t, clear);
        let mut form = (Vec::with_capacity(3), 0);
        Self::collect(&mut form, clear, 1);
        Self::collect(&mut form, with, 1);
        Self::collect(&mut form, without, -1);
        Value::Var(self.linear(&form.0, form.1, bound))
    }

    /// `t ? (t ? x : _) : (t ? _ : y)` is `t ? x : y`: two instructions under opposite conditions.
    fn resolved(&self, choice: Choice) -> Choice {
        let Choice { t, set, clear } = choice;
        let made = |word: Value| match word {
            Value::Var(v) => self.choices.get(&v).filter(|(by, ..)| *by == t),
            Value::Public(_) => None,
        };
        Choice {
            t,
            set: made(set).map_or(set, |(_, set, _)| *set),
            clear: made(clear).map_or(clear, |(_, _, clear)| *clear),
        }
    }

    /// `bit ? x : y`, words of `w` bits.
    pub(crate) fn choose<const W: u32>(&mut self, bit: &BitValue, x: Value, y: Value) -> Value {
        let is_pointer = |v: Value| {
            matches!(
                v,
                Value::Public(Public::Pointer { .. } | Public::Negated { .. })
            )
        };
        if is_pointer(x) || is_pointer(y) {
            return self.unknown_word(W);
        }
        let Some(choice) = self.choice(bit, x, y) else {
            return self.unknown_word(W);
        };
        let choice = self.resolved(choice);
        if let Some(word) = self.counted::<W>(choice.t, choice.set, choice.clear) {
            return word;
        }
        let bound = self.bound(x, W).max(self.bound(y, W));
        let word = self.combine(&choice, bound);
        let Choice { t, set, clear } = choice;
        if let Value::Var(v) = word {
            self.choices.entry(v).or_insert((t, set, clear));
        }
        self.bounds.choose((t, true), set, clear, word);
        self.bounds.choose((t, false), clear, set, word);
        word
    }

    /// `bit ? x : y`, bits.
    pub(crate) fn choose_bit(&mut self, bit: &BitValue, x: &BitValue, y: &BitValue) -> BitValue {
        let followed =
            |b: &BitValue| matches!(b, BitValue::Var(_) | BitValue::Public(PublicBit::Known(_)));
        match bit {
            BitValue::Public(PublicBit::Known(true)) => return *x,
            BitValue::Public(PublicBit::Known(false)) => return *y,
            _ if x == y && followed(x) => return *x,
            _ if !followed(x) || !followed(y) => return BitValue::Opaque,
            _ => {}
        }
        let (x, y) = (self.concrete_bit(x), self.concrete_bit(y));
        let Some(choice) = self.choice(bit, x, y) else {
            return BitValue::Opaque;
        };
        let chosen = self.combine(&choice, 1);
        let Choice { t, set, clear } = choice;
        // A carry is masked where the other bit is 0 in the other world.
        if self.unless(t, clear) == Value::ZERO {
            self.bounds.guard((t, true), set, chosen);
        }
        if set == Value::ZERO {
            self.bounds.guard((t, false), clear, chosen);
        }
        match chosen {
            Value::ZERO => NO,
            other => Self::as_bit(other),
        }
    }

    /// `a` with bit `index` replaced.
    pub(crate) fn put_bit<const W: u32>(&mut self, a: Value, index: u32, bit: &BitValue) -> Value {
        match (&a, bit) {
            // The sign of a word.
            (Value::Public(Public::Known(0)), BitValue::Top { .. }) if index == 0 => {
                self.concrete_bit(bit)
            }
            // A bit put where there is a 0.
            (Value::Public(Public::Known(k)), BitValue::Var(v)) if k >> index & 1 == 0 => {
                if *k == 0 && index == 0 {
                    return Value::Var(*v);
                }
                let bound = k + (1 << index);
                Value::Var(self.linear(&[(*v, 1 << index)], *k as i64, bound))
            }
            _ => self.pack(a, index, *bit, W),
        }
    }

    /// Is the word 0?
    pub(crate) fn zero_of(&mut self, word: VarId) -> BitValue {
        match self.is_bit(word) {
            // 1 - x of a bit x.
            true => self.not(&BitValue::Var(word)),
            false => BitValue::Zero { word, is: true },
        }
    }

    /// `x op y` on bits.
    pub(crate) fn gate_of(&mut self, op: Logic, x: &BitValue, y: &BitValue) -> BitValue {
        use BitValue::Public as P;
        use PublicBit::Known;
        match (op, x, y) {
            (_, P(Known(x)), P(Known(y))) => {
                let value = op.apply(u64::from(*x), u64::from(*y)) == 1;
                self.flag(value)
            }
            (Logic::And, P(Known(false)), _) | (Logic::And, _, P(Known(false))) => self.flag(false),
            (Logic::Or, P(Known(true)), _) | (Logic::Or, _, P(Known(true))) => self.flag(true),
            (Logic::And, P(Known(true)), other) | (Logic::And, other, P(Known(true))) => *other,
            (Logic::Or | Logic::Xor, P(Known(false)), other)
            | (Logic::Or | Logic::Xor, other, P(Known(false))) => *other,
            (Logic::Xor, P(Known(true)), BitValue::Var(v))
            | (Logic::Xor, BitValue::Var(v), P(Known(true))) => {
                BitValue::Var(match self.only_term(Value::Var(*v)) {
                    // 1 - (1 - x) = x.
                    Some(((x, -1), 1)) => x,
                    _ => self.linear(&[(*v, -1)], 1, 1),
                })
            }
            (Logic::Xor, P(Known(true)), BitValue::Zero { word, is })
            | (Logic::Xor, BitValue::Zero { word, is }, P(Known(true))) => BitValue::Zero {
                word: *word,
                is: !is,
            },
            (Logic::And, BitValue::Var(c), BitValue::Zero { word, is: false })
            | (Logic::And, BitValue::Zero { word, is: false }, BitValue::Var(c)) => {
                self.higher(*c, *word)
            }
            _ => BitValue::Opaque,
        }
    }
}
