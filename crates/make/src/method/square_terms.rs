//! The products of a square: which come twice, and which once.

use spec::Spec;

use crate::facts::Facts;
use crate::schedule::{Word, Words};

/// A squaring without steps, and the words of its operand.
pub fn squaring(spec: &Spec, facts: &Facts) -> (Words, Vec<Word>) {
    let [s, _] = spec.words(facts.word_bits);
    let words = Words::new(spec.op, facts.word_bits, &[s]);
    let a = words.operand(0);
    (words, a)
}

/// `A[i] A[j]`, `i + j = k`, `i < j`, where `kept`: what comes twice in column `k` of a square.
pub fn pairs(a: &[Word], k: usize, kept: impl Fn(usize, usize) -> bool) -> Vec<(Word, Word)> {
    let first = (k + 1).saturating_sub(a.len());
    let rows = (first..k.div_ceil(2)).filter(|i| kept(*i, k - i));
    rows.map(|i| (a[i], a[k - i])).collect()
}

/// `A[k/2]` with itself: what comes once in column `k` of a square, if `k` is even.
pub fn diagonal(a: &[Word], k: usize) -> Vec<(Word, Word)> {
    let word = a.get(k / 2).filter(|_| k.is_multiple_of(2));
    word.map(|x| (*x, *x)).into_iter().collect()
}
