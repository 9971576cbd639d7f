//! Product scanning and FIPS in two nested loops: an inner one for each strand of a column. Rows are in [`super::rows`].
//!
//! There are twelve registers, four of which are arguments of a Montgomery product. So no operand is copied beside another, as
//! [`crate::engine::scans`] does: the strands of a column come one after the other, and the number of the column, in bytes, is all that
//! is kept of where its words lie. The multiplier reads both factors from memory and holds two words of the accumulator.
//!
//! In column `k < n` a strand is `X[0] Y[k]` to `X[k] Y[0]`, in column `n - 1 + c` it is `X[c] Y[n-1]` to `X[n-1] Y[c]`. Of a
//! square those with `i < k - i` count twice: the words `i` below `(k + 1) / 2`, behind which lies the middle one.

use std::collections::BTreeMap;

use machine::isa::msp430::code::{Dest, Insn, Source};
use machine::isa::msp430::cores::Core;
use machine::isa::msp430::instructions::Op;
use machine::isa::msp430::multiplier::Irq;
use machine::isa::msp430::operands::{SP, SR};
use machine::program::Program;

use crate::facts::Style;
use crate::refusal::LowerError;
use crate::schedule::{Array, Scans, Strand, Word, WordStep};
use crate::target::msp430::flow::{Flow, beside};
use crate::target::msp430::interrupts::close;
use crate::target::msp430::sweeps::{MAC, MPY, OP2, RESHI, RESLO, SUMEXT};

/// The register that points to the result; those of the operands follow.
const RESULT: u8 = 12;
/// Bytes of a word.
pub const WORD: i32 = 2;

/// A word of an array: so many bytes from where a register points.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub base: u8,
    pub at: i32,
}

impl Place {
    /// So many bytes further on.
    pub fn plus(self, bytes: i32) -> Self {
        Self {
            at: self.at + bytes,
            ..self
        }
    }
}

/// Registers by role. Between columns `j` and `k` hold the two words that the columns before have left.
#[derive(Clone, Copy)]
pub struct Roles {
    /// The factors that are next, of a row the first and what it is added to; and where the first ends.
    pub j: u8,
    pub k: u8,
    pub stop: u8,
    /// What leaves the multiplier, and of a row what it leaves next.
    pub carry: u8,
    pub other: u8,
    /// Twice the number of the column, or of the row, if it is in a loop.
    pub column: u8,
    pub word: u8,
    /// Of rows the word above those that go down.
    pub top: u8,
}

/// A column, or one for all that a loop makes.
#[derive(Clone, Copy)]
pub struct Column {
    /// Does it have more products than the one before?
    rises: bool,
    /// Twice its number, counted from `n - 1` on where it does not rise; none if that is in a register.
    pub number: Option<i32>,
}

/// The code.
pub struct Nest<'s> {
    pub scans: &'s Scans,
    pub flow: Flow,
    pub free: Vec<u8>,
    /// Values in registers.
    pub values: BTreeMap<Word, u8>,
    homes: BTreeMap<Array, Place>,
    /// Where `2a` lies, of a square in rows.
    pub doubled: Place,
    pub roles: Roles,
    unit: u16,
    /// Products in a pass.
    pub unroll: i32,
    /// Where SR as it was lies, if interrupts are kept out of each column.
    pub status: Option<Source>,
}

/// The function that runs `scans`, `unroll` products in a pass of an inner loop.
///
/// # Errors
/// When registers or the stack run out, a jump does not reach, or passes of so many cannot be told from the rest.
pub fn lower(core: &Core, scans: &Scans, unroll: usize) -> Result<Program<Insn>, LowerError> {
    // As many words in each row are counted beforehand.
    let counted = scans.rows && !scans.strands.iter().any(|s| s.pairs);
    if !counted && !unroll.is_power_of_two() {
        return Err(LowerError::PowerOfTwo(unroll));
    }
    let free = beside(scans.words.lengths.len());
    let [stop, word, carry, column, j, k, other, top, ..] = free[..] else {
        return Err(LowerError::Registers);
    };
    let roles = Roles {
        j,
        k,
        stop,
        carry,
        other,
        column,
        word,
        top,
    };
    let mut nest = Nest {
        scans,
        flow: Flow::default(),
        free,
        values: BTreeMap::new(),
        homes: BTreeMap::new(),
        doubled: Place { base: SP, at: 0 },
        roles,
        unit: core.multiplier.map_or(0, |m| m.base),
        unroll: unroll as i32,
        status: None,
    };
    let scratch = nest.settle();
    let status = (core.irq == Irq::MaskPerColumn).then_some(WORD as u16 * scratch as u16);
    nest.status = status.map(|at| Source::Indexed(SP, at));
    match scans.rows {
        true => nest.rows()?,
        false if scans.strands.is_empty() => {}
        false => nest.sweep()?,
    }
    nest.chains()?;
    nest.flow.function(core, scratch)
}

