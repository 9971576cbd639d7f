//! Rows in two nested loops on a MIPS32: FIOS as gk2003 has it (section 5.2), with MADDH and MADDL or without them.
//!
//! `(u, v) = a[j] b + t[j] + u` and `(p, t[j-1]) = m[j] q + v + p`: two words are carried along, and the pairs
//! of registers are `(t, u)` and `(v, p)`. The words of a, of m and of what goes down lie side by side
//! in the stack frame, so that one pointer reaches all.

use machine::isa::mips::code::Insn;
use machine::isa::mips::instructions::Op;

use crate::facts::Style;
use crate::refusal::LowerError;
use crate::schedule::Array;
use crate::target::mips::nest::{Home, Nest, Pointer};
use crate::target::mips::registers::{Array as Argument, ZERO};

/// Registers of a row.
pub(super) struct RowRegisters {
    /// The even registers of the pairs.
    pub t: u8,
    pub v: u8,
    /// The words that stay.
    pub b: u8,
    pub q: u8,
    pub m0: u8,
    /// Word `n` of what goes down, if there can be one: the even register of a pair.
    pub top: Option<u8>,
    /// Of a square: the top bit of a.
    pub bit: Option<u8>,
    /// The words of a, of a square those of 2a.
    pub a: Home,
    pub m: Home,
    pub down: Home,
}

