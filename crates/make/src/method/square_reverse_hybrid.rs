//! Bands of a square: `d` words of A stay in registers while the words above them slide past.
//!
//! Only products of different words, once each; then everything is doubled and the squares of
//! the words are added, word by word: `2 (sum A[i] A[j] 2^(w (i + j))) + sum A[i]^2 2^(2 w i)`.
//! From band to band `d` columns are gone. A band adds to what is there, as in
//! [`crate::method::reverse_hybrid`].

use spec::{Op, Spec};

use crate::facts::{Facts, Style};
use crate::method::checked_parameters::positive;
use crate::method::reverse_hybrid;
use crate::method::reverse_hybrid::clear;
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::schedule::{Block, Blocks, Column, ColumnBlock, Loops, Part, Product, Schedule};

/// Bands of `d` words.
pub static METHOD: Method = Method {
    name: "square-reverse-hybrid",
    summary: "in loops: bands of d words, past which those above slide; doubled at the end",
    source: "new here; the order of reverse-hybrid",
    ops: &[Op::Sqr],
    parameters: &[
        Parameter {
            name: "d",
            meaning: "words kept in registers",
        },
        Parameter {
            name: "unroll",
            meaning: "columns per pass of a loop, a divisor of d",
        },
    ],
    defaults: |spec, facts| match facts.style {
        Style::Unrolled => Vec::new(),
        _ => reverse_hybrid::widths(spec, facts),
    },
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let method = METHOD.name;
    let [n, _] = spec.words(facts.word_bits);
    if facts.style == Style::Unrolled {
        return Err(MethodError::OnlyLoops(method));
    }
    let d = positive(method, "d", params)?;
    let largest = reverse_hybrid::largest(facts);
    if d > largest {
        return Err(MethodError::TooLarge {
            method,
            parameter: "d",
            value: d,
            largest,
        });
    }
    let unroll = params.get("unroll").copied();
    let loops = Loops::of(facts.style, triangle(n, d), true, unroll);
    loops
        .map(Schedule::Loops)
        .ok_or(MethodError::OnlyLoops(method))
}

/// The products of different words, and 0 above them.
pub(super) fn triangle(n: usize, d: usize) -> Blocks {
    let above = d.min(2);
    let mut blocks = vec![clear(0..(n + above).min(2 * n - 1))];
    let mut start = 0;
    while n - start > d {
        blocks.push(band(n, start, d, above));
        let top = n + start + d;
        blocks.push(clear(top..(top + above).min(2 * n - 1)));
        start += d;
    }
    blocks.push(band(n, start, n - start, above));
    Blocks { n, blocks }
}

/// `A[start + i] * A[start + j]`, `i < width`, `i < j`, added to what is there, of which there are
/// `above` words above the last word of A.
fn band(n: usize, start: usize, width: usize, above: usize) -> Block {
    let left = n - start;
    let column = |k: usize| {
        let rows = (k + 1).saturating_sub(left)..width.min(k.div_ceil(2));
        let mut products: Vec<_> = rows
            .map(|i| Product {
                a: start + i,
                b: start + k - i,
                // With the word that follows it first.
                load_a: k == 2 * i + 1,
                load_b: i == 0,
            })
            .collect();
        products.sort_by_key(|p| p.load_a || p.load_b);
        let index = 2 * start + k;
        Column {
            index,
            reload: k < left + above && index < 2 * n - 1,
            products,
        }
    };
    Block::Columns(ColumnBlock {
        part: Part::Row(start / width.max(1)),
        columns: (1..left + width).map(column).collect(),
    })
}
