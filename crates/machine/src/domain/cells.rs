//! Memory that is written in words of one width and read in another.
//!
//! A cell keeps the width it was written with. A narrower access cuts a piece out of it, a wider
//! one joins several; a store cuts what lies half below it into bytes first.

use crate::domain::abstract_memory::AbstractMemory;
use crate::domain::place::Address;
use crate::fault::Fault;

/// A domain whose words can be cut and joined.
pub trait Pieces {
    type Word: Copy;
    fn memory(&mut self) -> &mut AbstractMemory<Self::Word>;
    /// The `len` bits of `word` (of `width` bits) from bit `from` on.
    fn cut(&mut self, word: Self::Word, width: u32, from: u32, len: u32) -> Self::Word;
    /// The word of these pieces and widths, least significant first.
    fn join(&mut self, pieces: &[(Self::Word, u32)]) -> Self::Word;
}

/// A cell: offset from its base, word, width.
type Cell<V> = (i64, V, u32);

/// The `width`-bit word at `at`; `None` if it, or a part of it, was never put there.
///
/// # Errors
/// [`Fault::Load`] outside every region.
pub fn load<P: Pieces>(d: &mut P, at: Address, width: u32) -> Result<Option<P::Word>, Fault> {
    d.memory().note_load(at.base, width);
    if let Some(word) = d.memory().get(at, width)? {
        return Ok(Some(word));
    }
    let big_endian = d.memory().big_endian;
    // Bit of the cell's word where `offset` begins.
    let bit = |(start, _, w): &Cell<P::Word>, offset: i64, len: u32| {
        let below = 8 * (offset - start) as u32;
        if big_endian { w - below - len } else { below }
    };
    let end = at.offset + i64::from(width / 8);
    let cells = d.memory().overlapping(at, width);
    let mut pieces = Vec::with_capacity(cells.len());
    let mut next = at.offset;
    for cell in &cells {
        let (start, word, w) = *cell;
        let stop = (start + i64::from(w / 8)).min(end);
        if start > next || stop <= next {
            return Ok(None);
        }
        let len = 8 * (stop - next) as u32;
        let piece = match len == w {
            true => word,
            false => d.cut(word, w, bit(cell, next, len), len),
        };
        pieces.push((piece, len));
        next = stop;
    }
    if next < end {
        return Ok(None);
    }
    if big_endian {
        pieces.reverse();
    }
    Ok(Some(match pieces.as_slice() {
        [(one, _)] => *one,
        all => d.join(all),
    }))
}

/// Writes `word` at `at`.
///
/// # Errors
/// [`Fault::Store`] outside every writable region.
pub fn store<P: Pieces>(d: &mut P, at: Address, width: u32, word: P::Word) -> Result<(), Fault> {
    d.memory().check_store(at, width)?;
    let end = at.offset + i64::from(width / 8);
    for (start, old, w) in d.memory().overlapping(at, width) {
        d.memory().remove(Address {
            offset: start,
            ..at
        });
        let bytes = i64::from(w / 8);
        let outside = (start..start + bytes).filter(|o| *o < at.offset || *o >= end);
        for offset in outside {
            let index = match d.memory().big_endian {
                true => bytes - 1 - (offset - start),
                false => offset - start,
            };
            let byte = d.cut(old, w, 8 * index as u32, 8);
            d.memory().set(Address { offset, ..at }, 8, byte);
        }
    }
    d.memory().put(at, width, word)
}
