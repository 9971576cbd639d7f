//! The narrow waist: a list of instructions of one instruction set, wherever it came from.

/// Instructions, and remarks on them for the listing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program<I> {
    pub insns: Vec<I>,
    /// Remarks, each before the instruction of that index.
    pub notes: Vec<(usize, String)>,
}

impl<I> Program<I> {
    /// An empty program.
    pub fn new() -> Self {
        Self {
            insns: Vec::new(),
            notes: Vec::new(),
        }
    }
}

impl<I> Default for Program<I> {
    fn default() -> Self {
        Self::new()
    }
}
