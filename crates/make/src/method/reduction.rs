//! Montgomery's reduction, word by word (Montgomery 1985), and what follows it.
//!
//! `q[k]` makes column `k` of `T + Q M` a multiple of `2^w`; the columns from `n` on are
//! `(T + Q M) / R`. Words of a fixed modulus are numbers: products by 0 are left out, by 1 they are
//! additions.

use num_bigint::BigUint;
use spec::modulus::{Modulus, Reduce, negated_inverse};
use spec::{Op, Spec, modulus};

use crate::facts::Facts;
use crate::method::signature::MethodError;
use crate::method::square_terms::{diagonal, pairs};
use crate::schedule::{Chain, End, Link, Origin, Pile, Quotient, Sum, Word, WordStep, Words};

/// The modulus of a schedule.
pub struct Reduction {
    /// Its words; None is 0.
    m: Vec<Option<Word>>,
    /// `m' = -m^-1 mod 2^w`; None is 1.
    inverse: Option<Word>,
    /// Can `(A B + Q M) / R` be `R` or more?
    overflows: bool,
    /// Is a number below the bound reduced alone? Then `T` is below it.
    is_single: bool,
    reduce: Reduce,
}

/// A schedule without steps for `spec`, and its factors: operands, or `A` and `R^2 mod M`.
pub fn factors(spec: &Spec) -> (Words, [Vec<Word>; 2]) {
    let sources = spec.sources().into_iter().take(spec.op.factors());
    let mut lengths: Vec<_> = sources
        .map(|s| (s.bits / spec.word_bits) as usize)
        .collect();
    if spec.op == Op::Tomont {
        lengths.push(lengths[0]);
    }
    let words = Words::new(spec.op, spec.word_bits, &lengths);
    let factors = [0, lengths.len() - 1].map(|side| words.operand(side));
    (words, factors)
}

/// The factors' product by columns, or what is reduced: column `k` of it.
pub fn column(spec: &Spec, [a, b]: &[Vec<Word>; 2], k: usize) -> Pile {
    match spec.op {
        Op::Redc | Op::Frommont => Pile {
            addends: a.get(k).copied().into_iter().collect(),
            ..Pile::default()
        },
        Op::Montsqr => Pile {
            products: diagonal(a, k),
            doubled: pairs(a, k, |_, _| true),
            ..Pile::default()
        },
        Op::Tomont => Pile::column(b, a, k),
        _ => Pile::column(a, b, k),
    }
}

/// The second factor becomes `R^2 mod M`: numbers, or words that follow a modulus at run time and `m'`.
fn square_of_r(spec: &Spec, words: &mut Words, m: Option<&BigUint>) {
    let n = (spec.size.a / spec.word_bits) as usize;
    let b = words.operand(1);
    let square = m.map(|m| numbers(&modulus::square_of_r(m, spec.size.a), spec.word_bits, n));
    words.lengths.pop();
    for (i, word) in b.into_iter().enumerate() {
        words.origins[word.0] = match &square {
            Some(square) => Origin::Constant(square[i]),
            None => Origin::Operand {
                side: 1,
                index: n + usize::from(spec.inverse_follows()) + i,
            },
        };
    }
}

