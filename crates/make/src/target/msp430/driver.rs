//! The MSP430 instructions that drivers are written with: R10 points to the area of numbers, a carry waits in R9 while a loop goes
//! round, and jumps that may be long add a distance to PC.

use machine::isa::msp430::Msp430Isa;
use machine::isa::msp430::code::{Dest, Insn, Source};
use machine::isa::msp430::convention::{Abi, GCC};
use machine::isa::msp430::instructions::Op;
use machine::isa::msp430::operands::{PC, SR};

use crate::engine::basic::{Moves, Three};
use crate::engine::driven::{Beside, Driven, Mem, Roles, Values};
use crate::refusal::LowerError;
use crate::target::msp430::flow::{Flow, unit};
use crate::target::msp430::frame::{back, save};

/// The area.
const AREA: u8 = 10;
/// Where a pass over numbers reads and writes, and reads; how many rounds are left, or the index in a table.
const TO: u8 = 12;
const FROM: u8 = 13;
const COUNT: u8 = 14;
/// Words.
const X: u8 = 15;
const Y: u8 = 11;
const Z: u8 = 9;
/// The carry between two rounds, in which no word is in it.
const CARRY: u8 = Z;
const MASK: u8 = 8;
/// Words of a table's entry.
const COLLECTED: [u8; 5] = [4, 5, 6, 7, MASK];
/// What a driver changes, as far as a caller may want it back.
const CHANGED: std::ops::RangeInclusive<u8> = 4..=Y;

/// Code with jumps.
pub struct Code {
    flow: Flow,
    /// Is it called by CALLA, so that it may lie above 64 KB?
    large: bool,
    /// What the function saves.
    saved: Vec<u8>,
    /// Is there a carry that a loop must keep?
    carries: bool,
    /// Has the pointer that is only read through moved on already in this round?
    walked: bool,
}

impl Code {
    /// None as yet, of a function in this convention.
    pub fn of(abi: &Abi) -> Self {
        Self {
            flow: Flow::default(),
            large: abi.large,
            saved: CHANGED.filter(|r| abi.preserves(*r)).collect(),
            carries: false,
            walked: false,
        }
    }

    /// `r = r op source`.
    fn on(&mut self, op: Op, source: Source, r: u8) {
        self.flow.register(op, source, r);
    }

    /// `r = r op x`.
    fn by(&mut self, op: Op, x: u8, r: u8) {
        self.on(op, Source::Register(x), r);
    }

    /// `r = r op k`.
    fn k(&mut self, op: Op, k: u16, r: u8) {
        self.on(op, Source::Constant(k), r);
    }

    /// `d` is the flag of the carry.
    fn flag(&mut self, d: u8) {
        self.k(Op::MOV, 0, d);
        self.k(Op::ADDC, 0, d);
    }

    /// A jump of any length.
    fn far_to(&mut self, to: usize) -> usize {
        match self.large {
            true => self.flow.absolute(Op::BRA, to),
            false => self.flow.far(to),
        }
    }

    /// The lowest bit of `r`, which is lost, becomes the flag.
    fn set_flag(&mut self, r: u8) {
        self.flow.push(Insn::one(Op::RRA, Source::Register(r)));
    }
}

impl Values for Code {
    const WALKS: bool = false;

    fn three(&mut self, op: Three, d: u8, x: u8, y: u8) {
        let two = match op {
            Three::Add => Op::ADD,
            Three::Sub => Op::SUB,
            Three::And => Op::AND,
            Three::Or => Op::BIS,
            Three::Xor => Op::XOR,
            // `x - y` borrows.
            Three::Less => {
                self.by(Op::CMP, y, x);
                self.carry_into(d, true);
                return;
            }
        };
        match (op, d == y && d != x) {
            (Three::Sub, true) => {
                self.negate(d, d);
                self.by(Op::ADD, x, d);
            }
            (_, true) => self.by(two, x, d),
            (_, false) => {
                self.copy(d, x);
                self.by(two, y, d);
            }
        }
    }

