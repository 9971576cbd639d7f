//! 32-bit ARM, ARM state, architectures 4 and 4T.
//!
//! | file | what |
//! |---|---|
//! | [`instructions`] | the table: name, encoding, syntax, timing class, meaning |
//! | [`machine`], [`memory`] | registers and flags, and the operations the meanings use |
//! | [`code`] | how operands are encoded and printed |
//! | [`cores`] | costs of each core |
//! | [`run`] | what is its own in a run: conditions |
//! | [`abi`], [`assumed`] | the procedure call standard |

pub mod abi;
pub mod assumed;
pub mod code;
pub mod cores;
pub mod instructions;
pub mod machine;
pub mod memory;
pub mod operands;
pub mod run;

use crate::codec::{self, Operands as _, Places};
use crate::format::{Assembler, Attributes, Dialect, ObjectFormat, Stranger};
use crate::isa::Isa;
use crate::isa::arm::cores::Version;
use crate::isa::arm::machine::Arm;
use crate::isa::arm::operands::Ops;
use crate::isa::cost::Class;
use crate::isa::energy::Currents;
use crate::isa::runs::alike;

/// The ARM instruction set.
pub struct ArmIsa;

/// `e_flags` of an ELF object that follows version 5 of the ABI (ARM IHI 0044, EF_ARM_ABI_VER5).
const EABI5: u32 = 0x0500_0000;

/// Who must not run A32 code, and how it is noticed: ACLE (IHI 0053), section 5.4; before ACLE GCC had the names of
/// architectures alone.
static STRANGERS: [Stranger; 2] = [
    Stranger {
        when: "(defined(__ARM_ARCH) && !defined(__ARM_ARCH_ISA_ARM)) || defined(__ARM_ARCH_6M__) \
               || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__)",
        why: "is ARM code (A32), which Cortex-M does not execute: it has Thumb only",
        in_assembly: true,
    },
    Stranger {
        when: "defined(__ARMEB__) || defined(__ARM_BIG_ENDIAN) || defined(__BIG_ENDIAN__)",
        why: "is proved for little-endian memory: leave out -mbig-endian",
        in_assembly: true,
    },
];

/// Build attributes (ARM IHI 0045, section 2): of which architecture the code is, that it is in ARM state, and of the
/// classic profile. With the last a linker refuses it in a program for the M profile; GCC says nothing of it for these
/// cores, and what says nothing goes with anything.
const fn attributes(bytes: &'static [u8]) -> Attributes {
    Attributes {
        section: ".ARM.attributes",
        // SHT_ARM_ATTRIBUTES.
        kind: 0x7000_0003,
        flags: 0,
        align: 1,
        bytes,
    }
}

/// Version A; vendor aeabi, 31 bytes with its length; Tag_File, 21 bytes with tag and length; Tag_CPU_name ARM7TDMI,
/// Tag_CPU_arch v4T, Tag_CPU_arch_profile S, Tag_ARM_ISA_use yes.
const V4T: &[u8] = b"A\x1f\0\0\0aeabi\0\x01\x15\0\0\0\x05ARM7TDMI\0\x06\x02\x07S\x08\x01";
/// The same with the name STRONGARM1100, five bytes longer, and Tag_CPU_arch v4.
const V4: &[u8] = b"A\x24\0\0\0aeabi\0\x01\x1a\0\0\0\x05STRONGARM1100\0\x06\x01\x07S\x08\x01";

impl Isa for ArmIsa {
    alike!(Arm, 32);

    const WORD_BITS: u32 = 32;
    const ASSEMBLERS: &'static [Assembler] = &[Assembler::Gnu, Assembler::Iar, Assembler::Armasm];

    fn core_name(core: &cores::Core) -> String {
        core.name.to_string()
    }

    /// Those that have all of its instructions.
    fn relatives(core: &cores::Core) -> Vec<cores::Core> {
        let all = cores::CORES.iter().map(|c| (*c).clone());
        all.filter(|other| core.version == Version::V4 || other.version == core.version)
            .collect()
    }

    fn abi(_: &cores::Core) -> &'static str {
        "AAPCS"
    }

    fn currents(core: &cores::Core) -> Option<Currents> {
        core.currents()
    }

    fn is_frame(_: &cores::Core, insn: &code::Insn) -> bool {
        insn.class() == Class::Frame
    }

    fn branch(insn: &code::Insn) -> Option<i64> {
        insn.branch()
    }

    fn object_format(core: &cores::Core) -> ObjectFormat {
        ObjectFormat {
            architecture: object::Architecture::Arm,
            big_endian: false,
            flags: EABI5,
            align: 4,
            mapping_symbol: Some("$a"),
            attributes: Some(attributes(match core.version {
                Version::V4 => V4,
                Version::V4t => V4T,
            })),
            stack_note: false,
        }
    }

    fn dialect(core: &cores::Core) -> Dialect {
        Dialect {
            preamble: match core.version {
                Version::V4 => {
                    "\t.syntax unified\n\t.cpu strongarm1100\n\t.eabi_attribute Tag_CPU_arch_profile, 'S'\n\t.arm\n"
                }
                Version::V4t => {
                    "\t.syntax unified\n\t.cpu arm7tdmi\n\t.eabi_attribute Tag_CPU_arch_profile, 'S'\n\t.arm\n"
                }
            },
            align: "\t.p2align 2\n",
            guard: "defined(__arm__)",
            strangers: &STRANGERS,
        }
    }

    fn encode(_: &cores::Core, program: &[code::Insn]) -> Result<Vec<u8>, String> {
        codec::encode(program, false)
    }

    fn decode(core: &cores::Core, code: &[u8]) -> Result<Vec<(usize, code::Insn)>, usize> {
        let has = |form: &code::Form| core.version.has(form);
        codec::decode(code, |bytes| Ops::codec().decode(bytes, false, has))
    }

    fn register(name: &str) -> Option<u8> {
        (0..15u8).find(|r| code::register(*r) == name || format!("r{r}") == name)
    }

    fn calling(mut insn: code::Insn, at: usize, to: usize) -> Option<code::Insn> {
        insn.ops.k = (to as i32 - at as i32 - 8) / 4;
        Some(insn)
    }

    // R_ARM_CALL (AAELF32).
    fn call_relocation(_: &cores::Core) -> (u32, u64) {
        (28, 0)
    }

    fn registers(insn: &code::Insn) -> [Places; 2] {
        [insn.reads(), insn.writes()]
    }
}
