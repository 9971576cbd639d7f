//! Code with loops while it is written: instructions one after another, and branches back.

use machine::isa::arm::code::{BlockMode, Insn, immediate_bits};
use machine::isa::arm::instructions::Op;
use machine::program::Program;

use crate::refusal::LowerError;
use crate::target::arm::frame;

/// Bytes of a word.
pub(super) const WORD: i32 = 4;

/// Instructions, and remarks before some of them.
#[derive(Default)]
pub(super) struct Flow {
    pub insns: Vec<Insn>,
    notes: Vec<(usize, String)>,
}

impl Flow {
    pub fn push(&mut self, insn: Insn) {
        self.insns.push(insn);
    }

    pub fn note(&mut self, text: &str) {
        self.notes.push((self.insns.len(), text.into()));
    }

    pub fn reg(&mut self, op: Op, s: bool, d: u8, n: u8, m: u8) {
        self.push(Insn::reg(op, s, d, n, m));
    }

    pub fn imm(&mut self, op: Op, s: bool, d: u8, n: u8, value: u8) {
        self.push(Insn::imm(op, s, d, n, value));
    }

    pub fn copy(&mut self, d: u8, m: u8) {
        if d != m {
            self.reg(Op::MOV, false, d, 0, m);
        }
    }

    /// `d = n + value`, eight bits of the value at a time.
    pub fn add(&mut self, d: u8, n: u8, value: i32) {
        let op = if value < 0 { Op::SUB } else { Op::ADD };
        let mut rest = value.unsigned_abs();
        let mut n = n;
        while rest != 0 {
            let low = rest & 0xff << (rest.trailing_zeros() & !1);
            let part = if immediate_bits(rest).is_some() {
                rest
            } else {
                low
            };
            self.insns
                .extend(immediate_bits(part).map(|bits| Insn::alu(op, false, d, n, bits)));
            (n, rest) = (d, rest - part);
        }
        self.copy(d, n);
    }

    /// Compares `n` with a number; `spare` may be lost.
    pub fn compare(&mut self, n: u8, value: i32, spare: u8) {
        match immediate_bits(value as u32) {
            Some(bits) => self.push(Insn::alu(Op::CMP, false, 0, n, bits)),
            None => {
                self.number(spare, value as u32);
                self.reg(Op::CMP, false, 0, n, spare);
            }
        }
    }

    /// Sets or clears the carry, so that a sum or a difference begins without one; `r` is lost.
    pub fn no_carry(&mut self, op: Op, r: u8) {
        self.imm(Op::MOV, false, r, 0, 0);
        let compare = if op == Op::ADC { Op::CMN } else { Op::CMP };
        self.reg(compare, false, 0, r, r);
    }

    /// Goes back to instruction `top` unless the flags say "equal".
    pub fn again(&mut self, top: usize) {
        let mut branch = Insn::reg(Op::B, false, 0, 0, 0);
        // NE; relative to two instructions further on.
        branch.ops.cond = 1;
        branch.ops.k = top as i32 - self.insns.len() as i32 - 2;
        self.push(branch);
    }

    /// Registers from ascending places, or to them: the pointer moves on.
    pub fn walk(&mut self, op: Op, pointer: u8, list: &[u8]) {
        self.push(match list {
            [r] => Insn::post(op, *r, pointer, WORD),
            _ => Insn::block(several(op), pointer, BlockMode::IA, true, bits(list)),
        });
    }

    /// The same, and the pointer stays.
    pub fn stay(&mut self, op: Op, pointer: u8, list: &[u8]) {
        self.push(match list {
            [r] => Insn::at(op, *r, pointer, 0, false),
            _ => Insn::block(several(op), pointer, BlockMode::IA, false, bits(list)),
        });
    }

    /// Registers from the places below the pointer, which moves down.
    pub fn walk_down(&mut self, pointer: u8, list: &[u8]) {
        self.push(match list {
            [r] => Insn::at(Op::LDR, *r, pointer, -WORD, true),
            _ => Insn::block(Op::LDM, pointer, BlockMode::DB, true, bits(list)),
        });
    }

    /// Makes `value` in `d`.
    pub fn number(&mut self, d: u8, value: u32) {
        self.insns.extend(Insn::number(d, value));
    }

    /// Where a loop begins.
    pub fn top(&self) -> usize {
        self.insns.len()
    }

    /// The whole function with `scratch` words of memory.
    ///
    /// # Errors
    /// When the stack would be too deep.
    pub fn finish(self, scratch: usize) -> Result<Program<Insn>, LowerError> {
        let (before, after) = frame::frame(&self.insns, scratch)?;
        let start = before.len();
        let end = start + self.insns.len();
        let mut program = Program::new();
        program.notes.push((0, "save registers".into()));
        let notes = self.notes.into_iter();
        program
            .notes
            .extend(notes.map(|(at, text)| (at + start, text)));
        program.notes.push((end, "restore registers".into()));
        program.insns = [before, self.insns, after].concat();
        Ok(program)
    }
}

fn several(op: Op) -> Op {
    match op {
        Op::LDR => Op::LDM,
        _ => Op::STM,
    }
}

fn bits(list: &[u8]) -> u16 {
    list.iter().fold(0, |set, r| set | 1 << r)
}
