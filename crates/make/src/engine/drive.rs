//! Lowers drivers, once for all machines whose words have 16 bits or more. A step only uses registers that a call may overwrite.

use machine::isa::Isa;
use machine::program::Program;
use num_bigint::BigUint;

use crate::driver::{Action, Assembled, Cell, Driver, MultiplyAdd, Stored, To};
use crate::engine::basic::Three;
use crate::engine::driven::{Beside, Driven, Mem, Roles};
use crate::refusal::LowerError;

/// Words of a round of a loop.
const UNROLL: usize = 4;

/// An instruction of the machine that `D` writes for.
type InsnOf<D> = <<D as Driven>::Isa as Isa>::Insn;

/// The instructions of `driver`, written with `code`.
///
/// # Errors
/// When there is too little memory, or a branch does not reach.
pub fn lower<D: Driven>(code: D, driver: &Driver) -> Result<Assembled<InsnOf<D>>, LowerError> {
    if driver.bytes > D::MOST_BYTES {
        return Err(LowerError::Area(driver.bytes));
    }
    let mut d = Drive::new(code);
    let mut starts = Vec::with_capacity(driver.routines.len());
    for (i, routine) in driver.routines.iter().enumerate() {
        starts.push(d.code.here());
        d.code.enter(i == 0);
        d.steps(routine)?;
        d.code.leave(i == 0);
    }
    for (at, routine) in std::mem::take(&mut d.routines) {
        d.code.aim(at, starts[routine])?;
    }
    Ok(Assembled {
        program: Program {
            insns: d.code.finish()?,
            ..Program::new()
        },
        calls: d.calls,
    })
}

/// A function that copies `bytes` bytes from its second argument to its first, which are in the registers of a pass.
pub fn stub<D: Driven>(code: D, bytes: usize) -> Vec<InsnOf<D>> {
    let mut d = Drive::new(code);
    // No branch of a loop this short fails to reach.
    let _ = d.copy_pass(bytes);
    d.code.give_back();
    d.code.finish().unwrap_or_default()
}

struct Drive<D> {
    code: D,
    roles: Roles,
    calls: Vec<(usize, usize)>,
    routines: Vec<(usize, usize)>,
}

impl<D: Driven> Drive<D> {
    fn new(code: D) -> Self {
        Self {
            roles: code.roles(),
            code,
            calls: Vec::new(),
            routines: Vec::new(),
        }
    }

    fn cell(&self, cell: Cell) -> Mem {
        Mem {
            base: self.roles.area,
            at: cell.at(D::WORD) as i32,
            walks: false,
        }
    }

    fn get(&mut self, r: u8, from: Cell) {
        let from = self.cell(from);
        self.code.load(r, from);
    }

    fn put(&mut self, to: Cell, r: u8) {
        let to = self.cell(to);
        self.code.store(to, r);
    }

    /// A number in a cell.
    fn set(&mut self, to: Cell, k: usize) {
        let r = self.roles.words[0];
        let r = match k {
            0 => self.code.zero(r),
            _ => {
                self.code.number(r, k);
                r
            }
        };
        self.put(to, r);
    }

    /// `r` points to byte `at` of the area.
    fn point(&mut self, r: u8, at: usize) {
        self.code.plus(r, self.roles.area, at as i32);
    }

    /// `r` points where the cell says, which moves on by `bytes`.
    fn point_on(&mut self, r: u8, cell: Cell, bytes: usize) {
        let x = self.roles.words[0];
        self.get(x, cell);
        self.code.three(Three::Add, r, self.roles.area, x);
        self.code.plus(x, x, bytes as i32);
        self.put(cell, x);
    }

    /// The mask of a cell that holds 0 or 1.
    fn mask(&mut self, from: Cell) {
        let mask = self.roles.mask;
        self.get(mask, from);
        self.code.mask(mask);
    }

    /// A pass over `bytes` bytes from `to` on, and from `from` if it `reads` there: the body for so many words at a time.
    fn pass(
        &mut self,
        bytes: usize,
        reads: bool,
        body: impl Fn(&mut D, usize),
    ) -> Result<(), LowerError> {
        let words = bytes / D::WORD;
        let unroll = (1..=UNROLL).rev().find(|u| words.is_multiple_of(*u));
        let unroll = unroll.unwrap_or(1);
        if words == unroll {
            body(&mut self.code, unroll);
            return Ok(());
        }
        self.code.rounds(bytes, words / unroll);
        let top = self.code.here();
        body(&mut self.code, unroll);
        self.code.next_round(top, reads, D::WORD * unroll)
    }

