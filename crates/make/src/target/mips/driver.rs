//! Drivers: $s0 points to the area of numbers.
//!
//! What a step works with is free in a call. Carries are words, as everywhere on this machine.

use machine::isa::mips::abi::{ARGUMENTS, HOME, RA, SP};
use machine::isa::mips::code::Insn;
use machine::isa::mips::instructions::Op;
use machine::program::Program;

use crate::driver::{Assembled, Cell, Driver, Place, Step, Sum, To};
use crate::refusal::LowerError;

/// $s0: the area.
const AREA: u8 = 16;
/// $t0, $t1, $t2: where a pass over numbers reads and writes, reads, and ends.
const TO: u8 = 8;
const FROM: u8 = 9;
const END: u8 = 10;
/// $t3: the carry.
const CARRY: u8 = 11;
/// $t4 to $t6.
const A: u8 = 12;
const B: u8 = 13;
const C: u8 = 14;
/// $t7: a mask.
const MASK: u8 = 15;
/// $v0, $v1, $a0 to $a3, $t8, $t9: words of a table's entry.
const COLLECTED: [u8; 8] = [2, 3, 4, 5, 6, 7, 24, 25];
/// Bytes of the largest area: displacements have 15 bits beside the sign.
const MOST_BYTES: usize = 0x7fff;
/// Room for $s0 and $ra above the home of the arguments.
const FRAME: i32 = HOME as i32 + 8;
/// Words of a pass of a loop.
const UNROLL: usize = 4;

/// The instructions of `driver`.
///
/// # Errors
/// When there is too little memory, or a branch does not reach.
pub fn lower(driver: &Driver) -> Result<Assembled<Insn>, LowerError> {
    if driver.bytes > MOST_BYTES {
        return Err(LowerError::Area(driver.bytes));
    }
    let mut e = Emitter::default();
    let mut starts = Vec::with_capacity(driver.routines.len());
    for (i, routine) in driver.routines.iter().enumerate() {
        starts.push(e.insns.len());
        let saved = [(RA, FRAME - 4), (AREA, FRAME - 8)];
        e.immediate(Op::ADDIU, SP, SP, -FRAME);
        saved
            .iter()
            .for_each(|(r, at)| e.immediate(Op::SW, *r, SP, *at));
        if i == 0 {
            e.three(Op::OR, AREA, ARGUMENTS[0], 0);
        }
        e.steps(routine)?;
        saved
            .iter()
            .for_each(|(r, at)| e.immediate(Op::LW, *r, SP, *at));
        e.three(Op::JR, 0, RA, 0);
        e.immediate(Op::ADDIU, SP, SP, FRAME);
    }
    for (index, routine) in std::mem::take(&mut e.routines) {
        e.insns[index].ops.k = reach(index, starts[routine])?;
    }
    Ok(Assembled {
        program: Program {
            insns: e.insns,
            ..Program::new()
        },
        calls: e.calls,
    })
}

/// A function that copies `bytes` bytes from its second argument to its first.
pub fn stub(bytes: usize) -> Vec<Insn> {
    let [to, from] = [ARGUMENTS[0], ARGUMENTS[1]];
    let mut e = Emitter::default();
    e.immediate(Op::ADDIU, END, to, bytes as i32);
    let top = e.insns.len();
    e.immediate(Op::LW, A, from, 0);
    e.immediate(Op::ADDIU, from, from, 4);
    e.immediate(Op::SW, A, to, 0);
    e.immediate(Op::ADDIU, to, to, 4);
    let k = top as i32 - e.insns.len() as i32 - 1;
    e.immediate(Op::BNE, END, to, k);
    e.nothing();
    e.three(Op::JR, 0, RA, 0);
    e.nothing();
    e.insns
}

/// How far it is from the delay slot of the branch of index `at` to `to`, in words.
fn reach(at: usize, to: usize) -> Result<i32, LowerError> {
    let k = to as i64 - at as i64 - 1;
    i16::try_from(k)
        .map(i32::from)
        .map_err(|_| LowerError::Reach)
}

#[derive(Default)]
struct Emitter {
    insns: Vec<Insn>,
    calls: Vec<(usize, usize)>,
    routines: Vec<(usize, usize)>,
}

impl Emitter {
    fn three(&mut self, op: Op, d: u8, s: u8, t: u8) {
        self.insns.push(Insn::three(op, d, s, t));
    }

    fn immediate(&mut self, op: Op, t: u8, s: u8, k: i32) {
        self.insns.push(Insn::immediate(op, t, s, k));
    }

    fn nothing(&mut self) {
        self.three(Op::SLL, 0, 0, 0);
    }

