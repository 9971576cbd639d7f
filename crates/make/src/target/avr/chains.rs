//! Chains behind two nested loops on an AVR: links that are alike are a loop, X at the result, which they change
//! where it lies, Z at the modulus. DEC leaves the carry as it is.

use std::collections::BTreeMap;

use machine::isa::avr::code::Insn;
use machine::isa::avr::instructions::{Op, Ops};

use crate::refusal::LowerError;
use crate::schedule::{Array, Chain, End, Link, Stretch, Sum, Word, WordStep};
use crate::target::avr::nest::Nest;

/// Links in a pass of a loop, at most.
const LINKS: usize = 4;
/// Where words are on their way.
const MOVED: u8 = 0;

/// Where words are that have no place in memory.
type Values = BTreeMap<Word, u8>;

impl Nest<'_> {
    /// The steps behind the sweep.
    ///
    /// # Errors
    /// When a step has no such form.
    pub(super) fn chains(&mut self) -> Result<(), LowerError> {
        let scans = self.scans;
        let mut values = Values::new();
        let piles = scans.sweep().map_or(&[][..], |sweep| &sweep.piles);
        if let Some(out) = piles.get(2 * scans.n).and_then(|pile| pile.out) {
            values.insert(out, self.on.sum[0]);
        }
        // Registers that are free now.
        let mut free = self.on.sum[1..].to_vec();
        for step in &scans.words.steps {
            match step {
                WordStep::Sweep(_) => {}
                WordStep::Part(text) => self.draft.note(text.clone()),
                WordStep::Chain(chain) => self.chain(chain, &mut values, &mut free)?,
                _ => return Err(LowerError::Scans),
            }
        }
        Ok(())
    }

    fn chain(
        &mut self,
        chain: &Chain,
        values: &mut Values,
        free: &mut Vec<u8>,
    ) -> Result<(), LowerError> {
        let stretch = self.scans.stretch(chain).filter(|s| s.links > 1);
        let links = stretch.map_or(0, |s| s.links);
        if let Some(stretch) = stretch {
            self.stretch(chain.sum, stretch, values)?;
        }
        for (i, link) in chain.links.iter().enumerate().skip(links) {
            self.link(chain.sum, i == 0, link, values)?;
        }
        match chain.end {
            End::Drop => Ok(()),
            End::Mask { out } => {
                let mask = free.pop().ok_or(LowerError::Registers)?;
                self.rr(Op::SBC, mask, mask);
                values.insert(out, mask);
                Ok(())
            }
            _ => Err(LowerError::Scans),
        }
    }

    /// One link of words in registers, of which only the carry is of interest.
    fn link(
        &mut self,
        sum: Sum,
        first: bool,
        link: &Link,
        values: &Values,
    ) -> Result<(), LowerError> {
        let register = |word: Option<Word>| match word {
            None => Ok(self.on.zero),
            Some(word) => values.get(&word).copied().ok_or(LowerError::Scans),
        };
        let (x, y) = (register(link.x)?, register(link.y)?);
        if link.mask.is_some() || link.flip.is_some() {
            return Err(LowerError::Scans);
        }
        self.rr(Op::MOV, MOVED, x);
        self.rr(op(sum, first), MOVED, y);
        Ok(())
    }

    fn stretch(&mut self, sum: Sum, stretch: Stretch, values: &Values) -> Result<(), LowerError> {
        let n = self.scans.n;
        let modulus = self.scans.quotient.and_then(|[_, m]| self.scans.place(m));
        let in_place = match stretch.x {
            Some((Array::Columns, first)) => first == n,
            Some((Array::Chain(_), first)) => first == 0,
            _ => false,
        };
        if !in_place || stretch.y != modulus || stretch.links != n || stretch.out.1 != 0 {
            return Err(LowerError::Scans);
        }
        let mask = match stretch.mask {
            None => None,
            Some(word) => Some(*values.get(&word).ok_or(LowerError::Scans)?),
        };
        let links = (1..=LINKS)
            .rev()
            .find(|l| n.is_multiple_of(*l))
            .unwrap_or(1);
        self.point_to_result();
        self.draft.count(self.on.total, n / links)?;
        let ops = Ops::default();
        self.draft.push(Insn { op: Op::BCLR, ops });
        let top = self.draft.insns.len();
        let word = self.on.x;
        for _ in 0..links {
            self.draft.dk(Op::LDX, MOVED, 0);
            self.draft.dk(Op::LDZ_INC, word, 0);
            if let Some(mask) = mask {
                self.rr(Op::AND, word, mask);
            }
            self.rr(op(sum, false), MOVED, word);
            self.draft.push(Insn::rk(Op::STX_INC, MOVED, 0));
        }
        self.draft.repeat(self.on.total, top)
    }
}

fn op(sum: Sum, first: bool) -> Op {
    match (sum, first) {
        (Sum::Add, true) => Op::ADD,
        (Sum::Add, false) => Op::ADC,
        (Sum::Sub, true) => Op::SUB,
        (Sum::Sub, false) => Op::SBC,
    }
}
