//! Facts about a modulus, and about the lowest bits of words.

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
