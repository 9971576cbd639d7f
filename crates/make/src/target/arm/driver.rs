//! Drivers: r4 points to the area of numbers.
//!
//! Passes over numbers count with TEQ, which leaves the carry.

use machine::isa::arm::code::{Insn, immediate_bits};
use machine::isa::arm::instructions::{Op, Ops};
use machine::isa::arm::machine::{LR, SP};
use machine::program::Program;

use crate::driver::{Assembled, Cell, Driver, Place, Step, Sum, To};
use crate::refusal::LowerError;

/// The area.
const AREA: u8 = 4;
/// Where a pass reads and writes, and reads; how many passes are left.
const TO: u8 = 0;
const FROM: u8 = 1;
const COUNT: u8 = 2;
const A: u8 = 3;
const B: u8 = 12;
/// A mask.
const MASK: u8 = 5;
/// Words of a table's entry, and the mask then.
const COLLECTED: [u8; 8] = [5, 6, 7, 8, 9, 10, 11, 12];
const CHOSEN: u8 = LR;
/// r4 to r11 and the return address.
const SAVED: u16 = 0x0ff0 | 1 << LR;
/// Bytes of the largest area: addresses are made of two immediates.
const MOST_BYTES: usize = 0xfc00;
/// Condition codes.
const NE: u8 = 1;
const CC: u8 = 3;

