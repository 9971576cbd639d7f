//! Chains of a schedule in words on a machine with a carry flag.
//!
//! The flag is 1 behind a sum that carries, and 0 behind a difference that borrows: `c`, and `1 - b`. So `t - t` with the
//! borrow is `c - 1`: the mask `-b`. Copies, loads, stores, OR and [`Two::Clear`] leave the flag alone; where AND and XOR
//! set it, `y & mask` is `y` without the bits of `!mask`, and the flag waits in a word while a word is flipped.

use crate::allocate::{OutOfRegisters, Slot};
use crate::engine::basic::{Source, Two};
use crate::engine::words::{Columns, Lowering};
use crate::schedule::{Chain, End, Link, Sum, Word, WordStep};

/// What such a machine says of its instructions.
pub trait Flagged: Columns {
    /// Do AND and XOR leave the flag alone?
    const LOGIC_KEEPS_FLAG: bool;

    /// `d = d op source`.
    fn two(op: Two, d: u8, source: Source) -> Self::Insn;
    /// The flag becomes 1 if `x >= k`, without a sign.
    fn compare(x: u8, k: u64) -> Self::Insn;
    /// `d = d / 2`, and the bit that goes is the flag; what comes in at the top is the flag before, or unknown.
    fn halve(d: u8, through: bool) -> Self::Insn;
}

/// A word that an instruction reads: may its register be written?
#[derive(Clone, Copy)]
struct Read {
    source: Source,
    own: Option<u8>,
}

/// Words one at a time.
impl<M: Flagged> Lowering<'_, M> {
    /// A step that is no sweep.
    ///
    /// # Errors
    /// When registers run out.
    pub fn by_flag(&mut self, step: &WordStep) -> Result<(), OutOfRegisters> {
        let gone = self.gone.take();
        match *step {
            WordStep::Part(_)
            | WordStep::Sweep(_)
            | WordStep::Wide { .. }
            | WordStep::Return { .. } => return Ok(()),
            WordStep::Chain(ref chain) => return self.flag_chain(chain),
            WordStep::And { x, y, out } => self.combine(Two::And, [x, y], out)?,
            WordStep::Or { x, y, out } => self.combine(Two::Or, [x, y], out)?,
            WordStep::Xor { x, y, out } => self.combine(Two::Xor, [x, y], out)?,
            WordStep::Sign { x, out } => {
                let r = self.own(x)?;
                self.two(Two::Add, r, Source::Register(r));
                self.mask(Sum::Add, r);
                self.define(out, r);
            }
            WordStep::Odd { x, out } => {
                let r = self.own(x)?;
                self.insns.push(M::halve(r, false));
                self.mask(Sum::Add, r);
                self.define(out, r);
            }
            WordStep::Right { x, above, out } => self.move_right(x, above, out, gone)?,
        }
        self.tick();
        Ok(())
    }

    /// `d = d op source`.
    pub fn two(&mut self, op: Two, d: u8, source: Source) {
        self.insns.push(M::two(op, d, source));
    }

    /// Where a word is read: in its register, or in memory if it does not pay to load it.
    ///
    /// # Errors
    /// When it is nowhere.
    pub fn source(&mut self, word: Word) -> Result<Source, OutOfRegisters> {
        if self.bank.place(word).is_some() {
            return self.fetch(word).map(Source::Register);
        }
        match self.bank.home(word).ok_or(OutOfRegisters)? {
            Slot::Constant(value) => Ok(Source::Number(value)),
            _ if self.pays(word) || self.claimed[word.0] && self.written[word.0].is_none() => {
                self.fetch(word).map(Source::Register)
            }
            slot => {
                let (base, at) = self.address(slot)?;
                Ok(Source::Memory(base, at))
            }
        }
    }

    /// Is a word read again before all others that could make room for it?
    fn pays(&self, word: Word) -> bool {
        let Some(again) = self.bank.use_after(word) else {
            return false;
        };
        let later = |other: Word| {
            let lies = self.bank.home(other).is_some();
            lies && self.bank.next_use(other).is_none_or(|next| next > again)
        };
        let victim = || self.bank.victim(&self.pinned);
        self.bank.free().next().is_some() || victim().is_ok_and(|(_, other)| later(other))
    }

    /// A register with a word, which may be written; this use of the word is over.
    ///
    /// # Errors
    /// When registers run out.
    pub fn own(&mut self, word: Word) -> Result<u8, OutOfRegisters> {
        let source = self.source(word)?;
        if let (Source::Register(r), true) = (source, self.bank.is_last(word)) {
            self.bank.used(word);
            self.bank.seize(r);
            return Ok(r);
        }
        let to = self.take()?;
        self.two(Two::Copy, to, source);
        self.bank.used(word);
        Ok(to)
    }

    fn combine(&mut self, op: Two, [x, y]: [Word; 2], out: Word) -> Result<(), OutOfRegisters> {
        // A word that dies is written.
        let dies = |l: &Self, word: Word| l.bank.place(word).is_some() && l.bank.is_last(word);
        let [x, y] = match dies(self, y) && !dies(self, x) {
            true => [y, x],
            false => [x, y],
        };
        let other = self.source(y)?;
        let to = self.own(x)?;
        let other = if x == y { Source::Register(to) } else { other };
        self.two(op, to, other);
        if x != y {
            self.bank.used(y);
        }
        self.define(out, to);
        Ok(())
    }

    /// A word moved right by a bit, which is in the flag then, as that of the word above may be already.
    fn move_right(
        &mut self,
        x: Word,
        above: Option<Word>,
        out: Word,
        gone: Option<Word>,
    ) -> Result<(), OutOfRegisters> {
        match above {
            Some(above) if gone == Some(above) => {}
            Some(above) => {
                let source = self.source(above)?;
                let t = self.take()?;
                self.two(Two::Copy, t, source);
                self.insns.push(M::halve(t, false));
                self.release(t);
            }
            // 0 + 0 does not carry.
            None => {
                let t = self.take()?;
                self.two(Two::Copy, t, Source::Number(0));
                self.two(Two::Add, t, Source::Number(0));
                self.release(t);
            }
        }
        let to = self.own(x)?;
        if let Some(above) = above.filter(|above| *above != x) {
            self.bank.used(above);
        }
        self.insns.push(M::halve(to, true));
        self.define(out, to);
        self.gone = Some(x);
        Ok(())
    }

    /// Register `r` becomes minus the carry, or the borrow, that the flag says.
    fn mask(&mut self, sum: Sum, r: u8) {
        self.two(Two::SubBorrow, r, Source::Register(r));
        if sum == Sum::Add {
            // -c = !(c - 1).
            self.two(Two::Xor, r, Source::Number(M::LARGEST as u64));
        }
    }
}

