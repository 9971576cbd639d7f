//! What instructions cost: one table per core, in the order of [`Timing`]'s classes.

use super::instructions::Timing;

/// A core: a name, its costs and the width of its program counter.
#[derive(Clone, Debug)]
pub struct Core {
    pub name: &'static str,
    pub summary: &'static str,
    /// Bytes of a return address.
    pub pc_bytes: usize,
    /// Cycles of an instruction that neither branches nor skips.
    pub cycles: fn(Timing) -> u32,
    /// Extra cycles of a taken branch, and of each word skipped.
    pub taken: u32,
    /// ELF machine number of binutils (`EF_AVR_MACH`) for code that runs on every part with this core.
    pub arch: u32,
    pub source: &'static str,
}

impl PartialEq for Core {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// AVRe+ with a 16-bit program counter, internal SRAM without wait states.
pub static ATMEGA128: Core = Core {
    name: "atmega128",
    summary: "AVRe+, 16-bit program counter (ATmega with up to 128 KB of flash)",
    pc_bytes: 2,
    cycles: |t| match t {
        Timing::Alu => 1,
        Timing::WordImmediate | Timing::Multiply => 2,
        Timing::Load | Timing::LoadDisplaced | Timing::LoadPreDecrement | Timing::LoadDirect => 2,
        Timing::Store
        | Timing::StoreDisplaced
        | Timing::StorePreDecrement
        | Timing::StoreDirect => 2,
        Timing::LoadProgram => 3,
        // SPM waits for the flash: not a fixed number of cycles, and not simulated.
        Timing::StoreProgram => 1,
        Timing::Push | Timing::Pop | Timing::IoBit => 2,
        Timing::Branch | Timing::Skip => 1,
        Timing::RelativeJump | Timing::IndirectJump => 2,
        Timing::Jump => 3,
        Timing::RelativeCall | Timing::IndirectCall => 3,
        Timing::ExtendedIndirectCall | Timing::Call | Timing::Return => 4,
    },
    taken: 1,
    arch: 5,
    source: "ATmega128 datasheet (doc2467), instruction set summary; DS40002198, column AVRe+",
};

/// AVRe+ with a 22-bit program counter: calls and returns move three bytes.
pub static ATMEGA2560: Core = Core {
    name: "atmega2560",
    summary: "AVRe+, 22-bit program counter (ATmega with 256 KB of flash)",
    pc_bytes: 3,
    cycles: |t| match t {
        Timing::RelativeCall
        | Timing::IndirectCall
        | Timing::ExtendedIndirectCall
        | Timing::Call
        | Timing::Return => (ATMEGA128.cycles)(t) + u32::from(t != Timing::ExtendedIndirectCall),
        _ => (ATMEGA128.cycles)(t),
    },
    taken: 1,
    arch: 6,
    source: "ATmega2560 datasheet (DS40002211), instruction set summary; DS40002198, 22-bit PC",
};

/// All cores.
pub static CORES: [&Core; 2] = [&ATMEGA128, &ATMEGA2560];
