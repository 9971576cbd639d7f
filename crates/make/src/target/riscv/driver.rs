//! Drivers: s0 points to the area of numbers.
//!
//! What a step works with is free in a call. Carries are words, as everywhere on this machine.

use machine::isa::riscv::abi::{ARGUMENTS, RA, SP, stack_align};
use machine::isa::riscv::code::Insn;
use machine::isa::riscv::cores::Core;
use machine::isa::riscv::instructions::Op;
use machine::isa::riscv::operands::Features;
use machine::program::Program;

use crate::driver::{Assembled, Cell, Driver, Place, Step, Sum, To};
use crate::engine::asm::Asm;
use crate::refusal::LowerError;
use crate::target::riscv::flow::Flow;
use crate::target::riscv::registers::ZERO;

/// s0: the area.
const AREA: u8 = 8;
/// a0, a1, a2: where a pass over numbers reads and writes, reads, and ends.
const TO: u8 = 10;
const FROM: u8 = 11;
const END: u8 = 12;
/// a3: the carry.
const CARRY: u8 = 13;
/// a4, a5, t0: words.
const WORDS: [u8; 3] = [14, 15, 5];
const A: u8 = WORDS[0];
const B: u8 = WORDS[1];
const C: u8 = WORDS[2];
/// t1: a mask.
const MASK: u8 = 6;
/// t2: a word that is added, the index in a table, or a long step.
const PART: u8 = 7;
/// a6, a7 and t3 to t6: words of a table's entry.
const COLLECTED: [u8; 6] = [16, 17, 28, 29, 30, 31];
/// Words of a pass of a loop.
const UNROLL: usize = 4;
/// The largest area: its addresses are numbers of 31 bits.
const MOST_BYTES: usize = 0x7fff_ffff;

/// The instructions of `driver`.
///
/// # Errors
/// When there is too little memory, or a branch does not reach.
pub fn lower(driver: &Driver, core: &Core) -> Result<Assembled<Insn>, LowerError> {
    if driver.bytes > MOST_BYTES {
        return Err(LowerError::Area(driver.bytes));
    }
    let mut e = Emitter::new(core.features);
    let mut starts = Vec::with_capacity(driver.routines.len());
    let room = stack_align(core.features).max(8) as i32;
    for (i, routine) in driver.routines.iter().enumerate() {
        starts.push(e.flow.here());
        e.immediate(Op::ADDI, SP, SP, -room);
        e.store(RA, SP, 4);
        e.store(AREA, SP, 0);
        if i == 0 {
            e.copy_word(AREA, ARGUMENTS[0]);
        }
        e.steps(routine)?;
        e.immediate(Op::LW, RA, SP, 4);
        e.immediate(Op::LW, AREA, SP, 0);
        e.immediate(Op::ADDI, SP, SP, room);
        e.immediate(Op::JALR, ZERO, RA, 0);
    }
    for (index, routine) in std::mem::take(&mut e.routines) {
        e.flow.aim(index, starts[routine]);
    }
    Ok(Assembled {
        program: Program {
            insns: e.flow.finish(core.features)?,
            ..Program::new()
        },
        calls: e.calls,
    })
}

/// A function that copies `bytes` bytes from its second argument to its first.
pub fn stub(bytes: usize, core: &Core) -> Vec<Insn> {
    let [to, from] = [ARGUMENTS[0], ARGUMENTS[1]];
    let mut e = Emitter::new(core.features);
    e.flow.number(END, bytes as u32);
    e.three(Op::ADD, END, END, to);
    let top = e.flow.here();
    e.immediate(Op::LW, A, from, 0);
    e.immediate(Op::ADDI, from, from, 4);
    e.store(A, to, 0);
    e.immediate(Op::ADDI, to, to, 4);
    e.branch(Op::BNE, END, to, top);
    e.immediate(Op::JALR, ZERO, RA, 0);
    e.flow.finish(core.features).unwrap_or_default()
}

struct Emitter {
    flow: Flow,
    features: Features,
    calls: Vec<(usize, usize)>,
    routines: Vec<(usize, usize)>,
}

impl Emitter {
    fn new(features: Features) -> Self {
        Self {
            flow: Flow::default(),
            features,
            calls: Vec::new(),
            routines: Vec::new(),
        }
    }

    fn three(&mut self, op: Op, d: u8, s: u8, t: u8) {
        self.flow.push(Insn::three(op, d, s, t));
    }

    fn immediate(&mut self, op: Op, d: u8, s: u8, k: i32) {
        self.flow.push(Insn::immediate(op, d, s, k));
    }

