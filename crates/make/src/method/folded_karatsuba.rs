//! A reduction of `2n` words modulo an odd number of `n` that folds a quarter of them and divides by the next.
//!
//! With `X = 2^(w n/2)`, `a = a_0 + X a_1`, `c = (X^-1 mod m) - m` and `m' = -m^-1 mod X`:
//!
//! 1. `u = a_1 + a_0 c` lies in `-X m + 1 .. X^3`, and `a = X u (mod m)`.
//! 2. `q = u m' mod X`, `t = (u + q m) / X` lies in `-m + 1 .. X^2 + m`: one `m` more, less, or neither.
//!
//! Behind `m` stands `d = X^2 + c = d_0 + X d_1`. So `u = p + X (a_2 + a_0 d_1) + X^2 (a_3 - a_0)` for
//! `p = a_0 d_0 + a_1 mod X`, the words of `a_1` being `a_1 mod X`, `a_2` and `a_3`; `q` follows from `p`. With
//! `g = (p + q m_0) / X`, `m = m_0 + X m_1`, what is left is one Karatsuba of a sum of two products,
//! `t = a_0 d_1 + q m_1 + g + a_2 + X (a_3 - a_0)`, and `-a_0` is `~a_0 + 1 - X`: `t + X^2` is computed.
//!
//! Behind `d` stand the differences of halves of `m_0`, `m_1`, `d_0` and `d_1` that Karatsuba needs.
//!
//! Of `L = q m_0` the low half is known, `-p mod X`; `u` stands for `p` from here on, `u_0 + Y u_1` for its words below
//! `X`. Two products of quarters do instead of three: with `Y^2 = X`, `q = q_0 + Y q_1`, `m_0 = k_0 + Y k_1`, `H = q_1 k_1`,
//! `D = (q_0 - q_1)(k_1 - k_0)`, Karatsuba has `L = l + Y (l + H + D) + Y^2 H` with `l = q_0 k_0`. So
//! `l = -u_0 (mod Y)`, and its upper half is `v = -u_1 - l - H - D - [u_0 > 0] (mod Y)`. What is left of
//! `p + q m_0` above `X` is, with `-u_0 = l (mod Y)` and `H + D + u_1 = e_0 + Y e_1`, `v = u_0 - e_0 - [u_0 > 0] + Y b`:
//! `g = H + v + e_1 + b + [u_0 > 0]`.

use spec::modulus::Modulus;
use spec::{Op, Spec, folded};

use crate::facts::Facts;
use crate::method::checked_parameters::positive;
use crate::method::karatsuba::{inner, inner_difference, inner_sum};
use crate::method::karatsuba_plans::{Inner, are_many, few, given, part_of};
use crate::method::short_product;
use crate::method::short_product::Short;
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::plans;
use crate::plans::tree::Tree;
use crate::schedule::{
    Chain, Claim, Difference, End, Link, Pile, Schedule, Sum, Term, Word, WordStep, Words,
};

/// Folded Karatsuba.
pub static METHOD: Method = Method {
    name: "folded-karatsuba",
    summary: "a reduction that folds a quarter and takes a quotient of half the words; products by Karatsuba",
    source: "Karatsuba, Ofman 1962; Montgomery 1985",
    ops: &[Op::Redc],
    parameters: &[
        Parameter {
            name: "levels",
            meaning: "how often the low product of the quotient is halved",
        },
        Parameter {
            name: "plan",
            meaning: "its products: half (of two halves), sum (of two such products), quarter (of two quarters), difference (of \
                      differences of quarters), and level1 ... of the low product as for short-product",
        },
    ],
    defaults: |spec, facts| {
        let k = spec.size.a / spec.word_bits / 2;
        let levels = (1..8).filter(|l| *l == 1 || (4..=12).contains(&k.div_ceil(1 << l)));
        let plans: Vec<_> = match are_many(facts) {
            true => plans::of_use("folded").collect(),
            false => few(1),
        };
        let with = |levels| {
            let plans = plans.iter();
            plans.map(move |plan| Params::from([("levels", levels)]).with(plan))
        };
        levels.flat_map(with).collect()
    },
    schedule,
};

/// The trees of the products that Karatsuba makes whole.
struct Trees {
    half: Tree,
    sum: Tree,
    quarter: Tree,
    difference: Tree,
}

