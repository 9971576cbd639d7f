//! What tests ask for: a request says what is special, and takes the rest from here.

use lozenge::candidate::Budget;
use lozenge::kernel::{Demands, Request};
use lozenge::spec::modulus::{Modular, Reduce};
use lozenge::spec::{Op, Size, Spec};

/// The cheapest kernel for `op` in constant time, of any method, with no budget.
pub fn of(op: Op, size: impl Into<Size>) -> Request {
    Request {
        op,
        size: size.into(),
        modular: None,
        method: None,
        params: Default::default(),
        max_regs: None,
        style: None,
        budget: Budget::default(),
        room: None,
        demands: Demands::default(),
        drop: None,
        search: false,
    }
}

/// The same of kernels whose time may depend on their operands.
pub fn in_any_time(op: Op, size: impl Into<Size>) -> Request {
    Request {
        demands: Demands::variable_time(),
        ..of(op, size)
    }
}

/// A modulus as it is typed.
pub fn modular(modulus: &str, reduce: Reduce) -> Modular {
    Modular {
        modulus: modulus.parse().expect("a modulus"),
        reduce,
        shift: 0,
    }
}

/// What is computed, of operands of `words` words of `word_bits` bits.
pub fn spec(op: Op, words: u32, modulus: Option<(&str, Reduce)>, word_bits: u32) -> Spec {
    let modular = modulus.map(|(modulus, reduce)| modular(modulus, reduce));
    Spec::with(op, words * word_bits, modular, word_bits).expect("sizes that fit")
}
