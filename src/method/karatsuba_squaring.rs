//! Karatsuba's squaring: three squares of half the size.
//!
//! With `W = 2^(w l)`, `x = xl + W xh`, `L = xl^2`, `H = xh^2`, `T = |xl - xh|`:
//! `x^2 = L + W (L + H - T^2) + W^2 H`; with `Z = H + L_hi` it is
//! `L_lo + W (L_lo + Z - T^2) + W^2 Z`. The sign of the difference does not matter, so the
//! absolute value is taken under a mask, and nothing branches.
//!
//! `T^2` comes first. What the words of `L` and then of `Z` are needed for is done as they come,
//! while they are in registers: `L_lo - T^2`, to which `Z` is added; `Z_lo + Z_hi`, less the rest
//! of `T^2`.

use std::ops::Range;

use super::square_product_scanning::{Sink, behind, column};
use super::streamed::Streamed;
use super::{Method, MethodError, Parameter, Params, positive, squaring};
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
            meaning: "squares added at a time behind the columns of a base square; 0: column by column",
        },
    ],
    defaults: |spec, facts| {
        let [n, _] = spec.words(facts.word_bits);
        // Squares of 4 to 24 words at the bottom.
        let levels = (1..8).filter(|levels| (4..=24).contains(&n.div_ceil(1 << levels)));
        let sets = levels.flat_map(|levels| [2, 1, 0].map(|c| [("levels", levels), ("c", c)]));
        // Of large squares, where each trial takes seconds, what is usually best.
        let usual = |set: &[(&str, usize); 2]| set[1].1 == 2 && n.div_ceil(1 << set[0].1) > 8;
        let sets = sets.filter(|set| n <= 40 || usual(set));
        sets.map(Params::from).collect()
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
    f.result = collected(&mut f, &a, Plan { levels, c });
    Ok(Schedule::Words(f))
}

/// How the recursion goes on.
#[derive(Clone, Copy)]
struct Plan {
    levels: usize,
    /// Squares that are doubled at a time, or 0.
    c: usize,
}

/// All words of `x^2`.
fn collected(f: &mut Words, x: &[Word], plan: Plan) -> Vec<Word> {
    let mut all = Vec::with_capacity(2 * x.len());
    square(f, x, &[], false, plan, &mut |_, words| all.extend(words));
    all
}

/// `x^2 + plus`, `2n` words, and one more if it may be longer.
fn square(f: &mut Words, x: &[Word], plus: &[Word], long: bool, plan: Plan, sink: &mut Sink<'_>) {
    match plan.levels == 0 || x.len() < 2 {
        true => base(f, x, plus, long, plan.c, sink),
        false => {
            let plan = Plan {
                levels: plan.levels - 1,
                ..plan
            };
            let mut all = Vec::new();
            let mut sum = Plus::new(plus, 2 * x.len(), long);
            three(f, x, plan, &mut |f, words| {
                all.extend(words);
                sum.next(f, words, sink);
            });
            if !plus.is_empty() {
                f.claims.push(Claim::product(&all, x, x, &[]));
            }
        }
    }
}

/// The same without recursion.
fn base(f: &mut Words, x: &[Word], plus: &[Word], long: bool, c: usize, sink: &mut Sink<'_>) {
    let n = x.len();
    if c == 0 || n < 3 {
        let pile = |k: usize| Pile {
            addends: plus.get(k).copied().into_iter().collect(),
            ..column(x, k)
        };
        let words = f.sweep((0..2 * n + usize::from(long)).map(pile).collect());
        sink(f, &words);
    } else if long {
        let out = f.fresh();
        behind(f, x, plus, c, End::Carry { out }, sink);
        sink(f, &[out]);
    } else {
        behind(f, x, plus, c, End::Drop, sink);
    }
}

/// Adds words to those of a number as they come.
struct Plus<'a> {
    running: Streamed,
    plus: &'a [Word],
    /// Words that came, and that will come.
    at: usize,
    count: usize,
    long: bool,
}

impl<'a> Plus<'a> {
    fn new(plus: &'a [Word], count: usize, long: bool) -> Self {
        Self {
            running: Streamed::new(Sum::Add),
            plus,
            at: 0,
            count,
            long,
        }
    }

