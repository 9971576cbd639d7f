//! Aliasing: which operands share memory.

use serde::{Deserialize, Serialize};

/// Which operands start at the same address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Alias {
    #[serde(rename = "distinct")]
    Distinct,
    #[serde(rename = "a == b")]
    AIsB,
    #[serde(rename = "r == a")]
    RIsA,
    #[serde(rename = "r == b")]
    RIsB,
    #[serde(rename = "r == a == b")]
    All,
}

impl Alias {
    /// Every case, the two that the contract always offers first.
    pub const ALL: [Alias; 5] = [
        Alias::Distinct,
        Alias::AIsB,
        Alias::RIsA,
        Alias::RIsB,
        Alias::All,
    ];

    /// Must a kernel be proved for this case to be written?
    pub fn is_required(self) -> bool {
        matches!(self, Alias::Distinct | Alias::AIsB)
    }

    /// Do all operands that share an address in `other` share one here, too?
    pub fn includes(self, other: Alias) -> bool {
        let (here, there) = (self.places(), other.places());
        let together = |places: [usize; 3], i: usize, j: usize| places[i] == places[j];
        let pairs = [(0, 1), (0, 2), (1, 2)];
        pairs
            .into_iter()
            .all(|(i, j)| together(here, i, j) || !together(there, i, j))
    }

    /// As the header says it.
    pub fn text(self) -> &'static str {
        match self {
            Alias::Distinct => "r, a, b distinct",
            Alias::AIsB => "a == b",
            Alias::RIsA => "r == a",
            Alias::RIsB => "r == b",
            Alias::All => "r == a == b",
        }
    }

    /// As `--alias` takes it.
    pub fn argument(self) -> &'static str {
        match self {
            Alias::Distinct => "none",
            Alias::AIsB => "a=b",
            Alias::RIsA => "r=a",
            Alias::RIsB => "r=b",
            Alias::All => "r=a=b",
        }
    }

    /// For r, a and b: a number, the same for those that share an address.
    pub(crate) fn places(self) -> [usize; 3] {
        match self {
            Alias::Distinct => [0, 1, 2],
            Alias::AIsB => [0, 1, 1],
            Alias::RIsA => [0, 0, 2],
            Alias::RIsB => [0, 1, 0],
            Alias::All => [0, 0, 0],
        }
    }
}
