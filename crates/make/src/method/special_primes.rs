//! Products and squares modulo a prime next to a power of 2: any multiplication or squaring, then its upper
//! half is folded into the lower. A product in loops is made whole, and the folds read it ([`Stages`]).
//!
//! `2^n = c (mod m)`, so `H 2^n + L = L + c H`, with a carry `t` out of the top; then `t` is folded. Digits of
//! `c` are words: few of any size (2^255-19, Crandall's form), or few that are 1 or -1, from Solinas' sums of
//! powers of 2. There every word of `H` is replaced until nothing is left above the top, so that a column of
//! the sum has each word a small number of times, and `t` is a small number. What is taken is added: a
//! word `-y` is `(2^w - 1 - y) - (2^w - 1)`, and the numbers together are one, modulo `m`.

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::Signed;
use spec::modulus::Reduce;
use spec::{Op, Spec};

use crate::facts::{Facts, Style};
use crate::method::reduction::{Reduction, digits, masked};
use crate::method::separated::whole;
use crate::method::signature::{Method, MethodError, Params};
use crate::method::{
    consecutive_operand_caching, hybrid, karatsuba, karatsuba_comba, karatsuba_joined,
    karatsuba_squaring, lazy_doubling, number_products, operand_caching, product_scanning,
    reverse_hybrid, separated, shift_and_add, sliding_block_doubling, square_carry_catcher,
    square_product_scanning, square_reverse_hybrid, steady_rows,
};
use crate::schedule::{Chain, End, Link, Pile, Schedule, Stages, Sum, Word, WordStep, Words};

/// A product method followed by folds.
macro_rules! folded {
    ($name:literal, $ops:expr, $product:path) => {
        Method {
            name: $name,
            summary: "modulo a special prime: the whole product, then its upper half folded",
            source: "Crandall 1992; Solinas 1999",
            ops: $ops,
            parameters: $product.parameters,
            defaults: |spec, facts| {
                ($product.defaults)(&crate::method::separated::product(spec), facts)
            },
            schedule: |spec, facts, params| after(&$product, spec, facts, params),
        }
    };
}

/// Every multiplication and squaring with columns or words.
pub static METHODS: &[Method] = &[
    folded!(
        "operand-caching+fold",
        &[Op::Modmul],
        operand_caching::METHOD
    ),
    folded!(
        "consecutive-operand-caching+fold",
        &[Op::Modmul],
        consecutive_operand_caching::METHOD
    ),
    folded!("hybrid+fold", &[Op::Modmul], hybrid::METHOD),
    folded!("reverse-hybrid+fold", &[Op::Modmul], reverse_hybrid::METHOD),
    folded!(
        "product-scanning+fold",
        &[Op::Modmul],
        product_scanning::METHOD
    ),
    folded!("karatsuba+fold", &[Op::Modmul], karatsuba::METHOD),
    folded!(
        "karatsuba-joined+fold",
        &[Op::Modmul],
        karatsuba_joined::METHOD
    ),
    folded!(
        "karatsuba-comba+fold",
        &[Op::Modmul],
        karatsuba_comba::METHOD
    ),
    folded!(
        "square-product-scanning+fold",
        &[Op::Modsqr],
        square_product_scanning::METHOD
    ),
    folded!(
        "square-reverse-hybrid+fold",
        &[Op::Modsqr],
        square_reverse_hybrid::METHOD
    ),
    folded!(
        "square-carry-catcher+fold",
        &[Op::Modsqr],
        square_carry_catcher::METHOD
    ),
    folded!("lazy-doubling+fold", &[Op::Modsqr], lazy_doubling::METHOD),
    folded!(
        "sliding-block-doubling+fold",
        &[Op::Modsqr],
        sliding_block_doubling::METHOD
    ),
    folded!(
        "karatsuba-squaring+fold",
        &[Op::Modsqr],
        karatsuba_squaring::METHOD
    ),
    folded!(
        "steady-rows+fold",
        &[Op::Modmul, Op::Modsqr],
        steady_rows::METHOD
    ),
    folded!(
        "shift-and-add+fold",
        &[Op::Modmul, Op::Modsqr],
        shift_and_add::METHOD
    ),
];

/// `c`, by its digits that are not 0: the place of each and its value.
pub(super) struct Folding {
    /// Words of the modulus.
    n: usize,
    digits: Vec<(usize, i64)>,
}

