//! Chains behind two nested loops: links that are alike are a loop.

use crate::engine::asm::Asm;
use crate::engine::nest::{Home, Nest};
use crate::refusal::LowerError;
use crate::schedule::{Chain, End, Stretch, Sum, Word, WordStep};

/// Links in a pass of the loop.
const LINKS: usize = 8;

impl<A: Asm, S> Nest<'_, A, S> {
    /// The steps behind the sweep.
    ///
    /// # Errors
    /// When registers run out, or a step has no such form.
    pub fn chains(&mut self) -> Result<(), LowerError> {
        let steps = &self.scans.words.steps;
        let sweep = |step: &WordStep| matches!(step, WordStep::Sweep(_));
        let behind = steps.iter().rposition(sweep).unwrap_or(0);
        for step in &steps[behind..] {
            match step {
                WordStep::Part(text) => self.flow.note(text.clone()),
                WordStep::Chain(chain) => self.chain(chain)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn chain(&mut self, chain: &Chain) -> Result<(), LowerError> {
        if chain.carry.is_some() {
            return Err(LowerError::Scans);
        }
        let carry = self.take()?;
        self.flow.add(carry, A::ZERO, A::ZERO);
        let stretch = self.scans.stretch(chain).filter(|s| s.links > 1);
        let links = stretch.map_or(0, |s| s.links);
        if let Some(stretch) = stretch {
            self.stretch(chain.sum, stretch, carry)?;
        }
        for link in &chain.links[links..] {
            let value = |nest: &Self, word: Option<Word>| match word {
                None => Ok(A::ZERO),
                Some(word) => nest.values.get(&word).copied().ok_or(LowerError::Scans),
            };
            let [x, y] = [value(self, link.x)?, value(self, link.y)?];
            if link.mask.is_some() || link.flip.is_some() {
                return Err(LowerError::Scans);
            }
            let out = self.sum(chain.sum, x, y, carry)?;
            self.values.insert(link.out, out);
        }
        match chain.end {
            End::Drop => self.release(carry),
            End::Carry { out } => drop(self.values.insert(out, carry)),
            End::Mask { out } => {
                self.flow.sub(carry, A::ZERO, carry);
                self.values.insert(out, carry);
            }
            End::Into { .. } => return Err(LowerError::Scans),
        }
        Ok(())
    }

    /// `x ± y ± carry` in a new register; the new carry in the old one's.
    fn sum(&mut self, sum: Sum, x: u8, y: u8, carry: u8) -> Result<u8, LowerError> {
        let (part, first, out) = (self.take()?, self.take()?, self.take()?);
        match sum {
            Sum::Add => {
                self.flow.add(part, x, y);
                self.flow.less(first, part, y);
                self.flow.add(out, part, carry);
                self.flow.less(part, out, carry);
            }
            Sum::Sub => {
                self.flow.sub(part, x, y);
                self.flow.less(first, x, y);
                self.flow.sub(out, part, carry);
                self.flow.less(part, part, carry);
            }
        }
        self.flow.add(carry, first, part);
        self.release(part);
        self.release(first);
        Ok(out)
    }

    fn stretch(&mut self, sum: Sum, stretch: Stretch, carry: u8) -> Result<(), LowerError> {
        let home = |nest: &Self, place: Option<(_, usize)>| match place {
            None => Ok(None),
            Some((array, from)) => nest.home(array).map(|h: Home| {
                let at = h.place(from);
                Some(Home { at, ..h })
            }),
        };
        let [x, y, out] = [
            home(self, stretch.x)?,
            home(self, stretch.y)?,
            home(self, Some(stretch.out))?,
        ];
        let mask = match stretch.mask {
            None => None,
            Some(word) => Some(*self.values.get(&word).ok_or(LowerError::Scans)?),
        };
        let homes: Vec<Home> = [x, y, out].into_iter().flatten().collect();
        self.each_word(&homes, stretch.links, |nest, i| {
            let word = |nest: &mut Self, home: Option<Home>| match home {
                None => Ok(None),
                Some(home) => nest.load(nest.moving(home), home, i).map(Some),
            };
            let (a, b) = (word(nest, x)?, word(nest, y)?);
            if let (Some(b), Some(mask)) = (b, mask) {
                nest.flow.and(b, b, mask);
            }
            let value = nest.sum(sum, a.unwrap_or(A::ZERO), b.unwrap_or(A::ZERO), carry)?;
            if let Some(home) = out {
                nest.store(value, nest.moving(home), home, i);
            }
            for r in [a, b].into_iter().flatten().chain([value]) {
                nest.release(r);
            }
            Ok(())
        })
    }

    /// `emit` for every word of some arrays in a loop: one pointer for each base, and that of the frame is
    /// the cursor.
    pub fn each_word(
        &mut self,
        homes: &[Home],
        count: usize,
        emit: impl Fn(&mut Self, usize) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        let mut homes = homes.to_vec();
        homes.sort_by_key(|h| (h.base, h.at));
        homes.dedup_by_key(|h| h.base);
        let passes = count / LINKS;
        let mut steps = Vec::new();
        for home in homes {
            let from = self.moving(home);
            let r = if home.base == A::SP {
                self.named.cursor
            } else {
                from.r
            };
            self.point(r, from, home.at);
            steps.push((r, 4 * LINKS as i32));
        }
        let mut looped = 0;
        if passes > 1 {
            let (r, step) = steps[0];
            self.flow
                .add_number(self.named.end, r, step * passes as i32);
            self.repeat(&steps, passes, self.named.end, |nest| {
                (0..LINKS).try_for_each(|i| emit(nest, i))
            })?;
            looped = LINKS * passes;
        }
        (looped..count).try_for_each(|i| emit(self, i))
    }
}
