//! Operands of an instruction, and the extensions that have it.

/// The operands of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Ops {
    pub s: u8,
    pub t: u8,
    pub d: u8,
    /// Even register of a pair.
    pub p: u8,
    /// Constant, shift count, displacement in bytes, or target in words (relative to the delay slot, or J's field).
    pub k: i32,
}

/// What a core must have for an instruction to exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// MIPS32 release 1.
    Base,
    /// Eight guard bits in HI, SHA, M2ADDU, MUL that keeps HI and LO (gk2003, section 4).
    WideAcc,
    /// MADDH, MADDL (gk2003, section 5.2). The paper gives their function, `a*b + c + d`, and that
    /// one word of it goes to a register; that `c` and `d` are a register pair is ours.
    #[serde(rename = "maddhl")]
    MaddHl,
    /// Loads that move their pointer (gk2003, section 5.3).
    #[serde(rename = "autoinc")]
    AutoInc,
}

/// Extensions that a core has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Features(u8);

impl Features {
    /// MIPS32 release 1 alone.
    pub const NONE: Features = Features(0);
    /// Every extension.
    pub const ALL: Features = Features(0b1110);
    /// Each extension, with its word on the command line.
    pub const EACH: [(Feature, &str); 3] = [
        (Feature::WideAcc, "wide-acc"),
        (Feature::MaddHl, "maddhl"),
        (Feature::AutoInc, "autoinc"),
    ];

    /// These and `feature`.
    pub fn with(self, feature: Feature) -> Self {
        Self(self.0 | 1 << feature as u8)
    }

    /// Is it there? The base instruction set always is.
    pub fn has(self, feature: Feature) -> bool {
        feature == Feature::Base || self.0 >> (feature as u8) & 1 == 1
    }
}
