//! What instructions cost and which there are: one table per core, in the order of [`Timing`]'s classes.
//!
//! Source: DS40002198, *AVR Instruction Set Manual*, chapter 5, columns AVRe, AVRxm, AVRxt and
//! AVRrc, with the notes on internal SRAM; which instructions a core has: its appendix A.

use crate::isa::Class;
use crate::isa::avr::abi;
use crate::isa::avr::abi::Abi;
use crate::isa::avr::code::Insn;
use crate::isa::avr::instructions::{Op, Timing};
use crate::isa::avr::parts::{PARTS, Part};

/// The instruction sets of the family (DS40002198, table 5-1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Set {
    /// Classic, without a multiplier and, as on parts of at most 8 KB, without JMP and CALL.
    Avre,
    /// Classic with a multiplier.
    AvrePlus,
    /// XMEGA.
    Avrxm,
    /// tinyAVR 0, 1, 2, megaAVR 0 and AVR Dx.
    Avrxt,
    /// Reduced core: registers r16 to r31 only.
    Avrrc,
}

/// A core: a name, its instructions, their costs and the width of its program counter.
#[derive(Clone, Debug)]
pub struct Core {
    pub name: &'static str,
    pub summary: &'static str,
    pub set: Set,
    /// Bytes of a return address.
    pub pc_bytes: usize,
    /// Cycles of an instruction that neither branches nor skips.
    pub cycles: fn(Timing) -> u32,
    /// Extra cycles of a taken branch, and of each word skipped.
    pub taken: u32,
    /// ELF machine number of binutils (`EF_AVR_MACH`) for code that runs on every part with this core.
    pub arch: u32,
    pub source: &'static str,
    /// How its kernels are called.
    pub abi: &'static Abi,
    /// The part it is in; if none is given, the one that the core is named after.
    pub part: Option<&'static Part>,
}

impl PartialEq for Core {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.abi.name == other.abi.name
    }
}

impl Set {
    /// Is `op`, with any operands, an instruction of the set?
    pub fn has(self, op: Op) -> bool {
        use Op::*;
        match op {
            MUL | MULS | MULSU | FMUL | FMULS | FMULSU | EIJMP | EICALL | ELPM | ELPMZ
            | ELPMZ_INC | JMP | CALL => !matches!(self, Set::Avre | Set::Avrrc),
            ADIW | SBIW | MOVW | LDS | STS | LPM | LPMZ | LPMZ_INC | SPM => self != Set::Avrrc,
            LDS_RC | STS_RC => self == Set::Avrrc,
            _ => true,
        }
    }

    /// The first register.
    pub fn first_register(self) -> u8 {
        match self {
            Set::Avrrc => 16,
            _ => 0,
        }
    }

    /// Does code of `self` mean the same on `other`, called in the same way?
    fn runs_on(self, other: Set) -> bool {
        let rank = |set| match set {
            Set::Avrrc => None,
            Set::Avre => Some(0),
            Set::AvrePlus | Set::Avrxm | Set::Avrxt => Some(1),
        };
        match (rank(self), rank(other)) {
            (Some(mine), Some(theirs)) => mine <= theirs,
            (mine, theirs) => mine == theirs,
        }
    }
}

impl Core {
    /// The same core in `part`.
    pub fn in_part(&self, part: Option<&'static Part>) -> Core {
        Core {
            part,
            ..self.clone()
        }
    }

    /// What is true of the part it is in.
    fn part_has(&self, what: impl Fn(&Part) -> bool) -> bool {
        let named = || PARTS.iter().find(|part| part.name == self.name);
        self.part.or_else(named).is_some_and(what)
    }

    /// Has it RAMPZ, and with that ELPM?
    pub fn has_rampz(&self) -> bool {
        self.part_has(Part::has_rampz)
    }

    /// Do RAMPX, RAMPY, RAMPZ and RAMPD stand above the addresses of data?
    pub fn pages_data(&self) -> bool {
        self.part_has(Part::pages_data)
    }

    /// Has it EIND?
    pub fn has_eind(&self) -> bool {
        self.pc_bytes == 3
    }

    /// For how many instructions a write to SPL keeps interrupts out, or until the next write of an I/O register:
    /// XMEGA AU manual (8331B), section 3.8; of AVRxt megaAVR 0-series (DS40002015A), section 7.7.2.
    pub fn closed_by_spl(&self) -> u8 {
        match self.set {
            Set::Avrxm | Set::Avrxt => 4,
            Set::Avre | Set::AvrePlus | Set::Avrrc => 0,
        }
    }

