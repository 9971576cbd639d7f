//! Products modulo a prime next to a power of 2, folded between Karatsuba's three products.
//!
//! With `X = 2^(w n/2)`, `c = X^2 mod m`, `a = a_0 + X a_1`, `L = a_0 b_0`, `H = a_1 b_1`, `M = (a_0 - a_1)(b_1 - b_0)`:
//! `a b = L + X (L + H + M) + X^2 H = E + X (E + M)` with `E = L + X H`, and `X x = X x_0 + c x_1 (mod m)`. So
//! what is folded is half as long, twice: the columns of `L` take the words of `X H`, those of `M` the words of `E`.

use num_bigint::BigUint;
use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::bottom::{Over, add_layers, equation, layers};
use crate::method::karatsuba::{part_plan, product};
use crate::method::karatsuba_plans::{Kind, are_many, few, given, part_of};
use crate::method::middle_signs::{both, complements, difference, either};
use crate::method::reduction::{Reduction, digits};
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::method::special_primes::{Folding, give_back};
use crate::plans;
use crate::schedule::{Claim, End, Schedule, Sum, Word, WordStep, Words};

/// Karatsuba's product, folded between its products.
pub static METHOD: Method = Method {
    name: "karatsuba-modulo",
    summary: "modulo a special prime: three products of half the size, folded before the next takes them",
    source: "Karatsuba, Ofman 1962; Solinas 1999",
    ops: &[Op::Modmul],
    parameters: &[Parameter {
        name: "plan",
        meaning: "its products, high, low and middle: each is the L, Z or M of a tree of karatsuba's",
    }],
    defaults: |_, facts| {
        let plans: Vec<_> = match are_many(facts) {
            true => plans::of_use("modulo").collect(),
            false => few(1),
        };
        plans
            .into_iter()
            .map(|plan| Params::new().with(plan))
            .collect()
    },
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let (m, folding) = folding(spec)?;
    let w = spec.word_bits;
    let n = (spec.size.a / w) as usize;
    let h = n / 2;
    let plan = &given(&METHOD, spec, facts, params)?;
    let how = |part, kind| Ok(part_plan(h, part_of(METHOD.name, plan, part)?, kind));
    let [high_plan, low_plan, middle_plan] = [
        how("high", Kind::L)?,
        how("low", Kind::Z)?,
        how("middle", Kind::M)?,
    ];
    let mut f = Words::new(spec.op, w, &[n, n]);
    let halves = |f: &Words, side: usize| {
        let x = f.operand(side);
        [x[..h].to_vec(), x[h..].to_vec()]
    };
    let ([a0, a1], [b0, b1]) = (halves(&f, 0), halves(&f, 1));
    Reduction::of(spec, &mut f)?;
    f.push(WordStep::Part("H = a_1 b_1".into()));
    let (high, _) = product(&mut f, &[(&a1, &b1)], &[], Over::None, high_plan);
    f.claims.push(Claim::product(&high, &a1, &b1, &[]));

    f.push(WordStep::Part("E = a_0 b_0 + X H".into()));
    let columns = times_x(&folding, &high);
    let (e, top) = product(&mut f, &[(&a0, &b0)], &columns, Over::Wanted, low_plan);
    let top = top.ok_or(MethodError::NotSpecial)?;
    let words: Vec<_> = e.iter().copied().chain([top]).collect();
    equation(&mut f, &words, &[(&a0, &b0)], &columns);

    f.push(WordStep::Part("D = E + (a_0 - a_1)(b_1 - b_0)".into()));
    let (da, sa) = difference(&mut f, &a0, &a1);
    let (db, sb) = difference(&mut f, &b1, &b0);
    let columns = signed_columns(&mut f, &folding, &e, [(&da, sa), (&db, sb)]);
    let (d, beyond) = product(&mut f, &[(&da, &db)], &columns, Over::To(top), middle_plan);
    let beyond = beyond.ok_or(MethodError::NotSpecial)?;

    f.push(WordStep::Part("E + X D".into()));
    // X D first: it needs no words but those of D.
    let mut columns = times_x(&folding, &d);
    let d: Vec<_> = columns.iter_mut().map(|column| column.remove(0)).collect();
    let mut more = layers(&columns);
    more.push(e.into_iter().map(Some).collect());
    let (v, t) = add_layers(&mut f, d, more, Over::To(top));
    let t = t.ok_or(MethodError::NotSpecial)?;
    let (v, carry) = fold_carries(&mut f, v, [(t, folding.row(0)), (beyond, folding.row(h))]);
    let least = (BigUint::from(1u8) << m.bits()) - m;
    let c = digits(&mut f, &least, n);
    f.result = give_back(&mut f, &v, &c, carry);
    Ok(Schedule::Words(f))
}

