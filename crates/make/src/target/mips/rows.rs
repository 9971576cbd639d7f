//! A schedule in words that is nothing but rows, on a MIPS32: `(d, out) = x y + c + d` for each word.
//!
//! MADDL and MADDH take `c` and `d` from a pair of registers: `c` comes into the even one, the word carried along arrives in
//! the odd one. Without them HI and LO add up: `(HI, LO) = x y + d 1 + c 1`, which never exceeds 64 bits.

use std::collections::VecDeque;

use machine::isa::mips::MipsIsa;
use machine::isa::mips::code::Insn;
use machine::isa::mips::instructions::Op;

use crate::allocate::OutOfRegisters;
use crate::engine::words::Lowering;
use crate::schedule::{Pile, Sweep, Word, WordStep, Words};
use crate::target::mips::registers::ZERO;

/// Pairs in flight: the word `c` of a step comes while the step before runs.
const PAIRS: usize = 2;
/// $at, the successor of $zero.
const AT: u8 = ZERO + 1;

/// A row between two steps.
#[derive(Default)]
struct Row {
    /// The pair of this step, then that of the next; none without MADDL.
    pairs: VecDeque<u8>,
    /// Is the even register of the first pair 0?
    zero: bool,
    /// The register with the word carried along.
    carried: Option<u8>,
}

/// Is nothing added to what comes up from the columns below?
pub fn is_empty(pile: &Pile) -> bool {
    let products = pile.products.len() + pile.doubled.len();
    products == 0 && pile.addends.is_empty() && pile.quotient.is_none()
}

/// The steps of a row, a product each, and its last word; none if the sweep is something else.
pub fn steps(sweep: &Sweep) -> Option<(&[Pile], Option<Word>)> {
    let (last, steps) = sweep.piles.split_last()?;
    let (_, factor) = steps.first()?.products.first()?;
    let is_step = |pile: &Pile| {
        let more = !pile.doubled.is_empty() || pile.quotient.is_some();
        let one = matches!(&pile.products[..], [(_, y)] if y == factor);
        one && !more && pile.addends.len() <= 1
    };
    let is_row = is_empty(last) && steps.iter().all(is_step);
    is_row.then_some((steps, last.out))
}

/// Is a schedule nothing but rows?
pub fn are_all(words: &Words) -> bool {
    words.steps.iter().all(|step| match step {
        WordStep::Part(_) => true,
        WordStep::Sweep(sweep) => steps(sweep).is_some(),
        _ => false,
    })
}

