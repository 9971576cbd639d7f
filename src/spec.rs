//! What a kernel computes: the operation, its size, and which operands may share memory.

use num_bigint::BigUint;
use serde::Serialize;

/// The operations, by their word on the command line.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// `r = a * b`, twice as long as its operands.
    Mul,
}

impl Op {
    /// All operations.
    pub const ALL: [Op; 1] = [Op::Mul];

    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Op::Mul => "mul",
        }
    }

    /// What the operation makes of its operands.
    pub fn value(self, operands: &[BigUint]) -> BigUint {
        match self {
            Op::Mul => operands.iter().product(),
        }
    }

    /// The equation, for an operand of `bits` bits.
    pub fn equation(self) -> &'static str {
        match self {
            Op::Mul => "r = a * b",
        }
    }
}

/// The largest operand, in bits.
pub const MAX_BITS: u32 = 4096;

/// An operation and its operand size.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Spec {
    pub op: Op,
    /// Bits of each operand.
    pub bits: u32,
}

/// A size no kernel can have.
#[derive(thiserror::Error, Debug, Clone, PartialEq, Eq)]
pub enum SpecError {
    #[error("{0} bits: an operand has at least one word: try {1}")]
    Zero(u32, u32),
    #[error("{0} bits are not a whole number of {1}-bit words: try {2}")]
    NotWhole(u32, u32, String),
    #[error("{0} bits: the largest operand is {MAX_BITS} bits")]
    TooLarge(u32),
}

impl Spec {
    /// A spec on a machine of `word_bits` bits.
    ///
    /// # Errors
    /// When `bits` is zero, over [`MAX_BITS`] or not a multiple of `word_bits`.
    pub fn new(op: Op, bits: u32, word_bits: u32) -> Result<Self, SpecError> {
        if bits == 0 {
            return Err(SpecError::Zero(bits, word_bits));
        }
        if bits > MAX_BITS {
            return Err(SpecError::TooLarge(bits));
        }
        if !bits.is_multiple_of(word_bits) {
            let down = bits / word_bits * word_bits;
            return Err(SpecError::NotWhole(
                bits,
                word_bits,
                match down {
                    0 => word_bits.to_string(),
                    _ => format!("{down} or {}", down + word_bits),
                },
            ));
        }
        Ok(Self { op, bits })
    }

    /// Bytes of each source operand.
    pub fn operand_bytes(&self) -> usize {
        self.bits as usize / 8
    }

    /// Bytes of the result.
    pub fn result_bytes(&self) -> usize {
        match self.op {
            Op::Mul => 2 * self.operand_bytes(),
        }
    }

    /// The symbol: `mul160`.
    pub fn symbol(&self) -> String {
        format!("{}{}", self.op.name(), self.bits)
    }
}

/// Which operands start at the same address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
pub enum Alias {
    #[serde(rename = "distinct")]
    Distinct,
    #[serde(rename = "a == b")]
    AIsB,
    #[serde(rename = "r == a")]
    RIsA,
    #[serde(rename = "r == b")]
    RIsB,
    #[serde(rename = "r == a == b")]
    All,
}

impl Alias {
    /// Every case, the two that the contract always offers first.
    pub const ALL: [Alias; 5] = [
        Alias::Distinct,
        Alias::AIsB,
        Alias::RIsA,
        Alias::RIsB,
        Alias::All,
    ];

    /// Must a kernel be proved for this case to be written?
    pub fn is_required(self) -> bool {
        matches!(self, Alias::Distinct | Alias::AIsB)
    }

    /// As the header says it.
    pub fn text(self) -> &'static str {
        match self {
            Alias::Distinct => "r, a, b distinct",
            Alias::AIsB => "a == b",
            Alias::RIsA => "r == a",
            Alias::RIsB => "r == b",
            Alias::All => "r == a == b",
        }
    }
}
