//! A range of cycles: the fewest and the most.

/// Fewest and most cycles, over all inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub struct Span {
    pub min: u64,
    pub max: u64,
}

impl Span {
    /// The smallest span that holds both.
    pub fn join(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}
