//! The algebra domain as a machine sees it: each operation is answered by the finder, and written down.
//!
//! This file is trusted to write down what it was asked and what it answered ([`super::trace`]); what is public (numbers,
//! pointers, the low bits of places) is worked out here and in [`super::public`] and [`super::placed`], everything else
//! is the finder's, which nobody needs to believe.

#![deny(clippy::wildcard_enum_match_arm)]

use super::algebra::{Algebra, Def, MOST_WORDS};
use super::concrete::{Bits, Concrete};
use super::identity::Open;
use super::public::{self, Public, PublicBit};
use super::trace::Entry;
use super::variable::{BitValue, Value};
use super::{Abstract, Address, Domain, Logic, Shift, Signs, Sum, cells};
use crate::checker::{Checker, Goal, Refused};
use crate::fault::{Fault, Source};

impl Algebra {
    /// Writes an entry down.
    pub(super) fn note(&self, entry: Entry) {
        self.log.borrow_mut().push((self.pc, entry));
    }

    /// What was written down so far.
    #[doc(hidden)]
    pub fn written(&self) -> Vec<Entry> {
        let log = self.log.borrow();
        log.iter().map(|(_, entry)| entry.clone()).collect()
    }

    /// Does the checker accept what was written down, and that the goal is reached?
    ///
    /// # Errors
    /// What it does not accept, and the instruction.
    pub fn accepted(&self, goal: &Goal<'_>) -> Result<(), Open> {
        let log = self.log.borrow();
        let refused = |why: Refused, pc: Option<u32>| Open {
            text: format!("the checker does not accept it: {why}"),
            pc: pc.map(|pc| pc as usize),
        };
        let mut checker = Checker::new(&self.vars, &self.terms);
        checker
            .run(log.iter().map(|(_, entry)| entry))
            .map_err(|(i, why)| refused(why, log.get(i).map(|(pc, _)| *pc)))?;
        let reason = self.reason.borrow();
        let reason = reason.as_ref();
        let reason = reason.ok_or_else(|| refused("no reason is given for the goal", None))?;
        checker
            .reached(goal, reason)
            .map_err(|why| refused(why, None))
    }

    /// A word in arithmetic: a number, a variable, or an unknown word for an address.
    fn operand(&mut self, value: Value, w: u32) -> Value {
        match value {
            Value::Var(_) | Value::Public(Public::Known(_)) => value,
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => {
                let v = self.new_var(Def::Free, (1 << w) - 1);
                self.note(Entry::Unknown { v, w });
                Value::Var(v)
            }
        }
    }

    /// Two words in arithmetic; the same ones stay the same.
    fn operands(&mut self, a: Value, b: Value, w: u32) -> (Value, Value) {
        let first = self.operand(a, w);
        match a == b {
            true => (first, first),
            false => (first, self.operand(b, w)),
        }
    }

    /// A bit in arithmetic: a number, a variable, or an unknown bit for one that is not followed.
    fn operand_bit(&mut self, bit: &BitValue) -> Value {
        match bit {
            BitValue::Public(PublicBit::Known(_))
            | BitValue::Var(_)
            | BitValue::Top { .. }
            | BitValue::Zero { .. } => self.concrete_bit(bit),
            BitValue::Public(PublicBit::Step { .. } | PublicBit::Below { .. })
            | BitValue::Opaque => {
                let v = self.new_var(Def::Free, 1);
                self.note(Entry::UnknownBit { v });
                Value::Var(v)
            }
        }
    }

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

    fn added<const W: u32>(
        &mut self,
        up: bool,
        a: &Value,
        b: &Value,
        c: &BitValue,
    ) -> Sum<Self, W> {
        if let Some(sum) = self.folded(up, a, b, c) {
            return sum;
        }
        if let Some(sum) = self.placed_sum::<W>(up, *a, *b, c) {
            return sum;
        }
        let (a, b) = self.operands(*a, *b, W);
        let c = self.operand_bit(c);
        let sum = match up {
            true => self.find_sum::<W>(a, b, c),
            false => self.find_difference::<W>(a, b, c),
        };
        let (word, carry) = (sum.word, sum.carry);
        self.note(Entry::Sum {
            up,
            w: W,
            a,
            b,
            c,
            word,
            carry,
        });
        self.note_joints();
        sum
    }

    /// The product of signed words, from `x - 2^W s` for a word `x` with the sign `s`:
    /// `x y - 2^W s y`, and `2^(2 W)` where both are negative, which leaves at the top.
    fn signed_product<const W: u32>(&mut self, a: Value, b: Value, signs: Signs) -> (Value, Value) {
        let (lo, mut hi) = self.mul::<W>(&a, &b, Signs::Unsigned);
        let signed: &[(Value, Value)] = match signs {
            Signs::Unsigned => &[],
            Signs::SignedUnsigned => &[(a, b)],
            Signs::Signed => &[(a, b), (b, a)],
        };
        for (x, y) in signed {
            let (sign, borrow) = (self.bit::<W>(x, W - 1), self.flag(false));
            let correction = self.select::<W>(&sign, y, &Value::ZERO);
            hi = self.sub::<W>(&hi, &correction, &borrow).word;
        }
        (lo, hi)
    }