/// Digits of `c` at most, where they are larger than 1.
const FEW: usize = 4;
/// The same where all are 1 or -1.
const SPARSE: usize = 6;

impl Folding {
    /// `c = 2^(w n) mod m`, `m` of `n` words.
    ///
    /// # Errors
    /// When the digits of `c` are many, or it is too large for two folds, or the top word of `m` is 0.
    pub(super) fn of(m: &BigUint, n: usize, w: u32) -> Result<Self, MethodError> {
        let bits = w as usize * n;
        let c = (BigUint::from(1u8) << bits) % m;
        // Folded once, c t is left, where t is as large as c, or a few times a column.
        let fits = |folding: &Self| match folding.is_sparse() {
            true => folding.digits.len() <= SPARSE && c.bits() as usize + w as usize <= bits,
            false => {
                let positive = folding.digits.iter().all(|(_, d)| *d > 0);
                positive && folding.digits.len() <= FEW && 2 * c.bits() as usize + 8 <= bits
            }
        };
        // Sums of words are cheaper than products by words of ones.
        let forms = [true, false].map(|balanced| Self {
            n,
            digits: Self::expanded(&c, n, w, balanced),
        });
        let least = (BigUint::from(1u8) << m.bits()) - m;
        let spare = bits.saturating_sub(m.bits() as usize);
        // What is above the bits of m is below 2^(spare + 2) c, and is folded once more, by 2^k - m.
        let above = spare as u64 + 2 + c.bits() + least.bits();
        let near = spare < 2 || spare < w as usize && above + 2 < m.bits();
        let form = forms.into_iter().find(fits).filter(|_| near);
        form.ok_or(MethodError::NotSpecial)
    }

    /// What is above the bits of `m` is folded by: `2^k - m` for `m` of `k` bits.
    pub(super) fn above(m: &BigUint, n: usize, w: u32) -> Self {
        let least = (BigUint::from(1u8) << m.bits()) - m;
        let digits = Self::expanded(&least, n, w, false);
        Self { n, digits }
    }

    /// The digits of `c` that are not 0, from `0 .. 2^w`, or between `-2^(w-1)` and `2^(w-1)`.
    fn expanded(c: &BigUint, n: usize, w: u32, balanced: bool) -> Vec<(usize, i64)> {
        let base = 1i64 << w;
        let mut rest = BigInt::from(c.clone());
        let mut digits = Vec::new();
        for place in 0..=n {
            let (high, low) = rest.div_mod_floor(&base.into());
            let low = low.iter_u64_digits().next().unwrap_or(0) as i64;
            let digit = low - if balanced && low > base / 2 { base } else { 0 };
            rest = high + i64::from(digit < low);
            digits.extend((digit != 0).then_some((place, digit)));
        }
        digits
    }

    /// Are all digits 1 or -1?
    fn is_sparse(&self) -> bool {
        self.digits.iter().all(|(_, digit)| digit.abs() == 1)
    }

    /// Words of `c`.
    fn len(&self) -> usize {
        self.digits.last().map_or(0, |(place, _)| place + 1)
    }

    /// How often word `i` of the upper half is in each of `n` columns.
    pub(super) fn row(&self, i: usize) -> Vec<i64> {
        let mut times = vec![0; self.n + i + 1];
        times[self.n + i] = 1;
        for column in (self.n..times.len()).rev() {
            let many = times[column];
            for (place, digit) in &self.digits {
                times[column - self.n + place] += many * digit;
            }
        }
        times.truncate(self.n);
        times
    }

    /// Column `k` of `c x`.
    pub(super) fn column(&self, words: &mut Words, x: &[Word], k: usize) -> Pile {
        let mut pile = Pile::default();
        for (place, digit) in &self.digits {
            let x = k.checked_sub(*place).and_then(|i| x.get(i));
            match (x, digit) {
                (None, _) => {}
                (Some(x), 1) => pile.addends.push(*x),
                (Some(x), digit) => {
                    let digit = words.constant(*digit as u64);
                    pile.products.push((*x, digit));
                }
            }
        }
        pile
    }

    /// Is `c` a sum of different powers of words, all of them below word `h`?
    pub(super) fn is_sum_below(&self, h: usize) -> bool {
        self.digits.iter().all(|(_, digit)| *digit == 1) && self.len() <= h
    }

