//! Karatsuba's multiplication: three products of half the size, the middle one of differences.
//!
//! With `W = 2^(w l)`, `x = xl + W xh`, `y = yl + W yh`:
//! `x y = L + W (L + H + M) + W^2 H`, `L = xl yl`, `H = xh yh`, `M = (xl - xh)(yh - yl)`.
//!
//! The refined form (Hutter, Schwabe 2014) adds `L_hi` to `H` once: with `Z = H + L_hi`,
//! `x y = L_lo + W (L_lo + Z + M) + W^2 Z`.
//!
//! The differences are kept modulo `W` with their borrows `sa`, `sb`; no absolute value is
//! taken: `M = DA DB - W (sa DB + sb DA) + W^2 sa sb`, the subtractions under a mask. So
//! nothing branches, and the product `DA DB` is accumulated on top of the rest.

use super::{Method, MethodError, Parameter, Params, positive};
use crate::facts::Facts;
use crate::schedule::{Chain, Claim, End, Link, Pile, Schedule, Sum, Term, Word, WordStep, Words};
use crate::spec::{Op, Spec};

/// Karatsuba.
pub static METHOD: Method = Method {
    name: "karatsuba",
    summary: "three products of half the size instead of four, recursively, without branches",
    source: "Hutter, Schwabe 2014; Grossschaedl et al. 2005, section 3",
    op: Op::Mul,
    parameters: &[
        Parameter {
            name: "levels",
            meaning: "levels of recursion",
        },
        Parameter {
            name: "early",
            meaning: "1: differences before the high product, 0: after it",
        },
    ],
    defaults: |spec, facts| {
        let n = (spec.bits / facts.word_bits) as usize;
        let most = usize::BITS - (n / 3).leading_zeros();
        (1..=most as usize)
            .flat_map(|l| [0, 1].map(|early| Params::from([("levels", l), ("early", early)])))
            .collect()
    },
    schedule,
};

/// How the recursion goes.
#[derive(Clone, Copy)]
struct Plan {
    levels: usize,
    early: bool,
}

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let n = (spec.bits / facts.word_bits) as usize;
    let levels = positive(METHOD.name, "levels", params)?;
    let largest = n.ilog2() as usize;
    if levels > largest {
        return Err(MethodError::TooLarge {
            method: METHOD.name,
            parameter: "levels",
            value: levels,
            largest,
        });
    }
    let plan = Plan {
        levels,
        early: params.get("early").is_some_and(|early| *early > 0),
    };
    let mut f = Words::new(spec.op, facts.word_bits, &[n, n]);
    let (a, b) = (f.operand(0), f.operand(1));
    (f.result, _) = product(&mut f, &a, &b, &[], false, plan);
    Ok(Schedule::Words(f))
}

/// `x y + sum of addends`, `2n` words; and if it may be longer, the word beyond (a small signed one).
fn product(
    f: &mut Words,
    x: &[Word],
    y: &[Word],
    addends: &[Vec<Word>],
    long: bool,
    plan: Plan,
) -> (Vec<Word>, Option<Word>) {
    let n = x.len();
    if plan.levels == 0 || n < 2 {
        return columns(f, x, y, addends, long);
    }
    let plan = Plan {
        levels: plan.levels - 1,
        ..plan
    };
    let low = n.div_ceil(2);
    let (xl, xh) = x.split_at(low);
    let (yl, yh) = y.split_at(low);
    let high = n - low;
    f.push(WordStep::Part(format!("{n} words: L = xl yl")));
    let (l, _) = product(f, xl, yl, &[], false, plan);
    claim(f, plan, &l, xl, yl, &[]);
    let (l_lo, l_hi) = l.split_at(low);
    let early = plan
        .early
        .then(|| [difference(f, xl, xh), difference(f, yh, yl)]);
    f.push(WordStep::Part(format!("{n} words: Z = xh yh + L_hi")));
    let once: Vec<_> = l_hi.iter().map(|w| vec![*w]).collect();
    let (mut z, top) = product(f, xh, yh, &once, low > high, plan);
    z.extend(top);
    claim(f, plan, &z, xh, yh, l_hi);
    f.push(WordStep::Part(format!("{n} words: differences")));
    let [(da, sa), (db, sb)] =
        early.unwrap_or_else(|| [difference(f, xl, xh), difference(f, yh, yl)]);

    // Y = L_lo + Z + W Z, its 2 low words; what is above in W Z waits.
    f.push(WordStep::Part(format!("{n} words: L_lo + Z + W Z")));
    let q: Vec<_> = l_lo.iter().chain(&z).copied().collect();
    let e = f.fresh();
    let y_words = f.chain(
        Sum::Add,
        &q[..2 * low],
        &z[..z.len().min(2 * low)],
        End::Carry { out: e },
    );
    let (e, y_words) = correct(f, &y_words, low, &db, sa, e);
    let (e, y_words) = correct(f, &y_words, low, &da, sb, e);
    let both = f.fresh();
    f.push(WordStep::And {
        x: sa,
        y: sb,
        out: both,
    });
    let e = f.chain(Sum::Sub, &[e], &[both], End::Drop)[0];

    // The caller's addends: below W on their own, in the middle with Y.
    let at = |i: usize| addends.get(i).cloned().unwrap_or_default();
    let mut middle: Vec<Vec<Word>> = y_words.iter().map(|w| vec![*w]).collect();
    for (i, words) in middle.iter_mut().enumerate() {
        words.extend(at(low + i));
    }
    let mut result = l_lo.to_vec();
    for layer in layers(&addends[..addends.len().min(low)]) {
        let carry = f.fresh();
        result = f.chain(Sum::Add, &result, &layer, End::Carry { out: carry });
        middle[0].push(carry);
    }
    f.push(WordStep::Part(format!("{n} words: + DA DB")));
    let (u, v) = product(f, &da, &db, &middle, true, plan);
    result.extend(u);
    let mut top = z[low..2 * high].to_vec();
    let mut over = match v {
        Some(v) => f.chain(Sum::Add, &[v], &[e], End::Drop)[0],
        None => e,
    };
    if !top.is_empty() {
        let ext = f.fresh();
        f.push(WordStep::Sign { x: over, out: ext });
        let mut carries = Vec::new();
        for layer in layers(addends.get(3 * low..).unwrap_or(&[])) {
            let carry = f.fresh();
            let end = if long {
                End::Carry { out: carry }
            } else {
                End::Drop
            };
            top = f.chain(Sum::Add, &top, &layer, end);
            carries.push(carry);
        }
        let mut signed = vec![ext; top.len()];
        signed[0] = over;
        let out = f.fresh();
        let end = if long {
            End::Into { x: ext, out }
        } else {
            End::Drop
        };
        top = f.chain(Sum::Add, &top, &signed, end);
        over = out;
        for carry in carries.into_iter().filter(|_| long) {
            over = f.chain(Sum::Add, &[over], &[carry], End::Drop)[0];
        }
    }
    result.extend(top);
    (result, long.then_some(over))
}

