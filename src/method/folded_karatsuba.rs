//! A reduction of `2n` words modulo an odd number of `n` that folds a quarter of them and divides by the next.
//!
//! With `X = 2^(w n/2)`, `a = a_0 + X a_1`, `c = X^-1 mod m` and `m' = -m^-1 mod X`:
//!
//! 1. `u = a_1 + a_0 c < X^3 + X m`, and `a = X u (mod m)`; one `X m` less if that is not below `X^3`.
//! 2. `q = u m' mod X`, `(u + q m) / X < 2^(w n) + m`, and one `m` less if that is not below `2^(w n)`.
//!
//! Of `L = q m_0`, `m = m_0 + X m_1`, the low half is known, `-u mod X`, so that two products of quarters do
//! instead of three: with `Y^2 = X`, `q = q_0 + Y q_1`, `m_0 = k_0 + Y k_1`, `H = q_1 k_1`,
//! `D = (q_0 - q_1)(k_1 - k_0)`, Karatsuba has `L = l + Y (l + H + D) + Y^2 H` with `l = q_0 k_0`. So
//! `l = -u_0 (mod Y)`, and its upper half is `v = -u_1 - l - H - D - [u_0 > 0] (mod Y)`. What is left of
//! `u + q m_0` above `X` is, with `-u_0 = l (mod Y)` and `H + D + u_1 = e_0 + Y e_1`, `v = u_0 - e_0 - [u_0 > 0] + Y b`:
//! `g = H + v + e_1 + b + [u_0 > 0]`.

use super::karatsuba::{inner, inner_difference};
use super::reduction::masked;
use super::{Method, MethodError, Parameter, Params, positive, short_product};
use crate::facts::Facts;
use crate::schedule::{Chain, Claim, End, Link, Pile, Schedule, Sum, Term, Word, WordStep, Words};
use crate::spec::modulus::Modulus;
use crate::spec::{Op, Spec};

/// Folded Karatsuba.
pub static METHOD: Method = Method {
    name: "folded-karatsuba",
    summary: "a reduction that folds a quarter and takes a quotient of half the words; products by Karatsuba",
    source: "Karatsuba, Ofman 1962; Montgomery 1985",
    ops: &[Op::Redc],
    parameters: &[
        Parameter {
            name: "plan",
            meaning: "three digits: which of Karatsuba's plans products of halves follow, those of quarters, and the difference",
        },
        Parameter {
            name: "levels",
            meaning: "how often the low product of the quotient is halved",
        },
        Parameter {
            name: "low",
            meaning: "the plan of that product, as for short-product",
        },
    ],
    defaults: |spec, facts| {
        let k = spec.size.a / spec.word_bits / 2;
        let levels = (1..8).filter(|l| *l == 1 || (4..=12).contains(&k.div_ceil(1 << l)));
        let (plans, low) = match (super::karatsuba::inner_plans(facts) < 5, k > 40) {
            (true, _) => (&[0][..], 0),
            (_, true) => (&[622, 922][..], 5535),
            (_, false) => (&[522, 622][..], 5535),
        };
        let sets = levels.flat_map(|levels| {
            let plans = plans.iter();
            plans.map(move |plan| Params::from([("plan", *plan), ("levels", levels), ("low", low)]))
        });
        sets.collect()
    },
    schedule,
};

/// The plans of the products.
struct Plans<'a> {
    half: usize,
    quarter: usize,
    difference: usize,
    facts: &'a Facts,
}

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let folded = |m: &crate::spec::modulus::Modular| m.modulus == Modulus::RuntimeFolded;
    if !spec.modular.as_ref().is_some_and(folded) {
        return Err(MethodError::Unfolded(METHOD.name));
    }
    let levels = positive(METHOD.name, "levels", params)?;
    let given = |name| params.get(name).copied().unwrap_or(0);
    let (plan, low) = (given("plan"), given("low"));
    let plans = Plans {
        half: plan / 100 % 10,
        quarter: plan / 10 % 10,
        difference: plan % 10,
        facts,
    };
    let n = (spec.size.a / spec.word_bits) as usize;
    let k = n / 2;
    short_product::check(METHOD.name, (levels, k), ("low", low), facts)?;
    short_product::check(METHOD.name, (3, k.max(8)), ("plan", plan), facts)?;
    let mut f = Words::new(spec.op, spec.word_bits, &[2 * n]);
    f.modular = spec.modular.clone();
    let a = f.operand(0);
    let operand = f.add_operand(n + k + n);
    let (m, rest) = operand.split_at(n);
    let (inverse, c) = rest.split_at(k);

    f.push(WordStep::Part("u = a_1 + a_0 c".into()));
    let p = multiply_add(
        &mut f,
        (&a[..k], &c[..k]),
        &[&a[k..2 * k]],
        (plans.half, facts),
    );
    let addends = [&p[k..], &a[2 * k..3 * k]];
    let p1 = multiply_add(&mut f, (&a[..k], &c[k..]), &addends, (plans.half, facts));
    let (top, e) = add(&mut f, &a[3 * k..], &p1[k..]);
    let mut u = [&p[..k], &p1[..k], &top].concat();
    let mut words = u.clone();
    words.push(e);
    f.claims.push(Claim::product(&words, &a[..k], c, &a[k..]));
    f.push(WordStep::Part("X m less if it is X^3 or more".into()));
    let less = subtract_if(&mut f, &u[k..], m, e);
    u.splice(k.., less);

    f.push(WordStep::Part("q = u m' mod X".into()));
    let q = short_product::low(&mut f, (&u[..k], inverse), &[], (levels, low, true), facts);
    f.claims.push(Claim::product(&q, &u[..k], inverse, &[]));
    let g = known_low(&mut f, (&q, &m[..k]), &u[..2 * k], &plans);
    f.push(WordStep::Part("(u + q m) / X".into()));
    let addends = [&g[..]];
    let p = multiply_add(&mut f, (&q, &m[k..]), &addends, (plans.half, facts));
    let (top, s) = add(&mut f, &p[k..], &u[2 * k..]);
    let x = [&p[..k], &top].concat();
    let words = [&x[..], &[s]].concat();
    f.claims.push(Claim {
        lead: k,
        ..Claim::product(&words, &q, m, &u)
    });
    f.push(WordStep::Part("m less if it is 2^n or more".into()));
    f.result = subtract_if(&mut f, &x, m, s);
    Ok(Schedule::Words(f))
}