    /// `c`, of words of `w` bits.
    pub(super) fn value(&self, w: u32) -> BigUint {
        let digits = self.digits.iter();
        let c: BigInt = digits
            .map(|(place, digit)| BigInt::from(*digit) << (w as usize * place))
            .sum();
        c.magnitude().clone()
    }

    /// Is one more of `c` added by the carry, or by the words of its product?
    fn is_counted(&self) -> bool {
        self.digits.first().is_some_and(|(_, digit)| *digit > 0)
    }

    /// `L + c H`: `n` words and what is above, which is one more than it is where `more` and `c` is sparse.
    fn once(&self, words: &mut Words, p: &[Word], m: &BigUint, more: bool) -> Vec<Word> {
        let (low, high) = p.split_at(self.n);
        let mut piles: Vec<_> = match self.is_sparse() {
            true => self.merged(words, low, high, m),
            false => (0..self.n + self.len())
                .map(|k| {
                    let mut pile = self.column(words, high, k);
                    pile.addends.extend(low.get(k));
                    pile
                })
                .collect(),
        };
        if more && self.is_sparse() {
            piles[self.n].addends.push(words.constant(1));
        }
        words.sweep(piles)
    }

    /// Columns of `L + c H` where every word is below the top, and a last one for their carry.
    fn merged(&self, words: &mut Words, low: &[Word], high: &[Word], m: &BigUint) -> Vec<Pile> {
        let mut piles: Vec<_> = low
            .iter()
            .map(|word| Pile {
                addends: vec![*word],
                ..Pile::default()
            })
            .collect();
        let w = words.word_bits;
        let ones = u64::MAX >> (64 - w);
        // What complements are too large by.
        let mut excess = BigInt::ZERO;
        for (i, word) in high.iter().enumerate() {
            let row = self.row(i);
            let taken = row.iter().any(|times| *times < 0).then(|| {
                let (out, y) = (words.fresh(), words.constant(ones));
                words.push(WordStep::Xor { x: *word, y, out });
                out
            });
            for (k, times) in row.iter().enumerate() {
                let word = if *times < 0 { taken } else { Some(*word) };
                let count = times.unsigned_abs() as usize;
                piles[k]
                    .addends
                    .extend(word.into_iter().cycle().take(count));
                if times.is_negative() {
                    excess += (BigInt::from(ones) * count) << (w as usize * k);
                }
            }
        }
        let number = (-excess).mod_floor(&m.clone().into());
        let number = digits(words, number.magnitude(), self.n);
        for (pile, digit) in piles.iter_mut().zip(number) {
            pile.addends.extend(digit);
        }
        piles.push(Pile::default());
        piles
    }

    /// Is `c` a word so small that a top word without its top bit takes the carry of the columns below it?
    pub(super) fn is_below_top(&self, w: u32) -> bool {
        matches!(self.digits.as_slice(), [(0, c)] if self.n > 2 && *c + 2 < 1 << (w - 1))
    }

    /// `L + c H` of a modulus of a bit less: the top column comes first, and what is above that bit is folded
    /// by the sweep of the others, whose carry the top word takes: it is below `2^(w-1) + c + 1` then.
    fn top_first(&self, half: &Self, words: &mut Words, p: &[Word]) -> Vec<Word> {
        let (low, high) = p.split_at(self.n);
        let column = |words: &mut Words, k: usize| {
            let mut pile = self.column(words, high, k);
            pile.addends.extend(low.get(k));
            pile
        };
        let top = column(words, self.n - 1);
        let mut top = words.sweep(vec![top, Pile::default()]);
        let t = top.split_off(1);
        let h = cut(words, &mut top, &t);
        let mut piles = Vec::with_capacity(self.n);
        for k in 0..self.n - 1 {
            let mut pile = column(words, k);
            let more = half.column(words, &h, k);
            pile.products.extend(more.products);
            pile.addends.extend(more.addends);
            piles.push(pile);
        }
        piles.push(Pile {
            addends: top,
            ..Pile::default()
        });
        words.sweep(piles)
    }

