//! Operand scanning and FIOS in two nested loops: `(c, t[j]) = x[j] y + t[j] + c` for the words `x[j]` of a row.
//!
//! The multiplier keeps `y` for a whole row, so every word that is written behind it makes a product. A row of FIOS goes
//! through a, and then through m with everything moved down by a word, `(c, t[j-1]) = m[j] q + t[j] + c`: taken together
//! (section 5.2 of gk2003) both first factors would be written for every word. Where interrupts are kept out of each column, `y`
//! is written for every product anyway.
//!
//! Of a square row `i` is `a[i] (a[i] + 2 a[i+1] 2^w + ...)`, and what counts twice is a word of `2a` in the stack frame: of word
//! `i + 1` without its bit 0, which is the top bit of `a[i]`.

use machine::isa::msp430::code::{Dest, Source};
use machine::isa::msp430::instructions::Op;
use machine::isa::msp430::operands::SP;

use crate::refusal::LowerError;
use crate::schedule::{Array, Sum, Word};
use crate::target::msp430::columns::{Column, Nest, Place, WORD};
use crate::target::msp430::links::Words;
use crate::target::msp430::sweeps::{MPY, OP2, RESHI, RESLO};

/// The arrays of a row.
#[derive(Clone, Copy)]
struct Arrays {
    a: Place,
    /// The words whose turn it is.
    b: Place,
    /// What a row leaves to the next.
    t: Place,
}

impl Nest<'_> {
    /// All rows.
    ///
    /// # Errors
    /// When registers run out, or it is no product of two operands.
    pub fn rows(&mut self) -> Result<(), LowerError> {
        let scans = self.scans;
        let mut strands = scans.strands.iter();
        let strand = strands.find(|s| s.y != Array::Quotients);
        let strand = strand.ok_or(LowerError::Scans)?;
        let arrays = Arrays {
            a: self.home(strand.x)?,
            b: self.home(strand.y)?,
            t: self.home(Array::Columns)?,
        };
        let Some(quotient) = scans.quotient else {
            self.clear(arrays.t, scans.n);
            return self.each_row(|nest, column| {
                nest.row_of_product(arrays, column);
                let carry = Source::Register(nest.roles.carry);
                let to = Dest::Indexed(nest.roles.k, 0);
                nest.flow.two(Op::MOV, carry, to);
                Ok(())
            });
        };
        self.clear(arrays.t, scans.n + 1);
        if strand.pairs {
            self.double(arrays.a)?;
        }
        self.each_row(|nest, column| {
            match strand.pairs {
                true => nest.row_of_square(arrays, column),
                false => nest.row_of_factor(arrays, column),
            }
            nest.row_of_modulus(arrays.t, quotient)
        })?;
        let out = scans
            .last_sweep()
            .and_then(|s| s.piles.get(scans.n + 1)?.out);
        if let Some(out) = out {
            let top = self.roles.top;
            self.values.insert(out, top);
            self.free.retain(|r| *r != top);
        }
        Ok(())
    }

    /// A row for each word, in a loop or one after the other.
    fn each_row(
        &mut self,
        row: impl Fn(&mut Self, Column) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        self.flow.note("rows");
        self.each_column(true, 0, row)
    }

    /// So many words become 0.
    fn clear(&mut self, words: Place, count: usize) {
        let (k, stop) = (self.roles.k, self.roles.stop);
        self.flow.note("what the first row adds to");
        self.point(k, words, None);
        self.point(stop, words.plus(WORD * count as i32), None);
        let top = self.flow.here();
        self.flow
            .two(Op::MOV, Source::Constant(0), Dest::Indexed(k, 0));
        self.flow.add(WORD, k);
        self.flow.register(Op::CMP, Source::Register(stop), k);
        self.flow.jump(Op::JNE, top);
    }

    /// `2a` in the frame, with a word for the bit that leaves it.
    fn double(&mut self, a: Place) -> Result<(), LowerError> {
        self.flow.note("2a");
        let carry = self.take()?;
        self.zero(carry);
        let doubled = self.doubled;
        self.each(
            Words::new(Sum::Add, [Some(a), Some(a)], doubled, carry),
            self.scans.n,
        )?;
        let to = Dest::Indexed(SP, doubled.plus(self.bytes()).at as u16);
        self.flow.two(Op::MOV, Source::Register(carry), to);
        self.free.push(carry);
        Ok(())
    }
}

