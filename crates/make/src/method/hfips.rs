//! Hybrid Montgomery products: columns of blocks of `d` by `d` words, every block row by row.
//!
//! Liu, Grossschaedl 2014, in Seo, Kim 2014, section IV. Finely integrated (HFIPS): the blocks of `A B` and those
//! of `Q M` in the same columns, `d` quotient words one after another when their column of blocks is
//! complete. Separated (HSPS): a product by the hybrid method, then the blocks of `Q M`; a reduction
//! alone (`redc`) is its second half. Products of a row that lie two words apart do not overlap: the even
//! ones are added in one chain, the odd ones in another.

use num_bigint::BigUint;
use spec::{Op, Spec};

use crate::facts::Facts;
use crate::method::checked_parameters::positive;
use crate::method::loop_forms::as_block_scans;
use crate::method::reduction::Reduction;
use crate::method::signature::{Method, MethodError, Parameter, Params};
use crate::method::{fips, hybrid, reduction, separated};
use crate::schedule::{End, Schedule, Sum, Word, WordStep, Words};

const SIDE: [Parameter; 1] = [Parameter {
    name: "d",
    meaning: "words of a block's side",
}];

/// HFIPS.
pub static METHOD: Method = Method {
    name: "hfips",
    summary: "Montgomery: products and quotients in the same columns of d x d blocks",
    source: "Liu, Grossschaedl 2014, in Seo, Kim 2014, section IV",
    ops: &[Op::Montmul, Op::Montsqr],
    parameters: &SIDE,
    defaults,
    schedule: |spec, facts, params| {
        let d = side(METHOD.name, spec, facts, params)?;
        if facts.in_scans() {
            return as_block_scans(METHOD.name, fips::words(spec, facts)?, d);
        }
        if spec.op == Op::Montsqr {
            return Err(MethodError::OnlyLoops("hfips of a square"));
        }
        let (words, factors) = reduction::factors(spec);
        columns(spec, words, d, &factors, &[])
    },
};

/// HSPS.
pub static SEPARATED: Method = Method {
    name: "hsps",
    summary: "Montgomery: a product by the hybrid method, then a reduction by d x d blocks",
    source: "Liu, Grossschaedl 2014, in Seo, Kim 2014, section IV",
    ops: &[Op::Montmul, Op::Redc],
    parameters: &SIDE,
    defaults,
    schedule: |spec, facts, params| {
        let d = side(SEPARATED.name, spec, facts, params)?;
        if facts.in_scans() && spec.op == Op::Redc {
            return as_block_scans(SEPARATED.name, fips::words(spec, facts)?, d);
        }
        if facts.in_scans() {
            return separated::in_loops(&hybrid::METHOD, spec, facts, params, Some(d));
        }
        let mut words = match spec.op {
            Op::Redc => reduction::factors(spec).0,
            _ => separated::whole(&hybrid::METHOD, spec, facts, params)?,
        };
        let p = match spec.op {
            Op::Redc => words.operand(0),
            _ => std::mem::take(&mut words.result),
        };
        columns(spec, words, d, &[vec![], vec![]], &p)
    },
};

fn defaults(spec: &Spec, facts: &Facts) -> Vec<Params> {
    if spec.op == Op::Montsqr && !facts.in_scans() {
        return Vec::new();
    }
    let [n, _] = spec.words(facts.word_bits);
    let sides = (1..=hybrid::largest(facts).min(n)).rev();
    sides.map(|d| Params::from([("d", d)])).collect()
}

/// The side of a block: at most what the hybrid method takes.
fn side(
    method: &'static str,
    spec: &Spec,
    facts: &Facts,
    params: &Params,
) -> Result<usize, MethodError> {
    let d = positive(method, "d", params)?;
    let [n, _] = spec.words(facts.word_bits);
    let largest = hybrid::largest(facts).min(n);
    match d > largest {
        true => Err(MethodError::TooLarge {
            method,
            parameter: "d",
            value: d,
            largest,
        }),
        false => Ok(d),
    }
}

