//! What a target offers to the rest: [`Isa`], implemented once per instruction set.

pub mod arm;
pub mod assumed;
pub mod avr;
mod claimed;
mod claims;
pub mod environment;
mod homes;
pub mod mips;
mod stages;
mod ways;

use std::ops::Range;

use num_bigint::BigUint;
use thiserror::Error;

use crate::domain::concrete::{Concrete, Fence, Watched};
use crate::domain::{Abstract, Base};
use crate::driver::{Assembled, Driver};
use crate::emit::{Assembler, Dialect, ObjectFormat};
use crate::facts::Facts;
use crate::fault::{Fault, Source};
use crate::function::Function;
use crate::program::Program;
use crate::schedule::{Counts, Schedule};
use crate::spec::{Alias, Spec};
use crate::vectors::Random;

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

/// Operands of a concrete call, and which of them share an address.
#[derive(Clone, Debug)]
pub struct Operands<'a> {
    pub spec: &'a Spec,
    pub sources: &'a [BigUint],
    pub alias: Alias,
}

impl Operands<'_> {
    /// Watches where `function` reads and writes, if that is wanted.
    fn fence(&self, d: &mut Concrete, addresses: &[usize], function: &Function) {
        /// Arguments and the return address, above a stack pointer.
        const ARGUMENTS: usize = 0x100;
        if !function.fenced {
            return;
        }
        let fence = |name, at: usize, bytes, writable| Fence {
            name,
            addresses: at..at + bytes,
            writable,
        };
        let sources = self.spec.sources();
        let named = sources.iter().map(|s| s.name).zip(self.spec.source_bytes());
        let named = named.zip(&addresses[1..]);
        let mut list = vec![fence("r", addresses[0], self.spec.result_bytes(), true)];
        list.extend(named.map(|((name, bytes), at)| fence(name, *at, bytes, false)));
        let areas = addresses.iter().rev().zip(function.areas.iter().rev());
        list.extend(areas.map(|(at, area)| fence("scratch", *at, area.bytes, true)));
        for stack in &d.stacks {
            let Range { start, end } = stack.addresses();
            list.push(fence("", start, end - start + ARGUMENTS, true));
        }
        // Of data only what the file says: between its gaps.
        for segment in function.data.iter().filter(|s| !s.writable) {
            let mut from = segment.address;
            let end = segment.end();
            for gap in segment.marks.gaps().chain(std::iter::once(end..end)) {
                let until = gap.start.clamp(from, end);
                list.push(fence("", from as usize, (until - from) as usize, false));
                from = gap.end.max(from).min(end);
            }
        }
        d.fences = Some(list);
    }

    /// Addresses of the result, the sources and then of areas of so many bytes, the first at `first`: multiples of
    /// what was promised, and in most runs of no more.
    pub fn addresses(&self, first: usize, function: &Function, word_bits: u32) -> Vec<usize> {
        /// What `first` is a multiple of, at least.
        const LARGE: usize = 8;
        let areas = &function.areas;
        let room = self.room();
        let places = self.alias.of(self.spec).into_iter();
        let beside = |align: u64| function.noise as usize % LARGE / align as usize * align as usize;
        let own = u64::from(word_bits / 8);
        let first = first.next_multiple_of(LARGE);
        let start = first + beside(function.align.clamp(own, LARGE as u64));
        let mut list: Vec<_> = places.map(|place| start + place * room).collect();
        let mut next = first + 4 * room + LARGE;
        for area in areas {
            list.push(next + beside(area.align.unwrap_or(own)));
            next += area.bytes.next_multiple_of(LARGE) + LARGE;
        }
        list
    }

    /// Bytes from one operand to the next.
    fn room(&self) -> usize {
        let longest = self.spec.source_bytes().into_iter().max();
        let room = self.spec.result_bytes().max(longest.unwrap_or(0));
        room.next_multiple_of(8)
    }

    /// A first address such that a multiple of 256, where carries into high bytes of pointers are needed, lies
    /// anywhere in the operands.
    fn placed_by_noise(&self, first: usize, function: &Function) -> usize {
        let span = 4 * self.room();
        let before = function.noise as usize * 11 % span;
        let align = function.align.max(1) as usize;
        match function.noise {
            0 => first,
            _ => (first + span).next_multiple_of(256) - before.next_multiple_of(align),
        }
    }

    /// What is in the result, in areas and below the stack pointers before `function` writes there.
    pub fn spoil(&self, d: &mut Concrete, addresses: &[usize], function: &Function) {
        self.fence(d, addresses, function);
        if function.noise == 0 {
            return;
        }
        let mut random = Random::new(!function.noise);
        let areas = addresses.iter().rev().zip(function.areas.iter().rev());
        let areas = areas.map(|(at, area)| (at - d.start, area.bytes));
        let below = |s: &Watched| {
            let Range { start, end } = s.addresses();
            (start - d.start.min(start), end - start)
        };
        let stacks = d.stacks.iter().map(below);
        let result = (addresses[0] - d.start, self.spec.result_bytes());
        let places: Vec<_> = areas.chain(stacks).chain([result]).collect();
        for (at, bytes) in places {
            if let Some(room) = d.memory.get_mut(at..at + bytes) {
                for bytes in room.chunks_mut(8) {
                    bytes.copy_from_slice(&random.draw().to_le_bytes()[..bytes.len()]);
                }
            }
        }
    }

    /// Puts the sources where `addresses` says: arrays of words of `word` bytes, least significant first.
    pub fn put(&self, d: &mut Concrete, addresses: &[usize], word: usize) {
        let lengths = self.spec.source_bytes();
        for ((value, at), length) in self.sources.iter().zip(&addresses[1..]).zip(lengths) {
            let mut bytes = value.to_bytes_le();
            bytes.resize(length, 0);
            order_words(&mut bytes, d.big_endian, word);
            let at = *at - d.start;
            d.memory[at..at + length].copy_from_slice(&bytes);
        }
    }

    /// The result at `addresses[0]`.
    pub fn result(&self, d: &Concrete, addresses: &[usize], word: usize) -> BigUint {
        let at = addresses[0] - d.start;
        let mut bytes = d.memory[at..at + self.spec.result_bytes()].to_vec();
        order_words(&mut bytes, d.big_endian, word);
        BigUint::from_bytes_le(&bytes)
    }
}

