//! A row of a product: a number times a word, by itself, added to another number or subtracted from it; the word that
//! carries out is returned.

use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::checked_parameters::straight;
use crate::method::signature::{Method, MethodError, Params};
use crate::schedule::{Pile, Schedule, Word, WordStep, Words};

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
    let (row, returned) = match spec.op {
        Op::Submul => subtracted(&mut words, &a, &b, s[0]),
        _ => {
            let added = a.iter().copied().filter(|_| spec.op == Op::Addmul);
            let added = added.map(Some).chain(std::iter::repeat(None));
            let piles = b.iter().zip(added).map(|(b, a)| column(*b, s[0], a));
            // What is left is below 2^w, as a + b s < 2^(w n) 2^w.
            let piles = piles.chain([Pile::default()]).collect();
            let mut row = words.sweep(piles);
            let high = row.pop();
            (row, high)
        }
    };
    let x = returned.ok_or(MethodError::NotSpecial)?;
    words.push(WordStep::Return { x });
    words.result = row;
    Ok(Schedule::Words(words))
}

/// A column: a product by the word, and what is added to it.
fn column(b: Word, s: Word, added: impl IntoIterator<Item = Word>) -> Pile {
    Pile {
        products: vec![(b, s)],
        addends: added.into_iter().collect(),
        ..Pile::default()
    }
}

/// `a - b s = !(!a + b s)`, a word of each after the other: nothing waits but the word that carries.
fn subtracted(words: &mut Words, a: &[Word], b: &[Word], s: Word) -> (Vec<Word>, Option<Word>) {
    let ones = words.constant(u64::MAX >> (64 - words.word_bits));
    let flipped = |words: &mut Words, x| {
        let out = words.fresh();
        words.push(WordStep::Xor { x, y: ones, out });
        out
    };
    let (mut row, mut carry) = (Vec::new(), None);
    for (a, b) in a.iter().zip(b) {
        let a = flipped(words, *a);
        // (2^w - 1)^2 + 2 (2^w - 1) < 2^(2w)
        let pile = column(*b, s, [a].into_iter().chain(carry));
        let made = words.sweep(vec![pile, Pile::default()]);
        row.extend(made.first().map(|low| flipped(words, *low)));
        carry = made.last().copied();
    }
    (row, carry)
}
