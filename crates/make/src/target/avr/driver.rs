//! Drivers: Y points to the area of numbers, cells are displacements from it.
//!
//! What a step works with is free in a call (r18 to r27, Z, r0, r1), but for the entries of a table,
//! which are collected in r2 to r17.

use machine::isa::avr::code::Insn;
use machine::isa::avr::instructions::Op;
use machine::isa::avr::machine::Pointer;
use machine::program::Program;
use num_bigint::BigUint;

use crate::driver::{Action, Assembled, Cell, Driver, MultiplyAdd, Stored, To};
use crate::refusal::LowerError;
use crate::target::avr::emitter::{Emitter, JUMP, Table, Y, ZERO, cell, reach};

/// The carry's number in SREG.
const C: u8 = 0;
/// Low registers of the pointer arguments of a kernel, in order.
const ARGUMENTS: [u8; 4] = [24, 22, 20, 18];
/// Bytes of the largest area: what stays of 64 KB with stack and I/O registers.
const MOST_BYTES: usize = 0xd000;
/// Bytes of a table's entry that are collected at a time, from this register on.
const BLOCK: usize = 16;
const COLLECTED: u8 = 2;

const X: u8 = Pointer::X as u8;
const Z: u8 = Pointer::Z as u8;

/// The instructions of `driver`.
///
/// # Errors
/// When a jump does not reach.
pub fn lower(driver: &Driver) -> Result<Assembled<Insn>, LowerError> {
    if driver.bytes > MOST_BYTES {
        return Err(LowerError::Area(driver.bytes));
    }
    let mut e = Emitter::default();
    let mut starts = Vec::with_capacity(driver.routines.len());
    let mut reads_at = Vec::new();
    let collects = |step: &&Action| matches!(step, Action::Lookup { .. });
    let saved: Vec<u8> = match driver.steps().iter().any(collects) {
        true => (COLLECTED..COLLECTED + BLOCK as u8)
            .chain([Y, Y + 1])
            .collect(),
        false => vec![Y, Y + 1],
    };
    for (i, routine) in driver.routines.iter().enumerate() {
        starts.push(e.at);
        e.is_inner = i > 0;
        if i == 0 {
            saved.iter().for_each(|r| e.rr(Op::PUSH, 0, *r));
            e.rr(Op::MOVW, Y, ARGUMENTS[0]);
        }
        e.steps(routine)?;
        if i == 0 {
            saved.iter().rev().for_each(|r| e.rr(Op::POP, *r, 0));
        }
        e.rr(Op::RET, 0, 0);
        if i == 0 {
            // Next to what calls them, so that calls reach.
            for table in &e.tables.clone() {
                reads_at.push(e.at);
                e.read(table)?;
            }
        }
    }
    let routines = driver.routines.len();
    starts.extend(reads_at);
    let reads = std::mem::take(&mut e.reads).into_iter();
    e.routines
        .extend(reads.map(|(index, at, which)| (index, at, routines + which)));
    for (index, at, routine) in std::mem::take(&mut e.routines) {
        e.insns[index].ops.k = reach(starts[routine], at, JUMP)?;
    }
    Ok(Assembled {
        program: Program {
            insns: e.insns,
            notes: e.notes,
            claims: Vec::new(),
        },
        calls: e.calls,
    })
}

/// A function that copies `bytes` bytes from its second argument to its first.
pub fn stub(bytes: usize) -> Vec<Insn> {
    let mut e = Emitter::default();
    e.rr(Op::MOVW, Z, ARGUMENTS[0]);
    e.rr(Op::MOVW, X, ARGUMENTS[1]);
    e.dk(Op::LDI, 24, bytes as i32 & 0xff);
    e.dk(Op::LDI, 25, bytes as i32 >> 8 & 0xff);
    let top = e.at as i32;
    e.rr(Op::LDX_INC, 0, 0);
    e.push(Insn::rk(Op::STZ_INC, 0, 0));
    e.dk(Op::SBIW, 24, 1);
    let k = top - e.at as i32 - 1;
    e.branch(Op::BRBC, ZERO, k);
    e.rr(Op::RET, 0, 0);
    e.insns
}