    /// `d = t` shifted by `k` bits.
    fn shift(&mut self, op: Op, d: u8, t: u8, k: i32) {
        let mut insn = Insn::three(op, d, 0, t);
        insn.ops.k = k;
        self.insns.push(insn);
    }

    fn get(&mut self, r: u8, from: Cell) {
        self.immediate(Op::LW, r, AREA, from.at(4) as i32);
    }

    fn put(&mut self, to: Cell, r: u8) {
        self.immediate(Op::SW, r, AREA, to.at(4) as i32);
    }

    fn number(&mut self, r: u8, value: usize) {
        self.immediate(Op::ADDIU, r, 0, value as i32);
    }

    fn point(&mut self, r: u8, at: usize) {
        self.immediate(Op::ADDIU, r, AREA, at as i32);
    }

    /// A branch to an instruction that is there already.
    fn back(&mut self, op: Op, s: u8, t: u8, top: usize) -> Result<(), LowerError> {
        let k = reach(self.insns.len(), top)?;
        self.immediate(op, t, s, k);
        Ok(())
    }

    /// A branch to wherever [`Self::here`] is called for it.
    fn ahead(&mut self, op: Op, s: u8, t: u8) -> usize {
        self.immediate(op, t, s, 0);
        self.nothing();
        self.insns.len() - 2
    }

    fn here(&mut self, branch: usize) -> Result<(), LowerError> {
        self.insns[branch].ops.k = reach(branch, self.insns.len())?;
        Ok(())
    }

    /// A pass over `bytes` bytes from [`TO`] on, and from [`FROM`] if it `reads` there: the body for
    /// so many words at a time.
    fn over(
        &mut self,
        bytes: usize,
        reads: bool,
        body: impl Fn(&mut Self, usize),
    ) -> Result<(), LowerError> {
        let words = bytes / 4;
        let unroll = (1..=UNROLL).rev().find(|u| words.is_multiple_of(*u));
        let unroll = unroll.unwrap_or(1);
        if words == unroll {
            body(self, unroll);
            return Ok(());
        }
        self.immediate(Op::ADDIU, END, TO, bytes as i32);
        let top = self.insns.len();
        body(self, unroll);
        let step = 4 * unroll as i32;
        self.immediate(Op::ADDIU, TO, TO, step);
        self.back(Op::BNE, TO, END, top)?;
        match reads {
            true => self.immediate(Op::ADDIU, FROM, FROM, step),
            false => self.nothing(),
        }
        Ok(())
    }

