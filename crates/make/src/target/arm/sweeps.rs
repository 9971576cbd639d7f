//! Columns of a schedule in words on an ARM: bounds decide how far a carry goes.
//!
//! A product that cannot make the accumulator reach `2^64` is added by UMLAL, others by UMULL
//! and a chain of additions (see [`crate::target::arm::plan`]). Words are added after the products: the
//! carry of the last one stays in the flag and joins the first addition of the next column.

use machine::isa::arm::code::Insn;
use machine::isa::arm::instructions::{Op, Ops};

use crate::allocate::{OutOfRegisters, Slot};
use crate::schedule::{Pile, Quotient, Sweep, Word};
use crate::target::arm::words::Lowering;

const WORD: u128 = 0xffff_ffff;
/// The largest product of two words.
const PRODUCT: u128 = WORD * WORD;

/// Words that hold every value up to `bound`.
fn words(bound: u128) -> usize {
    (128 - bound.leading_zeros() as usize).div_ceil(32)
}

/// How an addition may treat its last carry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Carry {
    /// It is added.
    Now,
    /// It may stay in the flag until the next column begins.
    Later,
    /// It may make a top word that is 1 too small: the next product mends that.
    LessOne,
}

impl Lowering<'_> {
    pub(super) fn sweep(&mut self, sweep: &Sweep) -> Result<(), OutOfRegisters> {
        for (i, pile) in sweep.piles.iter().enumerate() {
            // What is left of the sweep fits the columns that are left, or is dropped.
            let left = sweep.piles.len() - i;
            let cap = match left {
                1..4 => (1 << (32 * left)) - 1,
                _ => u128::MAX >> 1,
            };
            let next = sweep.piles.get(i + 1);
            let later = next.is_some_and(|next| next.doubled.is_empty()) && pile.quotient.is_none();
            self.tick();
            self.pile(pile, cap, later)?;
            if let Some(quotient) = pile.quotient {
                self.quotient(quotient, cap)?;
            }
            self.close(pile.out)?;
            self.bound >>= 32;
        }
        for r in std::mem::take(&mut self.accumulator) {
            self.bank.release(r);
        }
        (self.bound, self.flag) = (0, false);
        Ok(())
    }

    /// `later`: may the last carry stay in the flag?
    fn pile(&mut self, pile: &Pile, cap: u128, later: bool) -> Result<(), OutOfRegisters> {
        if !pile.doubled.is_empty() {
            self.doubled(&pile.doubled, cap)?;
        }
        self.products(&pile.products, cap)?;
        for (j, word) in pile.addends.iter().enumerate() {
            let last = j + 1 == pile.addends.len();
            let carry = if last && later {
                Carry::Later
            } else {
                Carry::Now
            };
            self.addend(*word, cap, carry)?;
        }
        if pile.products.is_empty() && pile.addends.is_empty() {
            self.add(&[], 0, cap, Carry::Now)?;
        }
        Ok(())
    }

    /// `q = acc m' mod 2^32` and `acc += q m`, whose lowest word is 0.
    fn quotient(&mut self, quotient: Quotient, cap: u128) -> Result<(), OutOfRegisters> {
        let Quotient { inverse, m, q } = quotient;
        // The flag may hold a carry of the column before, if nothing was added in this one.
        self.add(&[], 0, cap, Carry::Now)?;
        let low = *self.accumulator.front().ok_or(OutOfRegisters)?;
        let unit = self.bank.home(m) == Some(Slot::Constant(1));
        let r = match unit {
            // m' = -1
            true => {
                let r = self.take(self.top())?;
                self.emit(Insn::imm(Op::RSB, false, r, low, 0));
                r
            }
            false => {
                let by = self.fetch(inverse)?;
                let r = self.take(self.top())?;
                let ops = Ops {
                    d: r,
                    m: low,
                    r: by,
                    ..Ops::default()
                };
                self.emit(Insn { op: Op::MUL, ops });
                r
            }
        };
        self.define(q, r);
        self.used(inverse);
        self.tick();
        match unit {
            true => {
                let r = self.fetch(q)?;
                self.add(&[r], WORD, cap, Carry::Now)?;
                self.used(q);
                self.used(m);
            }
            false => self.product(q, m, cap, Carry::Now)?,
        }
        self.tick();
        Ok(())
    }

    /// The lowest word of the accumulator becomes the word of its column.
    fn close(&mut self, out: Option<Word>) -> Result<(), OutOfRegisters> {
        let low = match self.accumulator.pop_front() {
            Some(r) => r,
            None => {
                let r = self.take(self.top())?;
                self.emit(Insn::imm(Op::MOV, false, r, 0, 0));
                r
            }
        };
        match out {
            Some(out) => self.define(out, low),
            None => self.bank.release(low),
        }
        Ok(())
    }

    /// A register above the accumulator's, so that results can be stored together.
    fn above(&mut self) -> Result<u8, OutOfRegisters> {
        let top = self.accumulator.back().copied().unwrap_or(self.top());
        self.take(top)
    }

    /// Adds words of weight 1, 2^32, ...: together at most `by`. Parts where the accumulator has
    /// no word yet become its words.
    fn add(
        &mut self,
        parts: &[u8],
        by: u128,
        cap: u128,
        carry: Carry,
    ) -> Result<(), OutOfRegisters> {
        self.bound = (self.bound + by).min(cap);
        let need = words(self.bound);
        let mut running = std::mem::take(&mut self.flag);
        let mut i = 0;
        while i < need && (i < parts.len() || running) {
            let on = i + 1 < need;
            let less_one = self.less_one && i + 1 == self.accumulator.len();
            match (self.accumulator.get(i).copied(), parts.get(i).copied()) {
                (Some(a), Some(part)) => {
                    let op = if running { Op::ADC } else { Op::ADD };
                    self.emit(Insn::reg(op, on, a, a, part));
                    running = on;
                }
                (Some(a), None) => {
                    self.emit(Insn::imm(Op::ADC, on, a, a, u8::from(less_one)));
                    self.less_one &= !less_one;
                    running = on;
                }
                (None, Some(part)) => {
                    if running {
                        self.emit(Insn::imm(Op::ADC, on, part, part, 0));
                        running = on;
                    }
                    self.accumulator.push_back(part);
                }
                (None, None) => {
                    let top = self.above()?;
                    if carry == Carry::LessOne && !on {
                        self.emit(Insn::reg(Op::SBC, false, top, top, top));
                        self.less_one = true;
                    } else {
                        self.emit(Insn::imm(Op::MOV, false, top, 0, 0));
                        self.emit(Insn::imm(Op::ADC, on, top, top, 0));
                    }
                    self.accumulator.push_back(top);
                    running = on;
                }
            }
            i += 1;
            if carry == Carry::Later && running {
                self.flag = true;
                return Ok(());
            }
        }
        Ok(())
    }

    fn addend(&mut self, word: Word, cap: u128, carry: Carry) -> Result<(), OutOfRegisters> {
        if self.accumulator.is_empty() {
            let r = self.consume(word)?;
            self.pinned.clear();
            self.accumulator.push_back(r);
            return self.add(&[], WORD, cap, carry);
        }
        let r = self.fetch(word)?;
        self.add(&[r], WORD, cap, carry)?;
        self.used(word);
        self.pinned.clear();
        Ok(())
    }

    fn products(&mut self, products: &[(Word, Word)], cap: u128) -> Result<(), OutOfRegisters> {
        for (j, (x, y)) in products.iter().enumerate() {
            let last = j + 1 == products.len();
            let carry = if last { Carry::Now } else { Carry::LessOne };
            self.product(*x, *y, cap, carry)?;
            self.tick();
        }
        Ok(())
    }

    /// Products that count twice: on an accumulator of their own, to which the other one is added.
    fn doubled(&mut self, products: &[(Word, Word)], cap: u128) -> Result<(), OutOfRegisters> {
        self.add(&[], 0, cap, Carry::Now)?;
        let before: Vec<u8> = std::mem::take(&mut self.accumulator).into();
        let rest = std::mem::take(&mut self.bound);
        self.products(products, cap)?;
        let own: Vec<u8> = self.accumulator.iter().copied().collect();
        self.add(&own, self.bound, cap, Carry::Now)?;
        self.add(&before, rest, cap, Carry::Now)?;
        for r in before {
            if !self.accumulator.contains(&r) {
                self.bank.release(r);
            }
        }
        Ok(())
    }

    /// The registers of two factors: Rm, that of the one used again first, unless the other one is steady; and Rs. This use
    /// of them is over; Rs may be overwritten by the product.
    fn factors(&mut self, x: Word, y: Word) -> Result<[u8; 2], OutOfRegisters> {
        self.reserve = 5usize.saturating_sub(self.accumulator.len()).max(2);
        let (rx, ry) = (self.fetch(x)?, self.fetch(y)?);
        self.used(x);
        if x != y {
            self.used(y);
        }
        let next = |l: &Self, word| l.bank.next_use(word).unwrap_or(usize::MAX);
        let [m, s] = match (self.steady[x.0], self.steady[y.0]) {
            (true, false) => [ry, rx],
            (false, true) => [rx, ry],
            (true, true) | (false, false) => match next(self, x) <= next(self, y) {
                true => [rx, ry],
                false => [ry, rx],
            },
        };
        if self.is_held(m) {
            // Else it might be stored, and free, when a register for the product is taken.
            self.flush();
        }
        self.pinned = vec![m];
        Ok([m, s])
    }

    /// `lo, hi = x * y` in new registers, one of which may have been that of a factor.
    pub(super) fn multiply(&mut self, x: Word, y: Word) -> Result<[u8; 2], OutOfRegisters> {
        let [m, s] = self.factors(x, y)?;
        let above = match self.accumulator.is_empty() {
            true => self.top(),
            false => 0,
        };
        let [lo, hi] = self.beside(m, |l| {
            let lo = l.take(above)?;
            Ok([lo, l.take(lo)?])
        })?;
        self.emit(Insn::long(Op::UMULL, lo, hi, m, s));
        Ok([lo, hi])
    }

    /// UMLAL into the lowest two words.
    fn accumulate(&mut self, x: Word, y: Word, bound: u128) -> Result<(), OutOfRegisters> {
        self.fetch(x)?;
        self.fetch(y)?;
        if self.accumulator.len() == 1 {
            let top = self.above()?;
            self.emit(Insn::imm(Op::MOV, false, top, 0, 0));
            self.accumulator.push_back(top);
        }
        let [m, s] = self.factors(x, y)?;
        let (lo, hi) = (self.accumulator[0], self.accumulator[1]);
        self.emit(Insn::long(Op::UMLAL, lo, hi, m, s));
        self.bound = bound;
        Ok(())
    }

    /// The low word of a product, where no more is wanted.
    fn low_product(&mut self, x: Word, y: Word, bound: u128) -> Result<(), OutOfRegisters> {
        let [m, s] = self.factors(x, y)?;
        let mut ops = Ops {
            m,
            r: s,
            ..Ops::default()
        };
        let op = match self.accumulator.front().copied() {
            Some(a) => {
                (ops.d, ops.n) = (a, a);
                Op::MLA
            }
            None => {
                ops.d = self.beside(m, |l| l.take(l.top()))?;
                self.accumulator.push_back(ops.d);
                Op::MUL
            }
        };
        self.emit(Insn { op, ops });
        self.bound = bound;
        Ok(())
    }

    /// What `take` takes, but not `m`, which may be free by now.
    fn beside<T>(
        &mut self,
        m: u8,
        take: impl FnOnce(&mut Self) -> Result<T, OutOfRegisters>,
    ) -> Result<T, OutOfRegisters> {
        let free = self.bank.is_free(m);
        if free {
            self.bank.seize(m);
        }
        let taken = take(self);
        if free {
            self.bank.release(m);
        }
        taken
    }

    /// Multiplies and accumulates.
    fn product(&mut self, x: Word, y: Word, cap: u128, carry: Carry) -> Result<(), OutOfRegisters> {
        let bound = (self.bound + PRODUCT).min(cap);
        let length = self.accumulator.len();
        if words(cap) == 1 && !self.flag {
            return self.low_product(x, y, bound);
        }
        if words(bound) <= 2 && matches!(length, 1 | 2) && !self.flag {
            return self.accumulate(x, y, bound);
        }
        let parts = self.multiply(x, y)?;
        self.add(&parts, PRODUCT, cap, carry)?;
        for r in parts {
            if !self.accumulator.contains(&r) {
                self.bank.release(r);
            }
        }
        Ok(())
    }
}
