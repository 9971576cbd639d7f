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

use super::bottom::{Bottom, Over, Pair, equation, layers, products};
use super::middle_signs::{both, complemented, correct, difference, either, known_difference};
use super::{Method, MethodError, Parameter, Params, one_size, positive};
use crate::facts::Facts;
use crate::schedule::{End, Schedule, Sum, Word, WordStep, Words};
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
            meaning: "differences before the high product: 0 none, 1 both, 2 that of a, 3 that of b",
        },
        Parameter {
            name: "rows",
            meaning: "the largest product that is computed row by row in registers",
        },
        Parameter {
            name: "late",
            meaning: "signs corrected after the middle product: 0 none, 1 both, 2 that of b, 3 that of a; 4 both as words it adds",
        },
        Parameter {
            name: "columns",
            meaning: "products by columns all the same: 1 the high one + 2 the middle one + 4 the low one",
        },
        Parameter {
            name: "swap",
            meaning: "products whose rows are words of the second operand: 1, 2, 4 as for columns",
        },
        Parameter {
            name: "apart",
            meaning: "the low half of L_lo + Z + W Z: 0 a sum of its own, added word by word: 1 to a nested middle product, 2 to any; 3 both halves, where late is 1 or 4",
        },
        Parameter {
            name: "turn",
            meaning: "1: every other column backwards",
        },
        Parameter {
            name: "whole",
            meaning: "products that are not split further: 1, 2, 4 as for columns",
        },
    ],
    defaults: |spec, facts| {
        let [n, _] = spec.words(facts.word_bits);
        // Products of 3 to 20 words at the bottom.
        let mut levels: Vec<usize> = (1..8)
            .filter(|l| (3..=20).contains(&n.div_ceil(1 << l)))
            .collect();
        levels.sort_by_key(|l| n.div_ceil(1 << l).abs_diff(9));
        if n > LARGE {
            levels.truncate(1);
        }
        let mut list = Vec::new();
        for levels in levels {
            let bottom = n.div_ceil(1 << levels);
            let sets = match (facts.free_registers >= MANY, n > LARGE) {
                (true, false) => &MANY_REGISTERS[..],
                (true, true) => &MANY_REGISTERS_LARGE,
                (false, false) => &FEW_REGISTERS,
                (false, true) => &FEW_REGISTERS[..1],
            };
            for [most, rows, columns, swap, early, late, apart, turn, whole] in sets {
                let pointless = *whole > 0 && levels < 2;
                if bottom > *most || pointless {
                    continue;
                }
                list.push(Params::from([
                    ("levels", levels),
                    ("rows", *rows),
                    ("columns", *columns),
                    ("swap", *swap),
                    ("early", *early),
                    ("late", *late),
                    ("apart", *apart),
                    ("turn", *turn),
                    ("whole", *whole),
                ]));
            }
        }
        list
    },
    schedule,
};

/// Words from which only what is usually best is tried: each trial takes seconds then.
const LARGE: usize = 40;

/// Free registers from which more of a product stays in them than its words.
const MANY: usize = 20;

/// What is tried: the most words at the bottom, then rows, columns, swap, early, late, apart, turn, whole.
/// Four digits were found by a search over all of them.
const FEW_REGISTERS: [[usize; 9]; 6] = [
    [99, 0, 0, 0, 1, 2, 0, 0, 0],
    [99, 0, 0, 0, 0, 2, 0, 0, 0],
    [99, 0, 0, 0, 0, 1, 0, 0, 0],
    [6, 6, 0, 0, 0, 1, 0, 0, 0],
    [6, 6, 2, 0, 1, 1, 0, 0, 0],
    [6, 6, 3, 0, 1, 2, 0, 0, 0],
];
const MANY_REGISTERS: [[usize; 9]; 19] = [
    [99, 0, 0, 0, 2, 1, 2, 0, 0],
    [99, 0, 0, 0, 2, 1, 2, 1, 0],
    [99, 0, 0, 0, 2, 2, 2, 1, 0],
    [99, 0, 0, 0, 1, 2, 2, 0, 0],
    [99, 0, 0, 0, 2, 2, 1, 0, 0],
    [99, 0, 0, 0, 0, 4, 3, 0, 0],
    [99, 0, 0, 0, 1222, 3111, 2020, 1, 0],
    [99, 0, 0, 0, 0, 2, 0, 0, 0],
    [8, 8, 0, 0, 2, 2, 0, 0, 0],
    [8, 8, 2, 0, 2, 1, 2, 0, 0],
    [8, 8, 3, 0, 2, 1, 0, 0, 0],
    [8, 8, 3, 0, 2, 1, 2, 1, 0],
    [8, 8, 3, 0, 1, 2, 2, 1, 0],
    [5, 5, 6220, 6246, 1222, 3113, 111, 0, 0],
    [6, 6, 7262, 6016, 1212, 121, 101, 0, 0],
    [4, 4, 5020, 7553, 323, 1030, 3001, 1110, 3327],
    [5, 5, 1230, 2225, 201, 4302, 3131, 110, 3101],
    [6, 10, 2307, 5454, 233, 4113, 3212, 1010, 3107],
    [8, 5, 6573, 3476, 222, 1213, 3232, 100, 670],
];
const MANY_REGISTERS_LARGE: [[usize; 9]; 4] = [
    [99, 0, 0, 0, 2, 2, 2, 1, 0],
    [99, 0, 0, 0, 1, 2, 2, 0, 0],
    [99, 0, 0, 0, 2, 2, 1, 0, 0],
    [99, 6, 1335, 6724, 2322, 1131, 3221, 1010, 0],
];

