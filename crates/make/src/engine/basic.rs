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

/// Where an instruction reads a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    Register(u8),
    /// So many bytes from where a register points.
    Memory(u8, i32),
    Number(u64),
}

/// `d = d op source`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Two {
    /// `d = source`.
    Copy,
    Add,
    /// The carry is added, too.
    AddCarry,
    Sub,
    /// The borrow is subtracted, too.
    SubBorrow,
    And,
    Or,
    Xor,
    /// `d & !source`.
    Clear,
}

/// Words in registers and in memory. Registers are numbers, addresses a register and a number of bytes.
pub trait Moves: Isa {
    /// The register that holds 0.
    const ZERO: u8;
    /// The stack pointer, and how many bytes above it the words of the frame begin.
    const SP: u8;
    const FRAME: i32;
    /// The register that the address of the result comes in; those of the operands follow.
    const RESULT: u8;
    /// The register that a word is returned in.
    const RETURNED: u8;
    /// Bytes of a word, and the largest one.
    const WORD_BYTES: i32 = Self::WORD_BITS as i32 / 8;
    const LARGEST: u128 = (1 << Self::WORD_BITS) - 1;

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

/// The instructions of a machine without a carry flag, whose words have 32 bits.
pub trait Basic: Moves {
    /// Bits of the largest mask that [`By::And`] takes.
    const MASK_BITS: u32;

    /// `d = x op y`.
    fn three(op: Three, d: u8, x: u8, y: u8) -> Self::Insn;
    /// `d = x op k`.
    fn by(op: By, d: u8, x: u8, k: i32) -> Self::Insn;
}
