//! The macro-assembler for loops, for machines without a carry flag.

use machine::isa::Isa;
use machine::program::Program;

use crate::engine::basic::{Basic, By, Moves, Three};
use crate::refusal::LowerError;

/// The core that `A` writes code for.
pub type CoreOf<A> = <<A as Asm>::Isa as Isa>::Core;
/// An instruction of it.
pub type InsnOf<A> = <<A as Asm>::Isa as Isa>::Insn;

/// Code in the making.
pub trait Asm: Default {
    /// The instruction set.
    type Isa: Basic;
    /// Where a loop goes back to.
    type Top: Copy;

    /// The register that holds 0.
    const ZERO: u8 = <Self::Isa as Moves>::ZERO;
    /// The stack pointer, and how many bytes above it the words of the frame begin.
    const SP: u8 = <Self::Isa as Moves>::SP;
    const FRAME: i32 = <Self::Isa as Moves>::FRAME;
    /// The register that the address of the result comes in; those of the operands follow.
    const RESULT: u8 = <Self::Isa as Moves>::RESULT;

    /// The next instruction.
    fn push(&mut self, insn: InsnOf<Self>);
    /// A remark about what follows, which stays behind what is there.
    fn note(&mut self, text: String);
    /// What follows stays behind what is there.
    fn cut(&mut self);

    /// `d = x op y`.
    fn three(&mut self, op: Three, d: u8, x: u8, y: u8) {
        self.push(Self::Isa::three(op, d, x, y));
    }

    /// `d = x op k`.
    fn by(&mut self, op: By, d: u8, x: u8, k: i32) {
        self.push(Self::Isa::by(op, d, x, k));
    }

    /// `d = x + y`.
    fn add(&mut self, d: u8, x: u8, y: u8) {
        self.three(Three::Add, d, x, y);
    }

    /// `d = 0`.
    fn zero(&mut self, d: u8) {
        self.add(d, Self::ZERO, Self::ZERO);
    }

    /// `d = x`.
    fn copy(&mut self, d: u8, x: u8) {
        self.push(Self::Isa::copy(d, x));
    }

    /// `d = x - y`.
    fn sub(&mut self, d: u8, x: u8, y: u8) {
        self.three(Three::Sub, d, x, y);
    }

    /// `d = 1` if `x < y`, both without a sign, else 0.
    fn less(&mut self, d: u8, x: u8, y: u8) {
        self.three(Three::Less, d, x, y);
    }

    /// `d = x & y`.
    fn and(&mut self, d: u8, x: u8, y: u8) {
        self.three(Three::And, d, x, y);
    }

    /// `d = x + k`.
    fn add_number(&mut self, d: u8, x: u8, k: i32) {
        self.by(By::Add, d, x, k);
    }

    /// `d = k`.
    fn number(&mut self, d: u8, k: u32) {
        for insn in Self::Isa::number(d, k) {
            self.push(insn);
        }
    }

    /// `d` is the word `at` bytes from where `base` points.
    fn load(&mut self, d: u8, base: u8, at: i32) {
        self.push(Self::Isa::load(d, base, at));
    }

    /// That word becomes `x`.
    fn store(&mut self, x: u8, base: u8, at: i32) {
        self.push(Self::Isa::store(x, base, at));
    }

    /// The start of a loop.
    fn top(&mut self) -> Self::Top;
    /// Goes back to `top` while `x` and `y` differ.
    fn again(&mut self, top: Self::Top, x: u8, y: u8);

    /// The whole function, with `scratch` words in its frame.
    ///
    /// # Errors
    /// When the stack would be too deep, or a branch or a displacement does not reach.
    fn finish(
        self,
        scratch: usize,
        core: &<Self::Isa as Isa>::Core,
    ) -> Result<Program<InsnOf<Self>>, LowerError>;
}
