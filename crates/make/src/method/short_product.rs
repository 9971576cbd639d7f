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
use crate::method::karatsuba;
use crate::method::karatsuba_plans::{Inner, are_many, few, given, named, part_of};
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::plans;
use crate::plans::tree::Tree;
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
            meaning: "the whole product of each level, level1 the smallest",
        },
    ],
    defaults,
    schedule,
};

/// Words from which only what is usually best is tried.
const LARGE: usize = 40;

/// What is tried where there are many registers, after the plans for short products.
const ALIKE: [&str; 3] = ["k1024-a", "k160-a", "k128-a"];
/// For the high half, whose products are proved by columns on one level.
const HIGH: [&str; 3] = ["k-a", "k-b", "k-f"];

fn defaults(spec: &Spec, facts: &Facts) -> Vec<Params> {
    let [n, _] = spec.words(facts.word_bits);
    let (levels, plans) = match (spec.op, are_many(facts)) {
        // Below 6 words nothing is gained.
        (Op::Mulhi, false) => (1..1 + usize::from(n >= 6), few(2)),
        (Op::Mulhi, true) => (1..1 + usize::from(n >= 6), named(&HIGH)),
        (_, false) => (1..8, few(1)),
        (_, true) => (1..8, plans::of_use("short").chain(named(&ALIKE)).collect()),
    };
    // Columns of 4 to 16 words at the bottom; large numbers take seconds each.
    let (plans, small) = match n > LARGE {
        true => (&plans[..1], 6..=12),
        false => (&plans[..], 4..=16),
    };
    let fits = |l: &usize| spec.op == Op::Mulhi || small.contains(&n.div_ceil(1 << l));
    let sets = levels.filter(fits).flat_map(|levels| {
        let plans = plans.iter();
        plans.map(move |plan| Params::from([("levels", levels)]).with(plan))
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
    check_levels(METHOD.name, levels, largest)?;
    let plan = given(&METHOD, spec, facts, params)?;
    let trees = trees(METHOD.name, &plan, levels)?;
    let mut f = Words::new(spec.op, facts.word_bits, &[n, n]);
    let (a, b) = (f.operand(0), f.operand(1));
    f.result = match spec.op {
        Op::Mulhi => karatsuba::inner(
            &mut f,
            (&a, &b),
            &[],
            Inner {
                tree: trees[0],
                levels: Some(levels),
                shared: false,
            },
        )
        .split_off(n),
        _ => {
            let how = Short {
                trees: &trees,
                shared: false,
            };
            low(&mut f, (&a, &b), &[], how)
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

/// What the whole products of the levels are called.
pub(super) const LEVELS: [&str; 8] = [
    "level1", "level2", "level3", "level4", "level5", "level6", "level7", "level8",
];

/// The trees of the whole products of so many levels, the smallest first.
pub(super) fn trees(
    method: &'static str,
    plan: &plans::Plan,
    levels: usize,
) -> Result<Vec<Tree>, MethodError> {
    let names = (0..levels).map(|level| LEVELS.get(level).copied().unwrap_or(plans::ABOVE));
    names.map(|name| part_of(method, plan, name)).collect()
}

/// How a low half is made.
#[derive(Clone, Copy)]
pub(super) struct Short<'a> {
    /// For each level the tree of its whole product, the smallest first.
    pub trees: &'a [Tree],
    /// As in [`Inner::shared`].
    pub shared: bool,
}

/// `x y` and the addends modulo `2^(w n)`; there are `n` addends or none.
pub(super) fn low(f: &mut Words, (x, y): Pair<'_>, addends: &[Word], how: Short<'_>) -> Vec<Word> {
    let n = x.len();
    let Some((tree, trees)) = how.trees.split_last().filter(|_| n > 1) else {
        let pile = |k: usize| Pile {
            addends: addends.get(k).copied().into_iter().collect(),
            ..Pile::column(x, y, k)
        };
        return f.sweep((0..n).map(pile).collect());
    };
    let at = n.div_ceil(2);
    let ((xl, xh), (yl, yh)) = (x.split_at(at), y.split_at(at));
    f.push(WordStep::Part(format!("{n} words: xl yl")));
    let inner = Inner {
        tree: *tree,
        levels: None,
        shared: how.shared,
    };
    let plus: Vec<_> = addends.iter().map(|word| vec![*word]).collect();
    let mut words = karatsuba::inner(f, (xl, yl), &plus, inner);
    if addends.is_empty() {
        f.claims.push(Claim::product(&words, xl, yl, &[]));
    }
    words.truncate(n);
    let next = Short { trees, ..how };
    for pair in [(&xl[..n - at], yh), (xh, &yl[..n - at])] {
        f.push(WordStep::Part(format!(
            "{n} words: + W (xl yh), + W (xh yl)"
        )));
        let high = low(f, pair, &words[at..], next);
        words.splice(at.., high);
    }
    words
}
