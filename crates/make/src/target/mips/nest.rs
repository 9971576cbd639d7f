//! Two nested loops in the making: where arrays lie, what points to them, and the accumulator.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use machine::isa::mips::abi::{SAVE_AREA, SP};
use machine::isa::mips::code::Insn;
use machine::isa::mips::cores::Core;
use machine::isa::mips::instructions::{Feature, Op};

use crate::refusal::LowerError;
use crate::schedule::{Array, Scans, Word};
use crate::target::homes::settle;
pub(super) use crate::target::homes::{Base, Home};
use crate::target::mips::flow::Flow;
use crate::target::mips::registers::{Array as Argument, ZERO};
use crate::target::mips::sweeps;

/// A register that points `at` bytes from the base.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pointer {
    pub r: u8,
    pub base: Base,
    pub at: i32,
}

/// The accumulator beyond HI and LO.
#[derive(Clone, Copy)]
pub(super) struct Guard {
    /// Guard bits in HI: there are no registers for them.
    pub wide: bool,
    /// Else a copy of HI, a register for the next one, and the carries counted since the last shift.
    pub high: u8,
    pub spare: u8,
    pub count: u8,
    /// Does it hold nothing?
    pub empty: bool,
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
    /// 1, to add a word to HI and LO.
    pub one: u8,
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
    /// MADDL and MADDH add pairs of words.
    pub paired: bool,
    pub auto: bool,
    pub unroll: usize,
    pub named: Named,
    pub guard: Guard,
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
        core: &Core,
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
        let wide = scans
            .sweep()
            .is_some_and(|s| sweeps::is_wide(s, core.features));
        let paired = core.features.has(Feature::MaddHl);
        let square = scans.strands.iter().any(|s| s.pairs);
        let named = Named {
            j: take(true)?,
            k: take(!scans.rows)?,
            stop: take(true)?,
            end: take(true)?,
            edge: take(square)?,
            inverse: take(scans.quotient.is_some())?,
            one: take(scans.addend.is_some() || scans.rows && !paired)?,
            cursor: take(true)?,
        };
        let counts = !wide && !scans.rows;
        let guard = Guard {
            wide,
            high: take(counts)?,
            spare: take(counts)?,
            count: take(counts)?,
            empty: true,
        };
        let own = |r: u8| (r, Pointer { r, base: r, at: 0 });
        let mut nest = Nest {
            scans,
            flow: Flow::default(),
            free,
            homes: BTreeMap::new(),
            values: BTreeMap::new(),
            pointers: arguments.map(own).collect(),
            paired,
            auto: core.features.has(Feature::AutoInc),
            unroll,
            named,
            guard,
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
        for (i, number) in self.scans.words.stored().enumerate() {
            let number = number as u32;
            if number != 0 && number != held {
                self.number(r, number);
                held = number;
            }
            let from = if number == 0 { ZERO } else { r };
            self.store(from, self.fixed(home), home, i);
        }
        self.release(r);
        Ok(())
    }

