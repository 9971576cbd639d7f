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

use super::{Method, MethodError, Parameter, Params, one_size, positive};
use crate::facts::Facts;
use crate::schedule::{Chain, Claim, End, Link, Pile, Schedule, Sum, Term, Word, WordStep, Words};
use crate::spec::{Op, Spec};

/// Karatsuba.
pub static METHOD: Method = Method {
    name: "karatsuba",
    summary: "three products of half the size instead of four, recursively, without branches",
    source: "Hutter, Schwabe 2014; Grossschaedl et al. 2005, section 3",
    ops: &[Op::Mul],
    parameters: &[
        Parameter {
            name: "levels",
            meaning: "levels of recursion",
        },
        Parameter {
            name: "early",
            meaning: "1: differences before the high product, 0: after it",
        },
        Parameter {
            name: "rows",
            meaning: "the largest product that is computed row by row in registers",
        },
        Parameter {
            name: "late",
            meaning: "signs corrected after the middle product: 0 none, 1 both, 2 that of b",
        },
        Parameter {
            name: "columns",
            meaning: "products by columns all the same: 1 the high one, 2 the middle one, 3 both",
        },
    ],
    defaults: |spec, facts| {
        let [n, _] = spec.words(facts.word_bits);
        let mut list = Vec::new();
        // Products of 3 to 20 words at the bottom; of the larger ones only what is usually best.
        let mut levels: Vec<usize> = (1..8)
            .filter(|l| (3..=20).contains(&n.div_ceil(1 << l)))
            .collect();
        levels.sort_by_key(|l| n.div_ceil(1 << l).abs_diff(9));
        for levels in levels {
            let bottom = n.div_ceil(1 << levels);
            for (rows, columns, early, late) in [
                (0, 0, 1, 2),
                (0, 0, 0, 2),
                (0, 0, 0, 1),
                (6, 0, 0, 1),
                (6, 2, 1, 1),
                (6, 3, 1, 2),
            ] {
                if rows > 0 && bottom > 6 || n > 40 && (early, late) != (1, 2) {
                    continue;
                }
                list.push(Params::from([
                    ("levels", levels),
                    ("rows", rows),
                    ("columns", columns),
                    ("early", early),
                    ("late", late),
                ]));
            }
        }
        list
    },
    schedule,
};

/// How the recursion goes.
#[derive(Clone, Copy)]
struct Plan {
    levels: usize,
    early: bool,
    late: usize,
    rows: usize,
    columns: usize,
}

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let given = |name| params.get(name).copied().unwrap_or(0);
    let plan = Plan {
        levels: positive(METHOD.name, "levels", params)?,
        early: given("early") > 0,
        late: given("late"),
        rows: given("rows"),
        columns: given("columns"),
    };
    planned(METHOD.name, spec, facts, plan)
}

/// Karatsuba as `method`'s paper has it: `-p levels=`, then products by columns, or by rows of up
/// to `rows` words.
pub(super) fn over(
    method: &'static str,
    rows: usize,
    spec: &Spec,
    facts: &Facts,
    params: &Params,
) -> Result<Schedule, MethodError> {
    let plan = Plan {
        levels: positive(method, "levels", params)?,
        early: true,
        late: 0,
        rows,
        columns: 0,
    };
    planned(method, spec, facts, plan)
}

/// `-p levels=1 ...`, as many as leave products of two words.
pub(super) fn every_level(spec: &Spec, facts: &Facts) -> Vec<Params> {
    let [n, _] = spec.words(facts.word_bits);
    let most = n.ilog2().max(1) as usize;
    (1..=most)
        .map(|levels| Params::from([("levels", levels)]))
        .collect()
}

fn planned(
    method: &'static str,
    spec: &Spec,
    facts: &Facts,
    plan: Plan,
) -> Result<Schedule, MethodError> {
    let n = one_size(method, spec, facts)?;
    let largest = n.ilog2() as usize;
    if plan.levels > largest {
        return Err(MethodError::TooLarge {
            method,
            parameter: "levels",
            value: plan.levels,
            largest,
        });
    }
    let mut f = Words::new(spec.op, facts.word_bits, &[n, n]);
    let (a, b) = (f.operand(0), f.operand(1));
    (f.result, _) = product(&mut f, &a, &b, &[], Over::None, plan);
    Ok(Schedule::Words(f))
}