/// `x y` and numbers, of which one may be a little longer than `x`; their sum fits.
fn multiply_add(
    f: &mut Words,
    (x, y): (&[Word], &[Word]),
    addends: &[&[Word]],
    (plan, facts): (usize, &Facts),
) -> Vec<Word> {
    let longest = addends.iter().map(|a| a.len()).max().unwrap_or(0);
    let column = |i: usize| addends.iter().filter_map(|a| a.get(i)).copied().collect();
    let columns: Vec<_> = (0..longest).map(column).collect();
    let words = inner(f, (x, y), &columns, (plan, None, true), facts);
    let mut claim = Claim::product(&words, x, y, &[]);
    claim.terms.extend(addends.iter().map(|a| Term::number(a)));
    f.claims.push(claim);
    words
}

/// `x + y`, and the carry.
fn add(f: &mut Words, x: &[Word], y: &[Word]) -> (Vec<Word>, Word) {
    let out = f.fresh();
    (f.chain(Sum::Add, x, y, End::Carry { out }), out)
}

/// `x - y` if the word is not 0, else `x`.
fn subtract_if(f: &mut Words, x: &[Word], y: &[Word], word: Word) -> Vec<Word> {
    let (mask, unused) = (f.fresh(), f.fresh());
    f.push(WordStep::Chain(Chain {
        sum: Sum::Sub,
        carry: None,
        links: vec![Link::new(None, Some(word), unused)],
        end: End::Mask { out: mask },
    }));
    let y: Vec<_> = y.iter().copied().map(Some).collect();
    masked(f, Sum::Sub, (x, &y), mask, End::Drop)
}

/// `g = (u + q m) / X` for a multiple of `X`, for `q` and `m` of as many words as `X`, and `u` of twice as many: one word more.
fn known_low(f: &mut Words, (q, m): (&[Word], &[Word]), u: &[Word], plans: &Plans) -> Vec<Word> {
    let h = q.len() / 2;
    let halves = |x: &[Word]| [x[..h].to_vec(), x[h..].to_vec()];
    let (u, above) = u.split_at(2 * h);
    let ([q0, q1], [k0, k1], [u0, u1]) = (halves(q), halves(m), halves(u));
    f.push(WordStep::Part("H = q_1 k_1".into()));
    let high = multiply_add(f, (&q1, &k1), &[], (plans.quarter, plans.facts));
    f.push(WordStep::Part("H + (q_0 - q_1)(k_1 - k_0) + u_1".into()));
    let addends: Vec<_> = (0..2 * h)
        .map(|i| high.get(i).into_iter().chain(u1.get(i)).copied().collect())
        .collect();
    let (e, top) = inner_difference(
        f,
        [&q0, &q1],
        [&k0, &k1],
        &addends,
        (plans.difference, plans.facts),
    );
    f.push(WordStep::Part(
        "the upper half of q_0 k_0, from what is 0 below X".into(),
    ));
    let out = f.fresh();
    let negated = f.chain(Sum::Sub, &[], &u0, End::Carry { out });
    let (b, upper) = (f.fresh(), f.fresh_words(h));
    let links = (0..h).map(|i| Link::new(Some(u0[i]), Some(e[i]), upper[i]));
    f.push(WordStep::Chain(Chain {
        sum: Sum::Sub,
        carry: Some(out),
        links: links.collect(),
        end: End::Carry { out: b },
    }));
    f.claims.push(Claim::product(
        &[negated, upper.clone()].concat(),
        &q0,
        &k0,
        &[],
    ));
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