/// The products of a tree: the whole, and of each product its L, Z and M.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Whole,
    L,
    Z,
    M,
}

/// A choice for each kind of product.
#[derive(Clone, Copy)]
struct Choice([usize; 4]);

impl Choice {
    /// One digit for all kinds, or four, the whole's first.
    fn of(digits: usize) -> Self {
        match digits {
            0..10 => Self([digits; 4]),
            _ => Self([1000, 100, 10, 1].map(|weight| digits / weight % 10)),
        }
    }
}

/// How the recursion goes.
#[derive(Clone, Copy)]
struct Plan {
    levels: usize,
    rows: usize,
    early: Choice,
    late: Choice,
    columns: Choice,
    swap: Choice,
    apart: Choice,
    turn: Choice,
    whole: Choice,
    /// What is being computed, and at the bottom: by columns, with the operands exchanged?
    kind: Kind,
    by_columns: bool,
    swapped: bool,
    /// Take differences that another product has computed?
    shared: bool,
}

impl Plan {
    /// `x - y` modulo `2^(w length)`, and the borrow as a mask.
    fn difference(&self, f: &mut Words, x: &[Word], y: &[Word]) -> (Vec<Word>, Word) {
        let known = self.shared.then(|| known_difference(f, x, y)).flatten();
        known.unwrap_or_else(|| difference(f, x, y))
    }

    fn at(&self, choice: Choice) -> usize {
        choice.0[self.kind as usize]
    }

    /// The plan for one of the three products.
    fn child(&self, kind: Kind) -> Self {
        let bit = match kind {
            Kind::Z => 1,
            Kind::M => 2,
            Kind::L | Kind::Whole => 4,
        };
        Self {
            levels: match self.at(self.whole) & bit {
                0 => self.levels - 1,
                _ => 0,
            },
            kind,
            by_columns: self.at(self.columns) & bit > 0,
            swapped: self.at(self.swap) & bit > 0,
            ..*self
        }
    }
}

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let given = |name| params.get(name).copied().unwrap_or(0);
    let plan = Plan {
        levels: positive(METHOD.name, "levels", params)?,
        rows: given("rows"),
        early: Choice::of(given("early")),
        late: Choice::of(given("late")),
        columns: Choice::of(given("columns")),
        swap: Choice::of(given("swap")),
        apart: Choice::of(given("apart")),
        turn: Choice::of(given("turn")),
        whole: Choice::of(given("whole")),
        kind: Kind::Whole,
        by_columns: false,
        swapped: false,
        shared: false,
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
        rows,
        early: Choice::of(1),
        late: Choice::of(0),
        columns: Choice::of(0),
        swap: Choice::of(0),
        apart: Choice::of(0),
        turn: Choice::of(0),
        whole: Choice::of(0),
        kind: Kind::Whole,
        by_columns: false,
        swapped: false,
        shared: false,
    };
    planned(method, spec, facts, plan)
}

/// `-p levels=1 ...`, as many as leave products of two words; of large numbers what is usually best.
pub(super) fn every_level(spec: &Spec, facts: &Facts) -> Vec<Params> {
    let [n, _] = spec.words(facts.word_bits);
    let most = n.ilog2().max(1) as usize;
    (1..=most)
        .filter(|levels| n <= LARGE || (6..=12).contains(&n.div_ceil(1 << levels)))
        .map(|levels| Params::from([("levels", levels)]))
        .collect()
}

/// Which of the plans serve for a product within another method.
fn inner_sets(facts: &Facts) -> (&'static [[usize; 9]], &'static [usize]) {
    match facts.free_registers >= MANY {
        true => (&MANY_REGISTERS, &[13, 14, 15, 16, 17, 18, 0, 1, 5]),
        false => (&FEW_REGISTERS, &[0, 1, 2]),
    }
}

