//! A run whose words are variables, as a machine sees it.
//!
//! What is public (numbers, pointers, the low bits of places) is worked out here and in [`crate::domain::public`] and
//! [`crate::domain::placed`]; everything else is asked of somebody who [`Answers`]. This file is trusted to ask for what the
//! machine does; what is answered, the checker decides about.

#![deny(clippy::wildcard_enum_match_arm)]

use crate::domain::answers::Answers;
use crate::domain::asked::{operand, operand_bit, operands};
use crate::domain::concrete::{Bits, Concrete};
use crate::domain::place::Address;
use crate::domain::public::{Public, PublicBit};
use crate::domain::variable::{BitValue, Value};
use crate::domain::word::{Domain, Logic, Shift, Signs, Sum};
use crate::domain::{Abstract, cells, joined, low_bits, public};
use crate::fault::{Fault, Source};

/// A word that a bitwise operation leaves as it is, as MOVE on a machine that has none.
fn moved(op: Logic, a: Value, b: Value, w: u32) -> Option<Value> {
    let ones = Value::Public(Public::Known((1 << w) - 1));
    match op {
        Logic::And | Logic::Or if a == b => Some(a),
        Logic::And if a == ones => Some(b),
        Logic::And if b == ones => Some(a),
        Logic::Or | Logic::Xor if a == Value::ZERO => Some(b),
        Logic::Or | Logic::Xor if b == Value::ZERO => Some(a),
        Logic::And | Logic::Or | Logic::Xor => None,
    }
}

fn added<A: Answers, const W: u32>(
    d: &mut A,
    up: bool,
    a: &Value,
    b: &Value,
    c: &BitValue,
) -> Sum<A, W> {
    if let Some(sum) = low_bits::folded::<A, W>(d, up, a, b, c) {
        return sum;
    }
    if let Some(word) = low_bits::sum::<A, W>(d, up, *a, *b, c) {
        return opaque(word, BitValue::Opaque);
    }
    let (a, b) = operands(d, *a, *b, W);
    let c = operand_bit(d, *c);
    let (word, carry) = d.summed::<W>(up, a, b, c);
    let mut sum = opaque(word, carry);
    let no = BitValue::Public(PublicBit::Known(false));
    if (up, b, c) == (false, Value::ZERO, no) {
        // a - 0 - 0 borrows nowhere.
        (sum.half, sum.overflow) = (no, no);
    }
    sum
}

fn opaque<A: Answers, const W: u32>(word: Value, carry: BitValue) -> Sum<A, W> {
    Sum {
        word,
        carry,
        half: BitValue::Opaque,
        overflow: BitValue::Opaque,
    }
}

/// `x op k` of a bit that is known, where that is `x` or known as well.
fn gated_with(op: Logic, x: BitValue, k: bool) -> Option<BitValue> {
    let known = |k| BitValue::Public(PublicBit::Known(k));
    match (op, k, x) {
        (_, k, BitValue::Public(PublicBit::Known(x))) => {
            Some(known(op.apply(u64::from(x), u64::from(k)) == 1))
        }
        (Logic::And, false, _) => Some(known(false)),
        (Logic::Or, true, _) => Some(known(true)),
        (Logic::And, true, x) | (Logic::Or | Logic::Xor, false, x) => Some(x),
        (Logic::Xor, true, _) => None,
    }
}

/// The product of signed words, from `x - 2^W s` for a word `x` with the sign `s`:
/// `x y - 2^W s y`, and `2^(2 W)` where both are negative, which leaves at the top.
fn signed_product<A: Answers, const W: u32>(
    d: &mut A,
    a: Value,
    b: Value,
    signs: Signs,
) -> (Value, Value) {
    let (lo, mut hi) = d.mul::<W>(&a, &b, Signs::Unsigned);
    let signed: &[(Value, Value)] = match signs {
        Signs::Unsigned => &[],
        Signs::SignedUnsigned => &[(a, b)],
        Signs::Signed => &[(a, b), (b, a)],
    };
    for (x, y) in signed {
        let (sign, borrow) = (Domain::bit::<W>(d, x, W - 1), d.flag(false));
        let correction = d.select::<W>(&sign, y, &Value::ZERO);
        hi = d.sub::<W>(&hi, &correction, &borrow).word;
    }
    (lo, hi)
}

/// A piece of a word in memory.
pub fn piece<A: Answers>(d: &mut A, word: Value, w: u32, from: u32, len: u32) -> Value {
    if let Value::Public(Public::Known(k)) = word {
        return Value::Public(Public::Known(k >> from & ((1 << len) - 1)));
    }
    let x = operand(d, word, w);
    d.part(x, w, from, len)
}

/// The word of several pieces in memory.
pub fn whole<A: Answers>(d: &mut A, pieces: &[(Value, u32)]) -> Value {
    let (mut list, mut w) = (Vec::new(), 0);
    for (piece, width) in pieces {
        list.push((operand(d, *piece, *width), w));
        w += width;
    }
    d.joined(list, w)
}