/// The first addend of every position, then the second, ...: words to add in one chain each.
fn layers(addends: &[Vec<Word>]) -> Vec<Vec<Word>> {
    let most = addends.iter().map(Vec::len).max().unwrap_or(0);
    (0..most)
        .map(|i| addends.iter().map_while(|a| a.get(i).copied()).collect())
        .collect()
}

/// Product scanning on words: `x y` and addends.
fn columns(
    f: &mut Words,
    x: &[Word],
    y: &[Word],
    addends: &[Vec<Word>],
    long: bool,
) -> (Vec<Word>, Option<Word>) {
    let (n, m) = (x.len(), y.len());
    let pile = |k: usize| Pile {
        products: ((k + 1).saturating_sub(m)..n.min(k + 1))
            .map(|i| (x[i], y[k - i]))
            .collect(),
        addends: addends.get(k).cloned().unwrap_or_default(),
        ..Pile::default()
    };
    let piles = (0..n + m + usize::from(long)).map(pile).collect();
    let mut out = f.sweep(piles);
    let over = if long { out.pop() } else { None };
    (out, over)
}

/// `x - y` modulo `2^(w length)`, and the borrow as a mask. The shorter one is extended by zeros.
fn difference(f: &mut Words, x: &[Word], y: &[Word]) -> (Vec<Word>, Word) {
    let mask = f.fresh();
    let out = f.chain(Sum::Sub, x, y, End::Mask { out: mask });
    (out, mask)
}

/// `y - W (d & mask)`, and `e` less the borrow.
fn correct(
    f: &mut Words,
    y: &[Word],
    low: usize,
    d: &[Word],
    mask: Word,
    e: Word,
) -> (Word, Vec<Word>) {
    let out = f.fresh_words(low);
    let links = (0..low)
        .map(|i| Link {
            mask: Some(mask),
            ..Link::new(Some(y[low + i]), Some(d[i]), out[i])
        })
        .collect();
    let less = f.fresh();
    f.push(WordStep::Chain(Chain {
        sum: Sum::Sub,
        carry: None,
        links,
        end: End::Into { x: e, out: less },
    }));
    (less, [&y[..low], &out].concat())
}

/// Claims `words = x y + plus`, where the product is not one sweep.
fn claim(f: &mut Words, plan: Plan, words: &[Word], x: &[Word], y: &[Word], plus: &[Word]) {
    if plan.levels == 0 {
        return;
    }
    let term = |x: &[Word], y: &[Word]| Term {
        negative: false,
        shift: 0,
        x: x.to_vec(),
        y: y.to_vec(),
    };
    let mut terms = vec![term(x, y)];
    if !plus.is_empty() {
        terms.push(term(plus, &[]));
    }
    f.claims.push(Claim {
        words: words.to_vec(),
        terms,
    });
}
