//! The hybrid method: columns of blocks of `d` by `d` words, every block row by row.
//!
//! Gura et al. 2004; hw2018, section 3.3 and figure 3: `2 ceil(n^2/d)` loads, `2n` stores, an
//! accumulator of `2d + 1` words. What becomes of the carries (`-p carry=`):
//!
//! - 0: every product is added on its own, and its carry runs to the top of the accumulator;
//! - 1: Liu, Grossschaedl, Kizhvatov 2010: the products of a row that lie two words apart do not
//!   overlap and are moved aside (MOVW); a row `A[i] * B[j .. j+d]`, which fits `d + 1` words, is
//!   added in one chain, with one carry;
//! - 2: Scott, Szczechowiak 2007: every carry is caught in a word of its own, and what is caught is
//!   added when a column of blocks is done.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::catching::Catching;
use crate::method::checked_parameters::{one_size, positive};
use crate::method::loop_forms::as_block_scans;
use crate::method::product_scanning;
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::schedule::{End, Schedule, Sum, Word, Words};

/// The hybrid method.
pub static METHOD: Method = Method {
    name: "hybrid",
    summary: "columns of d x d blocks, each row by row",
    source: "Gura et al. 2004, in Hutter, Wenger 2018, section 3.3",
    ops: &[Op::Mul],
    parameters: &[
        Parameter {
            name: "d",
            meaning: "words of a block's side",
        },
        Parameter {
            name: "carry",
            meaning: "0: carries run on, 1: a row at a time (MOVW), 2: carry catchers",
        },
    ],
    defaults: |spec, facts| {
        let [n, _] = spec.words(facts.word_bits);
        let sides = 1..=largest(facts).min(n);
        if facts.in_scans() {
            return sides.rev().map(|d| Params::from([("d", d)])).collect();
        }
        let sets = sides.flat_map(|d| [2, 1, 0].map(|c| Params::from([("d", d), ("carry", c)])));
        sets.collect()
    },
    schedule,
};

/// The largest `d`: hw2018, section 3.5, counts `3d + 2` registers, `d + 1` for operands and
/// `2d + 1` for the accumulator.
pub(super) fn largest(facts: &Facts) -> usize {
    (facts.free_registers.saturating_sub(2) / 3).max(1)
}

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let method = METHOD.name;
    let n = one_size(method, spec, facts)?;
    let d = positive(method, "d", params)?;
    let bounded = |parameter, value, largest| match value > largest {
        true => Err(MethodError::TooLarge {
            method,
            parameter,
            value,
            largest,
        }),
        false => Ok(()),
    };
    bounded("d", d, n)?;
    let carry = params.get("carry").copied().unwrap_or(2);
    bounded("carry", carry, 2)?;
    if d > largest(facts) {
        return Err(MethodError::Registers {
            method,
            parameter: "d",
            value: d,
            need: 3 * d + 2,
            free: facts.free_registers,
            largest: largest(facts),
        });
    }
    if facts.in_scans() {
        // The sums are the same; how carries run inside a block is the target's business.
        let words = product_scanning::columns(spec.op, facts.word_bits, n, n);
        return as_block_scans(method, words, d);
    }
    let words = Words::new(spec.op, facts.word_bits, &[n, n]);
    let words = match carry {
        2 => caught(words, n, d),
        _ => running(words, n, d, carry == 1),
    };
    Ok(Schedule::Words(words))
}

/// Each product is added to its columns, and what leaves them is caught until the block ends.
fn caught(words: Words, n: usize, d: usize) -> Words {
    let (a, b) = (words.operand(0), words.operand(1));
    let mut f = Catching::new(words, 2 * n);
    for (first, blocks) in columns(n, d) {
        let end = (first + 2 * d + 1).min(2 * n);
        for [i, j] in blocks {
            for (i, x) in side(&a, i, d) {
                for (j, y) in side(&b, j, d) {
                    f.add(i + j, [x, y], end, false);
                }
            }
        }
        f.settle(first, end);
    }
    f.finish()
}

