//! The basic instructions of the engine, on RISC-V.

use machine::isa::riscv::RiscvIsa;
use machine::isa::riscv::abi::{SAVE_AREA, SP};
use machine::isa::riscv::code::Insn;
use machine::isa::riscv::instructions::Op;

use crate::engine::basic::{Basic, By, Moves, Three};
use crate::target::riscv::registers::{Array, ZERO};

impl Moves for RiscvIsa {
    const ZERO: u8 = ZERO;
    const SP: u8 = SP;
    const FRAME: i32 = SAVE_AREA;
    const RESULT: u8 = Array::R as u8;
    const RETURNED: u8 = Self::RESULT;

    /// `C.MV` is the short form of `0 + x`.
    fn copy(d: u8, x: u8) -> Insn {
        Insn::three(Op::ADD, d, ZERO, x)
    }

    /// `upper 2^12 + k`, `-2^11 <= k < 2^11`.
    fn number(d: u8, value: u32) -> Vec<Insn> {
        let k = (value << 20) as i32 >> 20;
        let upper = value.wrapping_sub(k as u32) as i32;
        let mut list = Vec::new();
        if upper != 0 {
            list.push(Insn::immediate(Op::LUI, d, ZERO, upper));
        }
        if k != 0 || upper == 0 {
            let from = if upper == 0 { ZERO } else { d };
            list.push(Insn::immediate(Op::ADDI, d, from, k));
        }
        list
    }

    fn load(d: u8, base: u8, at: i32) -> Insn {
        Insn::immediate(Op::LW, d, base, at)
    }

    fn store(x: u8, base: u8, at: i32) -> Insn {
        Insn::store(Op::SW, x, base, at)
    }

    fn writes(insn: &Insn, r: u8) -> bool {
        insn.writes() >> r & 1 == 1
    }
}

impl Basic for RiscvIsa {
    /// Numbers have a sign and 11 bits.
    const MASK_BITS: u32 = 11;

    fn three(op: Three, d: u8, x: u8, y: u8) -> Insn {
        let op = match op {
            Three::Add => Op::ADD,
            Three::Sub => Op::SUB,
            Three::Less => Op::SLTU,
            Three::And => Op::AND,
            Three::Or => Op::OR,
            Three::Xor => Op::XOR,
        };
        Insn::three(op, d, x, y)
    }

    fn by(op: By, d: u8, x: u8, k: i32) -> Insn {
        let op = match op {
            By::Add => Op::ADDI,
            By::And => Op::ANDI,
            By::Left => Op::SLLI,
            By::Right => Op::SRLI,
            By::SignRight => Op::SRAI,
        };
        Insn::immediate(op, d, x, k)
    }
}
