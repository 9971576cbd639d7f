//! Finely integrated product scanning (FIPS): each column collects the products of the factors and
//! those of the quotient with the modulus.
//!
//! Koc, Acar, Kaliski 1996; Grossschaedl, Kamendje 2003, algorithm 1. A reduction alone (`redc`) is the
//! second half of the separated product scanning (SPS).

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::loop_forms::as_scans;
use crate::method::reduction;
use crate::method::reduction::Reduction;
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::schedule::{Schedule, WordStep, Words};

/// FIPS.
pub static METHOD: Method = Method {
    name: "fips",
    summary: "Montgomery: products and quotients in the same columns",
    source: "Koc, Acar, Kaliski 1996; Grossschaedl, Kamendje 2003",
    ops: &[Op::Montmul, Op::Montsqr, Op::Redc, Op::Tomont, Op::Frommont],
    parameters: &[Parameter {
        name: "unroll",
        meaning: "products of a strand per pass of the inner loop (looped, rolled)",
    }],
    defaults: |_, _| vec![Params::new()],
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    as_scans(METHOD.name, words(spec, facts)?, facts, params)
}

/// The columns, and the subtraction behind them.
pub(super) fn words(spec: &Spec, facts: &Facts) -> Result<Words, MethodError> {
    columns(spec, spec.op, facts)
}

/// The reduction of a number that the factors of `spec` leave.
pub(super) fn reduction(spec: &Spec, facts: &Facts) -> Result<Words, MethodError> {
    columns(spec, Op::Redc, facts)
}

/// Columns of what `op` reduces, which is as large as in the operation of `spec`.
fn columns(spec: &Spec, op: Op, facts: &Facts) -> Result<Words, MethodError> {
    let reduced = Spec { op, ..spec.clone() };
    let (mut words, mut factors) = reduction::factors(&reduced);
    let reduction = Reduction::of(spec, &mut words)?;
    let reduction = reduction.for_style(facts, &mut words, &mut factors);
    words.op = op;
    words.push(WordStep::Part(
        "columns, each made 0 by a quotient word".into(),
    ));
    let t = reduction.sweep(&mut words, |_, k| reduction::column(&reduced, &factors, k));
    words.result = reduction.subtract(&mut words, &t);
    words.simplify();
    Ok(words)
}
