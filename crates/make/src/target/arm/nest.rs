//! Two nested loops while they are written: which register holds what, and where the arrays lie.
//!
//! A loop over products needs two pointers, their end, a sum of three words, and the words of a chunk.
//! Everything else, such as the arguments, has a register if one is left, and else a slot on the stack.
//! An address that moves with the columns is a base, a number, and `t` or `t/2`, where `t` counts the columns.

use std::collections::{BTreeMap, BTreeSet};

use machine::isa::arm::code::Insn;
use machine::isa::arm::instructions::Op;
use machine::isa::arm::machine::SP;

use crate::refusal::LowerError;
use crate::schedule::{Array, Scans, Word};
use crate::target::arm::flow::{Flow, WORD};
use crate::target::homes::{Base, Home, settle};

/// `LSR #1` of the register in the lowest bits of a shifter operand.
const LSR_1: i32 = 1 << 7 | 1 << 5;
/// Offsets of LDR and STR are below.
const REACH: i32 = 4096;
/// The register an operand's pointer comes in.
pub(super) fn argument(side: usize) -> Base {
    1 + side as u8
}

/// How far a place moves while `t` grows in the outer loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Moves {
    Not,
    Half,
    Whole,
}

/// An address: `at` bytes from a base, and what is added in the outer loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct At {
    pub base: Base,
    pub at: i32,
    pub moves: Moves,
}

/// Registers for what stays in the loops.
pub(super) struct Named {
    /// Upwards through X, downwards through Y, and where the first of them ends.
    pub j: u8,
    pub k: u8,
    pub stop: u8,
    /// The sum of a column, lowest word first; the highest is 0 where a column begins.
    pub sum: [u8; 3],
    /// Free between products.
    pub spare: u8,
    /// Words of a chunk.
    pub x: Vec<u8>,
    pub y: Vec<u8>,
    /// 4 times the columns that the outer loop has passed.
    pub t: Option<u8>,
    /// Of a square: the sum while its pairs are added up, if there are registers for it.
    pub carried: Option<[u8; 2]>,
}

/// Emits the loops.
pub(super) struct Nest<'a> {
    pub scans: &'a Scans,
    pub flow: Flow,
    pub homes: BTreeMap<Array, Home>,
    pub named: Named,
    /// Products of a strand in a pass.
    pub unroll: usize,
    /// Is this the body of the outer loop?
    pub outer: bool,
    /// Values that are in a register.
    pub values: BTreeMap<Word, u8>,
    /// Arguments that are in their registers.
    resident: BTreeSet<Base>,
    /// Words of the frame: the arrays' and the slots.
    words: usize,
    slots: usize,
}

/// The most words of an operand in registers at a time.
const CHUNK: usize = 3;

/// The words of the chunks of `count` products, at most `most`: alike, and as few as there may be.
fn chunks(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let chunks = count.div_ceil(most);
    (0..chunks).map(move |i| (count + i) / chunks)
}

impl<'a> Nest<'a> {
    /// Nothing yet, with the values registers of a limit; `t`: is there an outer loop?
    ///
    /// # Errors
    /// When registers run out.
    pub fn new(scans: &'a Scans, order: &[u8], unroll: usize, t: bool) -> Result<Self, LowerError> {
        let arguments = 0..=scans.words.lengths.len() as u8;
        let square = scans.strands.iter().any(|s| s.pairs);
        let chunk = chunks(unroll, CHUNK).max().unwrap_or(1);
        let need = 7 + 2 * chunk + usize::from(t);
        // A pointer that is none is free.
        let values = order.iter().copied().chain([2]);
        let mut pool: Vec<u8> = values.filter(|r| !arguments.contains(r)).collect();
        let left = (pool.len() + arguments.len()).checked_sub(need);
        let mut left = left.ok_or(LowerError::Registers)?;
        // A modulus is asked for more often than a factor, and that more often than the result.
        let resident: BTreeSet<Base> = arguments.clone().rev().take(left).collect();
        left -= resident.len();
        pool.extend(arguments.clone().filter(|r| !resident.contains(r)));
        // LDM and STM go by the numbers of registers.
        pool.sort_unstable();
        let mut pool = pool.into_iter();
        let mut take = || pool.next().ok_or(LowerError::Registers);
        let mut list = || (0..chunk).map(|_| take()).collect::<Result<Vec<u8>, _>>();
        let (x, y) = (list()?, list()?);
        let named = Named {
            x,
            y,
            j: take()?,
            k: take()?,
            stop: take()?,
            sum: [take()?, take()?, take()?],
            spare: take()?,
            t: if t { Some(take()?) } else { None },
            carried: match square && left >= 2 {
                true => Some([take()?, take()?]),
                false => None,
            },
        };
        let (result, frame) = (Home::of(0), Home::of(SP));
        let (homes, words) = settle(scans, &BTreeSet::new(), result, frame, argument);
        let mut nest = Self {
            scans,
            flow: Flow::default(),
            homes,
            named,
            unroll,
            outer: false,
            values: BTreeMap::new(),
            resident: arguments.clone().collect(),
            words,
            slots: arguments.len() + CARRIED,
        };
        for r in arguments.filter(|r| !resident.contains(r)) {
            nest.put_away(r);
        }
        nest.lay();
        Ok(nest)
    }