/// What becomes of the word beyond the result.
#[derive(Clone, Copy)]
enum Over {
    /// There is none.
    None,
    /// It is wanted.
    Wanted,
    /// It is added to this one.
    To(Word),
}

/// `x y + sum of addends`, `2n` words; and if it may be longer, the word beyond (a small signed one).
fn product(
    f: &mut Words,
    x: &[Word],
    y: &[Word],
    addends: &[Vec<Word>],
    over: Over,
    plan: Plan,
) -> (Vec<Word>, Option<Word>) {
    let n = x.len();
    if plan.levels == 0 || n < 2 {
        if n <= plan.rows {
            let mut layers = layers(addends);
            let (init, rest) = match layers.is_empty() {
                true => (vec![], vec![]),
                false => {
                    let mut first = layers.remove(0);
                    let rest = first.split_off(n.min(first.len()));
                    (first, rest)
                }
            };
            let words = rows(f, x, y, &init);
            if !rest.is_empty() {
                let rest = vec![None; n].into_iter().chain(rest);
                layers.insert(0, rest.collect());
            }
            return add_layers(f, words, layers, over);
        }
        return columns(f, x, y, addends, over);
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
    let (l, _) = product(f, xl, yl, &[], Over::None, plan);
    if plan.levels > 0 {
        equation(f, &l, xl, yl, &[]);
    }
    let (l_lo, l_hi) = l.split_at(low);
    let early = plan
        .early
        .then(|| [difference(f, xl, xh), difference(f, yh, yl)]);
    f.push(WordStep::Part(format!("{n} words: Z = xh yh + L_hi")));
    let once: Vec<_> = l_hi.iter().map(|w| vec![*w]).collect();
    let wider = if low > high { Over::Wanted } else { Over::None };
    let zplan = Plan {
        rows: if plan.columns & 1 > 0 { 0 } else { plan.rows },
        ..plan
    };
    let (mut z, top) = product(f, xh, yh, &once, wider, zplan);
    z.extend(top);
    if plan.levels > 0 {
        equation(f, &z, xh, yh, &once);
    }
    f.push(WordStep::Part(format!("{n} words: differences")));
    let [(da, sa), (db, sb)] =
        early.unwrap_or_else(|| [difference(f, xl, xh), difference(f, yh, yl)]);

    // Y = L_lo + Z + W Z, its 2 low words; what is above in W Z waits.
    f.push(WordStep::Part(format!("{n} words: L_lo + Z + W Z")));
    let q: Vec<_> = l_lo.iter().chain(&z).copied().collect();
    let e = f.fresh();
    let pairs = (0..2 * low).map(|i| (Some(q[i]), z.get(i).copied()));
    let y_words = f.links(Sum::Add, pairs.collect(), End::Carry { out: e });
    let (mut e, mut y_words) = (e, y_words);
    if plan.late == 0 {
        (e, y_words) = correct(f, &y_words, low, &db, sa, e);
    }
    if plan.late != 1 {
        (e, y_words) = correct(f, &y_words, low, &da, sb, e);
    }
    let both = f.fresh();
    f.push(WordStep::And {
        x: sa,
        y: sb,
        out: both,
    });
    e = f.chain(Sum::Sub, &[e], &[both], End::Drop)[0];

    // The caller's addends: below W on their own, in the middle with Y.
    let at = |i: usize| addends.get(i).cloned().unwrap_or_default();
    let mut middle: Vec<Vec<Word>> = y_words.iter().map(|w| vec![*w]).collect();
    for (i, words) in middle.iter_mut().enumerate() {
        words.extend(at(low + i));
    }
    let mut result = l_lo.to_vec();
    for layer in layers(&addends[..addends.len().min(low)]) {
        let carry = f.fresh();
        let pairs = result.iter().zip(&layer).map(|(x, y)| (Some(*x), *y));
        result = f.links(Sum::Add, pairs.collect(), End::Carry { out: carry });
        middle[0].push(carry);
    }
    f.push(WordStep::Part(format!("{n} words: + DA DB")));
    let uplan = Plan {
        rows: if plan.columns & 2 > 0 { 0 } else { plan.rows },
        ..plan
    };
    let (mut u, v) = product(f, &da, &db, &middle, Over::To(e), uplan);
    e = v.unwrap_or(e);
    if plan.late > 0 {
        (e, u) = correct(f, &u, low, &db, sa, e);
    }
    if plan.late == 1 {
        (e, u) = correct(f, &u, low, &da, sb, e);
    }
    result.extend(u);
    let mut top = z[low..2 * high].to_vec();
    let long = !matches!(over, Over::None);
    let mut beyond = e;
    if !top.is_empty() {
        let ext = f.fresh();
        f.push(WordStep::Sign { x: e, out: ext });
        let mut carries = Vec::new();
        for layer in layers(addends.get(3 * low..).unwrap_or(&[])) {
            let carry = f.fresh();
            let end = if long {
                End::Carry { out: carry }
            } else {
                End::Drop
            };
            let pairs = top.iter().enumerate();
            let pairs = pairs.map(|(k, x)| (Some(*x), layer.get(k).copied().flatten()));
            top = f.links(Sum::Add, pairs.collect(), end);
            carries.push(carry);
        }
        let mut signed = vec![ext; top.len()];
        signed[0] = e;
        beyond = f.fresh();
        let end = match long {
            true => End::Into {
                x: ext,
                out: beyond,
            },
            false => End::Drop,
        };
        top = f.chain(Sum::Add, &top, &signed, end);
        for carry in carries.into_iter().filter(|_| long) {
            beyond = f.chain(Sum::Add, &[beyond], &[carry], End::Drop)[0];
        }
    }
    result.extend(top);
    if let Some(more) = z.get(2 * high).filter(|_| long) {
        beyond = f.chain(Sum::Add, &[beyond], &[*more], End::Drop)[0];
    }
    if long {
        // How far the result goes beyond its words is known from what it is.
        let words = [&result[..], &[beyond]].concat();
        equation(f, &words, x, y, addends);
    }
    if let Over::To(word) = over {
        beyond = f.chain(Sum::Add, &[beyond], &[word], End::Drop)[0];
    }
    (result, long.then_some(beyond))
}

/// Claims `words = x y + addends`.
fn equation(f: &mut Words, words: &[Word], x: &[Word], y: &[Word], addends: &[Vec<Word>]) {
    let term = |shift: usize, x: &[Word], y: &[Word]| Term {
        negative: false,
        shift,
        x: x.to_vec(),
        y: y.to_vec(),
    };
    let mut terms = vec![term(0, x, y)];
    for (shift, list) in addends.iter().enumerate() {
        terms.extend(list.iter().map(|word| term(shift, &[*word], &[])));
    }
    f.claims.push(Claim {
        words: words.to_vec(),
        terms,
        magnitude: None,
    });
}

/// The first addend of every position, then the second, ...: words to add in one chain each.
fn layers(addends: &[Vec<Word>]) -> Vec<Vec<Option<Word>>> {
    let most = addends.iter().map(Vec::len).max().unwrap_or(0);
    (0..most)
        .map(|i| addends.iter().map(|a| a.get(i).copied()).collect())
        .collect()
}

/// Adds layers to words, each in a chain.
fn add_layers(
    f: &mut Words,
    mut words: Vec<Word>,
    layers: Vec<Vec<Option<Word>>>,
    over: Over,
) -> (Vec<Word>, Option<Word>) {
    let mut beyond = match over {
        Over::To(word) => Some(word),
        _ => None,
    };
    for layer in layers {
        let first = layer.iter().take_while(|w| w.is_none()).count();
        let out = f.fresh();
        let end = match (over, beyond) {
            (Over::None, _) => End::Drop,
            (_, None) => End::Carry { out },
            (_, Some(x)) => End::Into { x, out },
        };
        let old = words.split_off(first);
        let pairs = old.iter().enumerate();
        let pairs = pairs.map(|(k, x)| (Some(*x), layer.get(first + k).copied().flatten()));
        let sum = f.links(Sum::Add, pairs.collect(), end);
        words.extend(sum);
        beyond = Some(out);
    }
    (words, beyond.filter(|_| !matches!(over, Over::None)))
}

/// `x y + init` row by row; `init` has at most as many words as `y`. Products of a row that lie
/// two words apart do not overlap: all even ones are added in one chain, all odd ones in
/// another, and the top word of a row is new.
fn rows(f: &mut Words, x: &[Word], y: &[Word], init: &[Option<Word>]) -> Vec<Word> {
    let n = y.len();
    let all = x;
    // acc[k] is the word of weight 2^(w k).
    let mut acc: Vec<Option<Word>> = init.to_vec();
    for (i, x) in x.iter().enumerate() {
        let wide = |f: &mut Words, j: usize| {
            let [low, high] = [f.fresh(), f.fresh()];
            f.push(WordStep::Wide {
                x: *x,
                y: y[j],
                low,
                high,
            });
            [low, high]
        };
        // The chain with the top product comes first: the other one carries into its high word.
        let place = acc.is_empty();
        let parities = match (n - 1) % 2 {
            1 if !place => [1, 0],
            _ => [0, 1],
        };
        let mut top = None;
        for parity in parities.into_iter().filter(|p| *p < n) {
            // The last product need not be moved before it is added: the one with the top word,
            // which is not added to anything, or the lowest.
            let mut order: Vec<_> = (parity..n).step_by(2).collect();
            let has_top = (n - 1) % 2 == parity;
            if !has_top {
                order.reverse();
            }
            let mut words: Vec<_> = order.iter().map(|j| wide(f, *j)).collect();
            if !has_top {
                words.reverse();
            }
            let mut words = words.concat();
            if has_top {
                top = words.pop();
            }
            let first = i + parity;
            if place && parity == 0 {
                // Nothing is there yet.
                acc = words.into_iter().map(Some).collect();
                continue;
            }
            acc.resize(i + n, None);
            let mut pairs: Vec<_> = acc.drain(first..).map(|x| (x, None)).collect();
            for (pair, word) in pairs.iter_mut().zip(words) {
                pair.1 = Some(word);
            }
            pairs.push((top, None));
            let mut sum = f.links(Sum::Add, pairs, End::Drop);
            top = sum.pop();
            acc.extend(sum.into_iter().map(Some));
        }
        acc.push(top);
        if !place {
            let words: Vec<_> = acc.iter().flatten().copied().collect();
            let init: Vec<_> = init.iter().map(|w| w.iter().copied().collect()).collect();
            equation(f, &words, &all[..=i], y, &init);
        }
    }
    acc.into_iter().flatten().collect()
}

/// Product scanning on words: `x y` and addends.
fn columns(
    f: &mut Words,
    x: &[Word],
    y: &[Word],
    addends: &[Vec<Word>],
    over: Over,
) -> (Vec<Word>, Option<Word>) {
    let long = !matches!(over, Over::None);
    let (n, m) = (x.len(), y.len());
    let pile = |k: usize| Pile {
        addends: addends.get(k).cloned().unwrap_or_default(),
        ..Pile::column(x, y, k)
    };
    let piles = (0..n + m + usize::from(long)).map(pile).collect();
    let mut out = f.sweep(piles);
    if long {
        equation(f, &out, x, y, addends);
    }
    let mut beyond = if long { out.pop() } else { None };
    if let (Some(word), Over::To(other)) = (beyond, over) {
        beyond = Some(f.chain(Sum::Add, &[word], &[other], End::Drop)[0]);
    }
    (out, beyond)
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
