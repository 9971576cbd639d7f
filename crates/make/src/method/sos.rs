//! Separated operand scanning (SOS): the product row by row, then the reduction row by row.
//!
//! Koc, Acar, Kaliski 1996; Seo, Kim 2014, figure 5a. A reduction alone (`redc`) is its second half.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::reduction::Reduction;
use crate::method::signature::{Method, MethodError, Params};
use crate::method::{cios, reduction};
use crate::schedule::{Schedule, WordStep};

/// SOS.
pub static METHOD: Method = Method {
    name: "sos",
    summary: "Montgomery: rows of the product, then rows of the reduction",
    source: "Koc, Acar, Kaliski 1996; Seo, Kim 2014, section IV",
    ops: &[Op::Montmul, Op::Montsqr, Op::Redc],
    parameters: &[],
    defaults: |_, _| vec![Params::new()],
    schedule,
};

fn schedule(spec: &Spec, _: &Facts, _: &Params) -> Result<Schedule, MethodError> {
    let (mut words, factors) = reduction::factors(spec);
    let reduction = Reduction::of(spec, &mut words)?;
    let n = reduction.len();
    let mut p = Vec::new();
    if spec.op == Op::Redc {
        [p, _] = factors;
    } else {
        for i in 0..n {
            words.push(WordStep::Part(format!("row {i} of the product")));
            // Row i of a square goes up to word 2 i + 1 at least, and its doubled words one further.
            let over = spec.op == Op::Montsqr && i + 1 < n;
            let len = i + n + 1 + usize::from(over);
            p = cios::row(spec, &mut words, p, i, i, len);
        }
    }
    words.push(WordStep::Part("rows of the reduction".into()));
    let t = reduction.rows(&mut words, &p);
    words.result = reduction.subtract(&mut words, &t);
    Ok(Schedule::Words(words))
}
