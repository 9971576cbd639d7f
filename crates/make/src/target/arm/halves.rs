//! What ARM adds to drivers so that a product by halves can call itself: records and words move by STM and LDM.

use machine::isa::arm::abi::STACK_LIMIT;
use machine::isa::arm::code::{BlockMode, Insn, immediate_bits};
use machine::isa::arm::instructions::Op;
use machine::isa::arm::machine::{LR, SP};

use crate::engine::driven::{Driven, Values};
use crate::engine::halves::{Hands, Kept, Recursive};
use crate::refusal::LowerError;
use crate::target::arm::driver::{Code, NE, SAVED};

/// LDM and STM take registers in ascending order.
fn list(registers: &[u8]) -> u16 {
    registers.iter().fold(0, |list, r| list | 1 << r)
}

impl Recursive for Code {
    const RECORD_AT: i32 = 0;
    const RECORD: i32 = 4 * 8;
    /// r4 to r11, and the return address.
    const SAVED: i64 = 4 * SAVED.count_ones() as i64;
    const STACK_LIMIT: i64 = STACK_LIMIT;
    const SP: u8 = SP;

    fn hands(&self) -> Hands {
        Hands {
            kept: Kept {
                r: 0,
                a: 1,
                b: 2,
                bytes: 3,
                sa: 4,
                sb: 5,
                record: 11,
                link: LR,
            },
            x: [6, 7],
            y: [8, 9],
            left: 10,
            mask: 12,
        }
    }

    fn open(&mut self) {
        self.push(Insn::block(Op::STM, SP, BlockMode::DB, true, SAVED));
    }

    fn close(&mut self) {
        self.push(Insn::block(Op::LDM, SP, BlockMode::IA, true, SAVED));
        self.give_back();
    }

    fn keep(&mut self, registers: &[u8]) {
        let list = list(registers);
        self.push(Insn::block(Op::STM, SP, BlockMode::DB, true, list));
    }

    fn recall(&mut self, registers: &[u8]) {
        let list = list(registers);
        self.push(Insn::block(Op::LDM, SP, BlockMode::IA, true, list));
    }

    /// `x` LSR 1.
    fn half(&mut self, d: u8, x: u8) {
        self.push(Insn::alu(
            Op::MOV,
            false,
            d,
            0,
            i32::from(x) | 1 << 7 | 1 << 5,
        ));
    }

    fn jump_unless(&mut self, r: u8, k: usize, spare: u8) -> usize {
        match immediate_bits(k as u32) {
            Some(bits) => self.push(Insn::alu(Op::CMP, false, 0, r, bits)),
            None => {
                self.number(spare, k);
                self.push(Insn::reg(Op::CMP, false, 0, r, spare));
            }
        }
        self.branch(Op::B, NE, 0)
    }

    fn load_words(&mut self, base: u8, registers: &[u8], _: usize, last: bool) {
        let list = list(registers);
        self.push(Insn::block(Op::LDM, base, BlockMode::IA, last, list));
    }

    fn store_words(&mut self, base: u8, registers: &[u8], _: usize, last: bool) {
        let list = list(registers);
        self.push(Insn::block(Op::STM, base, BlockMode::IA, last, list));
    }

    fn lend(&mut self, _: u8, r: u8) -> u8 {
        r
    }

    /// `n - 0` does not borrow, `n + 0` does not carry.
    fn no_carry(&mut self, number: u8, subtract: bool) {
        let op = if subtract { Op::CMP } else { Op::CMN };
        self.push(Insn::imm(op, false, 0, number, 0));
    }

    fn mask_of_borrow(&mut self, d: u8) {
        self.push(Insn::reg(Op::SBC, false, d, d, d));
    }

    fn count_carry(&mut self, d: u8) {
        self.push(Insn::imm(Op::ADC, false, d, d, 0));
    }

    /// Bytes are counted down.
    fn begin_loop(&mut self, _: u8, _: u8) {}

    fn end_loop(&mut self, top: usize, _: &[u8], left: u8, step: usize) -> Result<(), LowerError> {
        self.push(Insn::imm(Op::SUB, false, left, left, step as u8));
        self.push(Insn::imm(Op::TEQ, false, 0, left, 0));
        self.branch(Op::B, NE, top);
        Ok(())
    }
}