    fn next(&mut self, f: &mut Words, words: &[Word], sink: &mut Sink<'_>) {
        if self.plus.is_empty() {
            return sink(f, words);
        }
        let pairs = words.iter().zip(self.at..);
        let pairs = pairs
            .map(|(x, k)| (Some(*x), self.plus.get(k).copied()))
            .collect();
        self.at += words.len();
        if self.at < self.count {
            let sum = self.running.next(f, pairs);
            sink(f, &sum);
        } else if self.long {
            let out = f.fresh();
            let mut sum = self.running.last(f, pairs, End::Carry { out });
            sum.push(out);
            sink(f, &sum);
        } else {
            let sum = self.running.last(f, pairs, End::Drop);
            sink(f, &sum);
        }
    }
}

/// `x^2` by three squares of half the size.
fn three(f: &mut Words, x: &[Word], plan: Plan, sink: &mut Sink<'_>) {
    let n = x.len();
    let low = n.div_ceil(2);
    let (xl, xh) = x.split_at(low);
    let high = n - low;
    f.push(WordStep::Part(format!("{n} words: T = |xl - xh|, T^2")));
    let t = distance(f, xl, xh);
    let m = collected(f, &t, plan);
    f.claims.push(Claim::product(&m, &t, &t, &[]));

    f.push(WordStep::Part(format!("{n} words: L = xl^2, L_lo - T^2")));
    let mut less = Streamed::new(Sum::Sub);
    let (mut l, mut y) = (Vec::new(), Vec::new());
    square(f, xl, &[], false, plan, &mut |f, words| {
        let lower = &words[..words.len().min(low - l.len().min(low))];
        if !lower.is_empty() {
            sink(f, lower);
            let pairs = lower.iter().zip(&m[l.len()..]);
            y.extend(less.next(f, pairs.map(|(l, m)| (Some(*l), Some(*m))).collect()));
        }
        l.extend(words);
    });
    claim(f, plan, &l, xl, &[]);

    f.push(WordStep::Part(format!(
        "{n} words: Z = xh^2 + L_hi, L_lo + Z + W Z - T^2"
    )));
    let mut middle = Middle {
        low,
        z: Vec::with_capacity(2 * low),
        sum: Streamed::new(Sum::Add),
        less,
        m,
        sign: None,
    };
    square(f, xh, &l[low..], low > high, plan, &mut |f, words| {
        let first = middle.z.len();
        middle.z.extend(words);
        let next = middle.z.len();
        if first < low {
            let pairs = (first..next.min(low)).map(|k| (Some(y[k]), Some(middle.z[k])));
            let words = middle.sum.next(f, pairs.collect());
            sink(f, &words);
        }
        middle.upper(f, first.max(low)..next, sink);
    });
    middle.upper(f, middle.z.len()..2 * low, sink);
    let Middle { z, sign, .. } = middle;
    claim(f, plan, &z, xh, &l[low..]);
    if let (Some(sign), top @ [_, ..]) = (sign, &z[low..2 * high]) {
        let ext = f.fresh();
        f.push(WordStep::Sign { x: sign, out: ext });
        let mut signed = vec![ext; top.len()];
        signed[0] = sign;
        let sum = f.chain(Sum::Add, top, &signed, End::Drop);
        sink(f, &sum);
    }
}

/// `L_lo + Z + W Z - T^2`, `2 low` words.
struct Middle {
    low: usize,
    /// What came of `Z`, and `T^2`.
    z: Vec<Word>,
    m: Vec<Word>,
    sum: Streamed,
    less: Streamed,
    /// What is beyond: -1, 0 or 1.
    sign: Option<Word>,
}

impl Middle {
    /// The words `range`, which are not in the lower half: `Z_lo + Z_hi - T^2`.
    fn upper(&mut self, f: &mut Words, range: Range<usize>, sink: &mut Sink<'_>) {
        if range.is_empty() {
            return;
        }
        let word = |k: usize| self.z.get(k).copied();
        let pairs: Vec<_> = range
            .clone()
            .map(|k| (word(k - self.low), word(k)))
            .collect();
        let less = |y: Vec<Word>| {
            let m = &self.m[range.clone()];
            y.iter().zip(m).map(|(y, m)| (Some(*y), Some(*m))).collect()
        };
        let words = if range.end < 2 * self.low {
            let y = self.sum.next(f, pairs);
            self.less.next(f, less(y))
        } else {
            let (over, out) = (f.fresh(), f.fresh());
            let y = self.sum.last(f, pairs, End::Carry { out: over });
            self.sign = Some(out);
            self.less.last(f, less(y), End::Into { x: over, out })
        };
        sink(f, &words);
    }
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
        lead: 0,
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
