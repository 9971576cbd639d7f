//! What a machine word *is*: the value domains.
//!
//! Every instruction's meaning is written once, over [`Domain`], and run with
//! different words:
//!
//! | domain | a word is | it answers |
//! |---|---|---|
//! | [`concrete`] | a number | what does this run compute? |
//! | [`secret`] | public, or learnt from a secret | may an observer of time and addresses learn it? |
//! | [`traced`] | an integer variable, which somebody answers for ([`answers`]) | is the result right for *all* inputs? |
//!
//! The crate `lozenge` adds one whose words are bit-vector terms, for SMT solvers.
//!
//! Words carry their width in their type, `D::Word<8>`. Operations are total:
//! what a domain cannot follow becomes an unknown word, which no later proof can
//! use. Only [`Domain::decide`] and the memory leave the domain, and may fail.

#![deny(clippy::wildcard_enum_match_arm)]

pub mod abstract_memory;
pub mod answers;
pub mod asked;
pub mod cells;
pub mod concrete;
pub mod entered;
pub mod entry;
pub mod ids;
pub mod joined;
pub mod low_bits;
pub mod pieces;
pub mod place;
pub mod placed;
pub mod public;
pub mod secret;
pub mod trace;
pub mod traced;
pub mod variable;
pub mod ways;
pub mod width;
pub mod word;

pub use crate::domain::entry::Abstract;
pub use crate::domain::place::{Address, Base};
pub use crate::domain::word::{Domain, Logic, Shift, Signs, Sum};
