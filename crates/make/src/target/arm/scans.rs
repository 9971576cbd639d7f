//! Two nested loops on an ARM: product scanning, and Montgomery's with it (FIPS).
//!
//! Each strand of a column is an inner loop: LDMIA goes upwards through X, LDMDB downwards through Y, and the
//! products `x[i] y[k-i]` of a chunk are added to three words. UMULL writes its low word over `y`, its high
//! word over the `x` of the product before. A chunk of `c` products takes `2 (c + 2) + 9 c` cycles of the
//! manual, an end of the loop 4: 19 for one product at a time, 13 each for six.
//!
//! Columns become longer or shorter by one: `unroll` columns (of a square twice as many) are a pass of the
//! outer loop, each with its own rest of products behind the inner one. With loops of columns only
//! (`looped`) there is no outer one.

use std::ops::Range;

use machine::isa::arm::code::Insn;
use machine::isa::arm::instructions::{Op, Ops};
use machine::program::Program;

use crate::facts::Style;
use crate::refusal::LowerError;
use crate::schedule::{Array, Quotient, Scans, Strand};
use crate::target::arm::flow::WORD;
use crate::target::arm::nest::{Moves, Nest, argument};
use crate::target::arm::rounds;
use crate::target::homes::Home;

/// Products in a pass of an inner loop, where nothing is said.
const UNROLL: [usize; 4] = [1, 2, 3, 6];

/// Two nested loops with the values registers `order`.
///
/// # Errors
/// When registers or the stack run out.
pub fn lower(scans: &Scans, order: &[u8]) -> Result<Vec<Program<Insn>>, LowerError> {
    if scans.side.is_some() {
        return Err(LowerError::Blocks);
    }
    let square = scans.strands.iter().any(|s| s.pairs);
    // An outer loop wants columns for two passes, behind the first ones.
    let fits = |unroll: &usize| {
        let period = unroll * if square { 2 } else { 1 };
        *unroll == 1 || scans.style == Style::Looped || scans.rows || 3 * period <= scans.n
    };
    let unroll: Vec<usize> = match scans.unroll {
        Some(unroll) => vec![unroll],
        None => UNROLL.into_iter().filter(fits).collect(),
    };
    let made = unroll.into_iter().map(|unroll| {
        if scans.rows {
            return rounds::lower(scans, order, unroll);
        }
        let mut nest = Nest::new(scans, order, unroll, scans.style == Style::Rolled)?;
        if !scans.strands.is_empty() {
            nest.sweep()?;
        }
        nest.chains()?;
        let scratch = nest.scratch();
        nest.flow.finish(scratch)
    });
    let mut error = LowerError::Scans;
    let made = made.filter_map(|program| program.map_err(|e| error = e).ok());
    let list: Vec<_> = made.collect();
    match list.is_empty() {
        true => Err(error),
        false => Ok(list),
    }
}

