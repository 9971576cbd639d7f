//! What a target offers to the rest: [`Isa`], implemented once per instruction set.

pub mod arm;
pub mod assumed;
pub mod avr;
pub mod clock;
pub mod convention;
pub mod core;
pub mod cost;
pub mod energy;
pub mod enter;
pub mod environment;
pub mod machine;
pub mod mips;
pub mod msp430;
pub mod numbers;
pub mod riscv;
pub mod run;
mod runs;
pub mod span;
pub mod state;
pub mod ways;
pub mod words;

use crate::call::Operands;
use crate::codec::Places;
use crate::domain::Abstract;
use crate::domain::place::Base;
use crate::format::{Assembler, Dialect, ObjectFormat};
use crate::function::Function;
use crate::isa::cost::SlowOperand;
pub use crate::isa::cost::{Class, ClassCounts, Cost, Depth, Span, Stopped};
use crate::isa::energy::Currents;
pub use crate::isa::numbers::{Calls, Executed, Held};

/// A call that returned: the domain with its memory, the cost, what broke the calling convention.
pub struct Called<D> {
    pub domain: D,
    pub cost: Cost,
    pub violations: Vec<String>,
    /// The first instruction whose time depends on an operand that is not public.
    pub slow_operand: Option<SlowOperand>,
}

/// An instruction set.
pub trait Isa: Sized + 'static {
    type Insn: Copy + PartialEq + std::fmt::Debug + Send + Sync;
    /// A core and how it is configured.
    type Core: Clone + Send + Sync + 'static;

    /// Bits of an operand word.
    const WORD_BITS: u32;
    /// Bytes of a pointer, and of a length.
    const POINTER_BYTES: usize;

    /// Assemblers there are files for.
    const ASSEMBLERS: &'static [Assembler];

    /// The name of a core, as on the command line.
    fn core_name(core: &Self::Core) -> String;

    /// Every core, configured like `core`, that runs the same code.
    fn relatives(core: &Self::Core) -> Vec<Self::Core>;

    /// The calling convention its kernels keep.
    fn abi(core: &Self::Core) -> &'static str;

    /// What is published of the current that it draws.
    fn currents(_core: &Self::Core) -> Option<Currents> {
        None
    }

    /// Does the instruction only serve the call (PUSH, POP, CALL, RET)?
    fn is_frame(core: &Self::Core, insn: &Self::Insn) -> bool;

    /// How its objects are written.
    fn object_format(core: &Self::Core) -> ObjectFormat;

    /// How GNU as reads it.
    fn dialect(core: &Self::Core) -> Dialect;

    /// Code of `program`.
    ///
    /// # Errors
    /// The instruction that cannot be encoded.
    fn encode(core: &Self::Core, program: &[Self::Insn]) -> Result<Vec<u8>, String>;

    /// The instructions in `code`, one after the other, each with its byte address.
    ///
    /// # Errors
    /// The address of a word that is no instruction.
    fn decode(core: &Self::Core, code: &[u8]) -> Result<Vec<(usize, Self::Insn)>, usize>;

    /// GNU as text of an instruction that assembles to the same bytes.
    fn text(insn: &Self::Insn) -> String;

    /// How many bytes on from its own address a relative branch or call goes.
    fn branch(insn: &Self::Insn) -> Option<i64>;

    /// How many bytes on from its own address a relative jump goes; its text ends in `.+n` or `$+n` then.
    fn jump(_: &Self::Insn) -> Option<i64> {
        None
    }

    /// The number of the register called `name`.
    fn register(name: &str) -> Option<u8>;

    /// Calls `function` in an abstract domain, with pointers to the given bases.
    ///
    /// # Errors
    /// A fault and where.
    fn call<D: Abstract>(
        domain: D,
        core: &Self::Core,
        function: &Function,
        bases: &[Base],
        limit: u64,
    ) -> Result<Called<D>, Stopped>;

    /// The call `insn`, at byte address `at`, of the function at `to`; none, or one that has no encoding, if that is too far.
    fn calling(insn: Self::Insn, at: usize, to: usize) -> Option<Self::Insn>;

    /// The relocation that makes a linker do the same: its type, and how many bytes behind the call's first it stands.
    fn call_relocation(core: &Self::Core) -> (u32, u64);

    /// Where an instruction goes whose address the linker must set even within a function, and the type of the relocation,
    /// which stands at its first byte.
    fn lands(_insn: &Self::Insn) -> Option<(usize, u32)> {
        None
    }

    /// Calls `function` with a pointer to `area`, numbers in little-endian bytes.
    ///
    /// `watch` is told of instructions and cycles so far, from time to time.
    ///
    /// # Errors
    /// A fault and where.
    fn execute(
        core: &Self::Core,
        function: &Function,
        area: &mut [u8],
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<Cost, Stopped>;

    /// `function`, decoded once, to be called on numbers: result and cost, or a fault and where.
    fn calls(core: &Self::Core, function: Function) -> Calls<'_>;

    /// Calls `function` on numbers: its instructions in the order in which they are executed.
    ///
    /// # Errors
    /// A fault and where.
    fn steps(
        core: &Self::Core,
        function: &Function,
        operands: &Operands<'_>,
        limit: u64,
    ) -> Result<Vec<Executed>, Stopped>;

    /// What the machine and its memory hold when `function` is entered on numbers.
    fn entered(core: &Self::Core, function: &Function, operands: &Operands<'_>) -> Held;

    /// What an instruction reads and what it writes: registers by their numbers, then what the machine has beside. For
    /// listings; what it means is said by its row.
    fn registers(insn: &Self::Insn) -> [Places; 2];

    /// The name of a register.
    fn register_name(r: u8) -> String;
}

/// The most instructions a concrete run may take.
pub const RUN_LIMIT: u64 = 1 << 26;
