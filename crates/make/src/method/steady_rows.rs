//! Rows whose every product has a factor with the top bit set: for multipliers that stop early at zeros.
//!
//! With `b' = b + 2^(w-1) t`, t 1 where the top bit of the word b is not set, a row is
//! `r + a b = r + a b' - (2^(w-1) a & mask)`, the mask ones where t is 1. So `n^2` products take one time, and `n (n + 1)`
//! masked subtractions more than operand scanning. What a row leaves is the product of a and the words of b so far, so no
//! borrow goes beyond it.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::checked_parameters::one_size;
use crate::method::signature::{Method, MethodError, Params};
use crate::schedule::{Chain, Claim, End, Link, Pile, Schedule, Sum, Word, WordStep, Words};

/// Rows of products in one time.
pub static METHOD: Method = Method {
    name: "steady-rows",
    summary: "row by row, each product with a factor whose top bit is set: one time where a multiplier stops early",
    source: "operand scanning; what setting a bit adds is taken out again",
    ops: &[Op::Mul],
    parameters: &[],
    // Nothing else is slower: only who names it wants it.
    defaults: |_, _| Vec::new(),
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, _: &Params) -> Result<Schedule, MethodError> {
    let n = one_size(METHOD.name, spec, facts)?;
    Ok(Schedule::Words(rows(facts.word_bits, n)))
}

/// `a * 2^(w-1)`: a word more.
fn half(words: &mut Words, a: &[Word]) -> Vec<Word> {
    let zero = words.constant(0);
    let mut half = Vec::new();
    for k in 0..=a.len() {
        let x = if k == 0 { zero } else { a[k - 1] };
        let out = words.fresh();
        words.push(WordStep::Right {
            x,
            above: a.get(k).copied(),
            out,
        });
        half.push(out);
    }
    half
}

fn rows(word_bits: u32, n: usize) -> Words {
    let mut words = Words::new(Op::Mul, word_bits, &[n, n]);
    let (a, b) = (words.operand(0), words.operand(1));
    let top = words.constant(1 << (word_bits - 1));
    let ones = words.constant(u64::MAX >> (64 - word_bits));
    let half = half(&mut words, &a);
    let mut result = Vec::new();
    let mut rest: Vec<Word> = Vec::new();
    for (j, factor) in b.iter().enumerate() {
        words.push(WordStep::Part(format!("row {j}")));
        let steady = words.fresh();
        words.push(WordStep::Or {
            x: *factor,
            y: top,
            out: steady,
        });
        let piles = (0..=n).map(|k| Pile {
            products: a.get(k).map(|a| (*a, steady)).into_iter().collect(),
            addends: rest.get(k).copied().into_iter().collect(),
            ..Pile::default()
        });
        let sum = words.sweep(piles.collect());
        let sign = words.fresh();
        words.push(WordStep::Sign {
            x: *factor,
            out: sign,
        });
        let mask = words.xor(sign, ones);
        let row = words.fresh_words(n + 1);
        let links = sum.iter().zip(&half).zip(&row);
        let links = links.map(|((x, y), out)| Link {
            mask: Some(mask),
            ..Link::new(Some(*x), Some(*y), *out)
        });
        let links = links.collect();
        words.push(WordStep::Chain(Chain {
            sum: Sum::Sub,
            carry: None,
            links,
            end: End::Drop,
        }));
        words
            .claims
            .push(Claim::product(&row, &a, &[*factor], &rest));
        result.push(row[0]);
        rest = row[1..].to_vec();
    }
    result.extend(rest);
    words.result = result;
    words
}
