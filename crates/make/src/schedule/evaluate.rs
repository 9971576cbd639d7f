//! Schedules in words, run on numbers: does a schedule compute what it should?

use num_bigint::BigUint;
use spec::{Op, Size, Spec, vectors};

use crate::schedule::blocks::{Counts, ScheduleError};
use crate::schedule::words::{
    Chain, End, Origin, Pile, Quotient, Sum, Sweep, Word, WordStep, Words,
};

impl Words {
    /// Runs the steps on numbers: every value.
    pub fn evaluate(&self, operands: &[Vec<u64>]) -> Vec<u64> {
        let w = self.word_bits;
        let ones = (1u64 << w) - 1;
        let mut v = vec![0u64; self.origins.len()];
        for (slot, origin) in v.iter_mut().zip(&self.origins) {
            *slot = match origin {
                Origin::Operand { side, index } => operands[*side][*index],
                Origin::Constant(value) | Origin::Stored { value, .. } => *value,
                Origin::Computed => 0,
            };
        }
        for step in &self.steps {
            match step {
                WordStep::Sweep(sweep) => self.run_sweep(&mut v, sweep),
                WordStep::Chain(chain) => self.chain_of(&mut v, chain),
                WordStep::Wide { x, y, low, high } => {
                    let product = v[x.0] * v[y.0];
                    (v[low.0], v[high.0]) = (product & ones, product >> w);
                }
                WordStep::And { x, y, out } => v[out.0] = v[x.0] & v[y.0],
                WordStep::Or { x, y, out } => v[out.0] = v[x.0] | v[y.0],
                WordStep::Xor { x, y, out } => v[out.0] = v[x.0] ^ v[y.0],
                WordStep::Sign { x, out } => v[out.0] = (v[x.0] >> (w - 1)).wrapping_neg() & ones,
                WordStep::Odd { x, out } => v[out.0] = (v[x.0] & 1).wrapping_neg() & ones,
                WordStep::Right { x, above, out } => {
                    let top = above.map_or(0, |above| v[above.0] & 1);
                    v[out.0] = v[x.0] >> 1 | top << (w - 1);
                }
                WordStep::Return { .. } | WordStep::Part(_) => {}
            }
        }
        v
    }

    /// Piles, what is above a word going to the next one.
    fn run_sweep(&self, v: &mut [u64], sweep: &Sweep) {
        let (w, ones) = (self.word_bits, (1u64 << self.word_bits) - 1);
        let mut acc = 0u128;
        for pile in &sweep.piles {
            let times = |(x, y): &(Word, Word)| u128::from(v[x.0]) * u128::from(v[y.0]);
            acc += pile.products.iter().map(times).sum::<u128>();
            acc += 2 * pile.doubled.iter().map(times).sum::<u128>();
            let addends = pile.addends.iter().map(|x| u128::from(v[x.0]));
            acc += addends.sum::<u128>();
            if let Some(Quotient { inverse, m, q }) = pile.quotient {
                v[q.0] = (acc as u64).wrapping_mul(v[inverse.0]) & ones;
                acc += u128::from(v[q.0]) * u128::from(v[m.0]);
            }
            if let Some(out) = pile.out {
                v[out.0] = acc as u64 & ones;
            }
            acc >>= w;
        }
    }

    /// Sums or differences, the carry going from one to the next.
    fn chain_of(&self, v: &mut [u64], chain: &Chain) {
        let (w, ones) = (self.word_bits, (1u64 << self.word_bits) - 1);
        let mut carry = u64::from(chain.carry.is_some_and(|c| v[c.0] != 0));
        for link in &chain.links {
            let x = link.x.map_or(0, |x| v[x.0]) ^ link.flip.map_or(0, |f| v[f.0]);
            let y = link.y.map_or(0, |y| v[y.0]) & link.mask.map_or(ones, |m| v[m.0]);
            let sum = match chain.sum {
                Sum::Add => x + y + carry,
                Sum::Sub => x.wrapping_sub(y + carry),
            };
            v[link.out.0] = sum & ones;
            carry = sum >> w & 1;
        }
        match chain.end {
            End::Drop => {}
            End::Carry { out } => v[out.0] = carry,
            End::Mask { out } => v[out.0] = carry.wrapping_neg() & ones,
            End::Into { x, out } => {
                let sum = match chain.sum {
                    Sum::Add => v[x.0] + carry,
                    Sum::Sub => v[x.0].wrapping_sub(carry),
                };
                v[out.0] = sum & ones;
            }
        }
    }

