//! The registers of a MIPS32 that functions may use.

/// Registers that a function may use as it likes, once $a0 to $a2 point.
pub const CALLER_SAVED: [u8; 14] = [2, 3, 7, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 1];
/// Registers that it must save first.
pub const CALLEE_SAVED: [u8; 10] = [16, 17, 18, 19, 20, 21, 22, 23, 30, 31];

/// The register that holds 0.
pub const ZERO: u8 = 0;
