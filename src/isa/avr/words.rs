//! Schedules in words on an AVR: values in registers as long as it pays, columns, carry chains.
//!
//! Columns are in `sweeps.rs`. Chains keep the carry in the flag; loads, stores, MOV, EOR and AND
//! leave it alone.

use std::collections::VecDeque;

use super::code::Insn;
use super::instructions::Op;
use super::pointers::{Array, Item};
use crate::allocate::{Bank, OutOfRegisters, Slot, Weight};
use crate::schedule::{Chain, End, Link, Sum, Word, WordStep, Words};

/// Choices that only a count of cycles can settle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choices {
    /// Clear accumulator words two at a time (MOVW).
    pub clear_pairs: bool,
    pub weight: Weight,
    /// Events that the lives of two neighbours may differ before a new pair is opened.
    pub pair: usize,
    /// Free pairs kept for products.
    pub reserve: usize,
}

/// Bytes that hold every value up to `bound`.
pub(super) fn bytes(bound: u64) -> usize {
    (64 - bound.leading_zeros() as usize).div_ceil(8)
}

/// Words without repetitions.
fn distinct(mut words: Vec<Word>) -> Vec<Word> {
    words.sort_unstable();
    words.dedup();
    words
}

/// The first register that instructions with a number can change.
const UPPER: u8 = 16;

/// Lowers steps to items.
pub struct Lowering {
    pub items: Vec<Item>,
    pub notes: Vec<(usize, String)>,
    /// The item after which each computed value is in the given register.
    pub written: Vec<Option<(usize, u8)>>,
    pub bank: Bank,
    pub(super) choices: Choices,
    /// Free registers known to hold 0, and one that holds 0 as long as it is here.
    zeroed: [bool; 32],
    zero: Option<u8>,
    /// Accumulator bytes, lowest first; r0 and r1 while a product is still there.
    pub(super) accumulator: VecDeque<u8>,
    /// The largest value the accumulator can have.
    pub(super) bound: u64,
    /// Registers that the instructions being made read.
    pub(super) pinned: Vec<u8>,
    /// Where the last access to the result was.
    near: usize,
    /// Has a word of the result been stored?
    stored: Vec<bool>,
}

impl Lowering {
    /// Lowers all steps. `order`: free registers and from which event on.
    ///
    /// # Errors
    /// When registers run out.
    pub fn of(
        words: &Words,
        order: &[(u8, usize)],
        choices: Choices,
    ) -> Result<Self, OutOfRegisters> {
        let mut l = Self {
            items: Vec::new(),
            notes: Vec::new(),
            written: vec![None; words.origins.len()],
            bank: Bank::new(words, order, choices.weight),
            choices,
            zeroed: [false; 32],
            zero: None,
            accumulator: VecDeque::new(),
            bound: 0,
            pinned: Vec::new(),
            near: 0,
            stored: vec![false; words.result.len()],
        };
        for step in &words.steps {
            l.step(step)?;
        }
        l.copies(words)?;
        Ok(l)
    }

    /// Words of the result that no step made there: operand words, or the same value twice.
    fn copies(&mut self, words: &Words) -> Result<(), OutOfRegisters> {
        for (k, word) in words.result.iter().enumerate() {
            if self.stored[k] {
                continue;
            }
            let slot = self.bank.home(*word).ok_or(OutOfRegisters)?;
            let r = self.take()?;
            self.load(slot, r);
            self.store(Slot::Result(k), r);
            self.release(r);
        }
        Ok(())
    }

    fn step(&mut self, step: &WordStep) -> Result<(), OutOfRegisters> {
        match step {
            WordStep::Part(text) => self.notes.push((self.items.len(), text.clone())),
            WordStep::Sweep(sweep) => self.sweep(sweep)?,
            WordStep::Chain(chain) => self.chain(chain)?,
            WordStep::Wide { x, y, low, high } => {
                self.multiply(*x, *y)?;
                // The words stay where they are until the next product comes.
                let made = self.items.len() - 1;
                self.define(*low, 0);
                self.define(*high, 1);
                self.written[high.0] = Some((made, 1));
                self.tick();
            }
            WordStep::And { x, y, out } => self.logic(Op::AND, *x, *y, *out)?,
            WordStep::Xor { x, y, out } => self.logic(Op::EOR, *x, *y, *out)?,
            WordStep::Sign { x, out } => {
                let from = self.fetch(*x)?;
                self.pinned.push(from);
                let to = self.take()?;
                self.emit(Op::MOV, to, from);
                self.emit(Op::ADD, to, to);
                self.emit(Op::SBC, to, to);
                self.bank.used(*x);
                self.define(*out, to);
                self.tick();
            }
        }
        Ok(())
    }

