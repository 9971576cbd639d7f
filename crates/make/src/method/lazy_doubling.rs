//! Lazy doubling: the products that count twice are summed over a column of blocks, and the sum is doubled once.
//!
//! Lee et al. 2012, in Seo, Kim 2014, section III, figure 3(c). The words are cut into blocks of
//! `d`. Column `K` of blocks collects `u = sum A[i] A[j]`, `i < j`, over the blocks `I + J = K`;
//! then `2u`, what column `K-1` left over and the squares of block `K/2` are added.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::checked_parameters::positive;
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::method::square_terms::{pairs, squaring};
use crate::schedule::{Chain, End, Link, Pile, Schedule, Sum, Word, WordStep, Words};

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
    let mut result: Vec<Option<Word>> = vec![None; 2 * s];
    for column in 0..2 * blocks - 1 {
        let first = column * d;
        // Two words to every pair of words of a block, and one for what the blocks add up to.
        let end = (first + 2 * d + 1).min(2 * s);
        let mut sum = collected(&mut words, &a, first..end, |i, j| i / d + j / d == column);
        if sum.iter().any(Option::is_some) {
            sum = plus(&mut words, &sum, &sum);
        }
        sum = plus(&mut words, &sum, &result[first..end]);
        if column % 2 == 0 {
            let block = first / 2..(first / 2 + d).min(s);
            let squares = block.flat_map(|i| words.product(a[i], a[i]).map(Some));
            let squares: Vec<_> = squares.collect();
            sum = plus(&mut words, &sum, &squares);
        }
        result[first..end].copy_from_slice(&sum);
    }
    words.result = result.into_iter().flatten().collect();
    Ok(Schedule::Words(words))
}

/// The words of `columns`, from the first that has a product on.
fn collected(
    words: &mut Words,
    a: &[Word],
    columns: std::ops::Range<usize>,
    kept: impl Fn(usize, usize) -> bool,
) -> Vec<Option<Word>> {
    let all: Vec<_> = columns.map(|k| pairs(a, k, &kept)).collect();
    let empty = all
        .iter()
        .take_while(|products| products.is_empty())
        .count();
    let piles = all[empty..].iter().map(|products| Pile {
        products: products.clone(),
        ..Pile::default()
    });
    let out = words.sweep(piles.collect());
    let before = std::iter::repeat_n(None, empty);
    before.chain(out.into_iter().map(Some)).collect()
}

/// `x + y`, as long as `x`; words that are not there are 0. One chain from where they meet.
fn plus(words: &mut Words, x: &[Option<Word>], y: &[Option<Word>]) -> Vec<Option<Word>> {
    let at = |list: &[Option<Word>], k: usize| list.get(k).copied().flatten();
    let meets = |k: &usize| at(x, *k).is_some() && at(y, *k).is_some();
    let meet = (0..x.len()).find(meets).unwrap_or(x.len());
    let mut sum: Vec<_> = (0..meet).map(|k| at(x, k).or(at(y, k))).collect();
    let out = words.fresh_words(x.len() - meet);
    let link = |(i, out): (usize, &Word)| Link::new(at(x, meet + i), at(y, meet + i), *out);
    let links: Vec<_> = out.iter().enumerate().map(link).collect();
    if !links.is_empty() {
        words.push(WordStep::Chain(Chain {
            sum: Sum::Add,
            carry: None,
            links,
            end: End::Drop,
        }));
    }
    sum.extend(out.into_iter().map(Some));
    sum
}
