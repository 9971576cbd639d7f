//! The macro-assembler of the engine, on RISC-V.

use machine::isa::riscv::RiscvIsa;
use machine::isa::riscv::code::Insn;
use machine::isa::riscv::cores::Core;
use machine::isa::riscv::instructions::Op;
use machine::program::Program;

use crate::engine::asm::Asm;
use crate::refusal::LowerError;
use crate::target::riscv::flow::Flow;

impl Asm for Flow {
    type Isa = RiscvIsa;
    type Top = usize;

    fn push(&mut self, insn: Insn) {
        self.insns.push(insn);
    }

    fn note(&mut self, text: String) {
        self.remark(text);
    }

    fn cut(&mut self) {
        self.stay();
    }

    fn top(&mut self) -> usize {
        self.here()
    }

    fn again(&mut self, top: usize, x: u8, y: u8) {
        self.branch(Insn::store(Op::BNE, y, x, 0), top);
    }

    fn finish(mut self, scratch: usize, core: &Core) -> Result<Program<Insn>, LowerError> {
        self.order(core);
        self.function(scratch, core)
    }
}
