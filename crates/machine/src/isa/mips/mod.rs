//! MIPS32 (release 1) and instruction set extensions for it.
//!
//! | file | what |
//! |---|---|
//! | [`instructions`] | the table: name, encoding, syntax, data flow, timing class, feature, meaning |
//! | [`machine`] | registers, HI and LO with guard bits, and the operations the meanings use |
//! | [`code`] | how operands are encoded and printed |
//! | [`cores`] | what instructions take of each core's pipeline |
//! | [`run`] | what is its own in a run: delay slots |
//! | [`abi`], [`assumed`] | the o32 calling convention |

pub mod abi;
pub mod accumulator;
pub mod assumed;
pub mod code;
pub mod cores;
pub mod instructions;
pub mod machine;
pub mod operands;
pub mod registers;
pub mod run;

use crate::codec::{self, Operands as _, Places};
use crate::format::{Assembler, Attributes, Dialect, ObjectFormat, Stranger};
use crate::isa::Isa;
use crate::isa::cost::Class;
use crate::isa::mips::machine::Mips;
use crate::isa::mips::operands::Ops;
use crate::isa::runs::alike;

/// MIPS32.
pub struct MipsIsa;

/// Compilers for what has no HI and LO, or no MADDU, or calls otherwise: MD00086, GCC's mips.h.
const OLDER: Stranger = Stranger {
    when: "(defined(__mips) && __mips < 32) || (defined(__mips_isa_rev) && __mips_isa_rev >= 6)",
    why: "is MIPS32 code of release 1 to 5: this processor lacks its multiplications",
    in_assembly: true,
};
const OTHER_CALLS: Stranger = Stranger {
    // _ABIO32 is 1, and not defined where another is meant.
    when: "defined(_MIPS_SIM) && _MIPS_SIM != 1",
    why: "is called as o32 has it: try -mabi=32",
    in_assembly: true,
};
static LITTLE_ENDIAN: [Stranger; 3] = [
    OLDER,
    OTHER_CALLS,
    Stranger {
        when: "defined(__MIPSEB__) || defined(_MIPSEB)",
        why: "is proved for little-endian memory: make it with --big-endian",
        in_assembly: true,
    },
];
static BIG_ENDIAN: [Stranger; 3] = [
    OLDER,
    OTHER_CALLS,
    Stranger {
        when: "defined(__MIPSEL__) || defined(_MIPSEL)",
        why: "is proved for big-endian memory: make it without --big-endian",
        in_assembly: true,
    },
];

/// What the code needs: Elf_ABIFlags_v0 of the MIPS psABI (binutils' include/elf/mips.h): version 0, MIPS32 release 1, general
/// registers of 32 bits, none of a coprocessor, any floating-point convention, no extensions.
static ATTRIBUTES: Attributes = Attributes {
    section: ".MIPS.abiflags",
    // SHT_MIPS_ABIFLAGS; SHF_ALLOC.
    kind: 0x7000_002a,
    flags: 2,
    align: 8,
    bytes: &[
        0, 0, 32, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ],
};

impl Isa for MipsIsa {
    alike!(Mips, 32);

    const WORD_BITS: u32 = 32;
    const ASSEMBLERS: &'static [Assembler] = &[Assembler::Gnu];

    fn core_name(core: &cores::Core) -> String {
        core.full_name()
    }

    fn relatives(core: &cores::Core) -> Vec<cores::Core> {
        let alike = |other: &cores::Core| cores::Core {
            big_endian: core.big_endian,
            features: core.features,
            ..other.clone()
        };
        cores::CORES.iter().map(alike).collect()
    }

    fn abi(_: &cores::Core) -> &'static str {
        "o32"
    }

    fn is_frame(_: &cores::Core, insn: &code::Insn) -> bool {
        insn.class() == Class::Frame
    }

    fn branch(insn: &code::Insn) -> Option<i64> {
        insn.branch()
    }

    fn object_format(core: &cores::Core) -> ObjectFormat {
        ObjectFormat {
            architecture: object::Architecture::Mips,
            big_endian: core.big_endian,
            // EF_MIPS_ARCH_32 | E_MIPS_ABI_O32 | EF_MIPS_NOREORDER.
            flags: 0x5000_1001,
            align: 4,
            mapping_symbol: None,
            attributes: Some(ATTRIBUTES),
            stack_note: true,
        }
    }

    fn dialect(core: &cores::Core) -> Dialect {
        Dialect {
            preamble: "\t.set nomips16\n#ifdef __mips_micromips\n\t.set nomicromips\n#endif\n\
                       \t.set noreorder\n\t.set noat\n\t.set nomacro\n",
            align: "\t.p2align 2\n",
            guard: "defined(__mips__)",
            strangers: match core.big_endian {
                true => &BIG_ENDIAN,
                false => &LITTLE_ENDIAN,
            },
        }
    }

    fn encode(core: &cores::Core, program: &[code::Insn]) -> Result<Vec<u8>, String> {
        codec::encode(program, core.big_endian)
    }

    fn decode(core: &cores::Core, code: &[u8]) -> Result<Vec<(usize, code::Insn)>, usize> {
        let has = |feature| core.features.has(feature);
        codec::decode(code, |bytes| {
            Ops::codec().decode(bytes, core.big_endian, |form| has(form.feature))
        })
    }

    fn register(name: &str) -> Option<u8> {
        let name = name.trim_start_matches('$');
        let named = |r: &u8| code::REGISTERS[usize::from(*r)] == name || r.to_string() == name;
        (0..32u8).find(named)
    }

    fn calling(mut insn: code::Insn, _: usize, to: usize) -> Option<code::Insn> {
        insn.ops.k = (to / 4) as i32;
        Some(insn)
    }

    // R_MIPS_26 (MIPS ABI supplement).
    fn call_relocation(_: &cores::Core) -> (u32, u64) {
        (4, 0)
    }

    fn registers(insn: &code::Insn) -> [Places; 2] {
        [insn.reads(), insn.writes()]
    }
}
