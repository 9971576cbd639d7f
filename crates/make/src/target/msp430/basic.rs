//! The basic instructions of the engine, on MSP430.

use machine::isa::msp430::Msp430Isa;
use machine::isa::msp430::code::{Dest, Insn, Source};
use machine::isa::msp430::instructions::Op;
use machine::isa::msp430::operands::{CG, SP};

use crate::engine::basic::{self, Moves, Two};
use crate::engine::flag_chains::Flagged;

/// Where an instruction reads a word.
pub fn source(source: basic::Source) -> Source {
    match source {
        basic::Source::Register(r) => Source::Register(r),
        basic::Source::Memory(base, 0) => Source::Indirect(base),
        basic::Source::Memory(base, at) => Source::Indexed(base, at as u16),
        basic::Source::Number(k) => Source::Constant(k as u16),
    }
}

impl Moves for Msp430Isa {
    const ZERO: u8 = CG;
    const SP: u8 = SP;
    const FRAME: i32 = 0;
    const RESULT: u8 = 12;
    const RETURNED: u8 = 12;

    fn copy(d: u8, x: u8) -> Insn {
        Self::two(Two::Copy, d, basic::Source::Register(x))
    }

    fn number(d: u8, k: u32) -> Vec<Insn> {
        vec![Self::two(Two::Copy, d, basic::Source::Number(k.into()))]
    }

    fn load(d: u8, base: u8, at: i32) -> Insn {
        Self::two(Two::Copy, d, basic::Source::Memory(base, at))
    }

    fn store(x: u8, base: u8, at: i32) -> Insn {
        Insn::two(Op::MOV, Source::Register(x), Dest::Indexed(base, at as u16))
    }

    fn writes(insn: &Insn, r: u8) -> bool {
        insn.writes() >> r & 1 == 1
    }
}

impl Flagged for Msp430Isa {
    const LOGIC_KEEPS_FLAG: bool = false;

    fn two(op: Two, d: u8, from: basic::Source) -> Insn {
        let op = match op {
            Two::Copy => Op::MOV,
            Two::Add => Op::ADD,
            Two::AddCarry => Op::ADDC,
            Two::Sub => Op::SUB,
            Two::SubBorrow => Op::SUBC,
            Two::And => Op::AND,
            Two::Or => Op::BIS,
            Two::Xor => Op::XOR,
            Two::Clear => Op::BIC,
        };
        Insn::two(op, source(from), Dest::Register(d))
    }

    fn compare(x: u8, k: u64) -> Insn {
        Insn::two(Op::CMP, Source::Constant(k as u16), Dest::Register(x))
    }

    fn halve(d: u8, through: bool) -> Insn {
        let op = if through { Op::RRC } else { Op::RRA };
        Insn::one(op, Source::Register(d))
    }
}