/// How many there are; where there are many the last is for large products.
pub(super) fn inner_plans(facts: &Facts) -> usize {
    inner_sets(facts).1.len() + usize::from(facts.free_registers >= MANY)
}

fn inner_plan(
    n: usize,
    (number, levels, shared): (usize, Option<usize>, bool),
    facts: &Facts,
) -> Plan {
    let (sets, usual) = inner_sets(facts);
    let set = usual
        .get(number)
        .map_or(MANY_REGISTERS_LARGE[3], |i| sets[*i]);
    let [most, rows, columns, swap, early, late, apart, turn, whole] = set;
    let small = || (0..).find(|l| n.div_ceil(1 << l) <= most.min(8));
    Plan {
        levels: levels.or_else(small).unwrap_or(0),
        rows,
        early: Choice::of(early),
        late: Choice::of(late),
        columns: Choice::of(columns),
        swap: Choice::of(swap),
        apart: Choice::of(apart),
        turn: Choice::of(turn),
        whole: Choice::of(whole),
        kind: Kind::Whole,
        by_columns: false,
        swapped: false,
        shared,
    }
}

/// `x y + sum of addends` modulo `2^(2 w n)` by plan `how.0` of those, on so many levels, or until 8 words are left;
/// `how.2`: are differences shared with other products?
pub(super) fn inner(
    f: &mut Words,
    (x, y): (&[Word], &[Word]),
    addends: &[Vec<Word>],
    how: (usize, Option<usize>, bool),
    facts: &Facts,
) -> Vec<Word> {
    let plan = inner_plan(x.len(), how, facts);
    product(f, &[(x, y)], addends, Over::None, plan).0
}