/// Carries run to the end of the block after each product, or after each of its rows.
fn running(words: Words, n: usize, d: usize, by_rows: bool) -> Words {
    let (a, b) = (words.operand(0), words.operand(1));
    let mut f = Running {
        words,
        sum: vec![None; 2 * n],
        end: 0,
    };
    for (first, blocks) in columns(n, d) {
        for [i, j] in blocks {
            let y = &b[j..(j + d).min(n)];
            for (i, x) in side(&a, i, d) {
                // The rows of the first block are all there is so far, and fit.
                let end = match first {
                    0 => i + y.len() + 1,
                    _ => first + 2 * d + 1,
                };
                f.end = end.min(2 * n);
                match by_rows {
                    true => f.row(i + j, x, y),
                    false => f.products(i + j, x, y),
                }
            }
        }
    }
    f.words.result = f.sum.into_iter().flatten().collect();
    f.words
}

/// The words of a block's side from word `first` on, and which they are.
fn side(words: &[Word], first: usize, d: usize) -> impl Iterator<Item = (usize, Word)> {
    words.iter().copied().enumerate().skip(first).take(d)
}

/// The columns of blocks of `n` by `n` words: the lowest result word of each, and where in A and B
/// its blocks begin.
fn columns(n: usize, d: usize) -> impl Iterator<Item = (usize, Vec<[usize; 2]>)> {
    let count = n.div_ceil(d);
    (0..2 * count - 1).map(move |column| {
        let first = (column + 1).saturating_sub(count);
        let blocks = (first..count.min(column + 1)).map(|i| [i * d, (column - i) * d]);
        (column * d, blocks.collect())
    })
}

/// A sum to which words are added with carries that run on.
struct Running {
    words: Words,
    sum: Vec<Option<Word>>,
    /// Words of the sum from here on are not in use.
    end: usize,
}

impl Running {
    /// Adds `x * y` at word `k`, product by product.
    fn products(&mut self, k: usize, x: Word, y: &[Word]) {
        for (j, y) in y.iter().enumerate() {
            let product = self.words.product(x, *y);
            self.add(k + j, &product);
        }
    }

    /// Adds `x * y` at word `k`: the even products side by side, the odd ones to them, all to the sum.
    fn row(&mut self, k: usize, x: Word, y: &[Word]) {
        let mut every_other = |first: usize| -> Vec<Word> {
            let products = y.iter().skip(first).step_by(2);
            let words = products.flat_map(|y| self.words.product(x, *y));
            words.collect()
        };
        let (even, odd) = (every_other(0), every_other(1));
        let row = match odd.is_empty() {
            true => even,
            false => {
                let pairs = (0..y.len()).map(|i| (even.get(i + 1).copied(), odd.get(i).copied()));
                let rest = self.words.links(Sum::Add, pairs.collect(), End::Drop);
                [&even[..1], &rest].concat()
            }
        };
        self.add(k, &row);
    }

    /// Adds words at `k`; the carry runs on as far as there are words, then it begins a new one.
    fn add(&mut self, k: usize, words: &[Word]) {
        let there = self
            .sum
            .iter()
            .rposition(Option::is_some)
            .map_or(0, |i| i + 1);
        let to = (k + words.len()).max(there).min(self.end);
        if self.sum[k].is_none() && there <= k {
            for (slot, word) in self.sum[k..to].iter_mut().zip(words) {
                *slot = Some(*word);
            }
            return;
        }
        let pairs: Vec<_> = (k..to)
            .map(|i| (self.sum[i], words.get(i - k).copied()))
            .collect();
        // A sum that ends inside the added words takes the carry in a word that has room for it.
        let room = there < k + words.len() && there <= k + 1;
        let carry = (to < self.end && !room).then(|| self.words.fresh());
        let end = carry.map_or(End::Drop, |out| End::Carry { out });
        let sum = self.words.links(Sum::Add, pairs, end);
        for (slot, word) in self.sum[k..].iter_mut().zip(sum.into_iter().chain(carry)) {
            *slot = Some(word);
        }
    }
}
