//! The frame of a function: what it saves, and its room on the stack.

use crate::engine::basic::Basic;
use crate::refusal::LowerError;

/// What a machine says of its stack.
pub trait Frames: Basic {
    /// The most bytes of stack.
    const LIMIT: i64;
    /// Bytes above the stack pointer that are a function's though its caller made them.
    const HOME: i32;

    /// Must a function give the register back?
    fn preserves(r: u8) -> bool;
    /// What the stack pointer is a multiple of.
    fn align(core: &Self::Core) -> i32;
    /// Moves the stack pointer by so many bytes.
    fn moved(by: i32) -> Vec<Self::Insn>;
    /// Goes back to the caller, with the instructions that move the stack pointer last.
    fn leave(moves: Vec<Self::Insn>) -> Vec<Self::Insn>;

    /// Where the saved register of index `i` lies, above the stack pointer; `end`: where their room ends.
    fn place(i: usize, _end: i32) -> i32 {
        Self::WORD_BYTES * i as i32
    }
}

/// What stands around the body of a function.
pub struct Frame<I> {
    pub before: Vec<I>,
    pub after: Vec<I>,
    /// Bytes that the stack pointer moves by.
    pub bytes: i32,
}

/// Saves what the body needs, and makes room for `scratch` words from [`FRAME`](crate::engine::basic::Moves::FRAME) bytes
/// above the stack pointer on.
///
/// # Errors
/// When the stack would be deeper than [`Frames::LIMIT`].
pub fn frame<M: Frames>(
    core: &M::Core,
    body: &[M::Insn],
    scratch: usize,
) -> Result<Frame<M::Insn>, LowerError> {
    let written = body.iter().fold(0, |all, insn| all | M::registers(insn)[1]);
    let saved = (0..32).filter(|r| written >> r & 1 == 1 && M::preserves(*r));
    let saved: Vec<u8> = saved.collect();
    let words = |count: usize| M::WORD_BYTES * count as i32;
    let top = match scratch {
        0 => words(saved.len()),
        _ => M::FRAME + words(scratch),
    };
    let align = M::align(core);
    let bytes = ((top - M::HOME).max(0) + align - 1) / align * align;
    if i64::from(bytes) > M::LIMIT {
        let (need, limit) = (bytes as usize, M::LIMIT as usize);
        return Err(LowerError::Stack { need, limit });
    }
    let end = match scratch {
        0 => bytes + M::HOME,
        _ => M::FRAME,
    };
    let all = || saved.iter().enumerate();
    let moves = |by| if by == 0 { Vec::new() } else { M::moved(by) };
    let mut before = moves(-bytes);
    before.extend(all().map(|(i, r)| M::store(*r, M::SP, M::place(i, end))));
    let mut after: Vec<_> = all()
        .map(|(i, r)| M::load(*r, M::SP, M::place(i, end)))
        .collect();
    after.extend(M::leave(moves(bytes)));
    Ok(Frame {
        before,
        after,
        bytes,
    })
}