    /// The event is over.
    pub(super) fn tick(&mut self) {
        self.pinned.clear();
        self.bank.now += 1;
    }

    pub(super) fn emit(&mut self, op: Op, d: u8, r: u8) {
        self.items.push(Item::Insn(Insn::rr(op, d, r)));
    }

    fn place(&mut self, slot: Slot) -> (Array, usize) {
        match slot {
            Slot::Operand { side: 0, index } => (Array::A, index),
            Slot::Operand { side: 1, index } => (Array::B, index),
            Slot::Operand { index, .. } => (Array::M, index),
            // No place in memory: `load` makes it.
            Slot::Constant(_) => (Array::T, 0),
            Slot::Result(k) => {
                self.near = k;
                (Array::R, k)
            }
            Slot::Scratch(i) => (Array::T, i),
        }
    }

    fn load(&mut self, slot: Slot, reg: u8) {
        if let Slot::Constant(value) = slot {
            let insn = Insn::dk(Op::LDI, reg, value as i32);
            return self.items.push(Item::Insn(insn));
        }
        let (array, offset) = self.place(slot);
        self.items.push(Item::Load { array, offset, reg });
    }

    fn store(&mut self, slot: Slot, reg: u8) {
        let (array, offset) = self.place(slot);
        self.items.push(Item::Store { array, offset, reg });
    }

    // Registers.

    /// A register that nothing else uses; a value may have to wait in memory for it.
    pub(super) fn take(&mut self) -> Result<u8, OutOfRegisters> {
        self.take_until(self.bank.now)
    }

    /// The same for a value whose last use is at `until`: beside one that lives as long, so
    /// that pairs become free together (MOVW needs pairs).
    fn take_until(&mut self, until: usize) -> Result<u8, OutOfRegisters> {
        let cost = |r: u8| {
            let i = usize::from(r);
            let twin = match self.bank.held(r ^ 1) {
                Some(word) => self.bank.last_use(word).abs_diff(until),
                None if self.bank.is_free(r ^ 1) && !self.zeroed[i ^ 1] => self.choices.pair,
                None => 0,
            };
            (self.zeroed[i], twin)
        };
        let free = self.bank.free().min_by_key(|r| cost(*r));
        let breaks = |r: u8| {
            let pairs = self
                .bank
                .free()
                .filter(|r| r % 2 == 0 && self.bank.is_free(r + 1));
            self.bank.is_free(r ^ 1) && pairs.count() <= self.choices.reserve
        };
        let r = match free {
            Some(r) if !breaks(r) || self.bank.victim(&self.pinned).is_err() => r,
            _ => self.evict()?,
        };
        self.seize(r);
        Ok(r)
    }

    /// A register that can be loaded with a number (LDI): r16 or above.
    fn take_upper(&mut self) -> Result<u8, OutOfRegisters> {
        let free = self.bank.free().find(|r| *r >= UPPER);
        let r = match free {
            Some(r) => r,
            None => {
                let pinned = self.pinned.len();
                self.pinned.extend(0..UPPER);
                let r = self.evict();
                self.pinned.truncate(pinned);
                r?
            }
        };
        self.seize(r);
        Ok(r)
    }

    pub(super) fn seize(&mut self, r: u8) {
        self.bank.seize(r);
        self.zeroed[usize::from(r)] = false;
    }

    fn evict(&mut self) -> Result<u8, OutOfRegisters> {
        let (r, word) = self.bank.victim(&self.pinned)?;
        if self.bank.home(word).is_none() {
            let slot = self.bank.slot(word, self.near);
            self.store(slot, r);
            self.bank.stored(word, slot);
        }
        self.bank.release(r);
        Ok(r)
    }

    pub(super) fn release(&mut self, r: u8) {
        self.bank.release(r);
        self.zeroed[usize::from(r)] = false;
    }

    /// The even register of a free pair, preferably one not known to be zero.
    pub(super) fn free_pair(&self) -> Option<u8> {
        let pairs = self
            .bank
            .free()
            .filter(|r| r % 2 == 0 && self.bank.is_free(r + 1));
        pairs.min_by_key(|r| {
            let i = usize::from(*r);
            usize::from(self.zeroed[i]) + usize::from(self.zeroed[i + 1])
        })
    }

