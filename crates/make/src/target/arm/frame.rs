//! The frame of a function: what it saves, and its room on the stack.

use machine::isa::arm::abi::{STACK_LIMIT, is_callee_saved};
use machine::isa::arm::code::{BlockMode, Insn, immediate_bits};
use machine::isa::arm::cores::{Core, Version};
use machine::isa::arm::instructions::{Op, Ops};
use machine::isa::arm::machine::{LR, PC, SP};

use crate::refusal::LowerError;

/// Returns by `mov pc, lr` where there is no BX.
pub fn return_by(core: &Core, insns: &mut [Insn]) {
    let is_return = |insn: &&mut Insn| insn.op == Op::BX && core.version == Version::V4;
    for insn in insns.iter_mut().filter(is_return) {
        *insn = Insn::reg(Op::MOV, false, PC, 0, insn.ops.m);
    }
}

/// Words of room that is made for so many.
pub fn room(words: usize) -> usize {
    // Multiples of 4 below 1024 and of 16 below 4096 are immediates.
    match words {
        0..256 => words,
        _ => words.next_multiple_of(4),
    }
}

/// Saves what the body needs, and makes room for `scratch` words above the stack pointer:
/// (before, after) the body.
///
/// # Errors
/// When the stack would be deeper than [`STACK_LIMIT`].
pub fn frame(body: &[Insn], scratch: usize) -> Result<(Vec<Insn>, Vec<Insn>), LowerError> {
    let used = body.iter().fold(0, |set, insn| set | insn.registers());
    let saved = (0..15u8)
        .filter(|r| is_callee_saved(*r) && *r != SP || *r == LR)
        .fold(0, |set, r| set | used & 1 << r);
    let back = Insn {
        op: Op::BX,
        ops: Ops {
            m: LR,
            ..Default::default()
        },
    };
    let room = room(scratch);
    let need = 4 * (saved.count_ones() as usize + room);
    let bits = immediate_bits(4 * room as u32).filter(|_| need as i64 <= STACK_LIMIT);
    let bits = bits.ok_or(LowerError::Stack {
        need,
        limit: STACK_LIMIT as usize,
    })?;
    let (mut before, mut after) = (vec![], vec![back]);
    if saved != 0 {
        before.push(Insn::block(Op::STM, SP, BlockMode::DB, true, saved));
        after.insert(0, Insn::block(Op::LDM, SP, BlockMode::IA, true, saved));
    }
    if room > 0 {
        before.push(Insn::alu(Op::SUB, false, SP, SP, bits));
        after.insert(0, Insn::alu(Op::ADD, false, SP, SP, bits));
    }
    Ok((before, after))
}
