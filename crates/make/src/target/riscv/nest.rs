//! Two nested loops on RISC-V in the making: where arrays lie, what points to them, and the accumulator.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use machine::isa::riscv::abi::{SAVE_AREA, SP};
use machine::isa::riscv::code::Insn;
use machine::isa::riscv::instructions::Op;

use crate::refusal::LowerError;
use crate::schedule::{Array, Scans, Word};
use crate::target::homes::settle;
pub(super) use crate::target::homes::{Base, Home};
use crate::target::riscv::flow::Flow;
use crate::target::riscv::registers::{Array as Argument, ZERO};
use crate::target::riscv::words::number;

/// A register that points `at` bytes from the base.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pointer {
    pub r: u8,
    pub base: Base,
    pub at: i32,
}

/// Registers for what stays.
pub(super) struct Named {
    pub j: u8,
    pub k: u8,
    /// Where the inner loop and the outer loop end.
    pub stop: u8,
    pub end: u8,
    /// Of a square: where the inner loop of the first of `P` columns ends.
    pub edge: u8,
    pub inverse: u8,
    /// At the column, in every array of the frame.
    pub cursor: u8,
}

/// Emits the loops.
pub(super) struct Nest<'a> {
    pub scans: &'a Scans,
    pub flow: Flow,
    pub free: VecDeque<u8>,
    pub homes: BTreeMap<Array, Home>,
    /// Values that are in a register.
    pub values: BTreeMap<Word, u8>,
    /// What moves: the cursor, the edge, and the arguments.
    pub pointers: BTreeMap<u8, Pointer>,
    pub unroll: usize,
    pub named: Named,
    /// The words that accumulate, the least significant first.
    pub accumulator: [u8; 3],
    /// Operand words are copied to the frame.
    pub copied: bool,
    /// Word 0 of each array in the frame.
    pub firsts: BTreeMap<Array, u8>,
    /// What `stop` holds.
    pub stops: Option<i32>,
}

/// The register an operand's pointer comes in.
pub(super) fn argument(side: usize) -> Base {
    Argument::A as u8 + side as u8
}

impl<'a> Nest<'a> {
    /// Nothing yet, with these registers to use; and the words of the frame.
    ///
    /// # Errors
    /// When registers run out.
    pub fn new(
        scans: &'a Scans,
        registers: &[u8],
        unroll: usize,
    ) -> Result<(Self, usize), LowerError> {
        let arguments = Argument::R as u8..argument(scans.words.lengths.len());
        let values = registers.iter().filter(|r| !arguments.contains(r));
        let mut free: VecDeque<u8> = values.copied().collect();
        let mut take = |wanted: bool| match wanted {
            true => free.pop_front().ok_or(LowerError::Registers),
            false => Ok(ZERO),
        };
        let square = scans.strands.iter().any(|s| s.pairs);
        let named = Named {
            j: take(true)?,
            k: take(!scans.rows)?,
            stop: take(true)?,
            end: take(true)?,
            edge: take(square)?,
            inverse: take(scans.quotient.is_some())?,
            cursor: take(true)?,
        };
        let accumulator = [take(true)?, take(true)?, take(true)?];
        let own = |r: u8| (r, Pointer { r, base: r, at: 0 });
        let mut nest = Nest {
            scans,
            flow: Flow::default(),
            free,
            homes: BTreeMap::new(),
            values: BTreeMap::new(),
            pointers: arguments.map(own).collect(),
            unroll,
            named,
            accumulator,
            copied: false,
            firsts: BTreeMap::new(),
            stops: None,
        };
        let scratch = nest.settle();
        nest.lay()?;
        Ok((nest, scratch))
    }

    /// Lays numbers into memory.
    fn lay(&mut self) -> Result<(), LowerError> {
        let Some(home) = self.homes.get(&Array::Numbers).copied() else {
            return Ok(());
        };
        self.flow.note("the modulus in memory".into());
        let r = self.take()?;
        let mut held = 0;
        for (i, word) in self.scans.words.stored().enumerate() {
            let word = word as u32;
            if word != 0 && word != held {
                self.flow.insns.extend(number(r, word));
                held = word;
            }
            let from = if word == 0 { ZERO } else { r };
            self.store(from, self.fixed(home), home, i);
        }
        self.release(r);
        Ok(())
    }

