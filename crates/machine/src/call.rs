//! Calls on numbers: operands in memory, the result that a function leaves, and what the run cost.

use std::ops::Range;

use num_bigint::BigUint;
use spec::vectors::Random;
use spec::{Alias, Spec};

use crate::domain::concrete::{Concrete, Fence, Watched};
use crate::function::{Area, Function, Ram};

/// Operands of a concrete call, and which of them share an address.
#[derive(Clone, Debug)]
pub struct Operands<'a> {
    pub spec: &'a Spec,
    pub sources: &'a [BigUint],
    pub alias: Alias,
    /// What is in registers and memory that nobody sets at entry comes from this; 0: always the same.
    pub noise: u64,
}

impl<'a> Operands<'a> {
    /// A call that finds nothing of others.
    pub fn of(spec: &'a Spec, sources: &'a [BigUint], alias: Alias) -> Self {
        Self {
            spec,
            sources,
            alias,
            noise: 0,
        }
    }
}

impl Operands<'_> {
    /// Names and addresses of the result, the sources and the areas, which begin at `addresses`.
    pub fn places(
        &self,
        addresses: &[usize],
        function: &Function,
    ) -> Vec<(&'static str, Range<usize>)> {
        let sources = self.spec.sources().into_iter();
        let named = sources
            .map(|s| s.name)
            .zip(function.source_bytes(self.spec));
        let result = std::iter::once(("r", self.spec.result_bytes()));
        let areas = function.areas.iter().map(|area| ("scratch", area.bytes));
        let named = result.chain(named).chain(areas).zip(addresses);
        named
            .map(|((name, bytes), at)| (name, *at..at + bytes))
            .collect()
    }

    /// Watches where `function` reads and writes, if that is wanted.
    fn fence(&self, d: &mut Concrete, addresses: &[usize], function: &Function) {
        /// Arguments and the return address, above a stack pointer.
        const ARGUMENTS: usize = 0x100;
        if !function.fenced {
            return;
        }
        let fence = |name, at: usize, bytes, writable| Fence {
            name,
            addresses: at..at + bytes,
            writable,
        };
        let sources = self.spec.sources().len();
        let places = self.places(addresses, function).into_iter().zip(0..);
        let mut list: Vec<_> = places
            .map(|((name, at), i)| fence(name, at.start, at.len(), i == 0 || i > sources))
            .collect();
        for stack in &d.stacks {
            let Range { start, end } = stack.addresses();
            list.push(fence("", start, end - start + ARGUMENTS, true));
        }
        // Of data only what the file says: between its gaps.
        for segment in function.data.iter().filter(|s| !s.writable) {
            let mut from = segment.address;
            let end = segment.end();
            for gap in segment.marks.gaps().chain(std::iter::once(end..end)) {
                let until = gap.start.clamp(from, end);
                list.push(fence("", from as usize, (until - from) as usize, false));
                from = gap.end.max(from).min(end);
            }
        }
        d.fences = Some(list);
    }

    /// Addresses of the result, the sources and then of areas of so many bytes, the first at `first`: multiples of
    /// what was promised, and in most runs of no more.
    pub fn addresses(&self, first: usize, function: &Function, word_bits: u32) -> Vec<usize> {
        /// What `first` is a multiple of, at least.
        const LARGE: usize = 8;
        let areas = &function.areas;
        let room = self.room();
        let places = self.alias.of(self.spec).into_iter();
        let beside = |align: u64| self.noise as usize % LARGE / align as usize * align as usize;
        let own = u64::from(word_bits / 8);
        let first = first.next_multiple_of(LARGE);
        let start = first + beside(function.align.clamp(own, LARGE as u64));
        let mut list: Vec<_> = places.map(|place| start + place * room).collect();
        let mut next = first + 4 * room + LARGE;
        for area in areas {
            list.push(next + beside(area.align.unwrap_or(own)));
            next += area.bytes.next_multiple_of(LARGE) + LARGE;
        }
        list
    }

    /// Bytes from one operand to the next.
    fn room(&self) -> usize {
        room(self.spec)
    }

    /// A first address such that a multiple of 256, where carries into high bytes of pointers are needed, lies
    /// anywhere in the operands.
    pub fn placed_by_noise(&self, first: usize, function: &Function) -> usize {
        let span = 4 * self.room();
        let align = function.align.max(1) as usize;
        let before = (self.noise as usize * 11 % span).next_multiple_of(align);
        match (self.noise, &function.ram) {
            (0, _) => first,
            (_, None) => (first + span).next_multiple_of(256) - before,
            (_, Some(ram)) => {
                let last = ram.operands.end - taken(self.spec, &function.areas);
                let pages = (0..=(last + span) / 256).rev().map(|page| 256 * page);
                let starts = pages.filter_map(|page| page.checked_sub(before));
                let mut within = starts.filter(|at| (first..=last).contains(at));
                within.next().unwrap_or(first)
            }
        }
    }

    /// What is in the result, in areas and below the stack pointers before `function` writes there.
    pub fn spoil(&self, d: &mut Concrete, addresses: &[usize], function: &Function) {
        self.fence(d, addresses, function);
        if self.noise == 0 {
            return;
        }
        let mut random = Random::new(!self.noise);
        let areas = addresses.iter().rev().zip(function.areas.iter().rev());
        let areas = areas.map(|(at, area)| (at - d.start, area.bytes));
        let below = |s: &Watched| {
            let Range { start, end } = s.addresses();
            (start - d.start.min(start), end - start)
        };
        let stacks = d.stacks.iter().map(below);
        let result = (addresses[0] - d.start, self.spec.result_bytes());
        let places: Vec<_> = areas.chain(stacks).chain([result]).collect();
        for (at, bytes) in places {
            if let Some(room) = d.memory.get_mut(at..at + bytes) {
                for bytes in room.chunks_mut(8) {
                    bytes.copy_from_slice(&random.draw().to_le_bytes()[..bytes.len()]);
                }
            }
        }
    }

    /// Puts the sources where `addresses` says: arrays of words of `word` bytes, least significant first.
    pub fn put(&self, d: &mut Concrete, addresses: &[usize], function: &Function, word: usize) {
        let lengths = self.spec.source_bytes();
        let in_memory = function.source_bytes(self.spec);
        let sources = self.sources.iter().zip(&addresses[1..]);
        for ((value, at), (whole, length)) in sources.zip(lengths.into_iter().zip(in_memory)) {
            let mut bytes = value.to_bytes_le();
            bytes.resize(whole, 0);
            if length < whole {
                let modulus = self.spec.size.a as usize / 8;
                bytes.drain(modulus..modulus + whole - length);
            }
            order_words(&mut bytes, d.big_endian, word);
            let at = *at - d.start;
            d.memory[at..at + length].copy_from_slice(&bytes);
        }
    }

    /// The word `m'`, which follows the modulus.
    pub fn inverse(&self) -> Option<BigUint> {
        let follows = self.sources.last()? >> self.spec.size.a;
        let base = BigUint::from(1u8) << self.spec.word_bits;
        self.spec.inverse_follows().then(|| follows % base)
    }

    /// The result at `addresses[0]`.
    pub fn result(&self, d: &Concrete, addresses: &[usize], word: usize) -> BigUint {
        let at = addresses[0] - d.start;
        let mut bytes = d.memory[at..at + self.spec.result_bytes()].to_vec();
        order_words(&mut bytes, d.big_endian, word);
        BigUint::from_bytes_le(&bytes)
    }
}

