//! Columns of a schedule in words on MSP430: the multiplier adds up the products of a column, a few registers the columns.
//!
//! The first product of a column is MPY, which starts anew, the others MAC, whose carry SUMEXT goes to the register behind
//! the result where the sum can reach it. At the end of a column the result is added to what the columns before have left:
//! with 16 bits that takes 12 cycles with the word's store, where moving RESHI down and the carries up takes 17. The
//! last carry comes with this sum, others once the next first operand is written: SUMEXT is late.
//!
//! An MPY32 takes two columns as one where products of words are products of two words ([`WordColumn::in_pairs`]).

use machine::isa::msp430::Msp430Isa;
use machine::isa::msp430::code::{Dest, Insn};
use machine::isa::msp430::instructions::Op;

use crate::allocate::OutOfRegisters;
use crate::engine::basic::{Moves, Source, Two};
use crate::engine::words::{self, Columns};
use crate::schedule::{Clearing, Event, Factors, Sweep, Word, WordColumn, WordStep};
use crate::target::msp430::basic::source;

/// Words on MSP430.
pub type Lowering<'w> = words::Lowering<'w, Msp430Isa>;

/// The largest word.
const WORD: u128 = Msp430Isa::LARGEST;
/// Bits of a word.
const BITS: usize = 16;
/// Words of the accumulator at most: a product of two words by two, and carries.
const PARTS: usize = 5;

/// Registers of the multiplier: bytes behind the first.
pub const MPY: u16 = 0;
pub const MAC: u16 = 4;
pub const OP2: u16 = 8;
pub const RESLO: u16 = 10;
pub const RESHI: u16 = 12;
pub const SUMEXT: u16 = 14;
const MPY32L: u16 = 0x10;
const OP2L: u16 = 0x20;
const OP2H: u16 = 0x22;
const RES0: u16 = 0x24;

/// What a column has so far.
pub struct Accumulator {
    /// Where the multiplier is.
    pub base: u16,
    /// May factors have two words?
    pairs: bool,
    /// Words of a product: two, or four where factors of the sweep have two words.
    words: usize,
    /// What the columns before have left, and carries of this one.
    parts: [Option<u8>; PARTS],
    /// The largest value of all, and what the columns that are left can hold.
    bound: u128,
    cap: u128,
    /// The largest value that the multiplier holds, if it holds any.
    pending: Option<u128>,
    /// Is its last carry still to be added?
    owed: bool,
    /// The first operand that it keeps, and the address it was written to.
    first: Option<(u16, Vec<Word>)>,
}

impl Accumulator {
    /// Nothing yet, with the multiplier at `base`; `pairs`: may it multiply two words by two?
    pub fn new(base: u16, pairs: bool) -> Self {
        Self {
            base,
            pairs,
            words: 2,
            parts: [None; PARTS],
            bound: 0,
            cap: u128::MAX,
            pending: None,
            owed: false,
            first: None,
        }
    }

    /// Nothing but the first operand that the multiplier keeps; products have so many words.
    fn renew(&mut self, words: usize) {
        let first = self.first.take();
        *self = Self {
            words,
            first,
            ..Self::new(self.base, self.pairs)
        };
    }

    /// The columns of a sweep, and words of a product there.
    fn columns(&self, sweep: &Sweep) -> (Vec<WordColumn>, usize) {
        if self.pairs {
            let columns = WordColumn::in_pairs(sweep);
            let products = columns
                .iter()
                .flat_map(|c| c.doubled.iter().chain(&c.products));
            if products.clone().any(|p| p.x.len() + p.y.len() > 2) {
                return (columns, 4);
            }
        }
        (WordColumn::of(sweep), 2)
    }
}

impl Columns for Msp430Isa {
    type Accumulator = Accumulator;

    fn events(accumulator: &Accumulator, sweep: &Sweep) -> Vec<Event> {
        let (columns, _) = accumulator.columns(sweep);
        columns.iter().flat_map(WordColumn::events).collect()
    }

    fn sweep(l: &mut Lowering<'_>, sweep: &Sweep) -> Result<(), OutOfRegisters> {
        l.sweep(sweep)
    }

    fn wide(l: &mut Lowering<'_>, [x, y]: [Word; 2], out: [Word; 2]) -> Result<(), OutOfRegisters> {
        l.accumulator.renew(2);
        l.multiply(MPY, &[x], &[y])?;
        for (at, word) in [RESLO, RESHI].into_iter().zip(out) {
            let r = l.take()?;
            l.unit(Op::MOV, at, r);
            l.define(word, r);
        }
        Ok(())
    }

    fn arithmetic(l: &mut Lowering<'_>, step: &WordStep) -> Result<(), OutOfRegisters> {
        l.by_flag(step)
    }
}

