//! The frame of a function: what it saves, and its room on the stack.

use machine::isa::riscv::abi::{RA, SAVE_AREA, SP, STACK_LIMIT, is_callee_saved, stack_align};
use machine::isa::riscv::code::Insn;
use machine::isa::riscv::instructions::Op;
use machine::isa::riscv::operands::Features;

use crate::refusal::LowerError;
use crate::target::riscv::registers::ZERO;

/// Saves what the body needs, and makes room for `scratch` words from [`SAVE_AREA`] above sp on: (before, after) the
/// body.
///
/// # Errors
/// When the stack would be deeper than [`STACK_LIMIT`].
pub fn frame(
    body: &[Insn],
    scratch: usize,
    features: Features,
) -> Result<(Vec<Insn>, Vec<Insn>), LowerError> {
    let written = body.iter().fold(0, |all, insn| all | insn.writes());
    let saved: Vec<u8> = (0..32)
        .filter(|r| written >> r & 1 == 1 && is_callee_saved(*r))
        .collect();
    let top = match scratch {
        0 => 4 * saved.len(),
        _ => SAVE_AREA as usize + 4 * scratch,
    };
    let below = top.next_multiple_of(stack_align(features) as usize);
    if below as i64 > STACK_LIMIT {
        let limit = STACK_LIMIT as usize;
        return Err(LowerError::Stack { need: below, limit });
    }
    let place = |i: usize| 4 * i as i32;
    let all = || saved.iter().enumerate();
    let mut before: Vec<Insn> = all()
        .map(|(i, r)| Insn::store(Op::SW, *r, SP, place(i)))
        .collect();
    let mut after: Vec<Insn> = all()
        .map(|(i, r)| Insn::immediate(Op::LW, *r, SP, place(i)))
        .collect();
    if below > 0 {
        before.splice(0..0, moved(-(below as i32)));
        after.extend(moved(below as i32));
    }
    after.push(Insn::immediate(Op::JALR, ZERO, RA, 0));
    Ok((before, after))
}

/// The largest step of ADDI that keeps sp aligned.
const STEP: i32 = 2032;

/// Moves sp by so many bytes.
fn moved(by: i32) -> Vec<Insn> {
    let (mut left, mut list) = (by, Vec::new());
    while left != 0 {
        let step = left.clamp(-STEP, STEP);
        list.push(Insn::immediate(Op::ADDI, SP, SP, step));
        left -= step;
    }
    list
}
