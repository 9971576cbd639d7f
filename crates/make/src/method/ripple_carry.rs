//! Sums, differences and doubles whose last carry is returned, with or without a first one, or under a mask: one
//! carry chain.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::checked_parameters::straight;
use crate::method::signature::{Method, MethodError, Params};
use crate::schedule::{Chain, End, Link, Schedule, Sum, WordStep, Words};

/// Sums, differences and doubles of numbers.
pub static METHOD: Method = Method {
    name: "ripple-carry",
    summary: "one carry chain over the words; the last carry or borrow is returned",
    source: "Knuth 1997, section 4.3.1, algorithms A and S",
    ops: &[
        Op::Add,
        Op::Sub,
        Op::Shl,
        Op::Addc,
        Op::Subb,
        Op::Addif,
        Op::Subif,
    ],
    parameters: &[],
    defaults: |_, _| vec![Params::new()],
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, _: &Params) -> Result<Schedule, MethodError> {
    straight(METHOD.name, facts)?;
    let factors = spec.op.factors();
    let lengths = spec.words(spec.word_bits).into_iter().take(factors);
    let first = spec.op.most_of_word(spec.word_bits).map(|_| 1);
    let lengths: Vec<_> = lengths.chain(first).collect();
    let mut words = Words::new(spec.op, spec.word_bits, &lengths);
    let [a, b] = [0, factors - 1].map(|side| words.operand(side));
    let sum = match spec.op {
        Op::Sub | Op::Subb | Op::Subif => Sum::Sub,
        _ => Sum::Add,
    };
    let bit = words.operand(factors).first().copied();
    let mask = bit.filter(|_| matches!(spec.op, Op::Addif | Op::Subif));
    let carry = bit.filter(|_| mask.is_none());
    let mask = mask.map(|x| {
        let out = words.fresh();
        words.push(WordStep::Odd { x, out });
        out
    });
    let out = words.fresh();
    words.result = words.fresh_words(a.len());
    // A shorter b has zeros above it.
    let b = b.into_iter().map(Some).chain(std::iter::repeat(None));
    let links = a.into_iter().zip(b).zip(&words.result);
    let links = links.map(|((x, y), out)| Link {
        mask: mask.filter(|_| y.is_some()),
        ..Link::new(Some(x), y, *out)
    });
    words.push(WordStep::Chain(Chain {
        sum,
        carry,
        links: links.collect(),
        end: End::Carry { out },
    }));
    words.push(WordStep::Return { x: out });
    Ok(Schedule::Words(words))
}
