//! What a run in the algebra domain writes down: its operations, and what was concluded of their words.
//!
//! The finder (crate `finder`) names the words that operations make, and may be clever about it: it may say
//! that a sum is a word known before, that no carry leaves it, or that a word is small. It is not believed. Each
//! operation is an [`Entry`] with its operands and what the finder answered; each conclusion is a [`Step`] with its
//! reason. The checker of crate `judge` decides about both.

use num_bigint::BigInt;
use serde::{Deserialize, Serialize};

use crate::domain::variable::{BitValue, Value, Var, VarId};
use crate::domain::word::{Logic, Shift};

/// `sum of factor * (v - definition of v)`, which is 0.
pub type Combination = Vec<(VarId, i64)>;

/// Shown claims, by their number, and how often they are used.
pub type Multiples = Vec<(usize, BigInt)>;

/// `sign * 2^(w shift) * x * y`, the numbers given by their words; an empty `y` is 1.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Product {
    pub sign: i8,
    pub shift: usize,
    pub x: Vec<Value>,
    pub y: Vec<Value>,
}

/// `2^(w lead) sum 2^(w i) words[i] = sum of terms`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Equation {
    pub w: u32,
    pub words: Vec<Value>,
    pub lead: usize,
    pub terms: Vec<Product>,
}

/// An inequality's number.
pub type Joint = u32;

/// An operation on words of `w` bits and what the finder answered, or a conclusion.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Entry {
    /// `v` is a word of `w` bits: an input, or one whose operation is not followed.
    Unknown { v: VarId, w: u32 },
    /// `word + 2^w carry = a + b + c` if `up`, else `word - 2^w carry = a - b - c`.
    Sum {
        up: bool,
        w: u32,
        a: Value,
        b: Value,
        c: Value,
        word: Value,
        carry: BitValue,
    },
    /// `lo + 2^w hi = a b`.
    Product {
        w: u32,
        a: Value,
        b: Value,
        lo: Value,
        hi: Value,
    },
    /// `x = lo + 2^k hi`, `0 <= lo < 2^k`, for a word `x` of `w` bits; without `lo` only `hi` has a name. The range of
    /// what is left shows once the definitions `by` were replaced, one after another.
    Cut {
        x: Value,
        w: u32,
        k: u32,
        lo: Option<Value>,
        hi: Value,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        by: Vec<VarId>,
    },
    /// The bits of `word`, lowest first.
    Digits { word: VarId, digits: Vec<Value> },
    /// The bits from `from` on are cut from `x`; `out` has `v` of them.
    Slice {
        x: Value,
        w: u32,
        from: u32,
        v: u32,
        out: Value,
    },
    /// `out = sum of 2^shift piece`.
    Join {
        pieces: Vec<(Value, u32)>,
        w: u32,
        out: Value,
    },
    Shift {
        kind: Shift,
        w: u32,
        x: Value,
        count: u32,
        out: Value,
        bit: BitValue,
    },
    /// `2 out + bit = x + 2^w top`.
    Turn {
        w: u32,
        x: Value,
        top: Value,
        out: Value,
        bit: BitValue,
    },
    /// `out = a op b`, bit by bit.
    Logic {
        op: Logic,
        w: u32,
        a: Value,
        b: Value,
        out: Value,
    },
    /// `out = x op y`.
    Gate {
        op: Logic,
        x: BitValue,
        y: BitValue,
        out: BitValue,
    },
    /// `out` is `x` if `bit`, else `y`.
    Select {
        bit: BitValue,
        w: u32,
        x: Value,
        y: Value,
        out: Value,
    },
    SelectBit {
        bit: BitValue,
        x: BitValue,
        y: BitValue,
        out: BitValue,
    },
    /// `bit` says whether `word` is 0, or whether it is not.
    Zero { word: VarId, is: bool, bit: VarId },
    /// `out` says whether `x` is 0.
    IsZero { x: Value, out: BitValue },
    /// `out` is `x` with another bit at `index`.
    WithBit {
        x: Value,
        index: u32,
        bit: BitValue,
        out: Value,
    },
    /// `out` is bit `index` of `x`.
    Bit {
        x: Value,
        w: u32,
        index: u32,
        out: BitValue,
    },
    /// `out` is `x`, extended by its top bit or by zeros.
    Extend {
        x: Value,
        from: u32,
        to: u32,
        signed: bool,
        out: Value,
    },
    /// The input `v` is `b + 2 h`, with other inputs.
    Halved {
        v: VarId,
        w: u32,
        b: VarId,
        h: VarId,
    },
    /// `v` is a bit that is not followed.
    UnknownBit { v: VarId },
    /// The low `count` bits of `v` are `bits`, as operands lie where they are promised to.
    LowBits { v: VarId, count: u32, bits: u64 },
    /// `name` is the bit, as a number or a variable.
    Named { bit: BitValue, name: BitValue },
    /// A conclusion.
    Step(Step),
}

