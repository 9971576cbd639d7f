//! What a target offers to the rest: [`Isa`], implemented once per instruction set.

pub mod arm;
pub mod assumed;
pub mod avr;
pub mod environment;
pub mod mips;
pub mod ways;

use num_bigint::BigUint;

use crate::call::Operands;
use crate::domain::concrete::{Concrete, Watched};
use crate::domain::{Abstract, Base};
use crate::fault::{Fault, Source};
use crate::format::{Assembler, Dialect, ObjectFormat};
use crate::function::Function;

/// Where and why a run stopped: byte address of the instruction, and the fault.
pub type Stopped = (usize, Fault);

/// A call that returned: the domain with its memory, the cost, what broke the calling convention.
pub struct Called<D> {
    pub domain: D,
    pub cost: Cost,
    pub violations: Vec<String>,
    /// The first instruction whose time depends on an operand that is not public.
    pub slow_operand: Option<SlowOperand>,
}

/// An instruction whose time depends on an operand.
#[derive(Clone, Debug)]
pub struct SlowOperand {
    /// Byte address of the instruction.
    pub pc: usize,
    /// How, in a sentence.
    pub text: String,
    /// Where the operand comes from.
    pub source: Source,
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

    /// How many bytes on from its own address a relative jump goes; its text ends in `.+n` then.
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

    /// The call `insn`, at byte address `at`, of the function at `to`.
    fn calling(insn: Self::Insn, at: usize, to: usize) -> Self::Insn;

    /// The type of the relocation that makes a linker do the same.
    const CALL_RELOCATION: u32;

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

    /// Calls `function` on numbers: result and cost.
    ///
    /// # Errors
    /// A fault and where.
    fn call_concrete(
        core: &Self::Core,
        function: &Function,
        operands: &Operands<'_>,
        limit: u64,
    ) -> Result<(BigUint, Cost), Stopped>;
}

/// Fewest and most cycles, over all inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub struct Span {
    pub min: u64,
    pub max: u64,
}

/// What a count of instructions calls an instruction (hw2018, table 3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    Load,
    Store,
    Mul,
    /// Additions and subtractions, and on a machine without a carry flag the comparisons that compute carries.
    Add,
    Move,
    Other,
    /// Saving and restoring registers, calls and returns: outside the *body* convention.
    Frame,
}

/// An operand the encoding cannot hold.
#[derive(thiserror::Error, Debug, Clone, PartialEq, Eq)]
#[error("{name}: operand {letter} = {value} does not fit its field")]
pub struct EncodeError {
    pub name: &'static str,
    pub letter: char,
    pub value: i64,
}

/// Executed instructions, by class (hw2018, table 3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub struct ClassCounts {
    pub total: u64,
    pub load: u64,
    pub store: u64,
    pub mul: u64,
    pub add: u64,
    #[serde(rename = "move")]
    pub moves: u64,
    pub other: u64,
}

/// Bytes of stack a run took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Depth {
    /// Below the return address; of the stack of data, if return addresses have their own.
    pub bytes: usize,
    /// Of a stack that is for return addresses only.
    pub returns: Option<usize>,
}

impl Depth {
    /// Of a concrete run: on the first stack, and on the second if there is one.
    fn written(d: &Concrete) -> Self {
        let mut bytes = d.stacks.iter().map(Watched::bytes);
        Self {
            bytes: bytes.next().unwrap_or(0),
            returns: bytes.next(),
        }
    }

    /// Of an abstract run on one stack, whose pointer at entry points to the last word and went down to `lowest`.
    fn descended(lowest: i64) -> Self {
        Self {
            bytes: (-lowest).max(0) as usize,
            returns: None,
        }
    }

    /// Of all stacks.
    pub fn total(&self) -> usize {
        self.bytes + self.returns.unwrap_or(0)
    }
}

/// How many instructions a run executes between two reports of where it is.
pub const REPORT_EVERY: u64 = 1 << 24;

/// What a run cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// From the first instruction to the return, inclusive.
    pub call: Span,
    /// The same without PUSH, POP, CALL and RET, as the papers count.
    pub body: Span,
    /// Instructions of the body.
    pub counts: ClassCounts,
    /// All instructions executed.
    pub executed: u64,
    pub stack: Depth,
}

impl Span {
    /// The smallest span that holds both.
    pub fn join(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

impl Cost {
    /// That of the longer run, with the spans of both.
    pub fn join(&self, other: &Self) -> Self {
        let longer = match self.call.max < other.call.max {
            true => other,
            false => self,
        };
        Self {
            call: self.call.join(other.call),
            body: self.body.join(other.body),
            ..*longer
        }
    }
}

impl ClassCounts {
    /// The counts of a body from how often each class of instruction was executed.
    pub fn of(by_class: &[u64; 7]) -> Self {
        let of = |class: Class| by_class[class as usize];
        Self {
            total: by_class.iter().sum::<u64>() - of(Class::Frame),
            load: of(Class::Load),
            store: of(Class::Store),
            mul: of(Class::Mul),
            add: of(Class::Add),
            moves: of(Class::Move),
            other: of(Class::Other),
        }
    }
}