impl Reduction {
    /// The modulus of `spec`, which `words` computes from now on.
    ///
    /// # Errors
    /// When there is none.
    pub fn of(spec: &Spec, words: &mut Words) -> Result<Self, MethodError> {
        let modular = spec.modular.as_ref().ok_or(MethodError::NoModulus)?;
        words.op = spec.op;
        words.modular = Some(modular.clone());
        let w = spec.word_bits;
        let n = (spec.size.a / w) as usize;
        let reduce = modular.reduce;
        let is_single = spec.op == Op::Frommont;
        if spec.op == Op::Tomont {
            square_of_r(spec, words, modular.fixed());
        }
        Ok(match &modular.modulus {
            Modulus::Fixed { value, .. } => {
                let m = digits(words, value, n);
                let inverse = negated_inverse(value, w);
                let fits = value.bits() < u64::from(spec.size.a);
                // A B < R M, as a reduction alone always has it.
                let alone = matches!(spec.op, Op::Redc | Op::Tomont);
                let below_twice_m = reduce != Reduce::Almost || alone;
                // T < B + M
                let by_few = modulus::square_of_r(value, spec.size.a) + value;
                let by_few = spec.op == Op::Tomont && by_few.bits() <= u64::from(spec.size.a);
                Self {
                    m,
                    inverse: (inverse != 1).then(|| words.constant(inverse)),
                    overflows: !(is_single || by_few || fits && below_twice_m),
                    is_single,
                    reduce,
                }
            }
            Modulus::RuntimeFolded => return Err(MethodError::Folded),
            Modulus::Runtime | Modulus::RuntimeBare => {
                let side = spec.op.factors();
                let m = words.add_operand(n + usize::from(spec.inverse_follows()));
                if spec.op == Op::Tomont {
                    words.lengths[side] += n;
                }
                let inverse = m.get(n).copied();
                Self {
                    m: m[..n].iter().copied().map(Some).collect(),
                    inverse: Some(inverse.unwrap_or_else(|| negated_inverse_of(words, m[0]))),
                    overflows: !(is_single || reduce == Reduce::Lazy),
                    is_single,
                    reduce,
                }
            }
        })
    }

    /// The same; of loops with a fixed modulus, `m'` and behind them the second factor of a conversion in memory, as
    /// they read every word in the same way.
    pub fn for_style(
        self,
        facts: &Facts,
        words: &mut Words,
        [_, factor]: &mut [Vec<Word>; 2],
    ) -> Self {
        let fixed = words.modular.as_ref().and_then(|m| m.fixed()).cloned();
        let Some(value) = fixed.filter(|_| facts.in_scans()) else {
            return self;
        };
        let mut list = numbers(&value, words.word_bits, self.len());
        list.push(negated_inverse(&value, words.word_bits));
        let mut m = words.store(&list);
        let converts = words.op == Op::Tomont;
        if converts {
            let numbers = factor.iter().filter_map(|word| words.known(*word));
            *factor = words.store(&numbers.collect::<Vec<_>>());
        }
        // That the top is 0 is not shown of products made by additions.
        let added = converts && facts.tile_registers > 0 && self.reduce != Reduce::Lazy;
        Self {
            inverse: m.pop(),
            m: m.into_iter().map(Some).collect(),
            overflows: self.overflows || added,
            ..self
        }
    }

    /// Are results below the modulus?
    pub fn is_full(&self) -> bool {
        self.reduce == Reduce::Full
    }

    /// Words of the modulus.
    pub fn len(&self) -> usize {
        self.m.len()
    }

    /// Words of `(A B + Q M) / R`.
    pub fn reduced_len(&self) -> usize {
        self.len() + usize::from(self.overflows)
    }

    /// The quotient word that makes the word of `pile` 0: what is in column 0 of its product with `M`.
    fn quotient(&self, words: &mut Words, pile: &mut Pile) -> Word {
        let q = words.fresh();
        match (self.m[0], self.inverse) {
            (Some(m), Some(inverse)) => pile.quotient = Some(Quotient { inverse, m, q }),
            // m' = 1 is -m^-1 of 2^w - 1: the word of the column is q, and q (2^w - 1) + q = 2^w q, which is q
            // once more a column further on.
            _ => pile.out = Some(q),
        }
        q
    }

    /// `v m' mod 2^w`, outside a pile.
    pub fn quotient_of(&self, words: &mut Words, v: Word) -> Word {
        let unit = self.m[0].and_then(|m| words.known(m)) == Some(1);
        match self.inverse {
            None => v,
            Some(_) if unit => words.links(Sum::Sub, vec![(None, Some(v))], End::Drop)[0],
            Some(inverse) => {
                let products = vec![(v, inverse)];
                let pile = Pile {
                    products,
                    ..Pile::default()
                };
                words.sweep(vec![pile])[0]
            }
        }
    }

    /// Word `j` of `M`; None is 0.
    pub fn word(&self, j: usize) -> Option<Word> {
        self.m.get(j).copied().flatten()
    }

    /// Is `m' = 1`, so that `v + q M[0] = 2^w v` with `q = v`?
    pub fn carries_quotient(&self) -> bool {
        self.inverse.is_none()
    }