    /// Lays numbers into memory, some words at a time.
    fn lay(&mut self) {
        let Some(home) = self.homes.get(&Array::Numbers).copied() else {
            return;
        };
        let named = &self.named;
        let list = [&named.x[..], &named.y, &[named.k, named.stop]].concat();
        let to = named.j;
        self.flow.note("the modulus in memory");
        self.flow.add(to, home.base, home.at);
        let numbers: Vec<u64> = self.scans.words.stored().collect();
        for chunk in numbers.chunks(list.len().min(LAID)) {
            for (r, number) in list.iter().zip(chunk) {
                self.flow.number(*r, *number as u32);
            }
            self.flow.walk(Op::STR, to, &list[..chunk.len()]);
        }
    }
}

/// The most numbers that are laid into memory at a time.
const LAID: usize = 4;

/// Words of a sum that waits on the stack.
const CARRIED: usize = 2;

/// Where things are.
impl Nest<'_> {
    /// Words of the frame.
    pub fn scratch(&self) -> usize {
        self.words + self.slots
    }

    /// Products of so many words, a chunk at a time.
    pub fn chunks(&mut self, count: usize) {
        chunks(count, self.named.x.len()).for_each(|count| self.chunk(count));
    }

    pub fn home(&self, array: Array) -> Result<Home, LowerError> {
        self.homes.get(&array).copied().ok_or(LowerError::Scans)
    }

    /// Word `index` of an array, which is `moves` words further on after a word of `t`.
    pub fn place(&self, home: Home, index: usize, moves: Moves) -> At {
        At {
            base: home.base,
            at: home.place(index),
            moves: if self.outer { moves } else { Moves::Not },
        }
    }

    fn slot(&self, index: usize) -> i32 {
        WORD * (self.words + index) as i32
    }

    /// The argument in register `r` goes to its slot.
    fn put_away(&mut self, r: Base) {
        let at = self.slot(usize::from(r));
        self.flow.push(Insn::at(Op::STR, r, SP, at, false));
        self.resident.remove(&r);
    }

    /// All arguments go to their slots: their registers.
    pub fn put_all_away(&mut self) -> Vec<u8> {
        let all: Vec<u8> = self.resident.iter().copied().collect();
        all.iter().for_each(|r| self.put_away(*r));
        all
    }

    /// The sum waits on the stack, or is there again.
    pub fn waiting(&mut self, op: Op, registers: [u8; 2]) {
        for (i, r) in registers.into_iter().enumerate() {
            let at = self.slot(self.slots - CARRIED + i);
            self.flow.push(Insn::at(op, r, SP, at, false));
        }
    }

    /// A register with a base: `r`, if it has none of its own.
    fn base(&mut self, base: Base, r: u8) -> u8 {
        if base == SP || self.resident.contains(&base) {
            return base;
        }
        let at = self.slot(usize::from(base));
        self.flow.push(Insn::at(Op::LDR, r, SP, at, false));
        r
    }

    /// A register that differs from the place by a number: `r`, or one that has it already.
    fn near(&mut self, r: u8, place: At) -> u8 {
        let from = self.base(place.base, r);
        self.moved(r, from, place.moves)
    }

    fn moved(&mut self, r: u8, from: u8, moves: Moves) -> u8 {
        let shift = match moves {
            Moves::Not => return from,
            Moves::Half => LSR_1,
            Moves::Whole => 0,
        };
        if let Some(t) = self.named.t {
            self.flow
                .push(Insn::alu(Op::ADD, false, r, from, i32::from(t) | shift));
        }
        r
    }

    /// Makes `r` a pointer to `place`.
    pub fn point(&mut self, r: u8, place: At) {
        let from = self.near(r, place);
        self.flow.add(r, from, place.at);
    }

    /// The same, where `from` points to another place.
    pub fn point_from(&mut self, r: u8, place: At, from: (u8, At)) {
        let (there, known) = from;
        if known.base != place.base || known.moves != Moves::Not && known.moves != place.moves {
            return self.point(r, place);
        }
        let from = match known.moves == place.moves {
            true => there,
            false => self.moved(r, there, place.moves),
        };
        self.flow.add(r, from, place.at - known.at);
    }

    /// A load or store of `value` at a place, by way of `r` if need be.
    pub fn access(&mut self, op: Op, value: u8, r: u8, place: At) {
        let mut from = self.near(r, place);
        let mut at = place.at;
        if at.abs() >= REACH {
            self.flow.add(r, from, at);
            (from, at) = (r, 0);
        }
        self.flow.push(Insn::at(op, value, from, at, false));
    }
}