    /// Has the part `op`, if the instruction set has it?
    fn part_can(&self, op: Op) -> bool {
        match op {
            Op::JMP | Op::CALL => self.part_has(Part::has_jmp),
            Op::ELPM | Op::ELPMZ | Op::ELPMZ_INC => self.has_rampz(),
            _ => true,
        }
    }

    /// Has it MUL?
    pub fn multiplies(&self) -> bool {
        self.set.has(Op::MUL)
    }

    /// I/O address 0 in data space: the classic cores have the register file below it.
    pub fn io_start(&self) -> i64 {
        match self.set {
            Set::Avre | Set::AvrePlus => 0x20,
            Set::Avrxm | Set::Avrxt | Set::Avrrc => 0,
        }
    }

    /// Why `insn` is no instruction of this core, if it is none.
    pub fn refusal(&self, insn: &Insn) -> Option<String> {
        let displaced = matches!(insn.op, Op::LDDY | Op::LDDZ | Op::STDY | Op::STDZ);
        let reduced = self.set == Set::Avrrc;
        let name = || insn.form().name.to_uppercase();
        if !self.set.has(insn.op) || reduced && displaced && insn.ops.k != 0 {
            return Some(format!("{} is not an instruction of {}", name(), self.name));
        }
        if !self.part_can(insn.op) {
            let part = self.part.map_or(self.name, |part| part.name);
            return Some(format!("{} is not an instruction of {part}", name()));
        }
        if !reduced {
            return None;
        }
        let first = self.set.first_register();
        let low = insn.registers().into_iter().find(|r| *r < first)?;
        Some(format!("r{low} is not a register of {}", self.name))
    }

    /// Cycles of `insn`, when it neither branches nor skips: LD with a plain pointer is LDD with displacement 0.
    pub fn cycles_of(&self, insn: &Insn) -> u32 {
        (self.cycles)(match insn.form().timing {
            Timing::LoadDisplaced if insn.ops.k == 0 => Timing::Load,
            Timing::StoreDisplaced if insn.ops.k == 0 => Timing::Store,
            timing => timing,
        })
    }

    /// Every core that runs code made for this one, in this one's calling convention.
    pub fn relatives(&self) -> impl Iterator<Item = Core> {
        let own = self.clone();
        let others = CORES.iter().filter(|c| self.set.runs_on(c.set));
        others.map(move |c| match c.name == own.name {
            true => own.clone(),
            false => (*c).called(own.abi),
        })
    }

    /// The same core, called by `abi`.
    pub fn called(&self, abi: &'static Abi) -> Core {
        Core {
            abi,
            ..self.clone()
        }
    }

    /// What a count of instructions calls `insn`.
    pub fn class_of(&self, insn: &Insn) -> Class {
        match self.abi.saves(insn.op) {
            true => Class::Frame,
            false => insn.form().class,
        }
    }
}

/// Column AVRe, 16-bit program counter.
fn avre(timing: Timing) -> u32 {
    match timing {
        Timing::Alu => 1,
        Timing::WordImmediate | Timing::Multiply => 2,
        Timing::Load | Timing::LoadPostIncrement | Timing::LoadPreDecrement => 2,
        Timing::LoadDisplaced | Timing::LoadDirect => 2,
        Timing::Store | Timing::StorePreDecrement => 2,
        Timing::StoreDisplaced | Timing::StoreDirect => 2,
        Timing::LoadProgram => 3,
        // SPM waits for the flash: not a fixed number of cycles, and not simulated.
        Timing::StoreProgram => 1,
        Timing::Push | Timing::Pop | Timing::IoBit => 2,
        Timing::Branch | Timing::Skip | Timing::SkipIo => 1,
        Timing::RelativeJump | Timing::IndirectJump => 2,
        Timing::Jump => 3,
        Timing::RelativeCall | Timing::IndirectCall => 3,
        Timing::ExtendedIndirectCall | Timing::Call | Timing::Return => 4,
    }
}

/// Column AVRxm, 16-bit program counter: a load from internal SRAM takes a cycle more than the core's own.
fn avrxm(timing: Timing) -> u32 {
    match timing {
        Timing::LoadPreDecrement | Timing::LoadDisplaced | Timing::LoadDirect => 3,
        Timing::Store | Timing::Push | Timing::IoBit => 1,
        Timing::SkipIo | Timing::RelativeCall | Timing::IndirectCall => 2,
        Timing::ExtendedIndirectCall | Timing::Call => 3,
        other => avre(other),
    }
}