    /// Adds column `j > 0` of `q M` to its pile.
    fn share(&self, words: &Words, q: Word, j: usize, pile: &mut Pile) {
        match self.m.get(j).copied().flatten() {
            None => {}
            Some(m) if words.known(m) == Some(1) => pile.addends.push(q),
            Some(m) => pile.products.push((q, m)),
        }
        if self.inverse.is_none() && j == 1 {
            pile.addends.push(q);
        }
    }

    /// Product scanning (SPS): one sweep over all columns. `column(k)` is what else is in column `k`.
    pub fn sweep(&self, words: &mut Words, column: impl Fn(&Words, usize) -> Pile) -> Vec<Word> {
        let n = self.len();
        let mut q: Vec<Word> = Vec::with_capacity(n);
        let mut piles = Vec::with_capacity(2 * n + 1);
        for k in 0..n + self.reduced_len() {
            let mut pile = column(words, k);
            for (i, q) in q.iter().enumerate() {
                self.share(words, *q, k - i, &mut pile);
            }
            if k < n {
                q.push(self.quotient(words, &mut pile));
            }
            piles.push(pile);
        }
        words.sweep_from(piles, n)
    }

    /// Rows of a product and of `q M` in the same sweep (FIOS): `column(i, j)` is what row `i` adds to word `j`,
    /// and everything moves down by a word. Before the last row there is always a word `n`.
    pub fn integrated_rows(
        &self,
        words: &mut Words,
        column: impl Fn(&Words, usize, usize) -> Pile,
    ) -> Vec<Word> {
        let n = self.len();
        let mut t: Vec<Word> = Vec::new();
        for i in 0..n {
            let whole = |words: &Words, j: usize| {
                let mut pile = column(words, i, j);
                pile.addends.extend(t.get(j));
                pile
            };
            let mut first = whole(words, 0);
            let q = self.quotient(words, &mut first);
            let mut piles = vec![first];
            let top = i + 1 < n || self.overflows;
            for j in 1..=n + usize::from(top) {
                let mut pile = whole(words, j);
                self.share(words, q, j, &mut pile);
                piles.push(pile);
            }
            t = words.sweep_from(piles, 1);
        }
        t
    }

    /// One row of operand scanning: `(t + q M) / 2^w`, where `t + q M` has `len` words.
    pub fn row(&self, words: &mut Words, t: &[Word], len: usize) -> Vec<Word> {
        self.row_with(words, len, |j| t.get(j).copied().into_iter().collect())
    }

    fn row_with(
        &self,
        words: &mut Words,
        len: usize,
        addends: impl Fn(usize) -> Vec<Word>,
    ) -> Vec<Word> {
        let pile = |j: usize| Pile {
            addends: addends(j),
            ..Pile::default()
        };
        let mut first = pile(0);
        let q = self.quotient(words, &mut first);
        let mut piles = vec![first];
        for j in 1..len {
            let mut pile = pile(j);
            self.share(words, q, j, &mut pile);
            piles.push(pile);
        }
        words.sweep_from(piles, 1)
    }

    /// Operand scanning (SOS): row by row; the carry out of a row joins the top of the next.
    pub fn rows(&self, words: &mut Words, p: &[Word]) -> Vec<Word> {
        let n = self.len();
        let mut t = p.to_vec();
        let mut carry: Option<Word> = None;
        for i in 0..n {
            let addends = |j: usize| {
                let word = t.get(i + j).filter(|_| j <= n);
                let carry = carry.filter(|_| j == n);
                word.copied().into_iter().chain(carry).collect()
            };
            let carries = i + 1 < n || self.overflows;
            let mut row = self.row_with(words, n + 1 + usize::from(carries), addends);
            carry = row.split_off(n).pop();
            t.splice(i + 1..=i + n, row);
        }
        t.split_off(n).into_iter().chain(carry).collect()
    }

