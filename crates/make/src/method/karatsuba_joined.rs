//! Karatsuba's multiplication, joined at the end: the middle product, the low and the high one are made one after
//! the other, each by a plan of its own, then all is added up a piece at a time.
//!
//! `x y = L_lo + W (L_lo + Z + M) + W^2 Z` with `Z = H + L_hi`, the middle product `M` of absolute values and
//! under its sign: while a product is made, words of the others take no register.

use std::sync::Arc;

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::bottom::{Pair, equation};
use crate::method::checked_parameters::{one_size, positive};
use crate::method::karatsuba::inner_of_triple;
use crate::method::karatsuba_plans::{Kind, given, triples};
use crate::method::middle_first::{Middle, Plus, Sign, distance};
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::method::square_product_scanning::Sink;
use crate::method::streamed::PIECE;
use crate::plans::Plan;
use crate::schedule::{Claim, Schedule, Word, WordStep, Words};

/// Karatsuba, joined at the end.
pub static METHOD: Method = Method {
    name: "karatsuba-joined",
    summary: "three products of half the size, each by a plan of its own, then added up in one pass",
    source: "Hutter, Schwabe 2014",
    ops: &[Op::Mul],
    parameters: &[
        Parameter {
            name: "levels",
            meaning: "levels that are joined, where halves are of one size",
        },
        Parameter {
            name: "plan",
            meaning: "the products at the bottom: middle, low and high",
        },
    ],
    defaults,
    schedule,
};

/// Products of 12 to 20 words at the bottom; where there are none, one level, of an even number of words.
fn defaults(spec: &Spec, facts: &Facts) -> Vec<Params> {
    let [n, _] = spec.words(facts.word_bits);
    let set = |levels: usize, plan: &Arc<Plan>| Params::from([("levels", levels)]).with(plan);
    let bottom = |levels: usize| (n >> levels, n.is_multiple_of(1 << levels));
    let levels = (1..8).filter(|l| matches!(bottom(*l), (12..=20, true)));
    let sets = levels.flat_map(|levels| {
        let plans = triples(n >> levels, facts);
        plans.into_iter().map(move |plan| set(levels, plan))
    });
    let sets: Vec<_> = sets.collect();
    match sets.is_empty() && bottom(1).1 {
        true => triples(n / 2, facts)
            .into_iter()
            .take(1)
            .map(|plan| set(1, plan))
            .collect(),
        false => sets,
    }
}

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let method = METHOD.name;
    let n = one_size(method, spec, facts)?;
    let levels = positive(method, "levels", params)?;
    let plan = &given(&METHOD, spec, facts, params)?;
    let largest = n.ilog2() as usize;
    if levels > largest {
        return Err(MethodError::TooLarge {
            method,
            parameter: "levels",
            value: levels,
            largest,
        });
    }
    if !n.is_multiple_of(1 << levels) {
        return Err(MethodError::Halves { method, words: n });
    }
    let mut f = Words::new(spec.op, facts.word_bits, &[n, n]);
    let (a, b) = (f.operand(0), f.operand(1));
    let plan = JoinedPlan(plan);
    f.result = plan.product(&mut f, (&a, &b), &[], levels, Kind::Whole)?;
    Ok(Schedule::Words(f))
}

/// How the products at the bottom are made.
#[derive(Clone, Copy)]
struct JoinedPlan<'a>(&'a Plan);

impl JoinedPlan<'_> {
    /// `x y + plus`, which fits, so many levels joined; at the bottom as a product of that kind.
    fn product(
        self,
        f: &mut Words,
        factors: Pair<'_>,
        plus: &[Word],
        levels: usize,
        kind: Kind,
    ) -> Result<Vec<Word>, MethodError> {
        if levels == 0 {
            let once: Vec<_> = plus.iter().map(|word| vec![*word]).collect();
            return inner_of_triple(f, factors, &once, (METHOD.name, self.0), kind);
        }
        let mut words = Vec::with_capacity(2 * factors.0.len());
        self.joined(f, factors, plus, levels, &mut |_, next| words.extend(next))?;
        Ok(words)
    }

    /// The same of at least one level, its words given to `sink` as they come.
    fn joined(
        self,
        f: &mut Words,
        (x, y): Pair<'_>,
        plus: &[Word],
        levels: usize,
        sink: &mut Sink<'_>,
    ) -> Result<(), MethodError> {
        let n = x.len();
        let low = n / 2;
        let ((xl, xh), (yl, yh)) = (x.split_at(low), y.split_at(low));
        f.push(WordStep::Part(format!("{n} words: |xl - xh| |yh - yl|")));
        let (da, db) = (distance(f, xl, xh), distance(f, yh, yl));
        let sign = f.xor(da.negative, db.negative);
        let factors = (&da.words[..], &db.words[..]);
        let m = self.product(f, factors, &[], levels - 1, Kind::M)?;
        equation(f, &m, &[factors], &[]);
        f.push(WordStep::Part(format!("{n} words: L = xl yl")));
        let l = self.product(f, (xl, yl), &[], levels - 1, Kind::L)?;
        equation(f, &l, &[(xl, yl)], &[]);
        f.push(WordStep::Part(format!("{n} words: Z = xh yh + L_hi")));
        let (l_lo, l_hi) = l.split_at(low);
        let z = self.product(f, (xh, yh), l_hi, levels - 1, Kind::Z)?;
        let once: Vec<_> = l_hi.iter().map(|word| vec![*word]).collect();
        equation(f, &z, &[(xh, yh)], &once);

        f.push(WordStep::Part(format!(
            "{n} words: L_lo + W (L_lo + Z + M) + W^2 Z"
        )));
        let mut all = Vec::with_capacity(2 * n);
        let mut sum = Plus::new(plus, 2 * n, false);
        let mut sink = |f: &mut Words, words: &[Word]| {
            all.extend(words);
            sum.next(f, words, sink);
        };
        let mut middle = Middle::new(low, m, Sign::Under(sign));
        let (z_lo, z_hi) = z.split_at(low);
        // L_lo is the result's before Z is there, L_lo + M waits for Z.
        for l in l_lo.chunks(PIECE) {
            sink(f, l);
        }
        for (l, z) in l_lo.chunks(PIECE).zip(z_lo.chunks(PIECE)) {
            middle.l(f, l, &mut |_, _| ());
            middle.z(f, z, &mut sink);
        }
        for z in z_hi.chunks(PIECE) {
            middle.z(f, z, &mut sink);
        }
        middle.claim(f, &da, &db);
        middle.end(f, low, &mut sink);
        if !plus.is_empty() {
            f.claims.push(Claim::product(&all, x, y, &[]));
        }
        Ok(())
    }
}
