//! Rows on a MIPS32: `a*b + c + d`, both words of it.
//!
//! MADDL and MADDH take `c` and `d` from a pair of registers: `c` is loaded into the even
//! one, the word carried along arrives in the odd one. Without them HI and LO add up:
//! `(HI, LO) = a*b + c*1 + d*1`, which never exceeds 64 bits.

use std::collections::VecDeque;

use machine::isa::mips::code::Insn;
use machine::isa::mips::instructions::Op;

use crate::refusal::LowerError;
use crate::schedule::{Blocks, RowBlock};
use crate::target::mips::registers::{Array, Draft, ZERO};

/// Pairs in flight: the word `c` of a step is loaded while earlier steps run.
const PAIRS: usize = 3;
/// $at, the successor of $zero: carries the word where there is no `c`.
const AT: u8 = 1;

struct Rows<'a> {
    draft: &'a mut Draft,
    /// The pair of this step, then those of the next ones; none without MADDL.
    pairs: VecDeque<u8>,
    /// The register with the word carried along.
    carried: Option<u8>,
}

/// Lowers the rows of `blocks`. `paired`: with MADDH and MADDL.
///
/// # Errors
/// When registers run out.
pub fn lower(
    schedule: &Blocks,
    blocks: &[&RowBlock],
    paired: bool,
    draft: &mut Draft,
) -> Result<(), LowerError> {
    let mut pairs = VecDeque::new();
    if paired {
        draft.reserve(AT);
        for _ in 0..PAIRS {
            pairs.push_back(draft.take_pair()?);
        }
    } else {
        draft.one()?;
    }
    let mut rows = Rows {
        draft,
        pairs,
        carried: None,
    };
    let all: Vec<_> = blocks.iter().flat_map(|b| &b.rows).collect();
    let mut words: Vec<Option<u8>> = vec![None; schedule.n];
    for (i, row) in all.iter().enumerate() {
        rows.draft.note(format!("row {}", row.b));
        let b = rows.draft.take()?;
        rows.draft.load(Array::B, row.b, b);
        let kept = |a: usize| {
            let next = all[i + 1..].iter().flat_map(|r| &r.steps);
            next.into_iter()
                .find(|s| s.a == a)
                .is_some_and(|s| !s.load_a)
        };
        for (j, step) in row.steps.iter().enumerate() {
            let a = match words[step.a] {
                Some(r) if !step.load_a => r,
                old => {
                    let r = match old {
                        Some(r) => r,
                        None => rows.draft.take()?,
                    };
                    rows.draft.load(Array::A, step.a, r);
                    r
                }
            };
            let c = step.reload.then_some(step.a + row.b);
            let last = j + 1 == row.steps.len();
            let next_loads = row.steps.get(j + 1).is_some_and(|s| s.reload);
            rows.step(a, b, c, step.a + row.b, !last && next_loads)?;
            words[step.a] = Some(a).filter(|_| kept(step.a));
            if words[step.a].is_none() {
                rows.draft.release(a);
            }
        }
        rows.draft.release(b);
        if let Some(last) = row.steps.last() {
            rows.finish(last.a + row.b + 1);
        }
    }
    Ok(())
}

impl Rows<'_> {
    /// `(d, C[to]) = a*b + C[c] + d`.
    fn step(
        &mut self,
        a: u8,
        b: u8,
        c: Option<usize>,
        to: usize,
        next_loads: bool,
    ) -> Result<(), LowerError> {
        let low = self.draft.take()?;
        match self.pairs.front().copied() {
            Some(pair) => self.paired(pair, [a, b, low], c, next_loads),
            None => self.in_accumulator([a, b, low], c)?,
        }
        self.draft.store(to, low);
        self.draft.release(low);
        Ok(())
    }

    fn paired(&mut self, pair: u8, [a, b, low]: [u8; 3], c: Option<usize>, next_loads: bool) {
        let pair = match c {
            Some(index) => {
                self.draft.load(Array::R, index, pair);
                self.pairs.rotate_left(1);
                if self.carried.is_none() {
                    self.draft.three(Op::ADDU, pair + 1, ZERO, ZERO);
                }
                pair
            }
            None => {
                if self.carried.is_none() {
                    self.draft.three(Op::ADDU, AT, ZERO, ZERO);
                }
                ZERO
            }
        };
        let carried = match self.pairs.front() {
            Some(next) if next_loads => next + 1,
            _ => AT,
        };
        self.draft.insns.push(Insn::row(Op::MADDL, low, a, b, pair));
        self.draft
            .insns
            .push(Insn::row(Op::MADDH, carried, a, b, pair));
        self.carried = Some(carried);
    }

    fn in_accumulator(&mut self, [a, b, low]: [u8; 3], c: Option<usize>) -> Result<(), LowerError> {
        let one = self.draft.one()?;
        self.draft.three(Op::MULTU, 0, a, b);
        if let Some(d) = self.carried {
            self.draft.three(Op::MADDU, 0, d, one);
            self.draft.release(d);
        }
        if let Some(index) = c {
            let r = self.draft.take()?;
            self.draft.load(Array::R, index, r);
            self.draft.three(Op::MADDU, 0, r, one);
            self.draft.release(r);
        }
        let carried = self.draft.take()?;
        self.draft.three(Op::MFLO, low, 0, 0);
        self.draft.three(Op::MFHI, carried, 0, 0);
        self.carried = Some(carried);
        Ok(())
    }

    /// Ends a row: the word carried along goes to `C[to]`.
    fn finish(&mut self, to: usize) {
        if let Some(r) = self.carried.take() {
            self.draft.store(to, r);
            if self.pairs.is_empty() {
                self.draft.release(r);
            }
        }
    }
}
