//! The checker: decides whether what a run wrote down ([`machine::domain::trace`]) is true.
//!
//! It knows nothing of how conclusions were found. Every variable stands for a number that the inputs fix:
//!
//! - an input is any word of its width, or what the contract says of it;
//! - a carry or a high word is *defined* by the first operation that names it, as the quotient of a division by a
//!   power of 2; the word is the remainder. Whoever names it again must show that it is the same;
//! - a sum or a product of variables is an abbreviation.
//!
//! Operations that name no new variable are checked by *unique division*: `E = word + 2^w carry` and
//! `0 <= word < 2^w` leave one value to each. Equations are checked by replacing variables by their definitions,
//! latest first; ranges by the ranges of the variables; a choice by a bit in both of its cases.

#![deny(clippy::wildcard_enum_match_arm)]

mod beside;
mod bounded;
mod choices;
mod claims;
mod compared;
mod cuts;
mod form;
mod forms;
mod goal;
mod joint;
mod lemma;
mod limits;
mod modulus;
pub mod number;
mod operations;
mod polynomial;
mod quotient;
mod reached;
mod refused;
mod refute;
pub mod replay;
mod state;
mod term;

pub use crate::checker::goal::{Corner, Goal, Rest};
pub use crate::checker::modulus::Modulus;
pub use crate::checker::state::Checker;
pub use crate::checker::term::Term;
