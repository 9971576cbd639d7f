//! Schedules in words on an AVR: values in registers as long as it pays, columns, carry chains.
//!
//! A column accumulates as in `columns.rs`; an addend of column `k+2` joins the last product of
//! column `k` in `ADC a2, word`, where a zero would have been added. Chains keep the carry in
//! the flag; loads, stores, MOV, EOR and AND leave it alone.

use std::collections::VecDeque;

use super::code::Insn;
use super::instructions::Op;
use super::pointers::{Array, Item};
use crate::allocate::{Bank, OutOfRegisters, Slot, Weight};
use crate::schedule::{Chain, End, Link, Pile, Sum, Sweep, Word, WordStep, Words};

/// The largest product of two words.
const PRODUCT: u64 = 255 * 255;

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
fn bytes(bound: u64) -> usize {
    (64 - bound.leading_zeros() as usize).div_ceil(8)
}

/// Words without repetitions.
fn distinct(mut words: Vec<Word>) -> Vec<Word> {
    words.sort_unstable();
    words.dedup();
    words
}

/// Lowers steps to items.
pub struct Lowering {
    pub items: Vec<Item>,
    pub notes: Vec<(usize, String)>,
    /// The item after which each computed value is in the given register.
    pub written: Vec<Option<(usize, u8)>>,
    pub bank: Bank,
    choices: Choices,
    /// Free registers known to hold 0, and one that holds 0 as long as it is here.
    zeroed: [bool; 32],
    zero: Option<u8>,
    /// Accumulator bytes, lowest first; r0 and r1 while a product is still there.
    accumulator: VecDeque<u8>,
    /// The largest value the accumulator can have.
    bound: u64,
    /// Registers that the instructions being made read.
    pinned: Vec<u8>,
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
    fn tick(&mut self) {
        self.pinned.clear();
        self.bank.now += 1;
    }

    fn emit(&mut self, op: Op, d: u8, r: u8) {
        self.items.push(Item::Insn(Insn::rr(op, d, r)));
    }

    fn place(&mut self, slot: Slot) -> (Array, usize) {
        match slot {
            Slot::Operand { side: 0, index } => (Array::A, index),
            Slot::Operand { index, .. } => (Array::B, index),
            Slot::Result(k) => {
                self.near = k;
                (Array::R, k)
            }
            Slot::Scratch(i) => (Array::T, i),
        }
    }

    fn load(&mut self, slot: Slot, reg: u8) {
        let (array, offset) = self.place(slot);
        self.items.push(Item::Load { array, offset, reg });
    }

    fn store(&mut self, slot: Slot, reg: u8) {
        let (array, offset) = self.place(slot);
        self.items.push(Item::Store { array, offset, reg });
    }

    // Registers.

