//! Why a file has no function to check.

use thiserror::Error;

/// Why a file has no function to check.
#[derive(Error, Debug, Clone, PartialEq, Eq)]
pub enum LoadError {
    /// It is no ELF file, or a damaged one: why.
    #[error(
        "not an ELF file, nor a library of them ({0}): try an object, as -c makes of C, a linked program, a library, or a \
         .S file"
    )]
    Format(String),
    /// It is for another machine.
    #[error("it is for {found}, not for {wanted}: {hint}")]
    Machine {
        /// The machine of the file.
        found: String,
        /// The machine of the target.
        wanted: String,
        /// What to type instead.
        hint: &'static str,
    },
    /// It holds no machine code but that of a compiler in between.
    #[error(
        "GCC's intermediate code only (-flto): check the linked program, or compile with -fno-lto"
    )]
    Intermediate,
    /// The function is code of another instruction set of MIPS.
    #[error(
        "{0} is MIPS16 or microMIPS code, and only MIPS32 is followed: compile with -mno-mips16"
    )]
    Mips16(String),
    /// There is no function of that name.
    #[error("no function {name}{hint}")]
    Symbol {
        /// The name.
        name: String,
        /// What may be meant.
        hint: String,
    },
    /// More than one function has the name.
    #[error(
        "{count} local functions are called {name}: say which, as --symbol {}",
        .places.join(" or --symbol ")
    )]
    Ambiguous {
        /// The name.
        name: String,
        /// How many have it.
        count: usize,
        /// Where they are.
        places: Vec<String>,
    },
    /// The library has no member of that name.
    #[error("no member {name}{hint}")]
    Member {
        /// The name.
        name: String,
        /// What may be meant.
        hint: String,
    },
    /// The function is Thumb code.
    #[error("{0} is Thumb code, and only ARM state is followed: compile with -marm")]
    Thumb(String),
    /// Its sections are larger than any part.
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
