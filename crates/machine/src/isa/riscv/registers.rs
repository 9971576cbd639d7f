//! Registers, what a callee keeps of them, and the places that the convention fixes on the stack.

/// sp.
pub const SP: u8 = 2;
/// ra.
pub const RA: u8 = 1;
/// gp and tp, which nothing but the start of a program writes.
pub const GLOBALS: [u8; 2] = [3, 4];
/// Registers of arguments, in order; in ilp32e only the first six.
pub const ARGUMENTS: [u8; 8] = [10, 11, 12, 13, 14, 15, 16, 17];
/// Bytes above sp where a body keeps no words of its own: room for ra and s0 to s11.
pub const SAVE_AREA: i32 = 52;

/// Names of the registers in the standard conventions.
pub const REGISTERS: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
    "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
    "t5", "t6",
];