    /// Where a word lies before anything is copied.
    pub fn source(&self, word: Word) -> Result<(Home, usize), LowerError> {
        match self.scans.place(word) {
            Some((Array::Operand(side), index)) => Ok((Home::of(argument(side)), index)),
            Some((Array::Numbers, index)) => Ok((self.home(Array::Numbers)?, index)),
            _ => Err(LowerError::Scans),
        }
    }

    /// Loads `m'`, unless it is 1.
    pub fn inverse(&mut self, word: Word) -> Result<(), LowerError> {
        if self.scans.is_inverse_one() {
            return Ok(());
        }
        let (home, index) = self.source(word)?;
        self.immediate(Op::LW, self.named.inverse, home.base, home.place(index));
        Ok(())
    }
}

/// Where things are.
impl Nest<'_> {
    /// Are both ends of a column taken in one pass?
    pub fn square(&self) -> bool {
        self.scans.strands.iter().any(|s| s.pairs)
    }

    /// Products of a strand in a pass, and columns in one of the outer loop.
    pub fn period(&self) -> usize {
        self.unroll * if self.square() { 2 } else { 1 }
    }

    /// Gives every array its place: the words of the frame.
    pub fn settle(&mut self) -> usize {
        let strands = || self.scans.strands.iter();
        let xs: BTreeSet<Array> = strands().map(|s| s.x).collect();
        let ys: BTreeSet<Array> = match self.scans.rows {
            true => [Array::Columns].into(),
            false => strands().map(|s| s.y).collect(),
        };
        let all: BTreeSet<Array> = &xs | &ys;
        // The quotient's step finds m[0] among what is copied.
        self.copied = match self.scans.quotient {
            Some(_) => true,
            None => !self.scans.rows && xs.len().max(ys.len()) > 1,
        };
        let copied = if self.copied { all } else { BTreeSet::new() };
        let frame = Home {
            base: SP,
            at: SAVE_AREA,
        };
        let places = (Home::of(Argument::R as u8), frame);
        let (homes, words) = settle(self.scans, &copied, places, argument);
        self.homes = homes;
        words
    }

    pub fn home(&self, array: Array) -> Result<Home, LowerError> {
        self.homes.get(&array).copied().ok_or(LowerError::Scans)
    }

    /// The register that an array is reached from all the time.
    pub fn fixed(&self, home: Home) -> Pointer {
        let r = home.base;
        Pointer { r, base: r, at: 0 }
    }

    /// The pointer that follows the columns in an array.
    pub fn moving(&self, home: Home) -> Pointer {
        let cursor = self.pointers.get(&self.named.cursor);
        let own = self.pointers.get(&home.base);
        let cursor = cursor.filter(|p| p.base == home.base);
        *cursor.or(own).unwrap_or(&self.fixed(home))
    }

    pub fn take(&mut self) -> Result<u8, LowerError> {
        self.free.pop_front().ok_or(LowerError::Registers)
    }

    pub fn release(&mut self, r: u8) {
        self.free.push_back(r);
    }

    pub fn three(&mut self, op: Op, d: u8, s: u8, t: u8) {
        self.flow.push(Insn::three(op, d, s, t));
    }

    pub fn immediate(&mut self, op: Op, d: u8, s: u8, k: i32) {
        self.flow.push(Insn::immediate(op, d, s, k));
    }

    /// Makes register `r` a pointer to `at` bytes from the base of `from`.
    pub fn point(&mut self, r: u8, from: Pointer, at: i32) -> Pointer {
        if r != from.r || at != from.at {
            self.immediate(Op::ADDI, r, from.r, at - from.at);
        }
        let pointer = Pointer { r, at, ..from };
        self.pointers.insert(r, pointer);
        pointer
    }

    /// Word `index` of an array by way of `pointer`, in a new register.
    pub fn load(&mut self, pointer: Pointer, home: Home, index: usize) -> Result<u8, LowerError> {
        let r = self.take()?;
        self.immediate(Op::LW, r, pointer.r, home.place(index) - pointer.at);
        Ok(r)
    }

    pub fn store(&mut self, r: u8, pointer: Pointer, home: Home, index: usize) {
        let at = home.place(index) - pointer.at;
        self.flow.push(Insn::store(Op::SW, r, pointer.r, at));
    }

    /// A loop over `emit`: every pass moves the given registers by so many bytes, and it ends when
    /// the first of them is at register `end`.
    pub fn repeat(
        &mut self,
        steps: &[(u8, i32)],
        (passes, end): (usize, u8),
        emit: impl FnOnce(&mut Self) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        let before = self.pointers.clone();
        let top = self.flow.here();
        emit(self)?;
        for (r, step) in steps {
            if let (Some(now), Some(then)) = (self.pointers.get(r).copied(), before.get(r)) {
                self.point(*r, now, then.at + step);
            }
        }
        self.flow
            .branch(Insn::store(Op::BNE, end, steps[0].0, 0), top);
        for (r, step) in steps {
            if let Some(pointer) = self.pointers.get_mut(r) {
                pointer.at += step * (passes as i32 - 1);
            }
        }
        Ok(())
    }
}

