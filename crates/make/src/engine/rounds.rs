//! Rows in two nested loops: FIOS as gk2003 has it (section 5.2).
//!
//! `(u, v) = a[j] b + t[j] + u` and `(p, t[j-1]) = m[j] q + v + p`: two words are carried along, and the pairs
//! of registers are `(t, u)` and `(v, p)` ([`Sweep::multiply_add`]). The words of a, of m and of what goes down lie side by side
//! in the stack frame, so that one pointer reaches all.

use crate::engine::basic::{By, Three};
use crate::engine::nest::{Home, Nest, Pointer};
use crate::engine::sweep::Sweep;
use crate::facts::Style;
use crate::refusal::LowerError;
use crate::schedule::Array;

/// Registers of a row.
pub(super) struct RowRegisters {
    /// The pairs `(t, u)` and `(v, p)`.
    pub t: [u8; 2],
    pub v: [u8; 2],
    /// The words that stay.
    pub b: u8,
    pub q: u8,
    pub m0: u8,
    /// Word `n` of what goes down, if there can be one: the first register of a pair.
    pub top: Option<[u8; 2]>,
    /// Of a square: the top bit of a.
    pub bit: Option<u8>,
    /// The words of a, of a square those of 2a.
    pub a: Home,
    pub m: Home,
    pub down: Home,
}

