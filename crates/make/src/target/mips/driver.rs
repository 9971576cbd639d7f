//! The MIPS32 instructions that drivers are written with: $s0 points to the area of numbers, a branch has a delay slot.

use machine::isa::mips::MipsIsa;
use machine::isa::mips::abi::{ARGUMENTS, HOME, RA, SP};
use machine::isa::mips::code::Insn;
use machine::isa::mips::instructions::Op;

use crate::engine::basic::By;
use crate::engine::driven::{Beside, Driven, InWords, Mem, Roles, Values};
use crate::refusal::LowerError;
use crate::target::mips::registers::ZERO;

/// $s0: the area.
const AREA: u8 = 16;
/// $a0, $a1, $t2: where a pass over numbers reads and writes, reads, and ends.
const TO: u8 = 4;
const FROM: u8 = 5;
const END: u8 = 10;
/// $t7: a mask.
const MASK: u8 = 15;
/// $v0, $v1, $a2, $a3, $t0, $t1, $t8, $t9: words of a table's entry.
const COLLECTED: [u8; 8] = [2, 3, 6, 7, 8, 9, 24, 25];
/// Room for $s0 and $ra above the home of the arguments.
const FRAME: i32 = HOME as i32 + 8;
const SAVED: [(u8, i32); 2] = [(RA, FRAME - 4), (AREA, FRAME - 8)];

/// Instructions, and those that jump.
#[derive(Default)]
pub struct Code {
    insns: Vec<Insn>,
}

/// How far it is from the delay slot of the branch of index `at` to `to`, in words.
fn reach(at: usize, to: usize) -> Result<i32, LowerError> {
    let k = to as i64 - at as i64 - 1;
    i16::try_from(k)
        .map(i32::from)
        .map_err(|_| LowerError::Reach)
}

impl Code {
    pub(super) fn immediate(&mut self, op: Op, t: u8, s: u8, k: i32) {
        self.push(Insn::immediate(op, t, s, k));
    }

    pub(super) fn nothing(&mut self) {
        self.push(Insn::three(Op::SLL, 0, 0, 0));
    }

    /// A branch to an instruction that is there already; the next one is in its delay slot.
    pub(super) fn back(&mut self, s: u8, t: u8, top: usize) -> Result<(), LowerError> {
        let k = reach(self.insns.len(), top)?;
        self.immediate(Op::BNE, t, s, k);
        Ok(())
    }

    /// A branch to wherever it will be aimed, with nothing in its delay slot: its index.
    fn ahead(&mut self, op: Op, s: u8) -> usize {
        self.immediate(op, 0, s, 0);
        self.nothing();
        self.insns.len() - 2
    }
}

impl InWords for Code {
    type Basic = MipsIsa;

    /// $t3.
    const CARRY: u8 = 11;
    /// $t6.
    const SPARE: u8 = 14;

    fn push(&mut self, insn: Insn) {
        self.insns.push(insn);
    }
}

impl Driven for Code {
    type Isa = MipsIsa;

    const ARGUMENTS: &'static [u8] = &ARGUMENTS;
    /// Displacements have 15 bits beside the sign.
    const MOST_BYTES: usize = 0x7fff;

    fn roles(&self) -> Roles {
        Roles {
            area: AREA,
            to: TO,
            from: FROM,
            words: [12, 13, Self::SPARE],
            mask: MASK,
            collected: COLLECTED.to_vec(),
            index: END,
            digit: Some(Self::CARRY),
            chosen: MASK,
        }
    }

    fn here(&self) -> usize {
        self.insns.len()
    }

    fn plus(&mut self, d: u8, x: u8, k: i32) {
        self.by(By::Add, d, x, k);
    }

    fn far(&mut self, _: u8, at: usize) -> Mem {
        Mem {
            base: AREA,
            at: at as i32,
            walks: false,
        }
    }

    fn enter(&mut self, first: bool) {
        self.plus(SP, SP, -FRAME);
        for (r, at) in SAVED {
            self.immediate(Op::SW, r, SP, at);
        }
        if first {
            self.copy(AREA, ARGUMENTS[0]);
        }
    }

    fn leave(&mut self, _: bool) {
        for (r, at) in SAVED {
            self.immediate(Op::LW, r, SP, at);
        }
        self.push(Insn::three(Op::JR, 0, RA, 0));
        self.plus(SP, SP, FRAME);
    }

    /// JAL, which a linker aims, with the last pointer in its delay slot; or BGEZAL.
    fn call(&mut self, of_kernel: bool) -> usize {
        let slot = if of_kernel { self.insns.pop() } else { None };
        let at = self.insns.len();
        let op = if of_kernel { Op::JAL } else { Op::BGEZAL };
        self.immediate(op, 0, 0, 0);
        match slot {
            Some(insn) => self.push(insn),
            None => self.nothing(),
        }
        at
    }

    fn jump(&mut self) -> usize {
        self.ahead(Op::BEQ, ZERO)
    }

    fn jump_below(&mut self, r: u8, least: u8) -> usize {
        if least == 1 {
            return self.ahead(Op::BEQ, r);
        }
        self.immediate(Op::SLTIU, r, r, i32::from(least));
        self.ahead(Op::BNE, r)
    }

    fn jump_if(&mut self, r: u8) -> usize {
        self.ahead(Op::BNE, r)
    }

    fn aim(&mut self, at: usize, to: usize) -> Result<(), LowerError> {
        self.insns[at].ops.k = reach(at, to)?;
        Ok(())
    }

    fn rounds(&mut self, bytes: usize, _: usize) {
        self.plus(END, TO, bytes as i32);
    }

    fn next_round(&mut self, top: usize, reads: bool, step: usize) -> Result<(), LowerError> {
        self.plus(TO, TO, step as i32);
        self.back(TO, END, top)?;
        match reads {
            true => self.plus(FROM, FROM, step as i32),
            false => self.nothing(),
        }
        Ok(())
    }

    fn again(&mut self, r: u8, top: usize, beside: Beside) -> Result<(), LowerError> {
        self.plus(r, r, -1);
        self.back(r, ZERO, top)?;
        match beside {
            Beside::Keep(to) => self.store(to, r),
            Beside::Move(pointer, by) => self.plus(pointer, pointer, by as i32),
        }
        Ok(())
    }

    fn next_entry(&mut self, entries: usize, top: usize, by: usize) -> Result<(), LowerError> {
        let less = Self::SPARE;
        self.immediate(Op::SLTIU, less, END, entries as i32);
        self.back(less, ZERO, top)?;
        self.plus(FROM, FROM, by as i32);
        Ok(())
    }

    fn give_back(&mut self) {
        self.push(Insn::three(Op::JR, 0, RA, 0));
        self.nothing();
    }

    fn finish(self) -> Result<Vec<Insn>, LowerError> {
        Ok(self.insns)
    }
}
