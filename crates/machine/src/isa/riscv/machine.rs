//! The registers of an RV32 and what the rows of the instruction table do to them.

use crate::domain::place::Base;
use crate::domain::word::{Domain, Signs};
use crate::fault::Fault;
use crate::isa::environment::Environment;
pub use crate::isa::machine::{Flow, Outcome};
use crate::isa::riscv::operands::{Features, Ops};
use crate::isa::words::{Image, Words};

/// An RV32 over the domain `D`.
pub struct Riscv<D: Domain> {
    pub d: D,
    /// x0 to x31; x0 is 0.
    pub r: [D::Word<32>; 32],
    pub features: Features,
    /// What a run for all inputs is held to.
    pub environment: Option<Environment<Self>>,
    pub image: Image<D>,
    /// Byte address of the running instruction, and of the one behind it.
    pub pc: usize,
    pub behind: usize,
}

impl<D: Domain> Words for Riscv<D> {
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

impl<D: Domain> Riscv<D> {
    /// A machine with all registers zero.
    pub fn new(mut d: D, features: Features) -> Self {
        let zero = d.known(0);
        Self {
            r: std::array::from_fn(|_| zero.clone()),
            features,
            environment: None,
            image: Image {
                base: Base::ABSOLUTE,
                start: zero,
            },
            pc: 0,
            behind: 0,
            d,
        }
    }

    #[inline(always)]
    pub fn r(&self, i: u8) -> D::Word<32> {
        self.r[usize::from(i & 31)].clone()
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

    /// To the address `to + k`, whose lowest bit does not count.
    pub fn jump_register(&mut self, to: &D::Word<32>, k: i32) -> Outcome {
        let at = self.d.address(&[to], i64::from(k))?;
        match at.base {
            base if base == self.image.base => self.target(at.offset & !1),
            Base::RETURN if at.offset == 0 => Ok(Flow::Return),
            _ => Err(Fault::Return),
        }
    }
}
