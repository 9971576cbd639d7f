//! The frame of a function: what it saves, and its room on the stack.

use machine::isa::mips::abi::{HOME, RA, SAVE_AREA, SP, STACK_LIMIT, is_callee_saved};
use machine::isa::mips::code::Insn;
use machine::isa::mips::instructions::Op;

use crate::refusal::LowerError;

/// Saves what the body needs, and makes room for `scratch` words from [`SAVE_AREA`] above $sp on:
/// (before, after) the body. The home area of the arguments counts as room.
///
/// # Errors
/// When the stack would be deeper than [`STACK_LIMIT`].
pub fn frame(body: &[Insn], scratch: usize) -> Result<(Vec<Insn>, Vec<Insn>), LowerError> {
    let written = body.iter().fold(0, |all, insn| all | insn.writes());
    let saved: Vec<u8> = (0..32)
        .filter(|r| written >> r & 1 == 1 && is_callee_saved(*r))
        .collect();
    let top = match scratch {
        0 => 4 * saved.len() as i32,
        _ => SAVE_AREA,
    };
    // $sp stays a multiple of 8.
    let below = (top + 4 * scratch as i32 - HOME as i32 + 7).max(0) & !7;
    if i64::from(below) > STACK_LIMIT {
        return Err(LowerError::Stack {
            need: below as usize,
            limit: STACK_LIMIT as usize,
        });
    }
    let top = if scratch == 0 {
        below + HOME as i32
    } else {
        top
    };
    let place = |i: usize| top - 4 * (i as i32 + 1);
    let access = |op: Op| {
        let all = saved.iter().enumerate();
        all.map(|(i, r)| Insn::immediate(op, *r, SP, place(i)))
            .collect::<Vec<_>>()
    };
    let (mut before, mut after) = (access(Op::SW), access(Op::LW));
    let mut slot = Insn::three(Op::SLL, 0, 0, 0);
    if below > 0 {
        before.insert(0, Insn::immediate(Op::ADDIU, SP, SP, -below));
        slot = Insn::immediate(Op::ADDIU, SP, SP, below);
    }
    after.extend([Insn::three(Op::JR, 0, RA, 0), slot]);
    Ok((before, after))
}