    /// The words of `c t`, as many as the modulus has; None is 0. Of `c (t + 1)` where `more` and `c` is not sparse.
    fn again(&self, words: &mut Words, t: &[Word], more: bool) -> Vec<Option<Word>> {
        if let (true, [t]) = (self.is_sparse(), t) {
            return self.spread(words, *t);
        }
        let mut piles: Vec<_> = (0..self.len() + t.len())
            .map(|k| self.column(words, t, k))
            .collect();
        for (place, digit) in self.digits.iter().filter(|_| more) {
            let digit = words.constant(*digit as u64);
            piles[*place].addends.push(digit);
        }
        let product = words.sweep(piles).into_iter().map(Some);
        let all = product.chain(std::iter::repeat(None));
        all.take(self.n).collect()
    }

    /// The same of a word and digits that are 1 or -1: a difference, whose borrow fills what is between them.
    fn spread(&self, words: &mut Words, t: Word) -> Vec<Option<Word>> {
        let mut borrow: Option<Word> = None;
        let mut out = Vec::with_capacity(self.n);
        for k in 0..self.n {
            let digit = self.digits.iter().find(|(place, _)| *place == k);
            let (x, y) = match digit {
                None => {
                    out.push(borrow);
                    continue;
                }
                Some((_, 1)) if borrow.is_none() => {
                    out.push(Some(t));
                    continue;
                }
                Some((_, 1)) => (Some(t), None),
                Some(_) => (None, Some(t)),
            };
            let word = words.fresh();
            // What gives something borrows nothing: there was no borrow if t is 0.
            let mask = y.map(|_| words.fresh());
            words.push(WordStep::Chain(Chain {
                sum: Sum::Sub,
                carry: borrow,
                links: vec![Link::new(x, y, word)],
                end: mask.map_or(End::Drop, |out| End::Mask { out }),
            }));
            out.push(Some(word));
            borrow = mask;
        }
        out
    }

    /// The words of `p` modulo `m` become the result of `words`.
    pub(super) fn fold(
        &self,
        spec: &Spec,
        words: &mut Words,
        m: &BigUint,
        p: Vec<Word>,
    ) -> Result<(), MethodError> {
        let n = self.n;
        let w = spec.word_bits;
        let reduction = Reduction::of(spec, words)?;
        words.push(WordStep::Part("fold the upper half".into()));
        let full = reduction.is_full();
        let half = Self::above(m, n, w);
        let least = half.value(w);
        let spare = spec.size.a - m.bits() as u32;
        words.result = if spare == 0 {
            // One more of c is less by M, where that leaves a carry.
            let more = self.is_counted() && full;
            let mut v = self.once(words, &p, m, more);
            let t = v.split_off(n);
            words.push(WordStep::Part("fold the carry".into()));
            let c = self.again(words, &t, more);
            let pairs = v.into_iter().map(Some).zip(c).collect();
            let top = words.fresh();
            if more {
                let v = words.links(Sum::Add, pairs, End::Mask { out: top });
                let c = digits(words, &least, n);
                give_back(words, &v, &c, top)
            } else {
                let mut v = words.links(Sum::Add, pairs, End::Carry { out: top });
                v.push(top);
                reduction.subtract(words, &v)
            }
        } else if spare == 1 && self.is_below_top(w) {
            let v = self.top_first(&half, words, &p);
            match full {
                true => reduction.subtract(words, &v),
                false => v,
            }
        } else {
            let mut v = self.once(words, &p, m, false);
            let t = v.split_off(n);
            // The spare bits at the top are folded, too: nothing is carried then.
            let h = match spare {
                1 => cut(words, &mut v, &t),
                _ => cut_bits(words, &mut v, &t, spare),
            };
            let c = half.again(words, &h, false);
            let pairs = v.iter().copied().map(Some).zip(c).collect();
            let v = words.links(Sum::Add, pairs, End::Drop);
            match full {
                true => reduction.subtract(words, &v),
                false => v,
            }
        };
        Ok(())
    }
}

/// Are products modulo `m` folded, for numbers of `n` words of `w` bits?
pub fn is_special(m: &BigUint, n: usize, w: u32) -> bool {
    Folding::of(m, n, w).is_ok()
}

