//! Operations: is what the finder answered the result of the operation, for all inputs?

use machine::domain::Shift;
use machine::domain::public::{Public, PublicBit};
use machine::domain::trace::Entry;
use machine::domain::variable::{BitValue, Def, Value, VarId};

use crate::checker::form::{Form, World, times};
use crate::checker::refused::Check;
use crate::checker::state::Checker;

const WRONG: &str = "the word is not the result of its operation";
const WRONG_BIT: &str = "the bit is not the result of its operation";

/// `2^w - 1`.
pub(super) fn full(w: u32) -> i128 {
    (1 << w) - 1
}

impl Checker<'_> {
    pub(super) fn operation(&mut self, entry: &Entry) -> Check {
        match entry {
            Entry::Step(step) => self.step(step),
            Entry::Unknown { v, w } => self.name(*v, (0, full(*w))),
            Entry::UnknownBit { v } => self.name(*v, (0, 1)),
            Entry::Halved { v, w, b, h } => self.halved(*v, *w, [*b, *h]),
            Entry::Sum {
                up,
                w,
                a,
                b,
                c,
                word,
                carry,
            } => self.sum_of_words(*up, *w, [*a, *b, *c], *word, *carry),
            Entry::Product { w, a, b, lo, hi } => self.multiplied(*w, *a, *b, *lo, *hi),
            Entry::Cut {
                x,
                w,
                k,
                lo,
                hi,
                by,
            } => self.cut_apart(*x, *w, *k, *lo, *hi, by),
            Entry::Digits { word, digits } => self.digits_are(*word, digits),
            Entry::Slice { x, w, from, v, out } => match self.part(*x, *w, *from, *v)? == *out {
                true => Ok(()),
                false => Err(WRONG),
            },
            Entry::Join { pieces, w, out } => self.joined(pieces, *w, *out),
            Entry::Shift {
                kind,
                w,
                x,
                count,
                out,
                bit,
            } => self.shifted(*kind, *w, *x, *count, *out, *bit),
            Entry::Turn {
                w,
                x,
                top,
                out,
                bit,
            } => self.turned(*x, *top, w - 1, *out, *bit),
            Entry::Logic { op, w, a, b, out } => self.logic(*op, *w, [*a, *b], *out),
            Entry::Gate { op, x, y, out } => self.gate(*op, *x, *y, *out),
            Entry::Select { bit, w, x, y, out } => self.selected(*bit, *w, [*x, *y], *out),
            Entry::SelectBit { bit, x, y, out } => self.selected_bit(*bit, [*x, *y], *out),
            Entry::Zero { word, is, bit } => {
                self.range(*word)?;
                self.name(*bit, (0, 1))?;
                self.zeros.insert((*word, *is), *bit);
                self.zero_bits.insert(*bit, (*word, *is));
                Ok(())
            }
            Entry::IsZero { x, out } => self.is_zero_word(*x, *out),
            Entry::WithBit { x, index, bit, out } => self.with_bit(*x, *index, *bit, *out),
            Entry::Bit { x, w, index, out } => self.is_bit_of(*x, *w, *index, *out),
            Entry::Extend {
                x,
                from,
                signed,
                out,
                ..
            } => {
                let is_same = !signed || self.range_of(*x)?.1 >> (from - 1) == 0;
                if is_same && x == out {
                    Ok(())
                } else {
                    Err(WRONG)
                }
            }
            Entry::Named { bit, name } => {
                let (bit, name) = (self.bit_form(*bit)?, self.bit_form(*name)?);
                let rest = self.plus(bit, &name, -1)?;
                self.vanishes(rest, None, &World::new())
            }
            Entry::LowBits { v, count, bits } => {
                self.low_bits.insert(*v, (*count, *bits));
                Ok(())
            }
        }
    }

    /// `v = b + 2 h` for a bit `b` and a word `h` of a bit less.
    fn halved(&mut self, v: VarId, w: u32, [b, h]: [VarId; 2]) -> Check {
        self.name(b, (0, 1))?;
        self.name(h, (0, full(w - 1)))?;
        let is = self.sum(v) == Some((&[(b, 1), (h, 2)][..], 0));
        self.range(v)?;
        let cut = (Some(Value::Var(b)), Value::Var(h));
        self.cuts.insert((v, 1), cut);
        if is { Ok(()) } else { Err(WRONG) }
    }

    /// `a + b + c`, or `a - b - c` where it does not go `up`.
    fn sum_of_words(
        &mut self,
        up: bool,
        w: u32,
        [a, b, c]: [Value; 3],
        word: Value,
        carry: BitValue,
    ) -> Check {
        let sign = if up { 1 } else { -1 };
        let sum = Form::of(a)?.with(b, sign)?.with(c, sign)?;
        if up && a == b && self.doubled(a, c, w, word, carry)? {
            return Ok(());
        }
        let difference = (!up).then(|| sum.clone());
        self.summed(sum, sign, w, word, carry)?;
        if let (Some(difference), Value::Var(d), Ok(borrow)) =
            (difference, word, self.bit_form(carry))
        {
            // a - b - c + 2^w borrow - word
            self.difference = self.plus(difference, &borrow, 1 << w)?.with(word, -1)?;
            self.differences.insert(d, self.difference.clone());
        }
        // What leaves when a word is doubled is its top bit.
        if let (true, true, Value::Var(x), BitValue::Var(top)) = (up, a == b, a, carry)
            && self.lies(&Form::of(c)?, (0, 1)).is_ok()
        {
            if let (Value::ZERO, Value::Var(word)) = (c, word) {
                // An even number.
                self.narrow(word, (0, full(w) - 1))?;
            }
            let cut = (None, Value::Var(top));
            self.cuts.entry((x, w - 1)).or_insert(cut);
            self.floors.entry(top).or_insert((x, w - 1));
        }
        Ok(())
    }

    /// A word of pieces, each with its shift.
    fn joined(&mut self, pieces: &[(Value, u32)], w: u32, out: Value) -> Check {
        let mut sum = Form::default();
        for (piece, shift) in pieces {
            sum.add_value(*piece, 1 << shift)?;
        }
        self.lies(&sum, (0, full(w)))?;
        self.is_exactly(out, sum)
    }

    /// A word shifted to the right by one, with a new top bit of that place; the bit that leaves.
    fn turned(&mut self, x: Value, top: Value, place: u32, out: Value, bit: BitValue) -> Check {
        let (low, half) = self.cut(x, 1)?;
        let low = low.ok_or(WRONG)?;
        let word = Form::of(half)?.with(top, 1 << place)?;
        self.is_exactly(out, word)?;
        self.is_same_bit(bit, low)
    }

    /// 1 if the word is 0.
    fn is_zero_word(&mut self, x: Value, out: BitValue) -> Check {
        match (x, out) {
            (_, BitValue::Opaque) => Ok(()),
            (Value::Var(x), BitValue::Zero { word, is: true }) if x == word => Ok(()),
            (x, out) => {
                // 1 - x of a bit x.
                let bit = self.bit_form(out)?;
                self.lies(&Form::of(x)?, (0, 1))?;
                let rest = self.sum_of(&bit, 1)?.with(x, 1)?.with(Value::ONE, -1)?;
                self.vanishes(rest, None, &World::new())
            }
        }
    }

    /// A word with one bit of it replaced.
    fn with_bit(&mut self, x: Value, index: u32, bit: BitValue, out: Value) -> Check {
        match out {
            // A word of flags is only asked for its bits.
            Value::Var(v) if self.is_new(v) => {
                self.name(v, (0, full(32)))?;
                self.packed.insert(v, (x, index, bit));
                Ok(())
            }
            Value::Public(_) | Value::Var(_) => {
                let old = self.bit_at(x, index)?;
                let (old, new) = (self.bit_form(old)?, self.bit_form(bit)?);
                let mut sum = Form::of(x)?;
                for (form, sign) in [(old, -1), (new, 1)] {
                    sum = self.plus(sum, &form, sign << index)?;
                }
                self.is_exactly(out, sum)
            }
        }
    }

    /// A bit of a word of `w` bits.
    fn is_bit_of(&mut self, x: Value, w: u32, index: u32, out: BitValue) -> Check {
        match (x, out) {
            (_, BitValue::Opaque) => Ok(()),
            (Value::Var(v), BitValue::Top { word, w: top })
                if v == word && w == top && index + 1 == w =>
            {
                Ok(())
            }
            (x, out) => match self.bit_at(x, index)? == out {
                true => Ok(()),
                false => Err(WRONG_BIT),
            },
        }
    }

    /// `word + 2^w carry = 2 x + c`, if the carry is the top bit of `x`.
    fn doubled(&mut self, x: Value, c: Value, w: u32, word: Value, carry: BitValue) -> Check<bool> {
        if !self.is_doubled(x, c, w, carry)? {
            return Ok(false);
        }
        self.range_of(word)?;
        let sum = Form::default().with(x, 2)?.with(c, 1)?;
        let rest = self.plus(sum, &self.known_bit(carry)?, -(1 << w))?;
        self.vanishes(rest.with(word, -1)?, None, &World::new())?;
        if let Value::Var(v) = word {
            self.narrow(v, (0, full(w)))?;
        }
        Ok(true)
    }

    /// Is the carry of `2 x + c` the top bit of `x`? Then `2 x + c - 2^w top` is twice the other bits and `c`.
    fn is_doubled(&mut self, x: Value, c: Value, w: u32, carry: BitValue) -> Check<bool> {
        let (least, most) = self.range_of(c)?;
        let bit = least >= 0 && most <= 1;
        let Ok((_, top)) = self.cut(x, w - 1) else {
            return Ok(false);
        };
        let is_top = match (carry, top) {
            (BitValue::Var(v), top) => top == Value::Var(v),
            (BitValue::Public(PublicBit::Known(b)), Value::Public(Public::Known(k))) => {
                u64::from(b) == k
            }
            (BitValue::Public(_) | BitValue::Top { .. } | BitValue::Zero { .. }, _)
            | (BitValue::Opaque, _) => false,
        };
        Ok(bit && is_top)
    }

    /// A bit that is a number or a variable.
    fn known_bit(&self, bit: BitValue) -> Check<Form> {
        match bit {
            BitValue::Public(PublicBit::Known(b)) => Ok(Form::number(b.into())),
            BitValue::Var(v) => Form::of(Value::Var(v)),
            BitValue::Public(_)
            | BitValue::Top { .. }
            | BitValue::Zero { .. }
            | BitValue::Opaque => Err("a bit is not followed"),
        }
    }

    fn sum_of(&self, form: &Form, by: i128) -> Check<Form> {
        self.plus(Form::default(), form, by)
    }

    /// `sum + by * form`.
    pub(super) fn plus(&self, mut sum: Form, form: &Form, by: i128) -> Check<Form> {
        sum.add_number(times(form.constant, by)?)?;
        for (v, factor) in &form.terms {
            sum.add(*v, times(*factor, by)?)?;
        }
        Ok(sum)
    }

    /// `out` is this sum: by its definition, or as it is unknown so far.
    fn is_exactly(&mut self, out: Value, sum: Form) -> Check {
        let range = self.naive(&sum)?;
        self.range_of(out)?;
        self.vanishes(sum.with(out, -1)?, None, &World::new())?;
        match out {
            Value::Var(v) => self.narrow(v, range),
            Value::Public(_) => Ok(()),
        }
    }

    /// The bit `bit` is `value`, or it is not followed.
    fn is_same_bit(&self, bit: BitValue, value: Value) -> Check {
        let same = match (bit, value) {
            (BitValue::Opaque, _) => true,
            (BitValue::Var(v), value) => Value::Var(v) == value,
            (BitValue::Public(PublicBit::Known(b)), Value::Public(Public::Known(k))) => {
                u64::from(b) == k
            }
            (BitValue::Public(_) | BitValue::Top { .. } | BitValue::Zero { .. }, _) => false,
        };
        if same { Ok(()) } else { Err(WRONG_BIT) }
    }

    /// `word + sign 2^w carry = sum`.
    fn summed(&mut self, sum: Form, sign: i128, w: u32, word: Value, carry: BitValue) -> Check {
        let range = self.naive(&sum)?;
        match (word, carry) {
            // A quotient and a remainder that have no names yet.
            (Value::Var(v), BitValue::Var(k)) if self.is_new(k) && self.def(k)? == Def::Carry => {
                if self.known(v).is_some() || self.sum(v).is_none() {
                    return Err("a new carry left a word that was there before");
                }
                let rest = sum.with(Value::Var(k), -sign << w)?;
                let (least, most) = (range.0 >> w, range.1 >> w);
                let quotient = if sign > 0 {
                    (least, most)
                } else {
                    (-most, -least)
                };
                self.name(k, quotient)?;
                self.left.insert(k, v);
                self.range(v)?;
                self.vanishes(rest.with(word, -1)?, None, &World::new())?;
                self.narrow(v, (0, full(w)))?;
                if range.0 >= 0 && sign > 0 {
                    self.narrow(v, (0, range.1))?;
                }
                Ok(())
            }
            // Nothing is said of it.
            (Value::Var(v), BitValue::Opaque) if self.is_new(v) => self.name(v, (0, full(w))),
            (word, carry) => {
                let known = match carry {
                    BitValue::Opaque => None,
                    BitValue::Public(_)
                    | BitValue::Var(_)
                    | BitValue::Top { .. }
                    | BitValue::Zero { .. } => Some(self.bit_form(carry)?),
                };
                self.range_of(word)?;
                let modulus = known.is_none().then_some(w);
                let rest = match &known {
                    Some(form) => self.plus(sum, form, -sign << w)?,
                    None => sum,
                };
                self.vanishes(rest.with(word, -1)?, modulus, &World::new())?;
                self.lies(&Form::of(word)?, (0, full(w)))?;
                match word {
                    Value::Var(v) => self.narrow(v, (0, full(w))),
                    Value::Public(_) => Ok(()),
                }
            }
        }
    }

    fn multiplied(&mut self, w: u32, a: Value, b: Value, lo: Value, hi: Value) -> Check {
        let ((0.., x), (0.., y)) = (self.range_of(a)?, self.range_of(b)?) else {
            return Err("a factor may be below 0");
        };
        let most = times(x, y)?;
        if let Value::Var(v) = lo
            && let Def::Low {
                a: x,
                b: y,
                hi: high,
                w: width,
            } = self.def(v)?
            && width == w
            && ((a, b) == (x, y) || (a, b) == (y, x))
        {
            if self.known(v).is_none() {
                self.name(high, (0, most >> w))?;
                self.ranges[v as usize] = Some((0, most.min(full(w))));
            }
            let zero = hi == Value::ZERO && most >> w == 0;
            return if zero || hi == Value::Var(high) {
                Ok(())
            } else {
                Err(WRONG)
            };
        }
        // A product with a number.
        let (number, other) = match (a, b) {
            (Value::Public(Public::Known(k)), other) | (other, Value::Public(Public::Known(k))) => {
                (i128::from(k), other)
            }
            (Value::Var(_) | Value::Public(_), Value::Var(_) | Value::Public(_)) => {
                return Err(WRONG);
            }
        };
        let product = Form::default().with(other, number)?;
        self.lies(&Form::of(lo)?, (0, full(w)))?;
        let rest = product.with(lo, -1)?.with(hi, -(1 << w))?;
        self.vanishes(rest, None, &World::new())
    }

    /// The parts of a word that goes right, of which the lower leaves: `bit` is the last of it, if that is followed.
    fn cut_off(&mut self, x: Value, count: u32, bit: BitValue) -> Check<(Option<Value>, Value)> {
        let (low, high) = self.cut(x, count)?;
        match (count, bit) {
            (_, BitValue::Opaque) => {}
            (1, bit) => self.is_same_bit(bit, low.ok_or(WRONG_BIT)?)?,
            _ => return Err(WRONG_BIT),
        }
        Ok((low, high))
    }

    fn shifted(
        &mut self,
        kind: Shift,
        w: u32,
        x: Value,
        count: u32,
        out: Value,
        bit: BitValue,
    ) -> Check {
        if let Value::Var(v) = out
            && self.is_new(v)
            && bit == BitValue::Opaque
        {
            return self.name(v, (0, full(w)));
        }
        match kind {
            // 2^count x, less a multiple of 2^w.
            Shift::Left => {
                let sum = Form::default().with(x, 1 << count)?;
                match count {
                    1 if self.doubled(x, Value::ZERO, w, out, bit)? => Ok(()),
                    1 => self.summed(sum, 1, w, out, bit),
                    _ => {
                        // Which bit left last is not followed.
                        if bit != BitValue::Opaque {
                            return Err(WRONG_BIT);
                        }
                        self.summed(sum, 1, w, out, BitValue::Opaque)
                    }
                }
            }
            Shift::Right | Shift::RotateRight => {
                let (low, high) = self.cut_off(x, count, bit)?;
                let mut word = Form::of(high)?;
                if kind == Shift::RotateRight {
                    word = word.with(low.ok_or(WRONG)?, 1 << (w - count))?;
                }
                self.is_exactly(out, word)
            }
            Shift::ArithmeticRight => {
                let top = self.cut(x, w - 1)?.1;
                let (_, high) = self.cut_off(x, count, bit)?;
                let word = Form::of(high)?.with(top, (1 << w) - (1 << (w - count)))?;
                self.is_exactly(out, word)?;
                match out {
                    Value::Var(v) => self.narrow(v, (0, full(w))),
                    Value::Public(_) => Ok(()),
                }
            }
        }
    }

    /// A bit as a number or a variable.
    pub(super) fn bit_form(&mut self, bit: BitValue) -> Check<Form> {
        match bit {
            BitValue::Public(PublicBit::Known(b)) => Ok(Form::number(b.into())),
            BitValue::Var(v) => {
                self.range(v)?;
                Form::of(Value::Var(v))
            }
            BitValue::Top { word, w } => Form::of(self.cut(Value::Var(word), w - 1)?.1),
            BitValue::Zero { word, is } => match self.zeros.get(&(word, is)) {
                Some(v) => Form::of(Value::Var(*v)),
                None => Err("a bit has no name"),
            },
            BitValue::Public(PublicBit::Step { .. } | PublicBit::Below { .. })
            | BitValue::Opaque => Err("a bit is not followed"),
        }
    }

    /// Bit `index` of a word.
    fn bit_at(&mut self, x: Value, index: u32) -> Check<BitValue> {
        let v = match x {
            Value::Public(Public::Known(k)) => {
                return Ok(BitValue::Public(PublicBit::Known(k >> index & 1 == 1)));
            }
            Value::Public(_) => return Err("an address has no bits"),
            Value::Var(v) => v,
        };
        if let Some((base, at, bit)) = self.packed.get(&v).copied() {
            return match at == index {
                true => Ok(bit),
                false => self.bit_at(base, index),
            };
        }
        let range = self.range(v)?;
        let value = match self.digits.get(&v) {
            _ if range.0 >= 0 && range.1 >> index == 0 => Value::ZERO,
            _ if index == 0 && range.0 >= 0 && range.1 <= 1 => x,
            Some(digits) => *digits.get(index as usize).ok_or(WRONG_BIT)?,
            None => self.part(x, index + 1, index, 1)?,
        };
        Ok(match value {
            Value::Var(v) => BitValue::Var(v),
            Value::Public(Public::Known(k)) => BitValue::Public(PublicBit::Known(k == 1)),
            Value::Public(_) => return Err(WRONG_BIT),
        })
    }
}
