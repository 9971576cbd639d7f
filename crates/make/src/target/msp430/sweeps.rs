//! Columns of a schedule in words on MSP430: the multiplier adds up the products of a column, three registers the columns.
//!
//! The first product of a column is MPY, which starts anew, the others MAC, whose carry SUMEXT goes to the third register
//! where the sum can reach it. At the end of a column RESLO and RESHI are added to what the columns before have left:
//! that takes 12 cycles with the word's store, where moving RESHI down and the carries up takes 17.

use machine::isa::msp430::Msp430Isa;
use machine::isa::msp430::code::{Dest, Insn};
use machine::isa::msp430::instructions::Op;

use crate::allocate::OutOfRegisters;
use crate::engine::basic::{Moves, Source, Two};
use crate::engine::words::{self, Columns};
use crate::schedule::{Pile, Quotient, Sweep, Word, WordStep};
use crate::target::msp430::basic::source;

/// Words on MSP430.
pub type Lowering<'w> = words::Lowering<'w, Msp430Isa>;

/// The largest word.
const WORD: u128 = Msp430Isa::LARGEST;

/// Registers of the multiplier: bytes behind the first.
const MPY: u16 = 0;
const MAC: u16 = 4;
const OP2: u16 = 8;
const RESLO: u16 = 10;
const RESHI: u16 = 12;
const SUMEXT: u16 = 14;

/// What a column has so far.
pub struct Accumulator {
    /// Where the multiplier is.
    pub base: u16,
    /// What the columns before have left, and carries of this one.
    parts: [Option<u8>; 3],
    /// The largest value of all, and what the columns that are left can hold.
    bound: u128,
    cap: u128,
    /// The largest value that the multiplier holds, if it holds any.
    pending: Option<u128>,
    /// The first operand that it keeps, and the address it was written to.
    first: Option<(u16, Word)>,
}

impl Accumulator {
    /// Nothing yet, with the multiplier at `base`.
    pub fn new(base: u16) -> Self {
        Self {
            base,
            parts: [None; 3],
            bound: 0,
            cap: u128::MAX,
            pending: None,
            first: None,
        }
    }
}

impl Columns for Msp430Isa {
    type Accumulator = Accumulator;

    fn sweep(l: &mut Lowering<'_>, sweep: &Sweep) -> Result<(), OutOfRegisters> {
        l.sweep(sweep)
    }

    fn wide(l: &mut Lowering<'_>, [x, y]: [Word; 2], out: [Word; 2]) -> Result<(), OutOfRegisters> {
        l.multiply(MPY, x, y)?;
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
        self.accumulator = Accumulator::new(self.accumulator.base);
        for (i, pile) in sweep.piles.iter().enumerate() {
            // What is left of the sweep fits the columns that are left, or is dropped.
            self.accumulator.cap = match sweep.piles.len() - i {
                left @ 1..4 => (1 << (16 * left)) - 1,
                _ => u128::MAX,
            };
            self.pile(pile)?;
            self.close(pile.out)?;
        }
        for r in self.accumulator.parts.into_iter().flatten() {
            self.release(r);
        }
        Ok(())
    }

    /// The events of a pile in the order of the time line: addends, products, a quotient.
    fn pile(&mut self, pile: &Pile) -> Result<(), OutOfRegisters> {
        for word in &pile.addends {
            self.raise(self.most[word.0]);
            let from = self.source(*word)?;
            self.add([Some(from), None, None])?;
            self.bank.used(*word);
        }
        self.tick();
        if !pile.doubled.is_empty() {
            self.doubled(&pile.doubled)?;
        }
        for (x, y) in &pile.products {
            self.product(*x, *y)?;
        }
        self.join()?;
        match pile.quotient {
            Some(quotient) => self.quotient(quotient),
            None => Ok(()),
        }
    }

