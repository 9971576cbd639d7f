//! Chains behind two nested loops, and chains alone: links that are alike are a loop.
//!
//! The carry of a sum, or 1 less the borrow of a difference, waits in a word while a loop is counted: MOV and BIC leave the flag
//! alone, an addition and a comparison of pointers do not.

use std::collections::BTreeMap;

use machine::isa::msp430::code::{Dest, Insn, Source};
use machine::isa::msp430::instructions::Op;
use machine::isa::msp430::operands::SP;

use crate::refusal::LowerError;
use crate::schedule::{Array, Chain, End, Stretch, Sum, Word};
use crate::target::msp430::columns::{Nest, Place};

/// Links in a pass of the loop.
const LINKS: usize = 4;
/// Bytes of a word.
const WORD: usize = 2;

/// A loop over words.
pub struct Words {
    sum: Sum,
    x: Option<Place>,
    y: Option<Place>,
    out: Place,
    /// The complement of the mask of `y`.
    clear: Option<u8>,
    carry: u8,
    /// Which registers point into the arrays of a base, and where to at first.
    pointers: BTreeMap<u8, (u8, i32)>,
}

impl Words {
    /// `out = x + y`, or their difference, with a carry that waits in a register.
    pub fn new(sum: Sum, [x, y]: [Option<Place>; 2], out: Place, carry: u8) -> Self {
        Self {
            sum,
            x,
            y,
            out,
            clear: None,
            carry,
            pointers: BTreeMap::new(),
        }
    }

    /// Word `i` of those of a place, by way of the pointer.
    fn at(&self, place: Place, i: usize) -> (u8, u16) {
        let (r, at) = self.pointers[&place.base];
        (r, (place.at - at + (WORD * i) as i32) as u16)
    }

    fn source(&self, place: Place, i: usize) -> Source {
        match self.at(place, i) {
            (r, 0) => Source::Indirect(r),
            (r, at) => Source::Indexed(r, at),
        }
    }
}

