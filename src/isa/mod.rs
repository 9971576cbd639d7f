//! What a target offers to the rest: [`Isa`], implemented once per instruction set.

pub mod avr;

use thiserror::Error;

/// Why a schedule cannot be lowered to a machine.
#[derive(Error, Debug, Clone, PartialEq, Eq)]
pub enum LowerError {
    #[error("the schedule needs more registers than there are")]
    Registers,
    #[error("a pointer would have to move while a carry is on its way")]
    Addressing,
}

/// Fewest and most cycles, over all inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub struct Span {
    pub min: u64,
    pub max: u64,
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
}
