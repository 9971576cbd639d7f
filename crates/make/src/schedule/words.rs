//! Schedules in words: steps on values, each computed once and never changed.
//!
//! Every value is a word of `w` bits. Operand words are there from the start; a target
//! decides when to load them, which values stay in registers and which wait in memory. What a
//! step does is given over the integers; where a carry is dropped, the step says so.

use spec::Op;
use spec::modulus::Modular;

use crate::schedule::blocks::{Block, Blocks};

/// A value, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Word(pub usize);

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Word `index` of operand `side`, in the order of the sources (0 is a).
    Operand { side: usize, index: usize },
    /// A number that is known: a word of a fixed modulus.
    Constant(u64),
    /// Word `index` of numbers that lie in memory one after another: a fixed modulus as loops read it.
    Stored { index: usize, value: u64 },
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
    /// What is added last, to make the low word 0.
    pub quotient: Option<Quotient>,
    /// None: the low word is not wanted.
    pub out: Option<Word>,
}

/// A quotient word of Montgomery's reduction: `q = acc m' mod 2^w`, then `acc += q m`. With
/// `m m' = -1 mod 2^w` the low word is 0 then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quotient {
    /// `m'`.
    pub inverse: Word,
    pub m: Word,
    pub q: Word,
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
    /// The first carry: 1 if this word is not zero, which is of zeros or of ones, or an operand that is 0 or 1.
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
    /// `out = x | y`.
    Or {
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
    /// Ones if `x` is odd, else zeros.
    Odd {
        x: Word,
        out: Word,
    },
    /// `out = floor(x / 2)`, and the lowest bit of the word above comes in at the top; no word is 0.
    Right {
        x: Word,
        above: Option<Word>,
        out: Word,
    },
    /// The function returns `x`; the last step, if there is one.
    Return {
        x: Word,
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

/// `2^(w lead) sum 2^(w i) words[i]` is the sum of the terms: a stepping stone for the prover.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    pub words: Vec<Word>,
    /// Words of zeros below them.
    pub lead: usize,
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

impl Term {
    /// The number `x`.
    pub fn number(x: &[Word]) -> Self {
        Self {
            negative: false,
            shift: 0,
            x: x.to_vec(),
            y: Vec::new(),
        }
    }
}

impl Claim {
    /// `words = x y + plus`.
    pub fn product(words: &[Word], x: &[Word], y: &[Word], plus: &[Word]) -> Self {
        let mut terms = vec![Term {
            y: y.to_vec(),
            ..Term::number(x)
        }];
        if !plus.is_empty() {
            terms.push(Term::number(plus));
        }
        Self {
            words: words.to_vec(),
            lead: 0,
            terms,
            magnitude: None,
        }
    }
}

/// `2^(w len) s + x - y` is `words`, and `negative` is ones if the borrow `s` is 1, else zeros.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    pub x: Vec<Word>,
    pub y: Vec<Word>,
    pub words: Vec<Word>,
    pub negative: Word,
}

/// Steps that compute an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Words {
    pub op: Op,
    /// Of a modular operation.
    pub modular: Option<Modular>,
    pub word_bits: u32,
    /// Words of each operand.
    pub lengths: Vec<usize>,
    /// Where each value comes from.
    pub origins: Vec<Origin>,
    /// No word of an operand comes from here on.
    pub operands_end: usize,
    pub steps: Vec<WordStep>,
    /// The words of the result, least significant first.
    pub result: Vec<Word>,
    pub claims: Vec<Claim>,
    /// Differences among the operands.
    pub differences: Vec<Difference>,
    /// Is each product to take one time? Then a number, or a word with its top bit set, decides it.
    pub one_time: bool,
}

impl Words {
    /// No steps yet, and an operand for each length.
    pub fn new(op: Op, word_bits: u32, lengths: &[usize]) -> Self {
        let operand = |(side, length): (usize, &usize)| {
            (0..*length).map(move |index| Origin::Operand { side, index })
        };
        Self {
            op,
            modular: None,
            word_bits,
            lengths: lengths.to_vec(),
            operands_end: lengths.iter().sum(),
            origins: lengths.iter().enumerate().flat_map(operand).collect(),
            steps: Vec::new(),
            result: Vec::new(),
            claims: Vec::new(),
            differences: Vec::new(),
            one_time: false,
        }
    }

    /// Blocks of `op`, read as words.
    pub fn of(op: Op, word_bits: u32, blocks: &Blocks) -> Self {
        let mut words = Self::new(op, word_bits, &[blocks.n, blocks.n]);
        let (a, b) = (words.operand(0), words.operand(1));
        words.result = words.blocks(blocks, &a, &b);
        words
    }