    /// Makes `value` in `r`.
    fn number(&mut self, r: u8, value: u32) {
        let [high, low] = [value >> 16, value & 0xffff].map(|half| half as i32);
        if high != 0 {
            self.immediate(Op::LUI, r, ZERO, high);
        }
        if low != 0 || high == 0 {
            let from = if high == 0 { ZERO } else { r };
            self.immediate(Op::ORI, r, from, low);
        }
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

    pub fn immediate(&mut self, op: Op, t: u8, s: u8, k: i32) {
        self.flow.push(Insn::immediate(op, t, s, k));
    }

    /// `d = t` shifted by so many bits.
    pub fn shift_by(&mut self, op: Op, d: u8, t: u8, bits: i32) {
        let mut insn = Insn::three(op, d, ZERO, t);
        insn.ops.k = bits;
        self.flow.push(insn);
    }

    /// Makes register `r` a pointer to `at` bytes from the base of `from`.
    pub fn point(&mut self, r: u8, from: Pointer, at: i32) -> Pointer {
        if r != from.r || at != from.at {
            self.immediate(Op::ADDIU, r, from.r, at - from.at);
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

    /// The same through a pointer that moves by `step` words, if the load can do that.
    pub fn load_and_step(
        &mut self,
        pointer: &mut Pointer,
        (home, index): (Home, usize),
        step: i32,
    ) -> Result<u8, LowerError> {
        if !self.auto || pointer.at != home.place(index) {
            return self.load(*pointer, home, index);
        }
        let r = self.take()?;
        self.immediate(Op::LWI, r, pointer.r, step);
        pointer.at += 4 * step;
        self.pointers.insert(pointer.r, *pointer);
        Ok(r)
    }

    pub fn store(&mut self, r: u8, pointer: Pointer, home: Home, index: usize) {
        self.immediate(Op::SW, r, pointer.r, home.place(index) - pointer.at);
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
        let top = self.flow.cut();
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

/// The accumulator.
impl Nest<'_> {
    pub fn product(&mut self, x: u8, y: u8) -> Result<(), LowerError> {
        let Guard {
            wide,
            high,
            spare,
            count,
            empty,
        } = self.guard;
        self.guard.empty = false;
        if empty {
            self.three(Op::MULTU, 0, x, y);
            if !wide {
                self.three(Op::MFHI, high, 0, 0);
                self.three(Op::ADDU, count, ZERO, ZERO);
            }
            return Ok(());
        }
        self.three(Op::MADDU, 0, x, y);
        if !wide {
            // It leaves 64 bits exactly when HI becomes smaller.
            let carry = self.take()?;
            self.three(Op::MFHI, spare, 0, 0);
            self.three(Op::SLTU, carry, spare, high);
            self.three(Op::ADDU, count, count, carry);
            self.release(carry);
            (self.guard.high, self.guard.spare) = (spare, high);
        }
        Ok(())
    }

    pub fn twice(&mut self, x: u8, y: u8) -> Result<(), LowerError> {
        if self.guard.wide && !self.guard.empty {
            self.three(Op::M2ADDU, 0, x, y);
            return Ok(());
        }
        self.product(x, y)?;
        self.product(x, y)
    }

    pub fn shift(&mut self) {
        let Guard {
            wide, high, count, ..
        } = self.guard;
        if wide {
            self.three(Op::SHA, 0, 0, 0);
        } else {
            self.three(Op::MTLO, 0, high, 0);
            self.three(Op::MTHI, 0, count, 0);
            self.three(Op::ADDU, high, count, ZERO);
            self.three(Op::ADDU, count, ZERO, ZERO);
        }
    }

    /// The copy of HI is where it was before a loop again.
    pub fn copy_high(&mut self, before: u8) {
        if self.guard.high != before {
            self.three(Op::ADDU, before, self.guard.high, ZERO);
            (self.guard.high, self.guard.spare) = (before, self.guard.high);
        }
    }

    /// `q = acc m' mod 2^32`, then `acc += q m[0]`.
    pub fn quotient(&mut self, k: usize, m: Word) -> Result<(), LowerError> {
        let m = self.scans.place(m).map(|(array, _)| array);
        let m = m.and_then(|array| self.firsts.get(&array).copied());
        let m = m.ok_or(LowerError::Scans)?;
        let (q, inverse) = (self.take()?, self.named.inverse);
        if self.scans.is_inverse_one() {
            self.three(Op::MFLO, q, 0, 0);
        } else if self.guard.wide {
            self.three(Op::MFLO, q, 0, 0);
            self.three(Op::MUL, q, q, inverse);
        } else {
            let (low, high) = (self.take()?, self.guard.high);
            self.three(Op::MFLO, low, 0, 0);
            self.three(Op::MULTU, 0, low, inverse);
            self.three(Op::MFLO, q, 0, 0);
            self.three(Op::MTLO, 0, low, 0);
            self.three(Op::MTHI, 0, high, 0);
            self.release(low);
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
