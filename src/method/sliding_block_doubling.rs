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
    let mut doubling = Doubling::default();
    let mut result = Vec::with_capacity(2 * a.len());
    for squares in a.chunks(c) {
        // Column k of 2 W t is word k - 1 of t; none below the first, none above the last.
        let first = result.len();
        let column = |k: usize| t.get(k.wrapping_sub(1)).copied();
        let t: Vec<_> = (first..first + 2 * squares.len()).map(column).collect();
        let last = first + t.len() == 2 * a.len();
        result.extend(doubling.next(words, &t, squares, last));
    }
    result
}

/// Words that are doubled as they come, and squares added; the carries between wait as masks.
#[derive(Default)]
pub(super) struct Doubling {
    twice: Option<Word>,
    sum: Option<Word>,
}

impl Doubling {
    /// The words of the next `squares`, twice those of `t` added; nothing comes after the `last`.
    pub fn next(
        &mut self,
        words: &mut Words,
        t: &[Option<Word>],
        squares: &[Word],
        last: bool,
    ) -> Vec<Word> {
        let q: Vec<Word> = squares.iter().flat_map(|x| words.product(*x, *x)).collect();
        // Nothing is below the first word.
        let nothing = match self.twice {
            None => t.iter().take_while(|t| t.is_none()).count(),
            Some(_) => 0,
        };
        let twice = t[nothing..].iter().map(|t| (*t, *t)).collect();
        let twice = carried(words, twice, &mut self.twice, last);
        let twice = std::iter::repeat_n(None, nothing).chain(twice.into_iter().map(Some));
        let sums = twice.zip(q).map(|(x, y)| (x, Some(y)));
        carried(words, sums.collect(), &mut self.sum, last)
    }
}

/// The next words of a sum whose carry waits as a mask; it is dropped after the `last`.
fn carried(
    words: &mut Words,
    pairs: Vec<(Option<Word>, Option<Word>)>,
    carry: &mut Option<Word>,
    last: bool,
) -> Vec<Word> {
    let out = words.fresh_words(pairs.len());
    let links = pairs.into_iter().zip(&out);
    let links = links.map(|((x, y), out)| Link::new(x, y, *out)).collect();
    let next = (!last).then(|| words.fresh());
    words.push(WordStep::Chain(Chain {
        sum: Sum::Add,
        carry: *carry,
        links,
        end: next.map_or(End::Drop, |out| End::Mask { out }),
    }));
    *carry = next;
    out
}
