//! Squaring by product scanning: column by column, what counts twice doubled in the accumulator.
//!
//! Seo, Kim 2014, section III: of the `s^2` products of a multiplication `(s^2 - s) / 2` come
//! twice. Column `k` is `2 sum_{i < k-i} A[i] A[k-i]`, and `A[k/2]^2` if `k` is even.

use super::{Method, MethodError, Params, diagonal, pairs, squaring};
use crate::facts::Facts;
use crate::schedule::{Pile, Schedule};
use crate::spec::{Op, Spec};

/// Squaring by product scanning.
pub static METHOD: Method = Method {
    name: "square-product-scanning",
    summary: "column by column, the products that come twice doubled in the accumulator",
    source: "Seo, Kim 2014, section III",
    ops: &[Op::Sqr],
    parameters: &[],
    defaults: |_, _| vec![Params::new()],
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, _: &Params) -> Result<Schedule, MethodError> {
    let (mut words, a) = squaring(spec, facts);
    // The last column only takes the carry.
    let column = |k: usize| Pile {
        doubled: pairs(&a, k, |_, _| true),
        products: diagonal(&a, k),
        ..Pile::default()
    };
    let piles = (0..2 * a.len()).map(column).collect();
    words.result = words.sweep(piles);
    Ok(Schedule::Words(words))
}