    /// A register that nothing else uses; a value may have to wait in memory for it.
    fn take(&mut self) -> Result<u8, OutOfRegisters> {
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

    fn seize(&mut self, r: u8) {
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

    fn release(&mut self, r: u8) {
        self.bank.release(r);
        self.zeroed[usize::from(r)] = false;
    }

    /// The even register of a free pair, preferably one not known to be zero.
    fn free_pair(&self) -> Option<u8> {
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
    fn zero(&mut self) -> Result<u8, OutOfRegisters> {
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
    fn cleared(&mut self) -> Result<u8, OutOfRegisters> {
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
    fn fetch(&mut self, word: Word) -> Result<u8, OutOfRegisters> {
        if let Some(r) = self.bank.place(word) {
            return Ok(r);
        }
        let slot = self.bank.home(word).ok_or(OutOfRegisters)?;
        let r = self.take_until(self.bank.last_use(word))?;
        self.load(slot, r);
        if self.written[word.0].is_none() {
            // An operand word is made by its first load.
            self.written[word.0] = Some((self.items.len() - 1, r));
        }
        self.bank.put(word, r);
        Ok(r)
    }

    /// Is the value there already?
    fn is_made(&self, word: Word) -> bool {
        self.bank.place(word).is_some() || self.bank.home(word).is_some()
    }

    /// A register with a copy of `word` that may be overwritten; this use of it is over.
    fn consume(&mut self, word: Word) -> Result<u8, OutOfRegisters> {
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
    fn define(&mut self, word: Word, r: u8) {
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

    // Products and columns.

    fn multiply(&mut self, x: Word, y: Word) -> Result<(), OutOfRegisters> {
        let rx = self.fetch(x)?;
        self.pinned.push(rx);
        let ry = self.fetch(y)?;
        self.pinned.push(ry);
        self.vacate_product()?;
        self.emit(Op::MUL, rx, ry);
        self.bank.used(x);
        if x != y {
            self.bank.used(y);
        }
        Ok(())
    }

    /// Moves what is still in r1:r0 out of the way of the next product: values, accumulator words.
    fn vacate_product(&mut self) -> Result<(), OutOfRegisters> {
        let held = [0, 1].map(|r| self.bank.held(r));
        if let [Some(low), Some(high)] = held
            && let Some(pair) = self.free_pair()
        {
            self.emit(Op::MOVW, pair, 0);
            for (word, r) in [(low, pair), (high, pair + 1)] {
                self.seize(r);
                self.bank.put(word, r);
            }
        } else {
            for (word, from) in held.into_iter().zip(0..) {
                if let Some(word) = word {
                    let r = self.take()?;
                    self.emit(Op::MOV, r, from);
                    self.bank.put(word, r);
                }
            }
        }
        let in_product = self.accumulator.iter().filter(|r| **r < 2).count();
        if in_product == 2
            && let Some(pair) = self.free_pair()
        {
            self.seize(pair);
            self.seize(pair + 1);
            self.emit(Op::MOVW, pair, 0);
            self.accumulator[0] = pair;
            self.accumulator[1] = pair + 1;
            return Ok(());
        }
        for i in 0..self.accumulator.len() {
            if self.accumulator[i] < 2 {
                let to = self.take()?;
                self.emit(Op::MOV, to, self.accumulator[i]);
                self.accumulator[i] = to;
            }
        }
        Ok(())
    }

    fn sweep(&mut self, sweep: &Sweep) -> Result<(), OutOfRegisters> {
        let count = sweep.piles.len();
        let mut waiting: Vec<Vec<Word>> = sweep.piles.iter().map(|p| p.addends.clone()).collect();
        for (i, pile) in sweep.piles.iter().enumerate() {
            // What is left of the sweep fits the columns that are left.
            let left = (count - i) as u32;
            let cap = if left < 8 {
                (1u64 << (8 * left)) - 1
            } else {
                u64::MAX
            };
            for word in std::mem::take(&mut waiting[i]) {
                self.addend(word, cap)?;
            }
            self.tick();
            if !pile.doubled.is_empty() {
                self.doubled(pile, cap)?;
            }
            for (j, (x, y)) in pile.products.iter().enumerate() {
                let last = j + 1 == pile.products.len();
                let ahead = waiting.get_mut(i + 2).filter(|_| last);
                let ahead = ahead.and_then(|words| words.pop_if(|word| self.is_made(*word)));
                self.product(*x, *y, cap, last.then_some(pile.out), ahead)?;
                self.tick();
            }
            if pile.products.is_empty() {
                self.close(pile.out)?;
            }
            self.bound >>= 8;
        }
        for r in std::mem::take(&mut self.accumulator) {
            self.release(r);
        }
        self.bound = 0;
        Ok(())
    }

    /// The low byte of the accumulator becomes the word of its column.
    fn close(&mut self, out: Option<Word>) -> Result<(), OutOfRegisters> {
        let low = match self.accumulator.pop_front() {
            Some(r) => r,
            None => self.cleared()?,
        };
        let Some(out) = out else {
            self.release(low);
            return Ok(());
        };
        if low < 2 && !self.bank.is_dead(out) {
            let to = self.take()?;
            self.emit(Op::MOV, to, low);
            self.define(out, to);
        } else {
            self.define(out, low);
        }
        Ok(())
    }

    /// Adds a word to the accumulator at the start of its column.
    fn addend(&mut self, word: Word, cap: u64) -> Result<(), OutOfRegisters> {
        self.vacate_product()?;
        let bound = (self.bound + 255).min(cap);
        if self.accumulator.is_empty() {
            let r = self.consume(word)?;
            self.accumulator.push_back(r);
        } else {
            let r = self.fetch(word)?;
            self.emit(Op::ADD, self.accumulator[0], r);
            self.bank.used(word);
            self.carry_on(1, bytes(bound))?;
        }
        self.bound = bound;
        Ok(())
    }

    /// Adds the carry to bytes `from .. to` of the accumulator.
    fn carry_on(&mut self, from: usize, to: usize) -> Result<(), OutOfRegisters> {
        for i in from..to {
            if i == self.accumulator.len() {
                let top = self.cleared()?;
                self.accumulator.push_back(top);
            }
            let zero = self.zero()?;
            self.emit(Op::ADC, self.accumulator[i], zero);
        }
        Ok(())
    }

    /// Products that count twice: on an accumulator of their own, which then takes the other's place.
    fn doubled(&mut self, pile: &Pile, cap: u64) -> Result<(), OutOfRegisters> {
        self.vacate_product()?;
        let before = std::mem::take(&mut self.accumulator);
        let rest = std::mem::take(&mut self.bound);
        for (x, y) in &pile.doubled {
            self.product(*x, *y, cap, None, None)?;
            self.tick();
        }
        self.vacate_product()?;
        self.bound = (2 * self.bound).min(cap);
        for i in 0..bytes(self.bound) {
            if i == self.accumulator.len() {
                let top = self.cleared()?;
                self.accumulator.push_back(top);
            }
            let r = self.accumulator[i];
            self.emit(if i == 0 { Op::ADD } else { Op::ADC }, r, r);
        }
        self.bound = (self.bound + rest).min(cap);
        for (i, r) in before.iter().enumerate().take(bytes(self.bound)) {
            if i == self.accumulator.len() {
                let top = self.cleared()?;
                self.accumulator.push_back(top);
            }
            let op = if i == 0 { Op::ADD } else { Op::ADC };
            self.emit(op, self.accumulator[i], *r);
        }
        if !before.is_empty() {
            self.carry_on(before.len(), bytes(self.bound))?;
        }
        for r in before {
            self.release(r);
        }
        Ok(())
    }

    /// Multiplies and accumulates. After the last product of a column its low byte becomes `out`
    /// (given then), and an addend of two columns further on may join.
    fn product(
        &mut self,
        x: Word,
        y: Word,
        cap: u64,
        out: Option<Option<Word>>,
        ahead: Option<Word>,
    ) -> Result<(), OutOfRegisters> {
        self.multiply(x, y)?;
        let without = (self.bound + PRODUCT).min(cap);
        let extra = if ahead.is_some() { 255 << 16 } else { 0 };
        let bound = (self.bound + PRODUCT + extra).min(cap);
        self.bound = bound;
        if self.accumulator.is_empty() {
            self.accumulator.extend([0, 1]);
            if let Some(word) = ahead {
                let r = self.consume(word)?;
                self.accumulator.push_back(r);
            }
            if let Some(out) = out {
                self.close(out)?;
            }
            return Ok(());
        }
        // Where the bytes of weight 2^8 and above are, once the lowest is closed.
        let mut at = 1;
        self.emit(Op::ADD, self.accumulator[0], 0);
        if let Some(out) = out {
            self.close(out)?;
            at = 0;
        }
        if bytes(bound) < 2 {
            return Ok(());
        }
        if self.accumulator.len() == at {
            let top = self.cleared()?;
            self.accumulator.push_back(top);
        }
        self.emit(Op::ADC, self.accumulator[at], 1);
        let mut next = at + 1;
        if let Some(word) = ahead {
            if self.accumulator.len() == next {
                // Nothing there yet: the word itself becomes the third byte.
                let r = self.consume(word)?;
                self.accumulator.push_back(r);
                if bytes(without) < 3 {
                    return Ok(());
                }
                let zero = self.zero()?;
                self.emit(Op::ADC, r, zero);
            } else {
                let r = self.fetch(word)?;
                self.emit(Op::ADC, self.accumulator[next], r);
                self.bank.used(word);
            }
            next += 1;
        }
        self.carry_on(next, bytes(bound) + at - 1)
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