    /// Subtracts the modulus from `t` where the contract wants it: `t - M`, and `M` back under the borrow;
    /// or `M` under the top word.
    pub fn subtract(&self, words: &mut Words, t: &[Word]) -> Vec<Word> {
        let n = self.len();
        let mask = words.fresh();
        match self.reduce {
            _ if self.is_single => t[..n].to_vec(),
            Reduce::Lazy => t[..n].to_vec(),
            Reduce::Almost if !self.overflows => t[..n].to_vec(),
            Reduce::Almost => {
                words.push(WordStep::Part("a mask of the carry".into()));
                let unused = words.fresh();
                words.push(WordStep::Chain(Chain {
                    sum: Sum::Sub,
                    carry: None,
                    links: vec![Link::new(None, t.get(n).copied(), unused)],
                    end: End::Mask { out: mask },
                }));
                words.push(WordStep::Part("subtract m under the mask".into()));
                self.masked(words, Sum::Sub, &t[..n], mask)
            }
            Reduce::Full => {
                words.push(WordStep::Part("subtract m".into()));
                let m = (0..t.len()).map(|i| self.m.get(i).copied().flatten());
                let pairs: Vec<_> = t.iter().map(|t| Some(*t)).zip(m).collect();
                let less = words.links(Sum::Sub, pairs, End::Mask { out: mask });
                words.push(WordStep::Part("add m under the borrow".into()));
                self.masked(words, Sum::Add, &less[..n], mask)
            }
        }
    }

    /// `x ± (M & mask)`.
    fn masked(&self, words: &mut Words, sum: Sum, x: &[Word], mask: Word) -> Vec<Word> {
        masked(words, sum, x, &self.m, mask, End::Drop)
    }
}

/// `-m^-1 mod 2^w` of an odd word (Newton): if `m e = 1 (mod 2^k)`, then `m e (2 - m e) = 1 (mod 2^2k)`; and
/// `m m = 1 (mod 8)`.
fn negated_inverse_of(words: &mut Words, m: Word) -> Word {
    words.push(WordStep::Part("m' = -1 / m mod 2^w".into()));
    let product = |words: &mut Words, x: Word, y: Word| {
        let products = vec![(x, y)];
        let pile = Pile {
            products,
            ..Pile::default()
        };
        words.sweep(vec![pile])[0]
    };
    let two = words.constant(2);
    let (mut e, mut bits) = (m, 3);
    while bits < words.word_bits {
        bits *= 2;
        let t = product(words, m, e);
        // The last step is e (m e - 2).
        let pair = match bits < words.word_bits {
            true => (Some(two), Some(t)),
            false => (Some(t), Some(two)),
        };
        let s = words.links(Sum::Sub, vec![pair], End::Drop)[0];
        e = product(words, e, s);
    }
    e
}

/// `n` words of a number; None is 0.
pub fn digits(words: &mut Words, value: &BigUint, n: usize) -> Vec<Option<Word>> {
    let digits = numbers(value, words.word_bits, n).into_iter();
    let word = |digit| (digit != 0).then(|| words.constant(digit));
    digits.map(word).collect()
}

/// `n` digits of `w` bits.
fn numbers(value: &BigUint, w: u32, n: usize) -> Vec<u64> {
    let size = w as usize / 8;
    let mut bytes = value.to_bytes_le();
    bytes.resize(n * size, 0);
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |x, b| x << 8 | u64::from(*b));
    bytes.chunks(size).map(number).collect()
}

/// `x ± (y & mask)`; None is 0.
pub fn masked(
    words: &mut Words,
    sum: Sum,
    x: &[Word],
    y: &[Option<Word>],
    mask: Word,
    end: End,
) -> Vec<Word> {
    let ones = u64::MAX >> (64 - words.word_bits);
    let out = words.fresh_words(x.len());
    let link = |((x, y), out): ((&Word, &Option<Word>), &Word)| match y {
        // All ones under a mask are the mask.
        Some(y) if words.known(*y) == Some(ones) => Link::new(Some(*x), Some(mask), *out),
        Some(y) => Link {
            mask: Some(mask),
            ..Link::new(Some(*x), Some(*y), *out)
        },
        None => Link::new(Some(*x), None, *out),
    };
    let links = x.iter().zip(y).zip(&out).map(link).collect();
    words.push(WordStep::Chain(Chain {
        sum,
        carry: None,
        links,
        end,
    }));
    out
}
