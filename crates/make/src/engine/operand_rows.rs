//! Operand scanning in two nested loops: a row for each word of B.
//!
//! `(u, r[j]) = a[j] b + r[j] + u` ([`Sweep::multiply_add`]).

use crate::engine::nest::{Home, Nest};
use crate::engine::sweep::Sweep;
use crate::facts::Style;
use crate::refusal::LowerError;
use crate::schedule::Array;

/// What stays in the rows.
#[derive(Clone, Copy)]
struct Resident {
    a: Home,
    b: u8,
    down: Home,
    /// The word of B.
    word: u8,
    /// The word of the result, and the word that is carried along.
    pair: [u8; 2],
}

impl<A: Sweep> Nest<'_, A, A::Sum> {
    /// All rows.
    ///
    /// # Errors
    /// When registers run out, or it is not a product of two operands.
    pub fn operand_rows(&mut self) -> Result<(), LowerError> {
        let (n, strand) = (self.scans.n, self.scans.strands[0]);
        let (Array::Operand(_), Array::Operand(b)) = (strand.x, strand.y) else {
            return Err(LowerError::Scans);
        };
        let row = Resident {
            a: self.home(strand.x)?,
            b: Self::argument(b),
            down: self.home(Array::Columns)?,
            pair: A::take_pair(self)?,
            word: self.take()?,
        };
        A::begin(self);
        let passed = self.unroll * (n / self.unroll);
        self.flow
            .add_number(self.named.stop, row.a.base, 4 * passed as i32);
        self.flow.note("the first row".into());
        self.operand_row(&row, 0)?;
        self.flow.note("the other rows".into());
        if self.scans.style != Style::Rolled || n < 3 {
            return (1..n).try_for_each(|i| self.operand_row(&row, i));
        }
        let r = A::RESULT;
        self.flow.add_number(self.named.end, row.b, 4 * n as i32);
        for pointer in [row.b, r] {
            let from = self.pointers[&pointer];
            self.point(pointer, from, 4);
        }
        let steps = [(row.b, 4), (r, 4)];
        self.repeat(&steps, n - 1, self.named.end, |nest| {
            nest.operand_row(&row, 1)
        })
    }

    /// Row `i`.
    fn operand_row(&mut self, row: &Resident, i: usize) -> Result<(), LowerError> {
        let n = self.scans.n;
        self.flow.cut();
        let of_b = self.pointers[&row.b];
        self.flow.load(row.word, row.b, 4 * i as i32 - of_b.at);
        self.flow.zero(row.pair[1]);
        let (j, down) = (self.named.j, self.named.cursor);
        self.point(j, self.fixed(row.a), row.a.at);
        let of_r = self.pointers[&row.down.base];
        self.point(down, of_r, row.down.place(i));
        let passes = n / self.unroll;
        let mut done = 0;
        if passes > 1 {
            let by = 4 * self.unroll as i32;
            self.repeat(&[(j, by), (down, by)], passes, self.named.stop, |nest| {
                (0..nest.unroll).try_for_each(|j| nest.operand_word(row, i, j))
            })?;
            done = passes * self.unroll;
        }
        (done..n).try_for_each(|j| self.operand_word(row, i, j))?;
        self.store(row.pair[1], self.pointers[&down], row.down, i + n);
        Ok(())
    }

    /// Word `j` of a row.
    fn operand_word(&mut self, row: &Resident, i: usize, j: usize) -> Result<(), LowerError> {
        let x = self.load(self.pointers[&self.named.j], row.a, j)?;
        let down = self.pointers[&self.named.cursor];
        let [t, carry] = row.pair;
        match i {
            0 => self.flow.zero(t),
            _ => self.load_into(t, down, row.down, i + j),
        }
        let made = self.take()?;
        A::multiply_add(self, [carry, made], [x, row.word], row.pair)?;
        self.store(made, down, row.down, i + j);
        self.release(x);
        self.release(made);
        Ok(())
    }
}
