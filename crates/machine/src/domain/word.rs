//! The operations of machines on words, and the memory that words lie in.

use serde::{Deserialize, Serialize};

use crate::domain::place::Address;
use crate::fault::{Fault, Source};

/// A sum `word + 2^W * carry = a + b + c`, with the two flags that depend on the operands.
pub struct Sum<D: Domain, const W: u32> {
    pub word: D::Word<W>,
    /// Carry (or borrow) out of bit `W - 1`.
    pub carry: D::Bit,
    /// Carry (or borrow) out of bit 3.
    pub half: D::Bit,
    /// Two's complement overflow.
    pub overflow: D::Bit,
}

/// How the operands of a product are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signs {
    Unsigned,
    Signed,
    /// First operand signed, second unsigned.
    SignedUnsigned,
}

/// A bitwise operation on words or on single bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Logic {
    And,
    Or,
    Xor,
}

/// Shifts by a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Shift {
    Left,
    Right,
    /// Right, keeping the sign.
    ArithmeticRight,
    RotateRight,
}

impl Shift {
    /// The shift of a plain number of `w` bits by `0 < count < w`, and the last bit shifted out.
    #[inline(always)]
    pub fn apply(self, a: u64, count: u32, w: u32) -> (u64, bool) {
        let mask = (1u64 << w) - 1;
        let right_out = a >> (count - 1) & 1 == 1;
        match self {
            Shift::Left => (a << count & mask, a >> (w - count) & 1 == 1),
            Shift::Right => (a >> count, right_out),
            Shift::ArithmeticRight => {
                let signed = ((a << (64 - w)) as i64) >> (64 - w);
                ((signed >> count) as u64 & mask, right_out)
            }
            Shift::RotateRight => ((a >> count | a << (w - count)) & mask, right_out),
        }
    }
}

impl Logic {
    /// The operation on plain numbers.
    #[inline(always)]
    pub fn apply(self, a: u64, b: u64) -> u64 {
        match self {
            Logic::And => a & b,
            Logic::Or => a | b,
            Logic::Xor => a ^ b,
        }
    }
}

/// The values a machine computes with, and the memory they live in.
pub trait Domain: Sized {
    /// A word of `W` bits.
    type Word<const W: u32>: Clone;
    /// One bit: a flag, a carry, the outcome of a comparison.
    type Bit: Clone;

    /// The word `value mod 2^W`.
    fn known<const W: u32>(&mut self, value: u64) -> Self::Word<W>;
    /// The bit `value`.
    fn flag(&mut self, value: bool) -> Self::Bit;
    /// `word + 2^W * carry = a + b + c`.
    fn add<const W: u32>(
        &mut self,
        a: &Self::Word<W>,
        b: &Self::Word<W>,
        c: &Self::Bit,
    ) -> Sum<Self, W>;
    /// `word - 2^W * borrow = a - b - c`.
    fn sub<const W: u32>(
        &mut self,
        a: &Self::Word<W>,
        b: &Self::Word<W>,
        c: &Self::Bit,
    ) -> Sum<Self, W>;
    /// `(lo, hi)` with `lo + 2^W * hi = a * b` (two's complement over `2W` bits when signed).
    fn mul<const W: u32>(
        &mut self,
        a: &Self::Word<W>,
        b: &Self::Word<W>,
        signs: Signs,
    ) -> (Self::Word<W>, Self::Word<W>);
    /// Bitwise `a op b`.
    fn logic<const W: u32>(
        &mut self,
        op: Logic,
        a: &Self::Word<W>,
        b: &Self::Word<W>,
    ) -> Self::Word<W>;
    /// `(word, out)` with `2 * word + out = a + 2^W * top`.
    fn shift_right<const W: u32>(
        &mut self,
        a: &Self::Word<W>,
        top: &Self::Bit,
    ) -> (Self::Word<W>, Self::Bit);
    /// Shift or rotate by `0 < count < W` bits: the word, and the last bit shifted out.
    fn shift<const W: u32>(
        &mut self,
        kind: Shift,
        a: &Self::Word<W>,
        count: u32,
    ) -> (Self::Word<W>, Self::Bit);
    /// `x` if `bit`, else `y`, in the same time and without a branch.
    fn select<const W: u32>(
        &mut self,
        bit: &Self::Bit,
        x: &Self::Word<W>,
        y: &Self::Word<W>,
    ) -> Self::Word<W>;
    /// `x` if `bit`, else `y`.
    fn select_bit(&mut self, bit: &Self::Bit, x: &Self::Bit, y: &Self::Bit) -> Self::Bit {
        let clear = self.not(bit);
        let x = self.gate(Logic::And, bit, x);
        let y = self.gate(Logic::And, &clear, y);
        self.gate(Logic::Or, &x, &y)
    }
    /// The `V` bits of `a` from bit `from` on.
    fn slice<const W: u32, const V: u32>(&mut self, a: &Self::Word<W>, from: u32) -> Self::Word<V>;
    /// `a`, extended by zeros or, if `signed`, by its top bit.
    fn extend<const V: u32, const W: u32>(
        &mut self,
        a: &Self::Word<V>,
        signed: bool,
    ) -> Self::Word<W>;
    /// Is `a = 0`?
    fn is_zero<const W: u32>(&mut self, a: &Self::Word<W>) -> Self::Bit;
    /// Bit `index` of `a`.
    fn bit<const W: u32>(&mut self, a: &Self::Word<W>, index: u32) -> Self::Bit;
    /// `a` with bit `index` replaced.
    fn with_bit<const W: u32>(
        &mut self,
        a: &Self::Word<W>,
        index: u32,
        bit: &Self::Bit,
    ) -> Self::Word<W>;
    /// `x op y` on bits.
    fn gate(&mut self, op: Logic, x: &Self::Bit, y: &Self::Bit) -> Self::Bit;

