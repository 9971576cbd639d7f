//! Karatsuba's squaring: three squares of half the size.
//!
//! With `W = 2^(w l)`, `x = xl + W xh`, `L = xl^2`, `H = xh^2`, `T = |xl - xh|`:
//! `x^2 = L + W (L + H - T^2) + W^2 H`; with `Z = H + L_hi` it is
//! `L_lo + W (L_lo + Z - T^2) + W^2 Z`. The sign of the difference does not matter, so the
//! absolute value is taken under a mask, and nothing branches.
//! `T^2` comes first (`middle_first.rs`).

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::checked_parameters::positive;
use crate::method::levels_at_once::at_once;
use crate::method::middle_first::{Middle, Plus, Sign, distance};
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::method::square_product_scanning::{Sink, behind, column};
use crate::method::square_terms::squaring;
use crate::schedule::{Claim, End, Pile, Schedule, Word, WordStep, Words};

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
        Parameter {
            name: "joined",
            meaning: "levels that are added up at once, where their halves are of one size; 0: each on its own",
        },
    ],
    defaults: |spec, facts| {
        let [n, _] = spec.words(facts.word_bits);
        // Squares of 4 to 24 words at the bottom.
        let levels = (1..8).filter(|levels| (4..=24).contains(&n.div_ceil(1 << levels)));
        let joined = |levels: usize| [levels.min(JOINED), 0].map(|joined| (levels, joined));
        let alike = |(_, joined): &(usize, usize)| n.is_multiple_of(1 << joined);
        let ways = levels.flat_map(joined).filter(alike);
        let sets = ways.flat_map(|(levels, joined)| {
            [2, 1, 0].map(|c| [("levels", levels), ("c", c), ("joined", joined)])
        });
        // Of large squares, where each trial takes seconds, what is usually best.
        let usual = |set: &[(&str, usize); 3]| set[1].1 == 2 && n.div_ceil(1 << set[0].1) > 8;
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
    let given = |name| params.get(name).copied().unwrap_or(0);
    let plan = SquarePlan {
        levels,
        c: given("c"),
        joined: given("joined"),
    };
    f.result = collected(&mut f, &a, plan);
    Ok(Schedule::Words(f))
}

/// Levels at once, at most: their words wait in memory, of which a fourth level takes a kilobyte and more where words are bytes.
const JOINED: usize = 3;

/// How the recursion goes on.
#[derive(Clone, Copy)]
pub(super) struct SquarePlan {
    levels: usize,
    /// Squares that are doubled at a time, or 0.
    c: usize,
    /// Levels at once, at most.
    joined: usize,
}

impl SquarePlan {
    /// So many levels, one at a time, and `c` squares doubled at a time.
    pub(super) fn of(levels: usize, c: usize) -> Self {
        let joined = 0;
        Self { levels, c, joined }
    }

    /// The plan so many levels below.
    fn below(self, levels: usize) -> Self {
        Self {
            levels: self.levels - levels,
            ..self
        }
    }
}

/// `x^2 + plus`, for a number of as many words: their sum fits.
pub(super) fn inner(f: &mut Words, x: &[Word], plus: &[Word], plan: SquarePlan) -> Vec<Word> {
    let mut all = Vec::with_capacity(2 * x.len());
    square(f, x, plus, false, plan, &mut |_, words| all.extend(words));
    all
}

/// All words of `x^2`.
pub(super) fn collected(f: &mut Words, x: &[Word], plan: SquarePlan) -> Vec<Word> {
    let mut all = Vec::with_capacity(2 * x.len());
    square(f, x, &[], false, plan, &mut |_, words| all.extend(words));
    all
}

/// `x^2 + plus`, `2n` words, and one more if it may be longer.
pub(super) fn square(
    f: &mut Words,
    x: &[Word],
    plus: &[Word],
    long: bool,
    plan: SquarePlan,
    sink: &mut Sink<'_>,
) {
    match plan.levels == 0 || x.len() < 2 {
        true => base(f, x, plus, long, plan.c, sink),
        false => {
            let mut all = Vec::new();
            let mut sum = Plus::new(plus, 2 * x.len(), long);
            let sink: &mut Sink<'_> = &mut |f, words| {
                all.extend(words);
                sum.next(f, words, sink);
            };
            let joined = plan.joined.min(plan.levels);
            match joined > 0 && x.len().is_multiple_of(1 << joined) {
                true => {
                    let below = plan.below(joined);
                    let bottom = |f: &mut Words, x: &[Word], plus: &[Word], sink: &mut Sink<'_>| {
                        square(f, x, plus, false, below, sink);
                    };
                    at_once(f, x, joined, &bottom, sink);
                }
                false => three(f, x, plan.below(1), sink),
            }
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

/// `x^2` by three squares of half the size.
fn three(f: &mut Words, x: &[Word], plan: SquarePlan, sink: &mut Sink<'_>) {
    let n = x.len();
    let low = n.div_ceil(2);
    let (xl, xh) = x.split_at(low);
    let high = n - low;
    f.push(WordStep::Part(format!("{n} words: T = |xl - xh|, T^2")));
    let t = distance(f, xl, xh).words;
    let m = collected(f, &t, plan);
    f.claims.push(Claim::product(&m, &t, &t, &[]));
    let mut middle = Middle::new(low, m, Sign::Minus);

    f.push(WordStep::Part(format!("{n} words: L = xl^2, L_lo - T^2")));
    square(f, xl, &[], false, plan, &mut |f, words| {
        middle.l(f, words, sink);
    });
    claim(f, plan, &middle.l, xl, &[]);

    f.push(WordStep::Part(format!(
        "{n} words: Z = xh^2 + L_hi, L_lo + Z + W Z - T^2"
    )));
    let l_hi = middle.l[low..].to_vec();
    square(f, xh, &l_hi, low > high, plan, &mut |f, words| {
        middle.z(f, words, sink);
    });
    claim(f, plan, &middle.z, xh, &l_hi);
    middle.end(f, high, sink);
}

/// Claims `words = x^2 + plus`, where the square is not one sweep.
fn claim(f: &mut Words, plan: SquarePlan, words: &[Word], x: &[Word], plus: &[Word]) {
    if plan.levels > 0 || plan.c > 0 {
        f.claims.push(Claim::product(words, x, x, plus));
    }
}
