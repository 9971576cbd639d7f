//! Rows of a square in two nested loops: FIOS with half of the products.
//!
//! Row `i` is `a[i] (a[i] + 2 a[i+1] 2^w + ...)`, and what counts twice is a word of `2a` in the stack frame: no product
//! has more than two words then. So words below `i` are of the modulus alone, `(p, t[j-1]) = m[j] q + t[j] + p`; from
//! `i` on they are as those of a product, with `2 a[i+1]` as far as it is a word (its bit 0 in `2a` is the
//! top bit of `a[i]`) and the top bit of `2a` behind the last.
//!
//! As words below `i` become more from row to row and those above fewer, `unroll` rows are a pass of the outer loop.

use crate::engine::basic::By;
use crate::engine::nest::{Nest, Pointer};
use crate::engine::rounds::RowRegisters;
use crate::engine::sweep::Sweep;
use crate::refusal::LowerError;

impl<A: Sweep> Nest<'_, A, A::Sum> {
    /// All rows; `b` is the register that points to the words of a.
    ///
    /// # Errors
    /// When registers run out.
    pub(super) fn square_rows(&mut self, row: &RowRegisters, b: u8) -> Result<(), LowerError> {
        let (n, unroll) = (self.scans.n, self.unroll);
        self.stops = None;
        // Rows that have a pass of both inner loops.
        let first = (1 + unroll).min(n);
        let passes = (n - first).saturating_sub(1 + unroll) / unroll;
        (0..first).try_for_each(|i| self.square_row(row, b, i))?;
        let mut next = first;
        if passes > 1 {
            let (at, step) = (self.pointers[&b], 4 * unroll as i32);
            self.flow
                .add_number(self.named.end, b, step * passes as i32);
            self.set_edge(row, first);
            self.set_stop_of_row(row, first);
            let steps = [(at.r, step), (self.named.edge, step)];
            self.repeat(&steps, passes, self.named.end, |nest| {
                if unroll > 1 {
                    nest.stops = None;
                }
                (first..first + unroll).try_for_each(|i| nest.square_row(row, b, i))
            })?;
            next += unroll * passes;
        }
        (next..n).try_for_each(|i| self.square_row(row, b, i))
    }

    /// Passes of the inner loops of row `i`: of the words below it, and of those above `i + 1`.
    fn passes(&self, i: usize) -> [usize; 2] {
        let words = [i.saturating_sub(1), self.scans.n.saturating_sub(i + 2)];
        words.map(|words| words / self.unroll)
    }

    /// The first inner loop ends where the edge is.
    fn set_edge(&mut self, row: &RowRegisters, i: usize) {
        let at = row.a.place(1 + self.unroll * self.passes(i)[0]);
        let edge = self.named.edge;
        if self.pointers.get(&edge).is_none_or(|p| p.at != at) {
            self.point(edge, self.fixed(row.a), at);
        }
    }

    /// The second one ends so many words before the last as make no pass.
    fn set_stop_of_row(&mut self, row: &RowRegisters, i: usize) {
        let at = row.a.place(i + 2 + self.unroll * self.passes(i)[1]);
        if self.stops != Some(at) {
            let frame = self.fixed(row.a);
            self.flow
                .add_number(self.named.stop, frame.r, at - frame.at);
            self.stops = Some(at);
        }
    }

    fn square_row(&mut self, row: &RowRegisters, b: u8, i: usize) -> Result<(), LowerError> {
        let (n, unroll) = (self.scans.n, self.unroll);
        let (frame, a) = (self.fixed(row.a), self.pointers[&b]);
        let [_, u] = row.t;
        let [below, above] = self.passes(i);
        self.flow.cut();
        self.flow.load(row.b, b, 4 * i as i32 - a.at);
        let mut at = self.point(self.named.j, frame, row.a.place(1));
        // Word 0, which q makes 0.
        if i == 0 {
            self.begin_product(row, row.b, frame)?;
        } else {
            self.load_into(row.v[0], frame, row.down, 0);
        }
        self.begin_quotient(row)?;
        if below > 0 {
            self.set_edge(row, i);
            let steps = [(self.named.j, 4 * unroll as i32)];
            self.repeat(&steps, below, self.named.edge, |nest| {
                nest.words_of_modulus(row, 1..1 + unroll, at)
            })?;
            at = self.pointers[&self.named.j];
        }
        self.words_of_modulus(row, 1 + unroll * below..i, at)?;
        if i > 0 {
            self.flow.zero(u);
            self.word_of(row, row.b, i, at)?;
        }
        if i + 1 < n {
            let word = self.take()?;
            self.flow.load(word, b, 4 * (i + 1) as i32 - a.at);
            self.flow.by(By::Left, word, word, 1);
            self.word_of(row, word, i + 1, at)?;
            self.release(word);
        }
        if above > 0 {
            self.set_stop_of_row(row, i);
            at = self.point(self.named.j, at, row.a.place(i + 2));
            let steps = [(self.named.j, 4 * unroll as i32)];
            self.repeat(&steps, above, self.named.stop, |nest| {
                (i + 2..i + 2 + unroll).try_for_each(|j| nest.word(row, j, at))
            })?;
            at = self.pointers[&self.named.j];
        }
        (i + 2 + unroll * above..n).try_for_each(|j| self.word(row, j, at))?;
        if i + 1 == n {
            return self.end_row(row, at);
        }
        self.end_square_row(row, at)
    }

    /// `t[n-1], t[n] = t[n] + u + p + b` times the top bit of `2a`.
    fn end_square_row(&mut self, row: &RowRegisters, at: Pointer) -> Result<(), LowerError> {
        let n = self.scans.n;
        let ([_, u], [_, p]) = (row.t, row.v);
        let (pair, bit) = row.top.zip(row.bit).ok_or(LowerError::Scans)?;
        let top = pair[0];
        let (low, carry) = (self.take()?, self.take()?);
        self.flow.copy(pair[1], u);
        A::multiply_add(self, [top, low], [row.b, bit], pair)?;
        self.flow.add(low, low, p);
        self.flow.less(carry, low, p);
        self.flow.add(top, top, carry);
        self.store(low, at, row.down, n - 1);
        self.release(low);
        self.release(carry);
        Ok(())
    }

    /// Words of a row that the modulus is all of. The pairs take turns, so that a word may be loaded while
    /// the one before is added.
    fn words_of_modulus(
        &mut self,
        row: &RowRegisters,
        words: std::ops::Range<usize>,
        at: Pointer,
    ) -> Result<(), LowerError> {
        let (mut from, mut to, end) = (row.v, row.t, words.end);
        for j in words {
            if j + 1 == end {
                to = row.v;
            }
            let (m, down) = (self.take()?, self.take()?);
            self.load_into(from[0], at, row.down, j);
            self.load_into(m, at, row.m, j);
            A::multiply_add(self, [to[1], down], [m, row.q], from)?;
            self.store(down, at, row.down, j - 1);
            self.release(m);
            self.release(down);
            (from, to) = (to, from);
        }
        Ok(())
    }
}
