//! Columns of a schedule in words on RISC-V: three registers accumulate, and a carry is a word.
//!
//! `s = x + y` has the carry `s < y`. Of a product `(high, low)` the low word is added first; its carry joins the high
//! word, which is `2^32 - 2` at most and so does not overflow. A carry is made only where the largest value of the
//! accumulator, or of what is left of the sweep, reaches the next word.

use machine::isa::riscv::RiscvIsa;
use machine::isa::riscv::code::Insn;
use machine::isa::riscv::instructions::Op;

use crate::allocate::OutOfRegisters;
use crate::engine::basic::Moves;
use crate::engine::words::{self, Columns};
use crate::schedule::{Pile, Quotient, Sweep, Word, WordStep};
use crate::target::riscv::accumulator::{Accumulator, Part};
use crate::target::riscv::registers::ZERO;

/// The largest word.
const WORD: u128 = RiscvIsa::LARGEST;

/// Words on RISC-V.
pub type Lowering<'w> = words::Lowering<'w, RiscvIsa>;

/// Products from which on doubling their sum (15 instructions) is cheaper than adding each again (6).
const MANY: usize = 3;

impl Columns for RiscvIsa {
    type Accumulator = Accumulator;

    fn sweep(l: &mut Lowering<'_>, sweep: &Sweep) -> Result<(), OutOfRegisters> {
        l.sweep(sweep)
    }

    fn wide(l: &mut Lowering<'_>, [x, y]: [Word; 2], out: [Word; 2]) -> Result<(), OutOfRegisters> {
        let made = l.product(x, y, true)?;
        for (r, word) in made.into_iter().zip(out) {
            let r = l.or_zero(r)?;
            l.define(word, r);
        }
        Ok(())
    }

    fn arithmetic(l: &mut Lowering<'_>, step: &WordStep) -> Result<(), OutOfRegisters> {
        l.by_words(step)
    }
}

