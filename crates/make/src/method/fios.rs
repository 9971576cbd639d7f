//! Finely integrated operand scanning (FIOS): each row adds the products of one word of a factor and
//! those of one quotient word in the same pass, and moves everything down by a word.
//!
//! Koc, Acar, Kaliski 1996; Grossschaedl, Kamendje 2003, sections 2.3 and 5.2.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::loop_forms::as_scans;
use crate::method::reduction;
use crate::method::reduction::Reduction;
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::schedule::{Pile, Schedule, WordStep};

/// FIOS.
pub static METHOD: Method = Method {
    name: "fios",
    summary: "Montgomery: row by row, a row of the product and one of the quotient at a time",
    source: "Koc, Acar, Kaliski 1996; Grossschaedl, Kamendje 2003, section 5.2",
    ops: &[Op::Montmul, Op::Montsqr],
    parameters: &[Parameter {
        name: "unroll",
        meaning: "words per pass of the inner loop (rolled)",
    }],
    defaults: |_, _| vec![Params::new()],
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, params: &Params) -> Result<Schedule, MethodError> {
    let (mut words, mut factors) = reduction::factors(spec);
    let reduction = Reduction::of(spec, &mut words)?;
    let reduction = reduction.for_style(facts, &mut words, &mut factors);
    let [a, b] = factors;
    words.push(WordStep::Part("rows, each with its quotient word".into()));
    let t = reduction.integrated_rows(&mut words, |_, i, j| {
        let pair = a.get(j).map(|x| (*x, b[i])).into_iter().collect();
        // Of a square a row begins on the diagonal, and what is beyond it comes twice.
        match spec.op {
            Op::Montsqr if i < j => Pile {
                doubled: pair,
                ..Pile::default()
            },
            Op::Montsqr if i > j => Pile::default(),
            _ => Pile {
                products: pair,
                ..Pile::default()
            },
        }
    });
    words.result = reduction.subtract(&mut words, &t);
    as_scans(METHOD.name, words, facts, params)
}
