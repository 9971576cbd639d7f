//! A core and an instruction of any machine: values without type parameters, for all code above this crate.

use std::ops::Range;

use num_bigint::BigUint;
use spec::{Alias, Spec};

use crate::call::Operands;
use crate::codec::Places;
use crate::domain::Abstract;
use crate::domain::place::Base;
use crate::format::{Assembler, Dialect, ObjectFormat};
use crate::function::Function;
use crate::isa::cost::{Class, Cost, Stopped};
use crate::isa::energy::Currents;
use crate::isa::{Called, Calls, Executed, Held, Isa, RUN_LIMIT, arm, avr, mips, msp430, riscv};

/// Does something for the machine of a core: `$isa` is its instruction set, `$own` the core as that knows it.
#[macro_export]
macro_rules! on_machine {
    ($core:expr, |$isa:ident, $own:ident| $body:expr) => {
        match $core {
            $crate::isa::core::Core::Avr($own) => {
                type $isa = $crate::isa::avr::AvrIsa;
                $body
            }
            $crate::isa::core::Core::Arm($own) => {
                type $isa = $crate::isa::arm::ArmIsa;
                $body
            }
            $crate::isa::core::Core::Mips($own) => {
                type $isa = $crate::isa::mips::MipsIsa;
                $body
            }
            $crate::isa::core::Core::Riscv($own) => {
                type $isa = $crate::isa::riscv::RiscvIsa;
                $body
            }
            $crate::isa::core::Core::Msp430($own) => {
                type $isa = $crate::isa::msp430::Msp430Isa;
                $body
            }
        }
    };
}

/// A core of one of the machines, as it is configured and called.
#[derive(Clone, Debug)]
pub enum Core {
    Avr(avr::cores::Core),
    Arm(arm::cores::Core),
    Mips(mips::cores::Core),
    Riscv(riscv::cores::Core),
    Msp430(msp430::cores::Core),
}

/// An instruction of one of the machines.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Insn {
    Avr(avr::code::Insn),
    Arm(arm::code::Insn),
    Mips(mips::code::Insn),
    Riscv(riscv::code::Insn),
    Msp430(msp430::code::Insn),
}

/// An instruction of another machine than what is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Foreign;

/// Conversions between a machine's own core and instruction and those of any machine.
macro_rules! machines {
    ($($machine:ident $module:ident),*) => {$(
        impl From<$module::cores::Core> for Core {
            fn from(core: $module::cores::Core) -> Self {
                Core::$machine(core)
            }
        }

        impl From<$module::code::Insn> for Insn {
            fn from(insn: $module::code::Insn) -> Self {
                Insn::$machine(insn)
            }
        }

        impl TryFrom<Insn> for $module::code::Insn {
            type Error = Foreign;

            fn try_from(insn: Insn) -> Result<Self, Foreign> {
                match insn {
                    Insn::$machine(insn) => Ok(insn),
                    _ => Err(Foreign),
                }
            }
        }
    )*};
}

machines!(Avr avr, Arm arm, Mips mips, Riscv riscv, Msp430 msp430);

impl Core {
    /// Its name, as on the command line.
    pub fn name(&self) -> String {
        on_machine!(self, |I, core| I::core_name(core))
    }

    /// Bits of an operand word.
    pub fn word_bits(&self) -> u32 {
        on_machine!(self, |I, _core| I::WORD_BITS)
    }

    /// Bytes of a pointer, and of a length.
    pub fn pointer_bytes(&self) -> usize {
        on_machine!(self, |I, _core| I::POINTER_BYTES)
    }

