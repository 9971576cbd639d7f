//! Columns of a schedule in words on a MIPS32: HI and LO accumulate.
//!
//! Words are added as their product with 1, and first: what a column starts with is so
//! small that they cannot leave 64 bits. Without guard bits the rest of a column waits in two
//! registers until the next product. Products that count twice are M2ADDU, or added twice; many
//! of them are added up first and doubled together.

use machine::isa::mips::MipsIsa;
use machine::isa::mips::code::Insn;
use machine::isa::mips::cores::Features;
use machine::isa::mips::instructions::{Feature, Op};

use crate::allocate::OutOfRegisters;
use crate::engine::basic::Moves;
use crate::engine::words::{self, Columns};
use crate::schedule::{Pile, Quotient, Sum, Sweep, Word, WordStep};
use crate::target::mips::accumulator::Accumulator;
use crate::target::mips::registers::ZERO;
use crate::target::mips::rows;

/// The largest word.
const WORD: u128 = MipsIsa::LARGEST;

/// Words on a MIPS32.
pub type Lowering<'w> = words::Lowering<'w, MipsIsa>;

/// The largest product of two words.
const PRODUCT: u128 = WORD * WORD;
/// Bits of HI and LO with the guard bits.
const WIDE_BITS: u32 = 64 + machine::isa::mips::machine::GUARD_BITS;
/// Products from which on doubling their sum (17 instructions) is cheaper than adding each again (4).
const MANY: usize = 5;

/// Can the accumulator ever need more than `bits` bits?
fn exceeds(sweep: &Sweep, bits: u32) -> bool {
    let mut bound = 0u128;
    sweep.piles.iter().any(|pile| {
        let quotient = usize::from(pile.quotient.is_some());
        let products = (pile.products.len() + 2 * pile.doubled.len() + quotient) as u128;
        let all = bound + products * PRODUCT + pile.addends.len() as u128 * WORD;
        bound = all >> 32;
        all >> bits != 0
    })
}

/// Do the guard bits hold what the columns of `sweep` carry?
pub fn is_wide(sweep: &Sweep, features: Features) -> bool {
    features.has(Feature::WideAcc) && !exceeds(sweep, WIDE_BITS)
}

impl Columns for MipsIsa {
    type Accumulator = Accumulator;

    fn sweep(l: &mut Lowering<'_>, sweep: &Sweep) -> Result<(), OutOfRegisters> {
        let wide = l.accumulator.features.has(Feature::WideAcc) && !l.accumulator.paired;
        match rows::steps(sweep).filter(|_| !wide && rows::are_all(l.words)) {
            Some((steps, last)) => l.row(steps, last),
            None => l.sweep(sweep),
        }
    }

    fn wide(
        l: &mut Lowering<'_>,
        [x, y]: [Word; 2],
        [low, high]: [Word; 2],
    ) -> Result<(), OutOfRegisters> {
        let (rx, ry) = (l.fetch(x)?, l.fetch(y)?);
        l.op(Op::MULTU, 0, rx, ry);
        l.used_all(&[x, y]);
        for (op, word) in [(Op::MFLO, low), (Op::MFHI, high)] {
            let r = l.take()?;
            l.op(op, r, 0, 0);
            l.define(word, r);
        }
        Ok(())
    }

    fn arithmetic(l: &mut Lowering<'_>, step: &WordStep) -> Result<(), OutOfRegisters> {
        l.by_words(step)
    }
}

