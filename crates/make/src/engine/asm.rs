//! What loops are written with on a machine whose carries are words.

use machine::isa::Isa;
use machine::program::Program;

use crate::refusal::LowerError;

/// The core that `A` writes code for.
pub type CoreOf<A> = <<A as Asm>::Isa as Isa>::Core;

/// Code in the making. Registers are numbers, addresses a register and a number of bytes, words have 32 bits.
pub trait Asm: Default {
    /// The instruction set.
    type Isa: Isa;
    /// Where a loop goes back to.
    type Top: Copy;

    /// The register that holds 0.
    const ZERO: u8;
    /// The stack pointer, and how many bytes above it the words of the frame begin.
    const SP: u8;
    const FRAME: i32;
    /// The register that the address of the result comes in; those of the operands follow.
    const RESULT: u8;

    /// A remark about what follows, which stays behind what is there.
    fn note(&mut self, text: String);
    /// What follows stays behind what is there.
    fn cut(&mut self);

    /// `d = x + y`.
    fn add(&mut self, d: u8, x: u8, y: u8);
    /// `d = x - y`.
    fn sub(&mut self, d: u8, x: u8, y: u8);
    /// `d = 1` if `x < y`, both without a sign, else 0.
    fn less(&mut self, d: u8, x: u8, y: u8);
    /// `d = x & y`.
    fn and(&mut self, d: u8, x: u8, y: u8);
    /// `d = x + k`.
    fn add_number(&mut self, d: u8, x: u8, k: i32);
    /// `d = k`.
    fn number(&mut self, d: u8, k: u32);
    /// `d` is the word `at` bytes from where `base` points.
    fn load(&mut self, d: u8, base: u8, at: i32);
    /// That word becomes `x`.
    fn store(&mut self, x: u8, base: u8, at: i32);

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
    ) -> Result<Program<<Self::Isa as Isa>::Insn>, LowerError>;
}