    fn steps(&mut self, steps: &[Step]) -> Result<(), LowerError> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> Result<(), LowerError> {
        match step {
            Step::Call { kernel, pointers } => {
                let arguments: Vec<_> = ARGUMENTS.into_iter().zip(pointers).collect();
                let (last, first) = arguments.split_last().ok_or(LowerError::Reach)?;
                first.iter().for_each(|(r, at)| self.point(*r, **at));
                self.calls.push((self.insns.len(), *kernel));
                self.immediate(Op::JAL, 0, 0, 0);
                self.point(last.0, *last.1);
            }
            Step::Do(routine) => {
                self.routines.push((self.insns.len(), *routine));
                self.immediate(Op::BGEZAL, 0, 0, 0);
                self.nothing();
            }
            Step::Repeat {
                times,
                counter,
                body,
            } => {
                self.number(A, *times);
                self.put(*counter, A);
                let top = self.insns.len();
                self.steps(body)?;
                self.get(A, *counter);
                self.immediate(Op::ADDIU, A, A, -1);
                self.back(Op::BNE, A, 0, top)?;
                self.put(*counter, A);
            }
            Step::Rewind(exponent) => {
                self.number(A, exponent.at + exponent.bytes);
                self.put(Cell::Next, A);
                self.put(Cell::Left, 0);
            }
            Step::Bit => self.bit()?,
            Step::NoDigit => self.put(Cell::Digit, 0),
            Step::IfDigit {
                least,
                body,
                otherwise,
            } => {
                self.get(A, Cell::Digit);
                let other = match least {
                    1 => self.ahead(Op::BEQ, A, 0),
                    _ => {
                        self.immediate(Op::SLTIU, A, A, i32::from(*least));
                        self.ahead(Op::BNE, A, 0)
                    }
                };
                self.steps(body)?;
                let end = match otherwise.is_empty() {
                    true => None,
                    false => Some(self.ahead(Op::BEQ, 0, 0)),
                };
                self.here(other)?;
                self.steps(otherwise)?;
                if let Some(end) = end {
                    self.here(end)?;
                }
            }
            Step::Copy { to, from } => self.copy(*to, *from)?,
            Step::Table(at) => {
                self.number(A, *at);
                self.put(Cell::Entry, A);
            }
            Step::Take(to) => {
                self.get(A, Cell::Next);
                self.three(Op::ADDU, FROM, AREA, A);
                self.immediate(Op::ADDIU, A, A, to.bytes as i32);
                self.put(Cell::Next, A);
                self.point(TO, to.at);
                self.copy_pass(to.bytes)?;
            }
            Step::Number { to, value } => {
                self.point(TO, to.at);
                self.over(to.bytes, false, |e, words| {
                    (0..words).for_each(|i| e.immediate(Op::SW, 0, TO, 4 * i as i32));
                })?;
                self.number(A, usize::from(*value));
                self.immediate(Op::SW, A, AREA, to.at as i32);
            }
            Step::Lookup { to, table, entries } => self.lookup(*to, *table, *entries)?,
            Step::Pick { to, table, less } => {
                self.get(A, Cell::Digit);
                self.immediate(Op::ADDIU, A, A, -i32::from(*less));
                self.point(FROM, *table);
                let top = self.insns.len();
                self.immediate(Op::ADDIU, A, A, -1);
                self.back(Op::BNE, A, 0, top)?;
                self.immediate(Op::ADDIU, FROM, FROM, to.bytes as i32);
                self.point(TO, to.at);
                self.copy_pass(to.bytes)?;
            }
            Step::Swap { a, b } => self.swap(*a, *b)?,
            Step::Sum(sum) => self.sum(sum)?,
            Step::AddWord { to, word, lacks } => {
                // The word, then its sign.
                let part = FROM;
                self.immediate(Op::LW, part, AREA, *word as i32);
                self.point(TO, to.at);
                self.shift(Op::SRL, MASK, part, 31);
                self.three(Op::SUBU, MASK, 0, MASK);
                self.three(Op::OR, CARRY, 0, 0);
                self.over(to.bytes, false, |e, words| {
                    for at in (0..words).map(|i| 4 * i as i32) {
                        e.immediate(Op::LW, A, TO, at);
                        e.three(Op::ADDU, A, A, part);
                        e.three(Op::SLTU, C, A, part);
                        e.three(Op::ADDU, A, A, CARRY);
                        e.three(Op::SLTU, B, A, CARRY);
                        e.three(Op::OR, CARRY, B, C);
                        e.immediate(Op::SW, A, TO, at);
                        e.three(Op::OR, part, MASK, 0);
                    }
                })?;
                // -carry - sign
                self.three(Op::ADDU, A, CARRY, MASK);
                self.three(Op::SUBU, A, 0, A);
                self.put(*lacks, A);
            }
            Step::NotZero { to, of } => {
                self.point(TO, of.at);
                self.three(Op::OR, B, 0, 0);
                self.over(of.bytes, false, |e, words| {
                    for at in (0..words).map(|i| 4 * i as i32) {
                        e.immediate(Op::LW, A, TO, at);
                        e.three(Op::OR, B, B, A);
                    }
                })?;
                self.three(Op::SLTU, A, 0, B);
                self.put(*to, A);
            }
            Step::Fewer(from, less) => {
                self.get(A, *from);
                self.get(B, *less);
                self.three(Op::SUBU, A, A, B);
                self.put(*from, A);
            }
        }
        Ok(())
    }

    fn bit(&mut self) -> Result<(), LowerError> {
        let (left, word, digit) = (A, B, C);
        self.get(left, Cell::Left);
        self.get(word, Cell::Word);
        let some = self.ahead(Op::BNE, left, 0);
        self.get(FROM, Cell::Next);
        self.immediate(Op::ADDIU, FROM, FROM, -4);
        self.put(Cell::Next, FROM);
        self.three(Op::ADDU, FROM, AREA, FROM);
        self.immediate(Op::LW, word, FROM, 0);
        self.number(left, 32);
        self.here(some)?;
        self.immediate(Op::ADDIU, left, left, -1);
        self.put(Cell::Left, left);
        self.get(digit, Cell::Digit);
        self.shift(Op::SRL, left, word, 31);
        self.shift(Op::SLL, word, word, 1);
        self.put(Cell::Word, word);
        self.shift(Op::SLL, digit, digit, 1);
        self.three(Op::OR, digit, digit, left);
        self.put(Cell::Digit, digit);
        Ok(())
    }

    fn copy(&mut self, to: To, from: Place) -> Result<(), LowerError> {
        match to {
            To::Place(at) => self.point(TO, at),
            To::Entry => {
                self.get(A, Cell::Entry);
                self.three(Op::ADDU, TO, AREA, A);
                self.immediate(Op::ADDIU, A, A, from.bytes as i32);
                self.put(Cell::Entry, A);
            }
        }
        self.point(FROM, from.at);
        self.copy_pass(from.bytes)
    }