/// `(A B + P + Q M) / R`, subtracted from where the contract wants it.
fn columns(
    spec: &Spec,
    mut words: Words,
    d: usize,
    [a, b]: &[Vec<Word>; 2],
    p: &[Word],
) -> Result<Schedule, MethodError> {
    let reduction = Reduction::of(spec, &mut words)?;
    let n = reduction.len();
    let length = n + reduction.reduced_len();
    let mut sum = Blocks {
        word_bits: spec.word_bits,
        words,
        sum: vec![None; length],
        first: 0,
        most: BigUint::ZERO,
    };
    let block = |words: &[Word], i: usize| -> Vec<Option<Word>> {
        words.iter().skip(d * i).take(d).map(|w| Some(*w)).collect()
    };
    let modulus = |j: usize| -> Vec<Option<Word>> {
        (d * j..n.min(d * (j + 1)))
            .map(|j| reduction.word(j))
            .collect()
    };
    let count = n.div_ceil(d);
    let mut q: Vec<Word> = Vec::with_capacity(n);
    for c in 0..2 * count {
        sum.words
            .push(WordStep::Part(format!("column {c} of blocks")));
        sum.add(d * c, &block(p, c));
        let pairs = |i: usize| c.checked_sub(i).filter(|j| *j < count).map(|j| (i, j));
        for (i, j) in (0..count).filter_map(pairs) {
            for (r, x) in block(a, i).into_iter().flatten().enumerate() {
                sum.row(d * (i + j) + r, x, &block(b, j));
            }
        }
        for (i, j) in (0..count.min(c)).filter_map(pairs) {
            for (r, x) in block(&q, i).into_iter().flatten().enumerate() {
                sum.quotient_row(&reduction, d * (i + j) + r, x, j, modulus(j));
            }
        }
        for k in d * c..n.min(d * (c + 1)) {
            let v = sum.word(k);
            let new = reduction.quotient_of(&mut sum.words, v);
            q.push(new);
            sum.quotient_row(&reduction, k, new, 0, modulus(0));
        }
        sum.leave(d);
    }
    let t: Vec<Word> = (n..length).map(|k| sum.word(k)).collect();
    let mut words = sum.words;
    words.result = reduction.subtract(&mut words, &t);
    Ok(Schedule::Words(words))
}

/// A sum of which the words from `first` on are less than `most`.
struct Blocks {
    word_bits: u32,
    words: Words,
    sum: Vec<Option<Word>>,
    first: usize,
    most: BigUint,
}

impl Blocks {
    /// Word `k`, 0 if nothing was added there.
    fn word(&mut self, k: usize) -> Word {
        match self.sum[k] {
            Some(word) => word,
            None => self.words.constant(0),
        }
    }

    /// The lowest `d` words are done.
    fn leave(&mut self, d: usize) {
        self.first += d;
        self.most >>= self.word_bits as usize * d;
    }

    /// Adds `q M` for words of `M` of block `j`, from word `k` on.
    fn quotient_row(
        &mut self,
        reduction: &Reduction,
        k: usize,
        q: Word,
        j: usize,
        m: Vec<Option<Word>>,
    ) {
        if j == 0 && reduction.carries_quotient() {
            // v + q M[0] = 2^w q: word k is not 0 then, but nothing reads it any more.
            self.row(k, q, &[&[None], &m[1..]].concat());
            self.add(k + 1, &[Some(q)]);
        } else {
            self.row(k, q, &m);
        }
    }

    /// Adds `x * y` at word `k`.
    fn row(&mut self, k: usize, x: Word, y: &[Option<Word>]) {
        for parity in [0, 1] {
            let mut list = vec![None; parity];
            for y in y.iter().skip(parity).step_by(2) {
                list.extend(match y {
                    None => [None, None],
                    Some(y) if self.words.known(*y) == Some(1) => [Some(x), None],
                    Some(y) => self.words.product(x, *y).map(Some),
                });
            }
            self.add(k, &list);
        }
    }

    /// Adds words at `k`; the carry runs on as far as the sum can reach.
    fn add(&mut self, k: usize, list: &[Option<Word>]) {
        let Some(skipped) = list.iter().position(Option::is_some) else {
            return;
        };
        let (k, list) = (k + skipped, &list[skipped..]);
        let ones = (BigUint::from(1u8) << self.word_bits) - 1u8;
        for (i, _) in list.iter().enumerate().filter(|(_, word)| word.is_some()) {
            self.most += &ones << (self.word_bits as usize * (k + i - self.first));
        }
        let reach = self.most.bits().div_ceil(self.word_bits.into()) as usize;
        let end = (self.first + reach).min(self.sum.len());
        if self.sum[k..].iter().all(Option::is_none) {
            for (slot, word) in self.sum[k..].iter_mut().zip(list) {
                *slot = *word;
            }
            return;
        }
        let pairs = (k..end).map(|i| (self.sum[i], list.get(i - k).copied().flatten()));
        let pairs: Vec<_> = pairs.collect();
        let words = self.words.links(Sum::Add, pairs, End::Drop);
        for (slot, word) in self.sum[k..].iter_mut().zip(words) {
            *slot = Some(word);
        }
    }
}
