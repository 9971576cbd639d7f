//! Schedules in words: steps on values, each computed once and never changed.
//!
//! Every value is a word of `w` bits. Operand words are there from the start; a target
//! decides when to load them, which values stay in registers and which wait in memory. What a
//! step does is given over the integers; where a carry is dropped, the step says so.

use super::blocks::{Block, Blocks, Counts, ScheduleError};
use crate::spec::Op;
use crate::vectors;

/// A value, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Word(pub usize);

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Word `index` of operand `side` (0 is a, 1 is b).
    Operand { side: usize, index: usize },
    /// A step.
    Computed,
}

/// One column: `acc += sum products + 2 sum doubled + sum addends`, `out` is its low word, then
/// `acc >>= w`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pile {
    pub products: Vec<(Word, Word)>,
    /// Products that count twice.
    pub doubled: Vec<(Word, Word)>,
    pub addends: Vec<Word>,
    /// None: the low word is not wanted.
    pub out: Option<Word>,
}

impl Pile {
    /// The products of weight `2^(w k)` in `x * y`.
    pub fn column(x: &[Word], y: &[Word], k: usize) -> Self {
        let first = (k + 1).saturating_sub(y.len());
        Self {
            products: (first..x.len().min(k + 1))
                .map(|i| (x[i], y[k - i]))
                .collect(),
            ..Self::default()
        }
    }
}

/// Consecutive columns with one accumulator, empty before; what is left in it is dropped.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sweep {
    pub piles: Vec<Pile>,
}

/// Addition or subtraction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sum {
    Add,
    Sub,
}

/// One word of a chain: `out = (x ^ flip) ± (y & mask) ± carry`, the carry or borrow goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// None is 0.
    pub x: Option<Word>,
    /// A word of zeros or of ones.
    pub flip: Option<Word>,
    /// None is 0.
    pub y: Option<Word>,
    /// A word of zeros or of ones.
    pub mask: Option<Word>,
    pub out: Word,
}

impl Link {
    /// `out = x ± y`.
    pub fn new(x: Option<Word>, y: Option<Word>, out: Word) -> Self {
        Self {
            x,
            flip: None,
            y,
            mask: None,
            out,
        }
    }

    /// The words it reads; one that serves for two things comes twice.
    pub fn words(&self) -> impl Iterator<Item = Word> {
        [self.x, self.flip, self.y, self.mask].into_iter().flatten()
    }
}

/// What becomes of the last carry or borrow `c` of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    Drop,
    /// `out = c`.
    Carry {
        out: Word,
    },
    /// `out = -c`: zeros or ones.
    Mask {
        out: Word,
    },
    /// `out = x ± c` modulo 2^w.
    Into {
        x: Word,
        out: Word,
    },
}

/// A carry chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chain {
    pub sum: Sum,
    /// The first carry: 1 if this word of zeros or of ones is not zero.
    pub carry: Option<Word>,
    pub links: Vec<Link>,
    pub end: End,
}

/// A step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WordStep {
    Sweep(Sweep),
    Chain(Chain),
    /// `low + 2^w high = x * y`.
    Wide {
        x: Word,
        y: Word,
        low: Word,
        high: Word,
    },
    /// `out = x & y`.
    And {
        x: Word,
        y: Word,
        out: Word,
    },
    /// `out = x ^ y`.
    Xor {
        x: Word,
        y: Word,
        out: Word,
    },
    /// Ones if the top bit of `x` is set, else zeros.
    Sign {
        x: Word,
        out: Word,
    },
    /// A remark for the listing: what the next steps compute.
    Part(String),
}

/// `sign * 2^(w shift) * (sum 2^(w i) x[i]) * (sum 2^(w j) y[j])`; an empty `y` is 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Term {
    pub negative: bool,
    pub shift: usize,
    pub x: Vec<Word>,
    pub y: Vec<Word>,
}

