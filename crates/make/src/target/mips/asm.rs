//! The macro-assembler of the engine, on a MIPS32.

use machine::isa::mips::MipsIsa;
use machine::isa::mips::code::Insn;
use machine::isa::mips::cores::Core;
use machine::program::Program;

use crate::engine::asm::Asm;
use crate::refusal::LowerError;
use crate::target::mips::flow::{Flow, Top};

impl Asm for Flow {
    type Isa = MipsIsa;
    type Top = Top;

    fn push(&mut self, insn: Insn) {
        self.place(insn);
    }

    fn note(&mut self, text: String) {
        self.remark(text);
    }

    fn cut(&mut self) {
        self.block();
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
