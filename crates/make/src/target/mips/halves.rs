//! What MIPS32 adds to drivers so that a product by halves can call itself.

use machine::isa::mips::abi::{HOME, RA, SP, STACK_LIMIT};
use machine::isa::mips::code::Insn;
use machine::isa::mips::instructions::Op;

use crate::engine::basic::By;
use crate::engine::driven::{Driven, InWords};
use crate::engine::halves::{Hands, Kept, Recursive};
use crate::refusal::LowerError;
use crate::target::mips::driver::Code;

impl Recursive for Code {
    /// The kernel at the bottom may keep its arguments below the record.
    const RECORD_AT: i32 = HOME as i32;
    const RECORD: i32 = HOME as i32 + 4 * 8;
    /// $ra, and $sp stays a multiple of 8.
    const SAVED: i64 = 8;
    const STACK_LIMIT: i64 = STACK_LIMIT;
    const SP: u8 = SP;

    fn hands(&self) -> Hands {
        Hands {
            kept: Kept {
                r: 4,
                a: 5,
                b: 6,
                bytes: 7,
                sa: 8,
                sb: 9,
                record: 24,
                link: RA,
            },
            x: [2, 3],
            y: [12, 13],
            left: 10,
            mask: 15,
        }
    }

    fn open(&mut self) {
        self.plus(SP, SP, -(Self::SAVED as i32));
        self.immediate(Op::SW, RA, SP, 4);
    }

    fn close(&mut self) {
        self.immediate(Op::LW, RA, SP, 4);
        self.push(Insn::three(Op::JR, 0, RA, 0));
        self.plus(SP, SP, Self::SAVED as i32);
    }

    fn half(&mut self, d: u8, x: u8) {
        self.by(By::Right, d, x, 1);
    }

    /// The last pointer moves in the delay slot.
    fn end_loop(
        &mut self,
        top: usize,
        pointers: &[u8],
        left: u8,
        step: usize,
    ) -> Result<(), LowerError> {
        let [to, others @ ..] = pointers else {
            return Err(LowerError::Registers);
        };
        self.plus(*to, *to, step as i32);
        let last = others.split_last();
        for r in last.map_or(&[][..], |(_, before)| before) {
            self.plus(*r, *r, step as i32);
        }
        self.back(*to, left, top)?;
        match last {
            Some((r, _)) => self.plus(*r, *r, step as i32),
            None => self.nothing(),
        }
        Ok(())
    }
}