    /// Assemblers there are files for.
    pub fn assemblers(&self) -> &'static [Assembler] {
        on_machine!(self, |I, _core| I::ASSEMBLERS)
    }

    /// Every core, configured like this one, that runs the same code.
    pub fn relatives(&self) -> Vec<Core> {
        on_machine!(self, |I, core| {
            let cores = I::relatives(core).into_iter();
            cores.map(Core::from).collect()
        })
    }

    /// The calling convention its kernels keep.
    pub fn abi(&self) -> &'static str {
        on_machine!(self, |I, core| I::abi(core))
    }

    /// What is published of the current that it draws.
    pub fn currents(&self) -> Option<Currents> {
        on_machine!(self, |I, core| I::currents(core))
    }

    /// How its objects are written.
    pub fn object_format(&self) -> ObjectFormat {
        on_machine!(self, |I, core| I::object_format(core))
    }

    /// How GNU as reads it.
    pub fn dialect(&self) -> Dialect {
        on_machine!(self, |I, core| I::dialect(core))
    }

    /// The relocation that makes a linker do what [`Insn::calling`] does: its type, and how many bytes behind the call's
    /// first it stands.
    pub fn call_relocation(&self) -> (u32, u64) {
        on_machine!(self, |I, core| I::call_relocation(core))
    }

    /// Where an instruction goes whose address the linker must set even within a function, and the type of the relocation at
    /// its first byte. None if it is another machine's.
    pub fn lands(&self, insn: Insn) -> Option<(usize, u32)> {
        on_machine!(self, |I, _core| {
            let own = <I as Isa>::Insn::try_from(insn);
            own.ok().and_then(|insn| I::lands(&insn))
        })
    }

    /// The number of the register called `name`.
    pub fn register(&self, name: &str) -> Option<u8> {
        on_machine!(self, |I, _core| I::register(name))
    }

    /// Does the instruction only serve the call (PUSH, POP, CALL, RET)? Not if it is another machine's.
    pub fn is_frame(&self, insn: Insn) -> bool {
        on_machine!(self, |I, core| {
            let own = <I as Isa>::Insn::try_from(insn);
            own.is_ok_and(|insn| I::is_frame(core, &insn))
        })
    }

    /// Code of `program`.
    ///
    /// # Errors
    /// The instruction that cannot be encoded.
    pub fn encode(&self, program: &[Insn]) -> Result<Vec<u8>, String> {
        on_machine!(self, |I, core| {
            let own = program.iter().map(|insn| {
                let own = <I as Isa>::Insn::try_from(*insn);
                own.map_err(|Foreign| format!("{} has no {}", self.name(), insn.text()))
            });
            I::encode(core, &own.collect::<Result<Vec<_>, _>>()?)
        })
    }

    /// The instructions in `code`, one after the other, each with its byte address.
    ///
    /// # Errors
    /// The address of a word that is no instruction.
    pub fn decode(&self, code: &[u8]) -> Result<Vec<(usize, Insn)>, usize> {
        on_machine!(self, |I, core| {
            let own = I::decode(core, code)?.into_iter();
            Ok(own.map(|(at, insn)| (at, insn.into())).collect())
        })
    }

    /// Calls `function` in an abstract domain, with pointers to the given bases.
    ///
    /// # Errors
    /// A fault and where.
    pub fn call<D: Abstract>(
        &self,
        domain: D,
        function: &Function,
        bases: &[Base],
        limit: u64,
    ) -> Result<Called<D>, Stopped> {
        on_machine!(self, |I, core| I::call(
            domain, core, function, bases, limit
        ))
    }

    /// Calls `function` with a pointer to `area`, numbers in little-endian bytes.
    ///
    /// `watch` is told of instructions and cycles so far, from time to time.
    ///
    /// # Errors
    /// A fault and where.
    pub fn execute(
        &self,
        function: &Function,
        area: &mut [u8],
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<Cost, Stopped> {
        on_machine!(self, |I, core| I::execute(core, function, area, watch))
    }

    /// Runs `function` on numbers.
    ///
    /// # Errors
    /// A fault and where.
    pub fn run(
        &self,
        spec: &Spec,
        function: &Function,
        sources: &[BigUint],
        alias: Alias,
    ) -> Result<(BigUint, Cost), Stopped> {
        let operands = Operands::of(spec, sources, alias);
        self.calls(function.clone())(&operands, RUN_LIMIT.min(function.limit))
    }

    /// Calls `function` on numbers: its instructions in the order in which they are executed.
    ///
    /// # Errors
    /// A fault and where.
    pub fn steps(
        &self,
        spec: &Spec,
        function: &Function,
        sources: &[BigUint],
    ) -> Result<Vec<Executed>, Stopped> {
        let operands = Operands::of(spec, sources, function.together);
        let limit = RUN_LIMIT.min(function.limit);
        on_machine!(self, |I, core| I::steps(core, function, &operands, limit))
    }

    /// What the machine and its memory hold when `function` is entered on numbers.
    pub fn entered(&self, function: &Function, operands: &Operands<'_>) -> Held {
        on_machine!(self, |I, core| I::entered(core, function, operands))
    }

    /// Addresses of the memory of the part, if one is named whose addresses are numbers.
    pub fn ram(&self) -> Option<Range<usize>> {
        match self {
            Core::Avr(core) => core.ram(),
            Core::Arm(_) | Core::Mips(_) | Core::Riscv(_) | Core::Msp430(_) => None,
        }
    }

    /// Registers that have names; what an instruction reads or writes beside these are flags and the like.
    pub fn register_count(&self) -> u8 {
        match self {
            Core::Avr(_) | Core::Mips(_) | Core::Riscv(_) => 32,
            Core::Arm(_) => 15,
            Core::Msp430(_) => 16,
        }
    }

    /// The name of a register.
    pub fn register_name(&self, r: u8) -> String {
        on_machine!(self, |I, _core| I::register_name(r))
    }

    /// `function`, decoded once, to be called on numbers: result and cost, or a fault and where.
    pub fn calls(&self, function: Function) -> Calls<'_> {
        on_machine!(self, |I, core| I::calls(core, function))
    }
}

