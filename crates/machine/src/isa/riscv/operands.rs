//! Operands of an instruction, and what a core has of the instruction set.

/// The operands of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Ops {
    /// rd, rs1 and rs2.
    pub d: u8,
    pub s: u8,
    pub t: u8,
    /// The immediate as it counts: LUI's has twelve zeros below, a branch's is in bytes from its own address.
    pub k: i32,
}

/// What a core must have for an instruction to exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feature {
    /// RV32I.
    Base,
    /// M.
    Multiply,
    /// C: a form of 16 bits.
    Compressed,
}

/// What a core has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Features {
    /// M: products and divisions.
    pub multiply: bool,
    /// C: instructions of 16 bits.
    pub compressed: bool,
    /// E: the registers x0 to x15 only.
    pub reduced: bool,
}

impl Features {
    /// RV32IMC.
    pub const ALL: Features = Features {
        multiply: true,
        compressed: true,
        reduced: false,
    };

    /// Is it there?
    pub fn has(self, feature: Feature) -> bool {
        match feature {
            Feature::Base => true,
            Feature::Multiply => self.multiply,
            Feature::Compressed => self.compressed,
        }
    }

    /// Registers there are.
    pub fn registers(self) -> u8 {
        match self.reduced {
            true => 16,
            false => 32,
        }
    }

    /// Does all code for `other` run here, called in the same way?
    pub fn runs(self, other: Features) -> bool {
        self.multiply >= other.multiply
            && self.compressed >= other.compressed
            && self.reduced == other.reduced
    }

    /// As GNU as is told: `rv32imc`.
    pub fn name(self) -> String {
        let letters = [
            (self.reduced, "e"),
            (!self.reduced, "i"),
            (self.multiply, "m"),
            (self.compressed, "c"),
        ];
        let letters = letters.iter().filter(|(has, _)| *has);
        "rv32".to_string() + &letters.map(|(_, letter)| *letter).collect::<String>()
    }
}
