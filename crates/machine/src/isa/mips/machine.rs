//! The registers of a MIPS32 and what the rows of the instruction table do to them.
//!
//! HI and LO are two words; with the wide accumulator a third holds the guard bits, eight
//! bits kept in a 32-bit word. Branches act after the instruction in their delay slot.

use crate::domain::place::{Address, Base};
use crate::domain::word::{Domain, Logic, Shift};
use crate::fault::Fault;
use crate::isa::environment::Environment;
pub use crate::isa::machine::{Flow, Outcome};
use crate::isa::mips::operands::Ops;
use crate::isa::words::{Image, Words};

/// Bits that the wide accumulator adds to HI (gk2003, section 4).
pub const GUARD_BITS: u32 = 8;

/// A MIPS32 over the domain `D`.
pub struct Mips<D: Domain> {
    pub d: D,
    pub r: [D::Word<32>; 32],
    pub hi: D::Word<32>,
    pub lo: D::Word<32>,
    /// Bits 32 to 39 of HI, with the wide accumulator.
    pub guard: D::Word<32>,
    /// Are HI and LO unpredictable, as after MUL (MD00086, MUL)?
    pub hi_lost: bool,
    pub lo_lost: bool,
    /// Is a result of the multiplier in HI and LO that nobody read? To move a word into one of them then leaves
    /// the other unpredictable (MD00086, MTHI and MTLO).
    pub unread: bool,
    pub wide: bool,
    big_endian: bool,
    /// What a run for all inputs is held to.
    pub environment: Option<Environment<Self>>,
    pub image: Image<D>,
    /// Byte address of the running instruction.
    pub pc: usize,
    /// Where control goes behind it, if it is in a delay slot.
    pub behind: Option<usize>,
}

impl<D: Domain> Words for Mips<D> {
    #[inline(always)]
    fn set(&mut self, i: u8, word: D::Word<32>) -> Outcome {
        if i & 31 != 0 {
            self.r[usize::from(i & 31)] = word;
        }
        Ok(Flow::Next)
    }

    #[inline(always)]
    fn image(&self) -> &Image<D> {
        &self.image
    }
}

impl<D: Domain> Mips<D> {
    /// A machine with all registers zero.
    pub fn new(mut d: D, wide: bool, big_endian: bool) -> Self {
        let zero = d.known(0);
        Self {
            r: std::array::from_fn(|_| zero.clone()),
            hi: zero.clone(),
            lo: zero.clone(),
            guard: zero.clone(),
            hi_lost: false,
            lo_lost: false,
            unread: false,
            image: Image {
                base: Base::ABSOLUTE,
                start: zero,
            },
            wide,
            big_endian,
            environment: None,
            pc: 0,
            behind: None,
            d,
        }
    }

    #[inline(always)]
    pub fn r(&self, i: u8) -> D::Word<32> {
        self.r[usize::from(i & 31)].clone()
    }

    // Arithmetic

    fn unless_overflow(
        &mut self,
        word: D::Word<32>,
        overflow: D::Bit,
    ) -> Result<D::Word<32>, Fault> {
        match self.d.decide(&overflow)? {
            false => Ok(word),
            true => Err(Fault::Exception("an integer overflow exception".into())),
        }
    }

    /// ADD, ADDI: no exception is taken.
    pub fn sum_checked(&mut self, s: u8, y: D::Word<32>) -> Result<D::Word<32>, Fault> {
        let (x, c) = (self.r(s), self.d.flag(false));
        let sum = self.d.add(&x, &y, &c);
        self.unless_overflow(sum.word, sum.overflow)
    }

    /// SUB: no exception is taken.
    pub fn difference_checked(&mut self, s: u8, y: D::Word<32>) -> Result<D::Word<32>, Fault> {
        let (x, c) = (self.r(s), self.d.flag(false));
        let difference = self.d.sub(&x, &y, &c);
        self.unless_overflow(difference.word, difference.overflow)
    }

    #[inline(always)]
    pub fn bitwise(&mut self, op: Logic, s: u8, y: D::Word<32>) -> D::Word<32> {
        let x = self.r(s);
        self.d.logic(op, &x, &y)
    }

    /// All bits inverted: `2^32 - 1 - x`.
    pub fn complement(&mut self, x: D::Word<32>) -> D::Word<32> {
        let (ones, c) = (self.d.known(0xffff_ffff), self.d.flag(false));
        self.d.sub(&ones, &x, &c).word
    }

    /// CLO, CLZ: the place of the highest bit that differs from `ones`.
    pub fn count_leading(&mut self, o: &Ops, ones: bool) -> Outcome {
        let x = self.r(o.s);
        let mut count = self.d.known(32);
        for i in 0..32 {
            let mut bit = self.d.bit(&x, i);
            if ones {
                bit = self.d.not(&bit);
            }
            let here = self.d.known(u64::from(31 - i));
            count = self.d.select(&bit, &here, &count);
        }
        self.set(o.d, count)
    }

