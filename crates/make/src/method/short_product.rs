//! Short products: half of a product. The low half by halves, one of three products whole:
//!
//! With `W = 2^(w l)`, `x = xl + W xh`, `y = yl + W yh`, modulo `W 2^(w h)`:
//! `x y = xl yl + W (xl yh + xh yl)`, the two products behind `W` low halves again, so that
//! `mullo(2k) = mul(k) + 2 mullo(k)` (Mulders 2000, section 2); the whole one is Karatsuba's, and at the bottom
//! stand columns. The high half is that of Karatsuba's product, whose lower words are not kept: what they carry is
//! part of it.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::bottom::Pair;
use crate::method::checked_parameters::{one_size, positive};
use crate::method::karatsuba_plans::Inner;
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::method::{karatsuba, karatsuba_plans};
use crate::schedule::{Claim, Pile, Schedule, Word, WordStep, Words};

/// Short products.
pub static METHOD: Method = Method {
    name: "short-product",
    summary: "half of a product: the low one by halves, one of them whole by Karatsuba; the high one is Karatsuba's",
    source: "Mulders 2000, section 2",
    ops: &[Op::Mullo, Op::Mulhi],
    parameters: &[
        Parameter {
            name: "levels",
            meaning: "how often it is halved",
        },
        Parameter {
            name: "plan",
            meaning: "a digit for each level: which of Karatsuba's plans its whole product follows; the last is for the smallest",
        },
    ],
    defaults,
    schedule,
};

/// Words from which only what is usually best is tried.
const LARGE: usize = 40;

/// What is tried: where there are more plans, and where there are few.
const PLANS: [usize; 4] = [5535, 5555, 3333, 2222];
const FEW_PLANS: [usize; 1] = [0];
/// For the high half, whose products are proved by columns on one level.
const HIGH: [usize; 3] = [6, 7, 8];
const FEW_HIGH: [usize; 2] = [0, 1];

fn defaults(spec: &Spec, facts: &Facts) -> Vec<Params> {
    let [n, _] = spec.words(facts.word_bits);
    let few = karatsuba_plans::inner_plans(facts) < 5;
    let (levels, plans) = match (spec.op, few) {
        // Below 6 words nothing is gained.
        (Op::Mulhi, true) => (1..1 + usize::from(n >= 6), &FEW_HIGH[..]),
        (Op::Mulhi, false) => (1..1 + usize::from(n >= 6), &HIGH[..]),
        (_, true) => (1..8, &FEW_PLANS[..]),
        (_, false) => (1..8, &PLANS[..]),
    };
    // Columns of 4 to 16 words at the bottom; large numbers take seconds each.
    let (plans, small) = match n > LARGE {
        true => (&plans[..1], 6..=12),
        false => (plans, 4..=16),
    };
    let fits = |l: &usize| spec.op == Op::Mulhi || small.contains(&n.div_ceil(1 << l));
    let sets = levels.filter(fits).flat_map(|levels| {
        let plans = plans.iter();
        plans.map(move |plan| Params::from([("levels", levels), ("plan", *plan)]))
    });
    sets.collect()
}

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let n = one_size(METHOD.name, spec, facts)?;
    let levels = positive(METHOD.name, "levels", params)?;
    let largest = match spec.op {
        Op::Mulhi => n.min(3),
        _ => n,
    };
    let plan = params.get("plan").copied().unwrap_or(0);
    check_levels(METHOD.name, levels, largest)?;
    check_plans(METHOD.name, "plan", plan, levels, facts)?;
    let mut f = Words::new(spec.op, facts.word_bits, &[n, n]);
    let (a, b) = (f.operand(0), f.operand(1));
    f.result = match spec.op {
        Op::Mulhi => karatsuba::inner(
            &mut f,
            (&a, &b),
            &[],
            Inner {
                number: plan % 10,
                levels: Some(levels),
                shared: false,
            },
            facts,
        )
        .split_off(n),
        _ => {
            let how = Short {
                levels,
                plan,
                shared: false,
            };
            low(&mut f, (&a, &b), &[], how, facts)
        }
    };
    Ok(Schedule::Words(f))
}

/// Can `n` words be halved so often?
pub(super) fn check_levels(
    method: &'static str,
    levels: usize,
    n: usize,
) -> Result<(), MethodError> {
    let largest = n.ilog2() as usize;
    match levels > largest {
        true => Err(MethodError::TooLarge {
            method,
            parameter: "levels",
            value: levels,
            largest,
        }),
        false => Ok(()),
    }
}

/// Is there a plan for each of so many digits of a parameter?
pub(super) fn check_plans(
    method: &'static str,
    parameter: &'static str,
    plan: usize,
    digits: usize,
    facts: &Facts,
) -> Result<(), MethodError> {
    let largest = karatsuba_plans::inner_plans(facts) - 1;
    let digits = (0..digits as u32).map(|digit| plan / 10usize.pow(digit) % 10);
    match digits.max().filter(|digit| *digit > largest) {
        Some(value) => Err(MethodError::TooLarge {
            method,
            parameter,
            value,
            largest,
        }),
        None => Ok(()),
    }
}

/// How a low half is made.
#[derive(Clone, Copy)]
pub(super) struct Short {
    /// How often it is halved.
    pub levels: usize,
    /// A digit a level: the plan of its product.
    pub plan: usize,
    /// As in [`Inner::shared`].
    pub shared: bool,
}

impl Short {
    /// By those plans, with differences that other products share.
    pub(super) fn shared(levels: usize, plan: usize) -> Self {
        let shared = true;
        Self {
            levels,
            plan,
            shared,
        }
    }
}

/// `x y` and the addends modulo `2^(w n)`; there are `n` addends or none.
pub(super) fn low(
    f: &mut Words,
    (x, y): Pair<'_>,
    addends: &[Word],
    how: Short,
    facts: &Facts,
) -> Vec<Word> {
    let Short {
        levels,
        plan,
        shared,
    } = how;
    let n = x.len();
    if levels == 0 || n < 2 {
        let pile = |k: usize| Pile {
            addends: addends.get(k).copied().into_iter().collect(),
            ..Pile::column(x, y, k)
        };
        return f.sweep((0..n).map(pile).collect());
    }
    let at = n.div_ceil(2);
    let ((xl, xh), (yl, yh)) = (x.split_at(at), y.split_at(at));
    f.push(WordStep::Part(format!("{n} words: xl yl")));
    // The last digit is for the products at the bottom, those before it for larger ones.
    let inner = Inner {
        number: plan / 10usize.pow(levels as u32 - 1) % 10,
        levels: None,
        shared,
    };
    let plus: Vec<_> = addends.iter().map(|word| vec![*word]).collect();
    let mut words = karatsuba::inner(f, (xl, yl), &plus, inner, facts);
    if addends.is_empty() {
        f.claims.push(Claim::product(&words, xl, yl, &[]));
    }
    words.truncate(n);
    let next = Short {
        levels: levels - 1,
        ..how
    };
    for pair in [(&xl[..n - at], yh), (xh, &yl[..n - at])] {
        f.push(WordStep::Part(format!(
            "{n} words: + W (xl yh), + W (xh yl)"
        )));
        let high = low(f, pair, &words[at..], next, facts);
        words.splice(at.., high);
    }
    words
}
