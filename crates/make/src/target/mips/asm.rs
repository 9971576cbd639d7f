//! Loops on a MIPS32, as the engine writes them.

use machine::isa::mips::MipsIsa;
use machine::isa::mips::abi::{SAVE_AREA, SP};
use machine::isa::mips::code::Insn;
use machine::isa::mips::cores::Core;
use machine::isa::mips::instructions::Op;
use machine::program::Program;

use crate::engine::asm::Asm;
use crate::refusal::LowerError;
use crate::target::mips::flow::{Flow, Top};
use crate::target::mips::registers::{Array, ZERO};

impl Flow {
    pub(super) fn three(&mut self, op: Op, d: u8, s: u8, t: u8) {
        self.push(Insn::three(op, d, s, t));
    }

    pub(super) fn immediate(&mut self, op: Op, t: u8, s: u8, k: i32) {
        self.push(Insn::immediate(op, t, s, k));
    }
}

impl Asm for Flow {
    type Isa = MipsIsa;
    type Top = Top;

    const ZERO: u8 = ZERO;
    const SP: u8 = SP;
    const FRAME: i32 = SAVE_AREA;
    const RESULT: u8 = Array::R as u8;

    fn note(&mut self, text: String) {
        self.remark(text);
    }

    fn cut(&mut self) {
        self.block();
    }

    fn add(&mut self, d: u8, x: u8, y: u8) {
        self.three(Op::ADDU, d, x, y);
    }

    fn sub(&mut self, d: u8, x: u8, y: u8) {
        self.three(Op::SUBU, d, x, y);
    }

    fn less(&mut self, d: u8, x: u8, y: u8) {
        self.three(Op::SLTU, d, x, y);
    }

    fn and(&mut self, d: u8, x: u8, y: u8) {
        self.three(Op::AND, d, x, y);
    }

    fn add_number(&mut self, d: u8, x: u8, k: i32) {
        self.immediate(Op::ADDIU, d, x, k);
    }

    fn number(&mut self, d: u8, k: u32) {
        let [high, low] = [k >> 16, k & 0xffff].map(|half| half as i32);
        if high != 0 {
            self.immediate(Op::LUI, d, ZERO, high);
        }
        if low != 0 || high == 0 {
            let from = if high == 0 { ZERO } else { d };
            self.immediate(Op::ORI, d, from, low);
        }
    }

    fn load(&mut self, d: u8, base: u8, at: i32) {
        self.immediate(Op::LW, d, base, at);
    }

    fn store(&mut self, x: u8, base: u8, at: i32) {
        self.immediate(Op::SW, x, base, at);
    }

    fn top(&mut self) -> Top {
        self.block()
    }

    fn again(&mut self, top: Top, x: u8, y: u8) {
        self.loop_back(top, x, y);
    }

    fn finish(self, scratch: usize, core: &Core) -> Result<Program<Insn>, LowerError> {
        self.function(scratch, core)
    }
}