    fn store(&mut self, t: u8, s: u8, k: i32) {
        self.flow.push(Insn::store(Op::SW, t, s, k));
    }

    fn copy_word(&mut self, d: u8, from: u8) {
        self.three(Op::ADD, d, ZERO, from);
    }

    fn get(&mut self, r: u8, from: Cell) {
        self.immediate(Op::LW, r, AREA, from.at(4) as i32);
    }

    fn put(&mut self, to: Cell, r: u8) {
        self.store(r, AREA, to.at(4) as i32);
    }

    fn number(&mut self, r: u8, value: usize) {
        self.flow.number(r, value as u32);
    }

    /// `r` points to byte `at` of the area.
    fn point(&mut self, r: u8, at: usize) {
        if at < 2048 {
            self.immediate(Op::ADDI, r, AREA, at as i32);
        } else {
            self.number(r, at);
            self.three(Op::ADD, r, r, AREA);
        }
    }

    /// Moves a pointer on, by way of t2 where that is far.
    fn step_on(&mut self, r: u8, bytes: usize) {
        if bytes < 2048 {
            self.immediate(Op::ADDI, r, r, bytes as i32);
        } else {
            self.number(PART, bytes);
            self.three(Op::ADD, r, r, PART);
        }
    }

    /// A branch to an instruction that is there already.
    fn branch(&mut self, op: Op, s: u8, t: u8, to: usize) -> usize {
        self.flow.branch(Insn::store(op, t, s, 0), to)
    }

    /// A branch to wherever it will land.
    fn ahead(&mut self, op: Op, s: u8, t: u8) -> usize {
        self.branch(op, s, t, 0)
    }

    /// A pass over `bytes` bytes from [`TO`] on, and from [`FROM`] if it `reads` there: the body for so many words at a
    /// time.
    fn over(&mut self, bytes: usize, reads: bool, body: impl Fn(&mut Self, usize)) {
        let words = bytes / 4;
        let unroll = (1..=UNROLL).rev().find(|u| words.is_multiple_of(*u));
        let unroll = unroll.unwrap_or(1);
        if words == unroll {
            body(self, unroll);
            return;
        }
        self.number(END, bytes);
        self.three(Op::ADD, END, END, TO);
        let top = self.flow.here();
        body(self, unroll);
        let step = 4 * unroll as i32;
        self.immediate(Op::ADDI, TO, TO, step);
        if reads {
            self.immediate(Op::ADDI, FROM, FROM, step);
        }
        self.branch(Op::BNE, TO, END, top);
    }

