//! Where a word lies: bytes from a base.

use serde::{Deserialize, Serialize};

/// The base an address counts from: absolute, or a region whose place is arbitrary.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Base(pub u16);

impl Base {
    /// Absolute data addresses.
    pub const ABSOLUTE: Base = Base(0);
    /// The caller's code: where the kernel returns to.
    pub const RETURN: Base = Base(1);
    /// The stack, counted from the stack pointer at entry.
    pub const STACK: Base = Base(2);
    /// The stack of data, where that is not the stack of return addresses, counted from its pointer at entry.
    pub const DATA_STACK: Base = Base(15);
    /// An object that no linker has placed: addresses in it count from here, and no number is one of them.
    pub const IMAGE: Base = Base(u16::MAX - 1);
    /// The code of a kernel that works anywhere, for reads of its literals.
    pub const CODE: Base = Base(u16::MAX);
    /// The word that the function returns, as if it lay in memory.
    pub const RETURNED: Base = Base(u16::MAX - 2);
    /// The word `m'`, where it is an argument, as if it lay in memory.
    pub const INVERSE: Base = Base(u16::MAX - 3);
    /// The first of the operands.
    pub const FIRST_OPERAND: u16 = 3;
    /// The first of the areas that a function may use as it likes.
    pub const FIRST_AREA: u16 = 16;
    /// The most of these areas.
    pub const AREAS: usize = 1 << 10;
}

/// A data address: `offset` bytes from `base`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Address {
    pub base: Base,
    pub offset: i64,
}