    /// Counts, and checks that every value is made once, before it is used.
    ///
    /// # Errors
    /// The first value for which that is not so.
    pub fn count(&self) -> Result<Counts, ScheduleError> {
        let is_given = |origin: &Origin| *origin != Origin::Computed;
        let mut made: Vec<bool> = self.origins.iter().map(is_given).collect();
        let mut used = vec![false; self.origins.len()];
        let mut counts = Counts {
            stores: self.result.len(),
            ..Counts::default()
        };
        for step in &self.steps {
            // Within a step values are made and read in order, so makers come first here.
            let (read, new) = Self::uses(step);
            for word in &new {
                if std::mem::replace(&mut made[word.0], true) {
                    return Err(ScheduleError::MadeTwice(word.0));
                }
            }
            for word in read {
                if !made[word.0] {
                    return Err(ScheduleError::NotMade(word.0));
                }
                used[word.0] = true;
            }
            match step {
                WordStep::Sweep(sweep) => {
                    let products = |p: &Pile| p.products.len() + p.doubled.len();
                    let count: usize = sweep.piles.iter().map(products).sum();
                    let last = sweep.piles.last().map_or(0, products);
                    counts.products += count;
                    counts.accumulated += (count - last).saturating_sub(1);
                }
                WordStep::Wide { .. } => counts.products += 1,
                WordStep::Chain(chain) => counts.links += chain.links.len(),
                _ => {}
            }
        }
        if let Some(word) = self.result.iter().find(|word| !made[word.0]) {
            return Err(ScheduleError::NotMade(word.0));
        }
        let operands = self.origins.iter().zip(used);
        let loaded =
            |(origin, used): &(&Origin, bool)| *used && matches!(origin, Origin::Operand { .. });
        counts.loads = operands.filter(loaded).count();
        Ok(counts)
    }

    /// Counts, and runs the steps on structured operands.
    ///
    /// # Errors
    /// A value used before it is made, or operands with a wrong result.
    pub fn check(&self) -> Result<Counts, ScheduleError> {
        let counts = self.count()?;
        let spec = self.spec();
        for operands in vectors::of(&spec, 8, 1) {
            let got = self.result_of(&operands);
            if !spec.accepts(&operands, &got) {
                let want = spec.value(&operands);
                return Err(ScheduleError::Wrong(format!(
                    "{operands:x?}: {got:#x} for {want:#x}"
                )));
            }
        }
        Ok(counts)
    }

    /// Runs the steps on numbers: the result, and above it what is returned.
    pub fn result_of(&self, operands: &[BigUint]) -> BigUint {
        let bytes = self.word_bits as usize / 8;
        let cut = |(n, x): (&usize, &BigUint)| -> Vec<u64> {
            let mut bytes_le = x.to_bytes_le();
            bytes_le.resize(n * bytes, 0);
            let word = |c: &[u8]| c.iter().rev().fold(0, |x, byte| x << 8 | u64::from(*byte));
            bytes_le.chunks(bytes).map(word).collect()
        };
        let words = self.lengths.iter().zip(operands).map(cut);
        let values = self.evaluate(&words.collect::<Vec<_>>());
        let returned = self.steps.iter().filter_map(|step| match step {
            WordStep::Return { x } => Some(x),
            _ => None,
        });
        let result = self.result.iter().chain(returned);
        let result: Vec<u8> = result
            .flat_map(|word| values[word.0].to_le_bytes()[..bytes].to_vec())
            .collect();
        BigUint::from_bytes_le(&result)
    }

    /// What the steps are to compute.
    fn spec(&self) -> Spec {
        let bits = |side: usize| {
            self.lengths
                .get(side)
                .map_or(0, |n| *n as u32 * self.word_bits)
        };
        let a = match self.op {
            Op::Redc | Op::Swap => bits(0) / 2,
            _ => bits(0),
        };
        Spec {
            op: self.op,
            size: match self.op {
                op if op == Op::Mul || op.is_sum() => Size { a, b: bits(1) },
                _ => a.into(),
            },
            modular: self.modular.clone(),
            word_bits: self.word_bits,
        }
    }
}
