//! Products and columns of schedules in words: the accumulator of a sweep.
//!
//! A column accumulates as in `columns.rs`; an addend of column `k+2` joins the last product of
//! column `k` in `ADC a2, word`, where a zero would have been added.

use super::code::Insn;
use super::instructions::Op;
use super::pointers::Item;
use super::words::{Lowering, bytes};
use crate::allocate::{OutOfRegisters, Slot};
use crate::schedule::{Pile, Quotient, Sweep, Word};

/// The largest product of two words.
const PRODUCT: u64 = 255 * 255;

impl Lowering {
    pub(super) fn multiply(&mut self, x: Word, y: Word) -> Result<(), OutOfRegisters> {
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

    pub(super) fn sweep(&mut self, sweep: &Sweep) -> Result<(), OutOfRegisters> {
        let count = sweep.piles.len();
        let mut waiting: Vec<Vec<Word>> = sweep.piles.iter().map(|p| p.addends.clone()).collect();
        self.start(&mut waiting)?;
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
            let ends = pile.quotient.is_none();
            for (j, (x, y)) in pile.products.iter().enumerate() {
                let last = ends && j + 1 == pile.products.len();
                let ahead = waiting.get_mut(i + 2).filter(|_| last);
                let ahead = ahead.and_then(|words| words.pop_if(|word| self.is_made(*word)));
                self.product(*x, *y, cap, last.then_some(pile.out), ahead)?;
                self.tick();
            }
            if let Some(quotient) = pile.quotient {
                self.quotient(quotient, cap)?;
            } else if pile.products.is_empty() {
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

    /// Addends of the first columns are the accumulator, if they follow one another.
    fn start(&mut self, waiting: &mut [Vec<Word>]) -> Result<(), OutOfRegisters> {
        for words in waiting.iter_mut().take(2) {
            let Some(word) = words.pop_if(|word| self.is_made(*word)) else {
                break;
            };
            let r = self.consume(word)?;
            self.accumulator.push_back(r);
            self.bound = self.bound << 8 | 255;
        }
        Ok(())
    }

    /// `q = acc m' mod 2^8` and `acc += q m`, whose low byte is 0 and not kept.
    fn quotient(&mut self, quotient: Quotient, cap: u64) -> Result<(), OutOfRegisters> {
        let Quotient { inverse, m, q } = quotient;
        self.vacate_product()?;
        if self.accumulator.is_empty() {
            let low = self.cleared()?;
            self.accumulator.push_back(low);
        }
        let low = self.accumulator[0];
        // m = 1: q is -acc, and what comes of acc + q is the carry, which NEG says is there.
        if self.bank.home(m) == Some(Slot::Constant(1)) {
            let r = self.take()?;
            self.emit(Op::MOV, r, low);
            self.items.push(Item::Insn(Insn::dk(Op::NEG, r, 0)));
            self.define(q, r);
            self.release(low);
            self.accumulator.pop_front();
            self.bank.used(inverse);
            self.tick();
            self.bank.used(m);
            self.bank.used(q);
            self.bound = (self.bound + 255).min(cap);
            self.carry_on(0, bytes(self.bound) - 1)?;
            self.tick();
            return Ok(());
        }
        let r = self.fetch(inverse)?;
        self.emit(Op::MUL, low, r);
        let r = self.take()?;
        self.emit(Op::MOV, r, 0);
        self.define(q, r);
        self.bank.used(inverse);
        self.tick();
        self.product(q, m, cap, Some(None), None)?;
        self.tick();
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
}
