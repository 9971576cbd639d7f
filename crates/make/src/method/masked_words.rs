//! One of two numbers, or two numbers in one of two orders, without a branch: each word is `x + ((y - x) & m)` modulo `2^w`
//! under the mask `m = -s` of the bit `s`.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::checked_parameters::straight;
use crate::method::signature::{Method, MethodError, Params};
use crate::schedule::{Chain, End, Link, Schedule, Sum, Word, WordStep, Words};

/// One of two numbers under a mask; two numbers, exchanged under a mask.
pub static METHOD: Method = Method {
    name: "masked-words",
    summary: "the difference of two words under a mask, added to one of them",
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
    let mask = words.fresh();
    words.push(WordStep::Odd { x: s[0], out: mask });
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
        first.push(chosen(&mut words, mask, [x, y]));
        if spec.op == Op::Swap {
            second.push(chosen(&mut words, mask, [y, x]));
        }
    }
    words.result = [first, second].concat();
    Ok(Schedule::Words(words))
}

/// `x + ((y - x) & mask)`, modulo `2^w`.
fn chosen(words: &mut Words, mask: Word, [x, y]: [Word; 2]) -> Word {
    let difference = words.chain(Sum::Sub, &[y], &[x], End::Drop);
    let out = words.fresh();
    let link = Link {
        mask: Some(mask),
        ..Link::new(Some(x), difference.first().copied(), out)
    };
    words.push(WordStep::Chain(Chain {
        sum: Sum::Add,
        carry: None,
        links: vec![link],
        end: End::Drop,
    }));
    out
}
