//! Schedules in words on an ARM: values in registers as long as it pays, carry chains in the flag.
//!
//! Of the words that lie beside a missing one in memory, those used soon come with it in one LDM; results wait for a
//! neighbour in the next higher register, to be stored by one STM. Loads, stores, MOV, EOR, AND, multiplications and
//! moves of pointers leave the carry alone. It is the inverse of a borrow: `SBC r, r, r` makes the mask `-borrow`.
//! Columns are in [`crate::target::arm::sweeps`].

use std::collections::VecDeque;

use machine::isa::arm::code::Insn;
use machine::isa::arm::instructions::Op;

use crate::allocate::{Bank, OutOfRegisters, Slot, Timeline, Weight};
use crate::schedule::{Origin, Word, WordColumn, WordStep, Words};
use crate::target::arm::pointers::{Array, Item};

/// `ASR #31` of the register in the lowest bits of a shifter operand.
const ASR_31: i32 = 31 << 7 | 2 << 5;
/// `LSR #1` and `RRX`: the carry is the bit that goes, and what comes in.
const LSR_1: i32 = 1 << 7 | 1 << 5;
const RRX: i32 = 3 << 5;

/// Choices that only a count of cycles can settle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choices {
    /// Events to look ahead for words to load together.
    pub horizon: usize,
    /// The most results that wait for the next one.
    pub hold: usize,
    pub weight: Weight,
    /// May the result lie where an operand is?
    pub overlap: bool,
}

/// Lowers steps to items.
pub struct Lowering<'w> {
    pub(super) words: &'w Words,
    pub items: Vec<Item>,
    pub notes: Vec<(usize, String)>,
    /// The item after which each value is in the given register.
    pub written: Vec<Option<(usize, u8)>>,
    pub bank: Bank,
    /// The event after the last access to each of R, A, B.
    pub done: [usize; 3],
    choices: Choices,
    /// Accumulator words, lowest first.
    pub(super) accumulator: VecDeque<u8>,
    /// The largest value the accumulator, with the carry that waits, can have.
    pub(super) bound: u128,
    /// Is the top word 1 too small?
    pub(super) less_one: bool,
    /// Does the carry flag hold a carry into the lowest word?
    pub(super) flag: bool,
    /// Registers that the instructions being made read.
    pub(super) pinned: Vec<u8>,
    /// Registers that loads ahead of time leave free.
    pub(super) reserve: usize,
    /// Where the last access to the result was.
    near: usize,
    /// Results that wait: index of the first, and the values with their registers.
    held: (usize, Vec<(Word, u8)>),
    /// The value in each word of the result.
    kept: Vec<Option<Word>>,
    /// The word whose lowest bit is in the carry.
    shifted: Option<Word>,
    /// Words that make a product take one time as Rs, where that is wanted.
    pub(super) steady: Vec<bool>,
}

/// Where products are to take one time: words that are numbers, or made by OR with a number that has the top bit.
fn steady(words: &Words) -> Vec<bool> {
    let is_number = |origin: &Origin| match origin {
        Origin::Constant(_) | Origin::Stored { .. } => true,
        Origin::Operand { .. } | Origin::Computed => false,
    };
    let decides = |origin| words.one_time && is_number(origin);
    let mut steady: Vec<bool> = words.origins.iter().map(decides).collect();
    if !words.one_time {
        return steady;
    }
    for step in &words.steps {
        if let WordStep::Or { x, y, out } = step {
            let numbers = [x, y].into_iter().filter_map(|word| words.known(*word));
            steady[out.0] = numbers.into_iter().any(|k| k >> 31 & 1 == 1);
        }
    }
    steady
}

impl<'w> Lowering<'w> {
    /// Lowers all steps. `order`: free registers and from which event on.
    ///
    /// # Errors
    /// When registers run out.
    pub fn of(
        words: &'w Words,
        order: &[(u8, usize)],
        choices: Choices,
    ) -> Result<Self, OutOfRegisters> {
        let mut l = Self {
            words,
            steady: steady(words),
            items: Vec::new(),
            notes: Vec::new(),
            written: vec![None; words.origins.len()],
            bank: Bank::new(
                words,
                Timeline::of(words, WordColumn::events_of),
                order,
                choices.weight,
                choices.overlap,
            ),
            done: [0; 3],
            choices,
            accumulator: VecDeque::new(),
            bound: 0,
            less_one: false,
            flag: false,
            pinned: Vec::new(),
            reserve: 0,
            near: 0,
            held: (0, Vec::new()),
            kept: vec![None; words.result.len()],
            shifted: None,
        };
        for step in &words.steps {
            l.step(step)?;
        }
        l.flush();
        l.copies()?;
        Ok(l)
    }

