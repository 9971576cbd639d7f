//! The RISC-V instructions that drivers are written with: s0 points to the area of numbers, a branch knows the instruction it goes to.

use machine::isa::riscv::RiscvIsa;
use machine::isa::riscv::abi::{ARGUMENTS, RA, SP, stack_align};
use machine::isa::riscv::code::Insn;
use machine::isa::riscv::instructions::Op;
use machine::isa::riscv::operands::Features;

use crate::engine::asm::Asm;
use crate::engine::basic::{By, Three};
use crate::engine::driven::{Beside, Driven, InWords, Mem, Roles, Values};
use crate::refusal::LowerError;
use crate::target::riscv::flow::Flow;
use crate::target::riscv::registers::ZERO;

/// s0: the area.
const AREA: u8 = 8;
/// a0, a1, a2: where a pass over numbers reads and writes, reads, and ends.
const TO: u8 = 10;
const FROM: u8 = 11;
const END: u8 = 12;
/// t1: a mask.
const MASK: u8 = 6;
/// t2: the index in a table.
const INDEX: u8 = 7;
/// a6, a7 and t3 to t6: words of a table's entry.
const COLLECTED: [u8; 6] = [16, 17, 28, 29, 30, 31];
/// Numbers that instructions hold: a sign and 11 bits.
const NEAR: std::ops::Range<i32> = -2048..2048;

/// Code with branches.
pub struct Code {
    flow: Flow,
    features: Features,
}

impl Code {
    /// No instruction yet.
    pub fn new(features: Features) -> Self {
        Self {
            flow: Flow::default(),
            features,
        }
    }

    pub(super) fn immediate(&mut self, op: Op, d: u8, s: u8, k: i32) {
        self.push(Insn::immediate(op, d, s, k));
    }

    /// A branch to an instruction that is there already.
    pub(super) fn branch(&mut self, op: Op, s: u8, t: u8, to: usize) -> usize {
        self.flow.branch(Insn::store(op, t, s, 0), to)
    }

    /// A jump to wherever it will be aimed, or to what is there already.
    fn jump_to(&mut self, to: usize) -> usize {
        self.flow.branch(Insn::immediate(Op::JAL, ZERO, 0, 0), to)
    }

    /// Bytes of a frame with two words.
    fn room(&self) -> i32 {
        stack_align(self.features).max(8) as i32
    }
}

impl InWords for Code {
    type Basic = RiscvIsa;

    /// a3.
    const CARRY: u8 = 13;
    /// t0.
    const SPARE: u8 = 5;

    fn push(&mut self, insn: Insn) {
        self.flow.push(insn);
    }
}

impl Driven for Code {
    type Isa = RiscvIsa;

    const ARGUMENTS: &'static [u8] = &ARGUMENTS;
    /// Addresses are numbers of 31 bits.
    const MOST_BYTES: usize = 0x7fff_ffff;

    /// Without a6 and the registers above, a0 collects a word: nothing else is in it then.
    fn roles(&self) -> Roles {
        let there = self.features.registers();
        let mut collected = COLLECTED.to_vec();
        collected.retain(|r| *r < there);
        if collected.is_empty() {
            collected.push(TO);
        }
        Roles {
            area: AREA,
            to: TO,
            from: FROM,
            words: [14, 15, Self::SPARE],
            mask: MASK,
            collected,
            index: INDEX,
            digit: Some(Self::CARRY),
            chosen: MASK,
        }
    }

    fn here(&self) -> usize {
        self.flow.here()
    }

    /// Far ones by way of a2 or, where that is free, `d`.
    fn plus(&mut self, d: u8, x: u8, k: i32) {
        if NEAR.contains(&k) {
            return self.by(By::Add, d, x, k);
        }
        let by = if d == x { END } else { d };
        self.number(by, k as usize);
        self.three(Three::Add, d, x, by);
    }

    fn far(&mut self, r: u8, at: usize) -> Mem {
        self.plus(r, AREA, at as i32);
        Mem {
            base: r,
            at: 0,
            walks: false,
        }
    }

    fn enter(&mut self, first: bool) {
        let room = self.room();
        self.plus(SP, SP, -room);
        self.push(Insn::store(Op::SW, RA, SP, 4));
        self.push(Insn::store(Op::SW, AREA, SP, 0));
        if first {
            self.copy(AREA, ARGUMENTS[0]);
        }
    }

    fn leave(&mut self, _: bool) {
        let room = self.room();
        self.immediate(Op::LW, RA, SP, 4);
        self.immediate(Op::LW, AREA, SP, 0);
        self.plus(SP, SP, room);
        self.give_back();
    }

    fn give_back(&mut self) {
        self.immediate(Op::JALR, ZERO, RA, 0);
    }

    fn call(&mut self, of_kernel: bool) -> usize {
        let call = Insn::immediate(Op::JAL, RA, 0, 0);
        match of_kernel {
            true => self.flow.call(call),
            false => self.flow.branch(call, 0),
        }
    }

    fn jump(&mut self) -> usize {
        self.jump_to(0)
    }

    /// What is jumped over may be longer than a branch reaches.
    fn jump_below(&mut self, r: u8, least: u8) -> usize {
        let over = match least {
            1 => self.branch(Op::BNE, r, ZERO, 0),
            _ => {
                self.immediate(Op::SLTIU, r, r, i32::from(least));
                self.branch(Op::BEQ, r, ZERO, 0)
            }
        };
        let jump = self.jump();
        self.flow.land(over);
        jump
    }

    fn jump_if(&mut self, r: u8) -> usize {
        self.branch(Op::BNE, r, ZERO, 0)
    }

    fn aim(&mut self, at: usize, to: usize) -> Result<(), LowerError> {
        self.flow.aim(at, to);
        Ok(())
    }

    fn rounds(&mut self, bytes: usize, _: usize) {
        self.plus(END, TO, bytes as i32);
    }

    fn next_round(&mut self, top: usize, reads: bool, step: usize) -> Result<(), LowerError> {
        self.plus(TO, TO, step as i32);
        if reads {
            self.plus(FROM, FROM, step as i32);
        }
        self.branch(Op::BNE, TO, END, top);
        Ok(())
    }

    fn again(&mut self, r: u8, top: usize, beside: Beside) -> Result<(), LowerError> {
        self.plus(r, r, -1);
        match beside {
            // The loop may be longer than a branch reaches.
            Beside::Keep(to) => {
                self.store(to, r);
                let done = self.branch(Op::BEQ, r, ZERO, 0);
                self.jump_to(top);
                self.flow.land(done);
            }
            Beside::Move(pointer, by) => {
                self.plus(pointer, pointer, by as i32);
                self.branch(Op::BNE, r, ZERO, top);
            }
        }
        Ok(())
    }

    fn next_entry(&mut self, entries: usize, top: usize, by: usize) -> Result<(), LowerError> {
        self.plus(FROM, FROM, by as i32);
        self.immediate(Op::SLTIU, Self::SPARE, INDEX, entries as i32);
        self.branch(Op::BNE, Self::SPARE, ZERO, top);
        Ok(())
    }

    fn finish(self) -> Result<Vec<Insn>, LowerError> {
        self.flow.finish(self.features)
    }
}
