//! What is wrong with a size, a modulus, or how far results are reduced.

use crate::op::{MAX_BITS, Size};

/// A size no kernel can have.
#[derive(thiserror::Error, Debug, Clone, PartialEq, Eq)]
pub enum SpecError {
    #[error("{0} bits: an operand has at least one word: try {1}")]
    Zero(u32, u32),
    #[error("{0} bits are not a whole number of {1}-bit words: try {2}")]
    NotWhole(u32, u32, String),
    #[error("{0} bits: the largest operand is {MAX_BITS} bits")]
    TooLarge(u32),
    #[error("{0} {1}: only mul has operands of two sizes: try {0} {2}")]
    TwoSizes(&'static str, Size, u32),
    #[error("{0} works modulo a number: try --modulus p256, --modulus 2^255-19 or {1}")]
    NoModulus(&'static str, &'static str),
    #[error("{0} has no modulus: try montmul, or leave out --modulus and --reduce")]
    NotModular(&'static str),
    #[error("the modulus {0} is even: {1} needs an odd one")]
    Even(String, &'static str),
    #[error("the modulus {0} is too small: the smallest is 3")]
    SmallModulus(String),
    #[error("the modulus {0} has {1} bits, operands have {2}: try {3} bits")]
    LargeModulus(String, u64, u32, u64),
    #[error("--reduce lazy needs 4 m <= 2^{0}, and {1} is larger: try --reduce almost")]
    NotLazy(u32, String),
    #[error(
        "{0} has no product of its own to fold: try --modulus runtime, or redc behind mul or sqr"
    )]
    Folded(&'static str),
    #[error(
        "a folded number is below 2^n, and {0} would be one more subtraction: try --reduce almost"
    )]
    FoldedReduce(&'static str),
    #[error("--shift {0}: numbers of {1} bits are shifted by {1} bits at most: try --shift {2}")]
    Shift(u32, u32, u32),
    #[error(
        "a shift is for the form of a modulus that is known: try --modulus p192, or montmul for 2^-n"
    )]
    ShiftedRuntime,
    #[error(
        "{0} is the same whether numbers are shifted or not: leave out --shift (modmul and modsqr take it)"
    )]
    Shifted(&'static str),
    #[error("{0} bits: what is folded has four parts of whole words: try {1}")]
    Quarters(u32, u32),
}
