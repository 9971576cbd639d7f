//! Words, bits and variables of the algebra domain.

use serde::{Deserialize, Serialize};

use crate::domain::public::{Public, PublicBit};

/// A variable's number; later variables are defined by earlier ones.
pub type VarId = u32;

/// A word: a public value or a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Value {
    Public(Public),
    Var(VarId),
}

impl Value {
    /// The number 0.
    pub const ZERO: Value = Value::Public(Public::Known(0));
    /// The number 1.
    pub const ONE: Value = Value::Public(Public::Known(1));

    /// The variable that it is, if it is one.
    pub fn variable(&self) -> Option<VarId> {
        match self {
            Value::Var(v) => Some(*v),
            Value::Public(_) => None,
        }
    }
}

/// A bit: public, a variable in 0..=1, or one whose equation nobody needed so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum BitValue {
    Public(PublicBit),
    Var(VarId),
    /// The top bit of a word of `w` bits.
    Top {
        word: VarId,
        w: u32,
    },
    /// Is a word 0? Or is it not?
    Zero {
        word: VarId,
        is: bool,
    },
    /// A bit this domain does not follow (an overflow, a half carry).
    Opaque,
}

/// What a variable is equal to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Def {
    /// Any value within its bound: an input, or something not followed.
    Free,
    /// A carry, a high word, a quotient: fixed by the equation of another variable.
    Carry,
    /// `constant + sum of terms`, the terms `start .. start + len` of the arena.
    Linear { start: u32, len: u32, constant: i64 },
    /// `a * b - 2^W * hi`.
    Low {
        a: Value,
        b: Value,
        hi: VarId,
        w: u32,
    },
    /// `a * b`, one of them a bit.
    Product { a: VarId, b: VarId },
}

/// A variable.
#[derive(Clone, Copy, Debug)]
pub struct Var {
    pub def: Def,
    /// Its largest value; the smallest is 0.
    pub bound: u64,
    /// Address of the instruction that made it.
    pub pc: u32,
    /// The variable at whose turn it is replaced: itself, or the earliest word of its claim.
    pub rank: VarId,
}
