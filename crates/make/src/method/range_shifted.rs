//! Products and squares of shifted numbers modulo a special prime: the quarter below and the quarter above are folded
//! into the middle.
//!
//! With `X = 2^(w n/2)`, `a = a_0 + X a_1`, `L = a_0 b_0 = l + X L_1`, `H = a_1 b_1`, `M = (a_0 - a_1)(b_1 - b_0)`:
//! `a b X^-1 = X^-1 L + (L + H + M) + X H = (1 + X) (H + L_1 + l) + (X^-1 - X) l + M`. With
//! `U = L_1 + l`, `G = H + U = G_0 + X G_1 < X^2` and `V = G_0 + G_1` this is
//!
//! `(1 + X) V + (X^2 - 1) G_1 + (X^-1 - X) l + M`:
//!
//! `V` twice, and few words of `G_1` and of `l`: modulo P-192 and with `Y^3 = X`, `Y^2 G_1` and `(Y - Y^5) l`. What
//! is carried out of `U`, of `V` and of each run of these words is counted where it goes, and all counts are
//! added in one chain.

use num_bigint::BigUint;
use num_traits::One;
use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::bottom::equation;
use crate::method::fold_counts::{Columns, Count, FoldCounts};
use crate::method::karatsuba::inner_of_triple;
use crate::method::karatsuba_plans::{Kind, given, triples};
use crate::method::karatsuba_squaring;
use crate::method::karatsuba_squaring::SquarePlan;
use crate::method::middle_first::{Distance, claim_signed, distance};
use crate::method::reduction::{Reduction, digits, masked};
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::method::special_primes::give_back;
use crate::plans::Plan;
use crate::schedule::{End, Schedule, Sum, Word, WordStep, Words};

/// Karatsuba's product of shifted numbers, folded from both ends.
pub static METHOD: Method = Method {
    name: "range-shifted",
    summary: "modulo a special prime, of numbers times 2^(n/2): three products of half the size, folded from both ends",
    source: "Park, Hong, Chang, Cho 2021; Montgomery 1985",
    ops: &[Op::Modmul],
    parameters: &[Parameter {
        name: "plan",
        meaning: "its products: middle, low and high",
    }],
    defaults: |spec, facts| {
        let [n, _] = spec.words(facts.word_bits);
        let plans = triples(n / 2, facts).into_iter();
        plans.map(|plan| Params::new().with(plan)).collect()
    },
    schedule: product,
};

/// The same of squares.
pub static SQUARE: Method = Method {
    name: "range-shifted-squaring",
    summary: "modulo a special prime, of a number times 2^(n/2): three squares of half the size, folded from both ends",
    source: "Park, Hong, Chang, Cho 2021; Montgomery 1985",
    ops: &[Op::Modsqr],
    parameters: &[
        Parameter {
            name: "levels",
            meaning: "levels of recursion of the three squares",
        },
        Parameter {
            name: "c",
            meaning: "as for karatsuba-squaring",
        },
    ],
    defaults: |_, _| {
        let sets = [0, 1].map(|levels| [2, 1, 0].map(|c| [("levels", levels), ("c", c)]));
        sets.into_iter().flatten().map(Params::from).collect()
    },
    schedule: square,
};

/// The lower half of a factor and the upper one.
type Halves = [Vec<Word>; 2];

/// The halves of the factors, and how their products are made.
enum Factors<'a> {
    /// Of a product: by a plan for each of the three.
    Two {
        a: Halves,
        b: Halves,
        plan: &'a Plan,
    },
    /// Of a square: levels of Karatsuba's squaring, and squares behind the columns at a time.
    One { a: Halves, how: SquarePlan },
}

/// The middle product, without its sign.
struct Middle {
    words: Vec<Word>,
    /// Of a product: its factors, and their sign as a mask. A square is taken.
    signed: Option<([Distance; 2], Word)>,
}