/// Between little-endian bytes and words in a machine's byte order.
fn order_words(bytes: &mut [u8], big_endian: bool, word: usize) {
    if big_endian {
        bytes.chunks_exact_mut(word).for_each(<[u8]>::reverse);
    }
}

/// What a function may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Of the free registers of the target's facts.
    pub registers: usize,
    /// Cycles of a call, beyond which it need not be made.
    pub cycles: u64,
    /// May the result lie where an operand is? Then nothing that is not of the result waits in it.
    pub overlap: bool,
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

    /// What a method may know of `core`.
    fn facts(core: &Self::Core) -> Facts;

    /// Functions in the C calling convention that run `schedule`: every candidate that may be the cheapest.
    ///
    /// # Errors
    /// Why there is none.
    fn lower(
        schedule: &Schedule,
        core: &Self::Core,
    ) -> Result<Vec<Program<Self::Insn>>, LowerError> {
        let limits = Limits {
            registers: Self::facts(core).free_registers,
            cycles: u64::MAX,
            overlap: false,
        };
        Self::lower_within(schedule, core, limits)
    }

    /// The same within limits; none if every function takes more cycles.
    ///
    /// # Errors
    /// Why there is none, however many cycles it may take.
    fn lower_within(
        schedule: &Schedule,
        core: &Self::Core,
        limits: Limits,
    ) -> Result<Vec<Program<Self::Insn>>, LowerError>;

    /// The most cycles of a call are at least these, for every function that runs the schedule, which
    /// has these counts.
    fn at_least(core: &Self::Core, schedule: &Schedule, counts: &Counts) -> u64;

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

    /// The instructions of a driver.
    ///
    /// # Errors
    /// Why there are none.
    fn drive(core: &Self::Core, driver: &Driver) -> Result<Assembled<Self::Insn>, LowerError>;

    /// The call `insn`, at byte address `at`, of the function at `to`.
    fn calling(insn: Self::Insn, at: usize, to: usize) -> Self::Insn;

    /// The type of the relocation that makes a linker do the same.
    const CALL_RELOCATION: u32;

    /// A function of `bytes` bytes of results that only copies what its second argument points to: what
    /// stands for a kernel where only the time of its caller is of interest.
    fn stub(core: &Self::Core, bytes: usize) -> Vec<Self::Insn>;

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

