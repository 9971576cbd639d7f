//! The registers that functions work with.

/// An operand or the result, and the register that points to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Array {
    R = 10,
    A = 11,
    B = 12,
    /// A modulus.
    M = 13,
}

/// Registers that a function may use as it likes, once a0 to a2 point.
pub const CALLER_SAVED: [u8; 12] = [15, 14, 13, 5, 6, 7, 16, 17, 28, 29, 30, 31];
/// Registers that it must save first.
pub const CALLEE_SAVED: [u8; 13] = [8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 1];

/// The register that holds 0.
pub const ZERO: u8 = 0;
