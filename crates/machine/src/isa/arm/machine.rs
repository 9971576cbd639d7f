//! The registers and flags of an ARM, and what the rows of the instruction table do to them.
//!
//! Flags as in ARM DDI 0100: N negative, Z zero, C carry (after a subtraction: *no*
//! borrow), V overflow. What the manual calls UNPREDICTABLE stops the run. Memory accesses
//! are in [`crate::isa::arm::memory`].

use crate::domain::place::Address;
use crate::domain::word::{Domain, Logic, Shift, Signs, Sum};
use crate::fault::Fault;
use crate::isa::arm::operands::Ops;
use crate::isa::environment::Environment;
pub use crate::isa::machine::{Flow, Outcome};

/// Stack pointer, link register and program counter.
pub const SP: u8 = 13;
pub const LR: u8 = 14;
pub const PC: u8 = 15;

/// The condition flags.
pub struct Flags<D: Domain> {
    pub n: D::Bit,
    pub z: D::Bit,
    pub c: D::Bit,
    pub v: D::Bit,
    /// Have C and V no defined value, as a multiplication set flags? On one of several ways is enough.
    pub undefined: [bool; 2],
}

impl<D: Domain> Clone for Flags<D> {
    fn clone(&self) -> Self {
        Self {
            n: self.n.clone(),
            z: self.z.clone(),
            c: self.c.clone(),
            v: self.v.clone(),
            undefined: self.undefined,
        }
    }
}

impl<D: Domain> Flags<D> {
    /// The carry.
    ///
    /// # Errors
    /// When no instruction gave it a value since a multiplication destroyed it.
    #[inline(always)]
    fn carry(&self) -> Result<D::Bit, Fault> {
        match self.undefined[0] {
            true => unpredictable("the carry after a multiplication that sets flags"),
            false => Ok(self.c.clone()),
        }
    }

    /// Overflow.
    ///
    /// # Errors
    /// When no instruction gave it a value since a long multiplication destroyed it.
    #[inline(always)]
    fn overflow(&self) -> Result<D::Bit, Fault> {
        match self.undefined[1] {
            true => unpredictable("the overflow flag after a long multiplication that sets flags"),
            false => Ok(self.v.clone()),
        }
    }
}

/// Where code lies and where it returns to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Places {
    pub code: Address,
    pub caller: Address,
}

/// An ARM in ARM state, over the domain `D`.
pub struct Arm<D: Domain> {
    pub d: D,
    /// r0 to r14.
    pub r: [D::Word<32>; 15],
    pub flags: Flags<D>,
    /// The status register below its flags: mode and interrupt bits.
    pub status: D::Word<32>,
    /// What a run for all inputs is held to.
    pub environment: Option<Environment<Self>>,
    /// Byte offset of the running instruction in the code.
    pub pc: usize,
    /// The address of the code, as a word.
    start: D::Word<32>,
    places: Places,
}

pub fn unpredictable<T>(what: &str) -> Result<T, Fault> {
    Err(Fault::Unpredictable(format!(
        "{what}: unpredictable in the architecture manual"
    )))
}

impl<D: Domain> Arm<D> {
    /// A machine with all registers and flags zero, in user mode, its code at the address `start`.
    pub fn new(mut d: D, start: D::Word<32>, places: Places) -> Self {
        let zero = d.known(0);
        let off = d.flag(false);
        Self {
            r: std::array::from_fn(|_| zero.clone()),
            flags: Flags {
                n: off.clone(),
                z: off.clone(),
                c: off.clone(),
                v: off,
                undefined: [false; 2],
            },
            status: d.known(0x10),
            environment: None,
            pc: 0,
            start,
            places,
            d,
        }
    }

    /// Register `i`; the program counter reads two instructions ahead.
    #[inline(always)]
    pub fn r(&mut self, i: u8) -> D::Word<32> {
        if i == PC {
            self.pc_plus(8)
        } else {
            self.r[usize::from(i & 15)].clone()
        }
    }

    fn pc_plus(&mut self, ahead: usize) -> D::Word<32> {
        let offset = self.d.known((self.pc + ahead) as u64);
        let start = self.start.clone();
        self.sum_of(&start, &offset)
    }

    fn sum_of(&mut self, a: &D::Word<32>, b: &D::Word<32>) -> D::Word<32> {
        let no = self.d.flag(false);
        self.d.add(a, b, &no).word
    }

    /// Writes register `i`; writing the program counter jumps.
    #[inline(always)]
    pub fn set(&mut self, i: u8, word: D::Word<32>) -> Outcome {
        if i == PC {
            return self.jump_to(&word);
        }
        self.r[usize::from(i & 15)] = word;
        Ok(Flow::Next)
    }