impl Trees {
    fn of(plan: &plans::Plan) -> Result<Self, MethodError> {
        let part = |name| part_of(METHOD.name, plan, name);
        Ok(Self {
            half: part("half")?,
            sum: part("sum")?,
            quarter: part("quarter")?,
            difference: part("difference")?,
        })
    }
}

/// The differences of parts of a modulus of `n` words that follow it.
fn differences(operand: &[Word], n: usize) -> impl Iterator<Item = Difference> {
    folded::differences(n).into_iter().map(|d| {
        let number = |from: usize| operand[from..from + d.len].to_vec();
        Difference {
            x: number(d.x),
            y: number(d.y),
            words: number(d.at),
            negative: operand[d.at + d.len],
        }
    })
}

/// The number 1 as a carry, and the words of `x` with each bit turned.
fn complement(f: &mut Words, x: &[Word]) -> (Word, Vec<Word>) {
    let one = f.fresh();
    let unit = f.constant(1);
    let ones = f.chain(Sum::Sub, &[], &[unit], End::Carry { out: one })[0];
    (one, x.iter().map(|x| f.xor(*x, ones)).collect())
}

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let folded = |m: &spec::modulus::Modular| m.modulus == Modulus::RuntimeFolded;
    if !spec.modular.as_ref().is_some_and(folded) {
        return Err(MethodError::Unfolded(METHOD.name));
    }
    let levels = positive(METHOD.name, "levels", params)?;
    let plan = &given(&METHOD, spec, facts, params)?;
    let trees = Trees::of(plan)?;
    let low = &short_product::trees(METHOD.name, plan, levels)?[..];
    let n = (spec.size.a / spec.word_bits) as usize;
    let k = n / 2;
    short_product::check_levels(METHOD.name, levels, k)?;
    let mut f = Words::new(spec.op, spec.word_bits, &[2 * n]);
    f.modular = spec.modular.clone();
    let a = f.operand(0);
    let operand = f.add_operand(n + folded::following(n));
    let (m, rest) = operand.split_at(n);
    let (inverse, d) = (&rest[..k], &rest[k..k + n]);
    f.differences.extend(differences(&operand, n));

    let (a0, d0, d1) = (&a[..k], &d[..k], &d[k..]);
    f.push(WordStep::Part("p = a_0 d_0 + a_1 mod X".into()));
    let p = multiply_add(&mut f, a0, d0, &a[k..2 * k], trees.half);
    f.push(WordStep::Part("q = p m' mod X".into()));
    let how = Short {
        trees: low,
        shared: true,
    };
    let q = short_product::low(&mut f, (&p[..k], inverse), &[], how);
    f.claims.push(Claim::product(&q, &p[..k], inverse, &[]));
    let mut g = known_low(&mut f, &q, &m[..k], &p, &trees);

    f.push(WordStep::Part("a_0 d_1 + q m_1 and what is added".into()));
    let (one, complement) = complement(&mut f, a0);
    g[k] = f.chain(Sum::Add, &[g[k]], &[one], End::Drop)[0];
    let column = |i: usize| match i {
        i if i < k => vec![a[2 * k + i], g[i]],
        i if i == k => vec![a[3 * k], complement[0], g[k]],
        i => vec![a[2 * k + i], complement[i - k]],
    };
    let addends: Vec<_> = (0..n).map(column).collect();
    let factors = [(a0, d1), (&q[..], &m[k..])];
    let (x, top) = inner_sum(&mut f, &factors, &addends, trees.sum);
    let above = |x: &[Word]| Term {
        shift: 2 * k,
        ..Term::number(x)
    };
    let known = Claim::product(&[&x[..], &[top]].concat(), &q, m, &a[k..]);
    let more = Claim::product(&[], a0, d, &[]).terms.into_iter();
    let more = more.chain([above(&complement), above(&[one])]);
    f.claims.push(Claim {
        lead: k,
        terms: known.terms.into_iter().chain(more).collect(),
        ..known
    });
    f.push(WordStep::Part(
        "m less if it is 2^n or more, m more if it is below 0".into(),
    ));
    f.result = between(&mut f, &x, m, top, one);
    Ok(Schedule::Words(f))
}

/// `x y` and a number; their sum fits.
fn multiply_add(f: &mut Words, x: &[Word], y: &[Word], number: &[Word], tree: Tree) -> Vec<Word> {
    let columns: Vec<_> = number.iter().map(|word| vec![*word]).collect();
    let words = inner(f, (x, y), &columns, Inner::shared(tree));
    f.claims.push(Claim::product(&words, x, y, number));
    words
}

