//! Karatsuba's squaring: three squares of half the size.
//!
//! With `W = 2^(w l)`, `x = xl + W xh`, `L = xl^2`, `H = xh^2`, `T = |xl - xh|`:
//! `x^2 = L + W (L + H - T^2) + W^2 H`; with `Z = H + L_hi` it is
//! `L_lo + W (L_lo + Z - T^2) + W^2 Z`. The sign of the difference does not matter, so the
//! absolute value is taken under a mask, and nothing branches.

use super::sliding_block_doubling::{doubled, triangle};
use super::{Method, MethodError, Parameter, Params, diagonal, pairs, positive, squaring};
use crate::facts::Facts;
use crate::schedule::{
    Chain, Claim, End, Link, Magnitude, Pile, Schedule, Sum, Term, Word, WordStep, Words,
};
use crate::spec::{Op, Spec};

/// Karatsuba squaring.
pub static METHOD: Method = Method {
    name: "karatsuba-squaring",
    summary: "three squares of half the size, recursively, without branches",
    source: "Seo, Liu, Choi, Kim 2014; Hutter, Schwabe 2014",
    ops: &[Op::Sqr],
    parameters: &[
        Parameter {
            name: "levels",
            meaning: "levels of recursion",
        },
        Parameter {
            name: "c",
            meaning: "squares doubled at a time at the end of a base square; 0: column by column",
        },
    ],
    defaults: |spec, facts| {
        let [n, _] = spec.words(facts.word_bits);
        // Squares of 4 to 24 words at the bottom, doubled as is usually best.
        (1..8)
            .map(|levels| (levels, n.div_ceil(1 << levels)))
            .filter(|(_, bottom)| (4..=24).contains(bottom))
            .map(|(levels, bottom)| {
                let c = if bottom > 10 { 0 } else { 2 };
                Params::from([("levels", levels), ("c", c)])
            })
            .collect()
    },
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let levels = positive(METHOD.name, "levels", params)?;
    let (mut f, a) = squaring(spec, facts);
    let largest = a.len().ilog2() as usize;
    if levels > largest {
        return Err(MethodError::TooLarge {
            method: METHOD.name,
            parameter: "levels",
            value: levels,
            largest,
        });
    }
    let c = params.get("c").copied().unwrap_or(0);
    f.result = square(&mut f, &a, &[], false, Plan { levels, c });
    Ok(Schedule::Words(f))
}

/// How the recursion goes on.
#[derive(Clone, Copy)]
struct Plan {
    levels: usize,
    /// Squares that are doubled at a time, or 0.
    c: usize,
}

/// `x^2 + plus`, `2n` words, and one more if it may be longer.
fn square(f: &mut Words, x: &[Word], plus: &[Word], long: bool, plan: Plan) -> Vec<Word> {
    let n = x.len();
    if (plan.levels == 0 || n < 2) && plan.c > 0 && n > 1 {
        let t = triangle(f, x, n);
        let result = doubled(f, x, &t, plan.c);
        return add(f, result, plus, long);
    }
    if plan.levels == 0 || n < 2 {
        let column = |k: usize| Pile {
            doubled: pairs(x, k, |_, _| true),
            products: diagonal(x, k),
            addends: plus.get(k).copied().into_iter().collect(),
            ..Pile::default()
        };
        let piles = (0..2 * n + usize::from(long)).map(column).collect();
        return f.sweep(piles);
    }
    let plan = Plan {
        levels: plan.levels - 1,
        ..plan
    };
    let low = n.div_ceil(2);
    let (xl, xh) = x.split_at(low);
    let high = n - low;
    f.push(WordStep::Part(format!("{n} words: L = xl^2")));
    let l = square(f, xl, &[], false, plan);
    claim(f, plan, &l, xl, &[]);
    let (l_lo, l_hi) = l.split_at(low);
    f.push(WordStep::Part(format!("{n} words: Z = xh^2 + L_hi")));
    let z = square(f, xh, l_hi, low > high, plan);
    claim(f, plan, &z, xh, l_hi);
    f.push(WordStep::Part(format!("{n} words: T = |xl - xh|")));
    let t = distance(f, xl, xh);

    // Y = L_lo + Z + W Z, its 2 low words; then less T^2.
    f.push(WordStep::Part(format!("{n} words: L_lo + Z + W Z")));
    let q: Vec<_> = l_lo.iter().chain(&z).copied().collect();
    let e = f.fresh();
    let z_low = &z[..z.len().min(2 * low)];
    let y = f.chain(Sum::Add, &q[..2 * low], z_low, End::Carry { out: e });
    f.push(WordStep::Part(format!("{n} words: T^2")));
    let m = square(f, &t, &[], false, plan);
    f.claims.push(Claim::product(&m, &t, &t, &[]));
    f.push(WordStep::Part(format!("{n} words: - T^2")));
    let less = f.fresh();
    let u = f.chain(Sum::Sub, &y, &m, End::Into { x: e, out: less });
    let mut result = [l_lo, &u].concat();
    let top = &z[low..2 * high];
    if !top.is_empty() {
        let ext = f.fresh();
        f.push(WordStep::Sign { x: less, out: ext });
        let mut signed = vec![ext; top.len()];
        signed[0] = less;
        let sum = f.chain(Sum::Add, top, &signed, End::Drop);
        result.extend(sum);
    }
    if !plus.is_empty() {
        f.claims.push(Claim::product(&result, x, x, &[]));
    }
    add(f, result, plus, long)
}

/// `words + plus`, and one more if it may be longer.
fn add(f: &mut Words, words: Vec<Word>, plus: &[Word], long: bool) -> Vec<Word> {
    if plus.is_empty() {
        return words;
    }
    let beyond = f.fresh();
    let end = match long {
        true => End::Carry { out: beyond },
        false => End::Drop,
    };
    let mut words = f.chain(Sum::Add, &words, plus, end);
    words.extend(long.then_some(beyond));
    words
}

/// `|x - y|`: the difference, and where it is negative its complement and one more.
fn distance(f: &mut Words, x: &[Word], y: &[Word]) -> Vec<Word> {
    let mask = f.fresh();
    let difference = f.chain(Sum::Sub, x, y, End::Mask { out: mask });
    let out = f.fresh_words(x.len());
    let links = difference.iter().zip(&out).map(|(d, out)| Link {
        flip: Some(mask),
        ..Link::new(Some(*d), Some(mask), *out)
    });
    f.push(WordStep::Chain(Chain {
        sum: Sum::Sub,
        carry: None,
        links: links.collect(),
        end: End::Drop,
    }));
    let number = |negative: bool, x: &[Word]| Term {
        negative,
        shift: 0,
        x: x.to_vec(),
        y: Vec::new(),
    };
    f.claims.push(Claim {
        words: out.clone(),
        terms: vec![number(false, x), number(true, y)],
        magnitude: Some(Magnitude {
            wrapped: difference,
            mask,
        }),
    });
    out
}

/// Claims `words = x^2 + plus`, where the square is not one sweep.
fn claim(f: &mut Words, plan: Plan, words: &[Word], x: &[Word], plus: &[Word]) {
    if plan.levels > 0 || plan.c > 0 {
        f.claims.push(Claim::product(words, x, x, plus));
    }
}