    fn copy(&mut self, d: u8, x: u8) {
        if d != x {
            self.by(Op::MOV, x, d);
        }
    }

    fn number(&mut self, d: u8, k: usize) {
        self.k(Op::MOV, k as u16, d);
    }

    fn zero(&mut self, _: u8) -> u8 {
        Msp430Isa::ZERO
    }

    fn load(&mut self, d: u8, from: Mem) {
        self.flow.push(Msp430Isa::load(d, from.base, from.at));
    }

    fn store(&mut self, to: Mem, x: u8) {
        self.flow.push(Msp430Isa::store(x, to.base, to.at));
    }

    /// `!x + 1`.
    fn negate(&mut self, d: u8, x: u8) {
        self.copy(d, x);
        self.k(Op::XOR, 0xffff, d);
        self.k(Op::ADD, 1, d);
    }

    /// `x - 1` does not borrow.
    fn is_some(&mut self, d: u8, x: u8) {
        self.k(Op::CMP, 1, x);
        self.flag(d);
    }

    /// 0 - 1 borrows.
    fn equal(&mut self, d: u8, x: u8, y: u8) {
        self.three(Three::Xor, d, x, y);
        self.k(Op::SUB, 1, d);
        self.by(Op::SUBC, d, d);
    }

    /// `x + x` carries: then `d - d` does not borrow.
    fn sign(&mut self, d: u8, x: u8) {
        self.copy(d, x);
        self.by(Op::ADD, d, d);
        self.by(Op::SUBC, d, d);
        self.k(Op::XOR, 0xffff, d);
    }

    fn double(&mut self, word: u8, into: u8, _: u8) {
        self.by(Op::ADD, word, word);
        self.by(Op::ADDC, into, into);
    }

    /// AND would change the flag, so the mask says what is cleared.
    fn mask(&mut self, d: u8) {
        self.k(Op::SUB, 1, d);
    }

    fn masked(&mut self, d: u8, mask: u8) {
        self.by(Op::BIC, mask, d);
    }

    /// The flag is 1 where nothing is borrowed.
    fn carry_from(&mut self, r: Option<u8>, subtract: bool) {
        self.carries = true;
        match r {
            Some(r) => {
                if subtract {
                    self.k(Op::XOR, 1, r);
                }
                self.set_flag(r);
            }
            None => self.k(if subtract { Op::BIS } else { Op::BIC }, 1, SR),
        }
    }

    fn with_carry(&mut self, d: u8, y: Option<u8>, subtract: bool) {
        let op = if subtract { Op::SUBC } else { Op::ADDC };
        match y {
            Some(y) => self.by(op, y, d),
            None => self.k(op, 0, d),
        }
    }

    fn carry_into(&mut self, d: u8, subtract: bool) -> u8 {
        self.carries = false;
        self.flag(d);
        if subtract {
            self.k(Op::XOR, 1, d);
        }
        d
    }
}

impl Driven for Code {
    type Isa = Msp430Isa;

    const ARGUMENTS: &'static [u8] = &GCC.arguments;
    /// Distances are numbers of 15 bits.
    const MOST_BYTES: usize = 0x7ffe;

    fn roles(&self) -> Roles {
        Roles {
            area: AREA,
            to: TO,
            from: FROM,
            words: [X, Y, Z],
            mask: MASK,
            collected: COLLECTED.to_vec(),
            index: COUNT,
            digit: Some(TO),
            chosen: Z,
        }
    }

    fn here(&self) -> usize {
        self.flow.here()
    }

    fn plus(&mut self, d: u8, x: u8, k: i32) {
        self.copy(d, x);
        self.flow.add(k, d);
    }

    fn far(&mut self, _: u8, at: usize) -> Mem {
        Mem {
            base: AREA,
            at: at as i32,
            walks: false,
        }
    }