impl Nest<'_> {
    /// Columns of a pass of the outer loop: after it every strand has passes more or less.
    fn period(&self) -> usize {
        let square = self.scans.strands.iter().any(|s| s.pairs);
        self.unroll * if square { 2 } else { 1 }
    }

    fn sweep(&mut self) -> Result<(), LowerError> {
        let scans = self.scans;
        let long = |k: usize| {
            let passes = |s: &Strand| scans.range(*s, k).1 >= self.unroll;
            scans.strands.iter().all(passes)
        };
        let [first, longer, shorter, last] = scans.parts(long);
        for r in self.named.sum {
            self.flow.imm(Op::MOV, false, r, 0, 0);
        }
        self.straight(first, "the first columns")?;
        self.nested(longer, "columns that become longer")?;
        self.nested(shorter, "columns that become shorter")?;
        self.straight(last, "the last columns")?;
        let piles = scans.sweep().map_or(&[][..], |sweep| &sweep.piles);
        if let Some(out) = piles.get(2 * scans.n).and_then(|pile| pile.out) {
            self.values.insert(out, self.named.sum[0]);
        }
        Ok(())
    }

    fn straight(&mut self, columns: Range<usize>, what: &str) -> Result<(), LowerError> {
        if !columns.is_empty() {
            self.flow.note(what);
        }
        columns.into_iter().try_for_each(|k| self.column(k))
    }

    /// Columns of which each has an inner loop: as many as may be in an outer one, then the others.
    fn nested(&mut self, columns: Range<usize>, what: &str) -> Result<(), LowerError> {
        let period = self.period();
        let passes = match self.named.t {
            Some(_) => columns.len() / period,
            None => 0,
        };
        let Some(t) = self.named.t.filter(|_| passes > 1) else {
            return self.straight(columns, what);
        };
        self.flow.note(what);
        self.flow.imm(Op::MOV, false, t, 0, 0);
        let top = self.flow.top();
        let before = self.named.sum;
        self.outer = true;
        let end = columns.start + period;
        (columns.start..end).try_for_each(|k| self.column(k))?;
        self.outer = false;
        // The sum is where it was. Its top word is 0.
        let [low, high, top_word] = self.named.sum;
        match before {
            [to, _, _] if to == low => {}
            // Of before: [top, low, high] or [high, top, low].
            [a, b, c] if a == top_word => {
                self.flow.copy(a, low);
                self.flow.copy(b, high);
                self.flow.imm(Op::MOV, false, c, 0, 0);
            }
            [a, b, c] => {
                self.flow.copy(b, high);
                self.flow.copy(a, low);
                self.flow.imm(Op::MOV, false, c, 0, 0);
            }
        }
        self.named.sum = before;
        let step = WORD * period as i32;
        self.flow.add(t, t, step);
        self.flow.compare(t, step * passes as i32, self.named.spare);
        self.flow.again(top);
        let done = columns.start + period * passes;
        (done..columns.end).try_for_each(|k| self.column(k))
    }

    fn column(&mut self, k: usize) -> Result<(), LowerError> {
        let scans = self.scans;
        let n = scans.n;
        for strand in &scans.strands {
            match strand.pairs {
                true => self.pairs(*strand, k)?,
                false => self.strand(*strand, k)?,
            }
        }
        if let Some(side) = scans.added(k) {
            let word = self.named.x[0];
            let place = self.place(Home::of(argument(side)), k, Moves::Whole);
            self.access(Op::LDR, word, self.named.j, place);
            self.add_word(word);
        }
        let pile = scans.sweep().and_then(|sweep| sweep.piles.get(k));
        let pile = pile.ok_or(LowerError::Scans)?;
        if let Some(quotient) = pile.quotient {
            self.quotient(quotient, k)?;
        }
        let [low, high, top] = self.named.sum;
        if pile.out.is_some() {
            let home = self.home(Array::Columns)?;
            self.access(
                Op::STR,
                low,
                self.named.j,
                self.place(home, k, Moves::Whole),
            );
        }
        self.named.sum = [high, top, low];
        if k + 1 < 2 * n {
            self.flow.imm(Op::MOV, false, low, 0, 0);
        }
        Ok(())
    }

    /// The products of a strand.
    fn strand(&mut self, strand: Strand, k: usize) -> Result<(), LowerError> {
        let (x, y) = (self.home(strand.x)?, self.home(strand.y)?);
        let n = self.scans.n;
        let (low, count) = self.scans.range(strand, k);
        if count == 0 {
            return Ok(());
        }
        let (passes, rest) = (count / self.unroll, count % self.unroll);
        // One end of X or of Y moves with the column.
        let [of_x, of_y] = match k < n {
            true => [Moves::Not, Moves::Whole],
            false => [Moves::Whole, Moves::Not],
        };
        let start = self.place(x, low, of_x);
        let (j, stop) = (self.named.j, self.named.stop);
        self.point(j, start);
        self.point(self.named.k, self.place(y, k - low + 1, of_y));
        if passes > 1 || self.outer {
            // `low + passes unroll`: of pairs it moves half as fast as columns.
            let of_end = match (strand.pairs, k < n) {
                (true, _) => Moves::Half,
                (false, true) => Moves::Whole,
                (false, false) => Moves::Not,
            };
            let end = self.place(x, low + passes * self.unroll, of_end);
            self.point_from(stop, end, (j, start));
            let top = self.flow.top();
            self.chunks(self.unroll);
            self.flow.reg(Op::CMP, false, 0, j, stop);
            self.flow.again(top);
        } else if passes == 1 {
            self.chunks(self.unroll);
        }
        self.chunks(rest);
        Ok(())
    }

    /// Products `x[i] y[k-i]` of as many words as are loaded at a time.
    pub(super) fn chunk(&mut self, count: usize) {
        let (x, y) = (self.named.x.clone(), self.named.y.clone());
        self.flow.walk(Op::LDR, self.named.j, &x[..count]);
        self.flow.walk_down(self.named.k, &y[..count]);
        let mut high = self.named.spare;
        for (x, y) in x[..count].iter().zip(y[..count].iter().rev()) {
            self.product(*x, *y, [*y, high]);
            high = *x;
        }
    }

    /// Adds `x y`, which is in two registers then.
    fn product(&mut self, x: u8, y: u8, [low, high]: [u8; 2]) {
        self.flow.push(Insn::long(Op::UMULL, low, high, x, y));
        self.add_words([low, high]);
    }

    fn add_words(&mut self, [low, high]: [u8; 2]) {
        let sum = self.named.sum;
        self.flow.reg(Op::ADD, true, sum[0], sum[0], low);
        self.flow.reg(Op::ADC, true, sum[1], sum[1], high);
        self.flow.imm(Op::ADC, false, sum[2], sum[2], 0);
    }

    fn add_word(&mut self, word: u8) {
        let sum = self.named.sum;
        self.flow.reg(Op::ADD, true, sum[0], sum[0], word);
        self.flow.imm(Op::ADC, true, sum[1], sum[1], 0);
        self.flow.imm(Op::ADC, false, sum[2], sum[2], 0);
    }

    /// `2 sum A[i] A[k-i]`, `i < k - i`, and `A[k/2]^2`.
    fn pairs(&mut self, strand: Strand, k: usize) -> Result<(), LowerError> {
        let (low, count) = self.scans.range(strand, k);
        let [s0, s1, s2] = self.named.sum;
        let (x, y) = (self.named.x[0], self.named.y[0]);
        if count > 0 {
            match self.named.carried {
                Some([low, high]) => {
                    self.flow.copy(low, s0);
                    self.flow.copy(high, s1);
                }
                None => self.waiting(Op::STR, [s0, s1]),
            }
            self.flow.imm(Op::MOV, false, s0, 0, 0);
            self.flow.imm(Op::MOV, false, s1, 0, 0);
            self.strand(strand, k)?;
            self.flow.reg(Op::ADD, true, s0, s0, s0);
            self.flow.reg(Op::ADC, true, s1, s1, s1);
            self.flow.reg(Op::ADC, false, s2, s2, s2);
            let carried = self.named.carried.unwrap_or([x, y]);
            if self.named.carried.is_none() {
                self.waiting(Op::LDR, carried);
            }
            self.add_words(carried);
        }
        if k.is_multiple_of(2) && k / 2 < self.scans.n {
            if count > 0 {
                // The pointer has come to the middle.
                self.flow.push(Insn::at(Op::LDR, x, self.named.j, 0, false));
            } else {
                let place = self.place(self.home(strand.x)?, low, Moves::Not);
                self.access(Op::LDR, x, self.named.j, place);
            }
            self.product(x, x, [y, self.named.spare]);
        }
        Ok(())
    }

    /// `q = sum m' mod 2^32`, then `sum += q m[0]`.
    fn quotient(&mut self, quotient: Quotient, k: usize) -> Result<(), LowerError> {
        let known = |word| {
            let (array, index) = self.scans.place(word).ok_or(LowerError::Scans)?;
            Ok((self.home(array)?, index))
        };
        let [(inverse, last), (m, first)] = [known(quotient.inverse)?, known(quotient.m)?];
        let (x, q, high) = (self.named.x[0], self.named.y[0], self.named.spare);
        let (j, k_register) = (self.named.j, self.named.k);
        let sum = self.named.sum[0];
        match self.scans.is_inverse_one() {
            true => self.flow.push(Insn::reg(Op::MOV, false, q, 0, sum)),
            false => {
                self.access(Op::LDR, x, j, self.place(inverse, last, Moves::Not));
                let ops = Ops {
                    d: q,
                    m: sum,
                    r: x,
                    ..Ops::default()
                };
                self.flow.push(Insn { op: Op::MUL, ops });
            }
        }
        self.access(Op::LDR, x, j, self.place(m, first, Moves::Not));
        let home = self.home(Array::Quotients)?;
        self.access(Op::STR, q, k_register, self.place(home, k, Moves::Whole));
        self.product(x, q, [q, high]);
        Ok(())
    }
}
