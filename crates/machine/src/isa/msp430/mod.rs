//! MSP430: CPU and multipliers.
//!
//! | file | what |
//! |---|---|
//! | [`instructions`] | the table: name, encoding, syntax, data flow, timing class, feature, meaning |
//! | [`operands`] | addressing modes; what a core has |
//! | [`machine`], [`multiplier`] | registers, flags and operands; the multiplier behind its addresses |
//! | [`arithmetic`] | the operations the meanings use |
//! | [`code`] | how operands are encoded and printed |
//! | [`cores`] | cycles by addressing mode; cores and parts |
//! | [`run`] | what is its own in a run: a multiplier that takes time, interrupts |
//! | [`convention`] | calling conventions, as data |
//! | [`abi`], [`assumed`] | how functions are called; what is assumed at entry and given back |
//! | [`format`] | what linkers and assemblers are told |

pub mod abi;
pub mod arithmetic;
pub mod assumed;
pub mod code;
pub mod convention;
pub mod cores;
pub mod format;
pub mod instructions;
pub mod machine;
pub mod multiplier;
pub mod operands;
pub mod run;

use crate::codec::{self, Places};
use crate::format::{Assembler, Dialect, ObjectFormat};
use crate::isa::Isa;
use crate::isa::cost::Class;
use crate::isa::msp430::instructions::Op;
use crate::isa::msp430::machine::Msp430;
use crate::isa::runs::alike;

/// MSP430 and MSP430X.
pub struct Msp430Isa;

impl Isa for Msp430Isa {
    alike!(Msp430, 16);

    const WORD_BITS: u32 = 16;
    const ASSEMBLERS: &'static [Assembler] = &[Assembler::Gnu, Assembler::Iar, Assembler::Ti];

    fn core_name(core: &cores::Core) -> String {
        core.name.into()
    }

    /// The multiplier stays where it is.
    fn relatives(core: &cores::Core) -> Vec<cores::Core> {
        let all = cores::CORES.iter();
        let runs = all.filter(|other| other.runs(core));
        runs.map(|other| other.like(core)).collect()
    }

    fn abi(core: &cores::Core) -> &'static str {
        core.abi.title(core.multiplier.map(|_| core.irq))
    }

    fn is_frame(_: &cores::Core, insn: &code::Insn) -> bool {
        insn.class() == Class::Frame
    }

    fn branch(insn: &code::Insn) -> Option<i64> {
        insn.branch()
    }

    fn jump(insn: &code::Insn) -> Option<i64> {
        insn.branch()
    }

    fn object_format(core: &cores::Core) -> ObjectFormat {
        format::object(core)
    }

    fn dialect(core: &cores::Core) -> Dialect {
        format::dialect(core)
    }

    fn encode(core: &cores::Core, program: &[code::Insn]) -> Result<Vec<u8>, String> {
        match program.iter().find(|insn| !insn.is_of(core.features)) {
            Some(insn) => Err(format!("{} has no {}", core.name, insn.text())),
            None => codec::encode(program, false),
        }
    }

    fn decode(core: &cores::Core, code: &[u8]) -> Result<Vec<(usize, code::Insn)>, usize> {
        codec::decode(code, |bytes| code::Insn::decode(bytes, core.features))
    }

    fn register(name: &str) -> Option<u8> {
        let number = name.strip_prefix('r')?.parse().ok()?;
        (number < 16).then_some(number)
    }

    fn calling(mut insn: code::Insn, _: usize, to: usize) -> Option<code::Insn> {
        let high = i16::try_from(to >> 16).ok()?;
        match insn.lands() {
            Some(_) if high < 16 => insn.ops.k = high,
            None if high == 0 => {}
            Some(_) | None => return None,
        }
        insn.ops.x = to as u16;
        Some(insn)
    }

    // R_MSP430X_ABS16 (binutils, elf/msp430.h), of the unit behind the instruction: in objects of no system's ABI its types
    // are those of the MSP430X on every core. Of CALLA R_MSP430X_ABS20_ADR_DST.
    fn call_relocation(core: &cores::Core) -> (u32, u64) {
        if core.abi.large { (12, 0) } else { (15, 2) }
    }

    // Of BRA, whose upper bits are elsewhere, R_MSP430X_ABS20_ADR_SRC.
    fn lands(insn: &code::Insn) -> Option<(usize, u32)> {
        let relocation = if insn.op == Op::BRA { 11 } else { 12 };
        insn.lands().map(|to| (to, relocation))
    }

    fn registers(insn: &code::Insn) -> [Places; 2] {
        [insn.reads(), insn.writes()]
    }
}
