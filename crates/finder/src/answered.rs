//! The finder answers, and writes down what it was asked and what it answered ([`machine::domain::trace`]).

use machine::domain::answers::{Answers, Run};
use machine::domain::trace::{Entry, Noted, Reason, Step};
use machine::domain::variable::{BitValue, Def, Value, VarId};
use machine::domain::{Logic, Shift};

use crate::algebra::Algebra;

impl Algebra {
    /// Writes a conclusion down, or an operation that another one is made of.
    pub(crate) fn note(&self, entry: Entry) {
        self.write(entry, false);
    }

    fn write(&self, entry: Entry, is_answer: bool) {
        self.log.borrow_mut().push(Noted {
            pc: self.run.pc,
            is_answer,
            entry,
        });
    }

    /// Finds the answer to an operation of the run, and writes it down. The operations of the finder's own, which it
    /// asks for on the way, are no answers.
    fn answer<T>(
        &mut self,
        find: impl FnOnce(&mut Self) -> T,
        entry: impl FnOnce(&T) -> Entry,
    ) -> T {
        self.depth += 1;
        let found = find(self);
        self.depth -= 1;
        self.write(entry(&found), self.depth == 0);
        self.note_joints();
        found
    }

    /// What was written down so far.
    #[doc(hidden)]
    pub fn written(&self) -> Vec<Entry> {
        let log = self.log.borrow();
        log.iter().map(|noted| noted.entry.clone()).collect()
    }

    /// Why the goal is reached, once that was found.
    #[doc(hidden)]
    pub fn told_reason(&self) -> Option<Reason> {
        self.reason.borrow().clone()
    }
}

impl Answers for Algebra {
    fn run(&self) -> &Run {
        &self.run
    }

    fn run_mut(&mut self) -> &mut Run {
        &mut self.run
    }

    fn any_word(&mut self, w: u32) -> VarId {
        let new = |d: &mut Self| d.new_var(Def::Free, (1 << w) - 1);
        self.answer(new, |v| Entry::Unknown { v: *v, w })
    }

    fn any_bit(&mut self) -> VarId {
        let new = |d: &mut Self| d.new_var(Def::Free, 1);
        self.answer(new, |v| Entry::UnknownBit { v: *v })
    }

    fn low_bits_are(&mut self, v: VarId, count: u32, bits: u64) {
        self.answer(|_| (), |()| Entry::LowBits { v, count, bits });
    }

    fn assume(&mut self, promise: Step) {
        let told = promise.clone();
        self.answer(|d| d.use_promise(promise), |()| Entry::Step(told));
    }

    fn summed<const W: u32>(
        &mut self,
        up: bool,
        a: Value,
        b: Value,
        c: BitValue,
    ) -> (Value, BitValue) {
        // One name for the bit, found once.
        self.depth += 1;
        let c = self.concrete_bit(&c);
        self.depth -= 1;
        let find = |d: &mut Self| {
            let sum = match up {
                true => d.find_sum::<W>(a, b, c),
                false => d.find_difference::<W>(a, b, c),
            };
            (sum.word, sum.carry)
        };
        self.answer(find, |(word, carry)| Entry::Sum {
            up,
            w: W,
            a,
            b,
            c,
            word: *word,
            carry: *carry,
        })
    }

    fn product<const W: u32>(&mut self, a: Value, b: Value) -> (Value, Value) {
        self.answer(
            |d| d.find_product::<W>(a, b),
            |(lo, hi)| Entry::Product {
                w: W,
                a,
                b,
                lo: *lo,
                hi: *hi,
            },
        )
    }

    fn bitwise<const W: u32>(&mut self, op: Logic, a: Value, b: Value) -> Value {
        self.answer(
            |d| d.find_logic::<W>(op, a, b),
            |out| Entry::Logic {
                op,
                w: W,
                a,
                b,
                out: *out,
            },
        )
    }