/// Bytes from one operand to the next.
fn room(spec: &Spec) -> usize {
    let longest = spec.source_bytes().into_iter().max();
    let room = spec.result_bytes().max(longest.unwrap_or(0));
    room.next_multiple_of(8)
}

/// Bytes from the first address that [`Operands::addresses`] is given to the end of the last place.
fn taken(spec: &Spec, areas: &[Area]) -> usize {
    let places = Alias::Distinct.of(spec).into_iter().max().unwrap_or(0) + 1;
    let places = if areas.is_empty() { places } else { 4 };
    let areas = areas.iter().map(|area| area.bytes.next_multiple_of(8) + 8);
    places * room(spec) + 16 + areas.sum::<usize>()
}

/// Where operands and stack lie in `free` addresses of a part's memory: half of what operands leave is the stack's, at the end;
/// none if that is less than calls and saved registers take.
pub fn placed(spec: &Spec, function: &Function, free: Range<usize>) -> Option<Ram> {
    const LEAST: usize = 48;
    let rest = free.len().checked_sub(taken(spec, &function.areas))?;
    let stack = (rest / 2).max(LEAST);
    (stack <= rest).then(|| Ram {
        operands: free.start..free.end - stack,
        stack: free.end - stack..free.end,
    })
}

/// Between little-endian bytes and words in a machine's byte order.
pub fn order_words(bytes: &mut [u8], big_endian: bool, word: usize) {
    if big_endian {
        bytes.chunks_exact_mut(word).for_each(<[u8]>::reverse);
    }
}
