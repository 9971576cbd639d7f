//! How an abstract run begins and ends: unknown words, free places, regions of memory.

use crate::domain::abstract_memory::Region;
use crate::domain::place::{Address, Base};
use crate::domain::public::Public;
use crate::domain::word::Domain;
use crate::segment::Segment;

/// A domain whose runs stand for all inputs: it starts from unknown words and free places.
pub trait Abstract: Domain {
    /// A word about which only its name is known.
    fn unknown<const W: u32>(&mut self, name: String) -> Self::Word<W>;
    /// Part `part` of the address `base + offset`.
    fn pointer<const W: u32>(&mut self, base: Base, offset: i64, part: u32) -> Self::Word<W>;
    /// Declares a region of memory.
    fn declare(&mut self, base: Base, region: Region);
    /// Data that every run finds in memory.
    fn environment(&mut self, constants: Vec<Segment>, big_endian: bool);
    /// Puts a word into memory, whatever the region's rights.
    fn init<const W: u32>(&mut self, at: Address, word: &Self::Word<W>);
    /// Are they certainly the same word?
    fn same<const W: u32>(&self, a: &Self::Word<W>, b: &Self::Word<W>) -> bool;
    /// A bit about which only its name is known.
    fn unknown_bit(&mut self, name: String) -> Self::Bit;
    /// Are they certainly the same bit?
    fn same_bit(&self, a: &Self::Bit, b: &Self::Bit) -> bool;
    /// Does [`Abstract::same_bit`] tell of bits that are no numbers whether they are the same? Where a domain only
    /// follows secrets, or writes down terms, it does not.
    const TELLS_BITS_APART: bool;
    /// Whose part a word is, and which, if it is one of an address.
    fn points<const W: u32>(&self, word: &Self::Word<W>) -> Option<(Address, u32)>;
    /// Knows nothing more of the bytes `from .. to` in a region: somebody else may write them.
    fn forget_bytes(&mut self, base: Base, from: i64, to: i64);
}

/// What [`Abstract::points`] says of a word that is the same in every run.
pub fn pointed(word: Public) -> Option<(Address, u32)> {
    match word {
        Public::Pointer { base, offset, part } => Some((Address { base, offset }, part)),
        Public::Known(_) | Public::Negated { .. } => None,
    }
}
