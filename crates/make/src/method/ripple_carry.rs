//! Sums, differences and doubles whose last carry is returned, with or without a first one: one carry chain.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::checked_parameters::straight;
use crate::method::signature::{Method, MethodError, Params};
use crate::schedule::{End, Schedule, Sum, WordStep, Words};

/// Sums, differences and doubles of numbers.
pub static METHOD: Method = Method {
    name: "ripple-carry",
    summary: "one carry chain over the words; the last carry or borrow is returned",
    source: "Knuth 1997, section 4.3.1, algorithms A and S",
    ops: &[Op::Add, Op::Sub, Op::Shl, Op::Addc, Op::Subb],
    parameters: &[],
    defaults: |_, _| vec![Params::new()],
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, _: &Params) -> Result<Schedule, MethodError> {
    straight(METHOD.name, facts)?;
    let n = (spec.size.a / spec.word_bits) as usize;
    let factors = spec.op.factors();
    let first = spec.op.most_of_word(spec.word_bits).map(|_| 1);
    let lengths: Vec<_> = std::iter::repeat_n(n, factors).chain(first).collect();
    let mut words = Words::new(spec.op, spec.word_bits, &lengths);
    let [a, b] = [0, factors - 1].map(|side| words.operand(side));
    let sum = match spec.op {
        Op::Sub | Op::Subb => Sum::Sub,
        _ => Sum::Add,
    };
    let carry = first.map(|_| words.operand(factors)[0]);
    let out = words.fresh();
    words.result = words.carried(sum, carry, &a, &b, End::Carry { out });
    words.push(WordStep::Return { x: out });
    Ok(Schedule::Words(words))
}