    fn step(&mut self, step: &WordStep) -> Result<(), OutOfRegisters> {
        let shifted = self.shifted.take();
        self.reserve = 1;
        match step {
            WordStep::Part(text) => self.notes.push((self.items.len(), text.clone())),
            WordStep::Sweep(sweep) => self.sweep(sweep)?,
            WordStep::Chain(chain) => self.chain(chain)?,
            WordStep::Wide { x, y, low, high } => {
                let [lo, hi] = self.multiply(*x, *y)?;
                self.define(*low, lo);
                self.define(*high, hi);
                self.tick();
            }
            WordStep::And { x, y, out } => self.logic(Op::AND, *x, *y, *out)?,
            WordStep::Or { x, y, out } => self.logic(Op::ORR, *x, *y, *out)?,
            WordStep::Xor { x, y, out } => self.logic(Op::EOR, *x, *y, *out)?,
            WordStep::Sign { x, out } => {
                let from = self.fetch(*x)?;
                self.used(*x);
                let to = self.take(0)?;
                let k = ASR_31 | i32::from(from);
                self.emit(Insn::alu(Op::MOV, false, to, 0, k));
                self.define(*out, to);
                self.tick();
            }
            WordStep::Odd { x, out } => {
                let from = self.fetch(*x)?;
                self.used(*x);
                let to = self.take(0)?;
                self.emit(Insn::imm(Op::AND, false, to, from, 1));
                self.emit(Insn::imm(Op::RSB, false, to, to, 0));
                self.define(*out, to);
                self.tick();
            }
            WordStep::Return { x } => {
                let from = self.fetch(*x)?;
                self.used(*x);
                // The register of the result's address.
                self.flush();
                self.emit(Insn::alu(Op::MOV, false, 0, 0, from.into()));
                self.tick();
            }
            WordStep::Right { x, above, out } => {
                let running = shifted == *above;
                self.right(*x, *above, *out, running)?;
                self.shifted = Some(*x);
            }
        }
        Ok(())
    }

    /// A word moved right by a bit, which is in the carry then; `running`: there is that of the word above.
    fn right(
        &mut self,
        x: Word,
        above: Option<Word>,
        out: Word,
        running: bool,
    ) -> Result<(), OutOfRegisters> {
        if let (Some(above), false) = (above, running) {
            let top = self.fetch(above)?;
            let t = self.take(0)?;
            let k = LSR_1 | i32::from(top);
            self.emit(Insn::alu(Op::MOV, true, t, 0, k));
            self.bank.release(t);
        }
        let from = self.fetch(x)?;
        self.used(x);
        if let Some(above) = above.filter(|above| *above != x) {
            self.used(above);
        }
        let to = self.take(0)?;
        let by = if above.is_some() { RRX } else { LSR_1 };
        self.emit(Insn::alu(Op::MOV, true, to, 0, by | i32::from(from)));
        self.define(out, to);
        self.tick();
        Ok(())
    }

    /// Words of the result that no step made there: operand words, or the same value twice.
    fn copies(&mut self) -> Result<(), OutOfRegisters> {
        for (k, word) in self.words.result.iter().enumerate() {
            if self.kept[k] == Some(*word) {
                continue;
            }
            let slot = self.bank.home(*word).ok_or(OutOfRegisters)?;
            let r = self.take(0)?;
            self.access(slot, r, true);
            self.access(Slot::Result(k), r, false);
            self.bank.release(r);
        }
        Ok(())
    }

    /// The event is over.
    pub(super) fn tick(&mut self) {
        self.pinned.clear();
        self.bank.now += 1;
    }

    pub(super) fn emit(&mut self, insn: Insn) {
        self.items.push(Item::Insn(insn));
    }
}

