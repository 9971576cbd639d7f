//! Rows whose every product has a factor with the top bit set: for multipliers that stop early at zeros.
//!
//! With `b' = b + 2^(w-1) t`, t 1 where the top bit of the word b is not set, a row is
//! `r + a b = r + a b' - (2^(w-1) a & mask)`, the mask ones where t is 1. So `n^2` products take one time, and `n (n + 1)`
//! masked subtractions more than operand scanning. What a row leaves is the product of a and the words of b so far, so no
//! borrow goes beyond it.
//!
//! Of a square, row j multiplies the words below a[j] twice, and a[j] by itself, all by `a[j]' = a[j] + 2^(w-1) t`:
//! what that adds is `2^w t` times the words up to a[j], each a word higher, and `2^(2w-2) t`, so nothing is shifted.

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
    ops: &[Op::Mul, Op::Sqr],
    parameters: &[],
    // Nothing else is slower: only who names it wants it.
    defaults: |_, _| Vec::new(),
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, _: &Params) -> Result<Schedule, MethodError> {
    if !facts.one_time {
        return Err(MethodError::InOneTime(METHOD.name));
    }
    let n = one_size(METHOD.name, spec, facts)?;
    let words = match spec.op {
        Op::Sqr => square(facts.word_bits, n),
        _ => rows(facts.word_bits, n),
    };
    Ok(Schedule::Words(Words {
        one_time: true,
        ..words
    }))
}

/// What makes words steady: the top bit, and ones.
struct Numbers {
    top: Word,
    ones: Word,
}

impl Numbers {
    fn of(words: &mut Words) -> Self {
        let bits = words.word_bits;
        Self {
            top: words.constant(1 << (bits - 1)),
            ones: words.constant(u64::MAX >> (64 - bits)),
        }
    }

    /// `x` with the top bit.
    fn steady(&self, words: &mut Words, x: Word) -> Word {
        let (y, out) = (self.top, words.fresh());
        words.push(WordStep::Or { x, y, out });
        out
    }

    /// Ones where the top bit of `x` is not set.
    fn mask(&self, words: &mut Words, x: Word) -> Word {
        let out = words.fresh();
        words.push(WordStep::Sign { x, out });
        words.xor(out, self.ones)
    }
}

/// `x` less `y` where the mask is ones; no borrow goes beyond it.
fn less(words: &mut Words, x: &[Word], y: &[Word], mask: Word) -> Vec<Word> {
    let out = words.fresh_words(x.len());
    let links = x.iter().zip(y).zip(&out).map(|((x, y), out)| Link {
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
    out
}

/// `a^2`: after row j the result is the square of the words up to a[j].
fn square(word_bits: u32, n: usize) -> Words {
    let mut words = Words::new(Op::Sqr, word_bits, &[n]);
    let a = words.operand(0);
    let numbers = Numbers::of(&mut words);
    let quarter = words.constant(1 << (word_bits - 2));
    let mut result: Vec<Word> = Vec::new();
    for j in 0..n {
        words.push(WordStep::Part(format!("row {j}")));
        let word = numbers.steady(&mut words, a[j]);
        let pile = |k: usize| Pile {
            products: (k == 2 * j).then_some((word, word)).into_iter().collect(),
            doubled: (k < 2 * j).then(|| (a[k - j], word)).into_iter().collect(),
            addends: result.get(k).copied().into_iter().collect(),
            ..Pile::default()
        };
        let row = words.sweep((j..2 * j + 2).map(pile).collect());
        let mask = numbers.mask(&mut words, a[j]);
        let upper = less(&mut words, &row[1..], &a[..=j], mask);
        let (below, highest) = upper.split_at(j);
        let highest = less(&mut words, highest, &[quarter], mask);
        result.truncate(j);
        result.push(row[0]);
        result.extend(below);
        result.extend(highest);
        let said = Claim::product(&result, &a[..=j], &a[..=j], &[]);
        words.claims.push(said);
    }
    words.result = result;
    words
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
    let numbers = Numbers::of(&mut words);
    let half = half(&mut words, &a);
    let mut result = Vec::new();
    let mut rest: Vec<Word> = Vec::new();
    for (j, factor) in b.iter().enumerate() {
        words.push(WordStep::Part(format!("row {j}")));
        let word = numbers.steady(&mut words, *factor);
        let piles = (0..=n).map(|k| Pile {
            products: a.get(k).map(|a| (*a, word)).into_iter().collect(),
            addends: rest.get(k).copied().into_iter().collect(),
            ..Pile::default()
        });
        let sum = words.sweep(piles.collect());
        let mask = numbers.mask(&mut words, *factor);
        let row = less(&mut words, &sum, &half, mask);
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