    /// The register that holds 0.
    pub(super) fn zero(&mut self) -> Result<u8, OutOfRegisters> {
        if let Some(z) = self.zero {
            return Ok(z);
        }
        let known = self.bank.free().find(|r| self.zeroed[usize::from(*r)]);
        let z = match known {
            Some(z) => {
                self.seize(z);
                z
            }
            None => {
                let z = self.take()?;
                self.emit(Op::EOR, z, z);
                z
            }
        };
        self.zero = Some(z);
        Ok(z)
    }

    /// A register cleared for the accumulator. Never touches the carry (EOR, MOVW).
    pub(super) fn cleared(&mut self) -> Result<u8, OutOfRegisters> {
        if self.choices.clear_pairs
            && let Some(z) = self.zero
        {
            let twin = z ^ 1;
            let zeroed = |r: &u8| *r != twin && self.zeroed[usize::from(*r)];
            let known = self.bank.free().find(zeroed);
            if let Some(r) = known {
                self.seize(r);
                return Ok(r);
            }
            let pair = self.free_pair().filter(|p| p / 2 != z / 2);
            if let (true, Some(pair)) = (self.bank.is_free(twin), pair) {
                if !self.zeroed[usize::from(twin)] {
                    self.emit(Op::EOR, twin, twin);
                    self.zeroed[usize::from(twin)] = true;
                }
                self.emit(Op::MOVW, pair, z & !1);
                self.seize(pair);
                self.zeroed[usize::from(pair) + 1] = true;
                return Ok(pair);
            }
        }
        let known = self.bank.free().find(|r| self.zeroed[usize::from(*r)]);
        if let Some(r) = known {
            self.seize(r);
            return Ok(r);
        }
        let r = self.take()?;
        self.emit(Op::EOR, r, r);
        Ok(r)
    }

    /// The register of a value, loaded if it must be.
    pub(super) fn fetch(&mut self, word: Word) -> Result<u8, OutOfRegisters> {
        if let Some(r) = self.bank.place(word) {
            return Ok(r);
        }
        let slot = self.bank.home(word).ok_or(OutOfRegisters)?;
        let r = match slot {
            Slot::Constant(_) => self.take_upper()?,
            _ => self.take_until(self.bank.last_use(word))?,
        };
        self.load(slot, r);
        if self.written[word.0].is_none() {
            // An operand word is made by its first load.
            self.written[word.0] = Some((self.items.len() - 1, r));
        }
        self.bank.put(word, r);
        Ok(r)
    }

    /// Is the value there already?
    pub(super) fn is_made(&self, word: Word) -> bool {
        self.bank.place(word).is_some() || self.bank.home(word).is_some()
    }

    /// A register with a copy of `word` that may be overwritten; this use of it is over.
    pub(super) fn consume(&mut self, word: Word) -> Result<u8, OutOfRegisters> {
        match self.bank.place(word) {
            Some(r) if self.bank.is_last(word) => {
                self.bank.used(word);
                self.seize(r);
                Ok(r)
            }
            Some(r) => {
                self.pinned.push(r);
                let to = self.take()?;
                self.emit(Op::MOV, to, r);
                self.bank.used(word);
                Ok(to)
            }
            None => {
                let r = self.fetch(word)?;
                self.bank.used(word);
                self.bank.release(r);
                self.seize(r);
                Ok(r)
            }
        }
    }

    /// A register with a copy of `word` that may be changed; its use is over, but for a shared word.
    fn changeable(&mut self, word: Word, shared: &[Word]) -> Result<u8, OutOfRegisters> {
        if !shared.contains(&word) {
            return self.consume(word);
        }
        let from = self.fetch(word)?;
        self.pinned.push(from);
        let to = self.take()?;
        self.emit(Op::MOV, to, from);
        self.pinned.push(to);
        Ok(to)
    }

    /// `word` is now in register `r`: a word of the result goes to memory at once.
    pub(super) fn define(&mut self, word: Word, r: u8) {
        self.written[word.0] = Some((self.items.len() - 1, r));
        if let Some(k) = self.bank.result(word) {
            self.store(Slot::Result(k), r);
            self.bank.stored(word, Slot::Result(k));
            self.stored[k] = true;
        }
        if self.bank.is_dead(word) {
            self.release(r);
        } else {
            self.bank.put(word, r);
        }
    }

    // Chains and logic.

