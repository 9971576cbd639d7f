//! One statement of the finder about numbers, which a test can evaluate.

use machine::domain::trace::Product;
use machine::domain::variable::{BitValue, Value, VarId};
use num_bigint::BigUint;

/// `sign * 2^(w shift) * x * y`, the numbers given by their words; an empty `y` is 1.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct ToldTerm {
    pub sign: i8,
    pub shift: usize,
    pub x: Vec<Value>,
    pub y: Vec<Value>,
}

impl ToldTerm {
    pub(crate) fn of(terms: &[Product]) -> Vec<Self> {
        let term = |t: &Product| Self {
            sign: t.sign,
            shift: t.shift,
            x: t.x.clone(),
            y: t.y.clone(),
        };
        terms.iter().map(term).collect()
    }
}

/// A statement about words and bits of `w` bits each, `w` being the width of the machine's words.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum Told {
    /// `sum 2^(w i) words[i] + sum 2^(w place) carry <= total`.
    AtMost {
        words: Vec<Value>,
        carries: Vec<(VarId, usize)>,
        total: BigUint,
    },
    /// `word` is `set` where `bit` is 1, else `clear`.
    Choice {
        word: VarId,
        bit: VarId,
        set: Value,
        clear: Value,
    },
    /// `word = sum 2^i digits[i]`, each a bit.
    Digits { word: VarId, digits: Vec<Value> },
    /// `word = low + 2^at high`, `low < 2^at`.
    Cut {
        word: VarId,
        at: u32,
        low: Value,
        high: Value,
    },
    /// `word` is the bits `from .. to` of `whole`.
    Section {
        word: VarId,
        whole: VarId,
        from: u32,
        to: u32,
    },
    /// `product = x y`.
    Product { product: VarId, x: VarId, y: VarId },
    /// `word = a - b - c + 2^w borrow`.
    Difference {
        word: Value,
        of: [Value; 3],
        borrow: BitValue,
    },
    /// `bit` is 1 exactly where `word` is 0, or where it is not.
    Zero { bit: VarId, word: VarId, is: bool },
    /// The lowest `count` bits of `word` are those of `bits`.
    LowBits { word: VarId, count: u32, bits: u64 },
    /// `after` is 1 wherever `bit` is.
    Follows { bit: VarId, after: VarId },
    /// `2^(w lead) sum 2^(w i) words[i] = sum of terms`, the sum of the words at most `most`.
    Claim {
        words: Vec<Value>,
        lead: usize,
        terms: Vec<ToldTerm>,
        most: Option<BigUint>,
    },
    /// `sum 2^(w i) words[i] = |sum of terms|`, and `negative` says whether that sum is.
    Magnitude {
        words: Vec<Value>,
        terms: Vec<ToldTerm>,
        negative: VarId,
    },
    /// `word` is `base` with some bits replaced.
    Packed {
        word: VarId,
        base: Value,
        bits: Vec<(u32, BitValue)>,
    },
}