/// Where things are.
impl Nest<'_> {
    /// Gives every array its place, and lays numbers there: the words of the frame.
    fn settle(&mut self) -> usize {
        let scans = self.scans;
        let n = WORD * scans.n as i32;
        let result = self.result();
        for side in 0..scans.words.lengths.len() {
            let base = RESULT + 1 + side as u8;
            self.homes
                .insert(Array::Operand(side), Place { base, at: 0 });
        }
        // Quotients, or what a row leaves to the next, a word more.
        let below = scans
            .quotient
            .map_or(0, |_| scans.n + usize::from(scans.rows));
        let frame = Place { base: SP, at: 0 };
        let numbers = frame.plus(WORD * below as i32);
        self.homes.insert(Array::Numbers, numbers);
        let stored: Vec<u64> = scans.words.stored().collect();
        for (i, number) in stored.iter().enumerate() {
            let at = numbers.at + WORD * i as i32;
            let to = Dest::Indexed(SP, at as u16);
            self.flow.two(Op::MOV, Source::Constant(*number as u16), to);
        }
        let modulus = scans.modulus().and_then(|m| self.homes.get(&m).copied());
        if let Some(modulus) = modulus {
            self.homes.insert(Array::Square, modulus.plus(n + WORD));
        }
        // Where the quotients were: those below the column are no longer needed.
        let columns = match below {
            0 => result,
            _ if scans.rows => frame,
            _ => frame.plus(-n),
        };
        self.homes.insert(Array::Quotients, frame);
        self.homes.insert(Array::Columns, columns);
        for (at, _) in scans.words.steps.iter().enumerate() {
            self.homes.insert(Array::Chain(at), result);
        }
        self.doubled = numbers.plus(WORD * stored.len() as i32);
        let squares = scans.rows && scans.strands.iter().any(|s| s.pairs);
        below + stored.len() + if squares { scans.n + 1 } else { 0 }
    }

    pub fn home(&self, array: Array) -> Result<Place, LowerError> {
        self.homes.get(&array).copied().ok_or(LowerError::Scans)
    }

    /// The word `at` bytes from the start of an array.
    pub fn place(&self, (array, index): (Array, usize)) -> Result<Place, LowerError> {
        Ok(self.home(array)?.plus(WORD * index as i32))
    }

    /// Where a value of memory is read.
    pub fn source(&self, word: Word) -> Result<Source, LowerError> {
        let place = self.place(self.scans.place(word).ok_or(LowerError::Scans)?)?;
        Ok(Source::Indexed(place.base, place.at as u16))
    }

    /// Where the result begins.
    pub fn result(&self) -> Place {
        Place {
            base: RESULT,
            at: 0,
        }
    }

    /// Bytes of an array.
    pub fn bytes(&self) -> i32 {
        WORD * self.scans.n as i32
    }
}

/// The multiplier.
impl Nest<'_> {
    pub fn give(&mut self, source: Source, at: u16) {
        let to = Dest::Absolute(self.unit + at);
        self.flow.two(Op::MOV, source, to);
    }

    pub fn unit(&mut self, op: Op, at: u16, r: u8) {
        let from = Source::Absolute(self.unit + at);
        self.flow.register(op, from, r);
    }

    /// Keeps interrupts out, where that is done for each column.
    pub fn close(&mut self) {
        if self.status.is_some() {
            close().into_iter().for_each(|insn| self.flow.push(insn));
        }
    }

    /// Lets them in again, if the caller did.
    pub fn open(&mut self) {
        if let Some(status) = self.status {
            self.flow.register(Op::MOV, status, SR);
        }
    }

    /// Adds `x y`, or `2 x y`.
    fn product(&mut self, x: Source, y: Source, times: usize) {
        self.give(x, MAC);
        for _ in 0..times {
            self.give(y, OP2);
            self.unit(Op::ADD, SUMEXT, self.roles.carry);
        }
    }
}