impl Lowering<'_> {
    /// `r = r op` a register of the multiplier.
    fn unit(&mut self, op: Op, at: u16, r: u8) {
        let from = machine::isa::msp430::code::Source::Absolute(self.accumulator.base + at);
        self.insns.push(Insn::two(op, from, Dest::Register(r)));
    }

    /// A register of the multiplier becomes a word.
    fn give(&mut self, at: u16, from: Source) {
        let to = Dest::Absolute(self.accumulator.base + at);
        self.insns.push(Insn::two(Op::MOV, source(from), to));
    }

    fn sweep(&mut self, sweep: &Sweep) -> Result<(), OutOfRegisters> {
        let (columns, words) = self.accumulator.columns(sweep);
        self.accumulator.renew(words);
        for (i, column) in columns.iter().enumerate() {
            // What is left of the sweep fits the columns that are left, or is dropped.
            self.accumulator.cap = match columns.len() - i {
                left @ 1..8 => (1 << (BITS * left)) - 1,
                _ => u128::MAX,
            };
            self.column(column)?;
            self.close(column.out)?;
        }
        for r in self.accumulator.parts.into_iter().flatten() {
            self.release(r);
        }
        Ok(())
    }

    /// The events of a column in the order of the time line: addends, products, a quotient.
    fn column(&mut self, column: &WordColumn) -> Result<(), OutOfRegisters> {
        for number in &column.addends {
            self.raise(self.most(number));
            let mut parts = [None; PARTS];
            for (part, word) in parts.iter_mut().zip(number) {
                *part = Some(self.source(*word)?);
            }
            self.add(parts)?;
            number.iter().for_each(|word| self.bank.used(*word));
        }
        self.tick();
        if !column.doubled.is_empty() {
            self.doubled(&column.doubled)?;
        }
        for product in &column.products {
            self.product(product)?;
        }
        self.join()?;
        match &column.clearing {
            Some(clearing) => self.clearing(clearing),
            None => Ok(()),
        }
    }

    /// `q = acc m' mod 2^16` and `acc += q m`, whose low word is 0.
    fn clearing(&mut self, clearing: &Clearing) -> Result<(), OutOfRegisters> {
        let Clearing { inverse, m, q } = clearing;
        let low = self.accumulator.parts[0];
        let low = low.map_or(Source::Number(0), Source::Register);
        let known = self.words.known(*inverse);
        let out = if known == Some(1) || known == Some(0xffff) {
            let out = self.take()?;
            match known {
                Some(1) => self.two(Two::Copy, out, low),
                _ => {
                    self.two(Two::Copy, out, Source::Number(0));
                    self.two(Two::Sub, out, low);
                }
            }
            out
        } else {
            let by = self.source(*inverse)?;
            self.give(MPY, low);
            self.give(OP2, by);
            self.accumulator.first = None;
            let out = self.take()?;
            self.unit(Op::MOV, RESLO, out);
            out
        };
        self.used_all(&[*inverse]);
        self.define(*q, out);
        self.tick();
        let (x, y) = (vec![*q], m.clone());
        self.product(&Factors { x, y })?;
        self.join()
    }

    /// The largest value of a number.
    fn most(&self, number: &[Word]) -> u128 {
        let words = number.iter().enumerate();
        words.map(|(i, word)| self.most[word.0] << (BITS * i)).sum()
    }

    fn raise(&mut self, by: u128) {
        let bound = self.accumulator.bound + by;
        self.accumulator.bound = bound.min(self.accumulator.cap);
    }

    /// Has the multiplier make `x y`, added to what it holds if `mode` is MAC.
    fn multiply(&mut self, mode: u16, x: &[Word], y: &[Word]) -> Result<(), OutOfRegisters> {
        let later = |l: &Self, number: &[Word]| {
            let next = number.first().and_then(|word| l.bank.use_after(*word));
            next.unwrap_or(usize::MAX)
        };
        let kept = self.accumulator.first.take();
        let is_kept = |number: &[Word]| {
            let kept = kept.as_ref();
            kept.is_some_and(|(at, first)| *at == mode && first == number)
        };
        // A first factor of one word takes less time.
        let sooner = (y.len(), later(self, y)) < (x.len(), later(self, x));
        let [x, y] = match sooner && !is_kept(x) || is_kept(y) && !is_kept(x) {
            true => [y, x],
            false => [x, y],
        };
        if !is_kept(x) {
            let to = if x.len() == 1 {
                mode
            } else {
                MPY32L + 2 * mode
            };
            for (at, word) in (to..).step_by(2).zip(x) {
                let from = self.source(*word)?;
                self.give(at, from);
            }
        }
        self.accumulator.first = Some((mode, x.to_vec()));
        self.carry()?;
        let to: &[u16] = match self.accumulator.words {
            2 => &[OP2],
            _ => &[OP2L, OP2H],
        };
        for (i, at) in to.iter().enumerate() {
            let from = match y.get(i) {
                Some(word) => self.source(*word)?,
                None => Source::Number(0),
            };
            self.give(*at, from);
        }
        let mut words: Vec<Word> = [x, y].concat();
        words.sort();
        words.dedup();
        words.iter().for_each(|word| self.bank.used(*word));
        Ok(())
    }

    /// Adds the last carry of the multiplier to the register behind its result.
    fn carry(&mut self) -> Result<(), OutOfRegisters> {
        if !std::mem::take(&mut self.accumulator.owed) {
            return Ok(());
        }
        let at = self.accumulator.words;
        match self.accumulator.parts[at] {
            Some(r) => self.unit(Op::ADD, SUMEXT, r),
            None => {
                let r = self.take()?;
                self.unit(Op::MOV, SUMEXT, r);
                self.accumulator.parts[at] = Some(r);
            }
        }
        Ok(())
    }

    /// Adds `x y` in the multiplier.
    fn product(&mut self, Factors { x, y }: &Factors) -> Result<(), OutOfRegisters> {
        let most = self.most(x) * self.most(y);
        self.raise(most);
        let before = self.accumulator.pending;
        self.multiply(if before.is_some() { MAC } else { MPY }, x, y)?;
        let sum = before.unwrap_or(0) + most;
        let bits = BITS * self.accumulator.words;
        self.accumulator.owed = sum >> bits != 0 && self.accumulator.bound >> bits != 0;
        self.accumulator.pending = Some(sum.min((1 << bits) - 1));
        self.tick();
        Ok(())
    }

    /// Adds what the multiplier holds, which the bound counts already, to the registers.
    fn join(&mut self) -> Result<(), OutOfRegisters> {
        let Some(pending) = self.accumulator.pending.take() else {
            return Ok(());
        };
        let Accumulator { words, cap, .. } = self.accumulator;
        let registers: &[u16] = match words {
            2 => &[RESLO, RESHI],
            _ => &[RES0, RES0 + 2, RES0 + 4, RES0 + 6],
        };
        let mut parts = [None; PARTS];
        for (i, at) in registers.iter().enumerate() {
            let reaches = pending.min(cap) >> (BITS * i) != 0;
            parts[i] = Some(Place::Unit(*at)).filter(|_| i == 0 || reaches);
        }
        if std::mem::take(&mut self.accumulator.owed) {
            parts[words] = Some(Place::Unit(SUMEXT));
        }
        self.ripple(parts)
    }

    /// Adds words that the bound counts already.
    fn add(&mut self, parts: [Option<Source>; PARTS]) -> Result<(), OutOfRegisters> {
        self.ripple(parts.map(|part| part.map(Place::Source)))
    }

    fn ripple(&mut self, parts: [Option<Place>; PARTS]) -> Result<(), OutOfRegisters> {
        let mut running = false;
        for (at, part) in parts.into_iter().enumerate() {
            let old = self.accumulator.parts[at];
            let op = match (old, part, running) {
                (_, None, false) => continue,
                (None, Some(_), false) => Op::MOV,
                (Some(_), Some(_), false) => Op::ADD,
                (_, _, true) => Op::ADDC,
            };
            let r = match old {
                Some(r) => r,
                None => self.take()?,
            };
            if old.is_none() && running {
                self.two(Two::Copy, r, Source::Number(0));
            }
            match part.unwrap_or(Place::Source(Source::Number(0))) {
                Place::Unit(at) => self.unit(op, at, r),
                Place::Source(from) => {
                    let insn = Insn::two(op, source(from), Dest::Register(r));
                    self.insns.push(insn);
                }
            }
            self.accumulator.parts[at] = Some(r);
            running = op != Op::MOV && self.accumulator.bound >> (BITS * (at + 1)) != 0;
        }
        Ok(())
    }

    /// Products that count twice: added up, doubled, and what was there before added.
    fn doubled(&mut self, products: &[Factors]) -> Result<(), OutOfRegisters> {
        let (before, bound) = (self.accumulator.parts, self.accumulator.bound);
        self.accumulator.parts = [None; PARTS];
        self.accumulator.bound = 0;
        for product in products {
            self.product(product)?;
        }
        self.join()?;
        self.raise(self.accumulator.bound);
        self.add(
            self.accumulator
                .parts
                .map(|part| part.map(Source::Register)),
        )?;
        self.raise(bound);
        self.add(before.map(|part| part.map(Source::Register)))?;
        for r in before.into_iter().flatten() {
            self.release(r);
        }
        Ok(())
    }

    /// The low word becomes a value; the others move down.
    fn close(&mut self, out: Option<Word>) -> Result<(), OutOfRegisters> {
        let part = self.accumulator.parts[0].take();
        self.accumulator.parts.rotate_left(1);
        match (out, part) {
            (None, None) => {}
            (None, Some(r)) => self.release(r),
            (Some(out), part) => {
                self.most[out.0] = self.accumulator.bound.min(WORD);
                let r = match part {
                    Some(r) => r,
                    None => self.own_number()?,
                };
                self.define(out, r);
            }
        }
        self.accumulator.bound >>= BITS;
        Ok(())
    }

    /// A register with 0.
    fn own_number(&mut self) -> Result<u8, OutOfRegisters> {
        let r = self.take()?;
        self.two(Two::Copy, r, Source::Number(0));
        Ok(r)
    }
}

/// What is added.
#[derive(Clone, Copy)]
enum Place {
    /// A register of the multiplier.
    Unit(u16),
    Source(Source),
}
