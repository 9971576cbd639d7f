//! What the contract promises of the operands, as steps that a run assumes.

use machine::domain::answers::Answers;
use machine::domain::trace::Step;
use machine::domain::variable::{BitValue, Value};
use machine::domain::{Abstract, Address, Domain};
use machine::fault::Fault;
use machine::of_width;
use num_bigint::BigUint;
use spec::modulus::Reduce;
use spec::{Op, Spec, folded};

/// What is promised of the words of the sources: factors below a bound, `m m' = -1`, an odd modulus, a bit `s`.
pub(super) fn promises(spec: &Spec, word_bits: u32, sources: &[Vec<Value>]) -> Vec<Step> {
    let mut list = Vec::new();
    let Some(modular) = &spec.modular else {
        if let (Some(1), Some([Value::Var(v)])) = (
            spec.op.most_of_word(word_bits),
            sources.last().map(Vec::as_slice),
        ) {
            list.push(Step::Bit { v: *v });
        }
        return list;
    };
    if modular.fixed().is_some() {
        if let Some(limit) = spec.limit(&[]) {
            for words in &sources[..spec.op.factors()] {
                below(&mut list, words, word_bits, &limit);
            }
        }
        return list;
    }
    let words = spec.size.a as usize / word_bits as usize;
    let Some((m, follows)) = sources.last().and_then(|m| m.split_at_checked(words)) else {
        return list;
    };
    if spec.op == Op::Modhalf {
        odd(&mut list, m);
    }
    if spec.is_folded() {
        list.push(Step::Inverses {
            m: m.to_vec(),
            inverse: follows[..words / 2].to_vec(),
            w: word_bits,
        });
        return list;
    }
    if modular.reduce == Reduce::Lazy {
        let most = BigUint::from(1u8) << (spec.size.a - 2);
        for words in &sources[..spec.op.factors()] {
            below(&mut list, words, word_bits, &(&most << 1));
        }
        below(&mut list, m, word_bits, &(&most + 1u8));
        let square = follows.get(usize::from(spec.inverse_follows())..);
        below(&mut list, square.unwrap_or_default(), word_bits, &most);
    }
    match (spec.op.is_montgomery(), m, follows) {
        (true, [Value::Var(m), ..], [Value::Var(inverse), ..]) if spec.inverse_follows() => {
            let (m, inverse, bits) = (*m, *inverse, word_bits.into());
            list.push(Step::Inverse { m, inverse, bits });
        }
        (true, ..) if !spec.inverse_follows() => odd(&mut list, m),
        (true | false, ..) => {}
    }
    list
}

/// The words are a number below `limit`.
fn below(list: &mut Vec<Step>, words: &[Value], w: u32, limit: &BigUint) {
    let most = limit - 1u8;
    for (i, word) in words.iter().enumerate() {
        if let Value::Var(v) = *word {
            let most = u64::try_from(&most >> (w as usize * i)).unwrap_or(u64::MAX);
            list.push(Step::Below { v, most });
        }
    }
}

/// The number is odd.
fn odd(list: &mut Vec<Step>, words: &[Value]) {
    if let Some(Value::Var(m)) = words.first() {
        list.push(Step::Odd { m: *m });
    }
}

/// The differences behind a modulus that folds, whose words lie at `modulus`, are what the contract says.
///
/// # Errors
/// Words of a width that no machine has.
pub(super) fn differences<A: Answers>(
    d: &mut A,
    spec: &Spec,
    word_bits: u32,
    modulus: &[Address],
) -> Result<(), Fault> {
    for difference in folded::differences(spec.words(word_bits)[0]) {
        let words = |from: usize, len: usize| modulus.get(from..from + len).unwrap_or_default();
        let (x, y) = (
            words(difference.x, difference.len),
            words(difference.y, difference.len),
        );
        let [x, y] = [x, y].map(|places| {
            let words = places.iter();
            words
                .map(|at| d.run().peek(*at).unwrap_or(Value::ZERO))
                .collect::<Vec<_>>()
        });
        let to = words(difference.at, difference.len + 1);
        of_width!(word_bits, |W| {
            for (at, word) in to.iter().zip(subtract::<A, W>(d, &x, &y)) {
                d.init::<W>(*at, &word);
            }
        })?;
    }
    Ok(())
}

/// The words of `x - y` modulo what they hold, numbers of as many words, and behind them the mask of the borrow: what
/// code would compute.
fn subtract<A: Answers, const W: u32>(d: &mut A, x: &[Value], y: &[Value]) -> Vec<Value> {
    let mut borrow: BitValue = d.flag(false);
    let mut words = Vec::with_capacity(x.len() + 1);
    for (x, y) in x.iter().zip(y) {
        let word = d.sub::<W>(x, y, &borrow);
        borrow = word.carry;
        words.push(word.word);
    }
    words.push(d.sub::<W>(&Value::ZERO, &Value::ZERO, &borrow).word);
    words
}

/// The words of `a - b` modulo `2^n`, which are 0 just when `a = b`, where the operation compares them.
///
/// # Errors
/// Words of a width that no machine has.
pub(super) fn compared<A: Answers>(
    d: &mut A,
    spec: &Spec,
    word_bits: u32,
    sources: &[Vec<Value>],
) -> Result<Vec<Value>, Fault> {
    let (Op::Equal, [a, b]) = (spec.op, sources) else {
        return Ok(Vec::new());
    };
    let mut words = of_width!(word_bits, |W| subtract::<A, W>(d, a, b))?;
    words.truncate(a.len());
    Ok(words)
}
