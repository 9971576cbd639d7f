//! The instructions of drivers, with jumps and loops. Y points to the area of numbers.

use machine::isa::avr::code::Insn;
use machine::isa::avr::instructions::{Op, Ops};
use machine::isa::avr::machine::Pointer;

use crate::driver::Cell;
use crate::refusal::LowerError;

/// Z's number in SREG.
pub(super) const ZERO: u8 = 1;
/// Reaches of BRBS, BRBC and of RJMP, RCALL, backwards, in words.
const BRANCH: i32 = 64;
pub(super) const JUMP: i32 = 2048;

pub(super) const Y: u8 = Pointer::Y as u8;

/// How far it is from the jump at `at` to `to`, in words.
pub(super) fn reach(to: usize, at: usize, most: i32) -> Result<i32, LowerError> {
    let k = to as i32 - at as i32 - 1;
    match (-most..most).contains(&k) {
        true => Ok(k),
        false => Err(LowerError::Reach),
    }
}

/// A jump whose aim is not known yet: its index, and its place in words.
#[derive(Clone, Copy)]
pub(super) struct Ahead {
    index: usize,
    at: usize,
}

#[derive(Default)]
pub(super) struct Emitter {
    pub(super) insns: Vec<Insn>,
    pub(super) notes: Vec<(usize, String)>,
    /// In a routine that others call: what it takes matters more than its bytes, behind which nothing is called.
    pub(super) is_inner: bool,
    /// Words so far.
    pub(super) at: usize,
    /// Calls of kernels.
    pub(super) calls: Vec<(usize, usize)>,
    /// Calls of routines: index, place in words, which.
    pub(super) routines: Vec<(usize, usize, usize)>,
    /// Tables that are read, and what reads them: index, place in words, which table.
    pub(super) tables: Vec<Table>,
    pub(super) reads: Vec<(usize, usize, usize)>,
}

/// A table that is read whole.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) at: usize,
    /// Bytes of an entry.
    pub(super) bytes: usize,
    pub(super) entries: usize,
}

/// A cell's displacement.
pub(super) fn cell(cell: Cell) -> i32 {
    cell.at(1) as i32
}

impl Emitter {
    pub(super) fn push(&mut self, insn: Insn) {
        self.at += insn.bytes() / 2;
        self.insns.push(insn);
    }

    pub(super) fn rr(&mut self, op: Op, d: u8, r: u8) {
        self.push(Insn::rr(op, d, r));
    }

    pub(super) fn dk(&mut self, op: Op, d: u8, k: i32) {
        self.push(Insn::dk(op, d, k));
    }

    pub(super) fn get(&mut self, r: u8, from: Cell) {
        self.dk(Op::LDDY, r, cell(from));
    }

    pub(super) fn put(&mut self, to: Cell, r: u8) {
        self.push(Insn::rk(Op::STDY, r, cell(to)));
    }

    /// `pair += k`.
    pub(super) fn add(&mut self, pair: u8, k: usize) {
        let k = -(k as i32);
        self.dk(Op::SUBI, pair, k & 0xff);
        self.dk(Op::SBCI, pair + 1, k >> 8 & 0xff);
    }

    /// The address of byte `at` of the area.
    pub(super) fn point(&mut self, pair: u8, at: usize) {
        self.rr(Op::MOVW, pair, Y);
        if at != 0 {
            self.add(pair, at);
        }
    }

    pub(super) fn branch(&mut self, op: Op, flag: u8, k: i32) {
        let ops = Ops {
            k,
            b: flag,
            ..Ops::default()
        };
        self.push(Insn { op, ops });
    }

    /// Skips what follows unless the bit is set.
    pub(super) fn skip(&mut self, r: u8, b: u8) {
        let ops = Ops {
            r,
            b,
            ..Ops::default()
        };
        self.push(Insn { op: Op::SBRC, ops });
    }

    /// Goes back to `top` unless Z is set.
    pub(super) fn again(&mut self, top: usize) -> Result<(), LowerError> {
        match reach(top, self.at, BRANCH) {
            Ok(k) => self.branch(Op::BRBC, ZERO, k),
            Err(_) => {
                self.branch(Op::BRBS, ZERO, 1);
                let k = reach(top, self.at, JUMP)?;
                self.dk(Op::RJMP, 0, k);
            }
        }
        Ok(())
    }

    /// A jump to wherever [`Self::here`] is called for it.
    pub(super) fn ahead(&mut self) -> Ahead {
        let jump = Ahead {
            index: self.insns.len(),
            at: self.at,
        };
        self.dk(Op::RJMP, 0, 0);
        jump
    }

    pub(super) fn here(&mut self, jump: Ahead) -> Result<(), LowerError> {
        self.insns[jump.index].ops.k = reach(self.at, jump.at, JUMP)?;
        Ok(())
    }

    /// A loop of `times` passes, counted in a register.
    pub(super) fn counted(
        &mut self,
        counter: u8,
        times: usize,
        body: impl Fn(&mut Self),
    ) -> Result<(), LowerError> {
        match times {
            1 => body(self),
            2..=256 => {
                self.dk(Op::LDI, counter, times as i32 & 0xff);
                let top = self.at;
                body(self);
                self.rr(Op::DEC, counter, 0);
                self.again(top)?;
            }
            _ => return Err(LowerError::Reach),
        }
        Ok(())
    }

    /// A loop over `bytes` bytes, some at a time. The carry is kept from pass to pass.
    pub(super) fn over(
        &mut self,
        bytes: usize,
        body: impl Fn(&mut Self),
    ) -> Result<(), LowerError> {
        // Bytes of a pass.
        let most = if self.is_inner { 8 } else { 4 };
        let unroll = (1..=most).rev().find(|u| bytes.is_multiple_of(*u));
        let unroll = unroll.unwrap_or(1);
        let pass = |e: &mut Self| (0..unroll).for_each(|_| body(e));
        self.counted(24, bytes / unroll, pass)
    }
}