/// Column AVRxt, 16-bit program counter.
fn avrxt(timing: Timing) -> u32 {
    match timing {
        Timing::LoadDirect => 3,
        Timing::Store | Timing::StorePreDecrement | Timing::StoreDisplaced => 1,
        Timing::Push | Timing::IoBit => 1,
        Timing::RelativeCall | Timing::IndirectCall => 2,
        Timing::ExtendedIndirectCall | Timing::Call => 3,
        other => avre(other),
    }
}

/// Column AVRrc; loads from data memory.
fn avrrc(timing: Timing) -> u32 {
    match timing {
        Timing::Load | Timing::Store | Timing::StoreDirect | Timing::Push | Timing::IoBit => 1,
        Timing::LoadPostIncrement | Timing::LoadPreDecrement | Timing::LoadDirect => 2,
        Timing::Pop => 3,
        Timing::Return => 6,
        other => avre(other),
    }
}

/// With a 22-bit program counter calls and returns move a byte, a cycle each, more; EICALL's column says 22 bits already.
fn wide(timing: Timing) -> u32 {
    match timing {
        Timing::RelativeCall | Timing::IndirectCall | Timing::Call | Timing::Return => 1,
        _ => 0,
    }
}

/// AVRe+ with a 16-bit program counter, internal SRAM without wait states.
pub static ATMEGA128: Core = Core {
    name: "atmega128",
    summary: "AVRe+, 16-bit program counter (ATmega with up to 128 KB of flash)",
    set: Set::AvrePlus,
    pc_bytes: 2,
    cycles: avre,
    taken: 1,
    arch: 5,
    source: "ATmega128 datasheet (doc2467), instruction set summary; DS40002198, column AVRe",
    abi: &abi::GCC,
    part: None,
};

/// AVRe+ with a 22-bit program counter: calls and returns move three bytes.
pub static ATMEGA2560: Core = Core {
    name: "atmega2560",
    summary: "AVRe+, 22-bit program counter (ATmega with 256 KB of flash)",
    pc_bytes: 3,
    cycles: |t| avre(t) + wide(t),
    arch: 6,
    source: "ATmega2560 datasheet (DS40002211), instruction set summary; DS40002198, 22-bit PC",
    ..ATMEGA128
};

/// AVRe without a multiplier.
pub static ATTINY85: Core = Core {
    name: "attiny85",
    summary: "AVRe, no multiplier (classic ATtiny with up to 8 KB of flash)",
    set: Set::Avre,
    arch: 25,
    source: "ATtiny25/45/85 datasheet (doc2586), instruction set summary; DS40002198, column AVRe",
    ..ATMEGA128
};

/// AVRxm with a 16-bit program counter.
pub static ATXMEGA32A4: Core = Core {
    name: "atxmega32a4",
    summary: "AVRxm, 16-bit program counter (XMEGA with up to 64 KB of flash)",
    set: Set::Avrxm,
    cycles: avrxm,
    arch: 102,
    source: "DS40002198, column AVRxm, internal SRAM",
    ..ATMEGA128
};

/// AVRxm with a 22-bit program counter.
pub static ATXMEGA128A1: Core = Core {
    name: "atxmega128a1",
    summary: "AVRxm, 22-bit program counter (XMEGA with 128 KB of flash and more)",
    set: Set::Avrxm,
    pc_bytes: 3,
    cycles: |t| avrxm(t) + wide(t),
    arch: 106,
    source: "DS40002198, column AVRxm, internal SRAM, 22-bit PC",
    ..ATMEGA128
};

/// AVRxt, whose program counter has 16 bits on every part.
pub static ATMEGA4809: Core = Core {
    name: "atmega4809",
    summary: "AVRxt (tinyAVR 0/1/2, megaAVR 0, AVR Dx)",
    set: Set::Avrxt,
    cycles: avrxt,
    arch: 103,
    source: "DS40002198, column AVRxt, internal RAM",
    ..ATMEGA128
};

/// The reduced core.
pub static ATTINY10: Core = Core {
    name: "attiny10",
    summary: "AVRrc, r16 to r31 only, no multiplier (ATtiny4/5/9/10/20/40)",
    set: Set::Avrrc,
    cycles: avrrc,
    arch: 100,
    source: "DS40002198, column AVRrc, data memory; ATtiny4/5/9/10 datasheet (DS40002060)",
    abi: &abi::GCC_REDUCED,
    ..ATMEGA128
};

/// All cores.
pub static CORES: [&Core; 7] = [
    &ATMEGA128,
    &ATMEGA2560,
    &ATTINY85,
    &ATXMEGA32A4,
    &ATXMEGA128A1,
    &ATMEGA4809,
    &ATTINY10,
];