/// `x + 2^(w n) (top - 1)`, less `y` if that is `2^(w n)` or more, and `y` more if it is below 0; `top` is 0, 1 or 2.
fn between(f: &mut Words, x: &[Word], y: &[Word], top: Word, one: Word) -> Vec<Word> {
    let [negative, other] = [f.fresh(), f.fresh()];
    let rest = f.chain(Sum::Sub, &[top], &[one], End::Mask { out: negative });
    f.chain(Sum::Sub, &[], &rest, End::Mask { out: other });
    // y, or its complement and 1 more.
    let signed = |f: &mut Words, y: &Word| {
        let y = f.and(*y, other);
        f.xor(y, negative)
    };
    let y: Vec<_> = y.iter().map(|y| signed(f, y)).collect();
    let out = f.fresh_words(x.len());
    let links = x.iter().zip(&y).zip(&out);
    let links = links.map(|((x, y), out)| Link::new(Some(*x), Some(*y), *out));
    f.push(WordStep::Chain(Chain {
        sum: Sum::Sub,
        carry: Some(negative),
        links: links.collect(),
        end: End::Drop,
    }));
    out
}

/// The upper half of `q_0 k_0`, from what is 0 below `X`; the borrow of its lower half, and its own.
fn upper_half(
    f: &mut Words,
    u0: &[Word],
    e: &[Word],
    q0: &[Word],
    k0: &[Word],
) -> (Vec<Word>, Word, Word) {
    let h = u0.len();
    f.push(WordStep::Part(
        "the upper half of q_0 k_0, from what is 0 below X".into(),
    ));
    let out = f.fresh();
    let negated = f.chain(Sum::Sub, &[], u0, End::Carry { out });
    let (b, upper) = (f.fresh(), f.fresh_words(h));
    let links = (0..h).map(|i| Link::new(Some(u0[i]), Some(e[i]), upper[i]));
    f.push(WordStep::Chain(Chain {
        sum: Sum::Sub,
        carry: Some(out),
        links: links.collect(),
        end: End::Carry { out: b },
    }));
    let words = [negated, upper.clone()].concat();
    f.claims.push(Claim::product(&words, q0, k0, &[]));
    (upper, out, b)
}

/// `g = (u + q m) / X` for a multiple of `X`, for `q` and `m` of as many words as `X`, and `u` of twice as many: one word more.
fn known_low(f: &mut Words, q: &[Word], m: &[Word], u: &[Word], trees: &Trees) -> Vec<Word> {
    let h = q.len() / 2;
    let halves = |x: &[Word]| [x[..h].to_vec(), x[h..].to_vec()];
    let (u, above) = u.split_at(2 * h);
    let ([q0, q1], [k0, k1], [u0, u1]) = (halves(q), halves(m), halves(u));
    f.push(WordStep::Part("H = q_1 k_1".into()));
    let high = multiply_add(f, &q1, &k1, &[], trees.quarter);
    f.push(WordStep::Part("H + (q_0 - q_1)(k_1 - k_0) + u_1".into()));
    let addends: Vec<_> = (0..2 * h)
        .map(|i| high.get(i).into_iter().chain(u1.get(i)).copied().collect())
        .collect();
    let (e, top) = inner_difference(f, [&q0, &q1], [&k0, &k1], &addends, trees.difference);
    let (upper, out, b) = upper_half(f, &u0, &e, &q0, &k0);
    f.push(WordStep::Part(
        "(u + q m_0) / X, with the second quarter of u".into(),
    ));
    let sign = f.fresh();
    f.push(WordStep::Sign { x: top, out: sign });
    let pile = |i: usize| {
        let mut addends: Vec<_> = high
            .get(i)
            .into_iter()
            .chain(above.get(i))
            .copied()
            .collect();
        addends.extend(match i {
            0 => vec![upper[0], e[h], out, b],
            i if i < h => vec![upper[i], e[h + i]],
            i if i == h => vec![top],
            _ => vec![sign],
        });
        Pile {
            addends,
            ..Pile::default()
        }
    };
    let g = f.sweep((0..=2 * h).map(pile).collect());
    f.claims.push(Claim {
        lead: 2 * h,
        ..Claim::product(&g, q, m, &[u, above].concat())
    });
    g
}
