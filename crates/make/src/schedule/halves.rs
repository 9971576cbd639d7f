//! Karatsuba over loops: one product of few words, called for all three products of every level.
//!
//! With `W = 2^(w h)`, `a = al + W ah`, `b = bl + W bh`, `L = al bl`, `H = ah bh`:
//! `a b = L + W (L + H - (al - ah)(bl - bh)) + W^2 H`. Each product of `h` words is made in the
//! same way by the same code, until `h` is what [`Halves::base`] multiplies.

use crate::schedule::blocks::{Counts, ScheduleError};
use crate::schedule::loops::Loops;
use crate::schedule::scans::Scans;

/// Operands that are halved `levels` times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Halves {
    pub levels: usize,
    /// The product, or square, at the bottom.
    pub base: Lowest,
}

/// What multiplies at the bottom.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lowest {
    /// Bands in loops.
    Bands(Loops),
    /// Two nested loops.
    Scans(Box<Scans>),
}

impl Halves {
    /// Words of an operand.
    pub fn words(&self) -> usize {
        self.lowest_words() << self.levels
    }

    /// Words of an operand at the bottom.
    pub fn lowest_words(&self) -> usize {
        match &self.base {
            Lowest::Bands(loops) => loops.blocks.n,
            Lowest::Scans(scans) => scans.n,
        }
    }

    /// Is it a square?
    pub fn square(&self) -> bool {
        match &self.base {
            Lowest::Bands(loops) => loops.square,
            Lowest::Scans(scans) => scans.words.lengths.len() == 1,
        }
    }

    /// Checks the product at the bottom; the counts are those of all its calls.
    ///
    /// # Errors
    /// Its first violation.
    pub fn check(&self) -> Result<Counts, ScheduleError> {
        let Counts {
            loads,
            stores,
            products,
            accumulated,
            links,
            reloads,
            resident,
        } = match &self.base {
            Lowest::Bands(loops) => loops.check()?,
            Lowest::Scans(scans) => scans.check()?,
        };
        let calls = 3usize.pow(self.levels as u32);
        Ok(Counts {
            loads: calls * loads,
            stores: calls * stores,
            products: calls * products,
            accumulated: calls * accumulated,
            links: calls * links,
            reloads: calls * reloads,
            resident,
        })
    }
}
