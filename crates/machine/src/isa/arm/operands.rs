//! Operands of an instruction.

/// The operands of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ops {
    /// Condition, 0 to 14; 14 is always.
    pub cond: u8,
    pub d: u8,
    pub n: u8,
    pub m: u8,
    /// Rs.
    pub r: u8,
    /// Set the flags.
    pub s: bool,
    /// Index before the access; add the offset; write the address back.
    pub p: bool,
    pub u: bool,
    pub w: bool,
    /// The bits of a shifter operand, offset or register list, or a branch offset in words.
    pub k: i32,
}

impl Default for Ops {
    fn default() -> Self {
        Self {
            cond: ALWAYS,
            d: 0,
            n: 0,
            m: 0,
            r: 0,
            s: false,
            p: false,
            u: false,
            w: false,
            k: 0,
        }
    }
}

/// The condition that always holds.
pub const ALWAYS: u8 = 14;