/// The modulus and how it folds, if it is a sum of few powers of words below the middle.
fn folding(spec: &Spec) -> Result<(&BigUint, Folding), MethodError> {
    let m = spec.modular.as_ref().and_then(|modular| modular.fixed());
    let m = m.ok_or(MethodError::NotSpecial)?;
    if spec.shift() > 0 {
        return Err(MethodError::Shifted(METHOD.name));
    }
    let n = (spec.size.a / spec.word_bits) as usize;
    let folding = Folding::of(m, n, spec.word_bits)?;
    let halves = n >= 4 && n.is_multiple_of(2);
    let fits = halves && m.bits() == u64::from(spec.size.a) && folding.is_sum_below(n / 2);
    match fits {
        true => Ok((m, folding)),
        false => Err(MethodError::NoSumOfWords(METHOD.name)),
    }
}

/// The words of `X x mod m`, column by column: `X x_0`, and what the words of `x_1` leave.
fn times_x(folding: &Folding, x: &[Word]) -> Vec<Vec<Word>> {
    let (n, h) = (x.len(), x.len() / 2);
    let mut columns = vec![Vec::new(); n];
    for (column, word) in columns[h..].iter_mut().zip(x) {
        column.push(*word);
    }
    for (i, word) in x[h..].iter().enumerate() {
        for (column, times) in columns.iter_mut().zip(folding.row(i)) {
            column.extend(vec![*word; times.unsigned_abs() as usize]);
        }
    }
    columns
}

/// Differences, each with its sign.
type Signed<'a> = (&'a [Word], Word);

/// What is added to `da db` besides `E`. With signs `M = da db + X (sa ~db + sb ~da + sa + sb) - X^2 s`, `s = sa | sb`, and
/// `sa + sb = s + (sa & sb)`. As `m = X^2 - c`, `M + m s = da db + (X - c) s + X (sa ~db + sb ~da + (sa & sb))`, a sum of words.
fn signed_columns(
    f: &mut Words,
    folding: &Folding,
    e: &[Word],
    [(da, sa), (db, sb)]: [Signed<'_>; 2],
) -> Vec<Vec<Word>> {
    let (w, h) = (f.word_bits, e.len() / 2);
    let [one, any] = [both(f, sa, sb), either(f, sa, sb)];
    let mut columns: Vec<_> = e.iter().map(|x| vec![*x]).collect();
    let missing = (BigUint::from(1u8) << (w as usize * h)) - folding.value(w);
    let missing = digits(f, &missing, h);
    let ones = f.constant(u64::MAX >> (64 - w));
    for (column, digit) in columns.iter_mut().zip(missing) {
        column.extend(digit.map(|digit| match digit == ones {
            true => any,
            false => both(f, any, digit),
        }));
    }
    let signs = complements(f, [(da, sb), (db, sa)]);
    for (column, words) in columns[h..].iter_mut().zip(signs) {
        column.extend(words);
    }
    let one = f.links(Sum::Sub, vec![(None, Some(one))], End::Drop)[0];
    columns[h].push(one);
    columns
}

/// Words with what was carried out of them, and one more, at the words that a row says; and the mask of the last carry.
fn fold_carries(f: &mut Words, v: Vec<Word>, carried: [(Word, Vec<i64>); 2]) -> (Vec<Word>, Word) {
    f.push(WordStep::Part("fold the carries".into()));
    let one = f.constant(1);
    let mut pairs: Vec<_> = v.into_iter().map(|x| (Some(x), None)).collect();
    let [(t, at_t), more] = carried;
    let t = f.chain(Sum::Add, &[t], &[one], End::Drop)[0];
    for (word, row) in [(t, at_t), more] {
        for (pair, times) in pairs.iter_mut().zip(row) {
            if times != 0 {
                pair.1 = Some(word);
            }
        }
    }
    let carry = f.fresh();
    let v = f.links(Sum::Add, pairs, End::Mask { out: carry });
    (v, carry)
}
