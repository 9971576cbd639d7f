//! Why a run cannot go on.

use std::fmt::{Display, Formatter};

use thiserror::Error;

/// Where a value that is not the same in every run comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub name: String,
    /// Addresses of the instructions that made it, from the first on.
    pub path: Vec<usize>,
    /// Is it no secret, but where the caller placed the operands?
    pub is_place: bool,
}

impl From<&str> for Source {
    fn from(name: &str) -> Self {
        Self {
            name: name.into(),
            path: Vec::new(),
            is_place: false,
        }
    }
}

impl Display for Source {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// A run stopped before its return. Addresses are byte addresses.
#[derive(Error, Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    #[error("a branch depends on {0}")]
    SecretBranch(Source),
    #[error("an address depends on {0}")]
    SecretAddress(Source),
    #[error("reads {0}")]
    Load(String),
    #[error("writes {0}")]
    Store(String),
    #[error("jumps to {0:#x}, outside the code")]
    Fetch(usize),
    #[error("returns to an address that is not the caller's")]
    Return,
    #[error("no result after {0} instructions (--steps sets the limit)")]
    StepLimit(u64),
    #[error("never returns: after {0} more instructions it is where it was")]
    Endless(u64),
    #[error(
        "no result after {0} words were computed, many more than operands of this size take: it may never return"
    )]
    WordLimit(usize),
    /// The calling convention is broken while it runs, whatever it gives back.
    #[error("{0}")]
    Convention(&'static str),
    /// What is followed no further.
    #[error("{0}")]
    Unsupported(String),
    /// An exception.
    #[error("{0}")]
    Exception(String),
    /// What the manual leaves undefined: chips may differ in it.
    #[error("{0}")]
    Unpredictable(String),
}

/// What an access below the stack pointer does: an interrupt may overwrite what lies there.
pub const BELOW_STACK: &str = "below the stack pointer, where an interrupt may write";

/// What becomes of a stack pointer of data that points elsewhere.
pub const DATA_STACK_LOST: &str = "Y, the stack pointer of data, does not point to the last byte in use: an interrupt would write there";

impl Fault {
    /// Does it say that time or addresses depend on a secret?
    pub fn is_leak(&self) -> bool {
        self.source().is_some_and(|source| !source.is_place)
    }

    /// What a branch or an address depends on.
    pub fn source(&self) -> Option<&Source> {
        match self {
            Fault::SecretBranch(source) | Fault::SecretAddress(source) => Some(source),
            _ => None,
        }
    }

    /// Does it say that memory outside the contract is touched?
    pub fn is_memory(&self) -> bool {
        matches!(self, Fault::Load(_) | Fault::Store(_))
    }
}
