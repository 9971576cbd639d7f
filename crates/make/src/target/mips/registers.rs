//! Instructions while they are written, and the registers that they may use.

use std::collections::VecDeque;

use machine::isa::mips::code::Insn;
use machine::isa::mips::instructions::Op;

use crate::refusal::LowerError;
use crate::schedule::{Blocks, Lifetimes, Product};

/// An operand or the result, and the register that points to it all the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Array {
    R = 4,
    A = 5,
    B = 6,
    /// A modulus.
    M = 7,
}

/// Registers that a function may use as it likes, once $a0 to $a2 point.
pub const CALLER_SAVED: [u8; 14] = [2, 3, 7, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 1];
/// Registers that it must save first.
pub const CALLEE_SAVED: [u8; 10] = [16, 17, 18, 19, 20, 21, 22, 23, 30, 31];

/// The register that holds 0.
pub const ZERO: u8 = 0;

/// Straight-line code under construction.
#[derive(Default)]
pub struct Draft {
    pub insns: Vec<Insn>,
    /// Remarks, each before the instruction of that index.
    pub notes: Vec<(usize, String)>,
    /// Free registers, the longest free first: what was just used is used again last, so that
    /// instructions can change places.
    free: VecDeque<u8>,
    /// The register that holds 1, and the index of the instruction that sets it.
    one: Option<(usize, u8)>,
}

impl Draft {
    /// Nothing yet, with these registers to use.
    pub fn new(registers: impl IntoIterator<Item = u8>) -> Self {
        Self {
            free: registers.into_iter().collect(),
            ..Self::default()
        }
    }

    /// The longest free register.
    pub fn take(&mut self) -> Result<u8, LowerError> {
        self.free.pop_front().ok_or(LowerError::Registers)
    }

    /// A free even register, whose successor is free too.
    pub fn take_pair(&mut self) -> Result<u8, LowerError> {
        let even = |r: &u8| r.is_multiple_of(2) && self.free.contains(&(r + 1));
        let pair = self.free.iter().copied().find(even);
        let pair = pair.ok_or(LowerError::Registers)?;
        self.free.retain(|r| *r != pair && *r != pair + 1);
        Ok(pair)
    }

    /// Keeps `r` from being taken.
    pub fn reserve(&mut self, r: u8) {
        self.free.retain(|free| *free != r);
    }

    pub fn release(&mut self, r: u8) {
        if r != ZERO {
            self.free.push_back(r);
        }
    }

    pub fn note(&mut self, text: String) {
        self.notes.push((self.insns.len(), text));
    }

    pub fn three(&mut self, op: Op, d: u8, s: u8, t: u8) {
        self.insns.push(Insn::three(op, d, s, t));
    }

    pub fn load(&mut self, array: Array, index: usize, r: u8) {
        let at = 4 * index as i32;
        self.insns.push(Insn::immediate(Op::LW, r, array as u8, at));
    }

    pub fn store(&mut self, index: usize, r: u8) {
        let at = 4 * index as i32;
        self.insns
            .push(Insn::immediate(Op::SW, r, Array::R as u8, at));
    }

    /// The register that holds 1, from now on.
    pub fn one(&mut self) -> Result<u8, LowerError> {
        if let Some((_, r)) = self.one {
            return Ok(r);
        }
        let r = self.take()?;
        self.one = Some((self.insns.len(), r));
        self.insns.push(Insn::immediate(Op::ADDIU, r, ZERO, 1));
        Ok(r)
    }

    /// The register that holds 1, if one was needed, and from which instruction on.
    pub fn known_one(&self) -> Option<(usize, u8)> {
        self.one
    }
}

/// Operand words in registers, as a schedule loads and drops them.
pub struct Words {
    at: [Vec<Option<u8>>; 2],
    lifetimes: Lifetimes,
    /// Products so far.
    time: usize,
}

impl Words {
    /// No word is in a register yet.
    pub fn new(schedule: &Blocks) -> Self {
        Self {
            at: [vec![None; schedule.n], vec![None; schedule.n]],
            lifetimes: Lifetimes::of(schedule),
            time: 0,
        }
    }

    fn word(
        &mut self,
        draft: &mut Draft,
        side: usize,
        index: usize,
        load: bool,
    ) -> Result<u8, LowerError> {
        match self.at[side][index] {
            Some(r) if !load => Ok(r),
            old => {
                let r = match old {
                    Some(r) => r,
                    None => draft.take()?,
                };
                draft.load([Array::A, Array::B][side], index, r);
                self.at[side][index] = Some(r);
                Ok(r)
            }
        }
    }

    /// The registers of the factors of `product`, loaded as it says.
    pub fn factors(
        &mut self,
        draft: &mut Draft,
        product: &Product,
    ) -> Result<(u8, u8), LowerError> {
        let a = self.word(draft, 0, product.a, product.load_a)?;
        let b = self.word(draft, 1, product.b, product.load_b)?;
        Ok((a, b))
    }

    /// Frees the words that `product` was the last to use.
    pub fn retire(&mut self, draft: &mut Draft, product: &Product) {
        let (a, b) = (self.lifetimes.a[self.time], self.lifetimes.b[self.time]);
        self.time += 1;
        for (side, index, dies) in [(0, product.a, a), (1, product.b, b)] {
            if dies && let Some(r) = self.at[side][index].take() {
                draft.release(r);
            }
        }
    }
}
