//! Operations on words of which only the low bits are known.

use crate::domain::answers::Answers;
use crate::domain::placed::LowBits;
use crate::domain::public;
use crate::domain::public::PublicBit;
use crate::domain::variable::{BitValue, Value};
use crate::domain::word::{Logic, Sum};

/// The low bits of a word that depends on where the operands lie.
pub fn low_bits<A: Answers>(d: &A, word: Value) -> Option<LowBits> {
    match word {
        Value::Public(public) => LowBits::of(public, &d.run().memory),
        Value::Var(v) => d.run().placed.get(&v).copied(),
    }
}

/// `a op b`, if the low bits of both say it.
pub fn masked<A: Answers>(d: &A, op: Logic, a: Value, b: Value) -> Option<u64> {
    LowBits::masked(op, low_bits(d, a)?, low_bits(d, b)?)
}

/// A word of which only these bits are known.
pub fn word<A: Answers>(d: &mut A, low: LowBits, w: u32) -> Value {
    let v = d.any_word(w);
    d.run_mut().placed.insert(v, low);
    d.low_bits_are(v, low.count, low.bits);
    Value::Var(v)
}

/// A sum or difference of such words.
pub fn sum<A: Answers, const W: u32>(
    d: &mut A,
    up: bool,
    a: Value,
    b: Value,
    c: &BitValue,
) -> Option<Value> {
    let BitValue::Public(PublicBit::Known(c)) = *c else {
        return None;
    };
    let low = LowBits::sum(up, low_bits(d, a)?, low_bits(d, b)?, c)?;
    Some(word(d, low, W))
}

/// A sum or difference of public words, when it can be said.
pub fn folded<A: Answers, const W: u32>(
    d: &A,
    up: bool,
    a: &Value,
    b: &Value,
    c: &BitValue,
) -> Option<Sum<A, W>> {
    let (Value::Public(a), Value::Public(b), BitValue::Public(c)) = (a, b, c) else {
        return None;
    };
    let s = public::add_sub::<W>(up, *a, *b, *c)?;
    let bit = |known: Option<bool>| match known {
        Some(k) => BitValue::Public(PublicBit::Known(k)),
        None => BitValue::Opaque,
    };
    Some(Sum {
        word: Value::Public(s.word),
        carry: BitValue::Public(d.run().memory.ordered::<W>(s.carry)),
        half: bit(s.half),
        overflow: bit(s.overflow),
    })
}
