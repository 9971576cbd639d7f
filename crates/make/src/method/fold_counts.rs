//! Counts of carries beside a sum of words: the carry out of each run of words is counted for the column that it goes
//! to, and all counts are added in one chain at the end. Words of other columns are folded to a few columns each.

use std::collections::BTreeMap;

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use crate::method::bottom::Pair;
use crate::method::signature::MethodError;
use crate::schedule::{Chain, End, Link, Sum, Word, WordStep, Words};

/// Digits between `-2^(w-1)` and `2^(w-1)` of `value`, fewer than `n + 1`.
fn balanced(value: &BigInt, n: usize, w: u32) -> Option<Vec<i64>> {
    let base = 1i64 << w;
    let mut rest = value.clone();
    let mut digits = Vec::with_capacity(n);
    for _ in 0..n {
        let (high, low) = rest.div_mod_floor(&base.into());
        let low = i64::try_from(low).ok()?;
        let digit = low - if low > base / 2 { base } else { 0 };
        rest = high + i64::from(digit < low);
        digits.push(digit);
    }
    rest.is_zero().then_some(digits)
}

/// Words that are added to each column, and words that are taken from it.
pub(super) struct Columns {
    added: Vec<Vec<Word>>,
    taken: Vec<Vec<Word>>,
}

impl Columns {
    pub(super) fn new(n: usize) -> Self {
        Self {
            added: vec![Vec::new(); n],
            taken: vec![Vec::new(); n],
        }
    }

    /// Adds `factor word`, for the residue `factor` of `m`.
    pub(super) fn add(
        &mut self,
        word: Word,
        factor: BigUint,
        m: &BigUint,
        w: u32,
    ) -> Result<(), MethodError> {
        let n = self.added.len();
        let factor = BigInt::from(factor);
        let forms = [factor.clone(), factor - BigInt::from(m.clone())];
        let forms = forms.iter().filter_map(|form| balanced(form, n, w));
        let row = forms.min_by_key(|row| row.iter().map(|digit| digit.unsigned_abs()).sum::<u64>());
        let few =
            |row: &Vec<i64>| row.iter().map(|digit| digit.unsigned_abs()).sum::<u64>() <= MOST;
        for (k, times) in row
            .filter(few)
            .ok_or(MethodError::NotHalf)?
            .into_iter()
            .enumerate()
        {
            let column = match times < 0 {
                true => &mut self.taken[k],
                false => &mut self.added[k],
            };
            column.extend(vec![word; times.unsigned_abs() as usize]);
        }
        Ok(())
    }

    /// Adds all of them to `words`, in as few runs as there may be.
    pub(super) fn sum(mut self, f: &mut Words, words: &mut [Word], counts: &mut FoldCounts) {
        for (sum, columns) in [(Sum::Add, &mut self.added), (Sum::Sub, &mut self.taken)] {
            while let Some(first) = columns.iter().position(|list| !list.is_empty()) {
                let run = columns[first..].iter_mut().map_while(|list| list.pop());
                let run: Vec<_> = run.collect();
                let end = first + run.len();
                let sums = counts.run(f, sum, (&words[first..end], &run), first);
                words[first..end].copy_from_slice(&sums);
            }
        }
    }
}

/// The most words that one word is folded to.
const MOST: u64 = 6;
/// The most that `c` is added.
const LIFTS: u64 = 8;

/// A small number of the column it stands in: `word - offset`, and `word <= most`.
#[derive(Clone, Copy)]
pub(super) struct Count {
    word: Word,
    offset: u64,
    most: u64,
}

impl Count {
    /// `word - offset`, for `word <= most`.
    pub(super) fn of(word: Word, most: u64, offset: u64) -> Self {
        Self { word, offset, most }
    }
}

/// Small numbers to add, by columns; those of column `n` times `c = 2^(w n) - m`. And a constant.
pub(super) struct FoldCounts {
    n: usize,
    w: u32,
    c: BigUint,
    counts: BTreeMap<usize, Count>,
    constant: BigInt,
}

