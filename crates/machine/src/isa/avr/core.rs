//! A core: its instruction set, and what its part has.

use std::ops::Range;

use crate::isa::avr::convention::Abi;
use crate::isa::avr::operands::{Op, Timing};

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
    pub(crate) fn runs_on(self, other: Set) -> bool {
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

    /// Addresses of internal SRAM, if the part is known and has one stack.
    pub fn ram(&self) -> Option<Range<usize>> {
        let part = self.part.filter(|_| !self.abi.data_stack)?;
        Some(part.ram_start..part.ram_start + part.ram)
    }

    /// Is it the one with r16 to r31 only?
    pub fn is_reduced(&self) -> bool {
        self.set == Set::Avrrc
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

    /// The same core, called by `abi`.
    pub fn called(&self, abi: &'static Abi) -> Core {
        Core {
            abi,
            ..self.clone()
        }
    }
}

/// One part.
#[derive(Debug)]
pub struct Part {
    pub name: &'static str,
    pub core: &'static Core,
    /// Bytes of program memory, on XMEGA of its application section.
    pub flash: usize,
    /// Bytes of internal SRAM, and its first address.
    pub ram: usize,
    pub ram_start: usize,
    /// ELF machine number of binutils (`EF_AVR_MACH`).
    pub arch: u32,
    /// Number of the data sheet: Microchip's (DS...) or Atmel's (doc...).
    pub datasheet: &'static str,
}

impl Part {
    /// What of it was read where: the data sheet's number alone names a source that nobody opened.
    pub fn read(&self) -> &'static str {
        let found = READ.iter().find(|(names, _)| names.contains(&self.name));
        found.map_or("avr-gcc's and avr-libc's tables", |(_, text)| text)
    }

    /// Has it MUL?
    pub fn has_mul(&self) -> bool {
        self.core.multiplies()
    }

    /// More than 64 KB of flash: ELPM reads through RAMPZ. (XMEGA have a boot section besides: avrxmega4 has both.)
    pub fn has_rampz(&self) -> bool {
        self.flash > 64 * 1024 || self.arch == 104
    }

    /// More than 8 KB of flash: RJMP and RCALL do not reach everywhere, and there are JMP and CALL.
    pub fn has_jmp(&self) -> bool {
        self.flash > 8 * 1024
    }

    /// Room for more than 64 KB of data: every address has a page (avrxmega5 and avrxmega7 of avr-gcc).
    pub fn pages_data(&self) -> bool {
        matches!(self.arch, 105 | 107)
    }

    /// A 22-bit program counter: indirect jumps go through EIND, return addresses have 3 bytes.
    pub fn has_eind(&self) -> bool {
        self.core.pc_bytes == 3
    }
}

/// What of which parts was read where, besides the tables of avr-gcc and avr-libc that all agree with.
/// (onlinedocs.microchip.com has the data sheets chapter by chapter, without their numbers.)
#[rustfmt::skip]
pub const READ: &[(&[&str], &str)] = &[
    (
        &[
            "attiny202", "attiny204", "attiny402", "attiny404", "attiny406", "attiny804", "attiny806", "attiny807",
            "attiny1604", "attiny1606", "attiny1607", "attiny212", "attiny214", "attiny412", "attiny414", "attiny416",
            "attiny417", "attiny814", "attiny816", "attiny817", "attiny3216", "attiny3217", "avr32da28", "avr32da48",
            "avr128da28", "avr128da48", "avr128da64", "avr32db28", "avr32db48", "avr64db28", "avr64db48",
            "avr128db28", "avr128db48", "avr128db64", "avr64dd14", "avr64dd20",
        ],
        "flash, ram, ram_start: the data sheet on onlinedocs.microchip.com, Memories",
    ),
    (
        &["attiny1614", "attiny1616", "attiny1617"],
        "flash, ram, MUL: DS40002204A, page 1; ram_start: the data sheet on onlinedocs.microchip.com, Memories",
    ),
    (
        &[
            "attiny424", "attiny426", "attiny427", "attiny824", "attiny826", "attiny827", "attiny1624", "attiny1626",
            "attiny1627", "attiny3224", "attiny3226", "attiny3227", "avr64da28", "avr64da48", "avr64dd28", "avr64dd32",
            "avr32da32", "avr64da32", "avr64da64", "avr128da32", "avr32db32", "avr64db32", "avr64db64", "avr128db32",
        ],
        "flash, ram: the data sheet on onlinedocs.microchip.com, Memory Overview",
    ),
    (
        &[
            "atmega808", "atmega809", "atmega1608", "atmega1609", "atmega3208", "atmega3209", "atmega4808",
            "atmega4809",
        ],
        "flash, ram, MUL: the data sheet on onlinedocs.microchip.com, Introduction and Memory Overview",
    ),
    (&["attiny25", "attiny45", "attiny85"], "flash, ram: doc2586, summary, page 1"),
];