    pub fn move_if_zero(&mut self, o: &Ops, zero: bool) -> Outcome {
        let (x, t, old) = (self.r(o.s), self.r(o.t), self.r(o.d));
        let is_zero = self.d.is_zero(&t);
        let word = match zero {
            true => self.d.select(&is_zero, &x, &old),
            false => self.d.select(&is_zero, &old, &x),
        };
        self.set(o.d, word)
    }

    // Memory

    /// The aligned word around `rs + k`, and the number of the byte in it, from the most significant one.
    fn around(&mut self, o: &Ops) -> Result<(Address, u32), Fault> {
        let at = self.address(o.s, o.k, 1)?;
        let byte = self.d.above_multiple(at, 4)?;
        let aligned = Address {
            offset: at.offset - byte,
            ..at
        };
        let from_top = if self.big_endian { byte } else { 3 - byte };
        Ok((aligned, from_top as u32))
    }

    /// LWL, LWR: the bytes from there to one end of the word go to that of `rt`.
    pub fn load_part(&mut self, o: &Ops, left: bool) -> Outcome {
        let (at, byte) = self.around(o)?;
        let (word, old) = (self.d.load::<32>(at)?, self.r(o.t));
        let (kind, count) = match left {
            true => (Shift::Left, 8 * byte),
            false => (Shift::Right, 8 * (3 - byte)),
        };
        if count == 0 {
            return self.set(o.t, word);
        }
        let moved = self.d.shift(kind, &word, count).0;
        let kept = match left {
            true => (1u64 << count) - 1,
            false => 0xffff_ffff << (32 - count) & 0xffff_ffff,
        };
        let kept = self.d.known(kept);
        let kept = self.d.logic(Logic::And, &old, &kept);
        let merged = self.d.logic(Logic::Or, &moved, &kept);
        self.set(o.t, merged)
    }

    /// SWL, SWR: the bytes at that end of `rt` go to the word, from there to its end.
    pub fn store_part(&mut self, o: &Ops, left: bool) -> Outcome {
        let (at, byte) = self.around(o)?;
        let word = self.r(o.t);
        // Byte `i` from the top of `rt` goes to byte `i + shift` of the word in memory.
        let places = match left {
            true => (byte..4).map(|i| (i - byte, i)).collect::<Vec<_>>(),
            false => (0..=byte).map(|i| (i + 3 - byte, i)).collect(),
        };
        for (from, to) in places {
            let part = self.d.slice::<32, 8>(&word, 8 * (3 - from));
            let place = i64::from(if self.big_endian { to } else { 3 - to });
            let at = Address {
                offset: at.offset + place,
                ..at
            };
            self.d.store::<8>(at, &part)?;
        }
        Ok(Flow::Next)
    }

    /// LWI: `rt = memory[rs]`, then `rs += 4 k`.
    pub fn load_and_step(&mut self, o: &Ops) -> Outcome {
        if o.s == o.t {
            return Err(Fault::Unsupported("LWI that loads its own pointer".into()));
        }
        let at = self.address(o.s, 0, 4)?;
        let word = self.d.load::<32>(at)?;
        let step = self.word(4 * o.k);
        let moved = self.plus(self.r(o.s), step);
        self.set(o.s, moved)?;
        self.set(o.t, word)
    }

    // Control

    pub fn negative(&mut self, s: u8) -> D::Bit {
        let x = self.r(s);
        self.d.bit(&x, 31)
    }

    /// Is `rs > 0`, signed?
    pub fn positive(&mut self, s: u8) -> D::Bit {
        let x = self.r(s);
        let (zero, negative) = (self.d.is_zero(&x), self.d.bit(&x, 31));
        let either = self.d.gate(Logic::Or, &zero, &negative);
        self.d.not(&either)
    }

    /// A branch to `words` after the delay slot.
    pub fn branch(&mut self, taken: D::Bit, words: i32, likely: bool) -> Outcome {
        let target = (self.pc as i64 + 4 + 4 * i64::from(words)) as usize;
        Ok(match (self.d.branch(&taken)?, likely) {
            (true, _) => Flow::Jump(target),
            (false, true) => Flow::Skip,
            (false, false) => Flow::Next,
        })
    }

    /// J: within the 256 MB of the delay slot.
    pub fn jump(&mut self, words: i32) -> Outcome {
        Ok(Flow::Jump(
            (self.pc + 4) & !0x0fff_ffff | (words as usize) << 2,
        ))
    }

    /// The return address, after the delay slot, goes to `d`, which must not be the register `s` read.
    pub fn link(&mut self, d: u8, s: u8) -> Result<(), Fault> {
        if d == s {
            let text = "a call that could not be restarted: it overwrites what it reads";
            return Err(Fault::Unsupported(text.into()));
        }
        let back = self.in_program(self.pc as u64 + 8);
        self.set(d, back).map(|_| ())
    }

    pub fn jump_register(&mut self, to: D::Word<32>) -> Outcome {
        let at = self.d.address(&[&to], 0)?;
        match at.base {
            base if base == self.image.base && at.offset % 4 == 0 => {
                Ok(Flow::Jump(at.offset as usize))
            }
            Base::RETURN if at.offset == 0 => Ok(Flow::Return),
            _ => Err(Fault::Return),
        }
    }
}
