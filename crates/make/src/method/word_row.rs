//! A row of a product: a number times a word, by itself, added to another number or subtracted from it; the word that
//! carries out is returned.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::checked_parameters::straight;
use crate::method::signature::{Method, MethodError, Params};
use crate::schedule::{End, Pile, Schedule, Sum, WordStep, Words};

/// A number times a word.
pub static METHOD: Method = Method {
    name: "word-row",
    summary: "the products of one word by a number, with the words of another number in their columns, or taken from it",
    source: "Knuth 1997, section 4.3.1, algorithms M and D",
    ops: &[Op::Addmul, Op::Submul, Op::Mulword],
    parameters: &[],
    defaults: |_, _| vec![Params::new()],
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, _: &Params) -> Result<Schedule, MethodError> {
    straight(METHOD.name, facts)?;
    let n = (spec.size.a / spec.word_bits) as usize;
    let factors = spec.op.factors();
    let lengths: Vec<_> = std::iter::repeat_n(n, factors).chain([1]).collect();
    let mut words = Words::new(spec.op, spec.word_bits, &lengths);
    let [a, b, s] = [0, factors - 1, factors].map(|side| words.operand(side));
    let column = |(a, b)| Pile {
        products: vec![(b, s[0])],
        addends: Vec::from_iter(a),
        ..Pile::default()
    };
    let added = |word| Some(word).filter(|_| spec.op == Op::Addmul);
    let piles = a.iter().map(|word| added(*word)).zip(b).map(column);
    // What is left is below 2^w, as a + b s < 2^(w n) 2^w.
    let piles = piles.chain([Pile::default()]).collect();
    let mut row = words.sweep(piles);
    let high = row.pop().ok_or(MethodError::NotSpecial)?;
    let (row, returned) = match spec.op {
        Op::Submul => {
            let borrow = words.fresh();
            let row = words.chain(Sum::Sub, &a, &row, End::Carry { out: borrow });
            // At most 2^w - 1, as b s <= (2^(w n) - 1) (2^w - 1).
            let sum = words.chain(Sum::Add, &[high], &[borrow], End::Drop);
            (row, sum[0])
        }
        _ => (row, high),
    };
    words.push(WordStep::Return { x: returned });
    words.result = row;
    Ok(Schedule::Words(words))
}