/// Parts of a row.
impl Nest<'_> {
    /// The first factor of a row, to which `j` points.
    fn factor(&mut self) {
        let from = Source::Indirect(self.roles.j);
        match self.status {
            Some(_) => self.flow.register(Op::MOV, from, self.roles.word),
            None => self.give(from, MPY),
        }
    }

    /// `t + a b[i]`, but for the carry that leaves it.
    fn row_of_product(&mut self, Arrays { a, b, t }: Arrays, column: Column) {
        let (j, k, stop) = (self.roles.j, self.roles.k, self.roles.stop);
        // Of numbers nothing moves down.
        let from = self.scans.quotient.is_none().then_some(column);
        self.zero(self.roles.carry);
        self.point(j, b, Some(column));
        self.factor();
        self.point(j, a, None);
        self.point(k, t, from);
        self.point(stop, a.plus(self.bytes()), None);
        self.words(Some(self.scans.n), false);
    }

    /// The same with that carry: word `n`, and the word above in a register.
    fn row_of_factor(&mut self, arrays: Arrays, column: Column) {
        self.row_of_product(arrays, column);
        let (k, carry, top) = (self.roles.k, self.roles.carry, self.roles.top);
        self.zero(top);
        self.flow
            .two(Op::ADD, Source::Register(carry), Dest::Indexed(k, 0));
        self.flow.register(Op::ADDC, Source::Constant(0), top);
    }

    /// `t + a[i] (a[i] 2^(w i) + 2 a[i+1] 2^(w (i+1)) + ...)`.
    fn row_of_square(&mut self, Arrays { a, t, .. }: Arrays, column: Column) {
        let (j, k, stop) = (self.roles.j, self.roles.k, self.roles.stop);
        let doubled = self.doubled;
        self.zero(self.roles.carry);
        self.point(j, a, Some(column));
        self.factor();
        self.point(k, t, Some(column));
        self.word(Source::Indirect(j), false);
        self.point(j, doubled.plus(WORD), Some(column));
        let other = self.roles.other;
        self.flow.register(Op::MOV, Source::Increment(j), other);
        self.flow.register(Op::BIC, Source::Constant(1), other);
        self.word(Source::Register(other), false);
        self.point(stop, doubled.plus(self.bytes() + WORD), None);
        match column.number {
            Some(number) => {
                let left = self.scans.n - 1 - (number / WORD) as usize;
                self.words(Some(left), false);
            }
            None => self.words(None, false),
        }
        self.copy(self.roles.carry, self.roles.top);
    }

    /// `(t + m q) / 2^w` with the `q` that leaves no rest.
    fn row_of_modulus(&mut self, t: Place, [inverse, m]: [Word; 2]) -> Result<(), LowerError> {
        let n = self.scans.n;
        let (inverse, first) = (self.source(inverse)?, self.source(m)?);
        let m = self.place(self.scans.place(m).ok_or(LowerError::Scans)?)?;
        let lowest = Source::Indexed(t.base, t.at as u16);
        let (carry, other, word) = (self.roles.carry, self.roles.other, self.roles.word);
        self.close();
        match self.scans.is_inverse_one() {
            true => self.flow.register(Op::MOV, lowest, word),
            false => {
                self.give(lowest, MPY);
                self.give(inverse, OP2);
                self.unit(Op::MOV, RESLO, word);
            }
        }
        // Word 0, which q makes 0.
        self.give(Source::Register(word), MPY);
        self.give(first, OP2);
        self.flow.register(Op::MOV, lowest, other);
        self.unit(Op::MOV, RESHI, carry);
        self.unit(Op::ADD, RESLO, other);
        self.flow.register(Op::ADDC, Source::Constant(0), carry);
        self.open();
        let (j, k, stop) = (self.roles.j, self.roles.k, self.roles.stop);
        self.point(j, m.plus(WORD), None);
        self.point(k, t.plus(WORD), None);
        self.point(stop, m.plus(self.bytes()), None);
        self.words(Some(n - 1), true);
        let (carry, top) = (self.roles.carry, self.roles.top);
        self.flow.register(Op::ADD, Source::Indirect(k), carry);
        self.flow.register(Op::ADDC, Source::Constant(0), top);
        for (r, at) in [(carry, -WORD), (top, 0)] {
            let to = Dest::Indexed(k, at as u16);
            self.flow.two(Op::MOV, Source::Register(r), to);
        }
        Ok(())
    }

    /// `(c, t[j]) = x y + t[j] + c`, or one word `down`; `k` points to `t[j]`, and to the word behind it then. The carry is
    /// in the other register then.
    fn word(&mut self, x: Source, down: bool) {
        let (k, carry, other) = (self.roles.k, self.roles.carry, self.roles.other);
        self.close();
        if self.status.is_some() {
            self.give(Source::Register(self.roles.word), MPY);
        }
        self.give(x, OP2);
        self.flow.register(Op::ADD, Source::Increment(k), carry);
        self.unit(Op::MOV, RESHI, other);
        self.flow.register(Op::ADDC, Source::Constant(0), other);
        self.unit(Op::ADD, RESLO, carry);
        self.flow.register(Op::ADDC, Source::Constant(0), other);
        self.open();
        let to = Dest::Indexed(k, if down { -2 * WORD } else { -WORD } as u16);
        self.flow.two(Op::MOV, Source::Register(carry), to);
        (self.roles.carry, self.roles.other) = (other, carry);
    }

    /// Words from where `j` points to where `stop` does: so many, or any number. What is no whole pass comes first.
    fn words(&mut self, count: Option<usize>, down: bool) {
        let unroll = self.unroll as usize;
        let (j, stop, other) = (self.roles.j, self.roles.stop, self.roles.other);
        match count {
            Some(count) => (0..count % unroll).for_each(|_| self.word(Source::Increment(j), down)),
            None if unroll > 1 => {
                let top = self.flow.here();
                self.copy(stop, other);
                self.flow.register(Op::SUB, Source::Register(j), other);
                let rest = Source::Constant((WORD * (self.unroll - 1)) as u16);
                self.flow.register(Op::BIT, rest, other);
                let done = self.flow.jump(Op::JEQ, 0);
                self.pass(1, down);
                self.flow.jump(Op::JMP, top);
                self.flow.land(done);
            }
            None => {}
        }
        if count.is_some_and(|count| count < unroll) {
            return;
        }
        let skip = count.is_none().then(|| self.flow.jump(Op::JMP, 0));
        let top = self.flow.here();
        self.pass(unroll, down);
        if let Some(skip) = skip {
            self.flow.land(skip);
        }
        self.flow.register(Op::CMP, Source::Register(stop), j);
        self.flow.jump(Op::JNE, top);
    }

    /// So many words, with the carry in the same register behind them.
    fn pass(&mut self, words: usize, down: bool) {
        let before = self.roles;
        (0..words).for_each(|_| self.word(Source::Increment(before.j), down));
        if self.roles.carry != before.carry {
            self.copy(self.roles.carry, before.carry);
        }
        self.roles = before;
    }
}
