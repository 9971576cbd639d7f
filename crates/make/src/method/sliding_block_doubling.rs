//! Sliding block doubling: all products that come twice first, then one pass that doubles them.
//!
//! Seo et al., in Seo, Kim 2014, section III. `t = sum A[i] A[j] W^(i+j)`, `i < j`, in rows of `e`
//! words `A[i]` that stay while `A[j]` slides; then `2t + sum A[i]^2 W^(2i)`, `c` squares at a
//! time: they are multiplied, the words of `t` doubled in one chain and added in another, and
//! the two carries wait as masks.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::checked_parameters::positive;
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::method::square_terms::{pairs, squaring};
use crate::method::streamed::Streamed;
use crate::schedule::{End, Pile, Schedule, Sum, Word, Words};

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
fn triangle(words: &mut Words, a: &[Word], e: usize) -> Vec<Word> {
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
fn doubled(words: &mut Words, a: &[Word], t: &[Word], c: usize) -> Vec<Word> {
    let mut doubling = Doubling::new(&[]);
    let mut result = Vec::with_capacity(2 * a.len());
    for squares in a.chunks(c) {
        // Column k of 2 W t is word k - 1 of t; none below the first, none above the last.
        let first = result.len();
        let column = |k: usize| t.get(k.wrapping_sub(1)).copied();
        let t: Vec<_> = (first..first + 2 * squares.len()).map(column).collect();
        let end = (first + t.len() == 2 * a.len()).then_some(End::Drop);
        result.extend(doubling.next(words, &t, squares, end));
    }
    result
}

/// Words that are doubled as they come, squares added, and some words more.
pub(super) struct Doubling<'a> {
    twice: Streamed,
    sum: Streamed,
    more: Streamed,
    plus: &'a [Word],
}

impl<'a> Doubling<'a> {
    /// Nothing yet; `plus` ends before the last square.
    pub fn new(plus: &'a [Word]) -> Self {
        let [twice, sum, more] = [Sum::Add; 3].map(Streamed::new);
        Self {
            twice,
            sum,
            more,
            plus,
        }
    }

    /// The words of the next `squares`, twice those of `t` added; the last ones if `end` is given.
    pub fn next(
        &mut self,
        words: &mut Words,
        t: &[Option<Word>],
        squares: &[Word],
        end: Option<End>,
    ) -> Vec<Word> {
        let q: Vec<Word> = squares.iter().flat_map(|x| words.product(*x, *x)).collect();
        let q = self.more(words, q, end.is_some());
        // Nothing is below the first word.
        let nothing = match self.twice.waits() {
            false => t.iter().take_while(|t| t.is_none()).count(),
            true => 0,
        };
        let twice = t[nothing..].iter().map(|t| (*t, *t)).collect();
        let twice = match end {
            Some(_) => self.twice.last(words, twice, End::Drop),
            None => self.twice.next(words, twice),
        };
        let twice = std::iter::repeat_n(None, nothing).chain(twice.into_iter().map(Some));
        let sums = twice.zip(q).map(|(x, y)| (x, Some(y))).collect();
        match end {
            Some(end) => self.sum.last(words, sums, end),
            None => self.sum.next(words, sums),
        }
    }

    /// `q` and as many of the words more.
    fn more(&mut self, words: &mut Words, mut q: Vec<Word>, last: bool) -> Vec<Word> {
        let (now, later) = self.plus.split_at(q.len().min(self.plus.len()));
        self.plus = later;
        if now.is_empty() && !self.more.waits() {
            return q;
        }
        if now.is_empty() {
            // A square is at most W^2 - 2W + 1: it takes the carry.
            let rest = q.split_off(2);
            let pairs = q.into_iter().map(|q| (Some(q), None)).collect();
            q = self.more.last(words, pairs, End::Drop);
            q.extend(rest);
            return q;
        }
        let pairs = q.iter().enumerate();
        let pairs = pairs
            .map(|(i, q)| (Some(*q), now.get(i).copied()))
            .collect();
        match last {
            true => self.more.last(words, pairs, End::Drop),
            false => self.more.next(words, pairs),
        }
    }
}
