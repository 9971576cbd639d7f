//! What machines do alike whose registers are words of 32 bits and whose carries are comparisons: sums, comparisons,
//! shifts by a register, loads and stores, and the addresses of a program that may have a place of its own.

use crate::domain::place::{Address, Base};
use crate::domain::word::{Domain, Logic, Shift};
use crate::fault::{BELOW_STACK, Fault};
use crate::isa::environment::OneStack;
use crate::isa::machine::{BitOf, Flow, Outcome, WordOf};

/// Where addresses of the program count from: 0, or a place of its own.
pub struct Image<D: Domain> {
    pub base: Base,
    pub start: D::Word<32>,
}

/// A machine with words in registers.
///
/// `inline(always)` on what most instructions do matters: their meanings are compiled for each domain.
pub trait Words: OneStack<32> {
    /// Writes register `i`, if it is one that can be written.
    fn set(&mut self, i: u8, word: WordOf<Self, 32>) -> Outcome;
    fn image(&self) -> &Image<Self::Domain>;

    /// The word `k mod 2^32`.
    #[inline(always)]
    fn word(&mut self, k: i32) -> WordOf<Self, 32> {
        self.domain().known(u64::from(k as u32))
    }

    // Arithmetic

    /// `x + y mod 2^32`.
    #[inline(always)]
    fn plus(&mut self, x: WordOf<Self, 32>, y: WordOf<Self, 32>) -> WordOf<Self, 32> {
        let d = self.domain();
        let c = d.flag(false);
        d.add(&x, &y, &c).word
    }

    /// `x - y mod 2^32`.
    #[inline(always)]
    fn minus(&mut self, x: WordOf<Self, 32>, y: WordOf<Self, 32>) -> WordOf<Self, 32> {
        let d = self.domain();
        let c = d.flag(false);
        d.sub(&x, &y, &c).word
    }

    /// Is `x < y`? Unsigned it is the borrow of `x - y`, signed the sign of the difference unless that overflows.
    #[inline(always)]
    fn is_less(
        &mut self,
        x: WordOf<Self, 32>,
        y: WordOf<Self, 32>,
        signed: bool,
    ) -> BitOf<Self, 32> {
        let d = self.domain();
        let c = d.flag(false);
        let difference = d.sub(&x, &y, &c);
        match signed {
            true => {
                let sign = d.bit(&difference.word, 31);
                d.gate(Logic::Xor, &sign, &difference.overflow)
            }
            false => difference.carry,
        }
    }

    /// The word 1 if `x < y`, else 0.
    #[inline(always)]
    fn less(&mut self, x: WordOf<Self, 32>, y: WordOf<Self, 32>, signed: bool) -> WordOf<Self, 32> {
        let bit = self.is_less(x, y, signed);
        let d = self.domain();
        let zero = d.known(0);
        d.with_bit(&zero, 0, &bit)
    }

    /// Is `x = y`?
    fn equal(&mut self, x: WordOf<Self, 32>, y: WordOf<Self, 32>) -> BitOf<Self, 32> {
        let difference = self.minus(x, y);
        self.domain().is_zero(&difference)
    }

    /// `x` shifted by a number.
    #[inline(always)]
    fn shifted(&mut self, kind: Shift, x: WordOf<Self, 32>, count: i32) -> WordOf<Self, 32> {
        match count {
            0 => x,
            _ => self.domain().shift(kind, &x, count as u32).0,
        }
    }

    /// `x` shifted by the low five bits of `count`, one of them at a time.
    fn shifted_by(
        &mut self,
        kind: Shift,
        mut x: WordOf<Self, 32>,
        count: WordOf<Self, 32>,
    ) -> WordOf<Self, 32> {
        let d = self.domain();
        for i in 0..5 {
            let bit = d.bit(&count, i);
            let y = d.shift(kind, &x, 1 << i).0;
            x = d.select(&bit, &y, &x);
        }
        x
    }

    // Memory

    /// The address `k` bytes above what register `s` holds, a multiple of `align` bytes, not below the stack pointer.
    fn address(&mut self, s: u8, k: i32, align: i64) -> Result<Address, Fault> {
        let base = self.register(s);
        let at = self.domain().address(&[&base], i64::from(k))?;
        if at.base == Base::STACK {
            let sp = self.register(Self::SP);
            let sp = self.domain().address(&[&sp], 0)?;
            if sp.base != Base::STACK || at.offset < sp.offset {
                return Err(Fault::Store(BELOW_STACK.into()));
            }
        }
        match self.domain().above_multiple(at, align)? {
            0 => Ok(at),
            _ => Err(Fault::Exception(format!(
                "an access of {align} bytes that is not aligned"
            ))),
        }
    }

    /// The `W` bits there as a word.
    #[inline(always)]
    fn load<const W: u32>(
        &mut self,
        s: u8,
        k: i32,
        signed: bool,
    ) -> Result<WordOf<Self, 32>, Fault> {
        let at = self.address(s, k, i64::from(W / 8))?;
        let d = self.domain();
        if W == 32 {
            return d.load::<32>(at);
        }
        let part = d.load::<W>(at)?;
        Ok(d.extend::<W, 32>(&part, signed))
    }

    /// The low `W` bits of register `t` go there.
    #[inline(always)]
    fn store<const W: u32>(&mut self, t: u8, s: u8, k: i32) -> Outcome {
        let at = self.address(s, k, i64::from(W / 8))?;
        let word = self.register(t);
        let d = self.domain();
        if W == 32 {
            d.store::<32>(at, &word)?;
        } else {
            let part = d.slice::<32, W>(&word, 0);
            d.store::<W>(at, &part)?;
        }
        Ok(Flow::Next)
    }

    // Addresses of the program

    /// The address `at` of the program.
    fn in_program(&mut self, at: u64) -> WordOf<Self, 32> {
        let at = self.domain().known(at);
        let start = self.image().start.clone();
        self.plus(start, at)
    }

    /// The number in register `i` is an address of the program: the upper part of one, that LUI made.
    fn locate(&mut self, i: u8) -> Outcome {
        let start = self.image().start.clone();
        let word = self.plus(start, self.register(i));
        self.set(i, word)
    }
}
