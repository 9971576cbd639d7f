//! Two nested loops on an AVR: product scanning and FIPS, in columns of blocks of `d` by `d` words.
//!
//! X walks upwards through one factor, Z downwards through the other, and a subroutine adds so many of
//! their blocks to the accumulator (see [`crate::target::avr::blocks`]); all columns call it for each of their
//! `Strand`s. Y points to the frame on the stack, which it would do anyway where it is the stack pointer
//! of data: there lie the addresses of the arrays, and the quotient words.
//!
//! Of a square, the blocks on one side of the diagonal are added up on their own and doubled; the block in the
//! middle, where there is one, is where X and Z have met then. What follows the sweep is in [`crate::target::avr::chains`].

use machine::isa::avr::code::Insn;
use machine::isa::avr::cores::{Core, Set};
use machine::isa::avr::instructions::{Op, Ops};
use machine::program::Program;
use spec::modulus::Reduce;

use crate::facts::Style;
use crate::refusal::LowerError;
use crate::schedule::{Array, Scans, Words};
use crate::target::avr::frame::move_stack;
use crate::target::avr::nest::{Label, Nest, X, Y, Z};
use crate::target::avr::{rounds, sums};

/// The largest side of a block, in words.
const LARGEST: usize = 4;
/// The most blocks of a column: a register counts them.
const COLUMN: usize = 255;

/// The functions that run `scans` on `core` with at most `most` registers: one for each side of blocks
/// that may pay.
///
/// # Errors
/// The first reason, if there is none.
pub fn lower(core: &Core, scans: &Scans, most: usize) -> Result<Vec<Program<Insn>>, LowerError> {
    if core.set != Set::Avrrc && scans.strands.is_empty() {
        return Ok(vec![sums::lower(core, scans)?]);
    }
    match scans {
        Scans {
            rows: true,
            quotient,
            ..
        } if quotient.is_some() => {
            return Err(LowerError::RowsOfQuotients);
        }
        Scans { style, .. } if *style == Style::Looped => return Err(LowerError::Looped),
        _ => {}
    }
    if core.set == Set::Avrrc {
        return Err(LowerError::Displacements(core.name));
    }
    if scans.rows {
        return rounds::lower(core, scans, most);
    }
    let lazy = |words: &Words| {
        words
            .modular
            .as_ref()
            .is_some_and(|m| m.reduce == Reduce::Lazy)
    };
    if !core.multiplies() && lazy(&scans.words) {
        // That the top of (A B + Q M) / R is 0 is not shown of products made by additions.
        return Err(LowerError::LazyAdditions);
    }
    let sides = match (scans.side, scans.unroll) {
        (Some(side), _) => vec![side],
        (None, Some(products)) => {
            let side = (1..=LARGEST).find(|d| d * d == products);
            vec![side.ok_or(LowerError::Block(products))?]
        }
        (None, None) => {
            let sides = (1..=LARGEST).rev();
            sides.filter(|d| scans.n.is_multiple_of(*d)).collect()
        }
    };
    let made = sides.into_iter().map(|d| function(core, scans, most, d));
    let made: Vec<_> = made.collect();
    let error = made.iter().find_map(|f| f.as_ref().err().cloned());
    let list: Vec<_> = made.into_iter().flatten().collect();
    match error {
        Some(error) if list.is_empty() => Err(error),
        _ => Ok(list),
    }
}

fn function(
    core: &Core,
    scans: &Scans,
    most: usize,
    d: usize,
) -> Result<Program<Insn>, LowerError> {
    let n = scans.n;
    if d > LARGEST || !n.is_multiple_of(d) {
        let fits = |d: &usize| n.is_multiple_of(*d);
        let largest = (1..=LARGEST).rev().find(fits).unwrap_or(1);
        return Err(LowerError::Side { d, n, largest });
    }
    if n / d > COLUMN {
        return Err(LowerError::Column(COLUMN));
    }
    let mut nest = Nest::new(core, scans, most, d)?;
    nest.body()?;
    nest.chains()?;
    let leave = move_stack(core.abi, nest.frame.bytes);
    nest.draft.insns.extend(leave);
    nest.finish()
}

