//! Blocks of `d` by `d` words on an AVR: `sum += X[0 .. d] Z[0 .. d]`, a row for each word of X.
//!
//! A row is `x Z[0 .. d]`, `d + 1` words. With MUL the products that lie two words apart do not overlap and are
//! moved aside; the others are added to them: `255^2 + 255 < 2^16`, so that no carry leaves (Liu,
//! Grossschaedl, Kizhvatov 2010). Without MUL a row doubles for each bit of `x`, the top one first, and adds
//! `Z[0 .. d]` where the bit is set: SBRC skips an ADC in the time it takes, and leaves a carry
//! that is 0 as it is (see [`crate::target::avr::tiles`]).

use machine::isa::avr::code::Insn;
use machine::isa::avr::instructions::{Op, Ops};

use crate::refusal::LowerError;
use crate::target::avr::nest::{Label, Nest, Z};

/// The words of a product.
const LOW: u8 = 0;
const HIGH: u8 = 1;

impl Nest<'_> {
    /// What is called.
    ///
    /// # Errors
    /// When a loop is too long.
    pub(super) fn subroutines(&mut self) -> Result<(), LowerError> {
        if !self.scans.rows {
            self.strand()?;
        }
        if !self.core.multiplies() {
            self.additions();
        }
        Ok(())
    }

    fn strand(&mut self) -> Result<(), LowerError> {
        self.draft.note("sum += X * Z, so many blocks");
        self.here(Label::Strand);
        self.rr(Op::AND, self.on.count, self.on.count);
        self.unless_zero();
        self.rr(Op::RET, 0, 0);
        let top = self.draft.insns.len();
        self.draft.dk(Op::SBIW, Z, self.d as i32);
        self.load_words();
        for i in 0..self.d {
            self.draft.dk(Op::LDX_INC, self.on.x, 0);
            self.row(i);
        }
        self.draft.repeat(self.on.count, top)?;
        self.rr(Op::RET, 0, 0);
        Ok(())
    }

    fn additions(&mut self) {
        self.draft.note("a row: a word times d words");
        self.here(Label::Row);
        let row = self.row_words();
        row.iter().for_each(|r| self.draft.clear(*r));
        let no_carry = Ops::default();
        self.draft.push(Insn {
            op: Op::BCLR,
            ops: no_carry,
        });
        for bit in (0..8).rev() {
            if bit < 7 {
                for (i, r) in row.iter().enumerate() {
                    self.rr(if i == 0 { Op::ADD } else { Op::ADC }, *r, *r);
                }
            }
            for (word, y) in row.iter().zip(self.on.y.clone()) {
                self.if_set(self.on.x, bit);
                self.rr(Op::ADC, *word, y);
            }
            self.rr(Op::ADC, row[self.d], self.on.zero);
        }
        self.rr(Op::RET, 0, 0);
        if self.scans.quotient.is_some() && !self.scans.is_inverse_one() {
            self.draft.note("a quotient word");
            self.here(Label::Low);
            self.draft.clear(self.on.x);
            for bit in (0..8).rev() {
                if bit < 7 {
                    self.rr(Op::ADD, self.on.x, self.on.x);
                }
                self.if_set(LOW, bit);
                self.rr(Op::ADD, self.on.x, self.on.inverse);
            }
            self.rr(Op::RET, 0, 0);
        }
    }

    fn here(&mut self, label: Label) {
        self.labels.push((label, self.draft.insns.len()));
    }

    /// Skips the next instruction unless bit `b` of `r` is set.
    fn if_set(&mut self, r: u8, b: u8) {
        let ops = Ops {
            r,
            b,
            ..Ops::default()
        };
        let op = Op::SBRC;
        self.draft.push(Insn { op, ops });
    }

    /// Branches over the next instruction unless the last result is 0.
    fn unless_zero(&mut self) {
        let ops = Ops {
            b: 1,
            k: 1,
            ..Ops::default()
        };
        let op = Op::BRBC;
        self.draft.push(Insn { op, ops });
    }

    /// `d` words from where Z points.
    pub(super) fn load_words(&mut self) {
        for i in 0..self.d {
            let y = self.on.y[i];
            self.draft.dk(Op::LDDZ, y, i as i32);
        }
    }

    /// The registers that a row is in.
    fn row_words(&self) -> Vec<u8> {
        let (d, odd) = (self.d, self.d % 2 == 1);
        let below = &self.on.row;
        match d {
            1 => vec![LOW, HIGH],
            _ if odd && self.core.multiplies() => below[..=d].to_vec(),
            _ => [&below[..d], &[HIGH]].concat(),
        }
    }

    /// `sum += 2^(8 i) x Z[0 .. d]`.
    pub(super) fn row(&mut self, i: usize) {
        self.products();
        let row = self.row_words();
        for k in i..self.on.sum.len() {
            let op = if k == i { Op::ADD } else { Op::ADC };
            let word = row.get(k - i).copied().unwrap_or(self.on.zero);
            self.rr(op, self.on.sum[k], word);
        }
    }

    /// `x Z[0 .. d]`.
    pub(super) fn products(&mut self) {
        if !self.core.multiplies() {
            return self.call(Label::Row);
        }
        let (x, zero, d) = (self.on.x, self.on.zero, self.d);
        let (row, y) = (self.row_words(), self.on.y.clone());
        if d == 1 {
            self.rr(Op::MUL, x, y[0]);
            return;
        }
        for k in (0..d).step_by(2) {
            self.rr(Op::MUL, x, y[k]);
            self.rr(Op::MOVW, row[k], LOW);
        }
        for k in (1..d).step_by(2) {
            self.rr(Op::MUL, x, y[k]);
            self.rr(Op::ADD, row[k], LOW);
            if k + 1 < d {
                self.rr(Op::ADC, row[k + 1], HIGH);
                self.rr(Op::ADC, row[k + 2], zero);
            } else {
                self.rr(Op::ADC, HIGH, zero);
            }
        }
    }

    /// `x = m' word mod 2^8`.
    pub(super) fn low_product(&mut self, word: u8) {
        match self.core.multiplies() {
            _ if self.scans.is_inverse_one() => self.rr(Op::MOV, self.on.x, word),
            true => {
                self.rr(Op::MUL, word, self.on.inverse);
                self.rr(Op::MOV, self.on.x, LOW);
            }
            false => {
                self.rr(Op::MOV, LOW, word);
                self.call(Label::Low);
            }
        }
    }
}
