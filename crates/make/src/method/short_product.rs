//! Short products: half of a product. The low half by halves, one of three products whole:
//!
//! With `W = 2^(w l)`, `x = xl + W xh`, `y = yl + W yh`, modulo `W 2^(w h)`:
//! `x y = xl yl + W (xl yh + xh yl)`, the two products behind `W` low halves again, so that
//! `mullo(2k) = mul(k) + 2 mullo(k)` (Mulders 2000, section 2); the whole one is Karatsuba's, and at the bottom
//! stand columns. The high half is that of Karatsuba's product, whose lower words are not kept: what they carry is
//! part of it.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::checked_parameters::{one_size, positive};
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
    check(METHOD.name, (levels, largest), ("plan", plan), facts)?;
    let mut f = Words::new(spec.op, facts.word_bits, &[n, n]);
    let (a, b) = (f.operand(0), f.operand(1));
    f.result = match spec.op {
        Op::Mulhi => karatsuba::inner(
            &mut f,
            (&a, &b),
            &[],
            (plan % 10, Some(levels), false),
            facts,
        )
        .split_off(n),
        _ => low(&mut f, (&a, &b), &[], (levels, plan, false), facts),
    };
    Ok(Schedule::Words(f))
}

/// Can `n` words be halved so often, and is there a plan for each digit?
pub(super) fn check(
    method: &'static str,
    (levels, n): (usize, usize),
    (parameter, plan): (&'static str, usize),
    facts: &Facts,
) -> Result<(), MethodError> {
    let too_large = |parameter, value, largest| MethodError::TooLarge {
        method,
        parameter,
        value,
        largest,
    };
    let largest = n.ilog2() as usize;
    if levels > largest {
        return Err(too_large("levels", levels, largest));
    }
    let largest = karatsuba_plans::inner_plans(facts) - 1;
    let digits = (0..levels as u32).map(|level| plan / 10usize.pow(level) % 10);
    match digits.max().filter(|digit| *digit > largest) {
        Some(value) => Err(too_large(parameter, value, largest)),
        None => Ok(()),
    }
}

/// `x y` and the addends modulo `2^(w n)`; there are `n` addends or none. `shared`: as in [`karatsuba::inner`].
pub(super) fn low(
    f: &mut Words,
    (x, y): (&[Word], &[Word]),
    addends: &[Word],
    (levels, plan, shared): (usize, usize, bool),
    facts: &Facts,
) -> Vec<Word> {
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
    let number = plan / 10usize.pow(levels as u32 - 1) % 10;
    let plus: Vec<_> = addends.iter().map(|word| vec![*word]).collect();
    let mut words = karatsuba::inner(f, (xl, yl), &plus, (number, None, shared), facts);
    if addends.is_empty() {
        f.claims.push(Claim::product(&words, xl, yl, &[]));
    }
    words.truncate(n);
    for pair in [(&xl[..n - at], yh), (xh, &yl[..n - at])] {
        f.push(WordStep::Part(format!(
            "{n} words: + W (xl yh), + W (xh yl)"
        )));
        let high = low(f, pair, &words[at..], (levels - 1, plan, shared), facts);
        words.splice(at.., high);
    }
    words
}
