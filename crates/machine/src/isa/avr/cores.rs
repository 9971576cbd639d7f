//! What instructions cost and which there are: one table per core, in the order of [`Timing`]'s classes.
//!
//! Source: DS40002198, *AVR Instruction Set Manual*, chapter 5, columns AVRe, AVRxm, AVRxt and
//! AVRrc, with the notes on internal SRAM; which instructions a core has: its appendix A.

use crate::codec::Operands;
use crate::fault::Source;
use crate::isa::avr::code::Insn;
use crate::isa::avr::convention;
pub use crate::isa::avr::core::{Core, Set};
use crate::isa::avr::operands::{Ops, Timing};
use crate::isa::clock::{Cycles, Memoryless, Timed};
use crate::isa::cost::Class;
use crate::isa::energy::Draw;

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
    abi: &convention::GCC,
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
    abi: &convention::GCC_REDUCED,
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

impl Core {
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
}

impl Timed<Ops> for Core {
    type Line = Memoryless;

    fn work(&self, insn: &Insn) -> Cycles {
        let branches = insn.form().timing == Timing::Branch;
        Cycles {
            cycles: self.cycles_of(insn) as u16,
            taken: if branches { self.taken as u8 } else { 0 },
        }
    }

    fn observing(&self, _: &Insn, work: &Cycles, _: Option<u64>) -> [Cycles; 2] {
        [*work; 2]
    }

    /// No AVR instruction's time depends on its operands.
    fn observes(&self, _: &Insn) -> Option<u8> {
        None
    }

    fn observed(&self, insn: &Insn, source: &Source) -> String {
        format!("the time of {} depends on {source}", insn.form().name)
    }

    /// A cycle for each word skipped.
    fn left_out(&self, bytes: usize) -> Cycles {
        Cycles {
            cycles: (self.taken as usize * bytes / Ops::UNIT) as u16,
            taken: 0,
        }
    }

    fn class(&self, insn: &Insn) -> Class {
        match self.abi.saves(insn.op) {
            true => Class::Frame,
            false => insn.form().class,
        }
    }

    fn draw(&self, insn: &Insn) -> Draw {
        match insn.form().timing {
            Timing::Alu | Timing::WordImmediate | Timing::IoBit => Draw::Alu,
            Timing::Multiply => Draw::Mul,
            Timing::Load
            | Timing::LoadDisplaced
            | Timing::LoadPostIncrement
            | Timing::LoadPreDecrement
            | Timing::LoadDirect
            | Timing::LoadProgram
            | Timing::Pop => Draw::Load,
            Timing::Store
            | Timing::StoreDisplaced
            | Timing::StorePreDecrement
            | Timing::StoreDirect
            | Timing::StoreProgram
            | Timing::Push => Draw::Store,
            Timing::Branch
            | Timing::Skip
            | Timing::SkipIo
            | Timing::RelativeJump
            | Timing::IndirectJump
            | Timing::Jump
            | Timing::RelativeCall
            | Timing::IndirectCall
            | Timing::ExtendedIndirectCall
            | Timing::Call
            | Timing::Return => Draw::Other,
        }
    }
}