    /// From memory to memory.
    fn copy_words(&mut self, to: u8, from: u8, _: &[u8], words: usize) {
        for k in 0..words {
            let Mem { base, at, .. } = Self::word(to, k, true);
            let to = Dest::Indexed(base, at as u16);
            self.flow.two(Op::MOV, Source::Increment(from), to);
        }
        self.walked = true;
    }

    fn enter(&mut self, first: bool) {
        if first {
            let saved = save(&self.saved, self.large).0;
            saved.into_iter().for_each(|insn| self.flow.push(insn));
            self.copy(AREA, Self::ARGUMENTS[0]);
        }
    }

    fn leave(&mut self, first: bool) {
        if first {
            let back = save(&self.saved, self.large).1;
            back.into_iter().for_each(|insn| self.flow.push(insn));
        }
        self.give_back();
    }

    fn give_back(&mut self) {
        self.flow.push(back(self.large));
    }

    /// CALL and CALLA name an address. Of a small function a routine lies at a distance: where it returns to is pushed, 10
    /// bytes behind the MOV.
    fn call(&mut self, of_kernel: bool) -> usize {
        if self.large {
            return self.flow.absolute(Op::CALLA, 0);
        }
        if of_kernel {
            self.flow.push(unit(Op::CALL));
            return self.here() - 1;
        }
        self.by(Op::MOV, PC, X);
        self.k(Op::ADD, 10, X);
        self.flow.push(Insn::one(Op::PUSH, Source::Register(X)));
        self.flow.far(0)
    }

    fn jump(&mut self) -> usize {
        self.far_to(0)
    }

    fn jump_below(&mut self, r: u8, least: u8) -> usize {
        self.k(Op::CMP, least.into(), r);
        let over = self.flow.jump(Op::JC, 0);
        let jump = self.jump();
        self.flow.land(over);
        jump
    }

    fn jump_if(&mut self, r: u8) -> usize {
        self.k(Op::CMP, 0, r);
        self.flow.jump(Op::JNE, 0)
    }

    fn aim(&mut self, at: usize, to: usize) -> Result<(), LowerError> {
        self.flow.aim(at, to);
        Ok(())
    }

    fn rounds(&mut self, _: usize, rounds: usize) {
        // MOV leaves the flag alone.
        self.number(COUNT, rounds);
        self.walked = false;
    }

    fn next_round(&mut self, top: usize, reads: bool, step: usize) -> Result<(), LowerError> {
        let carries = std::mem::take(&mut self.carries);
        if carries {
            self.flag(CARRY);
        }
        self.plus(TO, TO, step as i32);
        if reads && !self.walked {
            self.plus(FROM, FROM, step as i32);
        }
        self.k(Op::SUB, 1, COUNT);
        if !carries {
            self.flow.jump(Op::JNE, top);
            return Ok(());
        }
        let done = self.flow.jump(Op::JEQ, 0);
        self.set_flag(CARRY);
        self.flow.jump(Op::JMP, top);
        self.flow.land(done);
        self.set_flag(CARRY);
        Ok(())
    }

    fn again(&mut self, r: u8, top: usize, beside: Beside) -> Result<(), LowerError> {
        if let Beside::Move(pointer, by) = beside {
            self.plus(pointer, pointer, by as i32);
        }
        self.k(Op::SUB, 1, r);
        match beside {
            // The loop may be longer than a jump reaches.
            Beside::Keep(to) => {
                self.store(to, r);
                let done = self.flow.jump(Op::JEQ, 0);
                self.far_to(top);
                self.flow.land(done);
            }
            Beside::Move(..) => {
                self.flow.jump(Op::JNE, top);
            }
        }
        Ok(())
    }

    fn next_entry(&mut self, entries: usize, top: usize, by: usize) -> Result<(), LowerError> {
        self.plus(FROM, FROM, by as i32);
        self.k(Op::CMP, entries as u16, COUNT);
        self.flow.jump(Op::JNE, top);
        Ok(())
    }

    fn finish(self) -> Result<Vec<Insn>, LowerError> {
        self.flow.finish()
    }
}
