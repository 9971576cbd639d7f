//! Which partial product when: what a method says to a target.
//!
//! A schedule is either [`Blocks`], rows and columns of the rhombus with the loads a method
//! has in mind, or [`Words`], a list of steps on words that leaves loads, stores and registers
//! to the target, or [`Tiles`], products of several words that are made by additions, or [`Loops`],
//! blocks of columns of which those that are alike are written once, or [`Halves`], Karatsuba's
//! products by calls of one of these, or [`Scans`], a sweep of words as two nested loops, or [`Stages`], a
//! product in loops and what reads it, in words or in loops. Blocks can
//! be read as words ([`Words::of`]), not the other way round.

mod blocks;
mod evaluate;
mod halves;
mod loops;
mod scans;
mod stages;
mod tiles;
mod words;

use crate::facts::Style;

pub use crate::schedule::blocks::{
    Block, Blocks, Column, ColumnBlock, Counts, Lifetimes, Part, Product, Row, RowBlock,
    ScheduleError, Step,
};
pub use crate::schedule::halves::{Halves, Lowest};
pub use crate::schedule::loops::{FoldedBlock, Loops, Run, Step as LoopStep, Turn};
pub use crate::schedule::scans::{Array, Scans, Strand, Stretch};
pub use crate::schedule::stages::Stages;
pub use crate::schedule::tiles::{Select, Step as TileStep, Tile, Tiles};
pub use crate::schedule::words::{
    Chain, Claim, Difference, End, Link, Magnitude, Origin, Pile, Quotient, Sum, Sweep, Term, Word,
    WordStep, Words,
};

/// The order of an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Schedule {
    Blocks(Blocks),
    Words(Words),
    Tiles(Tiles),
    Loops(Loops),
    Halves(Halves),
    Scans(Scans),
    Stages(Stages),
}

impl Schedule {
    /// Counts, and checks its form.
    ///
    /// # Errors
    /// The first violation.
    pub fn count(&self) -> Result<Counts, ScheduleError> {
        match self {
            Schedule::Blocks(blocks) => blocks.check(),
            Schedule::Words(words) => words.count(),
            Schedule::Tiles(tiles) => tiles.check(),
            Schedule::Loops(loops) => loops.check(),
            Schedule::Halves(halves) => halves.check(),
            Schedule::Scans(scans) => scans.words.count(),
            Schedule::Stages(stages) => stages.count(),
        }
    }

    /// Checks that the schedule computes what it should, and counts.
    ///
    /// # Errors
    /// The first violation.
    pub fn check(&self) -> Result<Counts, ScheduleError> {
        match self {
            Schedule::Blocks(blocks) => blocks.check(),
            Schedule::Words(words) => words.check(),
            Schedule::Tiles(tiles) => tiles.check(),
            Schedule::Loops(loops) => loops.check(),
            Schedule::Halves(halves) => halves.check(),
            Schedule::Scans(scans) => scans.check(),
            Schedule::Stages(stages) => stages.check(),
        }
    }

    /// How much of it is written out.
    pub fn style(&self) -> Style {
        match self {
            Schedule::Blocks(_) | Schedule::Words(_) => Style::Unrolled,
            Schedule::Tiles(_) => Style::Looped,
            Schedule::Loops(loops) => loops.style,
            Schedule::Halves(_) => Style::Rolled,
            Schedule::Scans(scans) => scans.style,
            Schedule::Stages(stages) => stages.product.style(),
        }
    }
}