impl Lowering<'_> {
    /// `rd = rs op rt`.
    pub(super) fn op(&mut self, op: Op, d: u8, s: u8, t: u8) {
        self.insns.push(Insn::three(op, d, s, t));
    }

    /// The register that holds 1.
    pub(super) fn one(&mut self) -> Result<u8, OutOfRegisters> {
        if let Some((_, r)) = self.accumulator.one {
            return Ok(r);
        }
        let r = self.take()?;
        self.accumulator.one = Some((self.insns.len(), r));
        self.insns.push(Insn::immediate(Op::ADDIU, r, ZERO, 1));
        Ok(r)
    }

    fn sweep(&mut self, sweep: &Sweep) -> Result<(), OutOfRegisters> {
        let wide = is_wide(sweep, self.accumulator.features);
        self.accumulator.wide = wide;
        let mut piles = sweep.piles.iter().peekable();
        while let Some(pile) = piles.next() {
            // What is left of the sweep fits the columns that are left, or is dropped.
            let left = piles.len() + 1;
            self.accumulator.cap = match left {
                1..4 => (1 << (32 * left)) - 1,
                _ => u128::MAX,
            };
            self.tick();
            if rows::is_empty(pile) && self.accumulator.parked.is_some() {
                self.close_parked(pile.out);
                continue;
            }
            self.pile(pile)?;
            match piles.next_if(|last| left == 2 && rows::is_empty(last)) {
                Some(last) => {
                    self.close(Op::MFLO, pile.out)?;
                    self.close(Op::MFHI, last.out)?;
                    self.tick();
                }
                None => {
                    self.close(Op::MFLO, pile.out)?;
                    self.shift(left)?;
                }
            }
        }
        self.forget();
        Ok(())
    }

    fn pile(&mut self, pile: &Pile) -> Result<(), OutOfRegisters> {
        if self.choices.early && pile.doubled.len() < MANY {
            self.unpark();
        }
        if self.accumulator.wide || pile.doubled.len() < MANY {
            for (x, y) in &pile.doubled {
                self.twice(*x, *y)?;
            }
        } else {
            self.doubled(&pile.doubled)?;
        }
        // An empty accumulator is set by a product.
        let empty = self.accumulator.bound == 0;
        let first = pile.products.len().min(usize::from(empty));
        let (before, after) = pile.products.split_at(first);
        self.products(before)?;
        for word in &pile.addends {
            self.addend(*word)?;
        }
        self.products(after)?;
        match pile.quotient {
            Some(quotient) => self.quotient(quotient),
            None => Ok(()),
        }
    }

    /// `q = acc m' mod 2^32` and `acc += q m`, whose low word is 0. Without a MUL that keeps HI and LO,
    /// these wait in registers meanwhile.
    fn quotient(&mut self, quotient: Quotient) -> Result<(), OutOfRegisters> {
        let Quotient { inverse, m, q } = quotient;
        let by = self.fetch(inverse)?;
        let out = self.take()?;
        if self.accumulator.wide {
            self.op(Op::MFLO, out, 0, 0);
            self.op(Op::MUL, out, out, by);
        } else {
            if self.accumulator.parked.is_none() {
                let low = self.take()?;
                self.op(Op::MFLO, low, 0, 0);
                let high = self.high()?;
                self.accumulator.high = None;
                self.accumulator.parked = Some((low, high));
            }
            let (low, _) = self.accumulator.parked.unwrap_or((ZERO, ZERO));
            self.op(Op::MULTU, 0, low, by);
            self.op(Op::MFLO, out, 0, 0);
        }
        self.define(q, out);
        self.used_all(&[inverse]);
        self.tick();
        self.products(&[(q, m)])
    }

    fn products(&mut self, products: &[(Word, Word)]) -> Result<(), OutOfRegisters> {
        for (x, y) in products {
            let (rx, ry) = (self.fetch(*x)?, self.fetch(*y)?);
            self.accumulate(rx, ry, PRODUCT)?;
            self.used_all(&[*x, *y]);
            self.tick();
        }
        Ok(())
    }

    fn addend(&mut self, word: Word) -> Result<(), OutOfRegisters> {
        let r = self.fetch(word)?;
        if self.accumulator.bound == 0 {
            self.op(Op::MTLO, 0, r, 0);
            self.op(Op::MTHI, 0, ZERO, 0);
            self.accumulator.bound = WORD;
        } else {
            let one = self.one()?;
            self.accumulate(r, one, WORD)?;
        }
        self.bank.used(word);
        self.pinned.clear();
        Ok(())
    }

    /// A product that counts twice.
    fn twice(&mut self, x: Word, y: Word) -> Result<(), OutOfRegisters> {
        let (rx, ry) = (self.fetch(x)?, self.fetch(y)?);
        if self.accumulator.wide && self.accumulator.bound > 0 {
            self.op(Op::M2ADDU, 0, rx, ry);
            self.raise(2 * PRODUCT);
        } else {
            self.accumulate(rx, ry, PRODUCT)?;
            self.accumulate(rx, ry, PRODUCT)?;
        }
        self.used_all(&[x, y]);
        self.tick();
        Ok(())
    }

    fn raise(&mut self, by: u128) {
        let bound = self.accumulator.bound + by;
        self.accumulator.bound = bound.min(self.accumulator.cap);
    }

    /// Adds the product of two registers, at most `most`.
    fn accumulate(&mut self, a: u8, b: u8, most: u128) -> Result<(), OutOfRegisters> {
        self.unpark();
        let empty = self.accumulator.bound == 0;
        self.raise(most);
        if empty {
            self.op(Op::MULTU, 0, a, b);
            return Ok(());
        }
        if self.accumulator.wide || self.accumulator.bound >> 64 == 0 {
            self.op(Op::MADDU, 0, a, b);
            self.drop_high();
            return Ok(());
        }
        let before = self.high()?;
        self.op(Op::MADDU, 0, a, b);
        let after = self.take()?;
        self.op(Op::MFHI, after, 0, 0);
        self.carry(after, before)?;
        self.release(before);
        self.accumulator.high = Some(after);
        Ok(())
    }

    /// Counts the carry of a sum that is smaller than `before` if there is one.
    fn carry(&mut self, sum: u8, before: u8) -> Result<(), OutOfRegisters> {
        let carry = self.take()?;
        self.op(Op::SLTU, carry, sum, before);
        match self.accumulator.count {
            None => self.accumulator.count = Some(carry),
            Some(count) => {
                self.op(Op::ADDU, count, count, carry);
                self.release(carry);
            }
        }
        Ok(())
    }

    /// The register with a copy of HI.
    fn high(&mut self) -> Result<u8, OutOfRegisters> {
        match self.accumulator.high {
            Some(r) => Ok(r),
            None => {
                let r = self.take()?;
                self.op(Op::MFHI, r, 0, 0);
                self.accumulator.high = Some(r);
                Ok(r)
            }
        }
    }

    fn drop_high(&mut self) {
        if let Some(r) = self.accumulator.high.take() {
            self.release(r);
        }
    }

    fn forget(&mut self) {
        self.drop_high();
        let parked = self.accumulator.parked.take();
        let parked = parked.into_iter().flat_map(|(low, high)| [low, high]);
        for r in parked.chain(self.accumulator.count.take()) {
            self.release(r);
        }
        self.accumulator.bound = 0;
    }

    /// LO or HI becomes a word.
    fn close(&mut self, half: Op, out: Option<Word>) -> Result<(), OutOfRegisters> {
        let Some(out) = out else {
            return Ok(());
        };
        let r = self.take()?;
        if self.accumulator.bound == 0 {
            self.op(Op::ADDU, r, ZERO, ZERO);
        } else {
            self.op(half, r, 0, 0);
        }
        self.define(out, r);
        Ok(())
    }

    /// The low word becomes a word where nothing was added to it.
    fn close_parked(&mut self, out: Option<Word>) {
        if let Some((low, high)) = self.accumulator.parked.take() {
            match out {
                Some(out) => self.define(out, low),
                None => self.release(low),
            }
            self.accumulator.bound >>= 32;
            match self.accumulator.bound {
                0 => self.release(high),
                _ => self.accumulator.parked = Some((high, ZERO)),
            }
        }
    }

    /// Shifts the low word away.
    fn shift(&mut self, left: usize) -> Result<(), OutOfRegisters> {
        self.accumulator.bound >>= 32;
        if self.accumulator.bound == 0 || left == 1 {
            self.forget();
        } else if self.accumulator.wide {
            self.op(Op::SHA, 0, 0, 0);
        } else {
            let low = self.high()?;
            self.accumulator.high = None;
            let high = self.accumulator.count.take().unwrap_or(ZERO);
            self.accumulator.parked = Some((low, high));
        }
        Ok(())
    }

    /// Brings the accumulator back to HI and LO.
    fn unpark(&mut self) {
        if let Some((low, high)) = self.accumulator.parked.take() {
            self.op(Op::MTLO, 0, low, 0);
            self.op(Op::MTHI, 0, high, 0);
            self.release(low);
            self.accumulator.high = Some(high);
        }
    }

    /// Products that count twice: added up, doubled, and what was in the accumulator added.
    fn doubled(&mut self, products: &[(Word, Word)]) -> Result<(), OutOfRegisters> {
        let parked = match self.accumulator.bound {
            0 => None,
            _ => self.accumulator.parked.take(),
        };
        let rest = std::mem::take(&mut self.accumulator.bound);
        self.products(products)?;
        let high = self.high()?;
        self.accumulator.high = None;
        let low = self.take()?;
        self.op(Op::MFLO, low, 0, 0);
        let bound = self.accumulator.bound;
        let mut value = [low, high, self.accumulator.count.take().unwrap_or(ZERO)];
        self.accumulator.bound = (2 * bound).min(self.accumulator.cap);
        value = self.sum(value, value)?;
        if let Some((low, high)) = parked {
            self.raise(rest);
            value = self.sum(value, [low, high, ZERO])?;
        }
        self.accumulator.parked = Some((value[0], value[1]));
        self.unpark();
        self.accumulator.count = Some(value[2]).filter(|r| *r != ZERO);
        Ok(())
    }

    /// `x + y` of three words each, lowest first, whose registers are free then.
    fn sum(&mut self, x: [u8; 3], y: [u8; 3]) -> Result<[u8; 3], OutOfRegisters> {
        let mut out = [ZERO; 3];
        let mut carry = None;
        for i in 0..3 {
            if self.accumulator.bound >> (32 * i) == 0 {
                break;
            }
            let goes_on = self.accumulator.bound >> (32 * (i + 1)) != 0;
            let part = |r: u8| Some(r).filter(|r| *r != ZERO);
            let (value, next) = self.add_words(Sum::Add, part(x[i]), part(y[i]), carry, goes_on)?;
            for r in carry.into_iter().chain([x[i], y[i]]) {
                self.release(r);
            }
            (out[i], carry) = (value, next);
        }
        Ok(out)
    }
}