/// The instructions of `driver`.
///
/// # Errors
/// When there is too little memory.
pub fn lower(driver: &Driver) -> Result<Assembled<Insn>, LowerError> {
    if driver.bytes > MOST_BYTES {
        return Err(LowerError::Area(driver.bytes));
    }
    let mut e = Emitter::default();
    let mut starts = Vec::with_capacity(driver.routines.len());
    for (i, routine) in driver.routines.iter().enumerate() {
        let saved = if i == 0 { SAVED } else { 1 << LR };
        starts.push(e.insns.len());
        e.push(Insn::block(Op::STM, SP, (true, false), true, saved));
        if i == 0 {
            e.push(Insn::reg(Op::MOV, false, AREA, 0, 0));
        }
        e.steps(routine);
        e.push(Insn::block(Op::LDM, SP, (false, true), true, saved));
        let ops = Ops {
            m: LR,
            ..Ops::default()
        };
        e.push(Insn { op: Op::BX, ops });
    }
    for (index, routine) in std::mem::take(&mut e.routines) {
        e.insns[index].ops.k = reach(index, starts[routine]);
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
    let mut e = Emitter::default();
    e.number(COUNT, bytes / 4);
    let top = e.insns.len();
    e.push(Insn::post(Op::LDR, A, FROM, 4));
    e.push(Insn::post(Op::STR, A, TO, 4));
    e.again(top);
    let ops = Ops {
        m: LR,
        ..Ops::default()
    };
    e.push(Insn { op: Op::BX, ops });
    e.insns
}

/// How far it is from two instructions behind that of index `at` to `to`, in words.
fn reach(at: usize, to: usize) -> i32 {
    to as i32 - at as i32 - 2
}

#[derive(Default)]
struct Emitter {
    insns: Vec<Insn>,
    calls: Vec<(usize, usize)>,
    routines: Vec<(usize, usize)>,
}

impl Emitter {
    fn push(&mut self, insn: Insn) {
        self.insns.push(insn);
    }

    fn imm(&mut self, op: Op, s: bool, d: u8, n: u8, value: u8) {
        self.push(Insn::imm(op, s, d, n, value));
    }

    fn reg(&mut self, op: Op, s: bool, d: u8, n: u8, m: u8) {
        self.push(Insn::reg(op, s, d, n, m));
    }

    fn get(&mut self, r: u8, from: Cell) {
        self.push(Insn::at(Op::LDR, r, AREA, from.at(4) as i32, false));
    }

    fn put(&mut self, to: Cell, r: u8) {
        self.push(Insn::at(Op::STR, r, AREA, to.at(4) as i32, false));
    }

    fn number(&mut self, r: u8, value: usize) {
        self.insns.extend(Insn::number(r, value as u32));
    }

    /// `d = n + k`, in parts that are immediates.
    fn add(&mut self, d: u8, n: u8, k: usize) {
        let mut from = n;
        for part in [k & 0xff, k & 0xff00] {
            if let (true, Some(bits)) = (part != 0, immediate_bits(part as u32)) {
                self.push(Insn::alu(Op::ADD, false, d, from, bits));
                from = d;
            }
        }
        if from == n && d != n {
            self.reg(Op::MOV, false, d, 0, n);
        }
    }

    fn point(&mut self, r: u8, at: usize) {
        self.add(r, AREA, at);
    }

    fn branch(&mut self, cond: u8, to: usize) {
        let ops = Ops {
            cond,
            k: reach(self.insns.len(), to),
            ..Ops::default()
        };
        self.push(Insn { op: Op::B, ops });
    }

    /// A branch to wherever [`Self::here`] is called for it.
    fn ahead(&mut self, cond: u8) -> usize {
        self.branch(cond, 0);
        self.insns.len() - 1
    }

    fn here(&mut self, branch: usize) {
        self.insns[branch].ops.k = reach(branch, self.insns.len());
    }

    /// A pass over `bytes` bytes from [`TO`] on: the body for each word, which moves the pointers.
    fn over(&mut self, bytes: usize, body: impl Fn(&mut Self)) {
        /// Words of a pass of the loop.
        const UNROLL: usize = 4;
        let words = bytes / 4;
        let unroll = (1..=UNROLL).rev().find(|u| words.is_multiple_of(*u));
        let unroll = unroll.unwrap_or(1);
        if words == unroll {
            return (0..words).for_each(|_| body(self));
        }
        self.number(COUNT, words / unroll);
        let top = self.insns.len();
        (0..unroll).for_each(|_| body(self));
        self.again(top);
    }

    /// The end of a loop, which leaves the carry.
    fn again(&mut self, top: usize) {
        self.imm(Op::SUB, false, COUNT, COUNT, 1);
        self.imm(Op::TEQ, false, 0, COUNT, 0);
        self.branch(NE, top);
    }

    fn steps(&mut self, steps: &[Step]) {
        steps.iter().for_each(|step| self.step(step));
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Call { kernel, pointers } => {
                for (r, at) in (0..4).zip(pointers) {
                    self.point(r, *at);
                }
                self.calls.push((self.insns.len(), *kernel));
                self.call();
            }
            Step::Do(routine) => {
                self.routines.push((self.insns.len(), *routine));
                self.call();
            }
            Step::Repeat {
                times,
                counter,
                body,
            } => {
                self.number(A, *times);
                self.put(*counter, A);
                let top = self.insns.len();
                self.steps(body);
                self.get(A, *counter);
                self.imm(Op::SUB, true, A, A, 1);
                self.put(*counter, A);
                self.branch(NE, top);
            }
            Step::Rewind(exponent) => {
                self.number(A, exponent.at + exponent.bytes);
                self.put(Cell::Next, A);
                self.clear(Cell::Left);
            }
            Step::Bit => self.bit(),
            Step::NoDigit => self.clear(Cell::Digit),
            Step::IfDigit {
                least,
                body,
                otherwise,
            } => {
                self.get(A, Cell::Digit);
                self.imm(Op::CMP, false, 0, A, *least);
                let other = self.ahead(CC);
                self.steps(body);
                let always = Ops::default().cond;
                let end = (!otherwise.is_empty()).then(|| self.ahead(always));
                self.here(other);
                self.steps(otherwise);
                if let Some(end) = end {
                    self.here(end);
                }
            }
            Step::Copy { to, from } => self.copy(*to, *from),
            Step::Table(at) => {
                self.number(A, *at);
                self.put(Cell::Entry, A);
            }
            Step::Take(to) => {
                self.get(A, Cell::Next);
                self.reg(Op::ADD, false, FROM, AREA, A);
                self.add(A, A, to.bytes);
                self.put(Cell::Next, A);
                self.point(TO, to.at);
                self.copy_pass(to.bytes);
            }
            Step::Number { to, value } => {
                self.point(TO, to.at);
                self.imm(Op::MOV, false, A, 0, 0);
                self.over(to.bytes, |e| e.push(Insn::post(Op::STR, A, TO, 4)));
                self.point(TO, to.at);
                self.imm(Op::MOV, false, A, 0, *value);
                self.push(Insn::at(Op::STR, A, TO, 0, false));
            }
            Step::Lookup { to, table, entries } => self.lookup(*to, *table, *entries),
            Step::Pick { to, table, less } => {
                self.get(A, Cell::Digit);
                self.imm(Op::SUB, false, A, A, *less);
                self.point(FROM, *table);
                let top = self.insns.len();
                self.add(FROM, FROM, to.bytes);
                self.imm(Op::SUB, true, A, A, 1);
                self.branch(NE, top);
                self.point(TO, to.at);
                self.copy_pass(to.bytes);
            }
            Step::Swap { a, b } => self.swap(*a, *b),
            Step::Sum(sum) => self.sum(sum),
            Step::AddWord { to, word, lacks } => {
                self.point(FROM, *word);
                self.push(Insn::at(Op::LDR, A, FROM, 0, false));
                // The word, then its sign.
                self.reg(Op::ADD, true, B, A, A);
                self.imm(Op::MOV, false, MASK, 0, 0);
                self.imm(Op::ADC, false, MASK, MASK, 0);
                self.imm(Op::RSB, false, MASK, MASK, 0);
                self.imm(Op::MOV, false, B, 0, 0);
                self.imm(Op::CMP, false, 0, B, 1);
                self.point(TO, to.at);
                self.over(to.bytes, |e| {
                    e.push(Insn::at(Op::LDR, B, TO, 0, false));
                    e.reg(Op::ADC, true, B, B, A);
                    e.push(Insn::post(Op::STR, B, TO, 4));
                    e.reg(Op::MOV, false, A, 0, MASK);
                });
                // -carry - sign
                self.imm(Op::ADC, false, A, MASK, 0);
                self.imm(Op::RSB, false, A, A, 0);
                self.put(*lacks, A);
            }
            Step::NotZero { to, of } => {
                self.point(FROM, of.at);
                self.imm(Op::MOV, false, B, 0, 0);
                self.over(of.bytes, |e| {
                    e.push(Insn::post(Op::LDR, A, FROM, 4));
                    e.reg(Op::ORR, false, B, B, A);
                });
                self.imm(Op::CMP, false, 0, B, 1);
                self.imm(Op::MOV, false, A, 0, 0);
                self.imm(Op::ADC, false, A, A, 0);
                self.put(*to, A);
            }
            Step::Fewer(from, less) => {
                self.get(A, *from);
                self.get(B, *less);
                self.reg(Op::SUB, false, A, A, B);
                self.put(*from, A);
            }
        }
    }

    /// A call whose target is not known yet: BL to itself, which is what a relocation starts from.
    fn call(&mut self) {
        let ops = Ops {
            k: -2,
            ..Ops::default()
        };
        self.push(Insn { op: Op::BL, ops });
    }

    fn clear(&mut self, cell: Cell) {
        self.imm(Op::MOV, false, A, 0, 0);
        self.put(cell, A);
    }

    fn bit(&mut self) {
        let (left, word, other) = (A, B, COUNT);
        self.get(left, Cell::Left);
        self.get(word, Cell::Word);
        self.imm(Op::CMP, false, 0, left, 0);
        let some = self.ahead(NE);
        self.get(other, Cell::Next);
        self.imm(Op::SUB, false, other, other, 4);
        self.put(Cell::Next, other);
        self.reg(Op::ADD, false, other, AREA, other);
        self.push(Insn::at(Op::LDR, word, other, 0, false));
        self.imm(Op::MOV, false, left, 0, 32);
        self.here(some);
        self.imm(Op::SUB, false, left, left, 1);
        self.put(Cell::Left, left);
        self.get(other, Cell::Digit);
        self.reg(Op::ADD, true, word, word, word);
        self.reg(Op::ADC, false, other, other, other);
        self.put(Cell::Word, word);
        self.put(Cell::Digit, other);
    }

    fn copy(&mut self, to: To, from: Place) {
        match to {
            To::Place(at) => self.point(TO, at),
            To::Entry => {
                self.get(A, Cell::Entry);
                self.reg(Op::ADD, false, TO, AREA, A);
                self.add(A, A, from.bytes);
                self.put(Cell::Entry, A);
            }
        }
        self.point(FROM, from.at);
        self.copy_pass(from.bytes);
    }

    /// Copies from where [`FROM`] points to where [`TO`] does.
    fn copy_pass(&mut self, bytes: usize) {
        self.over(bytes, |e| {
            e.push(Insn::post(Op::LDR, A, FROM, 4));
            e.push(Insn::post(Op::STR, A, TO, 4));
        });
    }

    /// The mask of a cell that holds 0 or 1.
    fn mask(&mut self, from: Cell) {
        self.get(MASK, from);
        self.imm(Op::RSB, false, MASK, MASK, 0);
    }

    fn lookup(&mut self, to: Place, table: usize, entries: usize) {
        let words = to.bytes / 4;
        let block = (1..=COLLECTED.len())
            .rev()
            .find(|b| words.is_multiple_of(*b));
        let block = block.unwrap_or(1);
        let collected = &COLLECTED[..block];
        let index = COUNT;
        self.point(TO, to.at);
        for first in (0..words).step_by(block) {
            self.point(FROM, table + 4 * first);
            collected
                .iter()
                .for_each(|r| self.imm(Op::MOV, false, *r, 0, 0));
            self.imm(Op::MOV, false, index, 0, 0);
            let top = self.insns.len();
            // All ones if this entry is the one: 0 - 1 borrows.
            self.get(A, Cell::Digit);
            self.reg(Op::EOR, false, A, A, index);
            self.imm(Op::SUB, true, A, A, 1);
            self.reg(Op::SBC, false, CHOSEN, A, A);
            for r in collected {
                self.push(Insn::post(Op::LDR, A, FROM, 4));
                self.reg(Op::AND, false, A, A, CHOSEN);
                self.reg(Op::ORR, false, *r, *r, A);
            }
            self.add(FROM, FROM, to.bytes - 4 * block);
            self.imm(Op::ADD, false, index, index, 1);
            self.imm(Op::CMP, false, 0, index, entries as u8);
            self.branch(NE, top);
            for r in collected {
                self.push(Insn::post(Op::STR, *r, TO, 4));
            }
        }
    }

    fn swap(&mut self, a: Place, b: usize) {
        const C: u8 = 6;
        self.mask(Cell::Digit);
        self.point(TO, a.at);
        self.point(FROM, b);
        self.over(a.bytes, |e| {
            e.push(Insn::at(Op::LDR, A, TO, 0, false));
            e.push(Insn::at(Op::LDR, B, FROM, 0, false));
            e.reg(Op::EOR, false, C, A, B);
            e.reg(Op::AND, false, C, C, MASK);
            e.reg(Op::EOR, false, A, A, C);
            e.reg(Op::EOR, false, B, B, C);
            e.push(Insn::post(Op::STR, A, TO, 4));
            e.push(Insn::post(Op::STR, B, FROM, 4));
        });
    }

    fn sum(&mut self, sum: &Sum) {
        if let Some(times) = sum.times {
            self.mask(times);
        }
        self.point(TO, sum.to.at);
        if let Some(from) = sum.from {
            self.point(FROM, from);
        }
        match sum.carry {
            Some(carry) => self.get(A, carry),
            None => self.imm(Op::MOV, false, A, 0, 0),
        }
        match sum.subtract {
            // No borrow is a carry here.
            true => self.imm(Op::RSB, true, A, A, 0),
            false => self.imm(Op::CMP, false, 0, A, 1),
        }
        let op = if sum.subtract { Op::SBC } else { Op::ADC };
        self.over(sum.to.bytes, |e| {
            match sum.from {
                Some(_) => e.push(Insn::post(Op::LDR, A, FROM, 4)),
                None => e.imm(Op::MOV, false, A, 0, 0),
            }
            if sum.times.is_some() {
                e.reg(Op::AND, false, A, A, MASK);
            }
            e.push(Insn::at(Op::LDR, B, TO, 0, false));
            e.reg(op, true, B, B, A);
            e.push(Insn::post(Op::STR, B, TO, 4));
        });
        if let Some(out) = sum.out {
            self.imm(Op::MOV, false, A, 0, 0);
            match sum.subtract {
                true => {
                    self.reg(Op::SBC, false, A, A, A);
                    self.imm(Op::AND, false, A, A, 1);
                }
                false => self.imm(Op::ADC, false, A, A, 0),
            }
            self.put(out, A);
        }
    }
}
