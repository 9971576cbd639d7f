//! A sum or difference that goes on word by word, as soon as the words of its operands are made.

use crate::schedule::{Chain, End, Link, Sum, Word, WordStep, Words};

/// Words that are added at a time: as many as have room in registers with those of a sum or two.
pub const PIECE: usize = 8;

/// The carry between two parts of a chain waits as a mask.
pub struct Streamed {
    sum: Sum,
    carry: Option<Word>,
}

impl Streamed {
    /// Nothing yet.
    pub fn new(sum: Sum) -> Self {
        Self { sum, carry: None }
    }

    /// The same with a carry of 1 before the first word if `mask` is ones.
    pub fn under(sum: Sum, mask: Word) -> Self {
        Self {
            sum,
            carry: Some(mask),
        }
    }

    /// Is a carry waiting?
    pub fn waits(&self) -> bool {
        self.carry.is_some()
    }

    /// The mask of the carry that waits.
    pub fn carry(&self) -> Option<Word> {
        self.carry
    }

    /// The next words; None is 0.
    pub fn next(&mut self, f: &mut Words, pairs: Vec<(Option<Word>, Option<Word>)>) -> Vec<Word> {
        let mask = f.fresh();
        let out = self.last(f, pairs, End::Mask { out: mask });
        self.carry = Some(mask);
        out
    }

    /// The last words; `end` says what becomes of the carry.
    pub fn last(
        &mut self,
        f: &mut Words,
        pairs: Vec<(Option<Word>, Option<Word>)>,
        end: End,
    ) -> Vec<Word> {
        let out = f.fresh_words(pairs.len());
        let links = pairs.into_iter().zip(&out);
        let links = links.map(|((x, y), out)| Link::new(x, y, *out)).collect();
        f.push(WordStep::Chain(Chain {
            sum: self.sum,
            carry: self.carry.take(),
            links,
            end,
        }));
        out
    }
}