    fn jump_to(&mut self, word: &D::Word<32>) -> Outcome {
        let at = self.d.address(&[word], 0)?;
        let Places { code, caller } = self.places;
        if at == caller {
            return Ok(Flow::Return);
        }
        let offset = at.offset - code.offset;
        if at.base != code.base || offset < 0 {
            return Err(Fault::Return);
        }
        if offset & 3 != 0 {
            return unpredictable("a jump to between two instructions");
        }
        Ok(Flow::Jump(offset as usize))
    }

    /// The carry flag.
    ///
    /// # Errors
    /// When no instruction gave it a value since a multiplication destroyed it.
    #[inline(always)]
    pub fn c(&self) -> Result<D::Bit, Fault> {
        self.flags.carry()
    }

    /// Does condition `cond` hold?
    pub fn condition(&mut self, cond: u8) -> Result<D::Bit, Fault> {
        let flags = self.flags.clone();
        let (n, z) = (&flags.n, &flags.z);
        let bit = match cond >> 1 {
            0 => z.clone(),
            1 => flags.carry()?,
            2 => n.clone(),
            3 => flags.overflow()?,
            4 => {
                let not_zero = self.d.not(z);
                self.d.gate(Logic::And, &flags.carry()?, &not_zero)
            }
            5 => {
                let less = self.d.gate(Logic::Xor, n, &flags.overflow()?);
                self.d.not(&less)
            }
            6 => {
                let less = self.d.gate(Logic::Xor, n, &flags.overflow()?);
                let not_greater = self.d.gate(Logic::Or, z, &less);
                self.d.not(&not_greater)
            }
            _ => return Ok(self.d.flag(true)),
        };
        Ok(if cond & 1 == 1 { self.d.not(&bit) } else { bit })
    }

    /// A shifter operand and its carry; no carry where the flag stays as it is.
    fn operand(&mut self, o: &Ops) -> Result<(D::Word<32>, Option<D::Bit>), Fault> {
        let k = o.k as u32;
        if k & 0x1000 != 0 {
            let rotate = k >> 7 & 30;
            let value = (k & 0xff).rotate_right(rotate);
            let carry = (rotate != 0).then(|| self.d.flag(value >> 31 == 1));
            return Ok((self.d.known(u64::from(value)), carry));
        }
        let by_register = k & 0x10 != 0;
        let uses_pc = k & 15 == 15 || k >> 8 & 15 == 15 || o.n == PC || o.d == PC;
        if by_register && uses_pc {
            return unpredictable("the program counter in a shift by a register");
        }
        let x = self.r((k & 15) as u8);
        if !by_register {
            return self.shifted_by_immediate(&x, k);
        }
        let amount = self.r((k >> 8 & 15) as u8);
        match self.d.value(&amount) {
            Some(amount) => Ok(self.shifted(&x, k >> 5 & 3, amount as u32 & 0xff)),
            None => Err(Fault::Unsupported(format!(
                "a shift by {}, which is not the same in every run",
                self.d.origin(&amount)
            ))),
        }
    }

    /// `x` shifted as bits 5..=11 of `k` say; a count of 0 means 32, or RRX, except for LSL.
    pub fn shifted_by_immediate(
        &mut self,
        x: &D::Word<32>,
        k: u32,
    ) -> Result<(D::Word<32>, Option<D::Bit>), Fault> {
        Ok(match (k >> 5 & 3, k >> 7 & 31) {
            (3, 0) => {
                let top = self.c()?;
                let (word, out) = self.d.shift_right(x, &top);
                (word, Some(out))
            }
            (kind @ (1 | 2), 0) => self.shifted(x, kind, 32),
            (kind, count) => self.shifted(x, kind, count),
        })
    }

    /// `x` shifted by `count`, which may be 32 or more (DDI 0100, A5.1).
    fn shifted(&mut self, x: &D::Word<32>, kind: u32, count: u32) -> (D::Word<32>, Option<D::Bit>) {
        let kind = match kind {
            0 => Shift::Left,
            1 => Shift::Right,
            2 => Shift::ArithmeticRight,
            _ => Shift::RotateRight,
        };
        let (word, out) = match (kind, count) {
            (_, 0) => return (x.clone(), None),
            (Shift::RotateRight, _) if count.is_multiple_of(32) => (x.clone(), self.d.bit(x, 31)),
            (Shift::RotateRight, _) => self.d.shift(kind, x, count % 32),
            (_, 1..=31) => self.d.shift(kind, x, count),
            (Shift::ArithmeticRight, _) => {
                let sign = self.d.shift(kind, x, 31).0;
                (sign, self.d.bit(x, 31))
            }
            (_, 32) => {
                let last = if kind == Shift::Left { 0 } else { 31 };
                (self.d.known(0), self.d.bit(x, last))
            }
            _ => (self.d.known(0), self.d.flag(false)),
        };
        (word, Some(out))
    }

