//! A run that takes its answers from a record instead of finding them: every proof ends with it.
//!
//! The machine runs the code as ever. What it asks is compared with what the record says was asked, the checker decides
//! about the answer, and the run goes on with it. So a record is not believed, be it the finder's or a certificate from
//! elsewhere: with a wrong one, nothing is shown. What the contract promises comes from the contract; a record that
//! promises something else is refused.

use std::cell::Cell;
use std::rc::Rc;

use machine::domain::answers::{Answers, Run};
use machine::domain::public::{Public, PublicBit};
use machine::domain::trace::{Entry, Noted, Reason, Record, Step};
use machine::domain::variable::{BitValue, Value, VarId};
use machine::domain::{Logic, Shift};

use crate::checker::refused::{Check, Refused};
use crate::checker::state::Checker;
use crate::checker::{Goal, limits};

/// The first entry that was refused, and why.
pub type Refusal = Rc<Cell<Option<(usize, Refused)>>>;

/// A run along a record.
pub struct Replay<'a> {
    run: Run,
    checker: Checker<'a>,
    entries: &'a [Noted],
    reason: Option<&'a Reason>,
    next: usize,
    refusal: Refusal,
}

const OTHER: Refused = "the record answers another operation";
const SIZE: Refused = "the record names a word or a number of such a size";
const ENDS: Refused = "the record ends before the run does";
const NO: BitValue = BitValue::Public(PublicBit::Known(false));

/// What the contract says, which a record cannot.
fn is_promise(entry: &Entry) -> bool {
    match entry {
        Entry::LowBits { .. } => true,
        Entry::Step(step) => match step {
            Step::Below { .. }
            | Step::Bit { .. }
            | Step::Inverse { .. }
            | Step::Inverses { .. }
            | Step::Odd { .. } => true,
            Step::Bound { .. }
            | Step::Exclusive { .. }
            | Step::Around { .. }
            | Step::Newton { .. }
            | Step::Even { .. }
            | Step::Factor { .. }
            | Step::Quotient { .. }
            | Step::Follows { .. }
            | Step::NeverSet { .. }
            | Step::Claim { .. }
            | Step::LongQuotient { .. }
            | Step::Half { .. }
            | Step::Magnitude { .. }
            | Step::Signed { .. }
            | Step::Joint { .. } => false,
        },
        Entry::Unknown { .. }
        | Entry::Sum { .. }
        | Entry::Product { .. }
        | Entry::Cut { .. }
        | Entry::Digits { .. }
        | Entry::Slice { .. }
        | Entry::Join { .. }
        | Entry::Shift { .. }
        | Entry::Turn { .. }
        | Entry::Logic { .. }
        | Entry::Gate { .. }
        | Entry::Select { .. }
        | Entry::SelectBit { .. }
        | Entry::Zero { .. }
        | Entry::IsZero { .. }
        | Entry::WithBit { .. }
        | Entry::Bit { .. }
        | Entry::Extend { .. }
        | Entry::Halved { .. }
        | Entry::UnknownBit { .. }
        | Entry::Named { .. } => false,
    }
}

/// A word that an operation may have: no address.
fn word(checker: &mut Checker<'_>, value: Value) -> Check {
    match value {
        Value::Public(Public::Known(_)) => Ok(()),
        Value::Var(v) => checker.range(v).map(|_| ()),
        Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => {
            Err("an operation answers with an address")
        }
    }
}

/// A bit that an operation may have.
fn bit(checker: &mut Checker<'_>, value: BitValue) -> Check {
    match value {
        BitValue::Public(PublicBit::Known(_)) | BitValue::Opaque => Ok(()),
        BitValue::Var(v) => checker.range(v).map(|_| ()),
        BitValue::Top { word, .. } | BitValue::Zero { word, .. } => checker.range(word).map(|_| ()),
        BitValue::Public(PublicBit::Step { .. } | PublicBit::Below { .. }) => {
            Err("an operation answers with where operands lie")
        }
    }
}

