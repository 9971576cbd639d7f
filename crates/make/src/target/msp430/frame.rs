//! The frame of a function: what it saves, and its room on the stack.

use machine::isa::msp430::abi::STACK_LIMIT;
use machine::isa::msp430::code::{Dest, Insn, Source};
use machine::isa::msp430::cores::Core;
use machine::isa::msp430::instructions::Op;
use machine::isa::msp430::operands::{SP, SR};

use crate::refusal::LowerError;
use crate::target::msp430::interrupts::{Masked, close};

/// Saves what the body needs, SR if interrupts are `masked`, and makes room for `scratch` words from SP on: (before, after)
/// the body.
///
/// # Errors
/// When the stack would be deeper than [`STACK_LIMIT`].
pub fn frame(
    core: &Core,
    body: &[Insn],
    scratch: usize,
    masked: Masked,
) -> Result<(Vec<Insn>, Vec<Insn>), LowerError> {
    let written = body.iter().fold(0, |all, insn| all | insn.writes());
    let saved: Vec<u8> = (0..16)
        .filter(|r| written >> r & 1 == 1 && core.abi.preserves(*r))
        .collect();
    let masks = masked != Masked::Never;
    let words = if core.abi.large { 2 } else { 1 };
    let need = 2 * (words * saved.len() + scratch + usize::from(masks));
    if need as i64 > STACK_LIMIT {
        let limit = STACK_LIMIT as usize;
        return Err(LowerError::Stack { need, limit });
    }
    let run = saved.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let (mut before, mut after) = match (saved.first(), saved.last()) {
        (Some(low), Some(high)) if run && core.features.extended && !core.abi.large => (
            vec![Insn::several(Op::PUSHM, *low, *high)],
            vec![Insn::several(Op::POPM, *low, *high)],
        ),
        _ => save(&saved, core.abi.large),
    };
    if masks {
        before.push(Insn::one(Op::PUSH, Source::Register(SR)));
        after.insert(0, Insn::pop(Dest::Register(SR)));
    }
    if masked == Masked::Always {
        before.extend(close());
    }
    if scratch > 0 {
        let moved = |op| {
            let bytes = Source::Constant(2 * scratch as u16);
            Insn::two(op, bytes, Dest::Register(SP))
        };
        before.push(moved(Op::SUB));
        after.insert(0, moved(Op::ADD));
    }
    after.push(back(core.abi.large));
    Ok((before, after))
}

/// Saves registers, with 20 bits in the large model, and restores them.
pub fn save(saved: &[u8], large: bool) -> (Vec<Insn>, Vec<Insn>) {
    let all = |register: fn(u8) -> Insn, run: fn(&[u8]) -> Insn| -> Vec<Insn> {
        match large {
            true => saved
                .chunk_by(|low, high| low + 1 == *high)
                .map(run)
                .collect(),
            false => saved.iter().map(|r| register(*r)).collect(),
        }
    };
    let before = all(
        |r| Insn::one(Op::PUSH, Source::Register(r)),
        |run| Insn::several(Op::PUSHMA, run[0], run[run.len() - 1]),
    );
    let mut after = all(
        |r| Insn::pop(Dest::Register(r)),
        |run| Insn::several(Op::POPMA, run[0], run[run.len() - 1]),
    );
    after.reverse();
    (before, after)
}

/// The way back.
pub fn back(large: bool) -> Insn {
    if large { Insn::reta() } else { Insn::ret() }
}