/// The sum of several products of numbers of as many words, and addends, in the same way; and the word beyond.
pub(super) fn inner_sum(
    f: &mut Words,
    factors: &[Pair<'_>],
    addends: &[Vec<Word>],
    (number, facts): (usize, &Facts),
) -> (Vec<Word>, Word) {
    let n = factors.first().map_or(0, |(x, _)| x.len());
    let plan = inner_plan(n, (number, None, true), facts);
    let (words, beyond) = product(f, factors, addends, Over::Wanted, plan);
    (words, beyond.unwrap_or_else(|| f.constant(0)))
}

/// The same of one of the three products of a tree of numbers that are twice as long, as its plan has it; and
/// if it may be longer the word beyond.
pub(super) fn inner_part(
    f: &mut Words,
    (x, y): (&[Word], &[Word]),
    (addends, over): (&[Vec<Word>], Over),
    (number, kind): (usize, Kind),
    facts: &Facts,
) -> (Vec<Word>, Option<Word>) {
    let plan = inner_plan(2 * x.len(), (number, None, false), facts);
    let levels = plan.levels.max(1);
    let plan = Plan { levels, ..plan }.child(kind);
    product(f, &[(x, y)], addends, over, plan)
}

/// `(x0 - x1)(y1 - y0)` and addends: as many words as both differences, and a signed one beyond.
pub(super) fn inner_difference(
    f: &mut Words,
    [x0, x1]: [&[Word]; 2],
    [y0, y1]: [&[Word]; 2],
    addends: &[Vec<Word>],
    (number, facts): (usize, &Facts),
) -> (Vec<Word>, Word) {
    let n = x0.len();
    let plan = inner_plan(n, (number, None, true), facts);
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
fn product(
    f: &mut Words,
    factors: &[Pair<'_>],
    addends: &[Vec<Word>],
    over: Over,
    plan: Plan,
) -> (Vec<Word>, Option<Word>) {
    let n = factors.first().map_or(0, |(x, _)| x.len());
    if plan.levels == 0 || n < 2 {
        let how = Bottom {
            rows: n <= plan.rows && !plan.by_columns,
            swapped: plan.swapped,
            turn: plan.at(plan.turn) > 0,
        };
        return products(f, factors, addends, over, how);
    }
    let [early, late] = [plan.early, plan.late].map(|choice| plan.at(choice));
    let [lplan, zplan, mplan] = [Kind::L, Kind::Z, Kind::M].map(|kind| plan.child(kind));
    let low = n.div_ceil(2);
    let high = n - low;
    let several = factors.len() > 1;
    let halves = factors.iter().map(|(x, y)| {
        let ((xl, xh), (yl, yh)) = (x.split_at(low), y.split_at(low));
        ((xl, yl), (xh, yh))
    });
    let (lower, upper): (Vec<Pair<'_>>, Vec<Pair<'_>>) = halves.unzip();
    let differences = |f: &mut Words, of_x: bool| -> Vec<(Vec<Word>, Word)> {
        let pairs = lower.iter().zip(&upper);
        pairs
            .map(|((xl, yl), (xh, yh))| match of_x {
                true => plan.difference(f, xl, xh),
                false => plan.difference(f, yh, yl),
            })
            .collect()
    };
    f.push(WordStep::Part(format!("{n} words: L = xl yl")));
    let wider = |long| if long { Over::Wanted } else { Over::None };
    let (mut l, more) = product(f, &lower, &[], wider(several), lplan);
    l.extend(more);
    if lplan.levels > 0 || several {
        equation(f, &l, &lower, &[]);
    }
    let (l_lo, l_hi) = l.split_at(low);
    let x_early = matches!(early, 1 | 2).then(|| differences(f, true));
    let y_early = matches!(early, 1 | 3).then(|| differences(f, false));
    f.push(WordStep::Part(format!("{n} words: Z = xh yh + L_hi")));
    let once: Vec<_> = l_hi.iter().map(|w| vec![*w]).collect();
    let (mut z, more) = product(f, &upper, &once, wider(several || low > high), zplan);
    z.extend(more);
    if zplan.levels > 0 || several {
        equation(f, &z, &upper, &once);
    }
    f.push(WordStep::Part(format!("{n} words: differences")));
    let da = x_early.unwrap_or_else(|| differences(f, true));
    let db = y_early.unwrap_or_else(|| differences(f, false));
    let signed: Vec<_> = da.iter().zip(&db).collect();

    // Y = L_lo + Z + W Z, its 2 low words; what is above in W Z waits.
    f.push(WordStep::Part(format!("{n} words: L_lo + Z + W Z")));
    let q: Vec<_> = l_lo.iter().chain(&z).copied().collect();
    // What is added only when the product is there need not be stored; the half that signs correct
    // before must be.
    let first = match plan.at(plan.apart) {
        1 if mplan.levels > 0 => low,
        2 => low,
        3 if matches!(late, 1 | 4) => 2 * low,
        _ => 0,
    };
    let mut y_words = q[..2 * low].to_vec();
    let mut e = None;
    if first < 2 * low {
        let pairs = (first..2 * low).map(|i| (Some(q[i]), z.get(i).copied()));
        let out = f.fresh();
        let sum = f.links(Sum::Add, pairs.collect(), End::Carry { out });
        y_words.splice(first.., sum);
        e = Some(out);
    }
    if let Some(more) = z.get(2 * low) {
        e = Some(match e {
            Some(e) => f.chain(Sum::Add, &[e], &[*more], End::Drop)[0],
            None => *more,
        });
    }
    if first < 2 * low {
        for ((da, sa), (db, sb)) in &signed {
            let Some(word) = e.as_mut() else { continue };
            if matches!(late, 0 | 3) {
                (*word, y_words) = correct(f, &y_words, low, db, *sa, *word);
            }
            if matches!(late, 0 | 2) {
                (*word, y_words) = correct(f, &y_words, low, da, *sb, *word);
            }
        }
    }
    let mut complements = vec![Vec::new(); low];
    for ((da, sa), (db, sb)) in &signed {
        e = Some(if late == 4 {
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

    // The caller's addends: below W on their own, in the middle with Y.
    let at = |i: usize| addends.get(i).cloned().unwrap_or_default();
    let mut middle = vec![Vec::new(); low];
    middle.extend(complements);
    middle.resize(2 * low, Vec::new());
    for (i, words) in middle.iter_mut().enumerate() {
        words.push(y_words[i]);
        words.extend(z.get(i).filter(|_| i < first));
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
    let middle_factors: Vec<Pair<'_>> = signed.iter().map(|(a, b)| (&a.0[..], &b.0[..])).collect();
    let mut e = e.unwrap_or_else(|| f.constant(0));
    let (mut u, v) = product(f, &middle_factors, &middle, Over::To(e), mplan);
    e = v.unwrap_or(e);
    for ((da, sa), (db, sb)) in &signed {
        if matches!(late, 1 | 2) {
            (e, u) = correct(f, &u, low, db, *sa, e);
        }
        if matches!(late, 1 | 3) {
            (e, u) = correct(f, &u, low, da, *sb, e);
        }
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
        equation(f, &words, factors, addends);
    }
    if let Over::To(word) = over {
        beyond = f.chain(Sum::Add, &[beyond], &[word], End::Drop)[0];
    }
    (result, long.then_some(beyond))
}