    /// A piece of a word in memory.
    pub(super) fn piece(&mut self, word: Value, w: u32, from: u32, len: u32) -> Value {
        if let Value::Public(Public::Known(k)) = word {
            return Value::Public(Public::Known(k >> from & ((1 << len) - 1)));
        }
        let x = self.operand(word, w);
        let out = self.part(x, w, from, len);
        let v = len;
        self.note(Entry::Slice { x, w, from, v, out });
        out
    }

    /// The word of several pieces in memory.
    pub(super) fn whole(&mut self, pieces: &[(Value, u32)]) -> Value {
        let (mut list, mut weighted, mut w) = (Vec::new(), Vec::new(), 0);
        for (piece, width) in pieces {
            let piece = self.operand(*piece, *width);
            list.push((piece, w));
            weighted.push((piece, 1 << w));
            w += width;
        }
        let out = self.weighted_sum(&weighted, w);
        let pieces = list;
        self.note(Entry::Join { pieces, w, out });
        out
    }
}

impl Domain for Algebra {
    type Word<const W: u32> = Value;
    type Bit = BitValue;

    fn known<const W: u32>(&mut self, value: u64) -> Value {
        Value::Public(Public::Known(value & ((1 << W) - 1)))
    }

    fn flag(&mut self, value: bool) -> BitValue {
        BitValue::Public(PublicBit::Known(value))
    }

    fn add<const W: u32>(&mut self, a: &Value, b: &Value, c: &BitValue) -> Sum<Self, W> {
        self.added::<W>(true, a, b, c)
    }

    fn sub<const W: u32>(&mut self, a: &Value, b: &Value, c: &BitValue) -> Sum<Self, W> {
        self.added::<W>(false, a, b, c)
    }

    fn mul<const W: u32>(&mut self, a: &Value, b: &Value, signs: Signs) -> (Value, Value) {
        if let (Value::Public(a), Value::Public(b)) = (a, b)
            && let Some((lo, hi)) = public::mul::<W>(*a, *b, signs)
        {
            return (Value::Public(lo), Value::Public(hi));
        }
        let (a, b) = self.operands(*a, *b, W);
        if signs != Signs::Unsigned {
            return self.signed_product::<W>(a, b, signs);
        }
        let (lo, hi) = self.find_product::<W>(a, b);
        self.note(Entry::Product { w: W, a, b, lo, hi });
        (lo, hi)
    }

    fn logic<const W: u32>(&mut self, op: Logic, a: &Value, b: &Value) -> Value {
        if let (Value::Public(x), Value::Public(y)) = (a, b)
            && let Some(word) = public::logic(op, *x, *y)
        {
            return Value::Public(word);
        }
        if let Some(word) = Self::moved(op, *a, *b, W) {
            return word;
        }
        if let Some(bits) = self.masked_low_bits(op, *a, *b) {
            return Value::Public(Public::Known(bits));
        }
        let (a, b) = self.operands(*a, *b, W);
        let out = self.bitwise::<W>(op, a, b);
        self.note(Entry::Logic {
            op,
            w: W,
            a,
            b,
            out,
        });
        out
    }

    fn shift_right<const W: u32>(&mut self, a: &Value, top: &BitValue) -> (Value, BitValue) {
        if let (Value::Public(Public::Known(a)), BitValue::Public(PublicBit::Known(t))) = (a, top) {
            let word = self.known::<W>(a >> 1 | u64::from(*t) << (W - 1));
            return (word, self.flag(a & 1 == 1));
        }
        let (x, top) = (self.operand(*a, W), self.operand_bit(top));
        let (out, bit) = self.shifted_with::<W>(x, top);
        self.note(Entry::Turn {
            w: W,
            x,
            top,
            out,
            bit,
        });
        (out, bit)
    }

    fn shift<const W: u32>(&mut self, kind: Shift, a: &Value, count: u32) -> (Value, BitValue) {
        if let Value::Public(Public::Known(k)) = a {
            let (word, out) = kind.apply(*k, count, W);
            return (self.known::<W>(word), self.flag(out));
        }
        if let Some(low) = self.low_bits(*a).and_then(|low| low.shifted(kind, count)) {
            return (self.placed_word(low, W), BitValue::Opaque);
        }
        let x = self.operand(*a, W);
        let (out, bit) = self.shifted::<W>(kind, &x, count);
        self.note(Entry::Shift {
            kind,
            w: W,
            x,
            count,
            out,
            bit,
        });
        (out, bit)
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
        let (x, y) = self.operands(*x, *y, W);
        let out = self.find_choice::<W>(bit, x, y);
        self.note(Entry::Select {
            bit: *bit,
            w: W,
            x,
            y,
            out,
        });
        self.note_joints();
        out
    }

