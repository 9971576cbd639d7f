//! Why a run cannot go on.

use thiserror::Error;

/// A run stopped before its return. Addresses are byte addresses.
#[derive(Error, Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    #[error("a branch depends on {0}")]
    SecretBranch(String),
    #[error("an address depends on {0}")]
    SecretAddress(String),
    #[error("reads {0}")]
    Load(String),
    #[error("writes {0}")]
    Store(String),
    #[error("jumps to {0:#x}, outside the code")]
    Fetch(usize),
    #[error("returns to an address that is not the caller's")]
    Return,
    #[error("no result after {0} instructions")]
    StepLimit(u64),
    #[error("{0}")]
    Unsupported(String),
}

/// What an access below the stack pointer does: an interrupt may overwrite what lies there.
pub const BELOW_STACK: &str = "below the stack pointer, where an interrupt may write";

impl Fault {
    /// Does it say that time or addresses depend on a secret?
    pub fn is_leak(&self) -> bool {
        matches!(self, Fault::SecretBranch(_) | Fault::SecretAddress(_))
    }

    /// Does it say that memory outside the contract is touched?
    pub fn is_memory(&self) -> bool {
        matches!(self, Fault::Load(_) | Fault::Store(_))
    }
}
