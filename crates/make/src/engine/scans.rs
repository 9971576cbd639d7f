//! Two nested loops: product scanning and FIPS as gk2003 has them (section 4.3).
//!
//! Two pointers walk through the arrays, $j upwards through X and $k downwards through Y. Where
//! several products share a pass, their arrays lie side by side in the stack frame (figure 3), so that
//! a pointer and a displacement reach them all: word `k` of each operand is copied there
//! when column `k` first needs it. Of a square both ends of a column are taken in one pass:
//! `2 A[j] A[k-j]` beside `Q[j] M[k-j]` and `M[j] Q[k-j]`.
//!
//! A pass takes `P` of the products of a strand (`unroll`, of a square twice as many); as columns
//! become longer or shorter by one, `P` columns are a pass of the outer loop, each with its
//! own rest of products behind the inner loop. What follows the sweep is in [`crate::engine::links`].

use std::collections::BTreeMap;
use std::ops::Range;

use machine::isa::Isa;
use machine::program::Program;

use crate::engine::asm::CoreOf;
use crate::engine::nest::{Home, Nest, Pointer};
use crate::engine::sweep::Sweep;
use crate::facts::Style;
use crate::refusal::LowerError;
use crate::schedule::{Array, Scans, Strand};

/// Lowers two nested loops to code for `registers`, `unroll` products of a strand in a pass.
///
/// # Errors
/// When registers or the stack run out.
pub fn lower<A: Sweep>(
    scans: &Scans,
    core: &CoreOf<A>,
    registers: &[u8],
    unroll: usize,
) -> Result<Program<<A::Isa as Isa>::Insn>, LowerError> {
    let (mut nest, scratch) = Nest::<A, A::Sum>::new(scans, core, registers, unroll)?;
    match scans.rows {
        true if scans.quotient.is_some() => nest.all_rows()?,
        true => nest.operand_rows()?,
        false if scans.strands.is_empty() => {}
        false => nest.sweep()?,
    }
    nest.chains()?;
    nest.flow.finish(scratch, core)
}