/// An entry as it was written.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Noted {
    /// Address of the instruction.
    pub pc: u32,
    /// Does it answer what the run asked for? The others lead to the next answer.
    pub is_answer: bool,
    pub entry: Entry,
}

/// All that a run wrote down.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    pub variables: &'a [Var],
    /// The terms that their definitions speak of.
    pub terms: &'a [(VarId, i64)],
    pub entries: &'a [Noted],
    /// Why the goal is reached, if it is.
    pub reason: Option<&'a Reason>,
}

/// `constant + sum of factor * variable`.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
pub struct Sum {
    pub constant: BigInt,
    pub terms: Vec<(VarId, BigInt)>,
}

/// A word that is 0, as it is 0 modulo `2^w`, and how often it is there.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Vanishing {
    pub word: VarId,
    pub by: BigInt,
    pub used: Multiples,
}

/// A sum that equals something by its definitions, less multiples of claims.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ShownSum {
    pub sum: Sum,
    pub used: Multiples,
}

/// Whom a comparison asks.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Answer {
    /// `s` itself: `t = s` if it is subtracted where it is set, `t = -s` if it is added.
    Itself,
    /// `u` in its place, if `s` is the borrow of `0 - u`: 1 just where `u` is not 0.
    Borrow(VarId),
    /// The variable `t`, from which these equations leave each variable of `s` one value.
    Forced { t: VarId, by: Vec<Combination> },
    /// The sum `t` of bits, from which the definition of each variable of `s` gives it one value.
    Told { t: Vec<(VarId, BigInt)> },
}

/// A sum `s` of variables that depends on how large `X = T + offset M` is: `X + shift = limit t + D` with the answer
/// `t` and a sum `D` of `digits` in `0 .. limit`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// `s`.
    pub sum: Vec<(VarId, BigInt)>,
    /// How often `M` is added for each of `s`.
    pub times: BigInt,
    pub answer: Answer,
    pub offset: BigInt,
    pub limit: BigInt,
    pub shift: BigInt,
    pub digits: Sum,
    /// The equation is shown modulo `2^bits`, or without them of numbers.
    pub bits: Option<u64>,
    pub zeros: Vec<Vanishing>,
    pub used: Multiples,
}

/// Why a goal is reached: `2^h Z + low = P + M U + 2^bits k`, and sums that are part of `U` compare what is added up
/// so far.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
pub struct Reason {
    pub used: Multiples,
    /// Words below a result that is rounded down.
    pub low: Vec<(VarId, BigInt)>,
    /// `U`, and products of two variables in it.
    pub multiples: Sum,
    pub products: Vec<((VarId, VarId), BigInt)>,
    /// `k`; without it, the equation is shown modulo `2^bits`.
    pub lost: Option<Sum>,
    /// Products of two variables in `k`.
    pub lost_products: Vec<((VarId, VarId), BigInt)>,
    /// Bits that halving drops, words that a quotient makes 0.
    pub zeros: Vec<Vanishing>,
    /// In their order.
    pub compared: Vec<Comparison>,
    /// What `P + M U` without the sums that compare is a sum of.
    pub stages: Vec<ShownSum>,
}

