//! What a run cost: cycles, instructions by class, bytes of stack; and where it stopped or was slow.

use crate::domain::concrete::{Concrete, Watched};
use crate::fault::{Fault, Source};
use crate::isa::energy::Spent;
pub use crate::isa::span::Span;

/// Where and why a run stopped: byte address of the instruction, and the fault.
pub type Stopped = (usize, Fault);

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
    pub(crate) fn written(d: &Concrete) -> Self {
        let mut bytes = d.stacks.iter().map(Watched::bytes);
        Self {
            bytes: bytes.next().unwrap_or(0),
            returns: bytes.next(),
        }
    }

    /// Of an abstract run whose stack pointers went down to `lowest` from where they pointed at entry.
    pub(crate) fn descended(lowest: &[i64]) -> Self {
        let mut bytes = lowest.iter().map(|at| (-at).max(0) as usize);
        Self {
            bytes: bytes.next().unwrap_or(0),
            returns: bytes.next(),
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
    /// The cycles of the body, and those of the call alone, by what draws current.
    pub spent: [Spent; 2],
    /// Instructions of the body.
    pub counts: ClassCounts,
    /// All instructions executed.
    pub executed: u64,
    pub stack: Depth,
    /// The most cycles in a row in which interrupts were kept out, if they were.
    pub masked: Option<u64>,
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
            spent: [0, 1].map(|part| self.spent[part].join(&other.spent[part])),
            masked: self.masked.max(other.masked),
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