impl Lowering<'_, MipsIsa> {
    /// The words of a row, of which `last` is the last one.
    ///
    /// # Errors
    /// When registers run out.
    pub fn row(&mut self, steps: &[Pile], last: Option<Word>) -> Result<(), OutOfRegisters> {
        let pairs = self.pairs(steps)?;
        let mut row = Row {
            zero: pairs.front() == Some(&ZERO),
            pairs,
            carried: None,
        };
        for (i, step) in steps.iter().enumerate() {
            self.tick();
            let next = steps.get(i + 1);
            match row.pairs.front().copied() {
                Some(pair) if row.zero || row.carried.is_some() || !step.addends.is_empty() => {
                    let adds = next.is_some_and(|next| !next.addends.is_empty());
                    self.in_pair(&mut row, pair, step, adds)?;
                }
                _ => self.in_accumulator(&mut row, step)?,
            }
            self.tick();
        }
        for r in row.pairs.into_iter().flat_map(|r| [r, r + 1]) {
            if row.carried != Some(r) {
                self.release(r);
            }
        }
        if let Some(r) = row.carried {
            self.give(last, r);
        }
        self.tick();
        Ok(())
    }

    /// A register becomes a word, or is free.
    fn give(&mut self, out: Option<Word>, r: u8) {
        match out {
            Some(out) => self.define(out, r),
            None => self.release(r),
        }
    }

    /// A step by MADDL and MADDH. `adds`: does the next one have a `c`?
    fn in_pair(
        &mut self,
        row: &mut Row,
        pair: u8,
        step: &Pile,
        adds: bool,
    ) -> Result<(), OutOfRegisters> {
        let (x, y) = step.products[0];
        let (a, b) = (self.fetch(x)?, self.fetch(y)?);
        match step.addends.first() {
            Some(c) => self.move_to(pair, *c)?,
            None if row.zero => {}
            None => self.op(Op::ADDU, pair, ZERO, ZERO),
        }
        if row.carried.is_none() {
            self.op(Op::ADDU, pair + 1, ZERO, ZERO);
        }
        row.zero = step.addends.is_empty() && !adds;
        if adds {
            row.pairs.rotate_left(1);
        }
        let (low, high) = (self.take()?, row.pairs[0] + 1);
        self.insns.push(Insn::row(Op::MADDL, low, a, b, pair));
        self.insns.push(Insn::row(Op::MADDH, high, a, b, pair));
        self.used_all(&[x, y]);
        row.carried = Some(high);
        self.give(step.out, low);
        Ok(())
    }

    /// Register `r`, which holds no value, gets a word; this use of it is over.
    fn move_to(&mut self, r: u8, word: Word) -> Result<(), OutOfRegisters> {
        match self.bank.place(word) {
            Some(from) => self.op(Op::ADDU, r, from, ZERO),
            None => {
                let slot = self.bank.home(word).ok_or(OutOfRegisters)?;
                self.load(slot, r)?;
                let load = self.insns.len() - 1;
                self.written[word.0].get_or_insert((load, r));
            }
        }
        self.bank.used(word);
        Ok(())
    }

    /// A step in HI and LO.
    fn in_accumulator(&mut self, row: &mut Row, step: &Pile) -> Result<(), OutOfRegisters> {
        let (x, y) = step.products[0];
        let (a, b) = (self.fetch(x)?, self.fetch(y)?);
        self.op(Op::MULTU, 0, a, b);
        if let Some(d) = row.carried {
            let one = self.one()?;
            self.op(Op::MADDU, 0, d, one);
            self.release(d);
        }
        if let Some(c) = step.addends.first() {
            let (r, one) = (self.fetch(*c)?, self.one()?);
            self.op(Op::MADDU, 0, r, one);
            self.bank.used(*c);
        }
        self.used_all(&[x, y]);
        let mut low = ZERO;
        if step.out.is_some() {
            low = self.take()?;
            self.op(Op::MFLO, low, 0, 0);
        }
        let high = match row.pairs.front() {
            Some(pair) => pair + 1,
            None => self.take()?,
        };
        self.op(Op::MFHI, high, 0, 0);
        row.carried = Some(high);
        self.give(step.out, low);
        Ok(())
    }

    /// The pairs for a row: where nothing is added, $zero and $at will do.
    fn pairs(&mut self, steps: &[Pile]) -> Result<VecDeque<u8>, OutOfRegisters> {
        let plain = steps.iter().all(|step| step.addends.is_empty());
        if !self.accumulator.paired {
            return Ok(VecDeque::new());
        }
        if plain && self.bank.is_free(AT) {
            self.bank.seize(AT);
            return Ok([ZERO].into());
        }
        let count = if plain { 1 } else { PAIRS };
        (0..count).map(|_| self.take_pair()).collect()
    }

    /// A free even register, whose successor is free too; values may have to wait in memory for it.
    fn take_pair(&mut self) -> Result<u8, OutOfRegisters> {
        loop {
            let even = |r: &u8| r.is_multiple_of(2) && self.bank.is_free(r + 1);
            let pair = self.bank.free().find(even);
            if let Some(r) = pair {
                self.bank.seize(r);
                self.bank.seize(r + 1);
                return Ok(r);
            }
            // Those beside a free one first.
            self.pinned = (0..32).filter(|r| !self.bank.is_free(r ^ 1)).collect();
            if self.evict().is_err() {
                self.pinned.clear();
                self.evict()?;
            }
        }
    }
}
