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

use crate::call::Operands;
use crate::codec::{self, Places};
use crate::domain::Abstract;
use crate::domain::concrete::Concrete;
use crate::domain::place::Base;
use crate::format::{Assembler, Dialect, ObjectFormat};
use crate::function::Function;
use crate::isa::convention::Callable;
use crate::isa::cost::{Class, Cost, Stopped};
use crate::isa::energy::Currents;
use crate::isa::numbers::{Executed, Held};
use crate::isa::riscv::machine::Riscv;
use crate::isa::{Called, Calls, Isa, enter, numbers};

/// RV32.
pub struct RiscvIsa;

impl Isa for RiscvIsa {
    type Insn = code::Insn;
    type Core = cores::Core;

    const WORD_BITS: u32 = 32;
    const ASSEMBLERS: &'static [Assembler] = &[Assembler::Gnu];
    const POINTER_BYTES: usize = abi::POINTER_BYTES;

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

    fn currents(_: &cores::Core) -> Option<Currents> {
        None
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

    fn text(insn: &code::Insn) -> String {
        insn.text()
    }

    fn register(name: &str) -> Option<u8> {
        let named = |r: &u8| {
            let own = code::REGISTERS[usize::from(*r)];
            own == name || format!("x{r}") == name || (*r == 8 && name == "fp")
        };
        (0..32u8).find(named)
    }

    fn call<D: Abstract>(
        domain: D,
        core: &cores::Core,
        function: &Function,
        bases: &[Base],
        limit: u64,
    ) -> Result<Called<D>, Stopped> {
        enter::call::<Riscv<D>, 32>(domain, core, function, bases, limit)
    }

    fn calling(mut insn: code::Insn, at: usize, to: usize) -> code::Insn {
        insn.ops.k = (to as i64 - at as i64) as i32;
        insn
    }

    // R_RISCV_JAL (RISC-V ABIs Specification, section 8.4).
    fn call_relocation(_: &cores::Core) -> (u32, u64) {
        (17, 0)
    }

    fn execute(
        core: &cores::Core,
        function: &Function,
        area: &mut [u8],
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<Cost, Stopped> {
        numbers::execute::<Riscv<Concrete>, 32>(core, function, area, watch)
    }

    fn calls(core: &cores::Core, function: Function) -> Calls<'_> {
        numbers::calls::<Riscv<Concrete>, 32>(core, function)
    }

    fn steps(
        core: &cores::Core,
        function: &Function,
        operands: &Operands<'_>,
        limit: u64,
    ) -> Result<Vec<Executed>, Stopped> {
        numbers::steps::<Riscv<Concrete>, 32>(core, function, operands, limit)
    }

    fn entered(core: &cores::Core, function: &Function, operands: &Operands<'_>) -> Held {
        numbers::entered::<Riscv<Concrete>, 32>(core, function, operands)
    }

    fn registers(insn: &code::Insn) -> [Places; 2] {
        [insn.reads(), insn.writes()]
    }

    fn register_name(r: u8) -> String {
        <Riscv<Concrete> as Callable<32>>::word_name(r)
    }
}
