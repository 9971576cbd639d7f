//! The two strategies of the hybrid method exchanged: row-wise outside, column-wise inside.
//!
//! `d` words of A stay in registers while B slides past them, one word to a column: a band of
//! the rhombus, `n + d` columns long. All bands are alike, and so are the columns of a band in
//! which `d` products meet, so that the loops need little code. Every band adds to what is
//! there; at first there is 0, and two words above a band are 0 before it comes.
//!
//! Loads `n + n/d (n + n + 2)`, stores `n + n/d (n + d + 2)`, where `d` divides `n`.

use spec::{Op, Spec};

use crate::facts::{Facts, Style};
use crate::method::checked_parameters::{one_size, positive};
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::schedule::{Block, Blocks, Column, ColumnBlock, Part, Product, Schedule};

/// Bands of `d` words.
pub static METHOD: Method = Method {
    name: "reverse-hybrid",
    summary: "in loops: bands of d words of A, past which B slides; rows outside, columns inside",
    source: "Gura et al. 2004, section 3.3, with rows and columns exchanged",
    ops: &[Op::Mul],
    parameters: &[
        Parameter {
            name: "d",
            meaning: "words of A kept in registers",
        },
        Parameter {
            name: "unroll",
            meaning: "columns per pass of a loop (looped, rolled)",
        },
    ],
    defaults: |spec, facts| match facts.style {
        Style::Unrolled => Vec::new(),
        _ => widths(spec, facts),
    },
    schedule,
};

/// `-p d=...`, as many as fit.
pub(super) fn widths(spec: &Spec, facts: &Facts) -> Vec<Params> {
    let [n, _] = spec.words(facts.word_bits);
    let mut sizes: Vec<_> = (2..=largest(facts).min(n)).rev().collect();
    // A last, narrower band is code of its own.
    sizes.sort_by_key(|d| !n.is_multiple_of(*d));
    if sizes.is_empty() {
        sizes.push(1);
    }
    let set = |d| Params::from([("d", d)]);
    sizes.into_iter().map(set).collect()
}

/// The most words of A, where registers count bands and columns.
pub(super) fn largest(facts: &Facts) -> usize {
    facts.operand_registers().saturating_sub(LOOP_REGISTERS) / 2
}

/// Two counters, and what the accumulator needs more where its place is fixed.
pub(super) const LOOP_REGISTERS: usize = 3;

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let method = METHOD.name;
    let n = one_size(method, spec, facts)?;
    // Unrolled it is operand caching with more loads.
    if facts.style == Style::Unrolled {
        return Err(MethodError::OnlyLoops(method));
    }
    let d = positive(method, "d", params)?;
    let largest = largest(facts);
    if d > largest {
        return Err(MethodError::TooLarge {
            method,
            parameter: "d",
            value: d,
            largest,
        });
    }
    let unroll = params.get("unroll").copied();
    Ok(crate::method::loop_forms::in_loops(
        facts.style,
        bands(n, d),
        unroll,
    ))
}

/// The bands of a product, the narrower one first.
pub(super) fn bands(n: usize, d: usize) -> Blocks {
    let mut blocks = vec![clear(0..n)];
    let mut start = 0;
    while start < n {
        let width = match (n - start) % d {
            0 => d,
            rest => rest,
        };
        let top = n + start;
        blocks.push(clear(top..top + width.min(2)));
        blocks.push(band(n, start, width));
        start += width;
    }
    Blocks { n, blocks }
}

/// Words that become 0.
pub(super) fn clear(words: std::ops::Range<usize>) -> Block {
    let column = |index| Column {
        index,
        ..Column::default()
    };
    Block::Columns(ColumnBlock {
        part: Part::Clear,
        columns: words.map(column).collect(),
    })
}

/// `A[start .. start + width] * B`, added to what is there.
fn band(n: usize, start: usize, width: usize) -> Block {
    let column = |k: usize| {
        let rows = (k + 1).saturating_sub(n)..width.min(k + 1);
        let mut products: Vec<_> = rows
            .map(|i| Product {
                a: start + i,
                b: k - i,
                load_a: i == k,
                load_b: i == 0,
            })
            .collect();
        // A word that is loaded takes the place of one that dies: use the new one last.
        products.sort_by_key(|p| p.load_a || p.load_b);
        Column {
            index: start + k,
            reload: k < n + width.min(2),
            products,
        }
    };
    Block::Columns(ColumnBlock {
        part: Part::Row(start / width),
        columns: (0..n + width).map(column).collect(),
    })
}
