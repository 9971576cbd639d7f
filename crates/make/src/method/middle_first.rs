//! Karatsuba's recombination with the middle product first: words of the others are added as they come.
//!
//! With `M` the middle product (`-T^2` of a square, of a product `(xl - xh)(yh - yl)`) the whole is
//! `L_lo + W (L_lo + Z + M) + W^2 Z`, `Z = H + L_hi`. `M` lies in memory; while words of `L` and then of `Z` are in
//! registers, what they are needed for is done: `L_lo + M`, to which `Z` is added; `Z_lo + Z_hi`, and the rest
//! of `M`.

use std::ops::Range;

use crate::method::square_product_scanning::Sink;
use crate::method::streamed::Streamed;
use crate::schedule::{Chain, Claim, End, Link, Magnitude, Sum, Term, Word, WordStep, Words};

/// How the middle product is added.
#[derive(Clone, Copy)]
pub(super) enum Sign {
    /// It is taken away.
    Minus,
    /// It is taken away if this mask is ones, and added otherwise: `-M = ~M + 1`.
    Under(Word),
}

/// `D = x - y`, its absolute value, and as a mask whether it is negative.
pub(super) struct Distance {
    x: Vec<Word>,
    y: Vec<Word>,
    pub words: Vec<Word>,
    pub negative: Word,
}

/// `L_lo + W (L_lo + Z + M) + W^2 Z` as the words of `L` and `Z` come.
pub(super) struct Middle {
    low: usize,
    /// The middle product; where its sign is a mask, complemented under that as it is added.
    m: Vec<Word>,
    sign: Sign,
    /// What came of `L`, of `L_lo + M`, and of `Z`.
    pub l: Vec<Word>,
    y: Vec<Word>,
    pub z: Vec<Word>,
    sum: Streamed,
    third: Streamed,
    /// What is beyond `L_lo + Z + W Z + M`: a small signed number.
    beyond: Option<Word>,
}

impl Middle {
    /// The middle product is there, nothing else; `L` has `2 low` words.
    pub(super) fn new(low: usize, m: Vec<Word>, sign: Sign) -> Self {
        let third = match sign {
            Sign::Minus => Streamed::new(Sum::Sub),
            Sign::Under(mask) => Streamed::under(Sum::Add, mask),
        };
        Self {
            low,
            m,
            sign,
            l: Vec::with_capacity(2 * low),
            y: Vec::with_capacity(low),
            z: Vec::with_capacity(2 * low),
            sum: Streamed::new(Sum::Add),
            third,
            beyond: None,
        }
    }

    /// The next words of `L`.
    pub(super) fn l(&mut self, f: &mut Words, words: &[Word], sink: &mut Sink<'_>) {
        let first = self.l.len();
        self.l.extend(words);
        if first < self.low {
            let lower = first..self.l.len().min(self.low);
            let lower_words = self.l[lower.clone()].to_vec();
            sink(f, &lower_words);
            let pairs = self.with_third(f, lower, &lower_words);
            let y = self.third.next(f, pairs);
            self.y.extend(y);
        }
    }

    /// The next words of `Z`.
    pub(super) fn z(&mut self, f: &mut Words, words: &[Word], sink: &mut Sink<'_>) {
        let first = self.z.len();
        self.z.extend(words);
        let next = self.z.len();
        if first < self.low {
            let range = first..next.min(self.low);
            let pairs = range.map(|k| (Some(self.y[k]), Some(self.z[k])));
            let words = self.sum.next(f, pairs.collect());
            sink(f, &words);
        }
        self.upper(f, first.max(self.low)..next, sink);
    }

    /// All words of `L` and `Z`, which has `2 high` of them and one more if it is wider, came.
    pub(super) fn end(&mut self, f: &mut Words, high: usize, sink: &mut Sink<'_>) {
        self.upper(f, self.z.len()..2 * self.low, sink);
        if let (Some(beyond), top @ [_, ..]) = (self.beyond, &self.z[self.low..2 * high]) {
            let ext = f.fresh();
            f.push(WordStep::Sign {
                x: beyond,
                out: ext,
            });
            let mut signed = vec![ext; top.len()];
            signed[0] = beyond;
            let sum = f.chain(Sum::Add, top, &signed, End::Drop);
            sink(f, &sum);
        }
    }

