//! Squaring with carry catchers: no carry runs on, each is counted in a word of its own.
//!
//! Scott, Szczechowiak 2007, in Seo, Kim 2014, section III, figures 3(b) and 4(b). Columns of
//! blocks of `d` by `d` words; a product that comes twice is doubled, added to two words, and
//! its carries go to the catcher of the third. When a column of blocks is done, the catchers
//! are added in one chain.

use super::{Method, MethodError, Parameter, Params, positive, squaring};
use crate::facts::Facts;
use crate::schedule::{Chain, End, Link, Schedule, Sum, Word, WordStep, Words};
use crate::spec::{Op, Spec};

/// Squaring with carry catchers.
pub static METHOD: Method = Method {
    name: "square-carry-catcher",
    summary: "columns of d x d blocks, carries counted in words of their own",
    source: "Scott, Szczechowiak 2007, in Seo, Kim 2014, figure 3(b)",
    ops: &[Op::Sqr],
    parameters: &[Parameter {
        name: "d",
        meaning: "words of a block's side",
    }],
    defaults: |spec, facts| {
        let [s, _] = spec.words(facts.word_bits);
        (1..=s.min(5)).map(|d| Params::from([("d", d)])).collect()
    },
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let d = positive(METHOD.name, "d", params)?;
    let (words, a) = squaring(spec, facts);
    let s = a.len();
    if d > s {
        return Err(MethodError::TooLarge {
            method: METHOD.name,
            parameter: "d",
            value: d,
            largest: s,
        });
    }
    let mut f = Catching {
        words,
        sum: vec![None; 2 * s],
        caught: vec![None; 2 * s],
        count: vec![0; 2 * s],
        most: (1 << facts.word_bits) - 1,
    };
    let blocks = s.div_ceil(d);
    for column in 0..2 * blocks - 1 {
        let end = ((column + 2) * d + 1).min(2 * s);
        for block in (column + 1).saturating_sub(blocks)..=column / 2 {
            let rows = block * d..((block + 1) * d).min(s);
            let other = column - block;
            for i in rows {
                for j in (other * d).max(i)..((other + 1) * d).min(s) {
                    f.add(i + j, a[i], a[j], end);
                }
            }
        }
        f.settle(column * d, end);
    }
    let mut words = f.words;
    words.result = f.sum.into_iter().flatten().collect();
    Ok(Schedule::Words(words))
}

/// The words of the result so far, and what was caught for each.
struct Catching {
    words: Words,
    sum: Vec<Option<Word>>,
    caught: Vec<Option<Word>>,
    /// How much each catcher may hold at most, and what a word can hold.
    count: Vec<u64>,
    most: u64,
}

impl Catching {
    /// Adds `x y W^k`, twice if `x` is not `y`. Words from `end` on are not in use.
    fn add(&mut self, k: usize, x: Word, y: Word, end: usize) {
        let times = if x == y { 1 } else { 2 };
        if self.count.get(k + 2).is_some_and(|c| c + times > self.most) {
            self.settle(k, end);
        }
        let [low, high] = self.words.product(x, y);
        let (mut low, mut high) = (low, high);
        if x != y {
            [low, high] = self.chain(k, [(Some(low), Some(low)), (Some(high), Some(high))]);
        }
        let [low, high] = match (self.sum[k], self.sum[k + 1]) {
            (None, None) => [low, high],
            sums => self.chain(k, [(sums.0, Some(low)), (sums.1, Some(high))]),
        };
        (self.sum[k], self.sum[k + 1]) = (Some(low), Some(high));
    }

    /// Two words at `k`, whose carry is caught for word `k + 2`.
    fn chain(&mut self, k: usize, links: [(Option<Word>, Option<Word>); 2]) -> [Word; 2] {
        let [low, high] = [self.words.fresh(), self.words.fresh()];
        let end = match self.caught.get(k + 2) {
            None => End::Drop,
            Some(before) => {
                let out = self.words.fresh();
                let end = match *before {
                    Some(x) => End::Into { x, out },
                    None => End::Carry { out },
                };
                self.caught[k + 2] = Some(out);
                self.count[k + 2] += 1;
                end
            }
        };
        let [(x0, y0), (x1, y1)] = links;
        self.words.push(WordStep::Chain(Chain {
            sum: Sum::Add,
            carry: None,
            links: vec![Link::new(x0, y0, low), Link::new(x1, y1, high)],
            end,
        }));
        [low, high]
    }

    /// Adds what was caught to the words from `first` to `end`.
    fn settle(&mut self, first: usize, end: usize) {
        let Some(from) = (first..end).find(|k| self.caught[*k].is_some()) else {
            return;
        };
        let links = (from..end).map(|k| {
            let out = self.words.fresh();
            let link = Link::new(self.sum[k], self.caught[k].take(), out);
            (self.sum[k], self.count[k]) = (Some(out), 0);
            link
        });
        let links = links.collect();
        self.words.push(WordStep::Chain(Chain {
            sum: Sum::Add,
            carry: None,
            links,
            end: End::Drop,
        }));
    }
}