    /// The value of a bit that steers control flow.
    ///
    /// # Errors
    /// [`Fault::SecretBranch`] when it is not the same in every run.
    fn decide(&mut self, bit: &Self::Bit) -> Result<bool, Fault>;
    /// The value of a bit that chooses between two ways through the code, which a domain may both go.
    ///
    /// # Errors
    /// [`Fault::SecretBranch`] when it is not the same in every run.
    #[inline(always)]
    fn branch(&mut self, bit: &Self::Bit) -> Result<bool, Fault> {
        self.decide(bit)
    }
    /// The bit of the branch that failed last, if the domain can go both ways and join them.
    fn undecided(&mut self) -> Option<Self::Bit> {
        None
    }
    /// What the next branch does that the domain cannot decide.
    fn force(&mut self, _outcome: bool) {}
    /// Keeps the memory as it is now, under a number.
    fn keep(&mut self) -> usize {
        0
    }
    /// The memory as it was when it was kept.
    fn resume(&mut self, _kept: usize) {}
    /// The memory where `bit` is set, and the one that was kept where it is not.
    fn join(&mut self, _bit: &Self::Bit, _clear: usize) {}
    /// Forgets what was kept from this number on.
    fn forget(&mut self, _kept: usize) {}
    /// The number in a word that the machine itself must know (a page register, a jump target).
    ///
    /// # Errors
    /// [`Fault::SecretAddress`] when it is not the same in every run.
    fn number<const W: u32>(&mut self, word: &Self::Word<W>) -> Result<u64, Fault>;

    /// The number in a word, if it is the same in every run: what operand-dependent timing may use.
    fn value<const W: u32>(&self, word: &Self::Word<W>) -> Option<u64>;
    /// Bits that are 1 in every run, perhaps not all of them: what timing may use of a word that is not the same in
    /// every run.
    fn ones<const W: u32>(&self, _word: &Self::Word<W>) -> u64 {
        0
    }
    /// Where a word comes from: `the secret a[3]`.
    fn origin<const W: u32>(&self, word: &Self::Word<W>) -> Source;

    /// Where the words `parts` (least significant first) point, `offset` bytes on.
    ///
    /// # Errors
    /// [`Fault::SecretAddress`] when it depends on a secret.
    fn address<const W: u32>(
        &mut self,
        parts: &[&Self::Word<W>],
        offset: i64,
    ) -> Result<Address, Fault>;
    /// How far `at` lies above a multiple of `bytes`.
    ///
    /// # Errors
    /// [`Fault::Unsupported`] where nobody promised such an alignment of its base.
    fn above_multiple(&self, at: Address, bytes: i64) -> Result<i64, Fault>;
    /// The word at `at`.
    ///
    /// # Errors
    /// [`Fault::Load`] outside readable memory.
    fn load<const W: u32>(&mut self, at: Address) -> Result<Self::Word<W>, Fault>;
    /// Writes `word` at `at`.
    ///
    /// # Errors
    /// [`Fault::Store`] outside writable memory.
    fn store<const W: u32>(&mut self, at: Address, word: &Self::Word<W>) -> Result<(), Fault>;

    /// A stack pointer went to where `at` is the last byte in use: what a run on numbers counts.
    #[inline(always)]
    fn lowered(&mut self, _at: Address) {}

    /// The most words that it keeps, if it has made as many.
    #[inline(always)]
    fn full(&self) -> Option<usize> {
        None
    }

    /// All of memory, where that is numbers.
    fn content(&self) -> Option<&[u8]> {
        None
    }

    /// Called with the address of each instruction before it runs.
    #[inline(always)]
    fn at(&mut self, _pc: usize) {}

    /// Called after each instruction with its address and what the registers hold now.
    #[inline(always)]
    fn after<const W: u32>(&mut self, _pc: usize, _register: impl Fn(u8) -> Self::Word<W>) {}

    /// NOT on a bit.
    #[inline(always)]
    fn not(&mut self, x: &Self::Bit) -> Self::Bit {
        let one = self.flag(true);
        self.gate(Logic::Xor, x, &one)
    }
}
