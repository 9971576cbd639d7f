//! Half of a number: each word moves right by a bit, and the lowest bit of the word above comes in.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::checked_parameters::straight;
use crate::method::signature::{Method, MethodError, Params};
use crate::schedule::{Schedule, WordStep, Words};

/// Half of a number, rounded down.
pub static METHOD: Method = Method {
    name: "shifted-words",
    summary: "each word moves right by a bit, from the highest on",
    source: "Warren 2012, section 2-17",
    ops: &[Op::Shr],
    parameters: &[],
    defaults: |_, _| vec![Params::new()],
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, _: &Params) -> Result<Schedule, MethodError> {
    straight(METHOD.name, facts)?;
    let n = (spec.size.a / spec.word_bits) as usize;
    let mut words = Words::new(spec.op, spec.word_bits, &[n]);
    words.result = words.fresh_words(n);
    let (mut above, pairs) = (None, words.operand(0).into_iter().zip(words.result.clone()));
    for (x, out) in pairs.rev() {
        words.push(WordStep::Right { x, above, out });
        above = Some(x);
    }
    Ok(Schedule::Words(words))
}