impl Emitter {
    fn steps(&mut self, steps: &[Action]) -> Result<(), LowerError> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Action) -> Result<(), LowerError> {
        match step {
            Action::Call { kernel, pointers } => {
                for (low, at) in ARGUMENTS.into_iter().zip(pointers) {
                    self.point(low, *at);
                }
                self.calls.push((self.insns.len(), *kernel));
                self.dk(Op::CALL, 0, 0);
            }
            Action::Do(routine) => {
                self.routines.push((self.insns.len(), self.at, *routine));
                self.dk(Op::RCALL, 0, 0);
            }
            Action::Repeat {
                times,
                counter,
                body,
            } => self.repeat(*times, *counter, body)?,
            Action::Rewind(exponent) => {
                let end = (exponent.at + exponent.bytes) as i32;
                self.set_pair(Cell::Next, end);
                self.put(Cell::Left, 1);
            }
            Action::Bit => self.bit(),
            Action::NoDigit => self.put(Cell::Digit, 1),
            Action::IfDigit {
                least,
                body,
                otherwise,
            } => self.if_digit(*least, body, otherwise)?,
            Action::Copy { to, from } => self.copy(*to, *from)?,
            Action::Table(at) => self.set_pair(Cell::Entry, *at as i32),
            Action::Take(to) => self.take(*to)?,
            Action::Number { to, value } => self.number(*to, *value)?,
            Action::Constant { to, value } => self.constant(*to, value),
            Action::Lookup { to, table, entries } => self.lookup(*to, *table, *entries),
            Action::Pick { to, table, less } => self.pick(*to, *table, *less)?,
            Action::Swap { a, b } => self.swap(*a, *b)?,
            Action::MultiplyAdd(sum) => self.sum(sum)?,
            Action::AddWord { to, word, lacks } => self.add_word(*to, *word, *lacks)?,
            Action::NotZero { to, of } => self.not_zero(*to, *of)?,
            Action::Fewer(from, less) => self.combine(Op::SUB, *from, *less),
            Action::Differ(to, from) => self.combine(Op::EOR, *to, *from),
        }
        Ok(())
    }

    /// The first cell becomes what `op` makes of both.
    fn combine(&mut self, op: Op, to: Cell, from: Cell) {
        self.get(24, to);
        self.get(25, from);
        self.rr(op, 24, 25);
        self.put(to, 24);
    }

    /// One list of steps or the other, by the digit.
    fn if_digit(
        &mut self,
        least: u8,
        body: &[Action],
        otherwise: &[Action],
    ) -> Result<(), LowerError> {
        self.get(24, Cell::Digit);
        self.dk(Op::CPI, 24, i32::from(least));
        self.branch(Op::BRBC, C, 1);
        let other = self.ahead();
        self.steps(body)?;
        if otherwise.is_empty() {
            return self.here(other);
        }
        let end = self.ahead();
        self.here(other)?;
        self.steps(otherwise)?;
        self.here(end)
    }

    /// Copies the number that is next.
    fn take(&mut self, to: Stored) -> Result<(), LowerError> {
        self.get_pair(24, Cell::Next);
        self.rr(Op::MOVW, X, Y);
        self.rr(Op::ADD, X, 24);
        self.rr(Op::ADC, X + 1, 25);
        self.add(24, to.bytes);
        self.put_pair(Cell::Next, 24);
        self.point(Z, to.at);
        self.copy_pass(to.bytes)
    }

    /// Sets a number to a small one.
    fn number(&mut self, to: Stored, value: u8) -> Result<(), LowerError> {
        self.point(Z, to.at);
        self.dk(Op::LDI, 25, i32::from(value));
        self.push(Insn::rk(Op::STZ_INC, 25, 0));
        if to.bytes > 1 {
            let zero = |e: &mut Self| e.push(Insn::rk(Op::STZ_INC, 1, 0));
            self.over(to.bytes - 1, zero)?;
        }
        Ok(())
    }

    /// A number whose bytes are in the code; equal ones in a row are fetched once.
    fn constant(&mut self, to: Stored, value: &BigUint) {
        self.point(Z, to.at);
        let mut last = None;
        let bytes = value.to_bytes_le().into_iter().chain(std::iter::repeat(0));
        for byte in bytes.take(to.bytes) {
            if last != Some(byte) {
                self.dk(Op::LDI, 25, i32::from(byte));
            }
            last = Some(byte);
            self.push(Insn::rk(Op::STZ_INC, 25, 0));
        }
    }

    /// Has an entry of a table read, all of which is.
    fn lookup(&mut self, to: Stored, table: usize, entries: usize) {
        let table = Table {
            at: table,
            bytes: to.bytes,
            entries,
        };
        let known = self.tables.iter().position(|t| *t == table);
        let which = known.unwrap_or(self.tables.len());
        if known.is_none() {
            self.tables.push(table);
        }
        self.point(Z, to.at);
        self.reads.push((self.insns.len(), self.at, which));
        self.dk(Op::RCALL, 0, 0);
    }

    /// Copies the entry of a table that the digit says, by way of those before it.
    fn pick(&mut self, to: Stored, table: usize, less: u8) -> Result<(), LowerError> {
        self.get(24, Cell::Digit);
        self.dk(Op::SUBI, 24, i32::from(less));
        self.point(X, table);
        let top = self.at;
        self.add(X, to.bytes);
        self.rr(Op::DEC, 24, 0);
        self.again(top)?;
        self.point(Z, to.at);
        self.copy_pass(to.bytes)
    }

    /// Adds a word with its sign, and keeps what the number lacks then.
    fn add_word(&mut self, to: Stored, word: usize, lacks: Cell) -> Result<(), LowerError> {
        self.point(Z, word);
        self.dk(Op::LDDZ, 22, 0);
        // The word, then its sign.
        self.rr(Op::MOV, 21, 22);
        self.rr(Op::ADD, 21, 21);
        self.rr(Op::SBC, 21, 21);
        self.point(Z, to.at);
        self.branch(Op::BCLR, C, 0);
        self.over(to.bytes, |e| {
            e.dk(Op::LDDZ, 23, 0);
            e.rr(Op::ADC, 23, 22);
            e.push(Insn::rk(Op::STZ_INC, 23, 0));
            e.rr(Op::MOV, 22, 21);
        })?;
        // -carry - sign
        self.rr(Op::SBC, 24, 24);
        self.rr(Op::SUB, 24, 21);
        self.put(lacks, 24);
        Ok(())
    }

    /// Puts 1 into a cell if the number is not 0, else 0.
    fn not_zero(&mut self, to: Cell, of: Stored) -> Result<(), LowerError> {
        self.point(X, of.at);
        self.rr(Op::EOR, 22, 22);
        self.over(of.bytes, |e| {
            e.rr(Op::LDX_INC, 23, 0);
            e.rr(Op::OR, 22, 23);
        })?;
        self.rr(Op::NEG, 22, 0);
        self.rr(Op::SBC, 24, 24);
        self.rr(Op::NEG, 24, 0);
        self.put(to, 24);
        Ok(())
    }

    /// Two bytes of a cell.
    fn set_pair(&mut self, to: Cell, value: i32) {
        self.dk(Op::LDI, 24, value & 0xff);
        self.put(to, 24);
        self.dk(Op::LDI, 24, value >> 8 & 0xff);
        self.push(Insn::rk(Op::STDY, 24, cell(to) + 1));
    }

    fn get_pair(&mut self, pair: u8, from: Cell) {
        self.get(pair, from);
        self.dk(Op::LDDY, pair + 1, cell(from) + 1);
    }

    fn put_pair(&mut self, to: Cell, pair: u8) {
        self.put(to, pair);
        self.push(Insn::rk(Op::STDY, pair + 1, cell(to) + 1));
    }

    fn repeat(&mut self, times: usize, counter: Cell, body: &[Action]) -> Result<(), LowerError> {
        self.set_pair(counter, times as i32);
        let top = self.at;
        self.steps(body)?;
        self.get_pair(24, counter);
        self.dk(Op::SBIW, 24, 1);
        self.put_pair(counter, 24);
        self.again(top)
    }

    fn bit(&mut self) {
        self.get(25, Cell::Left);
        self.get(24, Cell::Word);
        self.rr(Op::AND, 25, 25);
        // The next word, if no bit is left of this one.
        let fetch = {
            let mut e = Self::default();
            e.get_pair(24, Cell::Next);
            e.dk(Op::SBIW, 24, 1);
            e.put_pair(Cell::Next, 24);
            e.rr(Op::MOVW, X, Y);
            e.rr(Op::ADD, X, 24);
            e.rr(Op::ADC, X + 1, 25);
            e.rr(Op::LDX, 24, 0);
            e.dk(Op::LDI, 25, 8);
            e
        };
        self.branch(Op::BRBC, ZERO, fetch.at as i32);
        fetch.insns.into_iter().for_each(|insn| self.push(insn));
        self.rr(Op::DEC, 25, 0);
        self.put(Cell::Left, 25);
        self.get(25, Cell::Digit);
        self.rr(Op::ADD, 24, 24);
        self.rr(Op::ADC, 25, 25);
        self.put(Cell::Word, 24);
        self.put(Cell::Digit, 25);
    }

    fn copy(&mut self, to: To, from: Stored) -> Result<(), LowerError> {
        match to {
            To::Place(at) => self.point(Z, at),
            To::Entry => {
                self.get_pair(24, Cell::Entry);
                self.rr(Op::MOVW, Z, Y);
                self.rr(Op::ADD, Z, 24);
                self.rr(Op::ADC, Z + 1, 25);
                self.add(24, from.bytes);
                self.put_pair(Cell::Entry, 24);
            }
        }
        self.point(X, from.at);
        self.copy_pass(from.bytes)
    }

    /// Copies from where X points to where Z does.
    fn copy_pass(&mut self, bytes: usize) -> Result<(), LowerError> {
        self.over(bytes, |e| {
            e.rr(Op::LDX_INC, 25, 0);
            e.push(Insn::rk(Op::STZ_INC, 25, 0));
        })
    }

    /// The mask of a cell that holds 0 or 1.
    fn mask(&mut self, r: u8, from: Cell) {
        self.get(r, from);
        self.rr(Op::NEG, r, 0);
    }

    /// Reads a table whole, and stores where Z points the entry that the digit says: a routine.
    fn read(&mut self, table: &Table) -> Result<(), LowerError> {
        let bytes = table.bytes;
        let block = (1..=BLOCK).rev().find(|b| bytes.is_multiple_of(*b));
        let block = block.unwrap_or(1);
        let collected = || COLLECTED..COLLECTED + block as u8;
        let pairs = || collected().step_by(2);
        self.point(18, table.at);
        // Of eight entries at a time a bit of r23 says which it is, and r25 of which eight.
        self.get(25, Cell::Digit);
        self.dk(Op::LDI, 23, 1);
        for (bit, op, times) in [(0, Op::ADD, 1), (1, Op::ADD, 2), (2, Op::SWAP, 1)] {
            for _ in 0..times {
                self.skip(25, bit);
                self.rr(op, 23, if op == Op::ADD { 23 } else { 0 });
            }
        }
        (0..3).for_each(|_| self.rr(Op::LSR, 25, 0));
        let at_once = table.entries.min(8);
        if bytes / block > 256 {
            return Err(LowerError::Reach);
        }
        self.dk(Op::LDI, 22, (bytes / block) as i32 & 0xff);
        let top = self.at;
        self.rr(Op::MOVW, X, 18);
        self.rr(Op::MOV, 20, 25);
        self.counted(24, table.entries / at_once, |e| {
            // 255 if these are the eight: 0 - 1 borrows. No table has 256 entries.
            e.dk(Op::SUBI, 20, 1);
            e.rr(Op::SBC, 21, 21);
            e.rr(Op::AND, 21, 23);
            for bit in 0..at_once as u8 {
                // Two bytes at a time into r0 and r1, and from there if the bit is set: the skip takes as long as
                // what it skips. Of an odd block the last second byte is not stored.
                for r in pairs() {
                    e.rr(Op::LDX_INC, 0, 0);
                    if collected().contains(&(r + 1)) {
                        e.rr(Op::LDX_INC, 1, 0);
                    }
                    e.skip(21, bit);
                    e.rr(Op::MOVW, r, 0);
                }
                if bytes > block {
                    e.add(X, bytes - block);
                }
            }
        })?;
        collected().for_each(|r| self.push(Insn::rk(Op::STZ_INC, r, 0)));
        self.add(18, block);
        self.rr(Op::DEC, 22, 0);
        self.again(top)?;
        self.rr(Op::EOR, 1, 1);
        self.rr(Op::RET, 0, 0);
        Ok(())
    }

    fn swap(&mut self, a: Stored, b: usize) -> Result<(), LowerError> {
        self.mask(25, Cell::Digit);
        self.point(X, a.at);
        self.point(Z, b);
        self.over(a.bytes, |e| {
            e.rr(Op::LDX, 22, 0);
            e.dk(Op::LDDZ, 23, 0);
            e.rr(Op::MOV, 21, 22);
            e.rr(Op::EOR, 21, 23);
            e.rr(Op::AND, 21, 25);
            e.rr(Op::EOR, 22, 21);
            e.rr(Op::EOR, 23, 21);
            e.push(Insn::rk(Op::STX_INC, 22, 0));
            e.push(Insn::rk(Op::STZ_INC, 23, 0));
        })
    }

    fn sum(&mut self, sum: &MultiplyAdd) -> Result<(), LowerError> {
        if let Some(times) = sum.times {
            self.mask(25, times);
        }
        self.point(Z, sum.to.at);
        if let Some(from) = sum.from {
            self.point(X, from);
        }
        match sum.carry {
            Some(carry) => {
                self.get(24, carry);
                self.rr(Op::LSR, 24, 0);
            }
            None => self.branch(Op::BCLR, C, 0),
        }
        let op = if sum.subtract { Op::SBC } else { Op::ADC };
        self.over(sum.to.bytes, |e| {
            let from = match sum.from {
                Some(_) => {
                    e.rr(Op::LDX_INC, 22, 0);
                    if sum.times.is_some() {
                        e.rr(Op::AND, 22, 25);
                    }
                    22
                }
                None => 1,
            };
            e.dk(Op::LDDZ, 23, 0);
            e.rr(op, 23, from);
            e.push(Insn::rk(Op::STZ_INC, 23, 0));
        })?;
        if let Some(out) = sum.out {
            self.rr(Op::SBC, 24, 24);
            self.rr(Op::NEG, 24, 0);
            self.put(out, 24);
        }
        Ok(())
    }
}
