//! The ARM instructions that drivers are written with: r4 points to the area of numbers, pointers walk, rounds are counted with TEQ, which
//! leaves the carry.

use machine::isa::arm::ArmIsa;
use machine::isa::arm::code::{BlockMode, Insn, immediate_bits};
use machine::isa::arm::instructions::{Op, Ops};
use machine::isa::arm::machine::{LR, SP};
use machine::isa::arm::operands::ALWAYS;

use crate::engine::basic::Three;
use crate::engine::driven::{Beside, Driven, Mem, Roles, Values};
use crate::refusal::LowerError;

/// The area.
const AREA: u8 = 4;
/// Where a pass reads and writes, and reads; how many rounds are left, or the index in a table.
const TO: u8 = 0;
const FROM: u8 = 1;
const COUNT: u8 = 2;
/// A word.
const A: u8 = 3;
/// r4 to r11 and the return address.
pub(super) const SAVED: u16 = 0x0ff0 | 1 << LR;
/// Condition codes.
pub(super) const NE: u8 = 1;
const CC: u8 = 3;

/// Instructions, and those that jump.
#[derive(Default)]
pub struct Code {
    insns: Vec<Insn>,
}

/// How far it is from two instructions behind that of index `at` to `to`, in words.
fn reach(at: usize, to: usize) -> i32 {
    to as i32 - at as i32 - 2
}

impl Code {
    pub(super) fn push(&mut self, insn: Insn) {
        self.insns.push(insn);
    }

    fn imm(&mut self, op: Op, s: bool, d: u8, n: u8, value: u8) {
        self.push(Insn::imm(op, s, d, n, value));
    }

    fn reg(&mut self, op: Op, s: bool, d: u8, n: u8, m: u8) {
        self.push(Insn::reg(op, s, d, n, m));
    }

    /// An instruction that jumps, or calls: its index.
    pub(super) fn branch(&mut self, op: Op, cond: u8, to: usize) -> usize {
        let at = self.insns.len();
        let k = reach(at, to);
        let ops = Ops {
            cond,
            k,
            ..Ops::default()
        };
        self.push(Insn { op, ops });
        at
    }

    fn access(&mut self, op: Op, r: u8, at: Mem) {
        self.push(match at.walks {
            true => Insn::post(op, r, at.base, 4),
            false => Insn::at(op, r, at.base, at.at, false),
        });
    }
}

impl Values for Code {
    const WALKS: bool = true;

    fn three(&mut self, op: Three, d: u8, x: u8, y: u8) {
        match op {
            Three::Add => self.reg(Op::ADD, false, d, x, y),
            Three::Sub => self.reg(Op::SUB, false, d, x, y),
            Three::And => self.reg(Op::AND, false, d, x, y),
            Three::Or => self.reg(Op::ORR, false, d, x, y),
            Three::Xor => self.reg(Op::EOR, false, d, x, y),
            // Borrows if x < y.
            Three::Less => {
                self.reg(Op::CMP, false, 0, x, y);
                self.reg(Op::SBC, false, d, d, d);
                self.negate(d, d);
            }
        }
    }

    fn copy(&mut self, d: u8, x: u8) {
        self.reg(Op::MOV, false, d, 0, x);
    }

    fn number(&mut self, d: u8, k: usize) {
        self.insns.extend(Insn::number(d, k as u32));
    }

    fn zero(&mut self, d: u8) -> u8 {
        self.number(d, 0);
        d
    }

    fn load(&mut self, d: u8, from: Mem) {
        self.access(Op::LDR, d, from);
    }

    fn store(&mut self, to: Mem, x: u8) {
        self.access(Op::STR, x, to);
    }

    fn negate(&mut self, d: u8, x: u8) {
        self.imm(Op::RSB, false, d, x, 0);
    }

    /// `x - 1` does not borrow.
    fn is_some(&mut self, d: u8, x: u8) {
        self.imm(Op::CMP, false, 0, x, 1);
        self.imm(Op::MOV, false, d, 0, 0);
        self.imm(Op::ADC, false, d, d, 0);
    }

    /// 0 - 1 borrows.
    fn equal(&mut self, d: u8, x: u8, y: u8) {
        self.reg(Op::EOR, false, d, x, y);
        self.imm(Op::SUB, true, d, d, 1);
        self.reg(Op::SBC, false, d, d, d);
    }

    /// `x` ASR 31.
    fn sign(&mut self, d: u8, x: u8) {
        self.push(Insn::alu(
            Op::MOV,
            false,
            d,
            0,
            31 << 7 | 2 << 5 | i32::from(x),
        ));
    }

    fn double(&mut self, word: u8, into: u8, _: u8) {
        self.reg(Op::ADD, true, word, word, word);
        self.reg(Op::ADC, false, into, into, into);
    }

    /// No borrow is a carry here: `0 - r` is none for 0, `r - 1` does not borrow for 1.
    fn carry_from(&mut self, r: Option<u8>, subtract: bool) {
        let r = r.unwrap_or_else(|| self.zero(A));
        match subtract {
            true => self.imm(Op::RSB, true, r, r, 0),
            false => self.imm(Op::CMP, false, 0, r, 1),
        }
    }

