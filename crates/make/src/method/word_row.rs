//! A row of a product: a number times a word, added to another number; the word that carries out is returned.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::checked_parameters::straight;
use crate::method::signature::{Method, MethodError, Params};
use crate::schedule::{Pile, Schedule, WordStep, Words};

/// A number times a word, added to a number.
pub static METHOD: Method = Method {
    name: "word-row",
    summary: "the products of one word by a number, with the words of another number in their columns",
    source: "Knuth 1997, section 4.3.1, algorithm M",
    ops: &[Op::Addmul],
    parameters: &[],
    defaults: |_, _| vec![Params::new()],
    schedule,
};

fn schedule(spec: &Spec, facts: &Facts, _: &Params) -> Result<Schedule, MethodError> {
    straight(METHOD.name, facts)?;
    let n = (spec.size.a / spec.word_bits) as usize;
    let mut words = Words::new(spec.op, spec.word_bits, &[n, n, 1]);
    let [a, b, s] = [0, 1, 2].map(|side| words.operand(side));
    let column = |(a, b)| Pile {
        products: vec![(b, s[0])],
        addends: vec![a],
        ..Pile::default()
    };
    let piles = a.into_iter().zip(b).map(column);
    // What is left is below 2^w, as a + b s < 2^(w n) 2^w.
    let piles = piles.chain([Pile::default()]).collect();
    let mut out = words.sweep(piles);
    if let Some(x) = out.pop() {
        words.push(WordStep::Return { x });
    }
    words.result = out;
    Ok(Schedule::Words(words))
}