impl Factors<'_> {
    fn middle(&self, f: &mut Words) -> Result<Middle, MethodError> {
        match self {
            Factors::Two { a, b, plan } => {
                f.push(WordStep::Part("|a_0 - a_1| |b_1 - b_0|".into()));
                let (x, y) = (distance(f, &a[0], &a[1]), distance(f, &b[1], &b[0]));
                let sign = f.xor(x.negative, y.negative);
                let factors = (&x.words[..], &y.words[..]);
                let how = (METHOD.name, *plan);
                let words = inner_of_triple(f, factors, &[], how, Kind::M)?;
                equation(f, &words, &[factors], &[]);
                let signed = Some(([x, y], sign));
                Ok(Middle { words, signed })
            }
            Factors::One { a, how } => {
                f.push(WordStep::Part("|a_0 - a_1|^2".into()));
                let x = distance(f, &a[0], &a[1]).words;
                let words = karatsuba_squaring::inner(f, &x, &[], *how);
                equation(f, &words, &[(&x, &x)], &[]);
                let signed = None;
                Ok(Middle { words, signed })
            }
        }
    }

    /// The product of the lower halves, or of the upper ones, and a number of as many words.
    fn outer(&self, f: &mut Words, side: usize, plus: &[Word]) -> Result<Vec<Word>, MethodError> {
        let once: Vec<_> = plus.iter().map(|word| vec![*word]).collect();
        let (words, factors) = match self {
            Factors::Two { a, b, plan } => {
                let kind = [Kind::L, Kind::Z][side];
                let factors = (&a[side][..], &b[side][..]);
                let how = (METHOD.name, *plan);
                let words = inner_of_triple(f, factors, &once, how, kind)?;
                (words, factors)
            }
            Factors::One { a, how } => {
                let x = &a[side][..];
                (karatsuba_squaring::inner(f, x, plus, *how), (x, x))
            }
        };
        equation(f, &words, &[factors], &once);
        Ok(words)
    }
}

fn product(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let (mut f, [a, b]) = halves(spec)?;
    let plan = &given(&METHOD, spec, facts, params)?;
    shifted(spec, &mut f, Factors::Two { a, b, plan })?;
    Ok(Schedule::Words(f))
}

fn square(spec: &Spec, _: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let (mut f, [a, _]) = halves(spec)?;
    let given = |name| params.get(name).copied().unwrap_or(0);
    let (levels, c) = (given("levels"), given("c"));
    let (method, parameter, value) = (SQUARE.name, "levels", levels);
    let largest = a[0].len().ilog2() as usize;
    if levels > largest {
        return Err(MethodError::TooLarge {
            method,
            parameter,
            value,
            largest,
        });
    }
    shifted(
        spec,
        &mut f,
        Factors::One {
            a,
            how: SquarePlan::of(levels, c),
        },
    )?;
    Ok(Schedule::Words(f))
}

/// No steps yet, and the halves of both factors.
fn halves(spec: &Spec) -> Result<(Words, [Halves; 2]), MethodError> {
    let m = spec.modular.as_ref().and_then(|modular| modular.fixed());
    let m = m.ok_or(MethodError::NotSpecial)?;
    if spec.shift() == 0 {
        let (method, instead) = match spec.op {
            Op::Modsqr => (SQUARE.name, "square-product-scanning+fold"),
            _ => (METHOD.name, "product-scanning+fold"),
        };
        return Err(MethodError::NotShifted { method, instead });
    }
    let w = spec.word_bits;
    let n = (spec.size.a / w) as usize;
    let h = n / 2;
    if n != 2 * h || h < 2 || spec.shift() != w * h as u32 || m.bits() != u64::from(spec.size.a) {
        return Err(MethodError::NotHalf);
    }
    let count = spec.op.factors();
    let mut f = Words::new(spec.op, w, &vec![n; count]);
    Reduction::of(spec, &mut f)?;
    let sides = [0, count - 1].map(|side| f.operand(side));
    let halves = sides.map(|x| [x[..h].to_vec(), x[h..].to_vec()]);
    Ok((f, halves))
}