/// The schedule of `method`, then the folds of what it makes.
fn after(
    method: &Method,
    spec: &Spec,
    facts: &Facts,
    params: &Params,
) -> Result<Schedule, MethodError> {
    let m = spec.modular.as_ref().and_then(|modular| modular.fixed());
    let m = m.ok_or(MethodError::NotSpecial)?;
    if spec.shift() > 0 {
        return Err(MethodError::Shifted(method.name));
    }
    let w = spec.word_bits;
    let n = (spec.size.a / w) as usize;
    let folding = Folding::of(m, n, w)?;
    let modular = spec.modular.as_ref();
    let bound = modular.map(|modular| modular.reduce);
    if spec.size.a as u64 > m.bits() + 1 {
        // Behind Karatsuba's products it is proved for some numbers only that one subtraction is enough.
        let open = params.contains_key("levels") && bound == Some(Reduce::Full);
        if open || method.name == shift_and_add::METHOD.name {
            return Err(MethodError::TopBits(method.name));
        }
        if bound == Some(Reduce::Lazy) {
            return Err(MethodError::LazyFold);
        }
    }
    let product = (method.schedule)(&separated::product(spec), facts, params)?;
    if product.style() != Style::Unrolled {
        let mut rest = Words::new(spec.op, w, &[2 * n]);
        let p = rest.operand(0);
        folding.fold(spec, &mut rest, m, p)?;
        if facts.tile_registers > 0 {
            number_products::make(&mut rest);
        }
        return Ok(Schedule::Stages(Stages {
            spec: spec.clone(),
            product: Box::new(product),
            rest: Box::new(Schedule::Words(rest)),
        }));
    }
    let mut words = whole(method, spec, facts, params)?;
    let p = std::mem::take(&mut words.result);
    folding.fold(spec, &mut words, m, p)?;
    Ok(Schedule::Words(words))
}

/// Takes `more` from `v` where `mask` is zeros.
pub(super) fn give_back(
    words: &mut Words,
    v: &[Word],
    more: &[Option<Word>],
    mask: Word,
) -> Vec<Word> {
    words.push(WordStep::Part("give back what was too much".into()));
    let (unset, y) = (
        words.fresh(),
        words.constant(u64::MAX >> (64 - words.word_bits)),
    );
    words.push(WordStep::Xor {
        x: mask,
        y,
        out: unset,
    });
    masked(words, Sum::Sub, v, more, unset, End::Drop)
}

/// Takes the top bit of `v`: as a mask.
fn without_top(words: &mut Words, v: &mut [Word]) -> Word {
    let [bit, low] = [words.fresh(), words.fresh()];
    if let Some(top) = v.last_mut() {
        words.push(WordStep::Sign { x: *top, out: bit });
        let y = words.constant((1 << (words.word_bits - 1)) - 1);
        words.push(WordStep::And {
            x: *top,
            y,
            out: low,
        });
        *top = low;
    }
    bit
}

/// Takes the top bit `b` from `v`; `2 t + b`.
pub(super) fn cut(words: &mut Words, v: &mut [Word], t: &[Word]) -> Vec<Word> {
    let bit = without_top(words, v);
    let out = words.fresh_words(t.len());
    let links = t.iter().zip(&out);
    words.push(WordStep::Chain(Chain {
        sum: Sum::Add,
        carry: Some(bit),
        links: links
            .map(|(t, out)| Link::new(Some(*t), Some(*t), *out))
            .collect(),
        end: End::Drop,
    }));
    out
}

/// Takes the top `count` bits `b` from `v`; `2^count t + b`.
fn cut_bits(words: &mut Words, v: &mut [Word], t: &[Word], count: u32) -> Vec<Word> {
    let w = words.word_bits;
    let Some(top) = v.last_mut() else {
        return t.to_vec();
    };
    let mut bits = *top;
    for _ in count..w {
        let out = words.fresh();
        let (x, above) = (bits, None);
        words.push(WordStep::Right { x, above, out });
        bits = out;
    }
    let (low, y) = (words.fresh(), words.constant((1 << (w - count)) - 1));
    words.push(WordStep::And {
        x: *top,
        y,
        out: low,
    });
    *top = low;
    let shift = words.constant(1 << count);
    let mut piles: Vec<_> = t
        .iter()
        .map(|t| Pile {
            products: vec![(*t, shift)],
            ..Pile::default()
        })
        .collect();
    piles.push(Pile::default());
    piles[0].addends.push(bits);
    words.sweep(piles)
}
