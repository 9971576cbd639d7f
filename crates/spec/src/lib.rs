//! What a kernel computes: the operation, its sizes, and which operands may share memory.

mod alias;
mod error;
pub mod folded;
pub mod modulus;
pub mod nearest;
mod op;
mod spec;
pub mod vectors;

pub use crate::alias::Alias;
pub use crate::error::SpecError;
pub use crate::op::{MAX_BITS, Op, Size};
pub use crate::spec::{Source, Spec};