/// Why a schedule cannot be lowered to a machine.
#[derive(Error, Debug, Clone, PartialEq, Eq)]
pub enum LowerError {
    #[error(
        "the schedule needs more registers than there are: try a larger --max-regs, or leave it out"
    )]
    Registers,
    #[error(
        "it needs {need} bytes of stack, a kernel may use {limit}: try fewer levels or another method"
    )]
    Stack { need: usize, limit: usize },
    #[error("a schedule of rows and columns in one")]
    Mixed,
    #[error("MUL is not an instruction of {0}")]
    NoMultiplier(&'static str),
    #[error("this machine multiplies: try a method for machines with a multiplier")]
    Tiles,
    #[error("it needs three pointers, and Y is the stack pointer of data")]
    ThreePointers,
    #[error(
        "bands in loops are made of words of 8 bits: of 32 bits columns have a sixteenth of the products to load"
    )]
    Loops,
    #[error("there are no drivers with {0}")]
    Driver(&'static str),
    #[error("{0} bytes of numbers are more than there is memory for")]
    Area(usize),
    #[error("two nested loops are not made for this machine yet: try --style unrolled")]
    Scans,
    #[error(
        "in rows of a product and of its quotients words come one at a time: by count 27 cycles for two products, \
         where columns of blocks of four words take 14.4"
    )]
    RowsOfQuotients,
    #[error(
        "in rows of a product and of its quotients ten registers stay, and words come one at a time: by estimate \
         33 cycles for two products, where columns take 26"
    )]
    WideRows,
    #[error(
        "blocks in loops are made of words of 8 bits: a word of 32 bits is four by four of these"
    )]
    Blocks,
    #[error(
        "a pass of the inner loop takes a block of 1, 4, 9 or 16 products here: try -p unroll=16"
    )]
    Block(usize),
    #[error(
        "{n} words cannot be cut into blocks of {d} by {d}: the largest side that fits is {largest}"
    )]
    Side { d: usize, n: usize, largest: usize },
    #[error("a result below 2 m is not proved of products made by additions: try --reduce almost")]
    LazyAdditions,
    #[error("a column has more than {0} blocks")]
    Column(usize),
    #[error("{0} has no loads with displacement")]
    Displacements(&'static str),
    #[error(
        "the outer one of these loops is not written out, which would save the cycles that count its passes (4 of a \
         column on an AVR): try --style rolled"
    )]
    Looped,
    #[error(
        "rows in loops are made of MADDH and MADDL only: try --isa-ext {0}, or --style unrolled"
    )]
    Feature(&'static str),
    #[error("bands that lose {0} columns each need passes of a divisor: try -p unroll={0}")]
    Passes(usize),
    #[error(
        "bands of so few columns are no loop that becomes shorter: try --style looped, or another d"
    )]
    FewColumns,
    #[error("operands are halved up to {0} words: try another method")]
    Halves(usize),
    #[error(
        "carries are words on {0}, and the sums around three half products take, by estimate, \
         50 cycles a word: they save a tenth of 2048 bits, and nothing below or with a wide accumulator"
    )]
    Sums(&'static str),
    #[error("other products are called here: try {0}")]
    Lowest(&'static str),
    #[error("a call does not reach over so much code")]
    Reach,
    #[error("a pointer would have to move while a carry is on its way")]
    Addressing,
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
