//! What a machine says about its accumulator: how it adds the products of a column.

use std::collections::{BTreeMap, VecDeque};

use crate::engine::asm::{Asm, CoreOf};
use crate::engine::nest::{Home, Named, Nest, Pointer};
use crate::refusal::LowerError;
use crate::schedule::{Array, Scans, Word};

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

    /// Makes it ready for the first column or row.
    fn begin(nest: &mut Nest<'_, Self, Self::Sum>);

    /// Adds `x y`.
    ///
    /// # Errors
    /// When registers run out.
    fn product(nest: &mut Nest<'_, Self, Self::Sum>, x: u8, y: u8) -> Result<(), LowerError>;

    /// Adds `2 x y`.
    ///
    /// # Errors
    /// When registers run out.
    fn twice(nest: &mut Nest<'_, Self, Self::Sum>, x: u8, y: u8) -> Result<(), LowerError>;

    /// Adds a word, whose register may hold something else then.
    ///
    /// # Errors
    /// When registers run out.
    fn add_word(nest: &mut Nest<'_, Self, Self::Sum>, word: u8) -> Result<(), LowerError>;

    /// Divides it by the base of the words: the next column.
    fn shift(nest: &mut Nest<'_, Self, Self::Sum>);

    /// Shows its lowest word, in a register, to `read`.
    ///
    /// # Errors
    /// When registers run out.
    fn low(
        nest: &mut Nest<'_, Self, Self::Sum>,
        read: impl FnOnce(&mut Nest<'_, Self, Self::Sum>, u8),
    ) -> Result<(), LowerError>;

    /// A register with its second word, where nothing is added any more.
    ///
    /// # Errors
    /// When registers run out.
    fn top_word(nest: &mut Nest<'_, Self, Self::Sum>) -> Result<u8, LowerError>;

    /// A new register with `acc m' mod 2^32`.
    ///
    /// # Errors
    /// When registers run out.
    fn quotient(nest: &mut Nest<'_, Self, Self::Sum>) -> Result<u8, LowerError>;

    /// Which registers it is in, for [`Sweep::back`].
    fn place(_nest: &Nest<'_, Self, Self::Sum>) -> u8 {
        Self::ZERO
    }

    /// At the end of a loop's body: puts it where it was at its start.
    fn back(_nest: &mut Nest<'_, Self, Self::Sum>, _place: u8) {}

    /// Word `index` of an array in a new register, by way of a pointer, which moves by `step` words where the load can
    /// do that.
    ///
    /// # Errors
    /// When registers run out.
    fn load_and_step(
        nest: &mut Nest<'_, Self, Self::Sum>,
        pointer: &mut Pointer,
        home: Home,
        index: usize,
        _step: i32,
    ) -> Result<u8, LowerError> {
        nest.load(*pointer, home, index)
    }

    /// `d = x y mod 2^32`.
    fn low_product(nest: &mut Nest<'_, Self, Self::Sum>, d: u8, factors: [u8; 2]);

    /// Registers for two words that [`Sweep::multiply_add`] adds.
    ///
    /// # Errors
    /// When registers run out.
    fn take_pair(nest: &mut Nest<'_, Self, Self::Sum>) -> Result<[u8; 2], LowerError> {
        Ok([nest.take()?, nest.take()?])
    }

    /// `(high, low) = x y + t + u < 2^64` for a pair `(t, u)`; `low` is none of its registers, nor of the factors'.
    ///
    /// # Errors
    /// When registers run out.
    fn multiply_add(
        nest: &mut Nest<'_, Self, Self::Sum>,
        made: [u8; 2],
        factors: [u8; 2],
        pair: [u8; 2],
    ) -> Result<(), LowerError>;

    /// Is a word of a row loaded before the product that comes first? Else while its result is waited for.
    fn loads_early(_nest: &Nest<'_, Self, Self::Sum>) -> bool {
        true
    }

    /// The second register of the pair becomes the high word of `x y + t`, for the first one's `t`.
    ///
    /// # Errors
    /// When registers run out.
    fn carry(
        nest: &mut Nest<'_, Self, Self::Sum>,
        factors: [u8; 2],
        pair: [u8; 2],
    ) -> Result<(), LowerError>;
}

impl<'a, A: Sweep> Nest<'a, A, A::Sum> {
    /// Nothing yet, with these registers to use; and the words of the frame.
    ///
    /// # Errors
    /// When registers run out.
    pub fn new(
        scans: &'a Scans,
        core: &CoreOf<A>,
        registers: &[u8],
        unroll: usize,
    ) -> Result<(Self, usize), LowerError> {
        let arguments = A::RESULT..Self::argument(scans.words.lengths.len());
        let values = registers.iter().filter(|r| !arguments.contains(r));
        let mut free: VecDeque<u8> = values.copied().collect();
        let mut take = |wanted: bool| match wanted {
            true => free.pop_front().ok_or(LowerError::Registers),
            false => Ok(A::ZERO),
        };
        let square = scans.strands.iter().any(|s| s.pairs);
        let named = Named {
            j: take(true)?,
            k: take(!scans.rows)?,
            stop: take(true)?,
            end: take(true)?,
            edge: take(square)?,
            inverse: take(scans.quotient.is_some())?,
            one: take(A::wants_one(scans, core))?,
            cursor: take(true)?,
        };
        let sum = A::sum(scans, core, &mut take)?;
        let own = |r: u8| (r, Pointer { r, base: r, at: 0 });
        let mut nest = Nest {
            scans,
            flow: A::default(),
            free,
            homes: BTreeMap::new(),
            values: BTreeMap::new(),
            pointers: arguments.map(own).collect(),
            unroll,
            named,
            sum,
            copied: false,
            firsts: BTreeMap::new(),
            stops: None,
        };
        let scratch = nest.settle();
        nest.lay()?;
        Ok((nest, scratch))
    }

    /// `q = acc m' mod 2^32`, then `acc += q m[0]`.
    ///
    /// # Errors
    /// When registers run out.
    pub fn quotient(&mut self, k: usize, m: Word) -> Result<(), LowerError> {
        let m = self.scans.place(m).map(|(array, _)| array);
        let m = m.and_then(|array| self.firsts.get(&array).copied());
        let m = m.ok_or(LowerError::Scans)?;
        let q = A::quotient(self)?;
        A::product(self, q, m)?;
        let home = self.home(Array::Quotients)?;
        self.store(q, self.moving(home), home, k);
        match k {
            0 => drop(self.firsts.insert(Array::Quotients, q)),
            _ => self.release(q),
        }
        Ok(())
    }
}