/// Memory.
impl Lowering<'_> {
    fn place(slot: Slot) -> (Array, usize) {
        match slot {
            Slot::Operand { side: 0, index } => (Array::A, index),
            Slot::Operand { side: 1, index } => (Array::B, index),
            Slot::Operand { index, .. } => (Array::M, index),
            Slot::Result(k) => (Array::R, k),
            Slot::Scratch(i) => (Array::T, i),
            // No place in memory: `number` makes it.
            Slot::Constant(_) => (Array::T, usize::MAX),
        }
    }

    fn block(&mut self, array: Array, first: usize, registers: Vec<u8>, load: bool) {
        if let Some(done) = self.done.get_mut(array as usize) {
            *done = self.bank.now + 1;
        }
        if array == Array::R {
            self.near = first;
        }
        self.items.push(Item::Access {
            array,
            first,
            registers,
            load,
        });
    }

    fn access(&mut self, slot: Slot, r: u8, load: bool) {
        let (array, index) = Self::place(slot);
        self.block(array, index, vec![r], load);
    }

    fn stored(&mut self, word: Word, slot: Slot) {
        if let Slot::Result(k) = slot {
            self.kept[k] = Some(word);
        }
        self.bank.stored(word, slot);
    }

    /// The value that memory holds there and that is wanted soon, if no register has it.
    fn wanted(&self, array: Array, index: usize) -> Option<(usize, Word)> {
        let operand = |side: usize| self.words.operand_word(side, index);
        let word = match array {
            Array::R => *self.kept.get(index)?,
            Array::A => operand(0),
            Array::B => operand(1),
            Array::M => operand(2),
            Array::T => None,
        }?;
        let here = self.bank.home(word).map(Self::place) == Some((array, index));
        let next = self.bank.next_use(word)?;
        let soon = next < self.bank.now + self.choices.horizon;
        (here && soon && self.bank.place(word).is_none()).then_some((next, word))
    }

    /// The register of a value, loaded with its neighbours if it must be.
    pub(super) fn fetch(&mut self, word: Word) -> Result<u8, OutOfRegisters> {
        if let Some(r) = self.bank.place(word) {
            self.pinned.push(r);
            return Ok(r);
        }
        let slot = self.bank.home(word).ok_or(OutOfRegisters)?;
        if let Slot::Constant(value) = slot {
            let r = self.take(0)?;
            for insn in Insn::number(r, value as u32) {
                self.emit(insn);
            }
            self.bank.put(word, r);
            self.pinned.push(r);
            return Ok(r);
        }
        let (array, index) = Self::place(slot);
        let mut group = VecDeque::from([(0, word)]);
        let mut first = index;
        while let Some(next) = self.wanted(array, first + group.len()) {
            group.push_back(next);
        }
        while let Some(next) = first.checked_sub(1).and_then(|i| self.wanted(array, i)) {
            group.push_front(next);
            first -= 1;
        }
        while group.len() > 1 && !self.room_for(&group) {
            if group.back() > group.front() {
                group.pop_back();
            } else {
                group.pop_front();
                first += 1;
            }
        }
        let registers = self.ascending(group.len())?;
        self.block(array, first, registers.clone(), true);
        for ((_, word), r) in group.into_iter().zip(registers) {
            if self.written[word.0].is_none() {
                // An operand word is made by its first load.
                self.written[word.0] = Some((self.items.len() - 1, r));
            }
            self.bank.put(word, r);
        }
        let r = self.bank.place(word).ok_or(OutOfRegisters)?;
        self.pinned.push(r);
        Ok(r)
    }

    /// Is there room for a group of words? Words used later than all of it may go for it.
    fn room_for(&mut self, group: &VecDeque<(usize, Word)>) -> bool {
        let latest = group.iter().map(|(next, _)| *next).max();
        loop {
            if self.bank.free().count() >= group.len() + self.reserve {
                return true;
            }
            if !self.held.1.is_empty() {
                self.flush();
                continue;
            }
            match self.bank.victim(&self.pinned) {
                Ok((r, old))
                    if self.bank.home(old).is_some() && self.bank.next_use(old) > latest =>
                {
                    self.bank.release(r);
                }
                _ => return false,
            }
        }
    }

    /// `count` registers in ascending order.
    fn ascending(&mut self, count: usize) -> Result<Vec<u8>, OutOfRegisters> {
        let mut registers = Vec::with_capacity(count);
        for _ in 0..count {
            registers.push(self.take(15)?);
        }
        registers.sort_unstable();
        Ok(registers)
    }

    /// A result in register `r`, to be stored with its neighbours.
    fn hold(&mut self, k: usize, word: Word, r: u8) {
        let (first, held) = &self.held;
        let follows = first + held.len() == k && held.last().is_some_and(|(_, last)| *last < r);
        if !follows {
            self.flush();
            self.held.0 = k;
        }
        self.held.1.push((word, r));
        if self.held.1.len() > self.choices.hold {
            self.flush();
        }
    }

    pub(super) fn is_held(&self, r: u8) -> bool {
        self.held.1.iter().any(|(_, held)| *held == r)
    }

    /// Stores the results that wait.
    pub(super) fn flush(&mut self) {
        let (first, held) = std::mem::take(&mut self.held);
        if held.is_empty() {
            return;
        }
        let registers = held.iter().map(|(_, r)| *r).collect();
        self.block(Array::R, first, registers, false);
        for (i, (word, r)) in held.into_iter().enumerate() {
            self.stored(word, Slot::Result(first + i));
            if self.bank.place(word) != Some(r) {
                self.bank.release(r);
            }
        }
    }
}

