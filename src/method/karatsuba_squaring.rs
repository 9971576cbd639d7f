//! Karatsuba's squaring: three squares of half the size.
//!
//! With `W = 2^(w l)`, `x = xl + W xh`, `L = xl^2`, `H = xh^2`, `T = |xl - xh|`:
//! `x^2 = L + W (L + H - T^2) + W^2 H`; with `Z = H + L_hi` it is
//! `L_lo + W (L_lo + Z - T^2) + W^2 Z`. The sign of the difference does not matter, so the
//! absolute value is taken under a mask, and nothing branches.

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
    parameters: &[Parameter {
        name: "levels",
        meaning: "levels of recursion",
    }],
    defaults: |spec, facts| {
        let [n, _] = spec.words(facts.word_bits);
        let most = usize::BITS - (n / 4).leading_zeros();
        (1..=most as usize)
            .map(|levels| Params::from([("levels", levels)]))
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
    f.result = square(&mut f, &a, &[], false, levels);
    Ok(Schedule::Words(f))
}

/// `x^2 + plus`, `2n` words, and one more if it may be longer.
fn square(f: &mut Words, x: &[Word], plus: &[Word], long: bool, levels: usize) -> Vec<Word> {
    let n = x.len();
    if levels == 0 || n < 2 {
        let column = |k: usize| Pile {
            doubled: pairs(x, k, |_, _| true),
            products: diagonal(x, k),
            addends: plus.get(k).copied().into_iter().collect(),
            ..Pile::default()
        };
        let piles = (0..2 * n + usize::from(long)).map(column).collect();
        return f.sweep(piles);
    }
    let levels = levels - 1;
    let low = n.div_ceil(2);
    let (xl, xh) = x.split_at(low);
    let high = n - low;
    f.push(WordStep::Part(format!("{n} words: L = xl^2")));
    let l = square(f, xl, &[], false, levels);
    claim(f, levels, &l, xl, &[]);
    let (l_lo, l_hi) = l.split_at(low);
    f.push(WordStep::Part(format!("{n} words: Z = xh^2 + L_hi")));
    let z = square(f, xh, l_hi, low > high, levels);
    claim(f, levels, &z, xh, l_hi);
    f.push(WordStep::Part(format!("{n} words: T = |xl - xh|")));
    let t = distance(f, xl, xh);

    // Y = L_lo + Z + W Z, its 2 low words; then less T^2.
    f.push(WordStep::Part(format!("{n} words: L_lo + Z + W Z")));
    let q: Vec<_> = l_lo.iter().chain(&z).copied().collect();
    let e = f.fresh();
    let z_low = &z[..z.len().min(2 * low)];
    let y = f.chain(Sum::Add, &q[..2 * low], z_low, End::Carry { out: e });
    f.push(WordStep::Part(format!("{n} words: T^2")));
    let m = square(f, &t, &[], false, levels);
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
        claim_before(f, &result, x);
        let beyond = f.fresh();
        let end = match long {
            true => End::Carry { out: beyond },
            false => End::Drop,
        };
        result = f.chain(Sum::Add, &result, plus, end);
        result.extend(long.then_some(beyond));
    }
    result
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
fn claim(f: &mut Words, levels: usize, words: &[Word], x: &[Word], plus: &[Word]) {
    if levels > 0 {
        f.claims.push(Claim::product(words, x, x, plus));
    }
}

/// Claims `words = x^2` where something is added to it next.
fn claim_before(f: &mut Words, words: &[Word], x: &[Word]) {
    f.claims.push(Claim::product(words, x, x, &[]));
}