/// Columns.
impl Nest<'_> {
    pub fn copy(&mut self, from: u8, r: u8) {
        self.flow.register(Op::MOV, Source::Register(from), r);
    }

    pub fn zero(&mut self, r: u8) {
        self.flow.register(Op::MOV, Source::Constant(0), r);
    }

    /// `r` points to a place, or as far behind it as the number of the column says.
    pub fn point(&mut self, r: u8, place: Place, column: Option<Column>) {
        self.copy(place.base, r);
        let number = column.map_or(Some(0), |c| c.number);
        self.flow.add(place.at + number.unwrap_or(0), r);
        if number.is_none() {
            let by = Source::Register(self.roles.column);
            self.flow.register(Op::ADD, by, r);
        }
    }

    fn sweep(&mut self) -> Result<(), LowerError> {
        let Roles { j, k, .. } = self.roles;
        self.zero(j);
        self.zero(k);
        self.flow.note("columns that become longer");
        self.each_column(true, 0, Self::column)?;
        self.flow.note("columns that become shorter");
        self.each_column(false, WORD, Self::column)?;
        self.flow.note("the last column");
        let last = Column {
            rises: false,
            number: Some(self.bytes()),
        };
        self.addend(last, 2 * self.scans.n - 1)?;
        self.copy(j, self.roles.word);
        self.store(Array::Columns, last)?;
        let sweep = self.scans.sweep().ok_or(LowerError::Scans)?;
        if let Some(out) = sweep.piles.get(2 * self.scans.n).and_then(|p| p.out) {
            self.values.insert(out, k);
            self.free.retain(|r| *r != k);
        }
        Ok(())
    }

    /// The columns that rise, or the others, or the rows, from `first` on.
    pub fn each_column(
        &mut self,
        rises: bool,
        first: i32,
        column: impl Fn(&mut Self, Column) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        let end = self.bytes();
        if self.scans.style != Style::Rolled {
            let mut numbers = (first..end).step_by(WORD as usize);
            return numbers.try_for_each(|number| {
                let number = Some(number);
                column(self, Column { rises, number })
            });
        }
        let r = self.roles.column;
        let number = Source::Constant(first as u16);
        self.flow.register(Op::MOV, number, r);
        let top = self.flow.here();
        let number = None;
        column(self, Column { rises, number })?;
        self.flow.add(WORD, r);
        let number = Source::Constant(end as u16);
        self.flow.register(Op::CMP, number, r);
        self.flow.jump(Op::JNE, top);
        Ok(())
    }

    fn column(&mut self, column: Column) -> Result<(), LowerError> {
        let Roles {
            j, k, carry, word, ..
        } = self.roles;
        let n = self.scans.n;
        self.zero(carry);
        self.addend(column, if column.rises { 0 } else { n })?;
        self.close();
        self.give(Source::Register(j), RESLO);
        self.give(Source::Register(k), RESHI);
        for strand in self.scans.strands.clone() {
            self.strand(strand, column)?;
        }
        match self.scans.quotient.filter(|_| column.rises) {
            Some([inverse, m]) => {
                self.quotient(inverse, m)?;
                self.store(Array::Quotients, column)?;
            }
            None => {
                self.unit(Op::MOV, RESLO, word);
                self.store(Array::Columns, column)?;
            }
        }
        self.unit(Op::MOV, RESHI, j);
        self.copy(carry, k);
        self.open();
        Ok(())
    }

    /// The register of the word becomes word `k` of an array, for column `k`.
    fn store(&mut self, array: Array, column: Column) -> Result<(), LowerError> {
        let Roles { stop, word, .. } = self.roles;
        let place = self.number(array, column)?;
        self.point(stop, place, Some(column));
        self.flow
            .two(Op::MOV, Source::Register(word), Dest::Indexed(stop, 0));
        Ok(())
    }

    /// The word of an array that the number of the column is counted from.
    fn number(&self, array: Array, column: Column) -> Result<Place, LowerError> {
        let from = if column.rises { 0 } else { self.scans.n - 1 };
        self.place((array, from))
    }

    /// Adds a word of the operand that is reduced, if it has a word `k`.
    fn addend(&mut self, column: Column, k: usize) -> Result<(), LowerError> {
        let Some(side) = self.scans.added(k) else {
            return Ok(());
        };
        let Roles {
            j, k, stop, carry, ..
        } = self.roles;
        let place = self.number(Array::Operand(side), column)?;
        self.point(stop, place, Some(column));
        self.flow.register(Op::ADD, Source::Indirect(stop), j);
        self.flow.register(Op::ADDC, Source::Constant(0), k);
        self.flow.register(Op::ADDC, Source::Constant(0), carry);
        Ok(())
    }

    /// `q = acc m' mod 2^16`, then `acc += q m[0]`.
    fn quotient(&mut self, inverse: Word, m: Word) -> Result<(), LowerError> {
        let Roles { j, k, word, .. } = self.roles;
        if self.scans.is_inverse_one() {
            self.unit(Op::MOV, RESLO, word);
        } else {
            self.unit(Op::MOV, RESLO, j);
            self.unit(Op::MOV, RESHI, k);
            self.give(Source::Register(j), MPY);
            self.give(self.source(inverse)?, OP2);
            self.unit(Op::MOV, RESLO, word);
            self.give(Source::Register(j), RESLO);
            self.give(Source::Register(k), RESHI);
        }
        self.product(Source::Register(word), self.source(m)?, 1);
        Ok(())
    }

    /// The products of a strand.
    fn strand(&mut self, strand: Strand, column: Column) -> Result<(), LowerError> {
        let Roles { j, k, stop, .. } = self.roles;
        let (x, y, n) = (self.home(strand.x)?, self.home(strand.y)?, self.bytes());
        let last = |number: i32| y.plus(number);
        let (from, to) = match column.rises {
            true => (None, Some(column)),
            false => (Some(column), None),
        };
        // q[k] m[0] comes last.
        let later = strand.x == Array::Quotients && column.rises;
        if later && column.number == Some(0) {
            return Ok(());
        }
        self.point(j, x, from);
        self.point(k, last(if column.rises { 0 } else { n - WORD }), to);
        if strand.pairs {
            self.half(x, column);
            self.passes(true, 2);
            return self.middle(column);
        }
        match column.rises {
            true => self.point(stop, x.plus(if later { 0 } else { WORD }), to),
            false => self.point(stop, x.plus(n), None),
        }
        self.passes(later && column.number.is_none(), 1);
        Ok(())
    }

    /// The pointer that ends the products of column `k` that count twice: `(k + 1) / 2` words behind the first.
    fn half(&mut self, x: Place, column: Column) {
        let Roles {
            stop, column: r, ..
        } = self.roles;
        let more = match column.rises {
            true => 1,
            false => self.scans.n as i32,
        };
        match column.number {
            Some(number) => self.point(stop, x.plus((number / WORD + more) & !1), None),
            None => {
                self.copy(r, stop);
                self.flow.push(Insn::one(Op::RRA, Source::Register(stop)));
                self.flow.add(more, stop);
                self.flow.register(Op::BIC, Source::Constant(1), stop);
                self.flow.add(x.at, stop);
                self.flow.register(Op::ADD, Source::Register(x.base), stop);
            }
        }
    }

    /// The square in the middle of column `k`, if that is even.
    fn middle(&mut self, column: Column) -> Result<(), LowerError> {
        let Roles { j, column: r, .. } = self.roles;
        // Is k even where the number of the column is a multiple of 4?
        let even = column.rises || self.scans.n % 2 == 1;
        let skip = match column.number {
            Some(number) if (number % 4 == 0) == even => None,
            Some(_) => return Ok(()),
            None => {
                self.flow.register(Op::BIT, Source::Constant(2), r);
                let op = if even { Op::JNE } else { Op::JEQ };
                Some(self.flow.jump(op, 0))
            }
        };
        self.product(Source::Indirect(j), Source::Indirect(j), 1);
        if let Some(skip) = skip {
            self.flow.land(skip);
        }
        Ok(())
    }

    /// Products until the pointer to the first factors is at its end, which may be where it begins. Those in passes come first.
    fn passes(&mut self, may_be_none: bool, times: usize) {
        let Roles { j, stop, word, .. } = self.roles;
        if self.unroll > 1 {
            self.copy(stop, word);
            self.flow.register(Op::SUB, Source::Register(j), word);
            let rest = (WORD * self.unroll - 1) as u16;
            self.flow.register(Op::BIC, Source::Constant(rest), word);
            self.flow.register(Op::ADD, Source::Register(j), word);
            self.until(word, self.unroll, true, times);
        }
        self.until(stop, 1, may_be_none || self.unroll > 1, times);
    }

    /// So many products in a pass until the pointer to the first factors is where `end` points.
    fn until(&mut self, end: u8, unroll: i32, may_be_none: bool, times: usize) {
        let Roles { j, k, .. } = self.roles;
        let skip = may_be_none.then(|| self.flow.jump(Op::JMP, 0));
        let top = self.flow.here();
        for i in 0..unroll {
            let y = match i {
                0 => Source::Indirect(k),
                _ => Source::Indexed(k, (-WORD * i) as u16),
            };
            self.product(Source::Increment(j), y, times);
        }
        self.flow.add(-WORD * unroll, k);
        if let Some(skip) = skip {
            self.flow.land(skip);
        }
        self.flow.register(Op::CMP, Source::Register(end), j);
        self.flow.jump(Op::JNE, top);
    }

    /// The steps behind the sweep.
    fn chains(&mut self) -> Result<(), LowerError> {
        for step in &self.scans.words.steps {
            match step {
                WordStep::Part(text) => self.flow.note(text),
                WordStep::Chain(chain) => self.chain(chain)?,
                _ => {}
            }
        }
        let chained = |word: &Word| matches!(self.scans.place(*word), Some((Array::Columns, _)));
        match self.scans.quotient.is_some() && self.scans.words.result.iter().any(chained) {
            true => self.copy_out(),
            false => Ok(()),
        }
    }
}
