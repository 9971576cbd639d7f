//! Chains of a schedule in words on a machine without a carry flag.
//!
//! A carry `c` is 0 or 1 in a register: `s = x + y` has the carry `s < y`, `x - y` the borrow `x < y`; then `c` is added
//! or subtracted the same way, and of the two carries at most one is 1. A mask is `0 - c`.

use crate::allocate::OutOfRegisters;
use crate::engine::basic::{Basic, By, Three};
use crate::engine::words::{Columns, Lowering};
use crate::schedule::{Chain, End, Link, Sum, Word, WordStep};

/// Words one at a time.
impl<M: Columns + Basic> Lowering<'_, M> {
    /// A step that is no sweep.
    ///
    /// # Errors
    /// When registers run out.
    pub fn by_words(&mut self, step: &WordStep) -> Result<(), OutOfRegisters> {
        match step {
            WordStep::Part(_)
            | WordStep::Sweep(_)
            | WordStep::Wide { .. }
            | WordStep::Return { .. } => {}
            WordStep::Chain(chain) => self.chain(chain)?,
            WordStep::And { x, y, out } => self.logic(Three::And, *x, *y, *out)?,
            WordStep::Or { x, y, out } => self.logic(Three::Or, *x, *y, *out)?,
            WordStep::Xor { x, y, out } => self.logic(Three::Xor, *x, *y, *out)?,
            WordStep::Sign { x, out } => {
                let from = self.fetch(*x)?;
                self.bank.used(*x);
                let to = self.take()?;
                let op = match self.is_carry(*out) {
                    true => By::Right,
                    false => By::SignRight,
                };
                self.by(op, to, from, 31);
                self.define(*out, to);
                self.tick();
            }
            WordStep::Odd { x, out } => {
                let from = self.fetch(*x)?;
                self.bank.used(*x);
                let to = self.take()?;
                self.by(By::And, to, from, 1);
                self.three(Three::Sub, to, M::ZERO, to);
                self.define(*out, to);
                self.tick();
            }
            WordStep::Right { x, above, out } => self.right(*x, *above, *out)?,
        }
        Ok(())
    }

    /// A word moved right by a bit.
    fn right(&mut self, x: Word, above: Option<Word>, out: Word) -> Result<(), OutOfRegisters> {
        let from = self.fetch(x)?;
        let top = above.map(|above| self.fetch(above)).transpose()?;
        let to = self.take()?;
        self.by(By::Right, to, from, 1);
        if let Some(top) = top {
            let bit = self.take()?;
            self.by(By::Left, bit, top, 31);
            self.three(Three::Or, to, to, bit);
            self.release(bit);
        }
        self.bank.used(x);
        if let Some(above) = above.filter(|above| *above != x) {
            self.bank.used(above);
        }
        self.define(out, to);
        self.tick();
        Ok(())
    }

    /// `d = x op y`.
    fn three(&mut self, op: Three, d: u8, x: u8, y: u8) {
        self.insns.push(M::three(op, d, x, y));
    }

    /// `d = x op k`.
    fn by(&mut self, op: By, d: u8, x: u8, k: i32) {
        self.insns.push(M::by(op, d, x, k));
    }
}

/// `k` if the number is `2^k - 1`, `0 < k < 32`.
fn low_bits(number: u64) -> Option<i32> {
    let bits = number.trailing_ones();
    let is_mask = number == (1 << bits) - 1 && (1..32).contains(&bits);
    is_mask.then_some(bits as i32)
}