    fn set_nz(&mut self, word: &D::Word<32>) {
        self.flags.n = self.d.bit(word, 31);
        self.flags.z = self.d.is_zero(word);
    }

    fn set_logic_flags(&mut self, word: &D::Word<32>, carry: Option<D::Bit>) {
        self.set_nz(word);
        if let Some(carry) = carry {
            self.flags.c = carry;
            self.flags.undefined[0] = false;
        }
    }

    fn set_sum_flags(&mut self, s: &Sum<D, 32>, carry: D::Bit) {
        self.set_nz(&s.word);
        self.flags.c = carry;
        self.flags.v = s.overflow.clone();
        self.flags.undefined = [false; 2];
    }

    fn no_status_restored(o: &Ops) -> Result<(), Fault> {
        if o.s && o.d == PC {
            return Err(Fault::Unsupported(
                "it restores a saved status register: user code cannot".into(),
            ));
        }
        Ok(())
    }

    /// AND, EOR, ORR, BIC.
    pub fn bitwise(&mut self, o: &Ops, op: Logic, invert: bool) -> Outcome {
        Self::no_status_restored(o)?;
        let (y, carry) = self.operand(o)?;
        let y = if invert { self.complement(&y) } else { y };
        let x = self.r(o.n);
        let word = self.d.logic(op, &x, &y);
        if o.s {
            self.set_logic_flags(&word, carry);
        }
        self.set(o.d, word)
    }

    fn complement(&mut self, x: &D::Word<32>) -> D::Word<32> {
        let ones = self.d.known(0xffff_ffff);
        let no = self.d.flag(false);
        self.d.sub(&ones, x, &no).word
    }

    /// MOV, MVN.
    pub fn copy(&mut self, o: &Ops, invert: bool) -> Outcome {
        Self::no_status_restored(o)?;
        let (y, carry) = self.operand(o)?;
        let word = if invert { self.complement(&y) } else { y };
        if o.s {
            self.set_logic_flags(&word, carry);
        }
        self.set(o.d, word)
    }

    /// TST, TEQ.
    pub fn test(&mut self, o: &Ops, op: Logic) -> Outcome {
        let (y, carry) = self.operand(o)?;
        let x = self.r(o.n);
        let word = self.d.logic(op, &x, &y);
        self.set_logic_flags(&word, carry);
        Ok(Flow::Next)
    }

    /// `Rd = Rn + operand + carry`.
    #[inline(always)]
    pub fn sum(&mut self, o: &Ops, carry: D::Bit) -> Outcome {
        Self::no_status_restored(o)?;
        let y = self.operand(o)?.0;
        let x = self.r(o.n);
        let s = self.d.add(&x, &y, &carry);
        if o.s {
            self.set_sum_flags(&s, s.carry.clone());
        }
        self.set(o.d, s.word)
    }

    fn subtract(&mut self, o: &Ops, x: &D::Word<32>, y: &D::Word<32>, carry: &D::Bit) -> Outcome {
        Self::no_status_restored(o)?;
        let borrow = self.d.not(carry);
        let s = self.d.sub(x, y, &borrow);
        if o.s {
            let carry = self.d.not(&s.carry);
            self.set_sum_flags(&s, carry);
        }
        self.set(o.d, s.word)
    }

    /// `Rd = Rn - operand - NOT carry`.
    pub fn difference(&mut self, o: &Ops, carry: D::Bit) -> Outcome {
        let y = self.operand(o)?.0;
        let x = self.r(o.n);
        self.subtract(o, &x, &y, &carry)
    }

    /// `Rd = operand - Rn - NOT carry`.
    pub fn reverse_difference(&mut self, o: &Ops, carry: D::Bit) -> Outcome {
        let y = self.operand(o)?.0;
        let x = self.r(o.n);
        self.subtract(o, &y, &x, &carry)
    }

    /// CMP, CMN.
    pub fn compare(&mut self, o: &Ops, add: bool) -> Outcome {
        let y = self.operand(o)?.0;
        let x = self.r(o.n);
        let no = self.d.flag(false);
        if add {
            let s = self.d.add(&x, &y, &no);
            self.set_sum_flags(&s, s.carry.clone());
        } else {
            let s = self.d.sub(&x, &y, &no);
            let carry = self.d.not(&s.carry);
            self.set_sum_flags(&s, carry);
        }
        Ok(Flow::Next)
    }