impl FoldCounts {
    /// Nothing yet.
    pub(super) fn new(m: &BigUint, n: usize, w: u32) -> Self {
        Self {
            n,
            w,
            constant: BigInt::ZERO,
            c: (BigUint::one() << (w as usize * n)) - m,
            counts: BTreeMap::new(),
        }
    }

    /// Adds `c` as often as it takes that nothing is negative, at least once: how often. After once there is a
    /// carry where the sum was `m` or more.
    pub(super) fn lift(&mut self) -> Result<u64, MethodError> {
        let c = BigInt::from(self.c.clone());
        let offset = |column: usize| match column == self.n {
            true => c.clone(),
            false => BigInt::one() << (self.w as usize * column),
        };
        let counts = self.counts.iter();
        let offsets = counts.map(|(column, count)| offset(*column) * count.offset);
        // What c takes of the count of column n.
        let top = self.counts.get(&self.n).map_or(0, |count| count.most);
        let negative = self.digits()?.into_iter().filter(|(_, negative)| *negative);
        let taken = negative.map(|(place, _)| offset(place) * top);
        let rest = &self.constant - offsets.sum::<BigInt>() - taken.sum::<BigInt>();
        let times = (1..=LIFTS).find(|times| !(&rest + &c * *times).is_negative());
        let times = times.ok_or(MethodError::NotHalf)?;
        self.constant += c * times;
        Ok(times)
    }

    /// Adds `c` `times` times, and once less where `bit` is 1.
    pub(super) fn add_c(
        &mut self,
        f: &mut Words,
        times: u64,
        bit: Word,
    ) -> Result<(), MethodError> {
        let one = f.constant(1);
        let unset = f.chain(Sum::Sub, &[one], &[bit], End::Drop)[0];
        for (place, negative) in self.digits()? {
            let one = BigInt::one() << (self.w as usize * place);
            match negative {
                false => {
                    self.constant += one * (times - 1);
                    self.add(f, place, Count::of(unset, 1, 0));
                }
                true => self.add(f, place, Count::of(bit, 1, times)),
            }
        }
        Ok(())
    }

    /// The small number of `column`.
    fn at(&self, f: &mut Words, column: usize) -> Count {
        let known = self.counts.get(&column).copied();
        known.unwrap_or_else(|| Count {
            word: f.constant(0),
            offset: 0,
            most: 0,
        })
    }

    /// Adds to `column`.
    pub(super) fn add(&mut self, f: &mut Words, column: usize, count: Count) {
        let old = self.at(f, column);
        let word = match old.most {
            0 => count.word,
            _ => f.chain(Sum::Add, &[old.word], &[count.word], End::Drop)[0],
        };
        let count = Count {
            word,
            offset: old.offset + count.offset,
            most: old.most + count.most,
        };
        self.counts.insert(column, count);
    }

    /// The digits of `c`, all 1 or -1, that at 0 is 1; their places, and which are negative.
    fn digits(&self) -> Result<Vec<(usize, bool)>, MethodError> {
        let digits = balanced(&self.c.clone().into(), self.n, self.w);
        let digits = digits.ok_or(MethodError::NotHalf)?.into_iter().enumerate();
        let digits: Vec<_> = digits.filter(|(_, digit)| *digit != 0).collect();
        let sparse = digits.iter().all(|(_, digit)| digit.abs() == 1);
        if !sparse || digits.first() != Some(&(0, 1)) {
            return Err(MethodError::NotHalf);
        }
        let digits = digits.into_iter();
        Ok(digits.map(|(k, digit)| (k, digit < 0)).collect())
    }

    /// Adds `s (1 - c)`, for the mask `-s`.
    pub(super) fn add_sign(&mut self, f: &mut Words, mask: Word) -> Result<(), MethodError> {
        // 1 - 1 at 0.
        for (place, negative) in self.digits()?.into_iter().skip(1) {
            let (sum, x) = match negative {
                true => (Sum::Add, 0),
                false => (Sum::Sub, 1),
            };
            let (x, out) = (f.constant(x), f.fresh());
            f.push(WordStep::Chain(Chain {
                sum,
                carry: Some(mask),
                links: vec![Link::new(Some(x), None, out)],
                end: End::Drop,
            }));
            self.add(f, place, Count::of(out, 1, u64::from(!negative)));
        }
        Ok(())
    }

