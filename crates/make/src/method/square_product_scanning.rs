//! Squaring by product scanning: column by column, the products that count twice doubled in the accumulator or after
//! it.
//!
//! Seo, Kim 2014, section III: of the `s^2` products of a multiplication `(s^2 - s) / 2` come
//! twice. Column `k` is `2 sum_{i < k-i} A[i] A[k-i]`, and `A[k/2]^2` if `k` is even. Either the
//! accumulator doubles each column, or the sums leave it as they are and `2 c` words are doubled
//! at a time, while they are still in registers, and `c` squares added.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::loop_forms::as_scans;
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::method::sliding_block_doubling::Doubling;
use crate::method::square_terms::{diagonal, pairs, squaring};
use crate::schedule::{End, Pile, Schedule, Word, Words};

/// Squaring by product scanning.
pub static METHOD: Method = Method {
    name: "square-product-scanning",
    summary: "column by column, the products that come twice doubled in or behind the accumulator",
    source: "Seo, Kim 2014, section III",
    ops: &[Op::Sqr],
    parameters: &[
        Parameter {
            name: "c",
            meaning: "squares added to doubled words at a time, at least; 0: each column doubles on its own",
        },
        Parameter {
            name: "unroll",
            meaning: "pairs of products per pass of the inner loop (looped, rolled; c=0)",
        },
    ],
    defaults: |_, facts| match facts.in_scans() {
        true => vec![Params::from([("c", 0)])],
        false => [2, 1, 3, 0].map(|c| Params::from([("c", c)])).to_vec(),
    },
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let (mut words, a) = squaring(spec, facts);
    let c = params.get("c").copied().unwrap_or(0);
    words.result = match c {
        0 => words.sweep((0..2 * a.len()).map(|k| column(&a, k)).collect()),
        c => {
            let mut result = Vec::with_capacity(2 * a.len());
            let end = End::Drop;
            behind(&mut words, &a, &[], c, end, &mut |_, words| {
                result.extend(words)
            });
            result
        }
    };
    as_scans(METHOD.name, words, facts, params)
}

/// Column `k`, doubled in the accumulator. The last one only takes the carry.
pub(super) fn column(a: &[Word], k: usize) -> Pile {
    Pile {
        doubled: pairs(a, k, |_, _| true),
        products: diagonal(a, k),
        ..Pile::default()
    }
}

/// Words that the accumulator of a column holds beyond it: `s W^2` is less than `W^3`.
const BEYOND: usize = 2;

/// Takes words of a number as they come, the lowest first.
pub(super) type Sink<'a> = dyn FnMut(&mut Words, &[Word]) + 'a;

/// The square and `plus`, which ends before the last square: at least `c` squares at a time, behind
/// their columns of `sum A[i] A[j] W^(i+j)`, `i < j`.
pub(super) fn behind(
    words: &mut Words,
    a: &[Word],
    plus: &[Word],
    c: usize,
    end: End,
    sink: &mut Sink<'_>,
) {
    let s = a.len();
    let mut doubling = Doubling::new(plus);
    let mut first = 0;
    // What the accumulator still holds goes on in the next sweep.
    let mut rest: Vec<Word> = Vec::new();
    while first < 2 * s {
        // Where columns become shorter there is room for more.
        let count = c + first.saturating_sub(s) / 3;
        let squares = &a[first / 2..(first / 2 + count).min(s)];
        let next = first + 2 * squares.len();
        let end = (next == 2 * s).then_some(end);
        // Nothing is in column 0, and nothing comes as far as column 2s - 1.
        let columns = first.max(1)..next.min(2 * s - 1);
        let count = columns.len();
        let beyond = if end.is_some() { 0 } else { BEYOND };
        let pile = |(i, k): (usize, usize)| Pile {
            products: if i < count {
                pairs(a, k, |_, _| true)
            } else {
                vec![]
            },
            addends: rest.get(i).copied().into_iter().collect(),
            ..Pile::default()
        };
        let piles = (columns.start..columns.end + beyond).enumerate().map(pile);
        let mut t = words.sweep(piles.collect());
        rest = t.split_off(count);
        let column = |k: usize| t.get(k.wrapping_sub(columns.start)).copied();
        let t: Vec<_> = (first..next).map(column).collect();
        let made = doubling.next(words, &t, squares, end);
        sink(words, &made);
        first = next;
    }
}