impl Nest<'_> {
    pub fn take(&mut self) -> Result<u8, LowerError> {
        match self.free.is_empty() {
            true => Err(LowerError::Registers),
            false => Ok(self.free.remove(0)),
        }
    }

    /// The flag becomes what waits in a word.
    fn restore(&mut self, carry: u8) {
        self.flow.push(Insn::one(Op::RRA, Source::Register(carry)));
    }

    /// The flag waits in a word.
    fn save(&mut self, carry: u8) {
        self.flow.register(Op::MOV, Source::Constant(0), carry);
        self.flow.register(Op::ADDC, Source::Constant(0), carry);
    }

    /// A step of additions or subtractions.
    ///
    /// # Errors
    /// When registers run out, or it has no such form.
    pub fn chain(&mut self, chain: &Chain) -> Result<(), LowerError> {
        if chain.carry.is_some() {
            return Err(LowerError::Scans);
        }
        let carry = self.take()?;
        let first = u16::from(chain.sum == Sum::Sub);
        self.flow.register(Op::MOV, Source::Constant(first), carry);
        let stretch = self.scans.stretch(chain).filter(|s| s.links > 1);
        let links = stretch.map_or(0, |s| s.links);
        if let Some(stretch) = stretch {
            self.stretch(chain.sum, stretch, carry)?;
        }
        for link in &chain.links[links..] {
            if link.mask.is_some() || link.flip.is_some() {
                return Err(LowerError::Scans);
            }
            let value = |nest: &Self, word: Option<Word>| match word {
                None => Ok(Source::Constant(0)),
                Some(word) => {
                    let r = nest.values.get(&word).ok_or(LowerError::Scans)?;
                    Ok(Source::Register(*r))
                }
            };
            let [x, y] = [value(self, link.x)?, value(self, link.y)?];
            let out = self.take()?;
            self.flow.register(Op::MOV, x, out);
            self.restore(carry);
            self.flow.register(with_carry(chain.sum), y, out);
            self.save(carry);
            self.values.insert(link.out, out);
        }
        self.end(chain, carry)
    }

    fn end(&mut self, chain: &Chain, carry: u8) -> Result<(), LowerError> {
        match (chain.end, chain.sum) {
            (End::Drop, _) => {
                self.free.push(carry);
                return Ok(());
            }
            (End::Into { .. }, _) => return Err(LowerError::Scans),
            (End::Carry { .. }, Sum::Add) => {}
            (End::Carry { .. }, Sum::Sub) => {
                self.flow.register(Op::XOR, Source::Constant(1), carry);
            }
            (End::Mask { .. }, sum) => {
                // t - t with the borrow is c - 1: the mask of a borrow, the complement of a carry's.
                self.restore(carry);
                let own = Source::Register(carry);
                self.flow.register(Op::SUBC, own, carry);
                if sum == Sum::Add {
                    self.flow.register(Op::XOR, Source::Constant(0xffff), carry);
                }
            }
        }
        if let End::Carry { out } | End::Mask { out } = chain.end {
            self.values.insert(out, carry);
        }
        Ok(())
    }

    /// Links that are alike.
    fn stretch(&mut self, sum: Sum, stretch: Stretch, carry: u8) -> Result<(), LowerError> {
        let place = |nest: &Self, at: Option<_>| at.map(|at| nest.place(at)).transpose();
        let mask = match stretch.mask {
            None => None,
            Some(word) => Some(*self.values.get(&word).ok_or(LowerError::Scans)?),
        };
        let terms = [place(self, stretch.x)?, place(self, stretch.y)?];
        let words = Words {
            clear: mask,
            ..Words::new(sum, terms, self.place(stretch.out)?, carry)
        };
        let complement = |nest: &mut Self| {
            if let Some(mask) = mask {
                nest.flow.register(Op::XOR, Source::Constant(0xffff), mask);
            }
        };
        complement(self);
        self.each(words, stretch.links)?;
        complement(self);
        Ok(())
    }

    /// The words of the frame are the result.
    ///
    /// # Errors
    /// When registers run out.
    pub fn copy_out(&mut self) -> Result<(), LowerError> {
        let (n, carry) = (self.scans.n, self.take()?);
        self.flow.register(Op::MOV, Source::Constant(0), carry);
        // Of rows everything has moved down.
        let first = if self.scans.rows { 0 } else { n };
        let from = Some(self.place((Array::Columns, first))?);
        let words = Words::new(Sum::Add, [from, None], self.result(), carry);
        self.each(words, n)
    }

    /// All words of a loop.
    ///
    /// # Errors
    /// When registers run out.
    pub fn each(&mut self, mut words: Words, links: usize) -> Result<(), LowerError> {
        let end = self.take()?;
        for place in [words.x, words.y, Some(words.out)].into_iter().flatten() {
            if words.pointers.contains_key(&place.base) {
                continue;
            }
            let r = match place.base {
                SP => {
                    let r = self.take()?;
                    self.flow.register(Op::MOV, Source::Register(SP), r);
                    self.flow.add(place.at, r);
                    (r, place.at)
                }
                base => (base, 0),
            };
            words.pointers.insert(place.base, r);
        }
        let passes = Some(links / LINKS)
            .filter(|passes| *passes > 1)
            .unwrap_or(0);
        let bytes = (WORD * LINKS) as i32;
        let pointers: Vec<u8> = words.pointers.values().map(|(r, _)| *r).collect();
        if passes > 0 {
            let first = Source::Register(pointers[0]);
            self.flow.register(Op::MOV, first, end);
            self.flow.add(bytes * passes as i32, end);
            let top = self.flow.here();
            self.links(&words, 0..LINKS)?;
            pointers.iter().for_each(|r| self.flow.add(bytes, *r));
            self.flow
                .register(Op::CMP, Source::Register(end), pointers[0]);
            self.flow.jump(Op::JNE, top);
        }
        self.links(&words, 0..links - LINKS * passes)?;
        for (base, (r, _)) in &words.pointers {
            match base == r {
                true => self.flow.add(-bytes * passes as i32, *r),
                false => self.free.push(*r),
            }
        }
        self.free.push(end);
        Ok(())
    }

    /// Some links one after the other.
    fn links(&mut self, words: &Words, range: std::ops::Range<usize>) -> Result<(), LowerError> {
        if range.is_empty() {
            return Ok(());
        }
        let [t, masked] = [self.take()?, self.take()?];
        let op = with_carry(words.sum);
        self.restore(words.carry);
        for i in range {
            let y = match (words.y, words.clear) {
                (None, _) => Source::Constant(0),
                (Some(y), None) => words.source(y, i),
                (Some(y), Some(clear)) => {
                    self.flow.register(Op::MOV, words.source(y, i), masked);
                    self.flow.register(Op::BIC, Source::Register(clear), masked);
                    Source::Register(masked)
                }
            };
            let x = words.x.map(|x| words.source(x, i));
            self.flow
                .register(Op::MOV, x.unwrap_or(Source::Constant(0)), t);
            self.flow.register(op, y, t);
            let (r, at) = words.at(words.out, i);
            self.flow
                .two(Op::MOV, Source::Register(t), Dest::Indexed(r, at));
        }
        self.save(words.carry);
        self.free.extend([t, masked]);
        Ok(())
    }
}

/// The instruction that also adds the carry, or takes off the borrow.
fn with_carry(sum: Sum) -> Op {
    match sum {
        Sum::Add => Op::ADDC,
        Sum::Sub => Op::SUBC,
    }
}
