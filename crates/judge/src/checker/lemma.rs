//! Lemmas, shown earlier in the run: equations, absolute values, quotients of several words.

use machine::domain::trace::{Equation, Product};
use machine::domain::variable::{Value, VarId};
use num_bigint::BigUint;

/// A shown equation; its words are at most `most` together.
pub struct Lemma {
    pub equation: Equation,
    pub most: BigUint,
}

impl Lemma {
    /// The variables among its words, with the exponents of their weights.
    pub fn weighted(&self) -> impl Iterator<Item = (VarId, u64)> + '_ {
        let w = u64::from(self.equation.w);
        let words = self.equation.words.iter().zip(0u64..);
        words.filter_map(move |(word, i)| Some((word.variable()?, w * i)))
    }
}

/// `sum of 2^(w i) words[i] = |sum of terms|`, the terms numbers; `negative` is 1 just where the sum is below 0.
pub struct Magnitude {
    pub w: u32,
    pub words: Vec<Value>,
    pub terms: Vec<Product>,
    pub negative: VarId,
}

/// What is known of one modulus.
#[derive(Default)]
pub struct Quotients {
    /// `m` and `m'`, words of `w` bits: a promise of the contract.
    pub inverses: Option<(Vec<Value>, Vec<Value>, u32)>,
    /// `q` and `u`.
    pub(crate) shown: Option<(Vec<Value>, Vec<Value>)>,
    /// `l = q_0 m_0`.
    pub(crate) halves: Vec<Equation>,
}
