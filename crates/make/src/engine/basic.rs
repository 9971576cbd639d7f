//! The basic instructions of machines without a carry flag: add, subtract, compare, load, store.

use machine::isa::Isa;

/// `d = x op y`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Three {
    Add,
    Sub,
    /// 1 if `x < y`, both without a sign, else 0.
    Less,
    And,
    Or,
    Xor,
}

/// `d = x op k`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    Add,
    And,
    Left,
    Right,
    /// To the right, with copies of the sign.
    SignRight,
}

/// The instructions. Registers are numbers, addresses a register and a number of bytes, words have 32 bits.
pub trait Basic: Isa {
    /// The register that holds 0.
    const ZERO: u8;
    /// The stack pointer, and how many bytes above it the words of the frame begin.
    const SP: u8;
    const FRAME: i32;
    /// The register that the address of the result comes in; those of the operands follow.
    const RESULT: u8;
    /// The register that a word is returned in.
    const RETURNED: u8;
    /// Bits of the largest mask that [`By::And`] takes.
    const MASK_BITS: u32;

    /// `d = x op y`.
    fn three(op: Three, d: u8, x: u8, y: u8) -> Self::Insn;
    /// `d = x op k`.
    fn by(op: By, d: u8, x: u8, k: i32) -> Self::Insn;
    /// `d = x`.
    fn copy(d: u8, x: u8) -> Self::Insn;
    /// `d = k`.
    fn number(d: u8, k: u32) -> Vec<Self::Insn>;
    /// `d` is the word `at` bytes from where `base` points.
    fn load(d: u8, base: u8, at: i32) -> Self::Insn;
    /// That word becomes `x`.
    fn store(x: u8, base: u8, at: i32) -> Self::Insn;
    /// Does it write register `r`?
    fn writes(insn: &Self::Insn, r: u8) -> bool;
}
