//! Columns of schedules in words: the accumulator of a sweep.
//!
//! A column accumulates as in `columns.rs`; the addends of column `k+2` join the last products of
//! column `k` in `ADC a2, word`, where a zero would have been added. Those of the first columns are a
//! chain of their own.

use std::collections::{HashSet, VecDeque};

use machine::isa::avr::instructions::Op;

use crate::schedule::{Pile, Quotient, Sweep, Word};
use crate::target::avr::code::{Code, Value};

/// The largest product of two words.
const PRODUCT: u64 = 255 * 255;

/// Bytes that hold every value up to `bound`.
fn bytes(bound: u64) -> usize {
    (64 - bound.leading_zeros() as usize).div_ceil(8)
}

/// The most that so many bytes are: what is left of a sweep is all that its sum can be.
fn most_of(left: usize) -> u64 {
    match left {
        ..8 => (1u64 << (8 * left)) - 1,
        8.. => u64::MAX,
    }
}

/// The sum of a sweep: its bytes, lowest first, and the largest value it can have.
#[derive(Default)]
struct Accumulator {
    words: VecDeque<Value>,
    bound: u64,
    /// What is left of the sweep fits the columns that are left.
    cap: u64,
}

impl Accumulator {
    fn grown(&self, by: u64) -> u64 {
        (self.bound + by).min(self.cap)
    }
}

impl Code {
    pub(super) fn sweep(&mut self, sweep: &Sweep, result: &[Vec<usize>]) {
        let count = sweep.piles.len();
        let mut waiting: Vec<Vec<Word>> = sweep.piles.iter().map(|p| p.addends.clone()).collect();
        let mut products: Vec<_> = sweep.piles.iter().map(|p| p.products.clone()).collect();
        let mut acc = Accumulator::default();
        self.start(&mut acc, &mut waiting);
        for (i, pile) in sweep.piles.iter().enumerate() {
            acc.cap = most_of(count - i);
            for word in std::mem::take(&mut waiting[i]) {
                self.addend(&mut acc, word);
            }
            if !pile.doubled.is_empty() {
                self.doubled(&mut acc, pile);
            }
            let ends = pile.quotient.is_none();
            let ending = self.ending(&products[i..], waiting.get(i + 2));
            let of = |(x, y): &(Word, Word)| ending.contains(x) || ending.contains(y);
            let mut early: Vec<_> = match products.get_mut(i + 1) {
                Some(next) => next.extract_if(.., |p| of(p)).collect(),
                None => Vec::new(),
            };
            let mut own = std::mem::take(&mut products[i]);
            own.sort_by_key(|p| !of(p));
            for (j, product) in own.iter().enumerate() {
                // The last products, as many as there are addends.
                let left = own.len() - j;
                let ahead = waiting.get_mut(i + 2);
                let ahead = ahead.filter(|words| ends && left <= words.len());
                if ahead.is_some() {
                    for product in early.drain(..) {
                        self.product(&mut acc, 1, product, None);
                    }
                }
                // One that an earlier column of the same sweep makes may not be there yet.
                let ahead = ahead.and_then(|words| words.pop_if(|w| self.names[w.0].is_some()));
                let ahead = ahead.map(|word| self.value(word));
                self.product(&mut acc, 0, *product, ahead);
            }
            for product in early {
                self.product(&mut acc, 1, product, None);
            }
            if let Some(quotient) = pile.quotient {
                self.quotient(&mut acc, quotient, result);
                acc.bound >>= 8;
                continue;
            }
            let low = acc.words.pop_front();
            let low = low.unwrap_or_else(|| self.clear_ahead());
            if let Some(out) = pile.out {
                self.define(out, low, result);
            }
            acc.bound >>= 8;
        }
        // A register cleared ahead would wait for the next sweep.
        self.cleared = None;
    }

    /// Addends of the first columns are the accumulator, if they follow one another; so many others are
    /// added in one chain.
    fn start(&mut self, acc: &mut Accumulator, waiting: &mut [Vec<Word>]) {
        let twice = |words: &Vec<Word>| words.len() > 1;
        let first = match waiting.iter().take(3).all(twice) {
            true => 3,
            false => 2,
        };
        for words in waiting.iter_mut().take(first) {
            let Some(word) = words.pop_if(|word| self.names[word.0].is_some()) else {
                break;
            };
            acc.words.push_back(self.value(word));
            acc.bound = acc.bound << 8 | 255;
        }
        let mut op = Op::ADD;
        let mut next = 0;
        for words in waiting.iter_mut().take(acc.words.len()) {
            let Some(word) = words.pop_if(|word| self.names[word.0].is_some()) else {
                break;
            };
            let value = self.value(word);
            acc.words[next] = self.two(op, acc.words[next], Some(value));
            (op, next) = (Op::ADC, next + 1);
        }
        if next > 0 {
            acc.bound += (1 << (8 * next)) - 1;
            self.carry_on(acc, next, bytes(acc.bound));
        }
    }