impl<'a> Replay<'a> {
    /// Nothing was asked yet. The refusal is kept by the caller, as a run that stops gives nothing back.
    pub fn new(record: Record<'a>, refusal: Refusal) -> Self {
        Self {
            run: Run::default(),
            checker: Checker::new(record.variables, record.terms),
            entries: record.entries,
            reason: record.reason,
            next: 0,
            refusal,
        }
    }

    fn refuse(&self, why: Refused) {
        if self.refusal.get().is_none() {
            self.refusal.set(Some((self.next, why)));
        }
    }

    /// Goes on behind the conclusions before the next answer.
    fn conclusions(&mut self) -> Check {
        let entries = self.entries;
        while let Some(noted) = entries.get(self.next).filter(|noted| !noted.is_answer) {
            if is_promise(&noted.entry) {
                return Err("the record promises something of the operands");
            }
            if !limits::are_kept(&noted.entry) {
                return Err(SIZE);
            }
            self.checker.operation(&noted.entry)?;
            self.next += 1;
        }
        Ok(())
    }

    /// The next answer, if `given` finds in it what was asked, and the checker accepts it.
    fn try_answer<T>(
        &mut self,
        given: impl FnOnce(&Entry, &mut Checker<'a>) -> Option<T>,
        told: impl FnOnce(&T, &mut Checker<'a>) -> Check,
    ) -> Check<T> {
        self.conclusions()?;
        let noted = self.entries.get(self.next).ok_or(ENDS)?;
        if !limits::are_kept(&noted.entry) {
            return Err(SIZE);
        }
        let answer = given(&noted.entry, &mut self.checker).ok_or(OTHER)?;
        self.checker.operation(&noted.entry)?;
        told(&answer, &mut self.checker)?;
        self.next += 1;
        Ok(answer)
    }

    /// The same; `otherwise` once something was refused, as then nothing counts any more.
    fn answer<T>(
        &mut self,
        otherwise: T,
        given: impl FnOnce(&Entry, &mut Checker<'a>) -> Option<T>,
        told: impl FnOnce(&T, &mut Checker<'a>) -> Check,
    ) -> T {
        if self.refusal.get().is_some() {
            return otherwise;
        }
        match self.try_answer(given, told) {
            Ok(answer) => answer,
            Err(why) => {
                self.refuse(why);
                otherwise
            }
        }
    }

    fn word(&mut self, given: impl FnOnce(&Entry) -> Option<Value>) -> Value {
        let told = |value: &Value, checker: &mut Checker<'a>| word(checker, *value);
        self.answer(Value::ZERO, |entry, _| given(entry), told)
    }

    fn bit(&mut self, given: impl FnOnce(&Entry) -> Option<BitValue>) -> BitValue {
        let told = |value: &BitValue, checker: &mut Checker<'a>| bit(checker, *value);
        self.answer(NO, |entry, _| given(entry), told)
    }

    fn word_and_bit(
        &mut self,
        given: impl FnOnce(&Entry, &mut Checker<'a>) -> Option<(Value, BitValue)>,
    ) -> (Value, BitValue) {
        self.answer((Value::ZERO, NO), given, |(value, carry), checker| {
            word(checker, *value)?;
            bit(checker, *carry)
        })
    }

    fn variable(&mut self, given: impl FnOnce(&Entry) -> Option<VarId>) -> VarId {
        let told = |v: &VarId, checker: &mut Checker<'a>| checker.range(*v).map(|_| ());
        self.answer(0, |entry, _| given(entry), told)
    }

    /// Is the goal reached, behind the last answer?
    ///
    /// # Errors
    /// What is not accepted.
    pub fn reached(&mut self, goal: &Goal<'_>) -> Check {
        if let Some((_, why)) = self.refusal.get() {
            return Err(why);
        }
        self.conclusions()?;
        if self.next < self.entries.len() {
            return Err("the record answers more than the run asks");
        }
        let reason = self.reason.ok_or("no reason is given for the goal")?;
        self.checker.reached(goal, reason)
    }
}

/// The answer, if the entry says that this was asked.
fn same<T>(entry: &Entry, asked: Entry, answer: T) -> Option<T> {
    (*entry == asked).then_some(answer)
}

/// Is `name` the name of a bit?
fn names(checker: &mut Checker<'_>, name: Value, bit: BitValue) -> bool {
    if let BitValue::Public(PublicBit::Known(known)) = bit {
        return name == if known { Value::ONE } else { Value::ZERO };
    }
    checker.bit_form(bit).is_ok_and(|form| form.is(name))
}

impl Answers for Replay<'_> {
    fn run(&self) -> &Run {
        &self.run
    }

    fn run_mut(&mut self) -> &mut Run {
        &mut self.run
    }

    fn any_word(&mut self, bits: u32) -> VarId {
        self.variable(|entry| {
            let (Entry::Unknown { v, w } | Entry::Halved { v, w, .. }) = entry else {
                return None;
            };
            (*w == bits).then_some(*v)
        })
    }

    fn any_bit(&mut self) -> VarId {
        self.variable(|entry| {
            let Entry::UnknownBit { v } = entry else {
                return None;
            };
            Some(*v)
        })
    }

    fn low_bits_are(&mut self, v: VarId, count: u32, bits: u64) {
        let promised = Entry::LowBits { v, count, bits };
        let given = |entry: &Entry, _: &mut Checker<'_>| (*entry == promised).then_some(());
        self.answer((), given, |_, _| Ok(()));
    }

    fn assume(&mut self, promise: Step) {
        let promised = Entry::Step(promise);
        let given = |entry: &Entry, _: &mut Checker<'_>| (*entry == promised).then_some(());
        self.answer((), given, |_, _| Ok(()));
    }

    fn summed<const W: u32>(
        &mut self,
        up: bool,
        a: Value,
        b: Value,
        c: BitValue,
    ) -> (Value, BitValue) {
        let w = W;
        self.word_and_bit(|entry, checker| {
            let Entry::Sum {
                c: name,
                word,
                carry,
                ..
            } = *entry
            else {
                return None;
            };
            let asked = Entry::Sum {
                up,
                w,
                a,
                b,
                c: name,
                word,
                carry,
            };
            same(entry, asked, (word, carry)).filter(|_| names(checker, name, c))
        })
    }

    fn product<const W: u32>(&mut self, a: Value, b: Value) -> (Value, Value) {
        let w = W;
        let given = |entry: &Entry, _: &mut Checker<'_>| {
            let Entry::Product { lo, hi, .. } = *entry else {
                return None;
            };
            same(entry, Entry::Product { w, a, b, lo, hi }, (lo, hi))
        };
        self.answer((Value::ZERO, Value::ZERO), given, |(lo, hi), checker| {
            word(checker, *lo)?;
            word(checker, *hi)
        })
    }

    fn bitwise<const W: u32>(&mut self, op: Logic, a: Value, b: Value) -> Value {
        let w = W;
        self.word(|entry| {
            let Entry::Logic { out, .. } = *entry else {
                return None;
            };
            same(entry, Entry::Logic { op, w, a, b, out }, out)
        })
    }

    fn turned<const W: u32>(&mut self, x: Value, top: BitValue) -> (Value, BitValue) {
        let w = W;
        self.word_and_bit(|entry, checker| {
            let Entry::Turn {
                top: name,
                out,
                bit,
                ..
            } = *entry
            else {
                return None;
            };
            let asked = Entry::Turn {
                w,
                x,
                top: name,
                out,
                bit,
            };
            same(entry, asked, (out, bit)).filter(|_| names(checker, name, top))
        })
    }

    fn shifted<const W: u32>(&mut self, kind: Shift, x: Value, count: u32) -> (Value, BitValue) {
        let w = W;
        self.word_and_bit(|entry, _| {
            let Entry::Shift { out, bit, .. } = *entry else {
                return None;
            };
            let asked = Entry::Shift {
                kind,
                w,
                x,
                count,
                out,
                bit,
            };
            same(entry, asked, (out, bit))
        })
    }

    fn selected<const W: u32>(&mut self, bit: BitValue, x: Value, y: Value) -> Value {
        let w = W;
        self.word(|entry| {
            let Entry::Select { out, .. } = *entry else {
                return None;
            };
            same(entry, Entry::Select { bit, w, x, y, out }, out)
        })
    }

    fn selected_bit(&mut self, bit: BitValue, x: BitValue, y: BitValue) -> BitValue {
        self.bit(|entry| {
            let Entry::SelectBit { out, .. } = *entry else {
                return None;
            };
            same(entry, Entry::SelectBit { bit, x, y, out }, out)
        })
    }

    fn part(&mut self, x: Value, w: u32, from: u32, v: u32) -> Value {
        self.word(|entry| {
            let Entry::Slice { out, .. } = *entry else {
                return None;
            };
            same(entry, Entry::Slice { x, w, from, v, out }, out)
        })
    }

    fn joined(&mut self, pieces: Vec<(Value, u32)>, w: u32) -> Value {
        self.word(|entry| {
            let Entry::Join { out, .. } = *entry else {
                return None;
            };
            same(entry, Entry::Join { pieces, w, out }, out)
        })
    }

    fn extended(&mut self, x: VarId, from: u32, to: u32, signed: bool) -> Value {
        let x = Value::Var(x);
        self.word(|entry| {
            // A word that is not followed.
            if let Entry::Unknown { v, w } = *entry {
                return (w == to).then_some(Value::Var(v));
            }
            let Entry::Extend { out, .. } = *entry else {
                return None;
            };
            let asked = Entry::Extend {
                x,
                from,
                to,
                signed,
                out,
            };
            same(entry, asked, out)
        })
    }

    fn zero(&mut self, x: VarId) -> BitValue {
        let x = Value::Var(x);
        self.bit(|entry| {
            let Entry::IsZero { out, .. } = *entry else {
                return None;
            };
            same(entry, Entry::IsZero { x, out }, out)
        })
    }

    fn bit_of<const W: u32>(&mut self, x: VarId, index: u32) -> BitValue {
        let (x, w) = (Value::Var(x), W);
        let given = |entry: &Entry, _: &mut Checker<'_>| {
            let Entry::Bit { out, .. } = *entry else {
                return None;
            };
            same(entry, Entry::Bit { x, w, index, out }, out)
        };
        // A word of flags gives back any bit that was put there, and the checker knows which.
        self.answer(NO, given, |_, _| Ok(()))
    }

    fn put<const W: u32>(&mut self, x: Value, index: u32, bit: BitValue) -> Value {
        self.word(|entry| {
            let Entry::WithBit { out, .. } = *entry else {
                return None;
            };
            same(entry, Entry::WithBit { x, index, bit, out }, out)
        })
    }

    fn gated(&mut self, op: Logic, x: BitValue, y: BitValue) -> BitValue {
        self.bit(|entry| {
            let Entry::Gate { out, .. } = *entry else {
                return None;
            };
            same(entry, Entry::Gate { op, x, y, out }, out)
        })
    }

    fn named(&mut self, bit: BitValue) -> BitValue {
        self.bit(|entry| {
            let Entry::Named { name, .. } = *entry else {
                return None;
            };
            same(entry, Entry::Named { bit, name }, name)
        })
    }

    fn is_full(&self) -> Option<usize> {
        // A run that was refused need not go on.
        self.refusal.get().map(|_| self.next)
    }

    fn ran<const W: u32>(&mut self, _: usize, _: impl Fn(u8) -> Value) {}
}
