//! What linkers, assemblers and preprocessors are told of a target.

/// Whose assembler reads the assembly file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assembler {
    Gnu,
    Iar,
    CrossWorks,
    Armasm,
    Ti,
}

impl Assembler {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Assembler::Gnu => "gnu",
            Assembler::Iar => "iar",
            Assembler::CrossWorks => "crossworks",
            Assembler::Armasm => "armasm",
            Assembler::Ti => "ti",
        }
    }

    /// What its files end in.
    pub fn extension(self, format: &ObjectFormat) -> &'static str {
        match (self, format.architecture) {
            (Assembler::Gnu, _) => "S",
            (Assembler::Iar, object::Architecture::Avr) => "s90",
            (Assembler::Iar, object::Architecture::Msp430) => "s43",
            (Assembler::Iar | Assembler::Armasm, _) => "s",
            (Assembler::CrossWorks | Assembler::Ti, _) => "asm",
        }
    }
}

/// What an object file of a target looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ObjectFormat {
    pub architecture: object::Architecture,
    pub big_endian: bool,
    /// `e_flags` of the ELF header.
    pub flags: u32,
    /// Alignment of code, in bytes.
    pub align: u64,
    /// A local symbol that marks what kind of code begins (`$a` on ARM, `$x` on RISC-V).
    pub mapping_symbol: Option<&'static str>,
    /// What linkers compare, beside the flags.
    pub attributes: Option<Attributes>,
    /// Does the code say that it needs no executable stack? Yes where GCC says so (Linux): one
    /// object without makes the stack executable, one object with makes ld warn of all others.
    pub stack_note: bool,
}

/// A section from which a linker knows what the code needs of a processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attributes {
    pub section: &'static str,
    /// `sh_type` of ELF.
    pub kind: u32,
    /// `sh_flags` of ELF.
    pub flags: u64,
    /// In bytes.
    pub align: u64,
    pub bytes: &'static [u8],
}

/// What differs between GNU assemblers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dialect {
    /// Directives before the function, lines with a newline each.
    pub preamble: &'static str,
    /// The directive that aligns code.
    pub align: &'static str,
    /// What the preprocessor must find true: builds for other machines skip the file.
    pub guard: &'static str,
    /// Compilers whose use of the header is an error.
    pub strangers: &'static [Stranger],
}

/// A compiler, for a machine of the same family, whose programs the function must not get into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stranger {
    /// What the preprocessor finds true there.
    pub when: &'static str,
    /// Why not, behind the function's name: no quotes, one line.
    pub why: &'static str,
    /// Is the assembly file an error, too? Where not, its guard leaves it empty: a folder of kernels builds for all.
    pub in_assembly: bool,
}

impl Dialect {
    /// The directives before the code that make the assembly file an error where it must not be assembled.
    pub fn refusals(&self, symbol: &str) -> String {
        let told = self.strangers.iter().filter(|s| s.in_assembly);
        told.map(|s| s.refusal(symbol)).collect()
    }
}

impl Stranger {
    /// The directives that make it an error.
    pub fn refusal(&self, symbol: &str) -> String {
        let Stranger { when, why, .. } = self;
        format!("#if {when}\n#error \"{symbol} {why}\"\n#endif\n")
    }
}
