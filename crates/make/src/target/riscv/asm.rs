//! Loops on RISC-V, as the engine writes them.

use machine::isa::riscv::RiscvIsa;
use machine::isa::riscv::abi::{SAVE_AREA, SP};
use machine::isa::riscv::code::Insn;
use machine::isa::riscv::cores::Core;
use machine::isa::riscv::instructions::Op;
use machine::program::Program;

use crate::engine::asm::Asm;
use crate::refusal::LowerError;
use crate::target::riscv::flow::Flow;
use crate::target::riscv::registers::{Array, ZERO};
use crate::target::riscv::words::number;

impl Flow {
    pub(super) fn three(&mut self, op: Op, d: u8, s: u8, t: u8) {
        self.push(Insn::three(op, d, s, t));
    }
}

impl Asm for Flow {
    type Isa = RiscvIsa;
    type Top = usize;

    const ZERO: u8 = ZERO;
    const SP: u8 = SP;
    const FRAME: i32 = SAVE_AREA;
    const RESULT: u8 = Array::R as u8;

    fn note(&mut self, text: String) {
        self.remark(text);
    }

    /// Nothing changes places here.
    fn cut(&mut self) {}

    fn add(&mut self, d: u8, x: u8, y: u8) {
        self.three(Op::ADD, d, x, y);
    }

    fn sub(&mut self, d: u8, x: u8, y: u8) {
        self.three(Op::SUB, d, x, y);
    }

    fn less(&mut self, d: u8, x: u8, y: u8) {
        self.three(Op::SLTU, d, x, y);
    }

    fn and(&mut self, d: u8, x: u8, y: u8) {
        self.three(Op::AND, d, x, y);
    }

    fn add_number(&mut self, d: u8, x: u8, k: i32) {
        self.push(Insn::immediate(Op::ADDI, d, x, k));
    }

    fn number(&mut self, d: u8, k: u32) {
        self.insns.extend(number(d, k));
    }

    fn load(&mut self, d: u8, base: u8, at: i32) {
        self.push(Insn::immediate(Op::LW, d, base, at));
    }

    fn store(&mut self, x: u8, base: u8, at: i32) {
        self.push(Insn::store(Op::SW, x, base, at));
    }

    fn top(&mut self) -> usize {
        self.here()
    }

    fn again(&mut self, top: usize, x: u8, y: u8) {
        self.branch(Insn::store(Op::BNE, y, x, 0), top);
    }

    fn finish(self, scratch: usize, core: &Core) -> Result<Program<Insn>, LowerError> {
        self.function(scratch, core.features)
    }
}