    /// Copies from where [`FROM`] points to where [`TO`] does.
    fn copy_pass(&mut self, bytes: usize) -> Result<(), LowerError> {
        self.over(bytes, true, |e, words| {
            let list = || (0..words as u8).map(|i| (A + i, 4 * i32::from(i)));
            list().for_each(|(r, at)| e.immediate(Op::LW, r, FROM, at));
            list().for_each(|(r, at)| e.immediate(Op::SW, r, TO, at));
        })
    }

    /// The mask of a cell that holds 0 or 1.
    fn mask(&mut self, from: Cell) {
        self.get(MASK, from);
        self.three(Op::SUBU, MASK, 0, MASK);
    }

    fn lookup(&mut self, to: Place, table: usize, entries: usize) -> Result<(), LowerError> {
        let words = to.bytes / 4;
        let block = (1..=COLLECTED.len())
            .rev()
            .find(|b| words.is_multiple_of(*b));
        let block = block.unwrap_or(1);
        let collected = &COLLECTED[..block];
        let index = END;
        for first in (0..words).step_by(block) {
            self.point(FROM, table + 4 * first);
            self.get(CARRY, Cell::Digit);
            collected.iter().for_each(|r| self.three(Op::OR, *r, 0, 0));
            self.number(index, 0);
            let top = self.insns.len();
            // All ones if this entry is the one.
            self.three(Op::XOR, A, CARRY, index);
            self.immediate(Op::SLTIU, A, A, 1);
            self.three(Op::SUBU, MASK, 0, A);
            for (i, pair) in collected.chunks(2).enumerate() {
                let words = || pair.iter().zip([A, B]);
                for (j, (_, r)) in words().enumerate() {
                    self.immediate(Op::LW, r, FROM, 4 * (2 * i + j) as i32);
                }
                for (to, r) in words() {
                    self.three(Op::AND, r, r, MASK);
                    self.three(Op::OR, *to, *to, r);
                }
            }
            self.immediate(Op::ADDIU, index, index, 1);
            self.immediate(Op::SLTIU, A, index, entries as i32);
            self.back(Op::BNE, A, 0, top)?;
            self.immediate(Op::ADDIU, FROM, FROM, to.bytes as i32);
            for (i, r) in collected.iter().enumerate() {
                self.immediate(Op::SW, *r, AREA, (to.at + 4 * (first + i)) as i32);
            }
        }
        Ok(())
    }

    fn swap(&mut self, a: Place, b: usize) -> Result<(), LowerError> {
        self.mask(Cell::Digit);
        self.point(TO, a.at);
        self.point(FROM, b);
        self.over(a.bytes, true, |e, words| {
            for at in (0..words).map(|i| 4 * i as i32) {
                e.immediate(Op::LW, A, TO, at);
                e.immediate(Op::LW, B, FROM, at);
                e.three(Op::XOR, C, A, B);
                e.three(Op::AND, C, C, MASK);
                e.three(Op::XOR, A, A, C);
                e.three(Op::XOR, B, B, C);
                e.immediate(Op::SW, A, TO, at);
                e.immediate(Op::SW, B, FROM, at);
            }
        })
    }

    fn sum(&mut self, sum: &Sum) -> Result<(), LowerError> {
        if let Some(times) = sum.times {
            self.mask(times);
        }
        self.point(TO, sum.to.at);
        if let Some(from) = sum.from {
            self.point(FROM, from);
        }
        match sum.carry {
            Some(carry) => self.get(CARRY, carry),
            None => self.three(Op::OR, CARRY, 0, 0),
        }
        self.over(sum.to.bytes, sum.from.is_some(), |e, words| {
            for at in (0..words).map(|i| 4 * i as i32) {
                e.immediate(Op::LW, A, TO, at);
                match sum.from {
                    Some(_) => e.immediate(Op::LW, B, FROM, at),
                    None => e.three(Op::OR, B, 0, 0),
                }
                if sum.times.is_some() {
                    e.three(Op::AND, B, B, MASK);
                }
                // Each of the two steps may carry, both together at most once.
                if sum.subtract {
                    e.three(Op::SLTU, C, A, B);
                    e.three(Op::SUBU, A, A, B);
                    e.three(Op::SLTU, B, A, CARRY);
                    e.three(Op::SUBU, A, A, CARRY);
                } else {
                    e.three(Op::ADDU, A, A, B);
                    e.three(Op::SLTU, C, A, B);
                    e.three(Op::ADDU, A, A, CARRY);
                    e.three(Op::SLTU, B, A, CARRY);
                }
                e.three(Op::OR, CARRY, B, C);
                e.immediate(Op::SW, A, TO, at);
            }
        })?;
        if let Some(out) = sum.out {
            self.put(out, CARRY);
        }
        Ok(())
    }
}