impl Lowering<'_> {
    /// `rd = rs1 op rs2`.
    fn op(&mut self, op: Op, d: u8, s: u8, t: u8) {
        self.insns.push(Insn::three(op, d, s, t));
    }

    /// `rd = rs1 op k`.
    fn immediate(&mut self, op: Op, d: u8, s: u8, k: i32) {
        self.insns.push(Insn::immediate(op, d, s, k));
    }

    /// A register, or a new one that holds 0.
    fn or_zero(&mut self, r: Option<u8>) -> Result<u8, OutOfRegisters> {
        match r {
            Some(r) => Ok(r),
            None => {
                let r = self.take()?;
                self.op(Op::ADD, r, ZERO, ZERO);
                Ok(r)
            }
        }
    }

    fn sweep(&mut self, sweep: &Sweep) -> Result<(), OutOfRegisters> {
        self.accumulator = Accumulator::default();
        for (i, pile) in sweep.piles.iter().enumerate() {
            // What is left of the sweep fits the columns that are left, or is dropped.
            self.accumulator.cap = match sweep.piles.len() - i {
                left @ 1..4 => (1 << (32 * left)) - 1,
                _ => u128::MAX,
            };
            self.pile(pile)?;
            self.close(pile.out)?;
            self.shift();
        }
        for part in self.accumulator.parts.into_iter().flatten() {
            self.drop_part(part);
        }
        Ok(())
    }

    /// The events of a pile in the order of the time line: addends, products, a quotient.
    fn pile(&mut self, pile: &Pile) -> Result<(), OutOfRegisters> {
        for word in &pile.addends {
            self.addend(*word)?;
        }
        self.tick();
        match pile.doubled.len() {
            0 => {}
            1..MANY => {
                for (x, y) in &pile.doubled {
                    self.multiply(*x, *y, 2)?;
                }
            }
            _ => self.doubled(&pile.doubled)?,
        }
        for (x, y) in &pile.products {
            self.multiply(*x, *y, 1)?;
        }
        match pile.quotient {
            Some(quotient) => self.quotient(quotient),
            None => Ok(()),
        }
    }

    /// `q = acc m' mod 2^32` and `acc += q m`, whose low word is 0.
    fn quotient(&mut self, Quotient { inverse, m, q }: Quotient) -> Result<(), OutOfRegisters> {
        let low = self.accumulator.parts[0].map_or(ZERO, |part| part.r);
        match self.words.known(inverse) {
            Some(known @ (1 | 0xffff_ffff)) => {
                let out = self.take()?;
                let op = if known == 1 { Op::ADD } else { Op::SUB };
                self.op(op, out, ZERO, low);
                self.used_all(&[inverse]);
                self.define(q, out);
            }
            _ => {
                let by = self.fetch(inverse)?;
                let out = self.take()?;
                self.op(Op::MUL, out, low, by);
                self.used_all(&[inverse]);
                self.define(q, out);
            }
        }
        self.tick();
        self.multiply(q, m, 1)
    }

    /// Adds a word.
    fn addend(&mut self, word: Word) -> Result<(), OutOfRegisters> {
        self.raise(self.most(word));
        let r = self.fetch(word)?;
        let own = self.bank.is_last(word);
        self.bank.used(word);
        if own {
            self.bank.seize(r);
        }
        self.pinned.retain(|p| *p != r || !own);
        let number = self.words.known(word).is_some();
        self.add_at(0, Part { r, own, number })
    }

    /// The largest number that a word may be.
    fn most(&self, word: Word) -> u128 {
        self.most[word.0]
    }

    /// Adds `x y`, once or twice.
    fn multiply(&mut self, x: Word, y: Word, times: usize) -> Result<(), OutOfRegisters> {
        let most = self.most(x) * self.most(y);
        let top = self.accumulator.cap <= WORD;
        let [low, high] = self.product(x, y, !top)?;
        let (low, high) = (low.unwrap_or(ZERO), high.filter(|_| most > WORD));
        for again in (0..times).rev() {
            self.raise(most);
            let own = again == 0;
            let part = |r| Part {
                own,
                ..Part::own(r)
            };
            let parts = [Some(low), high].map(|r| r.map(part));
            self.add_product(parts)?;
        }
        self.tick();
        Ok(())
    }

    /// `x y` in new registers, its high word only if it is `wanted`.
    fn product(
        &mut self,
        x: Word,
        y: Word,
        wanted: bool,
    ) -> Result<[Option<u8>; 2], OutOfRegisters> {
        let number = |word| {
            self.words
                .known(word)
                .filter(|n| n.is_power_of_two() && *n > 1)
        };
        let (shift, factor, other) = match (number(x), number(y)) {
            (Some(n), _) => (Some(n), y, x),
            (None, number) => (number, x, y),
        };
        let rx = self.fetch(factor)?;
        let wanted = wanted && self.most(x) * self.most(y) > WORD;
        if let Some(n) = shift {
            let count = n.trailing_zeros() as i32;
            let low = self.take()?;
            self.immediate(Op::SLLI, low, rx, count);
            self.used_all(&[factor, other]);
            let high = if wanted { Some(self.take()?) } else { None };
            if let Some(high) = high {
                self.immediate(Op::SRLI, high, rx, 32 - count);
            }
            return Ok([Some(low), high]);
        }
        let ry = self.fetch(other)?;
        let low = self.take()?;
        self.op(Op::MUL, low, rx, ry);
        self.used_all(&[factor, other]);
        let high = if wanted { Some(self.take()?) } else { None };
        if let Some(high) = high {
            self.op(Op::MULHU, high, rx, ry);
        }
        Ok([Some(low), high])
    }

    /// Adds a product that the bound counts already.
    fn add_product(&mut self, [low, high]: [Option<Part>; 2]) -> Result<(), OutOfRegisters> {
        let Some(low) = low else {
            return Ok(());
        };
        let Some(high) = high else {
            return self.add_at(0, low);
        };
        let carry = self.add_here(0, low)?;
        let high = match carry {
            None => high,
            Some(carry) => {
                let to = if high.own { high.r } else { self.take()? };
                self.op(Op::ADD, to, high.r, carry);
                self.release(carry);
                Part::own(to)
            }
        };
        self.add_at(1, high)
    }

    fn raise(&mut self, by: u128) {
        let bound = self.accumulator.bound + by;
        self.accumulator.bound = bound.min(self.accumulator.cap);
    }

    /// Adds a word of weight `2^(32 at)` that the bound counts already.
    fn add_at(&mut self, at: usize, part: Part) -> Result<(), OutOfRegisters> {
        match self.add_here(at, part)? {
            Some(carry) => self.add_at(at + 1, Part::own(carry)),
            None => Ok(()),
        }
    }

    /// The same, but for the carry that there may be.
    fn add_here(&mut self, at: usize, part: Part) -> Result<Option<u8>, OutOfRegisters> {
        let goes_on = self.accumulator.bound >> (32 * (at + 1)) != 0;
        let Some(slot) = self.accumulator.parts.get(at).copied() else {
            return Err(OutOfRegisters);
        };
        let Some(old) = slot else {
            self.accumulator.parts[at] = Some(part);
            return Ok(None);
        };
        let (old, part) = match part.number {
            true => (part, old),
            false => (old, part),
        };
        let to = match old.own {
            true => old.r,
            false if part.own && !goes_on => part.r,
            false => self.take()?,
        };
        self.op(Op::ADD, to, old.r, part.r);
        self.accumulator.parts[at] = Some(Part::own(to));
        if !goes_on {
            if to != part.r {
                self.drop_part(part);
            }
            return Ok(None);
        }
        let carry = if part.own { part.r } else { self.take()? };
        self.op(Op::SLTU, carry, to, part.r);
        Ok(Some(carry))
    }

    fn drop_part(&mut self, part: Part) {
        if part.own {
            self.release(part.r);
        }
    }

    /// The low word becomes a value.
    fn close(&mut self, out: Option<Word>) -> Result<(), OutOfRegisters> {
        let part = self.accumulator.parts[0].take();
        if let Some(out) = out {
            self.most[out.0] = self.accumulator.bound.min(WORD);
        }
        match (out, part) {
            (None, None) => {}
            (None, Some(part)) => self.drop_part(part),
            (Some(out), Some(Part { r, own: true, .. })) => self.define(out, r),
            (Some(out), part) => {
                let to = self.take()?;
                self.op(Op::ADD, to, ZERO, part.map_or(ZERO, |part| part.r));
                self.define(out, to);
            }
        }
        Ok(())
    }

    /// Moves the accumulator down by a word.
    fn shift(&mut self) {
        let [_, low, high] = self.accumulator.parts;
        self.accumulator.parts = [low, high, None];
        self.accumulator.bound >>= 32;
    }

    /// Products that count twice: added up, doubled, and what was in the accumulator added.
    fn doubled(&mut self, products: &[(Word, Word)]) -> Result<(), OutOfRegisters> {
        let before = self.accumulator;
        self.accumulator.parts = [None; 3];
        self.accumulator.bound = 0;
        for (x, y) in products {
            self.multiply(*x, *y, 1)?;
        }
        let bound = (2 * self.accumulator.bound).min(before.cap);
        let mut bit = None;
        for at in 0..3 {
            let goes_on = bound >> (32 * (at + 1)) != 0;
            let Some(Part { r, .. }) = self.accumulator.parts[at] else {
                self.accumulator.parts[at] = bit.take().map(Part::own);
                continue;
            };
            let next = if goes_on { Some(self.take()?) } else { None };
            if let Some(next) = next {
                self.immediate(Op::SRLI, next, r, 31);
            }
            self.immediate(Op::SLLI, r, r, 1);
            if let Some(bit) = bit {
                self.op(Op::OR, r, r, bit);
                self.release(bit);
            }
            bit = next;
        }
        self.accumulator.bound = bound;
        self.raise(before.bound);
        for at in (0..3).rev() {
            if let Some(part) = before.parts[at] {
                self.add_at(at, part)?;
            }
        }
        Ok(())
    }
}