    /// `q = acc m' mod 2^8` and `acc += q m`, whose low byte is 0 and not kept.
    fn quotient(&mut self, acc: &mut Accumulator, quotient: Quotient, result: &[Vec<usize>]) {
        let Quotient { inverse, m, q } = quotient;
        let low = match acc.words.front() {
            Some(low) => *low,
            None => {
                let low = self.clear();
                acc.words.push_back(low);
                low
            }
        };
        let modulus = self.value(m);
        if self.numbers[modulus.0] == Some(1) {
            // q is -acc, and acc + q is 0 with a carry where 0 - acc had a borrow.
            let zero = self.clear();
            let value = self.two(Op::SUB, zero, Some(low));
            self.define(q, value, result);
            acc.words.pop_front();
            acc.bound = acc.grown(255);
            self.carry_on(acc, 0, bytes(acc.bound) - 1);
            return;
        }
        let inverse = self.value(inverse);
        let [value, _] = self.times(low, inverse);
        self.define(q, value, result);
        self.product(acc, 0, (q, m), None);
        acc.words.pop_front();
    }

    /// Adds a word to the accumulator at the start of its column.
    fn addend(&mut self, acc: &mut Accumulator, word: Word) {
        let bound = acc.grown(255);
        let value = self.value(word);
        match acc.words.front().copied() {
            None => acc.words.push_back(value),
            Some(low) => {
                acc.words[0] = self.two(Op::ADD, low, Some(value));
                self.carry_on(acc, 1, bytes(bound));
            }
        }
        acc.bound = bound;
    }

    /// Adds the carry to bytes `from .. to` of the accumulator.
    fn carry_on(&mut self, acc: &mut Accumulator, from: usize, to: usize) {
        for i in from..to {
            if i == acc.words.len() {
                let top = self.clear_ahead();
                acc.words.push_back(top);
            }
            acc.words[i] = self.two(Op::ADC, acc.words[i], None);
        }
    }

    /// Products that count twice: on an accumulator of their own, which then takes the other's place.
    fn doubled(&mut self, acc: &mut Accumulator, pile: &Pile) {
        let cap = acc.cap;
        let before = std::mem::take(acc);
        acc.cap = cap;
        for product in &pile.doubled {
            self.product(acc, 0, *product, None);
        }
        acc.bound = (2 * acc.bound).min(cap);
        for i in 0..bytes(acc.bound) {
            let op = if i == 0 { Op::ADD } else { Op::ADC };
            if i == acc.words.len() {
                let top = self.clear_ahead();
                acc.words.push_back(self.two(op, top, None));
            } else {
                let word = acc.words[i];
                acc.words[i] = self.two(op, word, Some(word));
            }
        }
        acc.bound = acc.grown(before.bound);
        for (i, word) in before.words.iter().enumerate().take(bytes(acc.bound)) {
            let op = if i == 0 { Op::ADD } else { Op::ADC };
            if i == acc.words.len() {
                acc.words.push_back(self.two(op, *word, None));
            } else {
                acc.words[i] = self.two(op, acc.words[i], Some(*word));
            }
        }
        if !before.words.is_empty() {
            self.carry_on(acc, before.words.len(), bytes(acc.bound));
        }
    }

    /// Words that columns from the third on do not use, and of which a masked copy is one of `addends`, those
    /// of the third column: if all their products are added before, they are overwritten and not copied.
    fn ending(&self, products: &[Vec<(Word, Word)>], addends: Option<&Vec<Word>>) -> Vec<Word> {
        let masked = addends.into_iter().flatten();
        let masked = masked.filter_map(|word| self.masked[word.0]);
        let later = products.iter().skip(2).flatten();
        let later: HashSet<Word> = later.flat_map(|(x, y)| [*x, *y]).collect();
        masked.filter(|word| !later.contains(word)).collect()
    }

    /// Multiplies and accumulates from byte `at` of the accumulator on; an addend of two columns further
    /// on may join.
    fn product(
        &mut self,
        acc: &mut Accumulator,
        at: usize,
        (x, y): (Word, Word),
        ahead: Option<Value>,
    ) {
        let [low, high] = self.multiply(x, y);
        let without = acc.grown(PRODUCT << (8 * at));
        let extra = if ahead.is_some() { 255 << 16 } else { 0 };
        acc.bound = acc.grown((PRODUCT << (8 * at)) + extra);
        while acc.words.len() < at {
            let cleared = self.clear_ahead();
            acc.words.push_back(cleared);
        }
        if acc.words.len() == at {
            acc.words.extend([low, high]);
            acc.words.extend(ahead);
            return;
        }
        acc.words[at] = self.two(Op::ADD, acc.words[at], Some(low));
        if bytes(acc.bound) < at + 2 {
            return;
        }
        match acc.words.get(at + 1).copied() {
            Some(word) => acc.words[at + 1] = self.two(Op::ADC, word, Some(high)),
            None => acc.words.push_back(self.two(Op::ADC, high, None)),
        }
        let mut next = at + 2;
        if let Some(word) = ahead {
            match acc.words.get(2).copied() {
                Some(top) => acc.words[2] = self.two(Op::ADC, top, Some(word)),
                // Nothing there yet: the word itself becomes the third byte.
                None if bytes(without) < 3 => {
                    acc.words.push_back(word);
                    return;
                }
                None => acc.words.push_back(self.two(Op::ADC, word, None)),
            }
            next = 3;
        }
        self.carry_on(acc, next, bytes(acc.bound));
    }
}
