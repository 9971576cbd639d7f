//! The registers that values may lie in.

/// The first register that instructions with a number can change.
pub(super) const UPPER: u8 = 16;

/// The registers there are.
#[derive(Clone, Debug)]
pub struct Registers {
    /// In the order they are preferred, and the step from which each is free.
    pub free: Vec<(u8, usize)>,
    /// Holds 0, if anything reads it; the next one as well if `zeros`.
    pub zero: Option<u8>,
    pub zeros: bool,
    /// Through which numbers come to registers that LDI cannot load.
    pub loader: Option<u8>,
}
