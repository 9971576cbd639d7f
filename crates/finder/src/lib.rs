//! Finds why a kernel is right, and writes it down for the judge ([`judge::checker`]) to decide.
//!
//! It may be clever: nothing is believed. [`algebra`] makes a variable of each word, with its definition; the other
//! modules name the words that operations make, bound them, and look for the reason why a goal is reached.

pub mod algebra;
pub mod answered;
pub mod beside;
mod borrows;
pub mod bounds;
pub mod carries;
pub mod claim;
mod claim_in_sum;
pub mod claims;
pub mod compares;
mod conditional;
pub mod cuts;
pub mod due;
pub mod exchanged;
pub mod exclusive;
pub mod floor;
pub mod folded;
pub mod found;
pub mod homes;
pub mod identity;
pub mod idioms;
pub mod inverse;
pub mod known;
pub mod lost;
mod masked_difference;
pub mod modular;
pub mod montgomery;
pub mod parity;
pub mod polynomial;
pub mod quotient;
pub mod recent;
pub(crate) mod remainder;
pub mod residue;
pub mod scaled;
pub mod shifts;
pub mod sign;
pub mod signed;
pub mod split;
pub mod stays;
pub mod told;
pub mod truth;
mod two_steps;
mod union;