    /// MUL, MLA.
    pub fn product(&mut self, o: &Ops, accumulate: bool) -> Outcome {
        let addend = if accumulate { o.n } else { 0 };
        if o.d == PC || o.m == PC || o.r == PC || addend == PC || o.d == o.m {
            return unpredictable("a multiplication with these registers");
        }
        let (x, y) = (self.r(o.m), self.r(o.r));
        let mut word = self.d.mul(&x, &y, Signs::Unsigned).0;
        if accumulate {
            let z = self.r(o.n);
            word = self.sum_of(&z, &word);
        }
        if o.s {
            // ARM DDI 0100, MUL and MLA: C is unpredictable up to architecture 4, V as it was.
            self.set_nz(&word);
            self.flags.undefined[0] = true;
        }
        self.set(o.d, word)
    }

    /// UMULL, UMLAL, SMULL, SMLAL: the high word goes to Rd, the low word to Rn.
    #[inline(always)]
    pub fn long_product(&mut self, o: &Ops, signs: Signs, accumulate: bool) -> Outcome {
        let distinct = o.d != o.n && o.d != o.m && o.n != o.m;
        if !distinct || [o.d, o.n, o.m, o.r].contains(&PC) {
            return unpredictable("a multiplication with these registers");
        }
        let (x, y) = (self.r(o.m), self.r(o.r));
        let (mut lo, mut hi) = self.d.mul(&x, &y, signs);
        if accumulate {
            let no = self.d.flag(false);
            let (low, high) = (self.r(o.n), self.r(o.d));
            let s = self.d.add(&low, &lo, &no);
            lo = s.word;
            hi = self.d.add(&high, &hi, &s.carry).word;
        }
        if o.s {
            self.flags.n = self.d.bit(&hi, 31);
            let (low, high) = (self.d.is_zero(&lo), self.d.is_zero(&hi));
            self.flags.z = self.d.gate(Logic::And, &low, &high);
            // ARM DDI 0100, UMULL: C and V are unpredictable up to architecture 4.
            self.flags.undefined = [true; 2];
        }
        self.set(o.n, lo)?;
        self.set(o.d, hi)
    }

    /// B, and BL's jump.
    pub fn branch(&mut self, o: &Ops) -> Outcome {
        let target = self.pc as i64 + 8 + 4 * i64::from(o.k);
        usize::try_from(target)
            .map(Flow::Jump)
            .map_err(|_| Fault::Return)
    }

    /// The return address goes to the link register.
    pub fn link(&mut self) -> Outcome {
        let back = self.pc_plus(4);
        self.set(LR, back)
    }

    /// BX.
    pub fn exchange(&mut self, o: &Ops) -> Outcome {
        let word = self.r(o.m);
        if self.d.value(&word).is_some_and(|to| to & 1 == 1) {
            return Err(Fault::Unsupported("it enters Thumb state".into()));
        }
        self.jump_to(&word)
    }

    /// MRS.
    pub fn read_status(&mut self, o: &Ops) -> Outcome {
        if o.d == PC {
            return unpredictable("MRS into the program counter");
        }
        let (c, v) = (self.flags.carry()?, self.flags.overflow()?);
        let Flags { n, z, .. } = self.flags.clone();
        let mut word = self.status.clone();
        for (index, bit) in [(31, n), (30, z), (29, c), (28, v)] {
            word = self.d.with_bit(&word, index, &bit);
        }
        self.set(o.d, word)
    }

    /// MSR of the flags.
    pub fn write_status(&mut self, o: &Ops) -> Outcome {
        if o.k & 0x100f == 15 {
            return unpredictable("MSR from the program counter");
        }
        let word = self.operand(o)?.0;
        self.flags = Flags {
            n: self.d.bit(&word, 31),
            z: self.d.bit(&word, 30),
            c: self.d.bit(&word, 29),
            v: self.d.bit(&word, 28),
            undefined: [false; 2],
        };
        Ok(Flow::Next)
    }

    /// Keeps the old registers and flags where `bit` is not set: an instruction under a condition
    /// that is not the same in every run.
    pub fn keep_unless(&mut self, bit: &D::Bit, old: &([D::Word<32>; 15], Flags<D>), flags: bool) {
        for i in 0..15 {
            self.r[i] = self.d.select(bit, &self.r[i], &old.0[i]);
        }
        if flags {
            let mut mux = |x: &D::Bit, y: &D::Bit| self.d.select_bit(bit, x, y);
            self.flags = Flags {
                n: mux(&self.flags.n, &old.1.n),
                z: mux(&self.flags.z, &old.1.z),
                c: mux(&self.flags.c, &old.1.c),
                v: mux(&self.flags.v, &old.1.v),
                undefined: [0, 1].map(|i| self.flags.undefined[i] || old.1.undefined[i]),
            };
        }
    }
}
