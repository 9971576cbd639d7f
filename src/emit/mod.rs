//! Views of a finished kernel: assembly text, C header, linkable object. All of the same bytes.

pub mod banner;
pub mod elf;
pub mod gnu;
pub mod header;

/// What an object file of a target looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ObjectFormat {
    pub architecture: object::Architecture,
    pub big_endian: bool,
    /// `e_flags` of the ELF header.
    pub flags: u32,
    /// Alignment of code, in bytes.
    pub align: u64,
    /// A local symbol that marks what kind of code begins (`$a` on ARM).
    pub mapping_symbol: Option<&'static str>,
    /// Does the code say that it needs no executable stack? Yes where GCC says so (Linux): one
    /// object without makes the stack executable, one object with makes ld warn of all others.
    pub stack_note: bool,
}

/// What differs between GNU assemblers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dialect {
    /// Directives before the function, lines with a newline each.
    pub preamble: &'static str,
    /// The directive that aligns code.
    pub align: &'static str,
}
