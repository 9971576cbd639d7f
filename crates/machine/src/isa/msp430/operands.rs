//! Operands of an instruction: addressing modes and sizes; what a core has of the instruction set.

use std::ops::RangeInclusive;

/// Registers with a part of their own.
pub const PC: u8 = 0;
pub const SP: u8 = 1;
pub const SR: u8 = 2;
/// The constant generator.
pub const CG: u8 = 3;

/// Bits of the operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Size {
    /// 20 bits.
    Address,
    /// 16 bits.
    #[default]
    Word,
    /// 8 bits.
    Byte,
}

impl Size {
    /// What stands behind a mnemonic.
    pub fn suffix(self) -> &'static str {
        match self {
            Size::Address => ".a",
            Size::Word => "",
            Size::Byte => ".b",
        }
    }
}

/// Where a source is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    Register(u8),
    /// In memory, so many bytes above what a register holds.
    Indexed(u8, u16),
    /// In memory, where a register points.
    Indirect(u8),
    /// The same; the register then points behind it.
    Increment(u8),
    /// In memory at this address.
    Absolute(u16),
    /// In memory, so many bytes above this operand's own word.
    Symbolic(u16),
    /// A number; in a code unit of its own, if it is none that the constant generator makes.
    Constant(u16),
}

/// Where a destination is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dest {
    Register(u8),
    /// In memory, so many bytes above what a register holds.
    Indexed(u8, u16),
    /// In memory at this address.
    Absolute(u16),
    /// In memory, so many bytes above this operand's own word.
    Symbolic(u16),
}

/// What the constant generator makes: the number, register and mode (SLAU144, table 3-2).
const GENERATED: [(u16, u8, u8); 6] = [
    (0, CG, 0),
    (1, CG, 1),
    (2, CG, 2),
    (0xffff, CG, 3),
    (4, SR, 2),
    (8, SR, 3),
];

impl Source {
    /// Its register, mode and code unit, as assemblers choose them: no distance takes no code unit.
    pub fn fields(self) -> (u8, u8, u16) {
        match self {
            Source::Register(r) => (r, 0, 0),
            Source::Indexed(r, 0) => (r, 2, 0),
            Source::Indexed(r, x) => (r, 1, x),
            Source::Indirect(r) => (r, 2, 0),
            Source::Increment(r) => (r, 3, 0),
            Source::Absolute(x) => (SR, 1, x),
            Source::Symbolic(x) => (PC, 1, x),
            Source::Constant(k) => {
                let mut generated = GENERATED.iter();
                let found = generated.find(|(number, ..)| *number == k);
                found.map_or((PC, 3, k), |(_, r, mode)| (*r, *mode, 0))
            }
        }
    }

    /// That of a register, a mode and a code unit.
    pub fn of(r: u8, mode: u8, x: u16) -> Self {
        let mut generated = GENERATED.iter();
        if let Some((k, ..)) = generated.find(|(_, of, by)| (*of, *by) == (r, mode)) {
            return Source::Constant(*k);
        }
        match (mode, r) {
            (0, r) => Source::Register(r),
            (1, PC) => Source::Symbolic(x),
            (1, SR) => Source::Absolute(x),
            (1, r) => Source::Indexed(r, x),
            (2, r) => Source::Indirect(r),
            (_, PC) => Source::Constant(x),
            (_, r) => Source::Increment(r),
        }
    }
}

impl Dest {
    /// Its register, mode and code unit.
    pub fn fields(self) -> (u8, u8, u16) {
        match self {
            Dest::Register(r) => (r, 0, 0),
            Dest::Indexed(r, y) => (r, 1, y),
            Dest::Absolute(y) => (SR, 1, y),
            Dest::Symbolic(y) => (PC, 1, y),
        }
    }

    /// That of a register, a mode and a code unit.
    pub fn of(r: u8, mode: u8, y: u16) -> Self {
        match (mode, r) {
            (0, r) => Dest::Register(r),
            (_, PC) => Dest::Symbolic(y),
            (_, SR) => Dest::Absolute(y),
            (_, r) => Dest::Indexed(r, y),
        }
    }
}

/// The operands of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Ops {
    /// The source: register, mode (As) and code unit.
    pub s: u8,
    pub a: u8,
    pub x: u16,
    /// The destination: register, mode (Ad) and code unit.
    pub d: u8,
    pub b: u8,
    pub y: u16,
    pub size: Size,
    /// How many bytes on from its own address a jump goes; how many registers or bits an instruction of several is of.
    pub k: i16,
}

impl Ops {
    pub fn source(&self) -> Source {
        Source::of(self.s, self.a, self.x)
    }

    pub fn dest(&self) -> Dest {
        Dest::of(self.d, self.b, self.y)
    }

    /// The registers of PUSHM, which names the highest.
    pub fn pushed(&self) -> RangeInclusive<u8> {
        (self.d + 1).saturating_sub(self.k as u8)..=self.d
    }

    /// The registers of POPM, whose bits name the lowest.
    pub fn popped(&self) -> RangeInclusive<u8> {
        self.d..=(self.d + self.k as u8).saturating_sub(1)
    }

    /// The address that a CALLA or BRA goes to.
    pub fn far(&self) -> usize {
        (self.k as usize & 0xf) << 16 | usize::from(self.x)
    }

    /// Does the source take a code unit?
    pub fn source_unit(&self) -> bool {
        self.a == 1 && self.s != CG || (self.a, self.s) == (3, PC)
    }
}

/// What a core must have for an instruction to exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feature {
    /// The MSP430 CPU.
    Base,
    /// The MSP430X CPU.
    Extended,
}

/// What a core has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Features {
    /// MSP430X.
    pub extended: bool,
}

impl Features {
    /// Is it there?
    pub fn has(self, feature: Feature) -> bool {
        match feature {
            Feature::Base => true,
            Feature::Extended => self.extended,
        }
    }
}
