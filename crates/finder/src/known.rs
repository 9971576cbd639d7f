//! Facts about a modulus, about the lowest bits of words, and about differences under a bit.

use machine::domain::variable::{Value, VarId};

/// What is known on the way to `m'`.
pub(crate) struct Sought {
    pub(crate) m: VarId,
    /// Words `e`, and the bits that are right.
    pub(crate) near: Vec<(VarId, u32)>,
}

impl Sought {
    /// `m` is odd.
    pub fn of(m: VarId) -> Self {
        Self {
            m,
            near: vec![(m, 3)],
        }
    }
}

/// What is known of lowest bits.
#[derive(Default)]
pub(crate) struct Parity {
    /// Lowest bits of words that are even.
    pub(crate) zeros: Vec<Value>,
}

/// A difference under a bit `t`: `z - x + 2^W t c`, see [`crate::masked_difference`].
#[derive(Clone, Copy)]
pub(crate) struct Masked {
    pub(crate) x: Value,
    pub(crate) chosen: Value,
    /// `t c`.
    pub(crate) carry: VarId,
}
