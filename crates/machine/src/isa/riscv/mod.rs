//! RISC-V with registers of 32 bits: RV32I and RV32E, M, C.
//!
//! | file | what |
//! |---|---|
//! | [`instructions`], [`compressed`] | the tables: name, encoding, syntax, timing class, feature, meaning; the forms of 16 bits |
//! | [`machine`] | registers, and the operations the meanings use |
//! | [`code`] | encode, decode and print, from the tables |
//! | [`cores`] | the pipeline, the costs of each core, parts |
//! | [`run`], [`ways`], [`execute`] | executing decoded code, in any domain |
//! | [`abi`], [`assumed`] | the ILP32 and ILP32E calling conventions: entering, leaving |

pub mod abi;
pub mod assumed;
pub mod code;
pub mod compressed;
pub mod cores;
pub mod execute;
pub mod format;
pub mod instructions;
pub mod machine;
pub mod operands;
pub mod registers;
pub mod run;
pub mod ways;

use num_bigint::BigUint;

use crate::call::Operands;
use crate::domain::Abstract;
use crate::domain::concrete::Concrete;
use crate::domain::place::Base;
use crate::format::{Assembler, Dialect, ObjectFormat};
use crate::function::{Function, keep_returned, with_returned};
use crate::isa::cost::{Class, Cost, Depth, Stopped};
use crate::isa::{Called, Isa};

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
        let mut bytes = Vec::with_capacity(4 * program.len());
        for insn in program {
            let code = insn.encode().map_err(|e| e.to_string())?;
            if code::Insn::decode(code, core.features) != Some(*insn) {
                return Err(format!("{} has no {}", core.name, insn.text()));
            }
            bytes.extend(&code.to_le_bytes()[..insn.length()]);
        }
        Ok(bytes)
    }

    fn decode(core: &cores::Core, code: &[u8]) -> Result<Vec<(usize, code::Insn)>, usize> {
        let (mut list, mut at) = (Vec::new(), 0);
        while at < code.len() {
            let insn = run::insn_at(core, code, at).ok_or(at)?;
            list.push((at, insn));
            at += insn.length();
        }
        Ok(list)
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
        let (mut m, entry) = abi::enter(domain, core, function, bases);
        let mut ran = run::Decoded::of(function, core).run(&mut m, usize::MAX, limit)?;
        ran.cost.stack = Depth::descended(&[m.environment.as_ref().map_or(0, |e| e.lowest)]);
        let violations = abi::violations(&mut m, &entry, &function.scratch);
        keep_returned(&mut m.d, &m.r[abi::returned(function)]);
        Ok(Called {
            domain: m.d,
            cost: ran.cost,
            violations,
            slow_operand: ran.slow_operand,
        })
    }

    fn calling(mut insn: code::Insn, at: usize, to: usize) -> code::Insn {
        insn.ops.k = (to as i64 - at as i64) as i32;
        insn
    }

    // R_RISCV_JAL (RISC-V ABIs Specification, section 8.4).
    const CALL_RELOCATION: u32 = 17;

    fn execute(
        core: &cores::Core,
        function: &Function,
        area: &mut [u8],
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<Cost, Stopped> {
        let mut m = abi::enter_function(core, function, 0, &[abi::DATA]);
        let room = abi::DATA..abi::DATA + area.len();
        m.d.memory[room.clone()].copy_from_slice(area);
        let decoded = run::Decoded::<Concrete>::of(function, core);
        let mut ran = decoded.watched(&mut m, abi::CALLER, u64::MAX, watch)?;
        ran.cost.stack = Depth::written(&m.d);
        area.copy_from_slice(&m.d.memory[room]);
        Ok(ran.cost)
    }

    fn call_concrete(
        core: &cores::Core,
        function: &Function,
        operands: &Operands<'_>,
        limit: u64,
    ) -> Result<(BigUint, Cost), Stopped> {
        let start = match function.origin {
            Some(_) => function.free_memory(),
            None => 0,
        };
        let bits = function.word_bits(Self::WORD_BITS);
        let addresses = operands.addresses(start + abi::DATA, function, bits);
        let mut m = abi::enter_function(core, function, start, &addresses);
        let word = bits as usize / 8;
        operands.spoil(&mut m.d, &addresses, function);
        operands.put(&mut m.d, &addresses, word);
        let decoded = run::Decoded::<Concrete>::of(function, core);
        let mut ran = decoded.run(&mut m, abi::CALLER, limit)?;
        ran.cost.stack = Depth::written(&m.d);
        let result = operands.result(&m.d, &addresses, word);
        let bits = 8 * operands.spec.result_bytes();
        let returned = &m.r[abi::returned(function)];
        Ok((with_returned(result, bits, returned), ran.cost))
    }
}
