//! The registers of an RV32 and what the rows of the instruction table do to them.

use crate::domain::place::{Address, Base};
use crate::domain::word::{Domain, Logic, Shift, Signs};
use crate::fault::{BELOW_STACK, Fault};
use crate::isa::environment::Environment;
pub use crate::isa::machine::{Flow, Outcome};
use crate::isa::riscv::operands::{Features, Ops};
use crate::isa::riscv::registers::SP;

/// An RV32 over the domain `D`.
pub struct Riscv<D: Domain> {
    pub d: D,
    /// x0 to x31; x0 is 0.
    pub r: [D::Word<32>; 32],
    pub features: Features,
    /// What a run for all inputs is held to.
    pub environment: Option<Environment<Self>>,
    /// Where addresses of the program count from: 0, or a place of its own.
    image: (Base, D::Word<32>),
    /// Byte address of the running instruction, and of the one behind it.
    pub pc: usize,
    pub behind: usize,
}

impl<D: Domain> Riscv<D> {
    /// A machine with all registers zero.
    pub fn new(mut d: D, features: Features) -> Self {
        let zero = d.known(0);
        Self {
            r: std::array::from_fn(|_| zero.clone()),
            features,
            environment: None,
            image: (Base::ABSOLUTE, zero),
            pc: 0,
            behind: 0,
            d,
        }
    }

    #[inline(always)]
    pub fn r(&self, i: u8) -> D::Word<32> {
        self.r[usize::from(i & 31)].clone()
    }

    #[inline(always)]
    pub fn set(&mut self, i: u8, word: D::Word<32>) -> Outcome {
        if i & 31 != 0 {
            self.r[usize::from(i & 31)] = word;
        }
        Ok(Flow::Next)
    }

    /// The word `k mod 2^32`.
    #[inline(always)]
    pub fn word(&mut self, k: i32) -> D::Word<32> {
        self.d.known(u64::from(k as u32))
    }

    // Arithmetic

    /// `x + y mod 2^32`.
    #[inline(always)]
    pub fn plus(&mut self, x: D::Word<32>, y: D::Word<32>) -> D::Word<32> {
        let c = self.d.flag(false);
        self.d.add(&x, &y, &c).word
    }

    /// `x - y mod 2^32`.
    #[inline(always)]
    pub fn minus(&mut self, x: D::Word<32>, y: D::Word<32>) -> D::Word<32> {
        let c = self.d.flag(false);
        self.d.sub(&x, &y, &c).word
    }

    /// Is `x < y`? Unsigned it is the borrow of `x - y`, signed the sign of the difference unless that overflows.
    #[inline(always)]
    pub fn is_less(&mut self, x: D::Word<32>, y: D::Word<32>, signed: bool) -> D::Bit {
        let c = self.d.flag(false);
        let difference = self.d.sub(&x, &y, &c);
        match signed {
            true => {
                let sign = self.d.bit(&difference.word, 31);
                self.d.gate(Logic::Xor, &sign, &difference.overflow)
            }
            false => difference.carry,
        }
    }

    /// The word 1 if `x < y`, else 0.
    #[inline(always)]
    pub fn less(&mut self, x: D::Word<32>, y: D::Word<32>, signed: bool) -> D::Word<32> {
        let bit = self.is_less(x, y, signed);
        let zero = self.d.known(0);
        self.d.with_bit(&zero, 0, &bit)
    }

    /// The low and the high word of `rs1 * rs2`.
    #[inline(always)]
    pub fn product(&mut self, o: &Ops, signs: Signs) -> (D::Word<32>, D::Word<32>) {
        let (x, y) = (self.r(o.s), self.r(o.t));
        self.d.mul(&x, &y, signs)
    }

    /// Quotient and remainder of numbers: table 7.1 has those of a division by 0 and of one that overflows.
    pub fn division(&mut self, o: &Ops, signed: bool) -> Result<(D::Word<32>, D::Word<32>), Fault> {
        let (x, y) = (self.d.value(&self.r(o.s)), self.d.value(&self.r(o.t)));
        let (Some(x), Some(y)) = (x, y) else {
            let from = self.d.origin(&self.r(o.s));
            return Err(Fault::Unsupported(format!(
                "a division that depends on {from}"
            )));
        };
        let (x, y) = (x as u32, y as u32);
        let (quotient, rest) = match (y, signed) {
            (0, _) => (u32::MAX, x),
            (_, true) => {
                let (x, y) = (x as i32, y as i32);
                (x.wrapping_div(y) as u32, x.wrapping_rem(y) as u32)
            }
            (_, false) => (x / y, x % y),
        };
        Ok((self.d.known(quotient.into()), self.d.known(rest.into())))
    }