/// Something concluded, and why.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Step {
    /// `v <= most`: if it were more, these equations would leave no value to some variable.
    Bound {
        v: VarId,
        most: u64,
        by: Vec<Combination>,
    },
    /// The bits `x` and `y` are never both 1, for the same reason.
    Exclusive {
        x: VarId,
        y: VarId,
        by: Vec<Combination>,
    },
    /// The contract says that the input `v` is at most this.
    Below { v: VarId, most: u64 },
    /// The contract says that the input `v` is 0 or 1.
    Bit { v: VarId },
    /// The contract says that `m m' = -1 (mod 2^bits)`.
    Inverse { m: VarId, inverse: VarId, bits: u64 },
    /// Equations around the choice that comes next, between a carry and a comparison: the last one holds the
    /// definitions by which the comparison is one of the carry; and the difference `r - l`, if there is one.
    Around {
        by: Vec<Combination>,
        opposite: Option<VarId>,
    },
    /// The contract says that the input `m` is odd.
    Odd { m: VarId },
    /// Newton's step: `low` is the low word of `e s`, `m e = 1` modulo some power of 2, and `sign s = 2 - m e` modulo
    /// that of the word.
    Newton {
        e: VarId,
        s: Value,
        sign: i8,
        low: VarId,
        used: Multiples,
    },
    /// The lowest bit of `x` is 0, as `x` is even by its definition.
    Even {
        x: VarId,
        bit: VarId,
        used: Multiples,
    },
    /// `v` is not replaced where it is a factor.
    Factor { v: VarId },
    /// `q = v m' (mod 2^w)`, by its definition.
    Quotient {
        q: VarId,
        v: VarId,
        w: u32,
        used: Multiples,
    },
    /// Wherever `x` is 1, `y` is.
    Follows {
        x: VarId,
        y: VarId,
        by: Vec<Combination>,
    },
    /// The carry `c` is never set: `scale c` is a sum of these equations, and what is left is less.
    NeverSet {
        c: VarId,
        scale: BigInt,
        by: Vec<(VarId, BigInt)>,
        products: Vec<(VarId, BigInt)>,
        claims: Vec<(usize, BigInt)>,
    },
    /// An equation holds modulo the weight of the word behind its last, with these multiples of claims shown before,
    /// and over the integers, as both sides lie below that.
    Claim { equation: Equation, used: Multiples },
    /// The contract says that `m m' = -1 (mod 2^(w n))`, `n` the words of `m'`.
    Inverses {
        m: Vec<Value>,
        inverse: Vec<Value>,
        w: u32,
    },
    /// `q = u m'`, modulo the same.
    LongQuotient { equation: Equation, used: Multiples },
    /// The product of the lower halves of `q` and `m`.
    Half { equation: Equation, used: Multiples },
    /// The words of an equation are the absolute value of its right side, by the wrapped difference and its mask.
    Magnitude {
        equation: Equation,
        wrapped: Vec<Value>,
        mask: Value,
        used: [Multiples; 2],
    },
    /// The words of an equation are the product of two absolute values, complemented by a mask.
    Signed {
        equation: Equation,
        product: usize,
        factors: [usize; 2],
        mask: Value,
    },
    /// A joint bound, in the making: `sum <= total`.
    Joint { of: Joint, change: Change },
}

/// How a joint bound `form <= total` changes. All its factors stay positive.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Change {
    /// `0 <= 0`.
    Start,
    /// `lo + 2^w hi <= a b`, at their most.
    Product { lo: VarId },
    /// The words of a shown claim.
    Claim { index: usize },
    /// `2^shift y` more, at its most.
    Raise { y: Value, shift: u32 },
    /// `2^shift word` more, a word of another joint bound: alone the word `from` of it, or, if it `continues`, behind
    /// the words from `from` on that were added before. Together these are at their most.
    Slice {
        of: Joint,
        from: u32,
        word: Value,
        w: u32,
        shift: u32,
        continues: bool,
    },
    /// `2^shift word` instead of what it is the sum of.
    Put { word: VarId, shift: u32 },
    /// A carry becomes what a bit leaves of it.
    Mask { carry: VarId, masked: VarId },
    /// `word` becomes `chosen`, which is `word` or one of its addends.
    Choose { word: VarId, chosen: VarId },
    /// `v` is at most what the others leave.
    Bounds { v: VarId },
}