impl Nest<'_> {
    /// A pair of free registers, the first one even.
    pub(super) fn take_pair(&mut self) -> Result<u8, LowerError> {
        let even = |r: &&u8| r.is_multiple_of(2) && self.free.contains(&(**r + 1));
        let pair = self.free.iter().find(even).copied();
        let pair = pair.ok_or(LowerError::Registers)?;
        self.free.retain(|r| *r != pair && *r != pair + 1);
        Ok(pair)
    }

    /// Registers of a row of arrays in the frame; `tall`: a row has two words more than a.
    fn take_row(
        &mut self,
        tall: bool,
        a: Home,
        m: Home,
        down: Home,
    ) -> Result<RowRegisters, LowerError> {
        let (t, v) = (self.take_pair()?, self.take_pair()?);
        let [b, q, m0] = [self.take()?, self.take()?, self.take()?];
        let top = tall.then(|| self.take_pair()).transpose()?;
        let bit = self.square().then(|| self.take()).transpose()?;
        Ok(RowRegisters {
            t,
            v,
            b,
            q,
            m0,
            top,
            bit,
            a,
            m,
            down,
        })
    }

    /// The words of a, doubled for a square, beside those of the modulus, if it is an operand, and zeros below them.
    fn side_by_side(
        &mut self,
        row: &RowRegisters,
        a_side: usize,
        m: Array,
        n: usize,
    ) -> Result<(), LowerError> {
        self.flow.remark("the words of a and m side by side".into());
        let from_a = Home::of(Self::argument(a_side));
        let mut copied = vec![(from_a, row.a, row.bit)];
        if let Array::Operand(side) = m {
            copied.push((Home::of(Self::argument(side)), row.m, None));
        }
        let mut homes: Vec<Home> = copied.iter().map(|(from, ..)| *from).collect();
        homes.push(row.a);
        if let Some(bit) = row.bit {
            self.three(Op::ADDU, bit, ZERO, ZERO);
        }
        self.each_word(&homes, n, |nest, i| {
            for (from, to, bit) in copied.iter().copied() {
                let word = nest.load(nest.moving(from), from, i)?;
                if let Some(bit) = bit {
                    // 2a: the top bit goes on to the next word.
                    let top = nest.take()?;
                    nest.shift_by(Op::SRL, top, word, 31);
                    nest.shift_by(Op::SLL, word, word, 1);
                    nest.three(Op::OR, word, word, bit);
                    nest.three(Op::ADDU, bit, top, ZERO);
                    nest.release(top);
                }
                nest.store(word, nest.moving(to), to, i);
                nest.release(word);
            }
            nest.store(ZERO, nest.moving(row.down), row.down, i);
            Ok(())
        })
    }

    /// All rows.
    ///
    /// # Errors
    /// When registers run out.
    pub(super) fn all_rows(&mut self) -> Result<(), LowerError> {
        let scans = self.scans;
        let n = scans.n;
        let [inverse, m] = scans.quotient.ok_or(LowerError::Scans)?;
        let (m, _) = scans.place(m).ok_or(LowerError::Scans)?;
        let strand = scans.strands.iter().find(|s| s.y != Array::Quotients);
        let strand = strand.ok_or(LowerError::Scans)?;
        let (Array::Operand(a_side), Array::Operand(b_side)) = (strand.x, strand.y) else {
            return Err(LowerError::Scans);
        };
        let [a_home, m_home, down] = [
            self.home(strand.x)?,
            self.home(m)?,
            self.home(Array::Columns)?,
        ];
        let tall = scans.sweep().is_some_and(|s| s.piles.len() == n + 2);
        let row = self.take_row(tall, a_home, m_home, down)?;
        self.inverse(inverse)?;
        self.set_one();
        self.side_by_side(&row, a_side, m, n)?;
        let frame = self.fixed(row.a);
        self.immediate(Op::LW, row.m0, frame.r, row.m.at);
        if let Some(top) = row.top {
            self.three(Op::ADDU, top, ZERO, ZERO);
        }
        self.flow.remark("rows".into());
        let b = Self::argument(b_side);
        match self.square() {
            true if scans.style == Style::Looped => return Err(LowerError::Looped),
            true => {
                self.point(b, self.pointers[&b], 0);
                self.square_rows(&row, b)?;
            }
            false => self.product_rows(&row, b)?,
        }
        let out = scans.last_sweep().and_then(|s| s.piles.get(n + 1)?.out);
        if let (Some(out), Some(top)) = (out, row.top) {
            self.values.insert(out, top);
        }
        for r in [row.t, row.t + 1, row.v, row.v + 1, row.b, row.q, row.m0] {
            self.release(r);
        }
        match scans.words.result.iter().any(|w| self.is_chained(*w)) {
            true => Ok(()),
            false => self.copy_out(&row, n),
        }
    }

    /// The words that the rows leave become the result.
    fn copy_out(&mut self, row: &RowRegisters, n: usize) -> Result<(), LowerError> {
        let result = Home::of(Argument::R as u8);
        self.each_word(&[row.down, result], n, |nest, i| {
            let word = nest.load(nest.moving(row.down), row.down, i)?;
            nest.store(word, nest.moving(result), result, i);
            nest.release(word);
            Ok(())
        })
    }

    /// The 1 that rows without MADDL take.
    pub(super) fn set_one(&mut self) {
        if !self.sum.paired {
            self.immediate(Op::ADDIU, self.named.one, ZERO, 1);
        }
    }

    /// Is the word made by a chain?
    fn is_chained(&self, word: crate::schedule::Word) -> bool {
        matches!(self.scans.place(word), Some((Array::Chain(_), _)))
    }

    /// Rows of a product; `b` is the register that points to the words of the factor whose turn it is.
    fn product_rows(&mut self, row: &RowRegisters, b: u8) -> Result<(), LowerError> {
        let (n, frame) = (self.scans.n, self.fixed(row.a));
        let a0 = self.take()?;
        self.immediate(Op::LW, a0, frame.r, row.a.at);
        let passes = (n - 1) / self.unroll;
        let stop = row.a.place(1 + self.unroll * passes);
        self.immediate(Op::ADDIU, self.named.stop, frame.r, stop);
        self.immediate(Op::ADDIU, self.named.end, b, 4 * n as i32);
        if self.scans.style == Style::Rolled {
            self.repeat(&[(b, 4)], n, self.named.end, |nest| nest.row(row, b, a0))?;
        } else {
            for _ in 0..n {
                self.flow.block();
                self.row(row, b, a0)?;
                let from = self.pointers[&b];
                self.point(b, from, from.at + 4);
            }
        }
        self.release(a0);
        Ok(())
    }

    /// `(u, v) = a[0] b + t[0]`.
    pub(super) fn begin_product(&mut self, row: &RowRegisters, a0: u8, frame: Pointer) {
        self.immediate(Op::LW, row.t, frame.r, row.down.at);
        self.three(Op::ADDU, row.t + 1, ZERO, ZERO);
        self.accumulate([row.t + 1, row.v], [a0, row.b], row.t);
    }

    /// `q = v m' mod 2^w`, `p` from `m[0] q + v`.
    pub(super) fn begin_quotient(&mut self, row: &RowRegisters) {
        match self.scans.is_inverse_one() {
            true => self.three(Op::ADDU, row.q, ZERO, row.v),
            false => self.three(Op::MUL, row.q, row.v, self.named.inverse),
        }
        let (v, p) = (row.v, row.v + 1);
        if self.sum.paired {
            self.three(Op::ADDU, p, ZERO, ZERO);
            self.step(Op::MADDH, p, row.m0, row.q, v);
        } else {
            self.three(Op::MTLO, 0, v, 0);
            self.three(Op::MTHI, 0, ZERO, 0);
            self.three(Op::MADDU, 0, row.m0, row.q);
            self.three(Op::MFHI, p, 0, 0);
        }
    }

    fn row(&mut self, row: &RowRegisters, b: u8, a0: u8) -> Result<(), LowerError> {
        let n = self.scans.n;
        let frame = self.fixed(row.a);
        self.immediate(Op::LW, row.b, b, 0);
        let mut at = self.point(self.named.j, frame, row.a.place(1));
        // Word 0, which q makes 0.
        self.begin_product(row, a0, frame);
        self.begin_quotient(row);
        let (unroll, passes) = (self.unroll, (n - 1) / self.unroll);
        if passes > 0 {
            let steps = [(self.named.j, 4 * unroll as i32)];
            self.repeat(&steps, passes, self.named.stop, |nest| {
                (1..=unroll).try_for_each(|j| nest.word(row, j, at))
            })?;
            at = self.pointers[&self.named.j];
        }
        (1 + unroll * passes..n).try_for_each(|j| self.word(row, j, at))?;
        self.end_row(row, at)
    }

    /// `t[n-1], t[n] = t[n] + u + p`.
    pub(super) fn end_row(&mut self, row: &RowRegisters, at: Pointer) -> Result<(), LowerError> {
        let (u, p) = (row.t + 1, row.v + 1);
        match row.top {
            None => self.three(Op::ADDU, u, u, p),
            Some(top) => {
                let carry = self.take()?;
                self.three(Op::ADDU, top, top, u);
                self.three(Op::SLTU, carry, top, u);
                self.three(Op::ADDU, u, top, p);
                self.three(Op::SLTU, top, u, p);
                self.three(Op::ADDU, top, top, carry);
                self.release(carry);
            }
        }
        self.store(u, at, row.down, self.scans.n - 1);
        Ok(())
    }

    /// Word `j` of a row.
    pub(super) fn word(
        &mut self,
        row: &RowRegisters,
        j: usize,
        at: Pointer,
    ) -> Result<(), LowerError> {
        let a = self.load(at, row.a, j)?;
        self.word_of(row, a, j, at)?;
        self.release(a);
        Ok(())
    }

    /// The same with `a` for `a[j]`.
    pub(super) fn word_of(
        &mut self,
        row: &RowRegisters,
        a: u8,
        j: usize,
        at: Pointer,
    ) -> Result<(), LowerError> {
        let [m, down] = [self.take()?, self.take()?];
        let load = |nest: &mut Self, r, home: Home| {
            nest.immediate(Op::LW, r, at.r, home.place(j) - at.at);
        };
        load(self, row.t, row.down);
        // Without MADDL, m is loaded while HI and LO are waited for.
        if self.sum.paired {
            load(self, m, row.m);
        }
        self.accumulate([row.t + 1, row.v], [a, row.b], row.t);
        if !self.sum.paired {
            load(self, m, row.m);
        }
        self.accumulate([row.v + 1, down], [m, row.q], row.v);
        self.store(down, at, row.down, j - 1);
        self.release(m);
        self.release(down);
        Ok(())
    }

    /// `(high, low) = x y + t + u < 2^64` for a pair `(t, u)`: MADDL and MADDH, where `low` is none of the pair, or HI and
    /// LO that begin as `(0, t)`, to which `x y` and `u 1` are added.
    pub(super) fn accumulate(&mut self, [high, low]: [u8; 2], [x, y]: [u8; 2], pair: u8) {
        if self.sum.paired {
            self.step(Op::MADDL, low, x, y, pair);
            self.step(Op::MADDH, high, x, y, pair);
            return;
        }
        self.three(Op::MTHI, 0, ZERO, 0);
        self.three(Op::MTLO, 0, pair, 0);
        self.three(Op::MADDU, 0, x, y);
        self.three(Op::MADDU, 0, pair + 1, self.named.one);
        self.three(Op::MFLO, low, 0, 0);
        self.three(Op::MFHI, high, 0, 0);
    }

    /// A word of `x y + ` the pair.
    fn step(&mut self, op: Op, to: u8, x: u8, y: u8, pair: u8) {
        self.flow.place(Insn::row(op, to, x, y, pair));
    }
}