impl<A: Answers> Domain for A {
    type Word<const W: u32> = Value;
    type Bit = BitValue;

    fn known<const W: u32>(&mut self, value: u64) -> Value {
        Value::Public(Public::Known(value & ((1 << W) - 1)))
    }

    fn flag(&mut self, value: bool) -> BitValue {
        BitValue::Public(PublicBit::Known(value))
    }

    fn add<const W: u32>(&mut self, a: &Value, b: &Value, c: &BitValue) -> Sum<Self, W> {
        added(self, true, a, b, c)
    }

    fn sub<const W: u32>(&mut self, a: &Value, b: &Value, c: &BitValue) -> Sum<Self, W> {
        added(self, false, a, b, c)
    }

    fn mul<const W: u32>(&mut self, a: &Value, b: &Value, signs: Signs) -> (Value, Value) {
        if let (Value::Public(a), Value::Public(b)) = (a, b)
            && let Some((lo, hi)) = public::mul::<W>(*a, *b, signs)
        {
            return (Value::Public(lo), Value::Public(hi));
        }
        let (a, b) = operands(self, *a, *b, W);
        if signs != Signs::Unsigned {
            return signed_product::<A, W>(self, a, b, signs);
        }
        self.product::<W>(a, b)
    }

    fn logic<const W: u32>(&mut self, op: Logic, a: &Value, b: &Value) -> Value {
        if let (Value::Public(x), Value::Public(y)) = (a, b)
            && let Some(word) = public::logic(op, *x, *y)
        {
            return Value::Public(word);
        }
        if let Some(word) = moved(op, *a, *b, W) {
            return word;
        }
        if let Some(bits) = low_bits::masked(self, op, *a, *b) {
            return Value::Public(Public::Known(bits));
        }
        let (a, b) = operands(self, *a, *b, W);
        self.bitwise::<W>(op, a, b)
    }

    fn shift_right<const W: u32>(&mut self, a: &Value, top: &BitValue) -> (Value, BitValue) {
        if let (Value::Public(Public::Known(a)), BitValue::Public(PublicBit::Known(t))) = (a, top) {
            let word = self.known::<W>(a >> 1 | u64::from(*t) << (W - 1));
            return (word, self.flag(a & 1 == 1));
        }
        let (x, top) = (operand(self, *a, W), operand_bit(self, *top));
        self.turned::<W>(x, top)
    }

    fn shift<const W: u32>(&mut self, kind: Shift, a: &Value, count: u32) -> (Value, BitValue) {
        if let Value::Public(Public::Known(k)) = a {
            let (word, out) = kind.apply(*k, count, W);
            return (self.known::<W>(word), self.flag(out));
        }
        if let Some(low) = low_bits::low_bits(self, *a).and_then(|low| low.shifted(kind, count)) {
            return (low_bits::word(self, low, W), BitValue::Opaque);
        }
        let x = operand(self, *a, W);
        self.shifted::<W>(kind, x, count)
    }

    fn select<const W: u32>(&mut self, bit: &BitValue, x: &Value, y: &Value) -> Value {
        match bit {
            BitValue::Public(PublicBit::Known(true)) => return *x,
            BitValue::Public(PublicBit::Known(false)) => return *y,
            _ if x == y => return *x,
            BitValue::Var(_) | BitValue::Top { .. } | BitValue::Zero { .. } => {}
            BitValue::Public(PublicBit::Step { .. } | PublicBit::Below { .. })
            | BitValue::Opaque => {}
        }
        let (x, y) = operands(self, *x, *y, W);
        self.selected::<W>(*bit, x, y)
    }

    fn select_bit(&mut self, bit: &BitValue, x: &BitValue, y: &BitValue) -> BitValue {
        match bit {
            BitValue::Public(PublicBit::Known(true)) => *x,
            BitValue::Public(PublicBit::Known(false)) => *y,
            BitValue::Public(_)
            | BitValue::Var(_)
            | BitValue::Top { .. }
            | BitValue::Zero { .. }
            | BitValue::Opaque => self.selected_bit(*bit, *x, *y),
        }
    }

    fn slice<const W: u32, const V: u32>(&mut self, a: &Value, from: u32) -> Value {
        match a {
            whole if V == W => *whole,
            Value::Public(Public::Known(k)) => self.known::<V>(k >> from),
            Value::Public(_) | Value::Var(_) => piece(self, *a, W, from, V),
        }
    }

    fn extend<const V: u32, const W: u32>(&mut self, a: &Value, signed: bool) -> Value {
        match a {
            whole if V == W => *whole,
            Value::Public(Public::Known(k)) => {
                let word = Concrete::new(0).extend::<V, W>(&Bits(*k), signed);
                self.known::<W>(word.0)
            }
            Value::Var(x) => self.extended(*x, V, W, signed),
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => {
                Value::Var(self.any_word(W))
            }
        }
    }

    fn value<const W: u32>(&self, word: &Value) -> Option<u64> {
        match word {
            Value::Public(Public::Known(k)) => Some(*k),
            Value::Public(_) | Value::Var(_) => None,
        }
    }

