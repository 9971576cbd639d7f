//! Why a file has no function to check.

use thiserror::Error;

/// Why a file has no function to check.
#[derive(Error, Debug, Clone, PartialEq, Eq)]
pub enum LoadError {
    #[error(
        "not an ELF file, nor a library of them ({0}): try an object, as -c makes of C, a linked program, a library, or a \
         .S file"
    )]
    Format(String),
    #[error("it is for {found}, not for {wanted}: {hint}")]
    Machine {
        found: String,
        wanted: String,
        hint: &'static str,
    },
    #[error(
        "GCC's intermediate code only (-flto): check the linked program, or compile with -fno-lto"
    )]
    Intermediate,
    #[error(
        "{0} is MIPS16 or microMIPS code, and only MIPS32 is followed: compile with -mno-mips16"
    )]
    Mips16(String),
    #[error("no function {name}{hint}")]
    Symbol { name: String, hint: String },
    #[error(
        "{count} local functions are called {name}: say which, as --symbol {}",
        .places.join(" or --symbol ")
    )]
    Ambiguous {
        name: String,
        count: usize,
        places: Vec<String>,
    },
    #[error("no member {name}{hint}")]
    Member { name: String, hint: String },
    #[error("{0} is Thumb code, and only ARM state is followed: compile with -marm")]
    Thumb(String),
    #[error("its sections take more than {MAX_BYTES} bytes")]
    TooLarge,
}

/// A number of bytes that memory may hold.
pub fn size(bytes: u64) -> Result<usize, LoadError> {
    match bytes <= MAX_BYTES {
        true => Ok(bytes as usize),
        false => Err(LoadError::TooLarge),
    }
}

/// No program of the machines known here is larger, in bytes.
pub(super) const MAX_BYTES: u64 = 1 << 26;
