//! Columns on an AVR: a rotating accumulator, operand words in registers, carries only where they can be.
//!
//! `MUL` leaves the product in r1:r0; it is added to the accumulator `a0, a1, a2, ...`,
//! whose registers rotate by name. A bound on the accumulator's value decides how far a
//! carry travels: after adding products of at most 255^2, byte `i` is touched only if
//! the bound reaches `2^(8i)`. The first product of an empty accumulator *is* it.
//!
//! An intermediate word `C[k+2]` is not added on its own (two instructions): the last
//! product of column `k` ends in `ADC a2, C[k+2]` where it would have added a zero.

use std::collections::VecDeque;

use machine::isa::avr::code::Insn;
use machine::isa::avr::instructions::Op;

use crate::schedule::{Blocks, Column, ColumnBlock, Lifetimes, Product};
use crate::target::avr::pointers::{Array, Item};

/// The largest product of two words.
const PRODUCT: u64 = 255 * 255;

/// Choices that only a count of cycles can settle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choices {
    /// Keep a second zero beside the first and clear accumulator words two at a time (MOVW).
    pub clear_pairs: bool,
}

/// Not enough registers.
#[derive(Debug)]
pub struct OutOfRegisters;

/// Lowers blocks of columns to items.
pub struct Columns {
    pub items: Vec<Item>,
    pub notes: Vec<(usize, String)>,
    /// The registers to use, those to prefer first.
    order: Vec<u8>,
    free: [bool; 32],
    /// Free registers known to hold 0.
    zeroed: [bool; 32],
    /// A register that holds 0 as long as it is here.
    zero: Option<u8>,
    /// Accumulator bytes, lowest first; r0 and r1 while a product is still there.
    accumulator: VecDeque<u8>,
    /// The largest value the accumulator can have.
    bound: u64,
    words: [Vec<Option<u8>>; 2],
    choices: Choices,
}

fn bytes(bound: u64) -> usize {
    (64 - bound.leading_zeros() as usize).div_ceil(8)
}

impl Columns {
    /// Lowers `blocks`, which are all of `schedule`, with the registers of `order`.
    ///
    /// # Errors
    /// When registers run out.
    pub fn lower(
        schedule: &Blocks,
        blocks: &[&ColumnBlock],
        order: &[u8],
        choices: Choices,
    ) -> Result<Self, OutOfRegisters> {
        let mut free = [false; 32];
        for r in order {
            free[usize::from(*r)] = true;
        }
        let mut c = Self {
            items: Vec::new(),
            notes: Vec::new(),
            order: order.to_vec(),
            free,
            zeroed: [false; 32],
            zero: None,
            accumulator: VecDeque::new(),
            bound: 0,
            words: [vec![None; schedule.n], vec![None; schedule.n]],
            choices,
        };
        let lifetimes = Lifetimes::of(schedule);
        let mut t = 0;
        for block in blocks {
            c.block(block, &lifetimes, &mut t)?;
        }
        Ok(c)
    }

    fn emit(&mut self, op: Op, d: u8, r: u8) {
        self.items.push(Item::Insn(Insn::rr(op, d, r)));
    }

    fn load(&mut self, array: Array, offset: usize, reg: u8) {
        self.items.push(Item::Load { array, offset, reg });
    }

    fn store(&mut self, offset: usize, reg: u8) {
        self.items.push(Item::Store {
            array: Array::R,
            offset,
            reg,
        });
    }

    /// A free register; one that is not known to be zero, and not half of a free pair, if possible.
    fn take(&mut self) -> Result<u8, OutOfRegisters> {
        let cost = |r: u8| {
            let i = usize::from(r);
            (self.zeroed[i], self.free[i ^ 1] && !self.zeroed[i ^ 1])
        };
        let best = self
            .order
            .iter()
            .copied()
            .filter(|r| self.free[usize::from(*r)])
            .min_by_key(|r| cost(*r))
            .ok_or(OutOfRegisters)?;
        self.claim(best);
        Ok(best)
    }

    fn claim(&mut self, r: u8) {
        self.free[usize::from(r)] = false;
        self.zeroed[usize::from(r)] = false;
    }

    fn release(&mut self, r: u8) {
        if r > 1 {
            self.free[usize::from(r)] = true;
            self.zeroed[usize::from(r)] = false;
        }
    }