    fn origin<const W: u32>(&self, word: &Value) -> Source {
        match word {
            Value::Var(v) => self.run().name(*v).unwrap_or("a computed value").into(),
            Value::Public(_) => "a public value".into(),
        }
    }

    fn is_zero<const W: u32>(&mut self, a: &Value) -> BitValue {
        match a {
            Value::Public(Public::Known(k)) => self.flag(*k == 0),
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => BitValue::Opaque,
            Value::Var(v) => self.zero(*v),
        }
    }

    fn bit<const W: u32>(&mut self, a: &Value, index: u32) -> BitValue {
        match a {
            Value::Public(Public::Known(k)) => self.flag(k >> index & 1 == 1),
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => BitValue::Opaque,
            Value::Var(v) => self.bit_of::<W>(*v, index),
        }
    }

    fn with_bit<const W: u32>(&mut self, a: &Value, index: u32, bit: &BitValue) -> Value {
        if let (Value::Public(Public::Known(k)), BitValue::Public(PublicBit::Known(b))) = (a, bit) {
            return self.known::<W>(k & !(1 << index) | u64::from(*b) << index);
        }
        let x = operand(self, *a, W);
        self.put::<W>(x, index, *bit)
    }

    fn gate(&mut self, op: Logic, x: &BitValue, y: &BitValue) -> BitValue {
        let public = match (*x, *y) {
            (x, BitValue::Public(PublicBit::Known(k)))
            | (BitValue::Public(PublicBit::Known(k)), x) => gated_with(op, x, k),
            // What is made of a bit that is not followed is not followed.
            (BitValue::Opaque, _) | (_, BitValue::Opaque) => Some(BitValue::Opaque),
            (BitValue::Public(_) | BitValue::Var(_), _)
            | (BitValue::Top { .. } | BitValue::Zero { .. }, _) => None,
        };
        public.unwrap_or_else(|| self.gated(op, *x, *y))
    }

    fn decide(&mut self, bit: &BitValue) -> Result<bool, Fault> {
        match bit {
            BitValue::Public(PublicBit::Known(b)) => Ok(*b),
            BitValue::Public(_)
            | BitValue::Var(_)
            | BitValue::Top { .. }
            | BitValue::Zero { .. }
            | BitValue::Opaque => Err(Fault::SecretBranch("the operands or their places".into())),
        }
    }

    fn branch(&mut self, bit: &BitValue) -> Result<bool, Fault> {
        self.decide(bit)
            .or_else(|fault| joined::go_on(self, bit, fault))
    }

    fn undecided(&mut self) -> Option<BitValue> {
        self.run_mut().ways.undecided.take()
    }

    fn force(&mut self, outcome: bool) {
        self.run_mut().ways.forced = Some(outcome);
    }

    fn keep(&mut self) -> usize {
        joined::keep(self)
    }

    fn resume(&mut self, kept: usize) {
        joined::resume(self, kept);
    }

    fn join(&mut self, bit: &BitValue, clear: usize) {
        joined::join(self, bit, clear);
    }

    fn forget(&mut self, kept: usize) {
        self.run_mut().ways.kept.truncate(kept);
    }

    fn number<const W: u32>(&mut self, word: &Value) -> Result<u64, Fault> {
        match word {
            Value::Public(Public::Known(k)) => Ok(*k),
            Value::Public(_) | Value::Var(_) => {
                Err(Fault::SecretAddress("the operands or their places".into()))
            }
        }
    }

    fn address<const W: u32>(&mut self, parts: &[&Value], offset: i64) -> Result<Address, Fault> {
        let mut known = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Value::Public(p) => known.push(*p),
                Value::Var(v) => {
                    let what = self
                        .run()
                        .name(*v)
                        .unwrap_or("a computed value")
                        .to_string();
                    return Err(Fault::SecretAddress(what.as_str().into()));
                }
            }
        }
        public::address::<W>(&known, offset)
    }

    fn above_multiple(&self, at: Address, bytes: i64) -> Result<i64, Fault> {
        self.run().memory.above_multiple(at, bytes)
    }

    fn load<const W: u32>(&mut self, at: Address) -> Result<Value, Fault> {
        if let Some(public) = self.run().memory.constant(at, W)? {
            return Ok(Value::Public(public));
        }
        match cells::load(self, at, W)? {
            Some(value) => Ok(value),
            None => {
                let name = format!("{} before it is written", self.run().memory.place(at));
                let value = self.unknown::<W>(name);
                self.run_mut().memory.set(at, W, value);
                Ok(value)
            }
        }
    }

    fn store<const W: u32>(&mut self, at: Address, word: &Value) -> Result<(), Fault> {
        cells::store(self, at, W, *word)
    }

    fn full(&self) -> Option<usize> {
        self.is_full()
    }

    fn at(&mut self, pc: usize) {
        self.run_mut().pc = pc as u32;
    }

    fn after<const W: u32>(&mut self, pc: usize, register: impl Fn(u8) -> Value) {
        self.ran::<W>(pc, register);
    }
}