    /// The word `value`, the same one each time.
    pub fn constant(&mut self, value: u64) -> Word {
        let origin = Origin::Constant(value);
        match self.origins.iter().position(|o| *o == origin) {
            Some(known) => Word(known),
            None => {
                self.origins.push(origin);
                Word(self.origins.len() - 1)
            }
        }
    }

    /// Numbers that lie in memory, behind those that do already.
    pub fn store(&mut self, values: &[u64]) -> Vec<Word> {
        let (first, index) = (self.origins.len(), self.stored().count());
        let origins = values.iter().zip(index..);
        let origins = origins.map(|(value, index)| Origin::Stored {
            index,
            value: *value,
        });
        self.origins.extend(origins);
        (first..self.origins.len()).map(Word).collect()
    }

    /// The numbers that lie in memory.
    pub fn stored(&self) -> impl Iterator<Item = u64> {
        self.origins.iter().filter_map(|origin| match origin {
            Origin::Stored { value, .. } => Some(*value),
            _ => None,
        })
    }

    /// Is it a word of an operand?
    pub fn is_operand(&self, word: Word) -> bool {
        matches!(self.origins.get(word.0), Some(Origin::Operand { .. }))
    }

    /// The number that a word is, if it is known and does not lie in memory.
    pub fn known(&self, word: Word) -> Option<u64> {
        match self.origins[word.0] {
            Origin::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// One more operand; its words.
    pub fn add_operand(&mut self, length: usize) -> Vec<Word> {
        let side = self.lengths.len();
        self.lengths.push(length);
        let first = self.origins.len();
        let words = (0..length).map(|index| Origin::Operand { side, index });
        self.origins.extend(words);
        self.operands_end = self.origins.len();
        (first..first + length).map(Word).collect()
    }

    /// Leaves products by 0 out, and makes those by 1 additions.
    pub fn simplify(&mut self) {
        let known = |word: Word| match self.origins[word.0] {
            Origin::Constant(value) => Some(value),
            _ => None,
        };
        let sweeps = self.steps.iter_mut().filter_map(|step| match step {
            WordStep::Sweep(sweep) => Some(sweep),
            _ => None,
        });
        for pile in sweeps.flat_map(|sweep| &mut sweep.piles) {
            let addends = &mut pile.addends;
            pile.products.retain(|(x, y)| match (known(*x), known(*y)) {
                (Some(0), _) | (_, Some(0)) => false,
                (Some(1), _) => {
                    addends.push(*y);
                    false
                }
                (_, Some(1)) => {
                    addends.push(*x);
                    false
                }
                _ => true,
            });
        }
    }

    /// The words of operand `side`.
    pub fn operand(&self, side: usize) -> Vec<Word> {
        let of_side =
            |origin: &Origin| matches!(origin, Origin::Operand { side: s, .. } if *s == side);
        let words = self.origins.iter().enumerate();
        let words = words.filter(|(_, origin)| of_side(origin));
        words.map(|(i, _)| Word(i)).collect()
    }

    /// Word `index` of operand `side`, if it has so many.
    pub fn operand_word(&self, side: usize, index: usize) -> Option<Word> {
        let wanted = Origin::Operand { side, index };
        // Operands that were there from the start come first.
        let first = self.lengths.iter().take(side).sum::<usize>() + index;
        if self.origins.get(first) == Some(&wanted) {
            return Some(Word(first));
        }
        let origins = self.origins.iter().take(self.operands_end);
        origins
            .enumerate()
            .find(|(_, origin)| **origin == wanted)
            .map(|(word, _)| Word(word))
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

    /// `x & y`.
    pub fn and(&mut self, x: Word, y: Word) -> Word {
        let out = self.fresh();
        self.push(WordStep::And { x, y, out });
        out
    }

    /// `x ^ y`.
    pub fn xor(&mut self, x: Word, y: Word) -> Word {
        let out = self.fresh();
        self.push(WordStep::Xor { x, y, out });
        out
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
                    if let Some(Quotient { inverse, m, q }) = pile.quotient {
                        read.extend([inverse, m, q]);
                        made.push(q);
                    }
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
            WordStep::And { x, y, out }
            | WordStep::Or { x, y, out }
            | WordStep::Xor { x, y, out } => {
                read.extend([*x, *y]);
                made.push(*out);
            }
            WordStep::Sign { x, out } | WordStep::Odd { x, out } => {
                read.push(*x);
                made.push(*out);
            }
            WordStep::Right { x, above, out } => {
                read.push(*x);
                read.extend(above);
                made.push(*out);
            }
            WordStep::Return { x } => read.push(*x),
            WordStep::Part(_) => {}
        }
        (read, made)
    }
}
