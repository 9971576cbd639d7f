//! Schedules in words on a machine without a carry flag: values in registers as long as it pays.
//!
//! A carry `c` is 0 or 1 in a register: `s = x + y` has the carry `s < y`, `x - y` the borrow `x < y`; then `c` is added
//! or subtracted the same way, and of the two carries at most one is 1. A mask is `0 - c`. Columns are the machine's
//! ([`Columns`]).

use crate::allocate::{Bank, OutOfRegisters, Slot, Weight};
use crate::engine::basic::{Basic, By, Three};
use crate::schedule::{Chain, End, Link, Origin, Sum, Sweep, Word, WordStep, Words};

/// How a machine adds up products.
pub trait Columns: Basic {
    /// What its accumulator holds, and what it must know of the core.
    type Accumulator;

    /// The columns of a sweep.
    ///
    /// # Errors
    /// When registers run out.
    fn sweep(l: &mut Lowering<'_, Self>, sweep: &Sweep) -> Result<(), OutOfRegisters>;

    /// `out`, the low word first, becomes the product of two words.
    ///
    /// # Errors
    /// When registers run out.
    fn wide(
        l: &mut Lowering<'_, Self>,
        factors: [Word; 2],
        out: [Word; 2],
    ) -> Result<(), OutOfRegisters>;
}

/// Choices that only a count of cycles can settle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choices {
    pub weight: Weight,
    /// Registers that loads leave free, for instructions to change places.
    pub spare: usize,
    /// Is the register that was free longest taken next, so that instructions can change places? Else the first.
    pub rotate: bool,
    /// Does the pointer of an operand hold values once all its words are in registers?
    pub reuse: bool,
    /// Are doubles, masks and signs that begin a chain shifts, and is a 0 no value? They take fewer instructions,
    /// which is not always less time: other registers are free then.
    pub shifts: bool,
}

/// The largest word.
pub const WORD: u128 = 0xffff_ffff;

/// Lowers steps to instructions, to be ordered later.
pub struct Lowering<'w, M: Columns> {
    pub words: &'w Words,
    pub insns: Vec<M::Insn>,
    pub notes: Vec<(usize, String)>,
    /// The instruction that writes each value to the given register.
    pub written: Vec<Option<(usize, u8)>>,
    pub bank: Bank,
    choices: Choices,
    /// When each register was last taken.
    taken: [usize; 32],
    /// The words of each operand.
    operands: Vec<Vec<Word>>,
    /// Operands whose pointer still points, but may hold a value.
    pointers: Vec<usize>,
    pub pinned: Vec<u8>,
    near: usize,
    /// The largest number that each value may be.
    pub most: Vec<u128>,
    /// Has a word of the result been stored?
    stored: Vec<bool>,
    /// Was there anything that [`Choices::shifts`] speaks of?
    pub shifted: bool,
    pub accumulator: M::Accumulator,
}

impl<'w, M: Columns> Lowering<'w, M> {
    /// Lowers all steps to code for `registers`.
    ///
    /// # Errors
    /// When registers run out.
    pub fn of(
        words: &'w Words,
        registers: &[u8],
        accumulator: M::Accumulator,
        choices: Choices,
    ) -> Result<Self, OutOfRegisters> {
        let points = |r: &u8| words.lengths.len() > 2 && *r == pointer::<M>(2);
        let values = registers.iter().filter(|r| !points(r));
        let sides = 0..words.lengths.len();
        let order: Vec<_> = values.map(|r| (*r, 0)).collect();
        let mut l = Self {
            words,
            insns: Vec::new(),
            notes: Vec::new(),
            written: vec![None; words.origins.len()],
            bank: Bank::new(words, &order, choices.weight),
            choices,
            taken: [0; 32],
            operands: sides.clone().map(|side| words.operand(side)).collect(),
            pointers: sides.filter(|_| choices.reuse).collect(),
            pinned: Vec::new(),
            near: 0,
            most: words.origins.iter().map(largest).collect(),
            stored: vec![false; words.result.len()],
            shifted: false,
            accumulator,
        };
        for step in &words.steps {
            l.step(step)?;
        }
        l.copies()?;
        Ok(l)
    }

