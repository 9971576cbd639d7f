//! What RISC-V adds to drivers so that a product by halves can call itself.

use machine::isa::riscv::abi::{RA, SP, STACK_LIMIT};
use machine::isa::riscv::code::Insn;
use machine::isa::riscv::instructions::Op;

use crate::engine::basic::By;
use crate::engine::driven::{Driven, InWords};
use crate::engine::halves::{Hands, Kept, Recursive};
use crate::refusal::LowerError;
use crate::target::riscv::driver::Code;

impl Recursive for Code {
    const RECORD_AT: i32 = 0;
    const RECORD: i32 = 4 * 8;
    /// ra, and sp stays a multiple of 16.
    const SAVED: i64 = 16;
    const STACK_LIMIT: i64 = STACK_LIMIT;
    const SP: u8 = SP;

    fn hands(&self) -> Hands {
        Hands {
            kept: Kept {
                r: 10,
                a: 11,
                b: 12,
                bytes: 14,
                sa: 15,
                sb: 16,
                record: 17,
                link: RA,
            },
            x: [6, 7],
            y: [28, 29],
            left: 30,
            mask: 31,
        }
    }

    fn open(&mut self) {
        self.plus(SP, SP, -(Self::SAVED as i32));
        self.push(Insn::store(Op::SW, RA, SP, 12));
    }

    fn close(&mut self) {
        self.immediate(Op::LW, RA, SP, 12);
        self.plus(SP, SP, Self::SAVED as i32);
        self.give_back();
    }

    fn half(&mut self, d: u8, x: u8) {
        self.by(By::Right, d, x, 1);
    }

    fn end_loop(
        &mut self,
        top: usize,
        pointers: &[u8],
        left: u8,
        step: usize,
    ) -> Result<(), LowerError> {
        for r in pointers {
            self.plus(*r, *r, step as i32);
        }
        self.branch(Op::BNE, pointers[0], left, top);
        Ok(())
    }
}