    fn with_carry(&mut self, d: u8, y: Option<u8>, subtract: bool) {
        let op = if subtract { Op::SBC } else { Op::ADC };
        match y {
            Some(y) => self.reg(op, true, d, d, y),
            None => self.imm(op, true, d, d, 0),
        }
    }

    fn carry_into(&mut self, d: u8, subtract: bool) -> u8 {
        match subtract {
            true => {
                self.reg(Op::SBC, false, d, d, d);
                self.negate(d, d);
            }
            false => {
                self.imm(Op::MOV, false, d, 0, 0);
                self.imm(Op::ADC, false, d, d, 0);
            }
        }
        d
    }
}

impl Driven for Code {
    type Isa = ArmIsa;

    const ARGUMENTS: &'static [u8] = &[0, 1, 2, 3];
    /// Addresses are made of two immediates.
    const MOST_BYTES: usize = 0xfc00;

    fn roles(&self) -> Roles {
        Roles {
            area: AREA,
            to: TO,
            from: FROM,
            words: [A, 12, 6],
            mask: 5,
            collected: (5..13).collect(),
            index: COUNT,
            digit: None,
            chosen: LR,
        }
    }

    fn here(&self) -> usize {
        self.insns.len()
    }

    /// In parts that are immediates.
    fn plus(&mut self, d: u8, x: u8, k: i32) {
        let op = if k < 0 { Op::SUB } else { Op::ADD };
        let k = k.unsigned_abs();
        let mut from = x;
        for bits in [k & 0xff, k & 0xff00] {
            if let (true, Some(part)) = (bits != 0, immediate_bits(bits)) {
                self.push(Insn::alu(op, false, d, from, part));
                from = d;
            }
        }
        if from == x && d != x {
            self.copy(d, x);
        }
    }

    fn far(&mut self, r: u8, at: usize) -> Mem {
        self.plus(r, AREA, at as i32);
        Mem {
            base: r,
            at: 0,
            walks: false,
        }
    }

    /// LDM and STM move words in the order of their registers, both in the same.
    fn copy_words(&mut self, to: u8, from: u8, through: &[u8], words: usize) {
        let list = through.iter().take(words).fold(0, |list, r| list | 1 << r);
        self.push(Insn::block(Op::LDM, from, BlockMode::IA, true, list));
        self.push(Insn::block(Op::STM, to, BlockMode::IA, true, list));
    }

    fn enter(&mut self, first: bool) {
        let saved = if first { SAVED } else { 1 << LR };
        self.push(Insn::block(Op::STM, SP, BlockMode::DB, true, saved));
        if first {
            self.copy(AREA, 0);
        }
    }

    fn leave(&mut self, first: bool) {
        let saved = if first { SAVED } else { 1 << LR };
        self.push(Insn::block(Op::LDM, SP, BlockMode::IA, true, saved));
        self.give_back();
    }

    fn give_back(&mut self) {
        let ops = Ops {
            m: LR,
            ..Ops::default()
        };
        self.push(Insn { op: Op::BX, ops });
    }

    /// A BL to itself, which is what a relocation starts from.
    fn call(&mut self, _: bool) -> usize {
        self.branch(Op::BL, ALWAYS, self.insns.len())
    }

    fn jump(&mut self) -> usize {
        self.branch(Op::B, ALWAYS, 0)
    }

    fn jump_below(&mut self, r: u8, least: u8) -> usize {
        self.imm(Op::CMP, false, 0, r, least);
        self.branch(Op::B, CC, 0)
    }

    fn jump_if(&mut self, r: u8) -> usize {
        self.imm(Op::CMP, false, 0, r, 0);
        self.branch(Op::B, NE, 0)
    }

    fn aim(&mut self, at: usize, to: usize) -> Result<(), LowerError> {
        self.insns[at].ops.k = reach(at, to);
        Ok(())
    }

    fn rounds(&mut self, _: usize, rounds: usize) {
        self.number(COUNT, rounds);
    }

    fn next_round(&mut self, top: usize, _: bool, _: usize) -> Result<(), LowerError> {
        self.imm(Op::SUB, false, COUNT, COUNT, 1);
        self.imm(Op::TEQ, false, 0, COUNT, 0);
        self.branch(Op::B, NE, top);
        Ok(())
    }

    fn again(&mut self, r: u8, top: usize, beside: Beside) -> Result<(), LowerError> {
        if let Beside::Move(pointer, by) = beside {
            self.plus(pointer, pointer, by as i32);
        }
        self.imm(Op::SUB, true, r, r, 1);
        if let Beside::Keep(to) = beside {
            self.store(to, r);
        }
        self.branch(Op::B, NE, top);
        Ok(())
    }

    fn next_entry(&mut self, entries: usize, top: usize, by: usize) -> Result<(), LowerError> {
        self.plus(FROM, FROM, by as i32);
        self.imm(Op::CMP, false, 0, COUNT, entries as u8);
        self.branch(Op::B, NE, top);
        Ok(())
    }

    fn finish(self) -> Result<Vec<Insn>, LowerError> {
        Ok(self.insns)
    }
}
