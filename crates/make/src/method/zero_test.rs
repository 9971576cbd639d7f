//! Is a number 0, are two numbers equal: `0 - x` borrows unless `x` is 0. Two numbers are equal just when their difference
//! modulo `2^n` is 0.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::checked_parameters::straight;
use crate::method::signature::{Method, MethodError, Params};
use crate::schedule::{End, Schedule, Sum, WordStep, Words};

/// Is a number 0, are two numbers equal?
pub static METHOD: Method = Method {
    name: "zero-test",
    summary: "the borrow of 0 - x, of x = a or x = a - b",
    source: "Warren 2012, section 2-12",
    ops: &[Op::Iszero, Op::Equal],
    parameters: &[],
    defaults: |_, _| vec![Params::new()],
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, _: &Params) -> Result<Schedule, MethodError> {
    straight(METHOD.name, facts)?;
    let n = (spec.size.a / spec.word_bits) as usize;
    let mut words = Words::new(spec.op, spec.word_bits, &vec![n; spec.op.factors()]);
    let mut x = words.operand(0);
    if spec.op == Op::Equal {
        words.push(WordStep::Part("a - b".into()));
        let b = words.operand(1);
        x = words.chain(Sum::Sub, &x, &b, End::Drop);
    }
    let borrow = words.fresh();
    let pairs = x.into_iter().map(|x| (None, Some(x))).collect();
    words.push(WordStep::Part("0 - x borrows unless x is 0".into()));
    words.links(Sum::Sub, pairs, End::Mask { out: borrow });
    let one = words.constant(1);
    // 1 + (-borrow)
    words.result = words.chain(Sum::Add, &[borrow], &[one], End::Drop);
    Ok(Schedule::Words(words))
}