    /// The words `range`, which are not in the lower half: `Z_lo + Z_hi + M`.
    fn upper(&mut self, f: &mut Words, range: Range<usize>, sink: &mut Sink<'_>) {
        if range.is_empty() {
            return;
        }
        let word = |k: usize| self.z.get(k).copied();
        let pairs: Vec<_> = range
            .clone()
            .map(|k| (word(k - self.low), word(k)))
            .collect();
        let words = if range.end < 2 * self.low {
            let y = self.sum.next(f, pairs);
            let pairs = self.with_third(f, range, &y);
            self.third.next(f, pairs)
        } else {
            let (over, out) = (f.fresh(), f.fresh());
            let y = self.sum.last(f, pairs, End::Carry { out: over });
            let pairs = self.with_third(f, range, &y);
            let words = self.third.last(f, pairs, End::Into { x: over, out });
            self.beyond = Some(match self.sign {
                Sign::Minus => out,
                // The complement was that of a number as long as M: W^2 too much.
                Sign::Under(mask) => f.chain(Sum::Add, &[out], &[mask], End::Drop)[0],
            });
            words
        };
        sink(f, &words);
    }

    /// Words and those of the middle product, as what is added to them or taken away.
    fn with_third(
        &mut self,
        f: &mut Words,
        range: Range<usize>,
        y: &[Word],
    ) -> Vec<(Option<Word>, Option<Word>)> {
        if let Sign::Under(mask) = self.sign {
            for m in &mut self.m[range.clone()] {
                let out = f.fresh();
                let [x, y] = [*m, mask];
                f.push(WordStep::Xor { x, y, out });
                *m = out;
            }
        }
        let pairs = y.iter().zip(&self.m[range]);
        pairs.map(|(y, m)| (Some(*y), Some(*m))).collect()
    }

    /// Claims what the complemented words are.
    pub(super) fn claim(&self, f: &mut Words, x: &Distance, y: &Distance) {
        if let Sign::Under(mask) = self.sign {
            claim_signed(f, &self.m, mask, x, y);
        }
    }
}

/// Claims that with the mask `s` the complemented words `m` are `(x - x')(y - y') + s (2^(w len) - 1)`.
pub(super) fn claim_signed(f: &mut Words, m: &[Word], mask: Word, x: &Distance, y: &Distance) {
    let product = |negative: bool, x: &[Word], y: &[Word]| Term {
        negative,
        y: y.to_vec(),
        ..Term::number(x)
    };
    f.claims.push(Claim {
        words: m.to_vec(),
        lead: 0,
        terms: vec![
            product(false, &x.x, &y.x),
            product(true, &x.x, &y.y),
            product(true, &x.y, &y.x),
            product(false, &x.y, &y.y),
            Term::number(&vec![mask; m.len()]),
        ],
        magnitude: None,
    });
}

/// Adds words to those of a number as they come.
pub(super) struct Plus<'a> {
    running: Streamed,
    plus: &'a [Word],
    /// Words that came, and that will come.
    at: usize,
    count: usize,
    /// May the sum be longer? Then its carry is one word more.
    long: bool,
}

impl<'a> Plus<'a> {
    /// Nothing came yet of `count` words.
    pub(super) fn new(plus: &'a [Word], count: usize, long: bool) -> Self {
        Self {
            running: Streamed::new(Sum::Add),
            plus,
            at: 0,
            count,
            long,
        }
    }

    /// The next words.
    pub(super) fn next(&mut self, f: &mut Words, words: &[Word], sink: &mut Sink<'_>) {
        if self.plus.is_empty() {
            return sink(f, words);
        }
        let pairs = words.iter().zip(self.at..);
        let pairs = pairs
            .map(|(x, k)| (Some(*x), self.plus.get(k).copied()))
            .collect();
        self.at += words.len();
        if self.at < self.count {
            let sum = self.running.next(f, pairs);
            sink(f, &sum);
        } else if self.long {
            let out = f.fresh();
            let mut sum = self.running.last(f, pairs, End::Carry { out });
            sum.push(out);
            sink(f, &sum);
        } else {
            let sum = self.running.last(f, pairs, End::Drop);
            sink(f, &sum);
        }
    }
}

/// `|x - y|`, and as a mask whether the difference is negative: then its complement and one more.
pub(super) fn distance(f: &mut Words, x: &[Word], y: &[Word]) -> Distance {
    let mask = f.fresh();
    let difference = f.chain(Sum::Sub, x, y, End::Mask { out: mask });
    let out = f.fresh_words(difference.len());
    let links = difference.iter().zip(&out).map(|(d, out)| Link {
        flip: Some(mask),
        ..Link::new(Some(*d), Some(mask), *out)
    });
    f.push(WordStep::Chain(Chain {
        sum: Sum::Sub,
        carry: None,
        links: links.collect(),
        end: End::Drop,
    }));
    let number = |negative: bool, x: &[Word]| Term {
        negative,
        ..Term::number(x)
    };
    f.claims.push(Claim {
        words: out.clone(),
        lead: 0,
        terms: vec![number(false, x), number(true, y)],
        magnitude: Some(Magnitude {
            wrapped: difference,
            mask,
        }),
    });
    Distance {
        x: x.to_vec(),
        y: y.to_vec(),
        words: out,
        negative: mask,
    }
}