impl Insn {
    /// GNU as text that assembles to the same bytes.
    pub fn text(&self) -> String {
        match self {
            Insn::Avr(insn) => avr::AvrIsa::text(insn),
            Insn::Arm(insn) => arm::ArmIsa::text(insn),
            Insn::Mips(insn) => mips::MipsIsa::text(insn),
            Insn::Riscv(insn) => riscv::RiscvIsa::text(insn),
            Insn::Msp430(insn) => msp430::Msp430Isa::text(insn),
        }
    }

    /// What it reads and what it writes: registers by their numbers, then what the machine has beside.
    pub fn registers(&self) -> [Places; 2] {
        match self {
            Insn::Avr(insn) => avr::AvrIsa::registers(insn),
            Insn::Arm(insn) => arm::ArmIsa::registers(insn),
            Insn::Mips(insn) => mips::MipsIsa::registers(insn),
            Insn::Riscv(insn) => riscv::RiscvIsa::registers(insn),
            Insn::Msp430(insn) => msp430::Msp430Isa::registers(insn),
        }
    }

    /// What a count calls it.
    pub fn class(&self) -> Class {
        match self {
            Insn::Avr(insn) => insn.form().class,
            Insn::Arm(insn) => insn.class(),
            Insn::Mips(insn) => insn.class(),
            Insn::Riscv(insn) => insn.class(),
            Insn::Msp430(insn) => insn.class(),
        }
    }

    /// This call, at byte address `at`, of the function at `to`; none, or one that has no encoding, if that is too far.
    pub fn calling(self, at: usize, to: usize) -> Option<Insn> {
        Some(match self {
            Insn::Avr(insn) => avr::AvrIsa::calling(insn, at, to)?.into(),
            Insn::Arm(insn) => arm::ArmIsa::calling(insn, at, to)?.into(),
            Insn::Mips(insn) => mips::MipsIsa::calling(insn, at, to)?.into(),
            Insn::Riscv(insn) => riscv::RiscvIsa::calling(insn, at, to)?.into(),
            Insn::Msp430(insn) => msp430::Msp430Isa::calling(insn, at, to)?.into(),
        })
    }

    /// How many bytes on from its own address a relative branch or call goes.
    pub fn branch(&self) -> Option<i64> {
        match self {
            Insn::Avr(insn) => avr::AvrIsa::branch(insn),
            Insn::Arm(insn) => arm::ArmIsa::branch(insn),
            Insn::Mips(insn) => mips::MipsIsa::branch(insn),
            Insn::Riscv(insn) => riscv::RiscvIsa::branch(insn),
            Insn::Msp430(insn) => msp430::Msp430Isa::branch(insn),
        }
    }

    /// How many bytes on from its own address a relative jump goes; its text ends in `.+n` or `$+n` then.
    pub fn jump(&self) -> Option<i64> {
        match self {
            Insn::Avr(insn) => avr::AvrIsa::jump(insn),
            Insn::Arm(insn) => arm::ArmIsa::jump(insn),
            Insn::Mips(insn) => mips::MipsIsa::jump(insn),
            Insn::Riscv(insn) => riscv::RiscvIsa::jump(insn),
            Insn::Msp430(insn) => msp430::Msp430Isa::jump(insn),
        }
    }
}
