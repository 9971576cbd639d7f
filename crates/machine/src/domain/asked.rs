//! Which operations a run of variables asks about: all but those on addresses, and on bits that have no variable.

use crate::domain::answers::Answers;
use crate::domain::public::{Public, PublicBit};
use crate::domain::variable::{BitValue, Value};

/// A word in arithmetic: a number, a variable, or an unknown word for an address.
pub fn operand<A: Answers>(d: &mut A, value: Value, w: u32) -> Value {
    match value {
        Value::Var(_) | Value::Public(Public::Known(_)) => value,
        Value::Public(Public::Pointer { .. } | Public::Negated { .. }) => Value::Var(d.any_word(w)),
    }
}

/// Two words in arithmetic; the same ones stay the same.
pub fn operands<A: Answers>(d: &mut A, a: Value, b: Value, w: u32) -> (Value, Value) {
    let first = operand(d, a, w);
    match a == b {
        true => (first, first),
        false => (first, operand(d, b, w)),
    }
}

/// A bit in arithmetic: one that is followed, or an unknown bit.
pub fn operand_bit<A: Answers>(d: &mut A, bit: BitValue) -> BitValue {
    match bit {
        BitValue::Public(PublicBit::Known(_))
        | BitValue::Var(_)
        | BitValue::Top { .. }
        | BitValue::Zero { .. } => bit,
        BitValue::Public(PublicBit::Step { .. } | PublicBit::Below { .. }) | BitValue::Opaque => {
            BitValue::Var(d.any_bit())
        }
    }
}