    /// The even register of a free pair, preferably one not known to be zero.
    fn free_pair(&self) -> Option<u8> {
        self.order
            .iter()
            .copied()
            .filter(|r| {
                let i = usize::from(*r);
                r % 2 == 0 && self.free[i] && self.free[i + 1]
            })
            .min_by_key(|r| {
                let i = usize::from(*r);
                usize::from(self.zeroed[i]) + usize::from(self.zeroed[i + 1])
            })
    }

    /// The register that holds 0.
    fn zero(&mut self) -> Result<u8, OutOfRegisters> {
        if let Some(z) = self.zero {
            return Ok(z);
        }
        let known = self
            .order
            .iter()
            .copied()
            .find(|r| self.free[usize::from(*r)] && self.zeroed[usize::from(*r)]);
        let z = match known {
            Some(z) => {
                self.claim(z);
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
        let known = |c: &Self, r: u8| c.free[usize::from(r)] && c.zeroed[usize::from(r)];
        if self.choices.clear_pairs
            && let Some(z) = self.zero
        {
            let twin = z ^ 1;
            // Keep the zero's twin for MOVW; any other zeroed register serves.
            if let Some(r) = self
                .order
                .iter()
                .copied()
                .find(|r| *r != twin && known(self, *r))
            {
                self.claim(r);
                return Ok(r);
            }
            let twin_free = self.free[usize::from(twin)];
            let pair = self.free_pair().filter(|p| p / 2 != z / 2);
            if let (true, Some(pair)) = (twin_free, pair) {
                if !known(self, twin) {
                    self.emit(Op::EOR, twin, twin);
                    self.zeroed[usize::from(twin)] = true;
                }
                self.emit(Op::MOVW, pair, z & !1);
                self.claim(pair);
                self.zeroed[usize::from(pair) + 1] = true;
                return Ok(pair);
            }
        }
        if let Some(r) = self.order.iter().copied().find(|r| known(self, *r)) {
            self.claim(r);
            return Ok(r);
        }
        let r = self.take()?;
        self.emit(Op::EOR, r, r);
        Ok(r)
    }

    /// Moves an accumulator that is still in r1:r0 out of the way of the next product.
    fn vacate_product(&mut self) -> Result<(), OutOfRegisters> {
        let in_product = self.accumulator.iter().filter(|r| **r < 2).count();
        if in_product == 2
            && let Some(pair) = self.free_pair()
        {
            self.claim(pair);
            self.claim(pair + 1);
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

    fn block(
        &mut self,
        block: &ColumnBlock,
        lifetimes: &Lifetimes,
        t: &mut usize,
    ) -> Result<(), OutOfRegisters> {
        self.notes.push((self.items.len(), block.part.to_string()));
        let count = block.columns.len();
        // Columns whose intermediate word the accumulator already holds.
        let mut reloaded = vec![false; count];
        for (i, column) in block.columns.iter().enumerate() {
            self.notes
                .push((self.items.len(), format!("column {}", column.index)));
            // What is left of the block fits the columns that are left.
            let cap = if count - i < 8 {
                (1u64 << (8 * (count - i))) - 1
            } else {
                u64::MAX
            };
            if column.reload && !reloaded[i] {
                self.reload(column.index, cap)?;
            }
            for (j, product) in column.products.iter().enumerate() {
                let last = j + 1 == column.products.len();
                let ahead = block.columns.get(i + 2).filter(|c| last && c.reload);
                if let Some(ahead) = ahead {
                    reloaded[i + 2] = true;
                    self.product(product, cap, Some((column, Some(ahead.index))))?;
                } else {
                    self.product(product, cap, last.then_some((column, None)))?;
                }
                self.retire(product, lifetimes, *t);
                *t += 1;
            }
            if column.products.is_empty() {
                let low = match self.accumulator.front() {
                    Some(r) => *r,
                    None => self.zero()?,
                };
                self.store(column.index, low);
            }
            self.shift();
        }
        for r in std::mem::take(&mut self.accumulator) {
            self.release(r);
        }
        self.bound = 0;
        Ok(())
    }

    /// Drops the lowest byte, which is stored, and top bytes that are 0.
    fn shift(&mut self) {
        if let Some(r) = self.accumulator.pop_front() {
            self.release(r);
        }
        self.bound >>= 8;
    }

    /// Frees the operand words of `product` that are not used again.
    fn retire(&mut self, product: &Product, lifetimes: &Lifetimes, t: usize) {
        for (side, index, dies) in [
            (0, product.a, lifetimes.a[t]),
            (1, product.b, lifetimes.b[t]),
        ] {
            if dies && let Some(r) = self.words[side][index].take() {
                self.release(r);
            }
        }
    }

    fn operand(&mut self, side: usize, index: usize, load: bool) -> Result<u8, OutOfRegisters> {
        match self.words[side][index] {
            Some(r) if !load => Ok(r),
            _ => {
                let r = self.take()?;
                self.load([Array::A, Array::B][side], index, r);
                self.words[side][index] = Some(r);
                Ok(r)
            }
        }
    }

    /// Adds `C[index]` to the accumulator at the start of its column.
    fn reload(&mut self, index: usize, cap: u64) -> Result<(), OutOfRegisters> {
        self.vacate_product()?;
        let r = self.take()?;
        self.load(Array::R, index, r);
        let bound = (self.bound + 255).min(cap);
        if self.accumulator.is_empty() {
            self.accumulator.push_back(r);
        } else {
            self.emit(Op::ADD, self.accumulator[0], r);
            self.release(r);
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

    /// A word of the result, into the register `low` unless it is the product's.
    fn load_ahead(&mut self, index: usize, low: u8) -> Result<u8, OutOfRegisters> {
        let to = if low < 2 { self.take()? } else { low };
        self.load(Array::R, index, to);
        Ok(to)
    }

    /// The product is all there is so far; of the last one of a column the low byte is stored.
    fn first_product(
        &mut self,
        last: Option<(&Column, Option<usize>)>,
    ) -> Result<(), OutOfRegisters> {
        self.accumulator.extend([0, 1]);
        if let Some(index) = last.and_then(|(_, ahead)| ahead) {
            let r = self.take()?;
            self.load(Array::R, index, r);
            self.accumulator.push_back(r);
        }
        if let Some((column, _)) = last {
            self.store(column.index, 0);
        }
        Ok(())
    }

    /// Multiplies and accumulates. After the last product of a column, stores its low byte
    /// and, if a column two further on is given, adds that column's intermediate word on top.
    fn product(
        &mut self,
        product: &Product,
        cap: u64,
        last: Option<(&Column, Option<usize>)>,
    ) -> Result<(), OutOfRegisters> {
        let x = self.operand(0, product.a, product.load_a)?;
        let y = self.operand(1, product.b, product.load_b)?;
        self.vacate_product()?;
        self.emit(Op::MUL, x, y);
        let ahead = last.and_then(|(_, ahead)| ahead);
        let extra = if ahead.is_some() { 255 << 16 } else { 0 };
        let without = (self.bound + PRODUCT).min(cap);
        let bound = (self.bound + PRODUCT + extra).min(cap);
        if self.accumulator.is_empty() {
            self.bound = bound;
            return self.first_product(last);
        }
        self.emit(Op::ADD, self.accumulator[0], 0);
        let mut spare = None;
        if let Some((column, ahead)) = last {
            let low = self.accumulator[0];
            self.store(column.index, low);
            // The low byte is stored: its register takes the word from two columns on.
            spare = ahead.map(|index| self.load_ahead(index, low)).transpose()?;
        }
        if bytes(bound) > 1 {
            if self.accumulator.len() == 1 {
                let top = self.cleared()?;
                self.accumulator.push_back(top);
            }
            self.emit(Op::ADC, self.accumulator[1], 1);
        }
        let mut next = 2;
        if let Some(word) = spare {
            if self.accumulator.len() == 2 {
                // Nothing there yet: the word itself becomes the third byte.
                self.accumulator.push_back(word);
                if bytes(without) > 2 {
                    let zero = self.zero()?;
                    self.emit(Op::ADC, word, zero);
                } else {
                    next = usize::MAX;
                }
            } else {
                self.emit(Op::ADC, self.accumulator[2], word);
                self.release(word);
            }
            if word == self.accumulator[0] {
                // Its old place in the accumulator is dropped by the shift.
                self.accumulator[0] = 0;
            }
            next = next.max(3);
        }
        if next < usize::MAX {
            self.carry_on(next, bytes(bound))?;
        }
        self.bound = bound;
        Ok(())
    }
}
