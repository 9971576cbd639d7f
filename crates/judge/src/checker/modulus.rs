//! A modulus of a goal.

use machine::domain::variable::Value;
use num_bigint::BigInt;

/// A modulus: a number, or the words of an operand.
#[derive(Clone, Copy)]
pub enum Modulus<'a> {
    Number(&'a BigInt),
    Words(&'a [Value]),
}
