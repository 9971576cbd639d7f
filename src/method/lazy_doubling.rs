//! Lazy doubling: what comes twice is collected over a column of blocks and doubled once.
//!
//! Lee et al. 2012, in Seo, Kim 2014, section III, figure 3(c). The words are cut into blocks of
//! `d`. Column `K` of blocks collects `u = sum A[i] A[j]`, `i < j`, over the blocks `I + J = K`;
//! then `2u`, the squares of block `K/2` and what column `K-1` left over are added.

use super::{Method, MethodError, Parameter, Params, diagonal, pairs, positive, squaring};
use crate::facts::Facts;
use crate::schedule::{End, Pile, Schedule, Sum, Word};
use crate::spec::{Op, Spec};

/// Lazy doubling.
pub static METHOD: Method = Method {
    name: "lazy-doubling",
    summary: "columns of d x d blocks, doubled when a column is collected",
    source: "Lee et al. 2012, in Seo, Kim 2014, figure 3(c)",
    ops: &[Op::Sqr],
    parameters: &[Parameter {
        name: "d",
        meaning: "words of a block's side",
    }],
    defaults: |spec, facts| {
        let [s, _] = spec.words(facts.word_bits);
        (1..=s.min(6)).map(|d| Params::from([("d", d)])).collect()
    },
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let d = positive(METHOD.name, "d", params)?;
    let (mut words, a) = squaring(spec, facts);
    let s = a.len();
    if d > s {
        return Err(MethodError::TooLarge {
            method: METHOD.name,
            parameter: "d",
            value: d,
            largest: s,
        });
    }
    let blocks = s.div_ceil(d);
    let mut result: Vec<Word> = Vec::with_capacity(2 * s);
    for column in 0..2 * blocks - 1 {
        let first = column * d;
        // Two words to every pair of words of a block, and one for what the blocks add up to.
        let end = (first + 2 * d + 1).min(2 * s);
        let collected = |k: usize| Pile {
            products: pairs(&a, k, |i, j| i / d + j / d == column),
            ..Pile::default()
        };
        let u = words.sweep((first..end).map(collected).collect());
        let twice = words.chain(Sum::Add, &u, &u, End::Drop);
        let total = |k: usize| {
            let mut products = diagonal(&a, k);
            products.retain(|_| 2 * (k / 2 / d) == column);
            let addends = [Some(twice[k - first]), result.get(k).copied()];
            Pile {
                products,
                addends: addends.into_iter().flatten().collect(),
                ..Pile::default()
            }
        };
        let sums = words.sweep((first..end).map(total).collect());
        result.truncate(first);
        result.extend(sums);
    }
    words.result = result;
    Ok(Schedule::Words(words))
}