    fn steps(&mut self, steps: &[Step]) -> Result<(), LowerError> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> Result<(), LowerError> {
        match step {
            Step::Call { kernel, pointers } => {
                let arguments = ARGUMENTS.into_iter().zip(pointers);
                arguments.for_each(|(r, at)| self.point(r, *at));
                let call = self.flow.call(Insn::immediate(Op::JAL, RA, 0, 0));
                self.calls.push((call, *kernel));
            }
            Step::Do(routine) => {
                let call = self.flow.branch(Insn::immediate(Op::JAL, RA, 0, 0), 0);
                self.routines.push((call, *routine));
            }
            Step::Repeat {
                times,
                counter,
                body,
            } => {
                self.number(A, *times);
                self.put(*counter, A);
                let top = self.flow.here();
                self.steps(body)?;
                self.get(A, *counter);
                self.immediate(Op::ADDI, A, A, -1);
                self.put(*counter, A);
                // The body may be longer than a branch reaches.
                let done = self.ahead(Op::BEQ, A, ZERO);
                self.flow.branch(Insn::immediate(Op::JAL, ZERO, 0, 0), top);
                self.flow.land(done);
            }
            Step::Rewind(exponent) => {
                self.number(A, exponent.at + exponent.bytes);
                self.put(Cell::Next, A);
                self.put(Cell::Left, ZERO);
            }
            Step::Bit => self.bit(),
            Step::NoDigit => self.put(Cell::Digit, ZERO),
            Step::IfDigit {
                least,
                body,
                otherwise,
            } => self.if_digit(*least, body, otherwise)?,
            Step::Copy { to, from } => self.copy(*to, *from),
            Step::Table(at) => {
                self.number(A, *at);
                self.put(Cell::Entry, A);
            }
            Step::Take(to) => {
                self.get(A, Cell::Next);
                self.three(Op::ADD, FROM, AREA, A);
                self.step_on(A, to.bytes);
                self.put(Cell::Next, A);
                self.point(TO, to.at);
                self.copy_pass(to.bytes);
            }
            Step::Number { to, value } => {
                self.point(TO, to.at);
                self.over(to.bytes, false, |e, words| {
                    (0..words).for_each(|i| e.store(ZERO, TO, 4 * i as i32));
                });
                if *value != 0 {
                    self.number(A, usize::from(*value));
                    self.point(TO, to.at);
                    self.store(A, TO, 0);
                }
            }
            Step::Lookup { to, table, entries } => self.lookup(*to, *table, *entries),
            Step::Pick { to, table, less } => {
                self.get(A, Cell::Digit);
                self.immediate(Op::ADDI, A, A, -i32::from(*less));
                self.point(FROM, *table);
                let top = self.flow.here();
                self.immediate(Op::ADDI, A, A, -1);
                self.step_on(FROM, to.bytes);
                self.branch(Op::BNE, A, ZERO, top);
                self.point(TO, to.at);
                self.copy_pass(to.bytes);
            }
            Step::Swap { a, b } => self.swap(*a, *b),
            Step::Sum(sum) => self.sum(sum),
            Step::AddWord { to, word, lacks } => self.add_word(*to, *word, *lacks),
            Step::NotZero { to, of } => {
                self.point(TO, of.at);
                self.copy_word(B, ZERO);
                self.over(of.bytes, false, |e, words| {
                    for at in (0..words).map(|i| 4 * i as i32) {
                        e.immediate(Op::LW, A, TO, at);
                        e.three(Op::OR, B, B, A);
                    }
                });
                self.three(Op::SLTU, A, ZERO, B);
                self.put(*to, A);
            }
            Step::Fewer(from, less) => {
                self.get(A, *from);
                self.get(B, *less);
                self.three(Op::SUB, A, A, B);
                self.put(*from, A);
            }
        }
        Ok(())
    }

    fn if_digit(&mut self, least: u8, body: &[Step], otherwise: &[Step]) -> Result<(), LowerError> {
        self.get(A, Cell::Digit);
        let some = match least {
            1 => self.ahead(Op::BNE, A, ZERO),
            _ => {
                self.immediate(Op::SLTIU, A, A, i32::from(least));
                self.ahead(Op::BEQ, A, ZERO)
            }
        };
        let jump = Insn::immediate(Op::JAL, ZERO, 0, 0);
        let other = self.flow.branch(jump, 0);
        self.flow.land(some);
        self.steps(body)?;
        if otherwise.is_empty() {
            self.flow.land(other);
            return Ok(());
        }
        let end = self.flow.branch(jump, 0);
        self.flow.land(other);
        self.steps(otherwise)?;
        self.flow.land(end);
        Ok(())
    }

    fn bit(&mut self) {
        let (left, word, digit) = (A, B, C);
        self.get(left, Cell::Left);
        self.get(word, Cell::Word);
        let some = self.ahead(Op::BNE, left, ZERO);
        self.get(FROM, Cell::Next);
        self.immediate(Op::ADDI, FROM, FROM, -4);
        self.put(Cell::Next, FROM);
        self.three(Op::ADD, FROM, AREA, FROM);
        self.immediate(Op::LW, word, FROM, 0);
        self.number(left, 32);
        self.flow.land(some);
        self.immediate(Op::ADDI, left, left, -1);
        self.put(Cell::Left, left);
        self.get(digit, Cell::Digit);
        self.immediate(Op::SRLI, left, word, 31);
        self.immediate(Op::SLLI, word, word, 1);
        self.put(Cell::Word, word);
        self.immediate(Op::SLLI, digit, digit, 1);
        self.three(Op::OR, digit, digit, left);
        self.put(Cell::Digit, digit);
    }

    fn copy(&mut self, to: To, from: Place) {
        match to {
            To::Place(at) => self.point(TO, at),
            To::Entry => {
                self.get(A, Cell::Entry);
                self.three(Op::ADD, TO, AREA, A);
                self.step_on(A, from.bytes);
                self.put(Cell::Entry, A);
            }
        }
        self.point(FROM, from.at);
        self.copy_pass(from.bytes);
    }

    /// Copies from where [`FROM`] points to where [`TO`] does.
    fn copy_pass(&mut self, bytes: usize) {
        self.over(bytes, true, |e, words| {
            let words = [A, B, C, PART].into_iter().take(words).enumerate();
            let list = words.map(|(i, r)| (r, 4 * i as i32));
            list.clone()
                .for_each(|(r, at)| e.immediate(Op::LW, r, FROM, at));
            list.for_each(|(r, at)| e.store(r, TO, at));
        });
    }

