//! Relocations: references between sections, made numbers.
//!
//! `S` is the address referred to, `A` the addend, `P` the place. Sources: AAELF32, section
//! 5.6.1 (ARM); System V ABI, MIPS supplement, chapter 4; those of RISC-V have a file of
//! their own; binutils, elf32-avr.c, for the names
//! and meanings of the AVR's (there is no ABI document).

use machine::domain::concrete::number;
use machine::function::Marks;
use object::{Architecture, elf};

/// What is referred to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// An address in the file.
    Address(u64),
    /// A number that no linker changes.
    Number(u64),
    /// What the file does not have, and why.
    Missing(String),
}

/// One relocation.
pub struct Reference {
    pub kind: u32,
    pub offset: u64,
    /// `None` where the place holds it.
    pub addend: Option<i64>,
    /// `S`.
    pub to: Target,
    /// Its name.
    pub what: String,
    pub local: bool,
}

/// The global offset table of position-independent MIPS code, which a linker would make: the
/// addresses that code loads by way of $gp (System V ABI, MIPS supplement, chapter 4).
#[derive(Default)]
pub struct GlobalOffsets {
    /// Address of the first entry.
    pub address: u64,
    pub entries: Vec<u32>,
    /// Those of them that are numbers.
    numbers: Vec<usize>,
}

impl GlobalOffsets {
    /// An empty table at `address`.
    pub fn at(address: u64) -> Self {
        Self {
            address,
            ..Self::default()
        }
    }

    /// What $gp holds: 0x7ff0 bytes above the table, to make the most of 16-bit offsets.
    pub fn gp(&self) -> i64 {
        self.address as i64 + 0x7ff0
    }

    /// Where `value` stands, counted from $gp.
    fn entry(&mut self, value: i64, is_number: bool) -> Result<i64, Unknown> {
        let mut known = 0..self.entries.len();
        let same =
            |i: &usize| self.entries[*i] == value as u32 && self.numbers.contains(i) == is_number;
        let index = known.find(same).unwrap_or(self.entries.len());
        if index == self.entries.len() {
            self.entries.push(value as u32);
            self.numbers.extend(is_number.then_some(index));
        }
        let offset = 4 * index as i64 - 0x7ff0;
        i16::try_from(offset).map_err(|_| Unknown)?;
        Ok(offset)
    }

    /// Which of its words are addresses.
    pub fn marks(&self) -> Marks {
        let mut marks = Marks::default();
        for index in (0..self.entries.len()).filter(|i| !self.numbers.contains(i)) {
            marks.add_address(self.address + 4 * index as u64);
        }
        marks
    }

    /// Its bytes.
    pub fn bytes(&self, big_endian: bool) -> Vec<u8> {
        let bytes = |entry: &u32| match big_endian {
            true => entry.to_be_bytes(),
            false => entry.to_le_bytes(),
        };
        self.entries.iter().flat_map(bytes).collect()
    }
}

/// The distance of $gp from the code, which an assembler knows by this name.
pub const GP_DISP: &str = "_gp_disp";

/// $gp itself, where all of a program shares it.
pub const LOCAL_GP: &str = "__gnu_local_gp";

/// The relocations of a section.
pub struct Relocations<'a> {
    pub architecture: Architecture,
    pub big_endian: bool,
    /// Are its types those of the MSP430X?
    pub extended: bool,
    /// Address of the section.
    pub address: u64,
    pub list: &'a [Reference],
}

/// The field of a relocation type that is not followed.
pub(super) struct Unknown;

fn sign_extend(value: u64, bits: u32) -> i64 {
    (value << (64 - bits)) as i64 >> (64 - bits)
}