    fn logic(&mut self, op: Op, x: Word, y: Word, out: Word) -> Result<(), OutOfRegisters> {
        let (x, y) = match self.bank.is_last(y) && !self.bank.is_last(x) {
            true => (y, x),
            false => (x, y),
        };
        let ry = self.fetch(y)?;
        self.pinned.push(ry);
        let rx = self.consume(x)?;
        self.emit(op, rx, ry);
        if x != y {
            self.bank.used(y);
        }
        self.define(out, rx);
        self.tick();
        Ok(())
    }

    fn chain(&mut self, chain: &Chain) -> Result<(), OutOfRegisters> {
        let mut running = false;
        if let Some(carry) = chain.carry {
            let r = self.fetch(carry)?;
            self.pinned.push(r);
            let zero = self.zero()?;
            // 0 - r borrows unless r is 0.
            self.emit(Op::CP, zero, r);
            // Of an event each word is one use, whatever it serves for.
            let again = chain
                .links
                .first()
                .is_some_and(|l| l.words().any(|w| w == carry));
            if !again {
                self.bank.used(carry);
            }
            running = true;
        }
        for link in &chain.links {
            self.link(chain.sum, link, running)?;
            running = true;
            self.tick();
        }
        match chain.end {
            End::Drop => {}
            End::Carry { out } => {
                let zero = self.zero()?;
                let r = self.cleared()?;
                self.emit(Op::ADC, r, zero);
                self.define(out, r);
            }
            End::Mask { out } => {
                let r = self.take()?;
                self.emit(Op::SBC, r, r);
                self.define(out, r);
            }
            End::Into { x, out } => {
                let zero = self.zero()?;
                let r = self.consume(x)?;
                let op = match chain.sum {
                    Sum::Add => Op::ADC,
                    Sum::Sub => Op::SBC,
                };
                self.emit(op, r, zero);
                self.define(out, r);
            }
        }
        self.tick();
        Ok(())
    }

    fn link(&mut self, sum: Sum, link: &Link, running: bool) -> Result<(), OutOfRegisters> {
        let op = match (sum, running) {
            (Sum::Add, false) => Op::ADD,
            (Sum::Add, true) => Op::ADC,
            (Sum::Sub, false) => Op::SUB,
            (Sum::Sub, true) => Op::SBC,
        };
        for word in [link.flip, link.mask].into_iter().flatten() {
            let r = self.fetch(word)?;
            self.pinned.push(r);
        }
        let (mut x, mut y) = (link.x, link.y);
        let plain = link.flip.is_none() && link.mask.is_none();
        let dies = |l: &Self, w: Option<Word>| {
            w.is_some_and(|w| l.bank.place(w).is_some() && l.bank.is_last(w))
        };
        // Additions may overwrite either word: the one that is not needed again.
        let swap = x.is_none() || (dies(self, y) && !dies(self, x));
        if sum == Sum::Add && plain && y.is_some() && swap {
            std::mem::swap(&mut x, &mut y);
        }
        // 2 x: both are the same word.
        if x == y
            && plain
            && let Some(word) = x
        {
            let r = self.consume(word)?;
            self.emit(op, r, r);
            self.define(link.out, r);
            return Ok(());
        }
        // A word that serves for more than one thing is copied before it is changed.
        let shared: Vec<Word> = link
            .words()
            .filter(|word| link.words().filter(|w| w == word).count() > 1)
            .collect();
        // The second word in a register that is read, or overwritten by the mask.
        let ry = match (y, link.mask) {
            (None, _) => self.zero()?,
            (Some(y), None) => self.fetch(y)?,
            (Some(y), Some(mask)) => {
                let r = self.changeable(y, &shared)?;
                let m = self.fetch(mask)?;
                self.emit(Op::AND, r, m);
                r
            }
        };
        self.pinned.push(ry);
        let rx = match x {
            Some(x) => self.changeable(x, &shared)?,
            None => {
                let r = self.take()?;
                self.emit(Op::EOR, r, r);
                r
            }
        };
        if let Some(flip) = link.flip {
            let f = self.fetch(flip)?;
            self.emit(Op::EOR, rx, f);
        }
        self.emit(op, rx, ry);
        // `changeable` counted the use of the words that are not shared.
        let mut read: Vec<Word> = [link.flip, link.mask].into_iter().flatten().collect();
        match (y, link.mask) {
            (Some(_), Some(_)) => self.release(ry),
            (Some(y), None) => read.push(y),
            _ => {}
        }
        read.retain(|word| !shared.contains(word));
        for word in read.into_iter().chain(distinct(shared)) {
            self.bank.used(word);
        }
        self.define(link.out, rx);
        Ok(())
    }
}
