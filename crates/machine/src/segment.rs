//! Bytes that a file lays into memory, and what it leaves open of them.
//!
//! A loader never makes up a byte. Bytes that the file leaves open are marked. A run that executes or reads
//! a marked byte stops there, with the text of the mark.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use crate::domain::place::Base;

/// What is to be known of bytes beside their values.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Marks {
    /// Bytes that the file does not say: the first, one past the last, and what is missing.
    gaps: BTreeMap<u64, (u64, String)>,
    /// Words of so many bytes that are addresses, or set the upper half of one, as a linker decides.
    addresses: BTreeSet<u64>,
}

/// Bytes of a word that is an address.
const POINTER: u64 = 4;

/// How much of a word is an address that a linker decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Addresses {
    None,
    Part,
    Whole,
}

impl Marks {
    /// Notes that nobody knows the bytes at `range`, as `text` says, but for those that are noted already:
    /// no two gaps overlap.
    pub fn add_gap(&mut self, range: Range<u64>, text: &str) {
        let mut from = range.start;
        while from < range.end {
            let covered = self.gaps.range(..=from).next_back();
            if let Some((_, (end, _))) = covered
                && *end > from
            {
                from = *end;
                continue;
            }
            let next = self.gaps.range(from..).next();
            let end = next.map_or(range.end, |(start, _)| range.end.min(*start));
            self.gaps.insert(from, (end, text.into()));
            from = end;
        }
    }

    /// Notes that the word at `address` is an address.
    pub fn add_address(&mut self, address: u64) {
        self.addresses.insert(address);
    }

    /// Takes over what `other` says.
    pub fn extend(&mut self, other: Marks) {
        for (start, (end, text)) in other.gaps {
            self.add_gap(start..end, &text);
        }
        self.addresses.extend(other.addresses);
    }

    /// Why the `len` bytes at `address` are not known, if they are not.
    pub fn gap(&self, address: u64, len: usize) -> Option<&str> {
        let end = address.saturating_add(len as u64);
        let last = self.gaps.range(..end).next_back();
        let found = last.filter(|(_, (gap_end, _))| *gap_end > address);
        found.map(|(_, (_, text))| text.as_str())
    }

    /// All ranges that are not known.
    pub fn gaps(&self) -> impl Iterator<Item = Range<u64>> {
        self.gaps.iter().map(|(start, (end, _))| *start..*end)
    }

    /// How much of the `len` bytes at `address` is an address.
    pub fn addresses(&self, address: u64, len: usize) -> Addresses {
        let end = address.saturating_add(len as u64);
        let from = address.saturating_sub(POINTER - 1);
        let mut list = self.addresses.range(from..end);
        match list.next() {
            None => Addresses::None,
            Some(at) if *at == address && len as u64 == POINTER => Addresses::Whole,
            Some(_) => Addresses::Part,
        }
    }
}

/// Bytes that a program finds in data memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// What its address counts from: nothing, or the object that no linker has placed.
    pub base: Base,
    pub address: u64,
    pub bytes: Rc<[u8]>,
    /// Its address is a multiple of so many bytes, wherever a linker puts it.
    pub align: u64,
    /// May the program write it? Then its bytes are not the same in every run.
    pub writable: bool,
    pub marks: Rc<Marks>,
}

impl Segment {
    /// One past its last byte.
    pub fn end(&self) -> u64 {
        self.address + self.bytes.len() as u64
    }

    /// Does one of the `len` bytes at `address` lie here?
    pub fn overlaps(&self, address: u64, len: usize) -> bool {
        address < self.end() && self.address < address.saturating_add(len as u64)
    }

    /// The `len` bytes at `address`, if they all lie here.
    pub fn get(&self, address: u64, len: usize) -> Option<&[u8]> {
        let start = usize::try_from(address.checked_sub(self.address)?).ok()?;
        self.bytes.get(start..start.checked_add(len)?)
    }
}