    fn select_bit(&mut self, bit: &BitValue, x: &BitValue, y: &BitValue) -> BitValue {
        let out = self.choose_bit(bit, x, y);
        self.note(Entry::SelectBit {
            bit: *bit,
            x: *x,
            y: *y,
            out,
        });
        self.note_joints();
        out
    }

    fn slice<const W: u32, const V: u32>(&mut self, a: &Value, from: u32) -> Value {
        match a {
            Value::Public(Public::Known(k)) => self.known::<V>(k >> from),
            Value::Public(_) | Value::Var(_) => self.piece(*a, W, from, V),
        }
    }

    fn extend<const V: u32, const W: u32>(&mut self, a: &Value, signed: bool) -> Value {
        match a {
            Value::Public(Public::Known(k)) => {
                let word = Concrete::new(0).extend::<V, W>(&Bits(*k), signed);
                self.known::<W>(word.0)
            }
            Value::Var(_) if !signed || self.bound(*a, V) >> (V - 1) == 0 => {
                let (x, from, to) = (*a, V, W);
                self.note(Entry::Extend {
                    x,
                    from,
                    to,
                    signed,
                    out: x,
                });
                x
            }
            Value::Var(_) | Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => {
                let v = self.new_var(Def::Free, (1 << W) - 1);
                self.note(Entry::Unknown { v, w: W });
                Value::Var(v)
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
            Value::Var(v) => self.name(*v).unwrap_or("a computed value").into(),
            Value::Public(_) => "a public value".into(),
        }
    }

    fn is_zero<const W: u32>(&mut self, a: &Value) -> BitValue {
        match a {
            Value::Public(Public::Known(k)) => self.flag(*k == 0),
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => BitValue::Opaque,
            Value::Var(v) => {
                let out = self.zero_of(*v);
                self.note(Entry::IsZero { x: *a, out });
                out
            }
        }
    }

    fn bit<const W: u32>(&mut self, a: &Value, index: u32) -> BitValue {
        match a {
            Value::Public(Public::Known(k)) => self.flag(k >> index & 1 == 1),
            Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => BitValue::Opaque,
            Value::Var(v) => {
                let out = self.find_bit(*v, index, W);
                self.note(Entry::Bit {
                    x: *a,
                    w: W,
                    index,
                    out,
                });
                out
            }
        }
    }

    fn with_bit<const W: u32>(&mut self, a: &Value, index: u32, bit: &BitValue) -> Value {
        if let (Value::Public(Public::Known(k)), BitValue::Public(PublicBit::Known(b))) = (a, bit) {
            return self.known::<W>(k & !(1 << index) | u64::from(*b) << index);
        }
        let x = self.operand(*a, W);
        let out = self.put_bit::<W>(x, index, bit);
        self.note(Entry::WithBit {
            x,
            index,
            bit: *bit,
            out,
        });
        out
    }

    fn gate(&mut self, op: Logic, x: &BitValue, y: &BitValue) -> BitValue {
        let out = self.gate_of(op, x, y);
        self.note(Entry::Gate {
            op,
            x: *x,
            y: *y,
            out,
        });
        out
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
        self.decide(bit).or_else(|fault| self.go_on(bit, fault))
    }

    fn undecided(&mut self) -> Option<BitValue> {
        self.ways.undecided.take()
    }

    fn force(&mut self, outcome: bool) {
        self.ways.forced = Some(outcome);
    }

    fn keep(&mut self) -> usize {
        self.keep_cells()
    }

    fn resume(&mut self, kept: usize) {
        self.resume_cells(kept);
    }

    fn join(&mut self, bit: &BitValue, clear: usize) {
        self.join_cells(bit, clear);
    }

    fn forget(&mut self, kept: usize) {
        self.ways.kept.truncate(kept);
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
                    let what = self.name(*v).unwrap_or("a computed value").to_string();
                    return Err(Fault::SecretAddress(what.as_str().into()));
                }
            }
        }
        public::address::<W>(&known, offset)
    }

    fn above_multiple(&self, at: Address, bytes: i64) -> Result<i64, Fault> {
        self.memory.above_multiple(at, bytes)
    }

    fn load<const W: u32>(&mut self, at: Address) -> Result<Value, Fault> {
        if let Some(public) = self.memory.constant(at, W)? {
            return Ok(Value::Public(public));
        }
        match cells::load(self, at, W)? {
            Some(value) => Ok(value),
            None => {
                let name = format!("{} before it is written", self.memory.place(at));
                let value = self.unknown::<W>(name);
                self.memory.set(at, W, value);
                Ok(value)
            }
        }
    }

    fn store<const W: u32>(&mut self, at: Address, word: &Value) -> Result<(), Fault> {
        cells::store(self, at, W, *word)
    }

    fn full(&self) -> Option<usize> {
        let most = self.most_words.unwrap_or(MOST_WORDS);
        (self.vars.len() >= most).then_some(most)
    }

    fn at(&mut self, pc: usize) {
        self.pc = pc as u32;
    }

    fn after<const W: u32>(&mut self, pc: usize, register: impl Fn(u8) -> Value) {
        self.look(pc, W, register);
    }
}