/// `sum 2^(w i) words[i]` is the sum of the terms: a stepping stone for the prover.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    pub words: Vec<Word>,
    pub terms: Vec<Term>,
    /// Of a sum that may be negative: the words are its absolute value.
    pub magnitude: Option<Magnitude>,
}

/// What an absolute value was made from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Magnitude {
    /// The sum modulo `2^(w len)`.
    pub wrapped: Vec<Word>,
    /// Ones if the sum is negative, else zeros.
    pub mask: Word,
}

impl Claim {
    /// `words = x y + plus`.
    pub fn product(words: &[Word], x: &[Word], y: &[Word], plus: &[Word]) -> Self {
        let term = |x: &[Word], y: &[Word]| Term {
            negative: false,
            shift: 0,
            x: x.to_vec(),
            y: y.to_vec(),
        };
        let mut terms = vec![term(x, y)];
        if !plus.is_empty() {
            terms.push(term(plus, &[]));
        }
        Self {
            words: words.to_vec(),
            terms,
            magnitude: None,
        }
    }
}

/// Steps that compute an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Words {
    pub op: Op,
    pub word_bits: u32,
    /// Words of each operand.
    pub lengths: Vec<usize>,
    /// Where each value comes from.
    pub origins: Vec<Origin>,
    pub steps: Vec<WordStep>,
    /// The words of the result, least significant first.
    pub result: Vec<Word>,
    pub claims: Vec<Claim>,
}

impl Words {
    /// No steps yet, and an operand for each length.
    pub fn new(op: Op, word_bits: u32, lengths: &[usize]) -> Self {
        let operand = |(side, length): (usize, &usize)| {
            (0..*length).map(move |index| Origin::Operand { side, index })
        };
        Self {
            op,
            word_bits,
            lengths: lengths.to_vec(),
            origins: lengths.iter().enumerate().flat_map(operand).collect(),
            steps: Vec::new(),
            result: Vec::new(),
            claims: Vec::new(),
        }
    }

    /// Blocks of `op`, read as words.
    pub fn of(op: Op, word_bits: u32, blocks: &Blocks) -> Self {
        let mut words = Self::new(op, word_bits, &[blocks.n, blocks.n]);
        let (a, b) = (words.operand(0), words.operand(1));
        words.result = words.blocks(blocks, &a, &b);
        words
    }

    /// The words of operand `side`.
    pub fn operand(&self, side: usize) -> Vec<Word> {
        let first = self.lengths[..side].iter().sum::<usize>();
        (first..first + self.lengths[side]).map(Word).collect()
    }

    /// A new value, to be computed by a step.
    pub fn fresh(&mut self) -> Word {
        self.origins.push(Origin::Computed);
        Word(self.origins.len() - 1)
    }

    /// `count` new values.
    pub fn fresh_words(&mut self, count: usize) -> Vec<Word> {
        (0..count).map(|_| self.fresh()).collect()
    }

    /// Adds a step.
    pub fn push(&mut self, step: WordStep) {
        self.steps.push(step);
    }

    /// Adds a sweep; its words.
    pub fn sweep(&mut self, piles: Vec<Pile>) -> Vec<Word> {
        self.sweep_from(piles, 0)
    }

    /// Adds a sweep; its words from pile `first` on, those before are not kept.
    pub fn sweep_from(&mut self, mut piles: Vec<Pile>, first: usize) -> Vec<Word> {
        let out = self.fresh_words(piles.len() - first);
        for (pile, out) in piles[first..].iter_mut().zip(&out) {
            pile.out = Some(*out);
        }
        self.push(WordStep::Sweep(Sweep { piles }));
        out
    }

    /// `x * y`: its low and high word.
    pub fn product(&mut self, x: Word, y: Word) -> [Word; 2] {
        let [low, high] = [self.fresh(), self.fresh()];
        self.push(WordStep::Wide { x, y, low, high });
        [low, high]
    }

