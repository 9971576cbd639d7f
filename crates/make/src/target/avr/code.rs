//! Instructions on values, before registers are assigned.
//!
//! A value is made once and never changed; an instruction that overwrites a register makes a new one. Schedules are
//! written as such instructions in `words.rs`.

use machine::isa::avr::instructions::Op;

use crate::schedule::Word;

/// A value, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Value(pub usize);

/// An instruction on values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VirtualInsn {
    /// `2^8 high + low = x y`, in r1:r0.
    Mul {
        x: Value,
        y: Value,
        low: Value,
        high: Value,
    },
    /// `out = x op y`, with the carry; no `y`: the zero register. LSR and ROR are of one word, `x` and `y`.
    Two {
        op: Op,
        out: Value,
        x: Value,
        y: Option<Value>,
    },
    Clear {
        out: Value,
    },
    /// Two cleared registers.
    Clears {
        out: [Value; 2],
    },
    /// `out = -carry`.
    Mask {
        out: Value,
    },
    /// The carry is set unless `x` is 0.
    Carry {
        x: Value,
    },
    /// The carry is set.
    Set,
    /// Copies of the two bytes of a product.
    Pair {
        from: [Value; 2],
        out: [Value; 2],
    },
    Move {
        x: Value,
        out: Value,
    },
    /// `x` is returned.
    Return {
        x: Value,
    },
    /// `x` is word `k` of the result.
    Result {
        k: usize,
        x: Value,
    },
}

impl VirtualInsn {
    /// The values it reads, each once.
    pub fn reads(&self) -> impl Iterator<Item = Value> {
        let [a, b] = match self {
            VirtualInsn::Mul { x, y, .. } => [Some(*x), Some(*y)],
            VirtualInsn::Two { x, y, .. } => [Some(*x), *y],
            VirtualInsn::Clear { .. }
            | VirtualInsn::Clears { .. }
            | VirtualInsn::Mask { .. }
            | VirtualInsn::Set => [None, None],
            VirtualInsn::Carry { x }
            | VirtualInsn::Move { x, .. }
            | VirtualInsn::Return { x }
            | VirtualInsn::Result { x, .. } => [Some(*x), None],
            VirtualInsn::Pair { from, .. } => from.map(Some),
        };
        a.into_iter().chain(b.filter(|b| Some(*b) != a))
    }

    /// The same with `name(value)` for every value it reads.
    pub fn map_reads(mut self, name: impl Fn(Value) -> Value) -> Self {
        match &mut self {
            VirtualInsn::Mul { x, y, .. } => (*x, *y) = (name(*x), name(*y)),
            VirtualInsn::Two { x, y, .. } => (*x, *y) = (name(*x), y.map(name)),
            VirtualInsn::Carry { x }
            | VirtualInsn::Move { x, .. }
            | VirtualInsn::Return { x }
            | VirtualInsn::Result { x, .. } => *x = name(*x),
            VirtualInsn::Pair { from, .. } => *from = from.map(name),
            VirtualInsn::Clear { .. }
            | VirtualInsn::Clears { .. }
            | VirtualInsn::Mask { .. }
            | VirtualInsn::Set => {}
        }
        self
    }

    /// The values it makes.
    pub fn makes(&self) -> impl Iterator<Item = Value> {
        let [a, b] = match self {
            VirtualInsn::Mul { low, high, .. } => [Some(*low), Some(*high)],
            VirtualInsn::Two { out, .. }
            | VirtualInsn::Clear { out }
            | VirtualInsn::Mask { out }
            | VirtualInsn::Move { out, .. } => [Some(*out), None],
            VirtualInsn::Pair { out, .. } | VirtualInsn::Clears { out } => out.map(Some),
            VirtualInsn::Carry { .. }
            | VirtualInsn::Set
            | VirtualInsn::Return { .. }
            | VirtualInsn::Result { .. } => [None, None],
        };
        a.into_iter().chain(b)
    }

    /// May the register of `y` take the result as well as that of `x`?
    pub fn commutes(&self) -> bool {
        matches!(self, VirtualInsn::Two { op, .. } if matches!(op, Op::ADD | Op::ADC | Op::AND | Op::OR | Op::EOR))
    }
}

/// Where a value lies in memory without being put there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OperandWord {
    pub side: usize,
    pub index: usize,
}

/// The instructions of a schedule.
pub struct Code {
    pub steps: Vec<VirtualInsn>,
    /// Remarks, each before the step of that index.
    pub notes: Vec<(usize, String)>,
    /// Of each value that is one, the word of an operand it is.
    pub operands: Vec<Option<OperandWord>>,
    /// Of each value that is known, its number.
    pub numbers: Vec<Option<u8>>,
    /// Of each value that stays there, r0 or r1.
    pub product: Vec<Option<u8>>,
    /// The value of each word of the schedule.
    pub names: Vec<Option<Value>>,
    /// Of each word that was masked, the word it was made from.
    pub(super) masked: Vec<Option<Word>>,
    /// Clear two registers at a time.
    pub(super) clear_pairs: bool,
    /// May the result lie where an operand is?
    pub(super) overlap: bool,
    /// A value cleared ahead.
    pub(super) cleared: Option<Value>,
    /// The word whose lowest bit is in the carry.
    pub(super) shifted: Option<Word>,
}

impl Code {
    pub(super) fn fresh(&mut self) -> Value {
        self.operands.push(None);
        self.numbers.push(None);
        self.product.push(None);
        Value(self.operands.len() - 1)
    }

    /// Is it there without a step that makes it: a word of an operand, or a number?
    pub fn is_given(&self, value: usize) -> bool {
        self.operands[value].is_some() || self.numbers[value].is_some()
    }
}
