//! How a machine adds up the products of columns.

use machine::isa::Isa;

use crate::engine::asm::Asm;
use crate::engine::nest::{Home, Nest, Pointer};
use crate::refusal::LowerError;
use crate::schedule::Scans;

/// The core that `A` writes code for.
pub type CoreOf<A> = <<A as Asm>::Isa as Isa>::Core;

/// A free register where one is wanted, else [`Asm::ZERO`].
pub type Take<'t> = &'t mut dyn FnMut(bool) -> Result<u8, LowerError>;

/// An accumulator of products, of three words or more.
pub trait Sweep: Asm + Sized {
    /// What is kept of it beside the instructions: its registers.
    type Sum;

    /// Is a register wanted that holds 1, to add a word as a product?
    fn wants_one(_scans: &Scans, _core: &CoreOf<Self>) -> bool {
        false
    }

    /// Its registers.
    ///
    /// # Errors
    /// When they run out.
    fn sum(scans: &Scans, core: &CoreOf<Self>, take: Take<'_>) -> Result<Self::Sum, LowerError>;

    /// Makes it ready for the first column.
    fn begin(nest: &mut Nest<'_, Self>);

    /// Adds `x y`.
    ///
    /// # Errors
    /// When registers run out.
    fn product(nest: &mut Nest<'_, Self>, x: u8, y: u8) -> Result<(), LowerError>;

    /// Adds `2 x y`.
    ///
    /// # Errors
    /// When registers run out.
    fn twice(nest: &mut Nest<'_, Self>, x: u8, y: u8) -> Result<(), LowerError>;

    /// Adds a word, whose register may hold something else then.
    ///
    /// # Errors
    /// When registers run out.
    fn add_word(nest: &mut Nest<'_, Self>, word: u8) -> Result<(), LowerError>;

    /// Divides it by the base of the words: the next column.
    fn shift(nest: &mut Nest<'_, Self>);

    /// Shows its lowest word, in a register, to `read`.
    ///
    /// # Errors
    /// When registers run out.
    fn low(
        nest: &mut Nest<'_, Self>,
        read: impl FnOnce(&mut Nest<'_, Self>, u8),
    ) -> Result<(), LowerError>;

    /// A register with its second word, where nothing is added any more.
    ///
    /// # Errors
    /// When registers run out.
    fn top_word(nest: &mut Nest<'_, Self>) -> Result<u8, LowerError>;

    /// A new register with `acc m' mod 2^32`.
    ///
    /// # Errors
    /// When registers run out.
    fn quotient(nest: &mut Nest<'_, Self>) -> Result<u8, LowerError>;

    /// Which registers it is in, for [`Sweep::back`].
    fn place(_nest: &Nest<'_, Self>) -> u8 {
        Self::ZERO
    }

    /// At the end of a loop's body: puts it where it was at its start.
    fn back(_nest: &mut Nest<'_, Self>, _place: u8) {}

    /// Word `index` of an array in a new register, by way of a pointer, which moves by `step` words where the load can
    /// do that.
    ///
    /// # Errors
    /// When registers run out.
    fn load_and_step(
        nest: &mut Nest<'_, Self>,
        pointer: &mut Pointer,
        (home, index): (Home, usize),
        _step: i32,
    ) -> Result<u8, LowerError> {
        nest.load(*pointer, home, index)
    }

    /// Rows instead of columns.
    ///
    /// # Errors
    /// When registers run out, or there are none on this machine.
    fn rows(nest: &mut Nest<'_, Self>) -> Result<(), LowerError>;
}