    /// `x ± y`, the shorter one extended by zeros; `end` says what becomes of the carry.
    pub fn chain(&mut self, sum: Sum, x: &[Word], y: &[Word], end: End) -> Vec<Word> {
        let pairs = (0..x.len().max(y.len())).map(|i| (x.get(i).copied(), y.get(i).copied()));
        self.links(sum, pairs.collect(), end)
    }

    /// A chain of `x ± y`, word by word; None is 0.
    pub fn links(
        &mut self,
        sum: Sum,
        pairs: Vec<(Option<Word>, Option<Word>)>,
        end: End,
    ) -> Vec<Word> {
        let out = self.fresh_words(pairs.len());
        let links = pairs
            .iter()
            .zip(&out)
            .map(|((x, y), out)| Link::new(*x, *y, *out));
        let chain = Chain {
            sum,
            carry: None,
            links: links.collect(),
            end,
        };
        self.push(WordStep::Chain(chain));
        out
    }

    /// `x * y` in the order of `blocks`, whose operands have as many words.
    pub fn blocks(&mut self, blocks: &Blocks, x: &[Word], y: &[Word]) -> Vec<Word> {
        let mut result: Vec<Option<Word>> = vec![None; 2 * blocks.n];
        for block in &blocks.blocks {
            match block {
                Block::Columns(block) => {
                    let piles = block.columns.iter().map(|c| Pile {
                        products: c.products.iter().map(|p| (x[p.a], y[p.b])).collect(),
                        addends: result[c.index].filter(|_| c.reload).into_iter().collect(),
                        ..Pile::default()
                    });
                    let out = self.sweep(piles.collect());
                    for (column, word) in block.columns.iter().zip(out) {
                        result[column.index] = Some(word);
                    }
                }
                Block::Rows(block) => {
                    for row in &block.rows {
                        let piles = row.steps.iter().map(|s| Pile {
                            products: vec![(x[s.a], y[row.b])],
                            addends: result[s.a + row.b]
                                .filter(|_| s.reload)
                                .into_iter()
                                .collect(),
                            ..Pile::default()
                        });
                        let piles = piles.chain([Pile::default()]).collect();
                        let first = row.steps.first().map_or(0, |s| s.a) + row.b;
                        for (i, word) in self.sweep(piles).into_iter().enumerate() {
                            result[first + i] = Some(word);
                        }
                    }
                }
            }
        }
        result.into_iter().flatten().collect()
    }

    /// Values a step reads, in order, and values it makes.
    pub fn uses(step: &WordStep) -> (Vec<Word>, Vec<Word>) {
        let (mut read, mut made) = (Vec::new(), Vec::new());
        match step {
            WordStep::Sweep(sweep) => {
                for pile in &sweep.piles {
                    read.extend(&pile.addends);
                    let products = pile.doubled.iter().chain(&pile.products);
                    read.extend(products.flat_map(|(x, y)| [*x, *y]));
                    made.extend(pile.out);
                }
            }
            WordStep::Chain(chain) => {
                read.extend(chain.carry);
                for link in &chain.links {
                    read.extend(link.x.into_iter().chain(link.flip));
                    read.extend(link.y.into_iter().chain(link.mask));
                    made.push(link.out);
                }
                match chain.end {
                    End::Drop => {}
                    End::Carry { out } | End::Mask { out } => made.push(out),
                    End::Into { x, out } => {
                        read.push(x);
                        made.push(out);
                    }
                }
            }
            WordStep::Wide { x, y, low, high } => {
                read.extend([*x, *y]);
                made.extend([*low, *high]);
            }
            WordStep::And { x, y, out } | WordStep::Xor { x, y, out } => {
                read.extend([*x, *y]);
                made.push(*out);
            }
            WordStep::Sign { x, out } => {
                read.push(*x);
                made.push(*out);
            }
            WordStep::Part(_) => {}
        }
        (read, made)
    }

