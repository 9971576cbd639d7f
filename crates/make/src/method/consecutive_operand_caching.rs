//! Consecutive operand caching: rows of operand caching, each starting with words the last one kept.
//!
//! Seo, Kim, "Multi-precision multiplication for public-key cryptography on embedded
//! microprocessors", WISA 2012; in Seo, Kim 2014, section II. Both operands are cut into `R`
//! blocks of `e` words, `m` words (`n = (R-1) e + m`, `1 <= m <= e`) in the first block of `B` and
//! the last of `A`. Row 0 is `A_(R-1) * B_0`. Row `p = 1 ... R-1` goes from `A_0` up to
//! `A_(R-1-p)` with `B_(p-1)` kept, which is where row `p-1` ended; then that block of `A` stays
//! while `B` slides on to `B_p`, which is kept for the rest of `A`.
//!
//! Loads `2 n + n + 2m - e`, stores `(R+1) n - e + m`: of the loads of operand caching,
//! `(R-1) e` less where `e` divides `n`.

use std::ops::Range;

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::checked_parameters::{cached_words, one_size};
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::schedule::{Block, Blocks, Column, ColumnBlock, Part, Product, Schedule};

/// Consecutive operand caching.
pub static METHOD: Method = Method {
    name: "consecutive-operand-caching",
    summary: "operand caching whose rows start with the words the last row kept",
    source: "Seo, Kim, WISA 2012, in Seo, Kim 2014, section II",
    ops: &[Op::Mul],
    parameters: &[Parameter {
        name: "e",
        meaning: "words of each operand kept in registers",
    }],
    defaults: |spec, facts| {
        let [n, _] = spec.words(facts.word_bits);
        (1..=(facts.operand_registers() / 2).min(n))
            .rev()
            .map(|e| Params::from([("e", e)]))
            .collect()
    },
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let n = one_size(METHOD.name, spec, facts)?;
    let e = cached_words(METHOD.name, facts, params)?;
    let count = n.div_ceil(e);
    let m = n - (count - 1) * e;
    // Block i of A is e words from i e, block j of B ends at j e + m.
    let a_block = |i: usize| i * e..((i + 1) * e).min(n);
    let b_block = |j: usize| (j * e + m).saturating_sub(e)..j * e + m;
    let mut rows = Rows {
        stored: vec![false; 2 * n],
        blocks: Vec::with_capacity(count),
    };
    let first = CachedRow {
        n,
        low: 0..0,
        high: b_block(0),
        turn: a_block(count - 1),
    };
    rows.push(0, &first);
    for p in 1..count {
        let row = CachedRow {
            n,
            low: b_block(p - 1),
            high: b_block(p),
            turn: a_block(count - 1 - p),
        };
        rows.push(p, &row);
    }
    Ok(Schedule::Blocks(Blocks {
        n,
        blocks: rows.blocks,
    }))
}

/// `A[0 .. turn.end] * B[low]` and `A[turn.start .. n] * B[high]`, the words of `low` still in
/// registers.
struct CachedRow {
    n: usize,
    low: Range<usize>,
    high: Range<usize>,
    turn: Range<usize>,
}

impl CachedRow {
    /// The row's products in column `k`: indices of A and B.
    fn column(&self, k: usize) -> Vec<(usize, usize)> {
        let within = |j: &usize, range: Range<usize>| k >= *j && range.contains(&(k - *j));
        let low = self.low.clone().filter(|j| within(j, 0..self.turn.end));
        let high = self
            .high
            .clone()
            .filter(|j| within(j, self.turn.start..self.n));
        low.chain(high).map(|j| (k - j, j)).collect()
    }

    /// Its columns.
    fn columns(&self) -> Range<usize> {
        let first = match self.low.is_empty() {
            true => self.turn.start + self.high.start,
            false => self.low.start,
        };
        first..self.n + self.high.end
    }
}

/// Rows so far, and which columns they stored.
struct Rows {
    stored: Vec<bool>,
    blocks: Vec<Block>,
}

impl Rows {
    fn push(&mut self, p: usize, row: &CachedRow) {
        let mut there = [vec![false; row.n], vec![false; row.n]];
        there[1][row.low.clone()].fill(true);
        let mut load = |side: usize, i: usize| !std::mem::replace(&mut there[side][i], true);
        let columns = row.columns().map(|index| {
            let mut products: Vec<_> = row
                .column(index)
                .into_iter()
                .map(|(a, b)| Product {
                    a,
                    b,
                    load_a: load(0, a),
                    load_b: load(1, b),
                })
                .collect();
            // A word that is loaded takes the place of one that dies: use the new one last.
            products.sort_by_key(|p| p.load_a || p.load_b);
            Column {
                index,
                reload: std::mem::replace(&mut self.stored[index], true),
                products,
            }
        });
        self.blocks.push(Block::Columns(ColumnBlock {
            part: Part::Row(p),
            columns: columns.collect(),
        }));
    }
}
