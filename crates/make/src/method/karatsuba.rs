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
//! nothing branches, and the product `DA DB` is accumulated on top of the rest. As words to add, the
//! subtraction is `-W sa DB = W (sa ~DB + sa) - W^2 sa`, and `sa sb - sa - sb = -(sa | sb)`.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::bottom::{Bottom, Over, Pair, equation, layers, products};
use crate::method::checked_parameters::{one_size, positive};
use crate::method::karatsuba_halves::{differences, halved, low_words};
use crate::method::karatsuba_plans::{Inner, Kind, Plan, defaults, tree_of, triple_plan};
use crate::method::middle_first::{Middle, Plus, Sign, distance};
use crate::method::middle_signs::{both, complemented, correct, either};
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::method::square_product_scanning::Sink;
use crate::plans;
use crate::plans::tree::{Differences, Signs, Tree};
use crate::schedule::{Claim, End, Schedule, Sum, Word, WordStep, Words};

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
            name: "plan",
            meaning: "how each product of the tree is made; columns if it is not given",
        },
    ],
    defaults,
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let levels = positive(METHOD.name, "levels", params)?;
    let plan = Plan::of(levels, tree_of(METHOD.name, params)?);
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
    let levels = positive(method, "levels", params)?;
    let plan = Plan::plain(levels, rows, Differences::BeforeHigh);
    planned(method, spec, facts, plan)
}

/// `x y + sum of addends` modulo `2^(2 w n)`.
pub(super) fn inner(
    f: &mut Words,
    factors: Pair<'_>,
    addends: &[Vec<Word>],
    how: Inner,
) -> Vec<Word> {
    let plan = how.plan(factors.0.len());
    product(f, &[factors], addends, Over::None, plan).0
}