/// Columns.
impl<A: Sweep> Nest<'_, A, A::Sum> {
    /// The products of column `k` in the inner loop: the first word of X, and how many. Those of words
    /// that have just come are not among them.
    fn range(&self, k: usize) -> (usize, usize) {
        let n = self.scans.n;
        let low = match k < n {
            true => usize::from(self.copied),
            false => k + 1 - n,
        };
        (low, (k + 1).saturating_sub(2 * low))
    }

    fn sweep(&mut self) -> Result<(), LowerError> {
        let n = self.scans.n;
        if let Some([inverse, _]) = self.scans.quotient {
            self.inverse(inverse)?;
        }
        A::begin(self);
        let period = self.period();
        let long = |k: usize| k > 0 && self.range(k).1 >= period;
        let [first, longer, shorter, last] = self.scans.parts(long);
        self.straight(first, "the first columns")?;
        self.nested(longer, "columns that become longer")?;
        self.nested(shorter, "columns that become shorter")?;
        self.straight(last, "the last columns")?;
        let piles = self.scans.sweep().map_or(&[][..], |sweep| &sweep.piles);
        if let Some(out) = piles.get(2 * n).and_then(|pile| pile.out) {
            let top = A::top_word(self)?;
            self.values.insert(out, top);
        }
        Ok(())
    }

    fn straight(&mut self, columns: Range<usize>, what: &str) -> Result<(), LowerError> {
        if !columns.is_empty() {
            self.flow.note(what.into());
        }
        for k in columns {
            self.flow.cut();
            self.column(k)?;
        }
        Ok(())
    }

    /// What moves with columns from `first` on besides an end of X or Y, and how far in a pass.
    fn beside(&self, first: usize, length: i32) -> Result<Vec<(u8, i32)>, LowerError> {
        let upwards = first < self.scans.n;
        let mut steps = Vec::new();
        if self.copied && upwards {
            let sides = self.homes.keys().filter_map(|array| match array {
                Array::Operand(side) => Some((Self::argument(*side), length)),
                _ => None,
            });
            steps.extend(sides);
        }
        if let Some(Array::Operand(side)) = self.scans.addend {
            steps.push((Self::argument(side), length));
        }
        let kept = self.scans.quotient.is_none() || !upwards;
        if kept && self.home(Array::Columns)?.base == A::RESULT {
            steps.push((A::RESULT, length));
        }
        Ok(steps)
    }

    /// Columns of which each has an inner loop: as many as may be in an outer one, then the others.
    fn nested(&mut self, columns: Range<usize>, what: &str) -> Result<(), LowerError> {
        let Some(first) = columns.clone().next() else {
            return Ok(());
        };
        self.flow.note(what.into());
        let (n, period, square) = (self.scans.n, self.period(), self.square());
        let passes = match self.scans.style {
            Style::Rolled => columns.len() / period,
            _ => 0,
        };
        let strand = self.scans.strands[0];
        // The end of X or Y that moves with the column.
        let (home, at) = match first < n {
            true => (self.home(strand.y)?, first),
            false => (self.home(strand.x)?, first + 1 - n),
        };
        let fixed = self.fixed(home);
        let cursor = self.point(self.named.cursor, fixed, home.place(at));
        self.stops = None;
        let mut rest = columns.clone();
        if passes > 1 {
            let length = 4 * period as i32;
            let end = cursor.at + length * passes as i32;
            self.flow
                .add_number(self.named.end, fixed.r, end - fixed.at);
            let mut steps = vec![(cursor.r, length)];
            if square {
                let stop = self.stop(first)?;
                self.point(self.named.edge, self.fixed(stop.1), stop.0);
                steps.push((self.named.edge, 4 * self.unroll as i32));
            } else if period == 1 {
                self.set_stop(first)?;
            }
            steps.extend(self.beside(first, length)?);
            let place = A::place(self);
            self.repeat(&steps, passes, self.named.end, |nest| {
                for k in first..first + period {
                    nest.flow.cut();
                    nest.column(k)?;
                }
                A::back(nest, place);
                Ok(())
            })?;
            rest.start = first + period * passes;
            self.stops = None;
        }
        for k in rest {
            self.flow.cut();
            self.column(k)?;
        }
        Ok(())
    }

    /// Where the pointer that ends the inner loop of column `k` stands then, and in which array.
    fn stop(&self, k: usize) -> Result<(i32, Home), LowerError> {
        let (low, count) = self.range(k);
        let passes = count / self.period();
        let strand = self.scans.strands[0];
        Ok(if self.downwards(k) {
            let home = self.home(strand.y)?;
            let bytes = 4 * (self.unroll * passes) as i32;
            (home.place(k - low) - bytes, home)
        } else {
            let home = self.home(strand.x)?;
            (home.place(low + self.unroll * passes), home)
        })
    }

    /// Does the pointer to Y end the inner loop of column `k`?
    fn downwards(&self, k: usize) -> bool {
        k < self.scans.n && !self.square()
    }

    fn set_stop(&mut self, k: usize) -> Result<(), LowerError> {
        let (at, home) = self.stop(k)?;
        if self.stops != Some(at) {
            let edge = self.pointers.get(&self.named.edge).copied();
            let from = edge.filter(|_| self.square()).unwrap_or(self.fixed(home));
            self.flow.add_number(self.named.stop, from.r, at - from.at);
            self.stops = Some(at).filter(|_| self.period() == 1);
        }
        Ok(())
    }

    /// The inner loop of column `k`, from word `low` of X on; where its pointers are behind it.
    fn inner_loop(
        &mut self,
        k: usize,
        [x, y]: [Home; 2],
        low: usize,
        passes: usize,
    ) -> Result<[Pointer; 2], LowerError> {
        let ends = [self.fixed(x), self.fixed(y)];
        let upwards = k < self.scans.n;
        let cursor = self.moving(if upwards { y } else { x });
        let from = match upwards {
            true => [ends[0], cursor],
            false => [cursor, ends[1]],
        };
        self.set_stop(k)?;
        let mut ends = [
            self.point(self.named.j, from[0], x.place(low)),
            self.point(self.named.k, from[1], y.place(k - low)),
        ];
        let by = 4 * self.unroll as i32;
        let mut steps = [(self.named.j, by), (self.named.k, -by)];
        if self.downwards(k) {
            steps.reverse();
        }
        let place = A::place(self);
        self.repeat(&steps, passes, self.named.stop, |nest| {
            for t in 0..nest.unroll {
                nest.products(low + t, k, &mut ends, true)?;
            }
            A::back(nest, place);
            Ok(())
        })?;
        Ok([self.named.j, self.named.k].map(|r| self.pointers[&r]))
    }

    fn column(&mut self, k: usize) -> Result<(), LowerError> {
        let n = self.scans.n;
        if self.copied && k < n {
            self.arrive(k)?;
        }
        let strand = self.scans.strands[0];
        let (x, y) = (self.home(strand.x)?, self.home(strand.y)?);
        let (low, count) = self.range(k);
        let passes = count / self.period();
        let mut ends = match passes {
            0 => [self.fixed(x), self.fixed(y)],
            _ => self.inner_loop(k, [x, y], low, passes)?,
        };
        let low = low + self.unroll * passes;
        let rest = count % self.period();
        let both = if self.square() { 2 } else { 1 };
        for t in 0..rest / both {
            // No pointer moves any more.
            self.products(low + t, k, &mut ends, false)?;
        }
        if rest % both == 1 {
            self.middle(k / 2, ends[0])?;
        }
        if let Some(side) = self.scans.added(k) {
            let home = Home::of(Self::argument(side));
            let word = self.load(self.moving(home), home, k)?;
            A::add_word(self, word)?;
            self.release(word);
        }
        if let Some([_, m]) = self.scans.quotient.filter(|_| k < n) {
            self.quotient(k, m)?;
        }
        let pile = self.scans.sweep().and_then(|sweep| sweep.piles.get(k));
        if pile.is_some_and(|pile| pile.out.is_some()) {
            let home = self.home(Array::Columns)?;
            A::low(self, |nest, low| {
                nest.store(low, nest.moving(home), home, k);
            })?;
        }
        if k + 1 < 2 * n {
            A::shift(self);
        }
        Ok(())
    }

    /// Word `k` of each operand goes to the frame, and is multiplied by the words 0.
    fn arrive(&mut self, k: usize) -> Result<(), LowerError> {
        let arrays: Vec<Array> = self.homes.keys().copied().collect();
        let mut new = BTreeMap::new();
        for array in arrays {
            let home = self.home(array)?;
            let word = match array {
                Array::Operand(side) => {
                    let mut pointer = self.pointers[&Self::argument(side)];
                    let there = Home::of(Self::argument(side));
                    let word = A::load_and_step(self, &mut pointer, there, k, 1)?;
                    self.store(word, self.moving(home), home, k);
                    word
                }
                Array::Square if let Some(Array::Operand(side)) = self.scans.modulus() => {
                    let (pointer, there) =
                        (self.pointers[&Self::argument(side)], Self::argument(side));
                    let word = self.load(pointer, Home::of(there), self.scans.n + 1 + k)?;
                    self.store(word, self.moving(home), home, k);
                    word
                }
                Array::Numbers | Array::Square => self.load(self.moving(home), home, k)?,
                _ => continue,
            };
            new.insert(array, word);
        }
        for Strand { x, y, pairs } in self.scans.strands.clone() {
            let [low_x, low_y] = [x, y].map(|a| self.firsts.get(&a).copied());
            let [high_x, high_y] = [x, y].map(|a| new.get(&a).copied());
            match (low_x, low_y) {
                _ if k == 0 => {
                    if let (Some(x), Some(y)) = (high_x, high_y) {
                        A::product(self, x, y)?;
                    }
                }
                (Some(low), _) if pairs => {
                    if let Some(high) = high_x {
                        A::twice(self, high, low)?;
                    }
                }
                (low_x, low_y) => {
                    for (x, y) in [(low_x, high_y), (high_x, low_y)] {
                        if let (Some(x), Some(y)) = (x, y) {
                            A::product(self, x, y)?;
                        }
                    }
                }
            }
        }
        match k {
            0 => self.firsts = new,
            _ => new.into_values().for_each(|r| self.release(r)),
        }
        Ok(())
    }

    /// `X[i] Y[k-i]` of every strand, of a square with those of the other end. May the loads move the pointers?
    fn products(
        &mut self,
        i: usize,
        k: usize,
        ends: &mut [Pointer; 2],
        steps: bool,
    ) -> Result<(), LowerError> {
        let by = self.unroll as i32;
        let square = self.square();
        for Strand { x, y, pairs } in self.scans.strands.clone() {
            let (hx, hy) = (self.home(x)?, self.home(y)?);
            let mut word = |nest: &mut Self, end: usize, home: (Home, usize), by: i32| match steps {
                true => A::load_and_step(nest, &mut ends[end], home.0, home.1, by),
                false => nest.load(ends[end], home.0, home.1),
            };
            let a = word(self, 0, (hx, i), by)?;
            let b = word(self, 1, (hy, k - i), -by)?;
            match pairs {
                true => A::twice(self, a, b)?,
                false => A::product(self, a, b)?,
            }
            self.release(a);
            self.release(b);
            if square && !pairs {
                let a = self.load(ends[0], hy, i)?;
                let b = self.load(ends[1], hx, k - i)?;
                A::product(self, a, b)?;
                self.release(a);
                self.release(b);
            }
        }
        Ok(())
    }

    /// `X[i] Y[i]` of every strand.
    fn middle(&mut self, i: usize, end: Pointer) -> Result<(), LowerError> {
        for Strand { x, y, .. } in self.scans.strands.clone() {
            let (hx, hy) = (self.home(x)?, self.home(y)?);
            let a = self.load(end, hx, i)?;
            let b = if x == y { a } else { self.load(end, hy, i)? };
            A::product(self, a, b)?;
            self.release(a);
            if a != b {
                self.release(b);
            }
        }
        Ok(())
    }
}