    /// The same, word by word.
    fn each(
        &mut self,
        bytes: usize,
        reads: bool,
        body: impl Fn(&mut D, usize),
    ) -> Result<(), LowerError> {
        self.pass(bytes, reads, |code, words| {
            (0..words).for_each(|k| body(code, k))
        })
    }

    /// Copies from where `from` points to where `to` does.
    fn copy_pass(&mut self, bytes: usize) -> Result<(), LowerError> {
        let Roles {
            to,
            from,
            words: [x, y, z],
            mask,
            ..
        } = self.roles;
        self.pass(bytes, true, |code, words| {
            code.copy_words(to, from, &[x, y, z, mask], words);
        })
    }

    fn steps(&mut self, steps: &[Action]) -> Result<(), LowerError> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Action) -> Result<(), LowerError> {
        let (to_pointer, from_pointer) = (self.roles.to, self.roles.from);
        match step {
            Action::Call { kernel, pointers } => {
                for (r, at) in D::ARGUMENTS.iter().zip(pointers) {
                    self.point(*r, *at);
                }
                let call = self.code.call(true);
                self.calls.push((call, *kernel));
            }
            Action::Do(routine) => {
                let call = self.code.call(false);
                self.routines.push((call, *routine));
            }
            Action::Repeat {
                times,
                counter,
                body,
            } => self.repeat(*times, *counter, body)?,
            Action::Rewind(exponent) => {
                self.set(Cell::Next, exponent.at + exponent.bytes);
                self.set(Cell::Left, 0);
            }
            Action::Bit => self.bit()?,
            Action::NoDigit => self.set(Cell::Digit, 0),
            Action::IfDigit {
                least,
                body,
                otherwise,
            } => self.if_digit(*least, body, otherwise)?,
            Action::Copy { to, from } => self.copy(*to, *from)?,
            Action::Table(at) => self.set(Cell::Entry, *at),
            Action::Take(to) => {
                self.point_on(from_pointer, Cell::Next, to.bytes);
                self.point(to_pointer, to.at);
                self.copy_pass(to.bytes)?;
            }
            Action::Number { to, value } => self.small(*to, *value)?,
            Action::Constant { to, value } => self.constant(*to, value),
            Action::Lookup { to, table, entries } => self.lookup(*to, *table, *entries)?,
            Action::Pick { to, table, less } => self.pick(*to, *table, *less)?,
            Action::Swap { a, b } => self.swap(*a, *b)?,
            Action::MultiplyAdd(sum) => self.sum(sum)?,
            Action::AddWord { to, word, lacks } => self.add_word(*to, *word, *lacks)?,
            Action::NotZero { to, of } => self.not_zero(*to, *of)?,
            Action::Fewer(from, less) => self.combine(Three::Sub, *from, *less),
            Action::Differ(to, from) => self.combine(Three::Xor, *to, *from),
        }
        Ok(())
    }

    /// The first cell becomes what `op` makes of both.
    fn combine(&mut self, op: Three, to: Cell, from: Cell) {
        let [x, y, _] = self.roles.words;
        self.get(x, to);
        self.get(y, from);
        self.code.three(op, x, x, y);
        self.put(to, x);
    }

    /// A loop, counted in a cell.
    fn repeat(&mut self, times: usize, counter: Cell, body: &[Action]) -> Result<(), LowerError> {
        let [x, ..] = self.roles.words;
        self.set(counter, times);
        let top = self.code.here();
        self.steps(body)?;
        self.get(x, counter);
        let cell = self.cell(counter);
        self.code.again(x, top, Beside::Keep(cell))
    }

    fn copy(&mut self, to: To, from: Stored) -> Result<(), LowerError> {
        match to {
            To::Place(at) => self.point(self.roles.to, at),
            To::Entry => self.point_on(self.roles.to, Cell::Entry, from.bytes),
        }
        self.point(self.roles.from, from.at);
        self.copy_pass(from.bytes)
    }

    /// Copies the entry of a table that the digit says, by way of those before it.
    fn pick(&mut self, to: Stored, table: usize, less: u8) -> Result<(), LowerError> {
        let ([x, ..], from) = (self.roles.words, self.roles.from);
        self.get(x, Cell::Digit);
        self.code.plus(x, x, -i32::from(less));
        self.point(from, table);
        let top = self.code.here();
        self.code.again(x, top, Beside::Move(from, to.bytes))?;
        self.point(self.roles.to, to.at);
        self.copy_pass(to.bytes)
    }

    /// Puts 1 into a cell if the number is not 0, else 0.
    fn not_zero(&mut self, to: Cell, of: Stored) -> Result<(), LowerError> {
        let ([x, y, _], pointer) = (self.roles.words, self.roles.to);
        self.point(pointer, of.at);
        self.code.number(y, 0);
        self.each(of.bytes, false, |code, k| {
            code.load(x, D::word(pointer, k, true));
            code.three(Three::Or, y, y, x);
        })?;
        self.code.is_some(x, y);
        self.put(to, x);
        Ok(())
    }

    fn if_digit(
        &mut self,
        least: u8,
        body: &[Action],
        otherwise: &[Action],
    ) -> Result<(), LowerError> {
        let digit = self.roles.words[0];
        self.get(digit, Cell::Digit);
        let other = self.code.jump_below(digit, least);
        self.steps(body)?;
        let end = (!otherwise.is_empty()).then(|| self.code.jump());
        self.land(other)?;
        self.steps(otherwise)?;
        end.map_or(Ok(()), |end| self.land(end))
    }

    /// The jump of index `at` goes to the next instruction.
    fn land(&mut self, at: usize) -> Result<(), LowerError> {
        let here = self.code.here();
        self.code.aim(at, here)
    }

    /// The next bit of the exponent goes into the digit.
    fn bit(&mut self) -> Result<(), LowerError> {
        let [left, word, digit] = self.roles.words;
        let next = self.roles.from;
        self.get(left, Cell::Left);
        self.get(word, Cell::Word);
        let some = self.code.jump_if(left);
        self.get(next, Cell::Next);
        self.code.plus(next, next, -(D::WORD as i32));
        self.put(Cell::Next, next);
        self.code.three(Three::Add, next, self.roles.area, next);
        let from = Mem {
            base: next,
            at: 0,
            walks: false,
        };
        self.code.load(word, from);
        self.code.number(left, 8 * D::WORD);
        self.land(some)?;
        self.code.plus(left, left, -1);
        self.put(Cell::Left, left);
        self.get(digit, Cell::Digit);
        self.code.double(word, digit, left);
        self.put(Cell::Word, word);
        self.put(Cell::Digit, digit);
        Ok(())
    }

    /// A number below 256.
    fn small(&mut self, to: Stored, value: u8) -> Result<(), LowerError> {
        let (pointer, x) = (self.roles.to, self.roles.words[0]);
        self.point(pointer, to.at);
        let zero = self.code.zero(x);
        self.each(to.bytes, false, |code, k| {
            code.store(D::word(pointer, k, true), zero);
        })?;
        if value != 0 {
            self.code.number(x, usize::from(value));
            let low = self.code.far(pointer, to.at);
            self.code.store(low, x);
        }
        Ok(())
    }

    /// A number whose words are in the code.
    fn constant(&mut self, to: Stored, value: &BigUint) {
        let (pointer, x) = (self.roles.to, self.roles.words[0]);
        self.point(pointer, to.at);
        let mut bytes = value.to_bytes_le();
        bytes.resize(to.bytes, 0);
        for (k, digits) in bytes.chunks(D::WORD).enumerate() {
            let digits = digits.iter().rev();
            let word = digits.fold(0, |word, digit| word << 8 | usize::from(*digit));
            self.code.number(x, word);
            self.code.store(D::word(pointer, k, true), x);
        }
    }

    /// `to = table[digit]`, every entry read, some words of it at a time.
    fn lookup(&mut self, to: Stored, table: usize, entries: usize) -> Result<(), LowerError> {
        let words = to.bytes / D::WORD;
        let Roles {
            from,
            words: [x, y, _],
            collected,
            index,
            digit,
            chosen,
            ..
        } = self.roles.clone();
        let mut blocks = (1..=collected.len()).rev();
        let block = blocks.find(|b| words.is_multiple_of(*b)).unwrap_or(1);
        let collected = &collected[..block];
        // Two loads side by side, so that none is waited for.
        let several = if D::WALKS { 1 } else { 2 };
        for first in (0..words).step_by(block) {
            self.point(from, table + D::WORD * first);
            if let Some(digit) = digit {
                self.get(digit, Cell::Digit);
            }
            collected.iter().for_each(|r| self.code.number(*r, 0));
            self.code.number(index, 0);
            let top = self.code.here();
            let wanted = digit.unwrap_or(x);
            if digit.is_none() {
                self.get(wanted, Cell::Digit);
            }
            self.code.equal(chosen, wanted, index);
            for (i, sums) in collected.chunks(several).enumerate() {
                let list = || sums.iter().zip([x, y]).zip(several * i..);
                for ((_, r), k) in list() {
                    self.code.load(r, D::word(from, k, true));
                }
                for ((sum, r), _) in list() {
                    self.code.three(Three::And, r, r, chosen);
                    self.code.three(Three::Or, *sum, *sum, r);
                }
            }
            self.code.plus(index, index, 1);
            let walked = if D::WALKS { D::WORD * block } else { 0 };
            self.code.next_entry(entries, top, to.bytes - walked)?;
            let out = self.code.far(from, to.at + D::WORD * first);
            for (k, r) in collected.iter().enumerate() {
                let word = D::word(out.base, k, true);
                let at = out.at + word.at;
                self.code.store(Mem { at, ..word }, *r);
            }
        }
        Ok(())
    }

    fn swap(&mut self, a: Stored, b: usize) -> Result<(), LowerError> {
        let Roles {
            to,
            from,
            words: [x, y, z],
            mask,
            ..
        } = self.roles;
        self.mask(Cell::Digit);
        self.point(to, a.at);
        self.point(from, b);
        self.each(a.bytes, true, |code, k| {
            code.load(x, D::word(to, k, false));
            code.load(y, D::word(from, k, false));
            code.three(Three::Xor, z, x, y);
            code.masked(z, mask);
            code.three(Three::Xor, x, x, z);
            code.three(Three::Xor, y, y, z);
            code.store(D::word(to, k, true), x);
            code.store(D::word(from, k, true), y);
        })
    }

    fn sum(&mut self, sum: &MultiplyAdd) -> Result<(), LowerError> {
        let Roles {
            to,
            from,
            words: [x, y, _],
            mask,
            ..
        } = self.roles;
        if let Some(times) = sum.times {
            self.mask(times);
        }
        self.point(to, sum.to.at);
        if let Some(at) = sum.from {
            self.point(from, at);
        }
        if let Some(carry) = sum.carry {
            self.get(x, carry);
        }
        self.code.carry_from(sum.carry.map(|_| x), sum.subtract);
        let (reads, chosen) = (sum.from.is_some(), sum.times.is_some());
        self.each(sum.to.bytes, reads, |code, k| {
            code.load(x, D::word(to, k, false));
            if reads {
                code.load(y, D::word(from, k, true));
            }
            if reads && chosen {
                code.masked(y, mask);
            }
            code.with_carry(x, reads.then_some(y), sum.subtract);
            code.store(D::word(to, k, true), x);
        })?;
        if let Some(out) = sum.out {
            let carry = self.code.carry_into(x, sum.subtract);
            self.put(out, carry);
        }
        Ok(())
    }

    /// The word, then its sign; what is lacking is minus the carry and the sign.
    fn add_word(&mut self, to: Stored, word: usize, lacks: Cell) -> Result<(), LowerError> {
        let Roles {
            to: pointer,
            from: part,
            words: [x, ..],
            mask,
            ..
        } = self.roles;
        let word = self.code.far(part, word);
        self.code.load(part, word);
        self.code.sign(mask, part);
        self.code.carry_from(None, false);
        self.point(pointer, to.at);
        self.each(to.bytes, false, |code, k| {
            code.load(x, D::word(pointer, k, false));
            code.with_carry(x, Some(part), false);
            code.store(D::word(pointer, k, true), x);
            code.copy(part, mask);
        })?;
        let carry = self.code.carry_into(x, false);
        self.code.three(Three::Add, x, carry, mask);
        self.code.negate(x, x);
        self.put(lacks, x);
        Ok(())
    }
}