    /// `rs1` shifted by a number.
    #[inline(always)]
    pub fn shifted(&mut self, kind: Shift, o: &Ops) -> D::Word<32> {
        let x = self.r(o.s);
        match o.k {
            0 => x,
            count => self.d.shift(kind, &x, count as u32).0,
        }
    }

    /// `rs1` shifted by the low five bits of `rs2`, one bit of the count at a time.
    pub fn shifted_by_register(&mut self, kind: Shift, o: &Ops) -> D::Word<32> {
        let (mut x, count) = (self.r(o.s), self.r(o.t));
        for i in 0..5 {
            let bit = self.d.bit(&count, i);
            let y = self.d.shift(kind, &x, 1 << i).0;
            x = self.d.select(&bit, &y, &x);
        }
        x
    }

    // Memory

    /// The address `rs1 + k`, a multiple of `align` bytes: whether others are served is the environment's to say.
    fn address(&mut self, o: &Ops, align: i64) -> Result<Address, Fault> {
        let base = self.r(o.s);
        let at = self.d.address(&[&base], i64::from(o.k))?;
        if at.base == Base::STACK {
            let sp = self.d.address(&[&self.r[usize::from(SP)]], 0)?;
            if sp.base != Base::STACK || at.offset < sp.offset {
                return Err(Fault::Store(BELOW_STACK.into()));
            }
        }
        match self.d.above_multiple(at, align)? {
            0 => Ok(at),
            _ => Err(Fault::Exception(format!(
                "an access of {align} bytes that is not aligned"
            ))),
        }
    }

    #[inline(always)]
    pub fn load<const W: u32>(&mut self, o: &Ops, signed: bool) -> Result<D::Word<32>, Fault> {
        let at = self.address(o, i64::from(W / 8))?;
        if W == 32 {
            return self.d.load::<32>(at);
        }
        let part = self.d.load::<W>(at)?;
        Ok(self.d.extend::<W, 32>(&part, signed))
    }

    #[inline(always)]
    pub fn store<const W: u32>(&mut self, o: &Ops) -> Outcome {
        let at = self.address(o, i64::from(W / 8))?;
        let word = self.r(o.t);
        if W == 32 {
            self.d.store::<32>(at, &word)?;
        } else {
            let part = self.d.slice::<32, W>(&word, 0);
            self.d.store::<W>(at, &part)?;
        }
        Ok(Flow::Next)
    }

    // Control

    /// Is `rs1 = rs2`?
    pub fn equal(&mut self, o: &Ops) -> D::Bit {
        let difference = self.minus(self.r(o.s), self.r(o.t));
        self.d.is_zero(&difference)
    }

    /// To `k` bytes from here if the bit says so.
    pub fn branch(&mut self, taken: D::Bit, k: i32) -> Outcome {
        match self.d.branch(&taken)? {
            true => self.jump(k),
            false => Ok(Flow::Next),
        }
    }

    /// To `k` bytes from here.
    pub fn jump(&mut self, k: i32) -> Outcome {
        self.target(self.pc as i64 + i64::from(k))
    }

    /// To an address where an instruction may begin.
    fn target(&self, at: i64) -> Outcome {
        let align = if self.features.compressed { 2 } else { 4 };
        match at % align {
            0 => Ok(Flow::Jump(at as usize)),
            _ => {
                let text = "a jump to an address that is not aligned";
                Err(Fault::Exception(text.into()))
            }
        }
    }

    /// The address behind this instruction goes to `d`.
    pub fn link(&mut self, d: u8) -> Outcome {
        let back = self.in_program(self.behind as u64);
        self.set(d, back)
    }

    /// The program has a place of its own, at `start`, from where `base` counts.
    pub fn place(&mut self, base: Base, start: D::Word<32>) {
        self.image = (base, start);
    }

    /// The address `at` of the program.
    pub fn in_program(&mut self, at: u64) -> D::Word<32> {
        let at = self.d.known(at);
        let start = self.image.1.clone();
        self.plus(start, at)
    }

    /// The number in register `i` is an address of the program: the upper part of one, that LUI made.
    pub fn locate(&mut self, i: u8) -> Outcome {
        let start = self.image.1.clone();
        let word = self.plus(start, self.r(i));
        self.set(i, word)
    }

    /// To the address `to + k`, whose lowest bit does not count.
    pub fn jump_register(&mut self, to: &D::Word<32>, k: i32) -> Outcome {
        let at = self.d.address(&[to], i64::from(k))?;
        match at.base {
            base if base == self.image.0 => self.target(at.offset & !1),
            Base::RETURN if at.offset == 0 => Ok(Flow::Return),
            _ => Err(Fault::Return),
        }
    }
}