/// The accumulator.
impl Nest<'_> {
    pub fn clear(&mut self) {
        for r in self.accumulator {
            self.three(Op::ADD, r, ZERO, ZERO);
        }
    }

    /// Adds a word of weight `2^(32 at)`, whose register becomes a carry.
    pub fn add(&mut self, at: usize, word: u8) {
        let accumulator = self.accumulator;
        for r in &accumulator[at..2] {
            self.three(Op::ADD, *r, *r, word);
            self.three(Op::SLTU, word, *r, word);
        }
        let top = self.accumulator[2];
        self.three(Op::ADD, top, top, word);
    }

    /// Adds a product: the carry of its low word joins its high word, which is `2^32 - 2` at most.
    pub fn product(&mut self, x: u8, y: u8) -> Result<(), LowerError> {
        self.times(x, y, 1)
    }

    pub fn twice(&mut self, x: u8, y: u8) -> Result<(), LowerError> {
        self.times(x, y, 2)
    }

    fn times(&mut self, x: u8, y: u8, times: usize) -> Result<(), LowerError> {
        let [low, high, carry] = [self.take()?, self.take()?, self.take()?];
        self.three(Op::MUL, low, x, y);
        self.three(Op::MULHU, high, x, y);
        let least = self.accumulator[0];
        for _ in 0..times {
            self.three(Op::ADD, least, least, low);
            self.three(Op::SLTU, carry, least, low);
            self.three(Op::ADD, carry, high, carry);
            self.add(1, carry);
        }
        for r in [low, high, carry] {
            self.release(r);
        }
        Ok(())
    }

    pub fn shift(&mut self) {
        let [low, middle, high] = self.accumulator;
        self.three(Op::ADD, low, ZERO, middle);
        self.three(Op::ADD, middle, ZERO, high);
        self.three(Op::ADD, high, ZERO, ZERO);
    }

    /// `q = acc m' mod 2^32`, then `acc += q m[0]`.
    pub fn quotient(&mut self, k: usize, m: Word) -> Result<(), LowerError> {
        let m = self.scans.place(m).map(|(array, _)| array);
        let m = m.and_then(|array| self.firsts.get(&array).copied());
        let m = m.ok_or(LowerError::Scans)?;
        let (q, low) = (self.take()?, self.accumulator[0]);
        match self.scans.is_inverse_one() {
            true => self.three(Op::ADD, q, ZERO, low),
            false => self.three(Op::MUL, q, low, self.named.inverse),
        }
        self.product(q, m)?;
        let home = self.home(Array::Quotients)?;
        self.store(q, self.moving(home), home, k);
        match k {
            0 => drop(self.firsts.insert(Array::Quotients, q)),
            _ => self.release(q),
        }
        Ok(())
    }
}