    /// Runs the steps on numbers: every value.
    pub fn evaluate(&self, operands: &[Vec<u64>]) -> Vec<u64> {
        let w = self.word_bits;
        let ones = (1u64 << w) - 1;
        let mut v = vec![0u64; self.origins.len()];
        for (slot, origin) in v.iter_mut().zip(&self.origins) {
            if let Origin::Operand { side, index } = origin {
                *slot = operands[*side][*index];
            }
        }
        for step in &self.steps {
            match step {
                WordStep::Sweep(sweep) => {
                    let mut acc = 0u128;
                    for pile in &sweep.piles {
                        let times = |(x, y): &(Word, Word)| u128::from(v[x.0]) * u128::from(v[y.0]);
                        acc += pile.products.iter().map(times).sum::<u128>();
                        acc += 2 * pile.doubled.iter().map(times).sum::<u128>();
                        acc += pile
                            .addends
                            .iter()
                            .map(|x| u128::from(v[x.0]))
                            .sum::<u128>();
                        if let Some(out) = pile.out {
                            v[out.0] = acc as u64 & ones;
                        }
                        acc >>= w;
                    }
                }
                WordStep::Chain(chain) => {
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
                            v[out.0] = ones
                                & match chain.sum {
                                    Sum::Add => v[x.0] + carry,
                                    Sum::Sub => v[x.0].wrapping_sub(carry),
                                }
                        }
                    }
                }
                WordStep::Wide { x, y, low, high } => {
                    let product = v[x.0] * v[y.0];
                    (v[low.0], v[high.0]) = (product & ones, product >> w);
                }
                WordStep::And { x, y, out } => v[out.0] = v[x.0] & v[y.0],
                WordStep::Xor { x, y, out } => v[out.0] = v[x.0] ^ v[y.0],
                WordStep::Sign { x, out } => v[out.0] = (v[x.0] >> (w - 1)).wrapping_neg() & ones,
                WordStep::Part(_) => {}
            }
        }
        v
    }

    /// Counts, and checks that every value is made once, before it is used.
    ///
    /// # Errors
    /// The first value for which that is not so.
    pub fn count(&self) -> Result<Counts, ScheduleError> {
        let is_operand = |origin: &Origin| matches!(origin, Origin::Operand { .. });
        let mut made: Vec<bool> = self.origins.iter().map(is_operand).collect();
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
        let operands = self.lengths.iter().sum();
        counts.loads = used.iter().take(operands).filter(|used| **used).count();
        Ok(counts)
    }

    /// Counts, and runs the steps on structured operands.
    ///
    /// # Errors
    /// A value used before it is made, or operands with a wrong result.
    pub fn check(&self) -> Result<Counts, ScheduleError> {
        let counts = self.count()?;
        let bytes = self.word_bits as usize / 8;
        let lengths: Vec<_> = self.lengths.iter().map(|n| n * bytes).collect();
        for operands in vectors::operands(&lengths, 8, 1) {
            let cut = |(n, x): (&usize, &num_bigint::BigUint)| -> Vec<u64> {
                let mut bytes_le = x.to_bytes_le();
                bytes_le.resize(n * bytes, 0);
                let word = |c: &[u8]| c.iter().rev().fold(0, |x, byte| x << 8 | u64::from(*byte));
                bytes_le.chunks(bytes).map(word).collect()
            };
            let values = self.evaluate(
                &self
                    .lengths
                    .iter()
                    .zip(&operands)
                    .map(cut)
                    .collect::<Vec<_>>(),
            );
            let got: Vec<u8> = self
                .result
                .iter()
                .flat_map(|word| values[word.0].to_le_bytes()[..bytes].to_vec())
                .collect();
            let got = num_bigint::BigUint::from_bytes_le(&got);
            let want = self.op.value(&operands, 8 * lengths[0] as u32);
            if got != want {
                return Err(ScheduleError::Wrong(format!(
                    "{operands:x?}: {got:#x} for {want:#x}"
                )));
            }
        }
        Ok(counts)
    }
}