/// The sum of several products of numbers of as many words, and addends, in the same way; and the word beyond.
pub(super) fn inner_sum(
    f: &mut Words,
    factors: &[Pair<'_>],
    addends: &[Vec<Word>],
    tree: Tree,
) -> (Vec<Word>, Word) {
    let n = factors.first().map_or(0, |(x, _)| x.len());
    let plan = Inner::shared(tree).plan(n);
    let (words, beyond) = product(f, factors, addends, Over::Wanted, plan);
    (words, beyond.unwrap_or_else(|| f.constant(0)))
}

/// The plan of one of the three products of a tree of numbers that are twice as long, for `n` words.
pub(super) fn part_plan(n: usize, tree: Tree, kind: Kind) -> Plan {
    let how = Inner {
        tree,
        levels: None,
        shared: false,
    };
    let plan = how.plan(2 * n);
    let levels = plan.levels.max(1);
    Plan { levels, ..plan }.child(kind)
}

/// One of three products, by its part of the plan; the sum fits.
///
/// # Errors
/// When the plan has none for it.
pub(super) fn inner_of_triple(
    f: &mut Words,
    factors: Pair<'_>,
    addends: &[Vec<Word>],
    (method, plan): (&'static str, &plans::Plan),
    kind: Kind,
) -> Result<Vec<Word>, MethodError> {
    let plan = triple_plan(method, factors.0.len(), plan, kind)?;
    Ok(product(f, &[factors], addends, Over::None, plan).0)
}

/// `(x0 - x1)(y1 - y0)` and addends: as many words as both differences, and a signed one beyond.
pub(super) fn inner_difference(
    f: &mut Words,
    [x0, x1]: [&[Word]; 2],
    [y0, y1]: [&[Word]; 2],
    addends: &[Vec<Word>],
    tree: Tree,
) -> (Vec<Word>, Word) {
    let n = x0.len();
    let plan = Inner::shared(tree).plan(n);
    let (da, sa) = plan.difference(f, x0, x1);
    let (db, sb) = plan.difference(f, y1, y0);
    let complements = complemented(f, [(&da, sb), (&db, sa)]);
    let both = either(f, sa, sb);
    let mut columns = addends.to_vec();
    columns.resize(2 * n, Vec::new());
    for (column, words) in columns[n..].iter_mut().zip(complements) {
        column.extend(words);
    }
    let (words, beyond) = product(f, &[(&da, &db)], &columns, Over::To(both), plan);
    (words, beyond.unwrap_or(both))
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
    (f.result, _) = product(&mut f, &[(&a, &b)], &[], Over::None, plan);
    Ok(Schedule::Words(f))
}

/// The sum of products `x y` and addends, `2n` words; and if it may be longer, the word beyond (a small signed one).
pub(super) fn product(
    f: &mut Words,
    factors: &[Pair<'_>],
    addends: &[Vec<Word>],
    over: Over,
    plan: Plan,
) -> (Vec<Word>, Option<Word>) {
    let mut all = Vec::new();
    let beyond = streamed(f, factors, addends, over, plan, &mut |_, words| {
        all.extend(words)
    });
    (all, beyond)
}

/// `x y + plus` with the middle product first: of an even number of words.
fn middle_first(f: &mut Words, (x, y): Pair<'_>, plus: &[Word], plan: Plan, sink: &mut Sink<'_>) {
    let n = x.len();
    let low = n / 2;
    let ((xl, xh), (yl, yh)) = (x.split_at(low), y.split_at(low));
    let half = plan.half();
    let streaming = Plan {
        streams: true,
        ..half
    };
    let mut all = Vec::with_capacity(2 * n);
    let mut sum = Plus::new(plus, 2 * n, false);
    let sink: &mut Sink<'_> = &mut |f, words| {
        all.extend(words);
        sum.next(f, words, sink);
    };
    f.push(WordStep::Part(format!("{n} words: |xl - xh| |yh - yl|")));
    let (da, db) = (distance(f, xl, xh), distance(f, yh, yl));
    let sign = f.fresh();
    f.push(WordStep::Xor {
        x: da.negative,
        y: db.negative,
        out: sign,
    });
    let (x_words, y_words) = (&da.words, &db.words);
    let (m, _) = product(f, &[(x_words, y_words)], &[], Over::None, half);
    equation(f, &m, &[(x_words, y_words)], &[]);
    let mut middle = Middle::new(low, m, Sign::Under(sign));
    f.push(WordStep::Part(format!("{n} words: L = xl yl, L_lo + M")));
    let mut to = |f: &mut Words, words: &[Word]| middle.l(f, words, sink);
    streamed(f, &[(xl, yl)], &[], Over::None, streaming, &mut to);
    equation(f, &middle.l, &[(xl, yl)], &[]);
    f.push(WordStep::Part(format!(
        "{n} words: Z = xh yh + L_hi, L_lo + Z + W Z + M"
    )));
    let once: Vec<_> = middle.l[low..].iter().map(|w| vec![*w]).collect();
    let mut to = |f: &mut Words, words: &[Word]| middle.z(f, words, sink);
    streamed(f, &[(xh, yh)], &once, Over::None, streaming, &mut to);
    equation(f, &middle.z, &[(xh, yh)], &once);
    middle.claim(f, &da, &db);
    middle.end(f, low, sink);
    if !plus.is_empty() {
        f.claims.push(Claim::product(&all, x, y, &[]));
    }
}

/// The addends, if there is exactly one at each of the lowest positions.
fn single(addends: &[Vec<Word>]) -> Option<Vec<Word>> {
    let one = |words: &Vec<Word>| match words[..] {
        [word] => Some(word),
        _ => None,
    };
    addends.iter().map(one).collect()
}

/// Differences of the halves of two factors, each with its sign.
type Signed<'a> = [(&'a (Vec<Word>, Word), &'a (Vec<Word>, Word))];

/// `L_lo + Z + W Z`, its lower words, from `first` on added and below that as they are; and the carry, which what the
/// signs correct beforehand changes.
fn lower_and_upper(
    f: &mut Words,
    l_lo: &[Word],
    z: &[Word],
    first: usize,
    late: Signs,
    signed: &Signed<'_>,
) -> (Vec<Word>, Option<Word>) {
    let low = l_lo.len();
    let q: Vec<_> = l_lo.iter().chain(z).copied().collect();
    let mut words = q[..2 * low].to_vec();
    let mut e = None;
    if first < 2 * low {
        let pairs = (first..2 * low).map(|i| (Some(q[i]), z.get(i).copied()));
        let out = f.fresh();
        let sum = f.links(Sum::Add, pairs.collect(), End::Carry { out });
        words.splice(first.., sum);
        e = Some(out);
    }
    if let Some(more) = z.get(2 * low) {
        e = Some(match e {
            Some(e) => f.chain(Sum::Add, &[e], &[*more], End::Drop)[0],
            None => *more,
        });
    }
    if first < 2 * low {
        for ((da, sa), (db, sb)) in signed {
            let Some(word) = e.as_mut() else { continue };
            if matches!(late, Signs::BeforeMiddle | Signs::FirstAfter) {
                (*word, words) = correct(f, &words, low, db, *sa, *word);
            }
            if matches!(late, Signs::BeforeMiddle | Signs::SecondAfter) {
                (*word, words) = correct(f, &words, low, da, *sb, *word);
            }
        }
    }
    (words, e)
}

/// What the signs of the differences add in the middle, a list for each word, and the carry with them.
fn signs(
    f: &mut Words,
    low: usize,
    late: Signs,
    signed: &Signed<'_>,
    mut e: Option<Word>,
) -> (Vec<Vec<Word>>, Option<Word>) {
    let mut complements = vec![Vec::new(); low];
    for ((da, sa), (db, sb)) in signed {
        e = Some(if late == Signs::AsWords {
            let more = complemented(f, [(da, *sb), (db, *sa)]);
            for (words, more) in complements.iter_mut().zip(more) {
                words.extend(more);
            }
            let either = either(f, *sa, *sb);
            match e {
                Some(e) => f.chain(Sum::Add, &[e], &[either], End::Drop)[0],
                None => either,
            }
        } else {
            let both = both(f, *sa, *sb);
            f.links(Sum::Sub, vec![(e, Some(both))], End::Drop)[0]
        });
    }
    (complements, e)
}

/// The products of the differences with what is added to them, corrected by the signs if that comes late; and the carry,
/// which may be negative.
fn with_middle(
    f: &mut Words,
    signed: &Signed<'_>,
    addends: &[Vec<Word>],
    e: Option<Word>,
    late: Signs,
    plan: Plan,
) -> (Vec<Word>, Word) {
    let low = addends.len() / 2;
    let factors: Vec<Pair<'_>> = signed.iter().map(|(a, b)| (&a.0[..], &b.0[..])).collect();
    let mut e = e.unwrap_or_else(|| f.constant(0));
    let (mut words, more) = product(f, &factors, addends, Over::To(e), plan);
    e = more.unwrap_or(e);
    for ((da, sa), (db, sb)) in signed {
        if matches!(late, Signs::AfterMiddle | Signs::SecondAfter) {
            (e, words) = correct(f, &words, low, db, *sa, e);
        }
        if matches!(late, Signs::AfterMiddle | Signs::FirstAfter) {
            (e, words) = correct(f, &words, low, da, *sb, e);
        }
    }
    (words, e)
}

/// The highest words with the carry `e`, which may be negative, and the caller's addends; and how far they go beyond
/// themselves, if that is asked for.
fn topmost(
    f: &mut Words,
    z: &[Word],
    e: Word,
    addends: &[Vec<Word>],
    long: bool,
) -> (Vec<Word>, Word) {
    let mut top = z.to_vec();
    if top.is_empty() {
        return (top, e);
    }
    let ext = f.fresh();
    f.push(WordStep::Sign { x: e, out: ext });
    let mut carries = Vec::new();
    for layer in layers(addends) {
        let carry = f.fresh();
        let end = match long {
            true => End::Carry { out: carry },
            false => End::Drop,
        };
        let pairs = top.iter().enumerate();
        let pairs = pairs.map(|(k, x)| (Some(*x), layer.get(k).copied().flatten()));
        top = f.links(Sum::Add, pairs.collect(), end);
        carries.push(carry);
    }
    let mut signed = vec![ext; top.len()];
    signed[0] = e;
    let mut beyond = f.fresh();
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
    (top, beyond)
}

/// The same as `product`, its words given to `sink` as they come.
fn streamed(
    f: &mut Words,
    factors: &[Pair<'_>],
    addends: &[Vec<Word>],
    over: Over,
    plan: Plan,
    sink: &mut Sink<'_>,
) -> Option<Word> {
    let n = factors.first().map_or(0, |(x, _)| x.len());
    let long = !matches!(over, Over::None);
    if let ([pair], Some(plus)) = (factors, single(addends))
        && plan.first > 0
        && plan.levels > 0
        && n.is_multiple_of(2)
        && !long
    {
        middle_first(f, *pair, &plus, plan, sink);
        return None;
    }
    if plan.levels == 0 || n < 2 {
        let how = Bottom {
            rows: n <= plan.tree.rows && !plan.by_columns,
            swapped: plan.swapped,
            turn: plan.node().backwards,
        };
        let (words, beyond) = products(f, factors, addends, over, how);
        sink(f, &words);
        return beyond;
    }
    one_level(f, factors, addends, over, plan, sink)
}

/// Columns of a word of `y` and of `z` each, with addends; the complements of as many words as half of them come above.
fn columns_of(
    y: &[Word],
    z: &[Word],
    addends: &[Vec<Word>],
    complements: Vec<Vec<Word>>,
) -> Vec<Vec<Word>> {
    let mut columns = vec![Vec::new(); y.len() / 2];
    columns.extend(complements);
    columns.resize(y.len(), Vec::new());
    for (i, words) in columns.iter_mut().enumerate() {
        words.push(y[i]);
        words.extend(z.get(i));
        words.extend(addends.get(i).into_iter().flatten());
    }
    columns
}

/// Of one level: `L = xl yl`, `Z = xh yh + L_hi`, the result's lowest words if they come as soon as they are known,
/// and the differences of both factors.
struct Halves {
    l: Vec<Word>,
    z: Vec<Word>,
    below: Option<(Vec<Word>, Vec<Word>)>,
    differences: [Vec<(Vec<Word>, Word)>; 2],
}

/// The products of the halves, and the differences before, between or behind them.
fn halves(
    f: &mut Words,
    factors: &[Pair<'_>],
    addends: &[Vec<Word>],
    plan: Plan,
    sink: &mut Sink<'_>,
) -> Halves {
    let n = factors.first().map_or(0, |(x, _)| x.len());
    let low = n.div_ceil(2);
    let (when, several) = (plan.node().differences, factors.len() > 1);
    let (lower, upper) = halved(factors, low);
    let differences = |f: &mut Words, of_x: bool| differences(f, &lower, &upper, of_x, plan);
    f.push(WordStep::Part(format!("{n} words: L = xl yl")));
    let l = said_product(f, &lower, &[], several, plan.child(Kind::L));
    let (l_lo, l_hi) = l.split_at(low);
    let below = plan.streams.then(|| low_words(f, l_lo, addends, sink));
    let [x_early, y_early] = match when {
        Differences::AfterHigh => [false, false],
        Differences::BeforeHigh => [true, true],
        Differences::FirstBefore => [true, false],
        Differences::SecondBefore => [false, true],
    };
    let x_early = x_early.then(|| differences(f, true));
    let y_early = y_early.then(|| differences(f, false));
    f.push(WordStep::Part(format!("{n} words: Z = xh yh + L_hi")));
    let once: Vec<_> = l_hi.iter().map(|w| vec![*w]).collect();
    let wider = several || low > n - low;
    let z = said_product(f, &upper, &once, wider, plan.child(Kind::Z));
    f.push(WordStep::Part(format!("{n} words: differences")));
    let da = x_early.unwrap_or_else(|| differences(f, true));
    let db = y_early.unwrap_or_else(|| differences(f, false));
    Halves {
        l,
        z,
        below,
        differences: [da, db],
    }
}

/// A product and what is said of it, unless it is one of words alone.
fn said_product(
    f: &mut Words,
    factors: &[Pair<'_>],
    addends: &[Vec<Word>],
    wider: bool,
    plan: Plan,
) -> Vec<Word> {
    let over = if wider { Over::Wanted } else { Over::None };
    let (mut words, more) = product(f, factors, addends, over, plan);
    words.extend(more);
    if plan.levels > 0 || factors.len() > 1 {
        equation(f, &words, factors, addends);
    }
    words
}

/// The products of halves, and what they come to: `L + W (L + Z + (xl - xh)(yh - yl)) + W^2 Z`.
fn one_level(
    f: &mut Words,
    factors: &[Pair<'_>],
    addends: &[Vec<Word>],
    over: Over,
    plan: Plan,
    sink: &mut Sink<'_>,
) -> Option<Word> {
    let n = factors.first().map_or(0, |(x, _)| x.len());
    let long = !matches!(over, Over::None);
    let (late, mplan) = (plan.node().signs, plan.child(Kind::M));
    let low = n.div_ceil(2);
    let high = n - low;
    let halves = halves(f, factors, addends, plan, sink);
    let (l_lo, z, [da, db]) = (&halves.l[..low], &halves.z, &halves.differences);
    let signed: Vec<_> = da.iter().zip(db).collect();

    // Y = L_lo + Z + W Z, its 2 low words; what is above in W Z waits.
    f.push(WordStep::Part(format!("{n} words: L_lo + Z + W Z")));
    let first = plan.stored_from(low, mplan.levels);
    let (y_words, e) = lower_and_upper(f, l_lo, z, first, late, &signed);
    let (complements, e) = signs(f, low, late, &signed, e);

    // The caller's addends in the middle come with Y.
    let above = addends.get(low..).unwrap_or(&[]);
    let mut middle = columns_of(
        &y_words[..2 * low],
        &z[..first.min(z.len())],
        above,
        complements,
    );
    let (mut result, carries) = match halves.below {
        Some(below) => below,
        None => low_words(f, l_lo, addends, sink),
    };
    middle[0].extend(carries);
    f.push(WordStep::Part(format!("{n} words: + DA DB")));
    let (u, e) = with_middle(f, &signed, &middle, e, late, mplan);
    sink(f, &u);
    result.extend(u);
    let above = addends.get(3 * low..).unwrap_or(&[]);
    let (top, mut beyond) = topmost(f, &z[low..2 * high], e, above, long);
    sink(f, &top);
    result.extend(top);
    if !long {
        return None;
    }
    let more = z.get(2 * high).copied();
    if let Some(more) = more {
        beyond = f.chain(Sum::Add, &[beyond], &[more], End::Drop)[0];
    }
    // How far the result goes beyond its words is known from what it is.
    let words = [&result[..], &[beyond]].concat();
    equation(f, &words, factors, addends);
    Some(over.added(f, beyond))
}
