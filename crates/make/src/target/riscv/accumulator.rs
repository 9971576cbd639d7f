//! The accumulator of three registers between two instructions of a column.

/// A register of the accumulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    pub r: u8,
    /// May it be written? Not if it is a value that something else reads.
    pub own: bool,
    /// Is it a number that is known? A sum is compared with its other part then.
    pub number: bool,
}

impl Part {
    /// A register that nothing else reads.
    pub fn own(r: u8) -> Self {
        Self {
            r,
            own: true,
            number: false,
        }
    }
}

/// The accumulator between two instructions: its words, its largest value, and what the columns that are left can hold.
#[derive(Clone, Copy, Debug)]
pub struct Accumulator {
    pub parts: [Option<Part>; 3],
    pub bound: u128,
    pub cap: u128,
}

impl Default for Accumulator {
    fn default() -> Self {
        Self {
            parts: [None; 3],
            bound: 0,
            cap: u128::MAX,
        }
    }
}