    fn step(&mut self, step: &WordStep) -> Result<(), OutOfRegisters> {
        match step {
            WordStep::Part(text) => self.notes.push((self.insns.len(), text.clone())),
            WordStep::Sweep(sweep) => M::sweep(self, sweep)?,
            WordStep::Chain(chain) => self.chain(chain)?,
            WordStep::Wide { x, y, low, high } => {
                M::wide(self, [*x, *y], [*low, *high])?;
                self.tick();
            }
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
            WordStep::Return { x } => {
                let from = self.fetch(*x)?;
                self.insns.push(M::copy(M::RETURNED, from));
                self.tick();
            }
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

    /// Words of the result that no step made there: operand words, or the same value twice.
    fn copies(&mut self) -> Result<(), OutOfRegisters> {
        for (k, word) in self.words.result.iter().enumerate() {
            if self.stored[k] {
                continue;
            }
            let slot = self.bank.home(*word).ok_or(OutOfRegisters)?;
            let r = self.take()?;
            self.load(slot, r)?;
            self.store(Slot::Result(k), r)?;
            self.release(r);
        }
        Ok(())
    }

    /// The event is over.
    pub fn tick(&mut self) {
        self.pinned.clear();
        self.bank.now += 1;
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

/// Memory.
impl<M: Columns> Lowering<'_, M> {
    /// The register and the displacement of a place in memory.
    fn address(&mut self, slot: Slot) -> Result<(u8, i32), OutOfRegisters> {
        let (base, at) = match slot {
            Slot::Operand { side, index } => (pointer::<M>(side), index),
            Slot::Result(k) => {
                self.near = k;
                (M::RESULT, k)
            }
            Slot::Scratch(i) => return Ok((M::SP, M::FRAME + 4 * i as i32)),
            Slot::Constant(_) => return Err(OutOfRegisters),
        };
        Ok((base, 4 * at as i32))
    }

    fn store(&mut self, slot: Slot, r: u8) -> Result<(), OutOfRegisters> {
        let (base, at) = self.address(slot)?;
        self.insns.push(M::store(r, base, at));
        Ok(())
    }

    /// Loads a word, or makes a number.
    fn load(&mut self, slot: Slot, r: u8) -> Result<(), OutOfRegisters> {
        if let Slot::Constant(value) = slot {
            self.insns.extend(M::number(r, value as u32));
            return Ok(());
        }
        let (base, at) = self.address(slot)?;
        self.insns.push(M::load(r, base, at));
        Ok(())
    }
}

/// The largest number that a word from there may be.
fn largest(origin: &Origin) -> u128 {
    match origin {
        Origin::Constant(value) | Origin::Stored { value, .. } => u128::from(*value),
        Origin::Operand { .. } | Origin::Computed => WORD,
    }
}

/// The register that points to operand `side`.
fn pointer<M: Basic>(side: usize) -> u8 {
    M::RESULT + 1 + side as u8
}

/// `k` if the number is `2^k - 1`, `0 < k < 32`.
fn low_bits(number: u64) -> Option<i32> {
    let bits = number.trailing_ones();
    let is_mask = number == (1 << bits) - 1 && (1..32).contains(&bits);
    is_mask.then_some(bits as i32)
}

/// Registers.
impl<M: Columns> Lowering<'_, M> {
    /// A register that nothing else uses; a value may have to wait in memory for it.
    ///
    /// # Errors
    /// When registers run out.
    pub fn take(&mut self) -> Result<u8, OutOfRegisters> {
        let age = |r: &u8| match self.choices.rotate {
            true => self.taken[usize::from(*r)],
            false => 0,
        };
        let free = self.bank.free().min_by_key(age);
        let r = match free.or_else(|| self.retire()) {
            Some(r) => r,
            None => self.evict()?,
        };
        self.bank.seize(r);
        self.taken[usize::from(r)] = self.insns.len() + 1;
        Ok(r)
    }

    /// The pointer of an operand of which every word that is read again is in a register.
    fn retire(&mut self) -> Option<u8> {
        let is_done = |side: &usize| {
            let mut list = self.operands[*side].iter();
            list.all(|w| self.bank.is_dead(*w) || self.bank.place(*w).is_some())
        };
        let at = self.pointers.iter().position(is_done)?;
        let side = self.pointers.remove(at);
        for word in &self.operands[side] {
            self.bank.forget(*word);
        }
        self.bank.add(pointer::<M>(side));
        Some(pointer::<M>(side))
    }

    fn evict(&mut self) -> Result<u8, OutOfRegisters> {
        let (r, word) = self.bank.victim(&self.pinned)?;
        if self.bank.home(word).is_none() {
            let slot = self.bank.slot(word, self.near);
            self.store(slot, r)?;
            self.bank.stored(word, slot);
        }
        self.bank.release(r);
        Ok(r)
    }

    pub fn release(&mut self, r: u8) {
        if r != M::ZERO {
            self.bank.release(r);
        }
    }

    /// The register of a value, loaded if it must be; it keeps it until the event is over. A number that is 0 may need none.
    ///
    /// # Errors
    /// When registers run out.
    pub fn fetch(&mut self, word: Word) -> Result<u8, OutOfRegisters> {
        let is_zero = self.words.known(word) == Some(0);
        if self.shifts(is_zero) {
            return Ok(M::ZERO);
        }
        let r = match self.bank.place(word) {
            Some(r) => r,
            None => {
                let slot = self.bank.home(word).ok_or(OutOfRegisters)?;
                let spare = self.choices.spare;
                while spare > 0 && self.bank.free().count() <= spare && self.evict().is_ok() {}
                let r = self.take()?;
                self.load(slot, r)?;
                // An operand word is made by its first load.
                let load = self.insns.len() - 1;
                self.written[word.0].get_or_insert((load, r));
                self.bank.put(word, r);
                r
            }
        };
        self.pinned.push(r);
        Ok(r)
    }

    /// These uses, each word's only one, are over.
    pub fn used_all(&mut self, words: &[Word]) {
        for (i, word) in words.iter().enumerate() {
            if !words[..i].contains(word) {
                self.bank.used(*word);
            }
        }
    }

    /// `word` is now in register `r`: a word of the result goes to memory at once.
    pub fn define(&mut self, word: Word, r: u8) {
        let written = self.insns.iter().rposition(|insn| M::writes(insn, r));
        self.written[word.0] = written.map(|at| (at, r));
        if let Some(k) = self.bank.result(word)
            && self.store(Slot::Result(k), r).is_ok()
        {
            self.bank.stored(word, Slot::Result(k));
            self.stored[k] = true;
        }
        if self.bank.is_dead(word) {
            self.release(r);
        } else {
            self.bank.put(word, r);
        }
    }
}

/// Chains and logic.
impl<M: Columns> Lowering<'_, M> {
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

    /// Is it done as [`Choices::shifts`] says, where that `applies`?
    fn shifts(&mut self, applies: bool) -> bool {
        self.shifted |= applies;
        applies && self.choices.shifts
    }

    /// Is the word a sign that only begins a chain? Then it is made as the carry 0 or 1.
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
        let is_one =
            self.bank.is_last(word) && steps.iter().any(is_sign) && steps.iter().any(begins);
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
                let most = link.x.map_or(WORD, |word| 2 * self.most[word.0] + 1);
                self.most[link.out.0] = most.min(WORD);
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