impl<A: Sweep> Nest<'_, A, A::Sum> {
    /// Registers of a row of arrays in the frame; `tall`: a row has two words more than a.
    fn take_row(
        &mut self,
        tall: bool,
        a: Home,
        m: Home,
        down: Home,
    ) -> Result<RowRegisters, LowerError> {
        let (t, v) = (A::take_pair(self)?, A::take_pair(self)?);
        let [b, q, m0] = [self.take()?, self.take()?, self.take()?];
        let top = tall.then(|| A::take_pair(self)).transpose()?;
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
        self.flow.note("the words of a and m side by side".into());
        let from_a = Home::of(Self::argument(a_side));
        let mut copied = vec![(from_a, row.a, row.bit)];
        if let Array::Operand(side) = m {
            copied.push((Home::of(Self::argument(side)), row.m, None));
        }
        let mut homes: Vec<Home> = copied.iter().map(|(from, ..)| *from).collect();
        homes.push(row.a);
        if let Some(bit) = row.bit {
            self.flow.zero(bit);
        }
        self.each_word(&homes, n, |nest, i| {
            for (from, to, bit) in copied.iter().copied() {
                let word = nest.load(nest.moving(from), from, i)?;
                if let Some(bit) = bit {
                    // 2a: the top bit goes on to the next word.
                    let top = nest.take()?;
                    nest.flow.by(By::Right, top, word, 31);
                    nest.flow.by(By::Left, word, word, 1);
                    nest.flow.three(Three::Or, word, word, bit);
                    nest.flow.copy(bit, top);
                    nest.release(top);
                }
                nest.store(word, nest.moving(to), to, i);
                nest.release(word);
            }
            nest.store(A::ZERO, nest.moving(row.down), row.down, i);
            Ok(())
        })
    }

    /// All rows.
    ///
    /// # Errors
    /// When registers run out.
    pub fn all_rows(&mut self) -> Result<(), LowerError> {
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
        A::begin(self);
        self.side_by_side(&row, a_side, m, n)?;
        let frame = self.fixed(row.a);
        self.load_into(row.m0, frame, row.m, 0);
        if let Some([top, _]) = row.top {
            self.flow.zero(top);
        }
        self.flow.note("rows".into());
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
        if let (Some(out), Some([top, _])) = (out, row.top) {
            self.values.insert(out, top);
        }
        for r in [row.t, row.v, [row.b, row.q]].concat() {
            self.release(r);
        }
        self.release(row.m0);
        match scans.words.result.iter().any(|w| self.is_chained(*w)) {
            true => Ok(()),
            false => self.copy_out(&row, n),
        }
    }

    /// The words that the rows leave become the result.
    fn copy_out(&mut self, row: &RowRegisters, n: usize) -> Result<(), LowerError> {
        let result = Home::of(A::RESULT);
        self.each_word(&[row.down, result], n, |nest, i| {
            let word = nest.load(nest.moving(row.down), row.down, i)?;
            nest.store(word, nest.moving(result), result, i);
            nest.release(word);
            Ok(())
        })
    }

    /// Is the word made by a chain?
    fn is_chained(&self, word: crate::schedule::Word) -> bool {
        matches!(self.scans.place(word), Some((Array::Chain(_), _)))
    }

    /// Rows of a product; `b` is the register that points to the words of the factor whose turn it is.
    fn product_rows(&mut self, row: &RowRegisters, b: u8) -> Result<(), LowerError> {
        let (n, frame) = (self.scans.n, self.fixed(row.a));
        let a0 = self.take()?;
        self.load_into(a0, frame, row.a, 0);
        let passes = (n - 1) / self.unroll;
        let stop = row.a.place(1 + self.unroll * passes);
        self.flow.add_number(self.named.stop, frame.r, stop);
        self.flow.add_number(self.named.end, b, 4 * n as i32);
        if self.scans.style == Style::Rolled {
            self.repeat(&[(b, 4)], n, self.named.end, |nest| nest.row(row, b, a0))?;
        } else {
            for _ in 0..n {
                self.flow.cut();
                self.row(row, b, a0)?;
                let from = self.pointers[&b];
                self.point(b, from, from.at + 4);
            }
        }
        self.release(a0);
        Ok(())
    }

    /// `(u, v) = a[0] b + t[0]`.
    pub(super) fn begin_product(
        &mut self,
        row: &RowRegisters,
        a0: u8,
        frame: Pointer,
    ) -> Result<(), LowerError> {
        let [t, u] = row.t;
        self.load_into(t, frame, row.down, 0);
        self.flow.zero(u);
        A::multiply_add(self, [u, row.v[0]], [a0, row.b], row.t)
    }

    /// `q = v m' mod 2^w`, `p` from `m[0] q + v`.
    pub(super) fn begin_quotient(&mut self, row: &RowRegisters) -> Result<(), LowerError> {
        let [v, p] = row.v;
        match self.scans.is_inverse_one() {
            true => self.flow.add(row.q, A::ZERO, v),
            false => A::low_product(self, row.q, [v, self.named.inverse]),
        }
        A::carry(self, [row.m0, row.q], [v, p])
    }

    fn row(&mut self, row: &RowRegisters, b: u8, a0: u8) -> Result<(), LowerError> {
        let n = self.scans.n;
        let frame = self.fixed(row.a);
        self.flow.load(row.b, b, 0);
        let mut at = self.point(self.named.j, frame, row.a.place(1));
        // Word 0, which q makes 0.
        self.begin_product(row, a0, frame)?;
        self.begin_quotient(row)?;
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
        let ([_, u], [_, p]) = (row.t, row.v);
        match row.top {
            None => self.flow.add(u, u, p),
            Some([top, _]) => {
                let carry = self.take()?;
                self.flow.add(top, top, u);
                self.flow.less(carry, top, u);
                self.flow.add(u, top, p);
                self.flow.less(top, u, p);
                self.flow.add(top, top, carry);
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
        self.load_into(row.t[0], at, row.down, j);
        let early = A::loads_early(self);
        if early {
            self.load_into(m, at, row.m, j);
        }
        A::multiply_add(self, [row.t[1], row.v[0]], [a, row.b], row.t)?;
        if !early {
            self.load_into(m, at, row.m, j);
        }
        A::multiply_add(self, [row.v[1], down], [m, row.q], row.v)?;
        self.store(down, at, row.down, j - 1);
        self.release(m);
        self.release(down);
        Ok(())
    }
}
