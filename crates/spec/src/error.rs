//! What is wrong with a size, a modulus, or how far results are reduced.

use crate::op::{MAX_BITS, Size};

/// A size no kernel can have.
#[derive(thiserror::Error, Debug, Clone, PartialEq, Eq)]
pub enum SpecError {
    #[error("{0} bits: an operand has at least one word")]
    Zero(u32, u32),
    #[error("{0} bits are not a whole number of {1}-bit words")]
    NotWhole(u32, u32, String),
    #[error("{0} bits: the largest operand is {MAX_BITS} bits")]
    TooLarge(u32),
    #[error(
        "{0} {1}: only mul has operands of two sizes, and of add, sub, addc and subb the second one may be shorter"
    )]
    TwoSizes(&'static str, Size, u32),
    #[error("{0} works modulo a number")]
    NoModulus(&'static str, &'static str),
    #[error("{0} has no modulus")]
    NotModular(&'static str),
    #[error("the modulus {0} is even: {1} needs an odd one")]
    Even(String, &'static str),
    #[error("the modulus {0} is too small: the smallest is 3")]
    SmallModulus(String),
    #[error("the modulus {0} has {1} bits, operands have {2}")]
    LargeModulus(String, u64, u32, u64),
    #[error("--reduce lazy needs 4 m <= 2^{0}, and {1} is larger")]
    NotLazy(u32, String),
    #[error("{0} has no product of its own to fold")]
    Folded(&'static str),
    #[error("a folded number is only below 2^n, and {0} would need one more subtraction")]
    FoldedReduce(&'static str),
    #[error("--shift {0}: numbers of {1} bits are shifted by {1} bits at most")]
    Shift(u32, u32, u32),
    #[error("--shift needs a modulus that is a number")]
    ShiftedRuntime,
    #[error("{0} gives the same result for shifted numbers")]
    Shifted(&'static str),
    #[error("{0} multiplies by a number")]
    NoTimes(&'static str),
    #[error("{0} multiplies by no number of --times")]
    Times(&'static str),
    #[error("--times needs a modulus that is a number")]
    TimesRuntime,
    #[error("--times {0}: the number has at most {1} bits here")]
    LargeTimes(u32, u32),
    #[error("{0} bits: a folded reduction cuts its operand into four parts of whole words")]
    Quarters(u32, u32),
}
