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
mod columns;
mod evaluate;
mod halves;
mod loops;
mod scans;
mod tiles;
mod whole;
mod words;

pub use crate::schedule::blocks::{
    Block, Blocks, Column, ColumnBlock, Counts, Lifetimes, Part, Product, Row, RowBlock,
    RowProduct, ScheduleError,
};
pub use crate::schedule::columns::{Clearing, Event, Factors, WordColumn};
pub use crate::schedule::halves::{Halves, Lowest};
pub use crate::schedule::loops::{FoldedBlock, LoopStep, Loops, Run, Turn};
pub use crate::schedule::scans::{Array, Scans, Strand, Stretch};
pub use crate::schedule::tiles::{Select, Tile, TileStep, Tiles};
pub use crate::schedule::whole::{Schedule, Stages};
pub use crate::schedule::words::{
    Chain, Claim, Difference, End, Link, Magnitude, Origin, Pile, Quotient, Sum, Sweep, Term, Word,
    WordStep, Words,
};