    fn turned<const W: u32>(&mut self, x: Value, top: BitValue) -> (Value, BitValue) {
        self.depth += 1;
        let top = self.concrete_bit(&top);
        self.depth -= 1;
        self.answer(
            |d| d.find_turn::<W>(x, top),
            |(out, bit)| Entry::Turn {
                w: W,
                x,
                top,
                out: *out,
                bit: *bit,
            },
        )
    }

    fn shifted<const W: u32>(&mut self, kind: Shift, x: Value, count: u32) -> (Value, BitValue) {
        self.answer(
            |d| d.find_shift::<W>(kind, &x, count),
            |(out, bit)| Entry::Shift {
                kind,
                w: W,
                x,
                count,
                out: *out,
                bit: *bit,
            },
        )
    }

    fn selected<const W: u32>(&mut self, bit: BitValue, x: Value, y: Value) -> Value {
        self.answer(
            |d| d.find_choice::<W>(&bit, x, y),
            |out| Entry::Select {
                bit,
                w: W,
                x,
                y,
                out: *out,
            },
        )
    }

    fn selected_bit(&mut self, bit: BitValue, x: BitValue, y: BitValue) -> BitValue {
        self.answer(
            |d| d.choose_bit(&bit, &x, &y),
            |out| Entry::SelectBit {
                bit,
                x,
                y,
                out: *out,
            },
        )
    }

    fn part(&mut self, x: Value, w: u32, from: u32, v: u32) -> Value {
        self.answer(
            |d| d.find_part(x, w, from, v),
            |out| Entry::Slice {
                x,
                w,
                from,
                v,
                out: *out,
            },
        )
    }

    fn joined(&mut self, pieces: Vec<(Value, u32)>, w: u32) -> Value {
        let weighted: Vec<_> = pieces
            .iter()
            .map(|(piece, shift)| (*piece, 1 << shift))
            .collect();
        self.answer(
            |d| d.weighted_sum(&weighted, w),
            |out| Entry::Join {
                pieces,
                w,
                out: *out,
            },
        )
    }

    fn extended(&mut self, x: VarId, from: u32, to: u32, signed: bool) -> Value {
        let x = Value::Var(x);
        match !signed || self.bound(x, from) >> (from - 1) == 0 {
            true => self.answer(
                |_| x,
                |out| Entry::Extend {
                    x,
                    from,
                    to,
                    signed,
                    out: *out,
                },
            ),
            false => Value::Var(self.any_word(to)),
        }
    }

    fn zero(&mut self, x: VarId) -> BitValue {
        self.answer(
            |d| d.zero_of(x),
            |out| Entry::IsZero {
                x: Value::Var(x),
                out: *out,
            },
        )
    }

    fn bit_of<const W: u32>(&mut self, x: VarId, index: u32) -> BitValue {
        self.answer(
            |d| d.find_bit(x, index, W),
            |out| Entry::Bit {
                x: Value::Var(x),
                w: W,
                index,
                out: *out,
            },
        )
    }

    fn put<const W: u32>(&mut self, x: Value, index: u32, bit: BitValue) -> Value {
        self.answer(
            |d| d.put_bit::<W>(x, index, &bit),
            |out| Entry::WithBit {
                x,
                index,
                bit,
                out: *out,
            },
        )
    }

    fn gated(&mut self, op: Logic, x: BitValue, y: BitValue) -> BitValue {
        self.answer(
            |d| d.gate_of(op, &x, &y),
            |out| Entry::Gate {
                op,
                x,
                y,
                out: *out,
            },
        )
    }

    fn named(&mut self, bit: BitValue) -> BitValue {
        self.answer(
            |d| Self::as_bit(d.concrete_bit(&bit)),
            |name| Entry::Named { bit, name: *name },
        )
    }

    fn is_full(&self) -> Option<usize> {
        let most = self.most_words.unwrap_or(crate::algebra::MOST_WORDS);
        (self.vars.len() >= most).then_some(most)
    }

    fn refused_claim(&self) -> Option<(usize, &str)> {
        self.claims.refused()
    }

    fn ran<const W: u32>(&mut self, pc: usize, register: impl Fn(u8) -> Value) {
        self.depth += 1;
        self.look(pc, W, register);
        self.depth -= 1;
    }
}