/// Chains and logic.
impl<M: Columns + Basic> Lowering<'_, M> {
    fn logic(&mut self, op: Three, x: Word, y: Word, out: Word) -> Result<(), OutOfRegisters> {
        let may = op == Three::And && self.bank.place(y).is_none();
        let mask = self.words.known(y).filter(|_| may);
        if let Some(bits) = mask.and_then(low_bits)
            && self.shifts(true)
        {
            return self.cut(x, y, bits, out);
        }
        let (rx, ry) = (self.fetch(x)?, self.fetch(y)?);
        self.used_all(&[x, y]);
        let to = self.take()?;
        self.three(op, to, rx, ry);
        self.define(out, to);
        self.tick();
        Ok(())
    }

    /// `out = x mod 2^bits`, where `y` is the mask.
    fn cut(&mut self, x: Word, y: Word, bits: i32, out: Word) -> Result<(), OutOfRegisters> {
        let from = self.fetch(x)?;
        self.used_all(&[x, y]);
        let to = self.take()?;
        if bits as u32 <= M::MASK_BITS {
            self.by(By::And, to, from, (1 << bits) - 1);
        } else {
            self.by(By::Left, to, from, 32 - bits);
            self.by(By::Right, to, to, 32 - bits);
        }
        self.define(out, to);
        self.tick();
        Ok(())
    }

    /// Is the word a sign that only begins a chain, which is made as the carry 0 or 1, or an operand that is one?
    fn is_carry(&mut self, word: Word) -> bool {
        let is_sign = |step: &WordStep| matches!(step, WordStep::Sign { out, .. } if *out == word);
        let begins = |step: &WordStep| {
            let WordStep::Chain(chain) = step else {
                return false;
            };
            let links = chain.links.iter().flat_map(Link::words);
            chain.carry == Some(word) && links.into_iter().all(|read| read != word)
        };
        let steps = &self.words.steps;
        let is_bit = steps.iter().any(is_sign) || self.words.is_operand(word);
        let is_one = self.bank.is_last(word) && is_bit && steps.iter().any(begins);
        self.shifts(is_one)
    }

    fn chain(&mut self, chain: &Chain) -> Result<(), OutOfRegisters> {
        let mut carry = None;
        if let Some(word) = chain.carry {
            let r = self.fetch(word)?;
            carry = Some(r);
            if !self.is_carry(word) {
                let c = self.take()?;
                self.three(Three::Less, c, M::ZERO, r);
                carry = Some(c);
            }
        }
        let count = chain.links.len();
        for (i, link) in chain.links.iter().enumerate() {
            let first = chain.carry.filter(|_| i == 0);
            let goes_on = i + 1 < count || chain.end != End::Drop;
            carry = self.link(chain.sum, link, first, carry, goes_on)?;
            self.tick();
        }
        let c = carry.unwrap_or(M::ZERO);
        let op = match chain.sum {
            Sum::Add => Three::Add,
            Sum::Sub => Three::Sub,
        };
        match (chain.end, carry) {
            (End::Drop, _) => self.release(c),
            (End::Carry { out }, Some(c)) => self.define(out, c),
            (End::Carry { out } | End::Mask { out }, _) => {
                let to = self.take()?;
                self.three(Three::Sub, to, M::ZERO, c);
                self.release(c);
                self.define(out, to);
            }
            (End::Into { x, out }, _) => {
                let from = self.fetch(x)?;
                self.bank.used(x);
                let to = self.take()?;
                self.three(op, to, from, c);
                self.release(c);
                self.define(out, to);
            }
        }
        self.tick();
        Ok(())
    }

    /// One word of a chain: the register of the carry that goes on. `first`: the word of the first carry, which this
    /// link is the last to need in a register.
    fn link(
        &mut self,
        sum: Sum,
        link: &Link,
        first: Option<Word>,
        carry: Option<u8>,
        goes_on: bool,
    ) -> Result<Option<u8>, OutOfRegisters> {
        let read: Vec<Word> = [first, link.x, link.flip, link.y, link.mask]
            .into_iter()
            .flatten()
            .collect();
        for word in &read {
            self.fetch(*word)?;
        }
        let register = |l: &Self, word: Option<Word>| word.and_then(|w| l.bank.place(w));
        let mut x = register(self, link.x);
        let mut y = register(self, link.y);
        let mut own = Vec::new();
        if let (Some(from), Some(mask)) = (y, register(self, link.mask)) {
            let to = self.take()?;
            self.three(Three::And, to, from, mask);
            y = Some(to);
            own.push(to);
        }
        if let (flip @ Some(f), from) = (register(self, link.flip), x) {
            x = flip;
            if let Some(from) = from {
                let to = self.take()?;
                self.three(Three::Xor, to, from, f);
                x = Some(to);
                own.push(to);
            }
        }
        let (value, out) = match x {
            Some(x) if y == Some(x) && sum == Sum::Add && self.shifts(true) => {
                let most = link.x.map_or(M::LARGEST, |word| 2 * self.most[word.0] + 1);
                self.most[link.out.0] = most.min(M::LARGEST);
                self.double(x, carry, goes_on)?
            }
            _ => self.add_words(sum, x, y, carry, goes_on)?,
        };
        for r in own.into_iter().chain(carry) {
            self.release(r);
        }
        self.used_all(&read);
        self.define(link.out, value);
        Ok(out)
    }

    /// `2 x + carry` in a new register, and if it `goes_on` the top bit of `x` in another one.
    fn double(
        &mut self,
        x: u8,
        carry: Option<u8>,
        goes_on: bool,
    ) -> Result<(u8, Option<u8>), OutOfRegisters> {
        let out = if goes_on { Some(self.take()?) } else { None };
        if let Some(out) = out {
            self.by(By::Right, out, x, 31);
        }
        let to = self.take()?;
        self.by(By::Left, to, x, 1);
        if let Some(carry) = carry {
            self.three(Three::Or, to, to, carry);
        }
        Ok((to, out))
    }

    /// `x ± y ± carry` in a new register, and if it `goes_on` the carry in another one.
    ///
    /// # Errors
    /// When registers run out.
    pub fn add_words(
        &mut self,
        sum: Sum,
        x: Option<u8>,
        y: Option<u8>,
        carry: Option<u8>,
        goes_on: bool,
    ) -> Result<(u8, Option<u8>), OutOfRegisters> {
        let mut parts = [y, carry].into_iter().flatten();
        let first = match (x, sum) {
            // 0 + y is y.
            (None, Sum::Add) => parts.next().unwrap_or(M::ZERO),
            _ => x.unwrap_or(M::ZERO),
        };
        let op = match sum {
            Sum::Add => Three::Add,
            Sum::Sub => Three::Sub,
        };
        let mut value = first;
        let mut out = None;
        for part in parts {
            let to = self.take()?;
            self.three(op, to, value, part);
            if goes_on {
                let c = self.take()?;
                match sum {
                    Sum::Add => self.three(Three::Less, c, to, part),
                    Sum::Sub => self.three(Three::Less, c, value, part),
                }
                out = match out {
                    None => Some(c),
                    Some(d) => {
                        self.three(Three::Add, d, d, c);
                        self.release(c);
                        Some(d)
                    }
                };
            }
            if value != first {
                self.release(value);
            }
            value = to;
        }
        if value == first {
            value = self.take()?;
            self.insns.push(M::copy(value, first));
        }
        Ok((value, out))
    }
}