impl Nest<'_> {
    /// The numbers, one after another in the frame. Uses X and a register that counts.
    fn lay_numbers(&mut self) {
        self.rr(Op::MOVW, X, Y);
        self.move_by(X, self.frame.numbers);
        let (spare, mut held) = (self.on.total, None);
        for number in self.scans.words.stored() {
            let from = if number == 0 { self.on.zero } else { spare };
            if number != 0 && held.replace(number) != Some(number) {
                self.draft.dk(Op::LDI, spare, number as i32);
            }
            self.draft.push(Insn::rk(Op::STX_INC, from, 0));
        }
    }

    /// Puts the addresses of the arrays into the frame.
    fn put_addresses(&mut self) -> Result<(), LowerError> {
        let n = self.scans.n;
        let modulus = self.scans.modulus();
        let [r, ..] = self.core.abi.arguments;
        let first_out = match modulus {
            None => r,
            Some(array) => {
                self.put(r, self.frame.result);
                match array {
                    Array::Operand(side) => self.rr(Op::MOVW, Z, self.argument(side)?),
                    _ => {
                        self.rr(Op::MOVW, Z, Y);
                        self.move_by(Z, self.frame.numbers);
                    }
                }
                self.put(Z, self.frame.modulus);
                self.rr(Op::MOVW, X, Y);
                self.move_by(X, self.frame.quotients);
                X
            }
        };
        self.put(first_out, self.frame.out);
        for (i, strand) in self.scans.strands.iter().enumerate() {
            for (at, array) in [(0, strand.x), (2, strand.y)] {
                let from = match array {
                    Array::Operand(side) => self.argument(side)?,
                    Array::Quotients => X,
                    Array::Numbers | Array::Square => Z,
                    _ => return Err(LowerError::Scans),
                };
                let behind = if array == Array::Square {
                    n as i32 + 1
                } else {
                    0
                };
                self.move_by(Z, behind);
                self.put(from, self.frame.strands + 4 * i as i32 + at);
                self.move_by(Z, -behind);
            }
        }
        if let Some(side) = self.scans.added(0) {
            self.put(self.argument(side)?, self.frame.addend);
        }
        Ok(())
    }

    fn body(&mut self) -> Result<(), LowerError> {
        let n = self.scans.n;
        let modulus = self.scans.modulus();
        self.draft.note("the frame: addresses of the arrays");
        let room = move_stack(self.core.abi, -self.frame.bytes);
        self.draft.insns.extend(room);
        self.put_addresses()?;
        self.draft.clear(self.on.zero);
        if modulus == Some(Array::Numbers) {
            self.draft.note("the modulus and m'");
            self.lay_numbers();
        }
        if modulus.is_some() && !self.scans.is_inverse_one() {
            self.move_by(Z, n as i32);
            self.draft.dk(Op::LDDZ, self.on.inverse, 0);
        }
        for r in [&[self.on.total][..], &self.on.sum].concat() {
            self.draft.clear(r);
        }
        self.draft.note("columns that become longer");
        let top = self.draft.insns.len();
        self.rr(Op::INC, self.on.total, 0);
        self.column(true)?;
        let blocks = (n / self.d) as i32;
        self.draft.dk(Op::CPI, self.on.total, blocks);
        self.draft.again(top)?;
        if modulus.is_some() {
            self.get(X, self.frame.result);
            self.put(X, self.frame.out);
        }
        self.draft.note("columns that become shorter");
        let top = self.draft.insns.len();
        self.rr(Op::DEC, self.on.total, 0);
        self.column(false)?;
        self.rr(Op::AND, self.on.total, self.on.total);
        self.draft.again(top)
    }

    /// A column of as many blocks as `total` says.
    fn column(&mut self, rising: bool) -> Result<(), LowerError> {
        let k = if rising { 0 } else { self.scans.n };
        if self.scans.added(k).is_some() {
            self.addend();
        }
        let strands = self.scans.strands.clone();
        for (i, strand) in strands.into_iter().enumerate() {
            let at = self.frame.strands + 4 * i as i32;
            let moved = if rising { 2 } else { 0 };
            self.get(X, at);
            self.get(Z, at + 2);
            let pointer = if rising { Z } else { X };
            self.move_by(pointer, self.d as i32);
            self.put(pointer, at + moved);
            self.rr(Op::MOV, self.on.count, self.on.total);
            if strand.pairs {
                self.pairs();
                continue;
            }
            if rising && strand.x == Array::Quotients {
                // The last quotient words are still to come.
                self.rr(Op::DEC, self.on.count, 0);
            }
            self.call(Label::Strand);
        }
        self.get(X, self.frame.out);
        match rising && self.scans.quotient.is_some() {
            true => self.quotients(),
            false => {
                for i in 0..self.d {
                    let low = self.on.sum[i];
                    self.draft.push(Insn::rk(Op::STX_INC, low, 0));
                }
            }
        }
        self.put(X, self.frame.out);
        let (low, high) = (self.on.sum.len() - self.d, self.on.sum.clone());
        let moves: Vec<_> = (0..low).map(|k| (high[k], high[k + self.d])).collect();
        self.draft.shuffle(&moves, &[]);
        high[low..].iter().for_each(|r| self.draft.clear(*r));
        Ok(())
    }

    /// `d` words of what is reduced.
    fn addend(&mut self) {
        self.get(X, self.frame.addend);
        for k in 0..self.on.sum.len() {
            let op = if k == 0 { Op::ADD } else { Op::ADC };
            let word = if k < self.d { self.on.x } else { self.on.zero };
            if k < self.d {
                self.draft.dk(Op::LDX_INC, word, 0);
            }
            self.rr(op, self.on.sum[k], word);
        }
        self.put(X, self.frame.addend);
    }

    /// Twice the blocks on one side of the diagonal, what there was before, and the block on it.
    fn pairs(&mut self) {
        let (sum, before) = (self.on.sum.clone(), self.frame.before);
        let kept = sum.len() - self.d;
        for (i, r) in sum[..kept].iter().enumerate() {
            self.draft.push(Insn::rk(Op::STDY, *r, before + i as i32));
            self.draft.clear(*r);
        }
        self.rr(Op::LSR, self.on.count, 0);
        self.call(Label::Strand);
        for (i, r) in sum.iter().enumerate() {
            let op = if i == 0 { Op::ADD } else { Op::ADC };
            self.rr(op, *r, *r);
        }
        for (i, r) in sum.iter().enumerate() {
            let op = if i == 0 { Op::ADD } else { Op::ADC };
            match i < kept {
                true => {
                    self.draft.dk(Op::LDDY, 0, before + i as i32);
                    self.rr(op, *r, 0);
                }
                false => self.rr(op, *r, self.on.zero),
            }
        }
        // The count is 0.
        let odd = Ops {
            r: self.on.total,
            ..Ops::default()
        };
        self.draft.push(Insn {
            op: Op::SBRC,
            ops: odd,
        });
        self.rr(Op::INC, self.on.count, 0);
        self.call(Label::Strand);
    }

    /// `d` quotient words, to where X points: `q = sum m' mod 2^8`, `sum += q m[0 .. d]`, word by word.
    fn quotients(&mut self) {
        self.get(Z, self.frame.modulus);
        self.load_words();
        for i in 0..self.d {
            self.low_product(self.on.sum[i]);
            self.draft.push(Insn::rk(Op::STX_INC, self.on.x, 0));
            self.row(i);
        }
    }
}
