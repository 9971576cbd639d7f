//! Registers, what a callee keeps of them, and the places that the convention fixes on the stack.

/// $sp.
pub const SP: u8 = 29;
/// $ra.
pub const RA: u8 = 31;
/// Registers of the pointer arguments, in order.
pub const ARGUMENTS: [u8; 4] = [4, 5, 6, 7];
/// Bytes above $sp that the callee may write.
pub const HOME: i64 = 16;
/// Bytes above $sp where a body keeps no words of its own: room for all registers to save.
pub const SAVE_AREA: i32 = 40;

/// Names of the registers in the o32 convention.
pub const REGISTERS: [&str; 32] = [
    "zero", "at", "v0", "v1", "a0", "a1", "a2", "a3", "t0", "t1", "t2", "t3", "t4", "t5", "t6",
    "t7", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "t8", "t9", "k0", "k1", "gp", "sp", "fp",
    "ra",
];