/// Chains.
impl<M: Flagged> Lowering<'_, M> {
    fn flag_chain(&mut self, chain: &Chain) -> Result<(), OutOfRegisters> {
        let masks = self.complements(chain)?;
        if let Some(word) = chain.carry {
            let r = self.fetch(word)?;
            match chain.sum {
                Sum::Add => self.insns.push(M::compare(r, 1)),
                // 0 - r borrows unless r is 0.
                Sum::Sub => {
                    let t = self.take()?;
                    self.two(Two::Copy, t, Source::Number(0));
                    self.two(Two::Sub, t, Source::Register(r));
                    self.release(t);
                }
            }
        }
        for (i, link) in chain.links.iter().enumerate() {
            let first = chain.carry.filter(|_| i == 0);
            let running = i > 0 || chain.carry.is_some();
            self.flag_link(chain.sum, link, first, running, &masks)?;
            self.tick();
        }
        for (_, r) in masks {
            self.release(r);
        }
        self.flag_end(chain)?;
        self.tick();
        Ok(())
    }

    /// `!mask` of each mask of the chain that more than numbers are under.
    fn complements(&mut self, chain: &Chain) -> Result<Vec<(Word, u8)>, OutOfRegisters> {
        let mut list: Vec<(Word, u8)> = Vec::new();
        for link in &chain.links {
            let (Some(y), Some(mask)) = (link.y, link.mask) else {
                continue;
            };
            let plain = self.whole(y).is_some() || list.iter().any(|(word, _)| *word == mask);
            if !plain {
                let source = self.source(mask)?;
                let t = self.take()?;
                self.two(Two::Copy, t, source);
                self.two(Two::Xor, t, Source::Number(M::LARGEST as u64));
                list.push((mask, t));
            }
        }
        Ok(list)
    }

    /// Is a word known to be all ones, or 0?
    fn whole(&self, word: Word) -> Option<bool> {
        match self.words.known(word) {
            Some(0) => Some(false),
            Some(k) if u128::from(k) == M::LARGEST => Some(true),
            _ => None,
        }
    }

    /// A word whose register may be written if nothing else reads it.
    fn read(&mut self, word: Word) -> Result<Read, OutOfRegisters> {
        let source = self.source(word)?;
        let own = match source {
            Source::Register(r) if self.bank.is_last(word) => Some(r),
            _ => None,
        };
        Ok(Read { source, own })
    }

    /// `x ^ flip`, none if it is 0.
    fn flipped(&mut self, link: &Link, running: bool) -> Result<Option<Read>, OutOfRegisters> {
        let (x, flip) = match (link.x, link.flip) {
            (None, None) => return Ok(None),
            (Some(word), None) | (None, Some(word)) => return self.read(word).map(Some),
            (Some(x), Some(flip)) => (x, flip),
        };
        let (x, flip) = (self.read(x)?, self.source(flip)?);
        let to = match x.own {
            Some(r) => r,
            None => {
                let to = self.take()?;
                self.two(Two::Copy, to, x.source);
                to
            }
        };
        match running && !M::LOGIC_KEEPS_FLAG {
            true => {
                let kept = self.take()?;
                self.two(Two::Copy, kept, Source::Number(0));
                self.two(Two::AddCarry, kept, Source::Number(0));
                self.two(Two::Xor, to, flip);
                self.insns.push(M::halve(kept, false));
                self.release(kept);
            }
            false => self.two(Two::Xor, to, flip),
        }
        Ok(Some(Read {
            source: Source::Register(to),
            own: Some(to),
        }))
    }

    /// `y & mask`, none if it is 0; and a register that only it is in.
    fn masked(
        &mut self,
        link: &Link,
        masks: &[(Word, u8)],
    ) -> Result<(Option<Read>, Option<u8>), OutOfRegisters> {
        let Some(y) = link.y else {
            return Ok((None, None));
        };
        let Some(mask) = link.mask else {
            return Ok((Some(self.read(y)?), None));
        };
        match self.whole(y) {
            Some(true) => {
                let source = self.source(mask)?;
                return Ok((Some(Read { source, own: None }), None));
            }
            Some(false) => return Ok((None, None)),
            None => {}
        }
        let mut known = masks.iter().filter(|(word, _)| *word == mask);
        let (_, complement) = *known.next().ok_or(OutOfRegisters)?;
        let source = self.source(y)?;
        let to = self.take()?;
        self.two(Two::Copy, to, source);
        self.two(Two::Clear, to, Source::Register(complement));
        let read = Read {
            source: Source::Register(to),
            own: Some(to),
        };
        Ok((Some(read), Some(to)))
    }

    /// One word of a chain. `first`: the word of the first carry, whose use ends here.
    fn flag_link(
        &mut self,
        sum: Sum,
        link: &Link,
        first: Option<Word>,
        running: bool,
        masks: &[(Word, u8)],
    ) -> Result<(), OutOfRegisters> {
        let read: Vec<Word> = first.into_iter().chain(link.words()).collect();
        let x = self.flipped(link, running)?;
        let (y, only) = self.masked(link, masks)?;
        let own = |read: Option<Read>| read.and_then(|read| read.own);
        let [x, y] = match sum {
            Sum::Add if own(x).is_none() && (x.is_none() || own(y).is_some()) => [y, x],
            Sum::Add | Sum::Sub => [x, y],
        };
        let to = match own(x) {
            Some(r) => r,
            None => {
                let to = self.take()?;
                let from = x.map_or(Source::Number(0), |x| x.source);
                self.two(Two::Copy, to, from);
                to
            }
        };
        let op = match (sum, running) {
            (Sum::Add, false) => Two::Add,
            (Sum::Add, true) => Two::AddCarry,
            (Sum::Sub, false) => Two::Sub,
            (Sum::Sub, true) => Two::SubBorrow,
        };
        self.two(op, to, y.map_or(Source::Number(0), |y| y.source));
        self.used_all(&read);
        if let Some(only) = only.filter(|only| *only != to) {
            self.release(only);
        }
        self.bank.seize(to);
        self.define(link.out, to);
        Ok(())
    }

    /// What becomes of the last carry, which the flag says.
    fn flag_end(&mut self, chain: &Chain) -> Result<(), OutOfRegisters> {
        match chain.end {
            End::Drop => {}
            End::Carry { out } => {
                let r = self.take()?;
                self.two(Two::Copy, r, Source::Number(0));
                self.two(Two::AddCarry, r, Source::Number(0));
                if chain.sum == Sum::Sub {
                    self.two(Two::Xor, r, Source::Number(1));
                }
                self.define(out, r);
            }
            End::Mask { out } => {
                let r = self.take()?;
                self.mask(chain.sum, r);
                self.define(out, r);
            }
            End::Into { x, out } => {
                let to = self.own(x)?;
                let op = match chain.sum {
                    Sum::Add => Two::AddCarry,
                    Sum::Sub => Two::SubBorrow,
                };
                self.two(op, to, Source::Number(0));
                self.define(out, to);
            }
        }
        Ok(())
    }
}
