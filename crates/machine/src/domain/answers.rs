//! The interface between a run whose words are variables ([`crate::domain::traced`]), which asks about each operation, and
//! whoever answers: the finder (crate `finder`), or the record that it wrote down (the replay of crate `judge`).

use crate::domain::abstract_memory::AbstractMemory;
use crate::domain::place::Address;
use crate::domain::placed::Placed;
use crate::domain::trace::Step;
use crate::domain::variable::{BitValue, Value, VarId};
use crate::domain::ways::Ways;
use crate::domain::word::{Logic, Shift};

/// What every run has, whoever answers it.
#[derive(Default)]
pub struct Run {
    pub memory: AbstractMemory<Value>,
    /// Names of inputs, for reports, in the order of the variables.
    pub names: Vec<(VarId, String)>,
    pub ways: Ways,
    pub placed: Placed,
    /// Address of the instruction that runs.
    pub pc: u32,
    /// Where the code begins that reports count from.
    pub first: u32,
}

impl Run {
    /// The word at a place, if it was put there.
    pub fn peek(&self, at: Address) -> Option<Value> {
        self.memory.peek(at)
    }

    /// Was a word of `w` bits put there?
    pub fn is_written(&self, at: Address, w: u32) -> bool {
        self.memory.is_written(at, w)
    }

    /// The name given to a variable, if any.
    pub fn name(&self, var: VarId) -> Option<&str> {
        let at = self.names.binary_search_by_key(&var, |(v, _)| *v).ok()?;
        self.names.get(at).map(|(_, name)| name.as_str())
    }
}

/// Answers about words of `w` or `W` bits. No operand is an address, and no bit one that is not followed: those have
/// become variables about which nothing is known.
pub trait Answers: Sized {
    fn run(&self) -> &Run;
    fn run_mut(&mut self) -> &mut Run;

    /// A word about which nothing is known.
    fn any_word(&mut self, w: u32) -> VarId;
    /// A bit about which nothing is known.
    fn any_bit(&mut self) -> VarId;
    /// The low `count` bits of `v` are `bits`, as somebody promised where operands lie.
    fn low_bits_are(&mut self, v: VarId, count: u32, bits: u64);
    /// What the contract promises.
    fn assume(&mut self, promise: Step);

    /// `word + 2^W carry = a + b + c` if `up`, else `word - 2^W carry = a - b - c`: word and carry.
    fn summed<const W: u32>(
        &mut self,
        up: bool,
        a: Value,
        b: Value,
        c: BitValue,
    ) -> (Value, BitValue);
    /// `lo + 2^W hi = a b`.
    fn product<const W: u32>(&mut self, a: Value, b: Value) -> (Value, Value);
    /// `a op b`, bit by bit.
    fn bitwise<const W: u32>(&mut self, op: Logic, a: Value, b: Value) -> Value;
    /// `2 out + bit = x + 2^W top`.
    fn turned<const W: u32>(&mut self, x: Value, top: BitValue) -> (Value, BitValue);
    /// The shifted word, and the bit that left last.
    fn shifted<const W: u32>(&mut self, kind: Shift, x: Value, count: u32) -> (Value, BitValue);
    /// `x` if `bit`, else `y`.
    fn selected<const W: u32>(&mut self, bit: BitValue, x: Value, y: Value) -> Value;
    /// The same of bits.
    fn selected_bit(&mut self, bit: BitValue, x: BitValue, y: BitValue) -> BitValue;
    /// The `v` bits of `x` from bit `from` on.
    fn part(&mut self, x: Value, w: u32, from: u32, v: u32) -> Value;
    /// `sum of 2^shift piece`, a word of `w` bits.
    fn joined(&mut self, pieces: Vec<(Value, u32)>, w: u32) -> Value;
    /// `x` of `from` bits as a word of `to` bits, above it its top bit or zeros.
    fn extended(&mut self, x: VarId, from: u32, to: u32, signed: bool) -> Value;
    /// Is the word 0?
    fn zero(&mut self, x: VarId) -> BitValue;
    /// Bit `index` of a word.
    fn bit_of<const W: u32>(&mut self, x: VarId, index: u32) -> BitValue;
    /// `x` with another bit at `index`.
    fn put<const W: u32>(&mut self, x: Value, index: u32, bit: BitValue) -> Value;
    /// `x op y`.
    fn gated(&mut self, op: Logic, x: BitValue, y: BitValue) -> BitValue;
    /// One name for a bit that chooses between two ways.
    fn named(&mut self, bit: BitValue) -> BitValue;

    /// The most words that it keeps, if it has made as many.
    fn is_full(&self) -> Option<usize>;
    /// The first claim about the run that was offered and not shown: where, and what stayed open.
    fn refused_claim(&self) -> Option<(usize, &str)> {
        None
    }
    /// An instruction was run; registers are of `W` bits.
    fn ran<const W: u32>(&mut self, pc: usize, register: impl Fn(u8) -> Value);
}
