//! RISC-V with registers of 32 bits: RV32I and RV32E, M, C.
//!
//! | file | what |
//! |---|---|
//! | [`instructions`] | the table: name, encoding, syntax, data flow, timing class, feature, meaning; the forms of 16 bits |
//! | [`machine`] | registers, and the operations the meanings use |
//! | [`code`] | how operands are encoded and printed |
//! | [`cores`] | what instructions take of each core's pipeline; parts |
//! | [`run`] | what is its own in a run: two lengths of instructions |
//! | [`abi`], [`assumed`] | the ILP32 and ILP32E calling conventions |
//! | [`format`] | what linkers and assemblers are told |

pub mod abi;
pub mod assumed;
pub mod code;
pub mod cores;
pub mod format;
pub mod instructions;
pub mod machine;
pub mod operands;
pub mod registers;
pub mod run;

use crate::codec::{self, Places};
use crate::format::{Assembler, Dialect, ObjectFormat};
use crate::isa::Isa;
use crate::isa::cost::Class;
use crate::isa::riscv::machine::Riscv;
use crate::isa::runs::alike;

/// RV32.
pub struct RiscvIsa;

impl Isa for RiscvIsa {
    alike!(Riscv, 32);

    const WORD_BITS: u32 = 32;
    const ASSEMBLERS: &'static [Assembler] = &[Assembler::Gnu];

    fn core_name(core: &cores::Core) -> String {
        core.name.into()
    }

    fn relatives(core: &cores::Core) -> Vec<cores::Core> {
        let all = cores::CORES.iter().copied();
        all.filter(|other| other.features.runs(core.features))
            .collect()
    }

    fn abi(core: &cores::Core) -> &'static str {
        match core.features.reduced {
            true => "ilp32e",
            false => "ilp32",
        }
    }

    fn is_frame(_: &cores::Core, insn: &code::Insn) -> bool {
        insn.class() == Class::Frame
    }

    fn branch(insn: &code::Insn) -> Option<i64> {
        insn.branch()
    }

    fn object_format(core: &cores::Core) -> ObjectFormat {
        format::object(core.features)
    }

    fn dialect(core: &cores::Core) -> Dialect {
        format::dialect(core.features)
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
        let named = |r: &u8| {
            let own = code::REGISTERS[usize::from(*r)];
            own == name || format!("x{r}") == name || (*r == 8 && name == "fp")
        };
        (0..32u8).find(named)
    }

    fn calling(mut insn: code::Insn, at: usize, to: usize) -> Option<code::Insn> {
        insn.ops.k = (to as i64 - at as i64) as i32;
        Some(insn)
    }

    // R_RISCV_JAL (RISC-V ABIs Specification, section 8.4).
    fn call_relocation(_: &cores::Core) -> (u32, u64) {
        (17, 0)
    }

    fn registers(insn: &code::Insn) -> [Places; 2] {
        [insn.reads(), insn.writes()]
    }
}
