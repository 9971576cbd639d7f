//! Chains behind two nested loops on an ARM: links that are alike are a loop, their carry in the flag.
//!
//! TEQ with 0 ends it: it leaves the carry alone.

use machine::isa::arm::code::Insn;
use machine::isa::arm::instructions::Op;

use crate::refusal::LowerError;
use crate::schedule::{Array, Chain, End, Stretch, Sum, Word, WordStep};
use crate::target::arm::nest::{Moves, Nest};
use crate::target::homes::Home;

/// The most links in a pass of the loop.
const LINKS: usize = 4;

impl Nest<'_> {
    /// The steps behind the sweep.
    ///
    /// # Errors
    /// When registers run out, or a step has no such form.
    pub(super) fn chains(&mut self) -> Result<(), LowerError> {
        let steps = &self.scans.words.steps;
        let sweep = |step: &WordStep| matches!(step, WordStep::Sweep(_));
        let behind = steps.iter().rposition(sweep).unwrap_or(0);
        if !steps[behind..]
            .iter()
            .any(|s| matches!(s, WordStep::Chain(_)))
        {
            return Ok(());
        }
        let named = &self.named;
        let lists = [
            &named.x[..],
            &named.y,
            &[named.j, named.k, named.stop, named.spare],
        ];
        let others = named
            .sum
            .iter()
            .chain(&named.t)
            .chain(named.carried.iter().flatten());
        let kept: Vec<u8> = self.values.values().copied().collect();
        let mut free = lists.concat();
        free.extend(others.filter(|r| !kept.contains(r)));
        free.extend(self.put_all_away());
        for step in &steps[behind..] {
            match step {
                WordStep::Part(text) => self.flow.note(text),
                WordStep::Chain(chain) => self.chain(chain, &mut free)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn chain(&mut self, chain: &Chain, free: &mut Vec<u8>) -> Result<(), LowerError> {
        if chain.carry.is_some() {
            return Err(LowerError::Scans);
        }
        let op = match chain.sum {
            Sum::Add => Op::ADC,
            Sum::Sub => Op::SBC,
        };
        let r = free.pop().ok_or(LowerError::Registers)?;
        self.flow.no_carry(op, r);
        let stretch = self.scans.stretch(chain).filter(|s| s.links > 1);
        let links = stretch.map_or(0, |s| s.links);
        if let Some(stretch) = stretch {
            self.stretch(op, stretch, free)?;
        }
        for link in &chain.links[links..] {
            let value = |word: Word| self.values.get(&word).copied().ok_or(LowerError::Scans);
            if link.mask.is_some() || link.flip.is_some() {
                return Err(LowerError::Scans);
            }
            let x = link.x.map(value).transpose()?;
            let y = link.y.map(value).transpose()?;
            let out = free.pop().ok_or(LowerError::Registers)?;
            if x.is_none() {
                self.flow.imm(Op::MOV, false, out, 0, 0);
            }
            self.link(op, out, x.unwrap_or(out), y);
            self.values.insert(link.out, out);
        }
        match chain.end {
            End::Drop => free.push(r),
            End::Mask { out } => {
                // The flag is the inverse of a borrow.
                self.flow.reg(Op::SBC, false, r, r, r);
                if op == Op::ADC {
                    self.flow.reg(Op::MVN, false, r, 0, r);
                }
                self.values.insert(out, r);
            }
            End::Carry { out } if op == Op::ADC => {
                self.flow.imm(Op::MOV, false, r, 0, 0);
                self.flow.imm(Op::ADC, false, r, r, 0);
                self.values.insert(out, r);
            }
            End::Carry { .. } | End::Into { .. } => return Err(LowerError::Scans),
        }
        Ok(())
    }

    /// `out = x ± y ± carry`.
    fn link(&mut self, op: Op, out: u8, x: u8, y: Option<u8>) {
        match y {
            Some(y) => self.flow.reg(op, true, out, x, y),
            None => self.flow.imm(op, true, out, x, 0),
        }
    }

    fn stretch(&mut self, op: Op, stretch: Stretch, free: &[u8]) -> Result<(), LowerError> {
        let home = |place: (Array, usize)| {
            let home = self.home(place.0)?;
            Ok((home, place.1))
        };
        let x = stretch.x.map(home).transpose()?;
        let y = stretch.y.map(home).transpose()?;
        let out = home(stretch.out)?;
        let mask = match stretch.mask {
            None => None,
            Some(word) => Some(*self.values.get(&word).ok_or(LowerError::Scans)?),
        };
        let mut pool = free.to_vec();
        pool.sort_unstable();
        let mut take = || pool.pop().ok_or(LowerError::Registers);
        let [from_x, from_y, to, left] = [take()?, take()?, take()?, take()?];
        let count = LINKS.min(pool.len() / 2);
        if count == 0 {
            return Err(LowerError::Registers);
        }
        let (xs, ys) = pool.split_at(pool.len() / 2);
        let place = |(home, index): (Home, usize)| self.place(home, index, Moves::Not);
        let (from, into) = (y.map(place), place(out));
        let first = x.map(place);
        if let Some(first) = first {
            self.point(from_x, first);
        }
        if let Some(from) = from {
            self.point(from_y, from);
        }
        self.point(to, into);
        let pass = |nest: &mut Self, count: usize| {
            match first {
                Some(_) => nest.flow.walk(Op::LDR, from_x, &xs[..count]),
                None => (xs[..count].iter()).for_each(|x| nest.flow.imm(Op::MOV, false, *x, 0, 0)),
            }
            if from.is_some() {
                nest.flow.walk(Op::LDR, from_y, &ys[..count]);
            }
            for (x, y) in xs.iter().zip(ys).take(count) {
                let y = from.map(|_| *y);
                if let (Some(y), Some(mask)) = (y, mask) {
                    nest.flow.push(Insn::reg(Op::AND, false, y, y, mask));
                }
                nest.link(op, *x, *x, y);
            }
            nest.flow.walk(Op::STR, to, &xs[..count]);
        };
        self.in_passes(stretch.links, count, left, pass);
        Ok(())
    }

    /// Does so many links, `count` in a pass: in a loop, counted in `left`, as often as they are that many, then the others.
    fn in_passes(&mut self, links: usize, count: usize, left: u8, pass: impl Fn(&mut Self, usize)) {
        let passes = links / count;
        let mut done = 0;
        if passes > 1 {
            self.flow.number(left, passes as u32);
            let top = self.flow.top();
            pass(self, count);
            self.flow.imm(Op::SUB, false, left, left, 1);
            self.flow.imm(Op::TEQ, false, 0, left, 0);
            self.flow.again(top);
            done = passes * count;
        }
        while done < links {
            let rest = count.min(links - done);
            pass(self, rest);
            done += rest;
        }
    }
}