/// The product, folded from both ends.
fn shifted(spec: &Spec, f: &mut Words, factors: Factors<'_>) -> Result<(), MethodError> {
    let m = spec.modular.as_ref().and_then(|modular| modular.fixed());
    let m = m.ok_or(MethodError::NotSpecial)?;
    let w = spec.word_bits;
    let n = (spec.size.a / w) as usize;
    let h = n / 2;
    let middle = factors.middle(f)?;
    f.push(WordStep::Part("L = a_0 b_0".into()));
    let low = factors.outer(f, 0, &[])?;
    let (l, l1) = low.split_at(h);
    f.push(WordStep::Part("U = L_1 + l".into()));
    let count = f.fresh();
    let u = f.chain(Sum::Add, l1, l, End::Carry { out: count });
    f.push(WordStep::Part("G = a_1 b_1 + U".into()));
    let high = factors.outer(f, 1, &u)?;
    let (g0, g1) = high.split_at(h);

    f.push(WordStep::Part("V = G_0 + G_1".into()));
    let more = f.fresh();
    let end = End::Into {
        x: count,
        out: more,
    };
    let v = f.chain(Sum::Add, g1, g0, end);
    let mut counts = FoldCounts::new(m, n, w);
    counts.add(f, h, Count::of(more, 2, 0));
    counts.add(f, n, Count::of(more, 2, 0));
    let mut words = [&v[..], &v[..]].concat();
    let power = |k: usize| (BigUint::one() << (w as usize * k)) % m;
    let inverse = ((m + 1u8) >> 1u8).modpow(&(w as usize * h).into(), m);
    let up = (power(n) + m - 1u8) % m;
    let down = (inverse + m - power(h)) % m;
    let columns = |x: &[Word], by: &BigUint| {
        let mut columns = Columns::new(n);
        for (i, word) in x.iter().enumerate() {
            columns.add(*word, by * power(i) % m, m, w)?;
        }
        Ok(columns)
    };
    f.push(WordStep::Part("(1 + X) V + (X^2 - 1) G_1".into()));
    columns(g1, &up)?.sum(f, &mut words, &mut counts);
    f.push(WordStep::Part("+ M".into()));
    words = add_middle(f, &middle, &words, &mut counts)?;
    f.push(WordStep::Part("+ (X^-1 - X) l".into()));
    columns(l, &down)?.sum(f, &mut words, &mut counts);
    fold(f, m, words, counts)
}

/// Folds what was carried, and gives back what was too much.
fn fold(
    f: &mut Words,
    m: &BigUint,
    words: Vec<Word>,
    mut counts: FoldCounts,
) -> Result<(), MethodError> {
    let (w, n) = (f.word_bits, words.len());
    f.push(WordStep::Part("fold what was carried".into()));
    let times = counts.lift()?;
    let pairs = counts.words(f)?;
    let pairs = words.into_iter().map(Some).zip(pairs).collect();
    let carry = f.fresh();
    let c = digits(f, &((BigUint::one() << (w as usize * n)) - m), n);
    if times == 1 {
        let words = f.links(Sum::Add, pairs, End::Mask { out: carry });
        f.result = give_back(f, &words, &c, carry);
        return Ok(());
    }
    let words = f.links(Sum::Add, pairs, End::Carry { out: carry });
    f.push(WordStep::Part(
        "give back what was too much, and m if that is below 0".into(),
    ));
    let mut less = FoldCounts::new(m, n, w);
    less.add_c(f, times, carry)?;
    let less = less.words(f)?;
    let pairs = words.into_iter().map(Some).zip(less).collect();
    let below = f.fresh();
    let words = f.links(Sum::Sub, pairs, End::Mask { out: below });
    f.result = masked(f, Sum::Sub, &words, &c, below, End::Drop);
    Ok(())
}

/// `words + M`.
fn add_middle(
    f: &mut Words,
    middle: &Middle,
    words: &[Word],
    counts: &mut FoldCounts,
) -> Result<Vec<Word>, MethodError> {
    let Some(([x, y], sign)) = &middle.signed else {
        // One less: then nothing is negative but the borrow.
        return Ok(counts.run(f, Sum::Sub, (words, &middle.words), 0));
    };
    let complemented: Vec<_> = middle
        .words
        .iter()
        .map(|word| f.xor(*word, *sign))
        .collect();
    claim_signed(f, &complemented, *sign, x, y);
    let words = counts.run(f, Sum::Add, (words, &complemented), 0);
    // Complemented it is M - 1 + X^2; one m more, 1 - c is missing.
    counts.add_sign(f, *sign)?;
    Ok(words)
}
