//! The library's face: what is asked for, for which target, and what comes of it.
//!
//! A [`Target`](crate::Target) is a value, a [`Request`] is built up and generates a [`Kernel`], [`audit()`] judges
//! anybody's code under a [`Contract`], and what fails is an [`Error`] that says why as data. The other modules of this
//! crate are what this one stands on, and less steady.

mod asked;
mod audit;
mod candidates;
mod claim;
mod contract;
mod error;
mod kernel;
pub mod made;
mod options;
mod request;
mod verdicts;

pub use audit::{Audit, Function, Operands, audit};
pub use candidates::{Candidate, Candidates, Count};
pub use contract::Contract;
pub use error::{Error, What};
pub use kernel::{Files, Kernel, Run};
pub use options::AnyModulus;
pub use request::{Counted, Request};
pub use verdicts::{Time, Verdicts};
