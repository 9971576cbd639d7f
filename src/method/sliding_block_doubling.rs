//! Sliding block doubling: all products that come twice first, then one pass that doubles them.
//!
//! Seo et al., in Seo, Kim 2014, section III. `t = sum A[i] A[j] W^(i+j)`, `i < j`, in rows of `e`
//! words `A[i]` that stay while `A[j]` slides; then `2t + sum A[i]^2 W^(2i)`, `c` squares at a
//! time: they are multiplied, the words of `t` doubled in one chain and added in another, and
//! the two carries wait as masks.

use super::{Method, MethodError, Parameter, Params, pairs, positive, squaring};
use crate::facts::Facts;
use crate::schedule::{Chain, End, Link, Pile, Schedule, Sum, Word, WordStep, Words};
use crate::spec::{Op, Spec};

/// Sliding block doubling.
pub static METHOD: Method = Method {
    name: "sliding-block-doubling",
    summary: "rows of e words, all doubled and the squares added in one pass at the end",
    source: "Seo et al., in Seo, Kim 2014, section III",
    ops: &[Op::Sqr],
    parameters: &[
        Parameter {
            name: "e",
            meaning: "words of a row that stay",
        },
        Parameter {
            name: "c",
            meaning: "squares added at a time",
        },
    ],
    defaults: |spec, facts| {
        let [s, _] = spec.words(facts.word_bits);
        let rows = [2, 4, 6, 8, 10, s].into_iter().filter(|e| *e <= s);
        let sets = rows.flat_map(|e| [2, 4].map(|c| Params::from([("e", e), ("c", c.min(s))])));
        let mut sets: Vec<_> = sets.collect();
        sets.dedup();
        sets
    },
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let (mut words, a) = squaring(spec, facts);
    for parameter in ["e", "c"] {
        let value = positive(METHOD.name, parameter, params)?;
        if value > a.len() {
            return Err(MethodError::TooLarge {
                method: METHOD.name,
                parameter,
                value,
                largest: a.len(),
            });
        }
    }
    let t = triangle(&mut words, &a, params["e"]);
    words.result = doubled(&mut words, &a, &t, params["c"]);
    Ok(Schedule::Words(words))
}

/// The words of `t` from column 1 to `2s - 2`.
pub(super) fn triangle(words: &mut Words, a: &[Word], e: usize) -> Vec<Word> {
    let s = a.len();
    let mut t: Vec<Word> = Vec::with_capacity(2 * s);
    for first in (0..s - 1).step_by(e) {
        let rows = first..(first + e).min(s - 1);
        // A[i], i < rows.end, times all of a: below W^(rows.end + s).
        let columns = 2 * first + 1..(rows.end + s).min(2 * s - 1);
        let pile = |k: usize| Pile {
            products: pairs(a, k, |i, _| rows.contains(&i)),
            addends: t.get(k - 1).copied().into_iter().collect(),
            ..Pile::default()
        };
        let row = words.sweep(columns.map(pile).collect());
        t.truncate(2 * first);
        t.extend(row);
    }
    t
}

/// `2 W t + sum A[i]^2 W^(2i)`, `c` squares at a time.
pub(super) fn doubled(words: &mut Words, a: &[Word], t: &[Word], c: usize) -> Vec<Word> {
    let mut result = Vec::with_capacity(2 * a.len());
    let (mut carry_twice, mut carry_sum) = (None, None);
    for (chunk, squares) in a.chunks(c).enumerate() {
        let first = 2 * c * chunk;
        let q: Vec<Word> = squares.iter().flat_map(|x| words.product(*x, *x)).collect();
        // Column k of 2 W t is word k - 1 of t; none below the first, none above the last.
        let t_words: Vec<_> = (first..first + q.len())
            .map(|k| t.get(k.wrapping_sub(1)).copied())
            .collect();
        let last = result.len() + q.len() == 2 * a.len();
        let mut chained = |links: Vec<(Option<Word>, Option<Word>)>, carry: &mut Option<Word>| {
            let out = words.fresh_words(links.len());
            let links = links.into_iter().zip(&out);
            let links = links.map(|((x, y), out)| Link::new(x, y, *out)).collect();
            let (end, next) = match last {
                true => (End::Drop, None),
                false => {
                    let out = words.fresh();
                    (End::Mask { out }, Some(out))
                }
            };
            words.push(WordStep::Chain(Chain {
                sum: Sum::Add,
                carry: *carry,
                links,
                end,
            }));
            *carry = next;
            out
        };
        let twice = chained(t_words.iter().map(|t| (*t, *t)).collect(), &mut carry_twice);
        let sums = twice.iter().zip(&q).map(|(x, y)| (Some(*x), Some(*y)));
        result.extend(chained(sums.collect(), &mut carry_sum));
    }
    result
}
