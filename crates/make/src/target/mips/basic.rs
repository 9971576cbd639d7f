//! The basic instructions of the engine, on a MIPS32.

use machine::isa::mips::MipsIsa;
use machine::isa::mips::abi::{SAVE_AREA, SP};
use machine::isa::mips::code::Insn;
use machine::isa::mips::instructions::Op;

use crate::engine::basic::{Basic, By, Moves, Three};
use crate::target::mips::registers::ZERO;

impl Moves for MipsIsa {
    const ZERO: u8 = ZERO;
    const SP: u8 = SP;
    const FRAME: i32 = SAVE_AREA;
    const RESULT: u8 = 4;
    const RETURNED: u8 = 2;

    fn copy(d: u8, x: u8) -> Insn {
        Insn::three(Op::ADDU, d, x, ZERO)
    }

    /// One or two halves.
    fn number(d: u8, k: u32) -> Vec<Insn> {
        let [high, low] = [k >> 16, k & 0xffff].map(|half| half as i32);
        let mut list = Vec::new();
        if high != 0 {
            list.push(Insn::immediate(Op::LUI, d, ZERO, high));
        }
        if low != 0 || high == 0 {
            let from = if high == 0 { ZERO } else { d };
            list.push(Insn::immediate(Op::ORI, d, from, low));
        }
        list
    }

    fn load(d: u8, base: u8, at: i32) -> Insn {
        Insn::immediate(Op::LW, d, base, at)
    }

    fn store(x: u8, base: u8, at: i32) -> Insn {
        Insn::immediate(Op::SW, x, base, at)
    }

    fn writes(insn: &Insn, r: u8) -> bool {
        insn.writes() >> r & 1 == 1
    }
}

impl Basic for MipsIsa {
    const MASK_BITS: u32 = 16;

    fn three(op: Three, d: u8, x: u8, y: u8) -> Insn {
        let op = match op {
            Three::Add => Op::ADDU,
            Three::Sub => Op::SUBU,
            Three::Less => Op::SLTU,
            Three::And => Op::AND,
            Three::Or => Op::OR,
            Three::Xor => Op::XOR,
        };
        Insn::three(op, d, x, y)
    }

    fn by(op: By, d: u8, x: u8, k: i32) -> Insn {
        let shift = |op| {
            let mut insn = Insn::three(op, d, 0, x);
            insn.ops.k = k;
            insn
        };
        match op {
            By::Add => Insn::immediate(Op::ADDIU, d, x, k),
            By::And => Insn::immediate(Op::ANDI, d, x, k),
            By::Left => shift(Op::SLL),
            By::Right => shift(Op::SRL),
            By::SignRight => shift(Op::SRA),
        }
    }
}
