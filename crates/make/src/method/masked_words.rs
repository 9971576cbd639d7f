//! One of two numbers, or two numbers in one of two orders, without a branch: with `s` a bit, each word is
//! `(x & ~m) + (y & m)` under the mask `m = -s`; of the two one is 0, so that nothing carries.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::checked_parameters::straight;
use crate::method::signature::{Method, MethodError, Params};
use crate::schedule::{Chain, End, Link, Schedule, Sum, Word, WordStep, Words};

/// One of two numbers under a mask; two numbers, exchanged under a mask.
pub static METHOD: Method = Method {
    name: "masked-words",
    summary: "each word under a mask and another one under its complement, added",
    source: "Warren 2012, section 2-20",
    ops: &[Op::Select, Op::Swap],
    parameters: &[],
    defaults: |_, _| vec![Params::new()],
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, _: &Params) -> Result<Schedule, MethodError> {
    straight(METHOD.name, facts)?;
    let n = (spec.size.a / spec.word_bits) as usize;
    let lengths = match spec.op {
        Op::Swap => vec![2 * n, 1],
        _ => vec![n, n, 1],
    };
    let mut words = Words::new(spec.op, spec.word_bits, &lengths);
    let s = words.operand(lengths.len() - 1);
    let masks = [words.fresh(), words.fresh()];
    words.push(WordStep::Odd {
        x: s[0],
        out: masks[1],
    });
    let ones = words.constant(u64::MAX >> (64 - spec.word_bits));
    words.push(WordStep::Xor {
        x: masks[1],
        y: ones,
        out: masks[0],
    });
    let (x, y) = match spec.op {
        Op::Swap => {
            let mut low = words.operand(0);
            let high = low.split_off(n);
            (low, high)
        }
        _ => (words.operand(0), words.operand(1)),
    };
    let pairs = x.into_iter().zip(y);
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for (x, y) in pairs {
        first.push(chosen(&mut words, masks, [x, y]));
        if spec.op == Op::Swap {
            second.push(chosen(&mut words, masks, [y, x]));
        }
    }
    words.result = [first, second].concat();
    Ok(Schedule::Words(words))
}

/// `(x & masks[0]) + (y & masks[1])`.
fn chosen(words: &mut Words, masks: [Word; 2], [x, y]: [Word; 2]) -> Word {
    let x = words.and(x, masks[0]);
    let out = words.fresh();
    let link = Link {
        mask: Some(masks[1]),
        ..Link::new(Some(x), Some(y), out)
    };
    words.push(WordStep::Chain(Chain {
        sum: Sum::Add,
        carry: None,
        links: vec![link],
        end: End::Drop,
    }));
    out
}