/// Registers.
impl Lowering<'_> {
    /// A register that nothing else uses, above `above` if there is one; results may be stored
    /// for it, or a value have to wait in memory.
    pub(super) fn take(&mut self, above: u8) -> Result<u8, OutOfRegisters> {
        loop {
            let higher = self.bank.free().filter(|r| *r > above).min();
            if let Some(r) = higher.or_else(|| self.bank.free().next()) {
                self.bank.seize(r);
                return Ok(r);
            }
            if self.held.1.is_empty() {
                self.evict()?;
            } else {
                self.flush();
            }
        }
    }

    fn evict(&mut self) -> Result<(), OutOfRegisters> {
        let (r, word) = self.bank.victim(&self.pinned)?;
        if self.bank.home(word).is_none() {
            let slot = self.bank.slot(word, self.near);
            self.access(slot, r, false);
            self.stored(word, slot);
        }
        self.bank.release(r);
        Ok(())
    }

    /// One use is over; the register is free after the last one, unless it waits to be stored.
    pub(super) fn used(&mut self, word: Word) {
        let before = self.bank.place(word);
        self.bank.used(word);
        if let Some(r) = before
            && self.bank.place(word).is_none()
            && self.is_held(r)
        {
            self.bank.seize(r);
        }
    }

    /// A register with a copy of `word` that may be overwritten; this use of it is over.
    pub(super) fn consume(&mut self, word: Word) -> Result<u8, OutOfRegisters> {
        let r = self.fetch(word)?;
        if self.bank.is_last(word) {
            if self.is_held(r) {
                self.flush();
            }
            self.bank.used(word);
            self.bank.seize(r);
            return Ok(r);
        }
        let to = self.take(0)?;
        self.emit(Insn::reg(Op::MOV, false, to, 0, r));
        self.used(word);
        Ok(to)
    }

    /// `word` is now in register `r`.
    pub(super) fn define(&mut self, word: Word, r: u8) {
        self.written[word.0] = Some((self.items.len().saturating_sub(1), r));
        if !self.bank.is_dead(word) {
            self.bank.put(word, r);
        }
        match self.bank.result(word) {
            Some(k) => self.hold(k, word, r),
            None if self.bank.is_dead(word) => self.bank.release(r),
            None => {}
        }
    }
}

/// Logic.
impl Lowering<'_> {
    fn logic(&mut self, op: Op, x: Word, y: Word, out: Word) -> Result<(), OutOfRegisters> {
        let (rx, ry) = (self.fetch(x)?, self.fetch(y)?);
        self.used(x);
        if x != y {
            self.used(y);
        }
        let to = self.take(0)?;
        self.emit(Insn::reg(op, false, to, rx, ry));
        self.define(out, to);
        self.tick();
        Ok(())
    }

    /// The register of the last result that waits: the next one should lie above.
    pub(super) fn top(&self) -> u8 {
        self.held.1.last().map_or(0, |(_, r)| *r)
    }
}
