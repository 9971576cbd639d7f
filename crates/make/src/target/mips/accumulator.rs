//! The state of HI and LO between two columns of a schedule in words.

use machine::isa::mips::cores::Features;

/// The accumulator between two instructions.
#[derive(Default)]
pub struct Accumulator {
    /// With guard bits.
    pub wide: bool,
    /// Its largest value; 0 when it holds nothing yet.
    pub bound: u128,
    /// What the columns that are left can hold.
    pub cap: u128,
    /// Its two words, when they are not in HI and LO.
    pub parked: Option<(u8, u8)>,
    /// Without guard bits: registers with a copy of HI, and with the carries counted since the last shift.
    pub high: Option<u8>,
    pub count: Option<u8>,
    /// The register that holds 1, and the instruction that sets it.
    pub one: Option<(usize, u8)>,
    pub features: Features,
    /// Are rows made by MADDL and MADDH, which may take more time for larger numbers?
    pub paired: bool,
}