impl Relocations<'_> {
    /// Applies them to the section's bytes: what they make addresses, and what nobody knows as the file
    /// does not have it.
    pub fn apply(&self, bytes: &mut [u8], got: &mut GlobalOffsets) -> Marks {
        let mut marks = Marks::default();
        for (i, r) in self.list.iter().enumerate() {
            let width = match self.architecture {
                Architecture::Avr | Architecture::Msp430 => 2,
                Architecture::Riscv32 => Self::riscv_width(r.kind),
                _ => 4,
            };
            let place = self.address.saturating_add(r.offset);
            let at = usize::try_from(r.offset).unwrap_or(usize::MAX);
            let fits = at.checked_add(width).is_some_and(|end| end <= bytes.len());
            let done = match (&r.to, self.architecture) {
                _ if width == 0 => Ok(()),
                (Target::Missing(what), _) => {
                    Err(format!("it needs {what} (check the linked program)"))
                }
                _ if !fits => Err(self.odd(r)),
                (Target::Address(to) | Target::Number(to), Architecture::Avr) => {
                    self.avr(r, *to, bytes, at).map_err(|_| self.odd(r))
                }
                (Target::Address(to) | Target::Number(to), Architecture::Msp430) => {
                    self.msp430(r, *to, bytes, at).map_err(|_| self.odd(r))
                }
                (Target::Address(to) | Target::Number(to), Architecture::Arm) => {
                    self.arm(r, *to, bytes, at).map_err(|_| self.odd(r))
                }
                (Target::Address(to) | Target::Number(to), Architecture::Riscv32) => {
                    let done = self.riscv(r, *to, &mut *bytes, at);
                    done.map_err(|_| self.odd(r))
                }
                (Target::Address(to) | Target::Number(to), _) => {
                    let done = self.mips(i, *to, &mut *bytes, at, got);
                    done.map_err(|_| self.odd(r))
                }
            };
            match done {
                Ok(()) if self.makes_address(r) => marks.add_address(place),
                Ok(()) => {}
                Err(text) => {
                    let width = match (self.architecture, elf::RelocationType(r.kind)) {
                        (Architecture::Avr, elf::R_AVR_32 | elf::R_AVR_CALL) => 4,
                        _ => width,
                    };
                    marks.add_gap(place..place.saturating_add(width as u64), &text);
                }
            }
        }
        marks
    }

    /// Does the word that is made say where something lies, which a linker decides?
    fn makes_address(&self, r: &Reference) -> bool {
        let kind = elf::RelocationType(r.kind);
        let absolute = match self.architecture {
            Architecture::Arm => matches!(kind, elf::R_ARM_ABS32 | elf::R_ARM_TARGET1),
            Architecture::Mips => {
                matches!(kind, elf::R_MIPS_32 | elf::R_MIPS_26 | elf::R_MIPS_HI16)
            }
            Architecture::Riscv32 => matches!(kind, elf::R_RISCV_32 | elf::R_RISCV_HI20),
            _ => false,
        };
        absolute && matches!(r.to, Target::Address(_))
    }

    fn odd(&self, r: &Reference) -> String {
        let what = &r.what;
        format!(
            "it refers to {what} by relocation type {}, which is not followed",
            r.kind
        )
    }

    pub(super) fn get(&self, bytes: &[u8], at: usize, width: usize) -> u64 {
        number(&bytes[at..at + width], self.big_endian)
    }

    pub(super) fn put(&self, bytes: &mut [u8], at: usize, width: usize, value: u64) {
        for i in 0..width {
            let place = if self.big_endian { width - 1 - i } else { i };
            bytes[at + place] = (value >> (8 * i)) as u8;
        }
    }

    fn avr(&self, r: &Reference, to: u64, bytes: &mut [u8], at: usize) -> Result<(), Unknown> {
        let x = (to as i64).wrapping_add(r.addend.unwrap_or(0));
        let from = x.wrapping_sub((self.address + r.offset) as i64 + 2);
        let old = self.get(bytes, at, 2);
        let ldi = |k: i64| old & 0xf0f0 | k as u64 & 0xf | (k as u64) << 4 & 0xf00;
        let new = match elf::RelocationType(r.kind) {
            elf::R_AVR_NONE | elf::R_AVR_DIFF8 | elf::R_AVR_DIFF16 | elf::R_AVR_DIFF32 => old,
            elf::R_AVR_7_PCREL if (-128..128).contains(&from) => {
                old & 0xfc07 | ((from >> 1) as u64) << 3 & 0x3f8
            }
            elf::R_AVR_13_PCREL if (-4096..4096).contains(&from) => {
                old & 0xf000 | (from >> 1) as u64 & 0xfff
            }
            elf::R_AVR_16 => x as u64 & 0xffff,
            elf::R_AVR_16_PM => (x >> 1) as u64 & 0xffff,
            elf::R_AVR_LO8_LDI | elf::R_AVR_LDI => ldi(x),
            elf::R_AVR_HI8_LDI => ldi(x >> 8),
            elf::R_AVR_HH8_LDI => ldi(x >> 16),
            elf::R_AVR_MS8_LDI => ldi(x >> 24),
            elf::R_AVR_LO8_LDI_NEG => ldi(-x),
            elf::R_AVR_HI8_LDI_NEG => ldi(-x >> 8),
            elf::R_AVR_HH8_LDI_NEG => ldi(-x >> 16),
            elf::R_AVR_MS8_LDI_NEG => ldi(-x >> 24),
            elf::R_AVR_LO8_LDI_PM | elf::R_AVR_LO8_LDI_GS => ldi(x >> 1),
            elf::R_AVR_HI8_LDI_PM | elf::R_AVR_HI8_LDI_GS => ldi(x >> 9),
            elf::R_AVR_HH8_LDI_PM => ldi(x >> 17),
            elf::R_AVR_LO8_LDI_PM_NEG => ldi(-x >> 1),
            elf::R_AVR_HI8_LDI_PM_NEG => ldi(-x >> 9),
            elf::R_AVR_HH8_LDI_PM_NEG => ldi(-x >> 17),
            elf::R_AVR_6 if (0..64).contains(&x) => {
                let x = x as u64;
                old & 0xd3f8 | x & 7 | (x & 0x18) << 7 | (x & 0x20) << 8
            }
            elf::R_AVR_6_ADIW if (0..64).contains(&x) => {
                old & 0xff30 | x as u64 & 0xf | (x as u64 & 0x30) << 2
            }
            elf::R_AVR_CALL if at + 4 <= bytes.len() => {
                let word = (x >> 1) as u64;
                self.put(bytes, at + 2, 2, word & 0xffff);
                old & 0xfe0e | word >> 16 & 1 | word >> 17 << 4 & 0x1f0
            }
            _ => return Err(Unknown),
        };
        self.put(bytes, at, 2, new);
        Ok(())
    }

    fn arm(&self, r: &Reference, to: u64, bytes: &mut [u8], at: usize) -> Result<(), Unknown> {
        let p = (self.address + r.offset) as i64;
        let old = self.get(bytes, at, 4);
        let addend = |implicit: i64| r.addend.unwrap_or(implicit);
        let word = (to as i64).wrapping_add(addend(sign_extend(old, 32)));
        let new = match elf::RelocationType(r.kind) {
            elf::R_ARM_NONE | elf::R_ARM_V4BX => old,
            elf::R_ARM_ABS32 | elf::R_ARM_TARGET1 => word as u64,
            elf::R_ARM_REL32 => word.wrapping_sub(p) as u64,
            elf::R_ARM_PREL31 => old & 1 << 31 | word.wrapping_sub(p) as u64 & 0x7fff_ffff,
            // BLX or a veneer would have to change state.
            elf::R_ARM_CALL | elf::R_ARM_JUMP24 | elf::R_ARM_PC24 | elf::R_ARM_PLT32
                if to & 1 == 0 =>
            {
                let distance = to as i64 + addend(sign_extend(old, 24) << 2) - p;
                old & 0xff00_0000 | (distance >> 2) as u64 & 0xff_ffff
            }
            _ => return Err(Unknown),
        };
        self.put(bytes, at, 4, new);
        Ok(())
    }

    fn mips(
        &self,
        i: usize,
        to: u64,
        bytes: &mut [u8],
        at: usize,
        got: &mut GlobalOffsets,
    ) -> Result<(), Unknown> {
        let r = &self.list[i];
        let p = (self.address + r.offset) as i64;
        let old = self.get(bytes, at, 4);
        let half = |word: u64| sign_extend(word, 16);
        let to = to as i64;
        let is_number = matches!(r.to, Target::Number(_));
        /// The operation of LUI, in the upper bits.
        const LUI: u64 = 0x0f;
        if r.kind == elf::R_MIPS_HI16.0 && old >> 26 != LUI {
            return Err(Unknown);
        }
        let new = match elf::RelocationType(r.kind) {
            elf::R_MIPS_NONE | elf::R_MIPS_JALR => old,
            elf::R_MIPS_32 => to.wrapping_add(r.addend.unwrap_or(sign_extend(old, 32))) as u64,
            elf::R_MIPS_26 => {
                let field = (old & 0x3ff_ffff) << 2;
                let implicit = match r.local {
                    true => (field as i64) | p & 0xf000_0000,
                    false => sign_extend(field, 28),
                };
                let target = to.wrapping_add(r.addend.unwrap_or(implicit));
                old & 0xfc00_0000 | (target >> 2) as u64 & 0x3ff_ffff
            }
            elf::R_MIPS_PC16 => {
                let implicit = sign_extend(old, 16) << 2;
                let distance = to.wrapping_add(r.addend.unwrap_or(implicit)) - p;
                old & 0xffff_0000 | (distance >> 2) as u64 & 0xffff
            }
            elf::R_MIPS_LO16 if r.what == GP_DISP => {
                let low = r.addend.unwrap_or(half(old)) + got.gp() - p + 4;
                old & 0xffff_0000 | low as u64 & 0xffff
            }
            elf::R_MIPS_CALL16 => old & 0xffff_0000 | got.entry(to, is_number)? as u64 & 0xffff,
            elf::R_MIPS_GOT16 if !r.local => {
                old & 0xffff_0000 | got.entry(to, is_number)? as u64 & 0xffff
            }
            elf::R_MIPS_LO16 => {
                let low = to.wrapping_add(r.addend.unwrap_or(half(old)));
                old & 0xffff_0000 | low as u64 & 0xffff
            }
            elf::R_MIPS_HI16 | elf::R_MIPS_GOT16 => {
                // The carry out of the low half comes from the LO16 that follows.
                let low = self.list[i + 1..]
                    .iter()
                    .find(|l| l.kind == elf::R_MIPS_LO16.0 && l.to == r.to && l.what == r.what);
                let low = low.ok_or(Unknown)?;
                let low_at = usize::try_from(low.offset).map_err(|_| Unknown)?;
                if low_at.checked_add(4).is_none_or(|end| end > bytes.len()) {
                    return Err(Unknown);
                }
                let implicit = ((old & 0xffff) << 16) as i64 + half(self.get(bytes, low_at, 4));
                let addend = r.addend.unwrap_or(implicit);
                let whole = match r.what == GP_DISP {
                    true => got.gp() - p + addend,
                    false => to.wrapping_add(addend),
                };
                let high = whole.wrapping_sub(half(whole as u64));
                let field = match elf::RelocationType(r.kind) {
                    elf::R_MIPS_HI16 => high >> 16,
                    // Of a local symbol the table holds the page.
                    _ => got.entry(high, is_number)?,
                };
                old & 0xffff_0000 | field as u64 & 0xffff
            }
            _ => return Err(Unknown),
        };
        self.put(bytes, at, 4, new);
        Ok(())
    }
}