    /// The mask of a cell that holds 0 or 1.
    fn mask(&mut self, from: Cell) {
        self.get(MASK, from);
        self.three(Op::SUB, MASK, ZERO, MASK);
    }

    fn lookup(&mut self, to: Place, table: usize, entries: usize) {
        let words = to.bytes / 4;
        let there = self.features.registers();
        // Without a6 and the registers above, a0 collects a word: nothing else is in it here.
        let free: Vec<u8> = COLLECTED.into_iter().filter(|r| *r < there).collect();
        let free = if free.is_empty() { vec![TO] } else { free };
        let mut blocks = (1..=free.len()).rev();
        let block = blocks.find(|b| words.is_multiple_of(*b)).unwrap_or(1);
        let collected = &free[..block];
        let index = PART;
        for first in (0..words).step_by(block) {
            self.point(FROM, table + 4 * first);
            self.get(CARRY, Cell::Digit);
            collected.iter().for_each(|r| self.copy_word(*r, ZERO));
            self.copy_word(index, ZERO);
            self.number(END, to.bytes);
            let top = self.flow.here();
            // All ones if this entry is the one.
            self.three(Op::XOR, A, CARRY, index);
            self.immediate(Op::SLTIU, A, A, 1);
            self.three(Op::SUB, MASK, ZERO, A);
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
            self.immediate(Op::ADDI, index, index, 1);
            self.three(Op::ADD, FROM, FROM, END);
            self.immediate(Op::SLTIU, A, index, entries as i32);
            self.branch(Op::BNE, A, ZERO, top);
            self.point(B, to.at + 4 * first);
            for (i, r) in collected.iter().enumerate() {
                self.store(*r, B, 4 * i as i32);
            }
        }
    }

    fn swap(&mut self, a: Place, b: usize) {
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
                e.store(A, TO, at);
                e.store(B, FROM, at);
            }
        });
    }

    /// The word, then its sign.
    fn add_word(&mut self, to: Place, word: usize, lacks: Cell) {
        self.point(TO, word);
        self.immediate(Op::LW, PART, TO, 0);
        self.point(TO, to.at);
        self.immediate(Op::SRAI, MASK, PART, 31);
        self.copy_word(CARRY, ZERO);
        self.over(to.bytes, false, |e, words| {
            for at in (0..words).map(|i| 4 * i as i32) {
                e.immediate(Op::LW, A, TO, at);
                e.three(Op::ADD, A, A, PART);
                e.three(Op::SLTU, C, A, PART);
                e.three(Op::ADD, A, A, CARRY);
                e.three(Op::SLTU, B, A, CARRY);
                e.three(Op::OR, CARRY, B, C);
                e.store(A, TO, at);
                e.copy_word(PART, MASK);
            }
        });
        // -carry - sign
        self.three(Op::ADD, A, CARRY, MASK);
        self.three(Op::SUB, A, ZERO, A);
        self.put(lacks, A);
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
            Some(carry) => self.get(CARRY, carry),
            None => self.copy_word(CARRY, ZERO),
        }
        self.over(sum.to.bytes, sum.from.is_some(), |e, words| {
            for at in (0..words).map(|i| 4 * i as i32) {
                e.immediate(Op::LW, A, TO, at);
                match sum.from {
                    Some(_) => e.immediate(Op::LW, B, FROM, at),
                    None => e.copy_word(B, ZERO),
                }
                if sum.times.is_some() {
                    e.three(Op::AND, B, B, MASK);
                }
                e.add(sum.subtract);
                e.store(A, TO, at);
            }
        });
        if let Some(out) = sum.out {
            self.put(out, CARRY);
        }
    }

    /// [`A`] ± [`B`] ± [`CARRY`]. Each of the two steps may carry, both together at most once.
    fn add(&mut self, subtract: bool) {
        if subtract {
            self.three(Op::SLTU, C, A, B);
            self.three(Op::SUB, A, A, B);
            self.three(Op::SLTU, B, A, CARRY);
            self.three(Op::SUB, A, A, CARRY);
        } else {
            self.three(Op::ADD, A, A, B);
            self.three(Op::SLTU, C, A, B);
            self.three(Op::ADD, A, A, CARRY);
            self.three(Op::SLTU, B, A, CARRY);
        }
        self.three(Op::OR, CARRY, B, C);
    }
}