    /// `q = acc m' mod 2^16` and `acc += q m`, whose low word is 0.
    fn quotient(&mut self, Quotient { inverse, m, q }: Quotient) -> Result<(), OutOfRegisters> {
        let low = self.accumulator.parts[0];
        let low = low.map_or(Source::Number(0), Source::Register);
        let known = self.words.known(inverse);
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
            let by = self.source(inverse)?;
            self.give(MPY, low);
            self.give(OP2, by);
            self.accumulator.first = None;
            let out = self.take()?;
            self.unit(Op::MOV, RESLO, out);
            out
        };
        self.used_all(&[inverse]);
        self.define(q, out);
        self.tick();
        self.product(q, m)?;
        self.join()
    }

    fn raise(&mut self, by: u128) {
        let bound = self.accumulator.bound + by;
        self.accumulator.bound = bound.min(self.accumulator.cap);
    }

    /// Has the multiplier make `x y`, added to what it holds if `mode` is MAC.
    fn multiply(&mut self, mode: u16, x: Word, y: Word) -> Result<(), OutOfRegisters> {
        let later = |l: &Self, word: Word| l.bank.use_after(word).unwrap_or(usize::MAX);
        let kept = self.accumulator.first;
        let [x, y] = match later(self, y) < later(self, x) && kept != Some((mode, x)) {
            true => [y, x],
            false if kept == Some((mode, y)) => [y, x],
            false => [x, y],
        };
        if kept != Some((mode, x)) {
            let from = self.source(x)?;
            self.give(mode, from);
            self.accumulator.first = Some((mode, x));
        }
        let from = self.source(y)?;
        self.give(OP2, from);
        self.used_all(&[x, y]);
        Ok(())
    }

    /// Adds `x y` in the multiplier, and its carry to the third register.
    fn product(&mut self, x: Word, y: Word) -> Result<(), OutOfRegisters> {
        let most = self.most[x.0] * self.most[y.0];
        self.raise(most);
        let before = self.accumulator.pending;
        self.multiply(if before.is_some() { MAC } else { MPY }, x, y)?;
        let sum = before.unwrap_or(0) + most;
        if sum >> 32 != 0 && self.accumulator.bound >> 32 != 0 {
            match self.accumulator.parts[2] {
                Some(r) => self.unit(Op::ADD, SUMEXT, r),
                None => {
                    let r = self.take()?;
                    self.unit(Op::MOV, SUMEXT, r);
                    self.accumulator.parts[2] = Some(r);
                }
            }
        }
        self.accumulator.pending = Some(sum.min((1 << 32) - 1));
        self.tick();
        Ok(())
    }

    /// Adds what the multiplier holds, which the bound counts already, to the registers.
    fn join(&mut self) -> Result<(), OutOfRegisters> {
        let Some(pending) = self.accumulator.pending.take() else {
            return Ok(());
        };
        let wanted = pending.min(self.accumulator.cap) > WORD;
        let at = |at: u16| Some(Place::Unit(at));
        self.ripple([at(RESLO), at(RESHI).filter(|_| wanted), None])
    }

    /// Adds words that the bound counts already.
    fn add(&mut self, parts: [Option<Source>; 3]) -> Result<(), OutOfRegisters> {
        self.ripple(parts.map(|part| part.map(Place::Source)))
    }

    fn ripple(&mut self, parts: [Option<Place>; 3]) -> Result<(), OutOfRegisters> {
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
            running = op != Op::MOV && self.accumulator.bound >> (16 * (at + 1)) != 0;
        }
        Ok(())
    }

    /// Products that count twice: added up, doubled, and what was there before added.
    fn doubled(&mut self, products: &[(Word, Word)]) -> Result<(), OutOfRegisters> {
        let (before, bound) = (self.accumulator.parts, self.accumulator.bound);
        self.accumulator.parts = [None; 3];
        self.accumulator.bound = 0;
        for (x, y) in products {
            self.product(*x, *y)?;
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
        let [part, low, high] = self.accumulator.parts;
        self.accumulator.parts = [low, high, None];
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
        self.accumulator.bound >>= 16;
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
