//! Coarsely integrated operand scanning (CIOS): a row of the product, then a row of the reduction.
//!
//! Koc, Acar, Kaliski 1996; Seo, Kim 2014, figure 5. After each row `t < 2^(w (n + 1))`:
//! `t + A B[i] < 2^(w (n + 2))`, and `(t + q M) / 2^w` has a word less.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::reduction;
use crate::method::reduction::Reduction;
use crate::method::signature::{Method, MethodError, Params};
use crate::schedule::{Pile, Schedule, Word, WordStep, Words};

/// CIOS.
pub static METHOD: Method = Method {
    name: "cios",
    summary: "Montgomery: rows of the product and of the reduction by turns",
    source: "Koc, Acar, Kaliski 1996; Seo, Kim 2014, section IV",
    ops: &[Op::Montmul, Op::Montsqr],
    parameters: &[],
    defaults: |_, _| vec![Params::new()],
    schedule,
};

fn schedule(spec: &Spec, _: &Facts, _: &Params) -> Result<Schedule, MethodError> {
    let (mut words, _) = reduction::factors(spec);
    let reduction = Reduction::of(spec, &mut words)?;
    let n = reduction.len();
    let mut t = Vec::new();
    for i in 0..n {
        words.push(WordStep::Part(format!("row {i}, then (t + q m) / 2^w")));
        // The last row leaves what is reduced.
        let len = match i + 1 < n {
            true => n + 2,
            false => 1 + reduction.reduced_len(),
        };
        t = row(spec, &mut words, t, i, 0, len);
        t = reduction.row(&mut words, &t, len);
    }
    words.result = reduction.subtract(&mut words, &t);
    Ok(Schedule::Words(words))
}

/// `len` words of `t + A B[i] 2^(w at)`; of a square `A[i] (A[i] 2^(w i) + 2 sum A[j] 2^(w j)) 2^(w at)`,
/// `j > i`: its rows together are `A^2`.
pub(super) fn row(
    spec: &Spec,
    words: &mut Words,
    mut t: Vec<Word>,
    i: usize,
    at: usize,
    len: usize,
) -> Vec<Word> {
    let a = words.operand(0);
    let square = spec.op == Op::Montsqr;
    let by = words.operand(spec.op.factors() - 1)[i];
    let first = at + if square { i } else { 0 };
    let pile = |k: usize| {
        let product = a.get(k - at).map(|a| (*a, by)).into_iter().collect();
        let [doubled, products] = match square && k - at > i {
            true => [product, Vec::new()],
            false => [Vec::new(), product],
        };
        Pile {
            products,
            doubled,
            addends: t.get(k).copied().into_iter().collect(),
            ..Pile::default()
        }
    };
    let piles = (first..len.max(first)).map(pile).collect();
    let sum = words.sweep(piles);
    t.truncate(first);
    t.extend(sum);
    t
}