    /// The words of `x + y` or `x - y` from column `first` on; what it carries is counted behind them.
    pub(super) fn run(
        &mut self,
        f: &mut Words,
        sum: Sum,
        (x, y): Pair<'_>,
        first: usize,
    ) -> Vec<Word> {
        let column = first + x.len();
        let old = self.at(f, column);
        let (counted, words) = (f.fresh(), f.fresh_words(x.len()));
        // One less is taken: then nothing is negative but the borrow.
        let (carry, start) = match sum {
            Sum::Add => (None, old.word),
            Sum::Sub => (Some(f.constant(u64::MAX >> (64 - self.w))), f.constant(1)),
        };
        let links = x.iter().zip(y).zip(&words);
        f.push(WordStep::Chain(Chain {
            sum,
            carry,
            links: links
                .map(|((x, y), out)| Link::new(Some(*x), Some(*y), *out))
                .collect(),
            end: End::Into {
                x: start,
                out: counted,
            },
        }));
        match sum {
            Sum::Add => {
                let most = old.most + 1;
                self.counts.insert(
                    column,
                    Count {
                        word: counted,
                        most,
                        ..old
                    },
                );
            }
            Sum::Sub => {
                self.add(f, column, Count::of(counted, 1, 1));
                self.constant += BigInt::one() << (self.w as usize * first);
            }
        }
        words
    }

    /// All of it in `n` words; None is 0.
    pub(super) fn words(mut self, f: &mut Words) -> Result<Vec<Option<Word>>, MethodError> {
        let (n, w) = (self.n, self.w as usize);
        if let Some(Count { word, offset, most }) = self.counts.remove(&n) {
            self.constant -= BigInt::from(self.c.clone()) * offset;
            for (place, negative) in self.digits()? {
                match negative {
                    false => self.add(f, place, Count::of(word, most, 0)),
                    true => {
                        let most_word = f.constant(most);
                        let word = f.chain(Sum::Sub, &[most_word], &[word], End::Drop)[0];
                        self.add(f, place, Count::of(word, most, most));
                    }
                }
            }
        }
        let mut largest = self.constant.clone();
        for (column, Count { offset, most, .. }) in &self.counts {
            self.constant -= BigInt::from(*offset) << (w * column);
            largest += (BigInt::from(*most) - offset) << (w * column);
        }
        let constant = self.constant.to_biguint().ok_or(MethodError::NotHalf)?;
        if largest.bits() > (w * n) as u64 {
            return Err(MethodError::NotHalf);
        }
        let ones = u64::MAX >> (64 - self.w);
        let all = f.constant(ones);
        let mut carry = None;
        let mut unset = None;
        let mut words = Vec::with_capacity(n);
        for k in 0..n {
            let digit = (&constant >> (w * k)) & BigUint::from(ones);
            let digit = digit.iter_u64_digits().next().unwrap_or(0);
            let count = self.counts.get(&k);
            if let (None, None) | (None, Some(0)) = (carry, count.map(|count| count.most)) {
                words.push((digit != 0).then(|| f.constant(digit)));
                continue;
            }
            if let (None, Some(carry), true) = (count, carry, digit == ones) {
                // 2^w - 1, or 0 and the same carry.
                let word = *unset.get_or_insert_with(|| f.xor(carry, all));
                words.push(Some(word));
                continue;
            }
            let most = count.map_or(0, |count| count.most) + u64::from(carry.is_some()) + digit;
            let (out, mask) = (f.fresh(), f.fresh());
            let digit = (digit != 0).then(|| f.constant(digit));
            f.push(WordStep::Chain(Chain {
                sum: Sum::Add,
                carry,
                links: vec![Link::new(count.map(|count| count.word), digit, out)],
                end: match most > ones {
                    true => End::Mask { out: mask },
                    false => End::Drop,
                },
            }));
            (carry, unset) = ((most > ones).then_some(mask), None);
            words.push(Some(out));
        }
        Ok(words)
    }
}
