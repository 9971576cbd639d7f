//! Two nested loops while they are written: where the arrays lie, which registers point to them, and the accumulator.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::engine::asm::Asm;
use crate::refusal::LowerError;
use crate::schedule::{Array, Scans, Word};
use crate::target::homes::settle;
pub use crate::target::homes::{Base, Home};

/// A register that points `at` bytes from the base.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pointer {
    pub r: u8,
    pub base: Base,
    pub at: i32,
}

/// Registers for what stays.
pub struct Named {
    pub j: u8,
    pub k: u8,
    /// Where the inner loop and the outer loop end.
    pub stop: u8,
    pub end: u8,
    /// Of a square: where the inner loop of the first of `P` columns ends.
    pub edge: u8,
    pub inverse: u8,
    /// 1, to add a word as a product.
    pub one: u8,
    /// At the column, in every array of the frame.
    pub cursor: u8,
}

/// Emits the loops.
pub struct Nest<'a, A: Asm, S> {
    pub scans: &'a Scans,
    pub flow: A,
    pub free: VecDeque<u8>,
    pub homes: BTreeMap<Array, Home>,
    /// Values that are in a register.
    pub values: BTreeMap<Word, u8>,
    /// What moves: the cursor, the edge, and the arguments.
    pub pointers: BTreeMap<u8, Pointer>,
    pub unroll: usize,
    pub named: Named,
    /// The accumulator.
    pub sum: S,
    /// Operand words are copied to the frame.
    pub copied: bool,
    /// Word 0 of each array in the frame.
    pub firsts: BTreeMap<Array, u8>,
    /// What `stop` holds.
    pub stops: Option<i32>,
}

impl<A: Asm, S> Nest<'_, A, S> {
    /// Lays numbers into memory.
    ///
    /// # Errors
    /// When registers run out.
    pub fn lay(&mut self) -> Result<(), LowerError> {
        let Some(home) = self.homes.get(&Array::Numbers).copied() else {
            return Ok(());
        };
        self.flow.note("the modulus in memory".into());
        let r = self.take()?;
        let mut held = 0;
        for (i, number) in self.scans.words.stored().enumerate() {
            let number = number as u32;
            if number != 0 && number != held {
                self.flow.number(r, number);
                held = number;
            }
            let from = if number == 0 { A::ZERO } else { r };
            self.store(from, self.fixed(home), home, i);
        }
        self.release(r);
        Ok(())
    }

    /// The register that the pointer to an operand comes in.
    pub fn argument(side: usize) -> Base {
        A::RESULT + 1 + side as u8
    }

    /// Where a word lies before anything is copied.
    pub fn source(&self, word: Word) -> Result<(Home, usize), LowerError> {
        match self.scans.place(word) {
            Some((Array::Operand(side), index)) => Ok((Home::of(Self::argument(side)), index)),
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
        self.flow
            .load(self.named.inverse, home.base, home.place(index));
        Ok(())
    }
}

/// Where things are.
impl<A: Asm, S> Nest<'_, A, S> {
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
            base: A::SP,
            at: A::FRAME,
        };
        let result = Home::of(A::RESULT);
        let (homes, words) = settle(self.scans, &copied, result, frame, Self::argument);
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

    /// Makes register `r` a pointer to `at` bytes from the base of `from`.
    pub fn point(&mut self, r: u8, from: Pointer, at: i32) -> Pointer {
        if r != from.r || at != from.at {
            self.flow.add_number(r, from.r, at - from.at);
        }
        let pointer = Pointer { r, at, ..from };
        self.pointers.insert(r, pointer);
        pointer
    }

    /// Word `index` of an array by way of `pointer`, in a new register.
    pub fn load(&mut self, pointer: Pointer, home: Home, index: usize) -> Result<u8, LowerError> {
        let r = self.take()?;
        self.load_into(r, pointer, home, index);
        Ok(r)
    }

    /// The same in register `r`.
    pub fn load_into(&mut self, r: u8, pointer: Pointer, home: Home, index: usize) {
        self.flow.load(r, pointer.r, home.place(index) - pointer.at);
    }

    pub fn store(&mut self, r: u8, pointer: Pointer, home: Home, index: usize) {
        self.flow
            .store(r, pointer.r, home.place(index) - pointer.at);
    }

    /// A loop over `emit`: every pass moves the given registers by so many bytes, and it ends when
    /// the first of them is at register `end`.
    pub fn repeat(
        &mut self,
        steps: &[(u8, i32)],
        passes: usize,
        end: u8,
        emit: impl FnOnce(&mut Self) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        let before = self.pointers.clone();
        let top = self.flow.top();
        emit(self)?;
        for (r, step) in steps {
            if let (Some(now), Some(then)) = (self.pointers.get(r).copied(), before.get(r)) {
                self.point(*r, now, then.at + step);
            }
        }
        self.flow.again(top, steps[0].0, end);
        for (r, step) in steps {
            if let Some(pointer) = self.pointers.get_mut(r) {
                pointer.at += step * (passes as i32 - 1);
            }
        }
        Ok(())
    }
}
