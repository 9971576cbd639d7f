//! Operands to run a kernel on: random, and structured where carries get lost.
//!
//! Uniform operands almost never ripple a carry through a word of ones. These do: words
//! of 00, 01, 80 and ff, single bits, all ones minus a bit, runs of ones; and pairs of words
//! whose product is just below a power of two, so that its upper word is all ones, as it is or
//! doubled.

use std::collections::HashSet;

use num_bigint::BigUint;

use crate::folded;
use crate::modulus::{Reduce, negated_inverse, square_of_r};
use crate::op::Op;
use crate::spec::Spec;

/// A small deterministic generator (xorshift64*, Vigna 2016).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator; equal seeds give equal sequences.
    pub fn new(seed: u64) -> Self {
        Self(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// 64 random bits.
    pub fn draw(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.draw() % n.max(1) as u64) as usize
    }

    /// `bytes` uniformly random bytes.
    pub fn uniform(&mut self, bytes: usize) -> BigUint {
        let data: Vec<u8> = (0..bytes).map(|_| (self.draw() >> 32) as u8).collect();
        BigUint::from_bytes_le(&data)
    }

    /// `bytes` bytes, structured: one of the shapes of the module's head.
    pub fn structured(&mut self, bytes: usize) -> BigUint {
        let bits = 8 * bytes;
        let one = BigUint::from(1u8);
        let ones = (&one << bits) - 1u8;
        match self.below(6) {
            0 => ones,
            1 => &one << self.below(bits),
            2 => ones - (&one << self.below(bits)),
            3 => {
                let (from, len) = (self.below(bits), self.below(bits) + 1);
                (((&one << len) - 1u8) << from) & ones
            }
            4 => self.uniform(bytes),
            _ => {
                let data: Vec<u8> = (0..bytes)
                    .map(|_| [0x00, 0x01, 0x80, 0xff][self.below(4)])
                    .collect();
                BigUint::from_bytes_le(&data)
            }
        }
    }
}

/// Words of 8, 16 or 32 bits `x` and `y` somewhere in `operands` with `x y < 2^k <= x y + x`.
fn meet_power(operands: &mut [BigUint], bytes: &[usize], random: &mut Random) {
    let bits = [8, 16, 32][random.below(3)];
    let places = bytes.iter().enumerate().flat_map(|(operand, bytes)| {
        let words = 8 * bytes / bits as usize;
        (0..words).map(move |i| (operand, u64::from(bits) * i as u64))
    });
    let places: Vec<_> = places.collect();
    if places.len() < 2 {
        return;
    }
    let first = random.below(places.len());
    let second = (first + 1 + random.below(places.len() - 1)) % places.len();
    // A top bit makes room for the quotient.
    let x = random.draw() >> (64 - bits) | 1 << (bits - 1);
    let k = 2 * bits - 1 - random.below(2) as u32 * random.below(bits as usize) as u32;
    let y = ((1u64 << k) - 1) / x;
    for ((operand, shift), word) in [(places[first], x), (places[second], y)] {
        let value = &mut operands[operand];
        for bit in 0..u64::from(bits) {
            value.set_bit(shift + bit, word >> bit & 1 == 1);
        }
    }
}

/// Operands of `bytes` bytes each: the corners first, then `count` random and structured ones.
pub fn operands(bytes: &[usize], count: usize, seed: u64) -> Vec<Vec<BigUint>> {
    let mut random = Random::new(seed);
    let one = BigUint::from(1u8);
    let ones = |bytes: &usize| (&one << (8 * bytes)) - 1u8;
    let most: Vec<_> = bytes.iter().map(ones).collect();
    let mut list = vec![most.clone()];
    // One operand at 0, at 1, just below its largest; the others at theirs.
    for side in 0..bytes.len() {
        for value in [BigUint::from(0u8), one.clone(), &most[side] - 1u8] {
            list.push(most.clone());
            if let Some(last) = list.last_mut() {
                last[side] = value;
            }
        }
    }
    for i in 0..count {
        let draw = |bytes: &usize| match i % 3 {
            0 => random.uniform(*bytes),
            _ => random.structured(*bytes),
        };
        let mut operands: Vec<_> = bytes.iter().map(draw).collect();
        if i % 4 == 3 {
            meet_power(&mut operands, bytes, &mut random);
        }
        list.push(operands);
    }
    list
}

/// Operands that keep the contract of `spec`: those of [`operands`], and of a modular operation
/// factors next to its modulus and to the bound of factors.
pub fn of(spec: &Spec, count: usize, seed: u64) -> Vec<Vec<BigUint>> {
    let mut list = operands(&spec.source_bytes(), count, seed);
    let near = list.len();
    if spec.modular.is_some() {
        let first = list.clone().into_iter();
        // Enough places for the special factors, and each of them beside others.
        list.extend(first.cycle().take(6 * SPECIAL));
    }
    for (i, sources) in list.iter_mut().enumerate() {
        admit(spec, sources);
        if let (Some(m), Some(k)) = (spec.modulus(sources), i.checked_sub(near)) {
            let limit = spec.limit(sources);
            let limit = limit.unwrap_or(BigUint::from(1u8) << spec.size.a);
            for (side, source) in sources.iter_mut().take(spec.op.factors()).enumerate() {
                // All pairs in the long run, as both counts have no common factor.
                if side == 0 || k >= SPECIAL {
                    *source = special(&m, &limit, spec.size.a, k / (1 + side * SPECIAL) + k);
                }
            }
        }
    }
    list
}

/// Operands that keep the contract of `spec` and are made of `numbers` of `word_bits` bits that some code holds: one
/// of them alone, in every word, in a word of any number, and as many as an operand has words in a row.
pub fn of_numbers(spec: &Spec, word_bits: u32, numbers: &[u64], seed: u64) -> Vec<Vec<BigUint>> {
    /// The most numbers, and the most rows, that are taken.
    const NUMBERS: usize = 256;
    const ROWS: usize = 1 << 10;
    let mut random = Random::new(seed);
    let bytes = spec.source_bytes();
    let mut list = Vec::new();
    let whole = |words: &[u64]| {
        let sum = |sum: BigUint, word: &u64| (sum << word_bits) + BigUint::from(*word);
        words.iter().rev().fold(BigUint::default(), sum)
    };
    for side in 0..bytes.len() {
        let count = 8 * bytes[side] / word_bits as usize;
        let room = BigUint::from(1u8) << (8 * bytes[side]);
        let mut add = |number: BigUint| {
            let draw = |bytes: &usize| random.uniform(*bytes);
            let mut operands: Vec<_> = bytes.iter().map(draw).collect();
            operands[side] = number % &room;
            list.push(operands);
        };
        let mut seen = HashSet::new();
        let distinct = numbers.iter().filter(|k| seen.insert(**k));
        for (i, number) in distinct.take(NUMBERS).enumerate() {
            add(whole(&[*number]));
            add(whole(&vec![*number; count.max(1)]));
            let mut words: Vec<u64> = numbers
                .iter()
                .cycle()
                .skip(i)
                .step_by(7)
                .take(count)
                .copied()
                .collect();
            if let Some(word) = words.get_mut(i % count.max(1)) {
                *word = *number;
            }
            add(whole(&words));
        }
        let mut rows = HashSet::new();
        for row in numbers.windows(count.max(1)) {
            if rows.len() < ROWS && rows.insert(row) {
                add(whole(row));
            }
        }
    }
    for sources in &mut list {
        admit(spec, sources);
    }
    list
}

/// How many special factors there are.
const SPECIAL: usize = 9;

/// A factor below `limit` next to 0, the modulus `m`, the bound, or `2^n`.
fn special(m: &BigUint, limit: &BigUint, n: u32, which: usize) -> BigUint {
    let one = BigUint::from(1u8);
    let number = match which % SPECIAL {
        0 => BigUint::default(),
        1 => one,
        2 => m - 1u8,
        3 => m - 2u8,
        4 => limit - 1u8,
        5 => limit - 2u8,
        6 => (one << n) % m,
        7 => m.clone(),
        _ => (m + 1u8) >> 1u8,
    };
    number % limit
}

/// Makes sources keep the contract of `spec`: an odd modulus with its `m'`, factors below their bound, a bit `s`.
pub fn admit(spec: &Spec, sources: &mut [BigUint]) {
    let most = spec.op.most_of_word(spec.word_bits);
    if let (Some(most), Some(s)) = (most, sources.last_mut()) {
        *s &= BigUint::from(most);
    }
    let Some(modular) = &spec.modular else {
        return;
    };
    let n = spec.size.a;
    if let (true, Some(last)) = (spec.is_runtime(), sources.last_mut()) {
        let bits = match modular.reduce {
            Reduce::Lazy => n - 2,
            _ => n,
        };
        let mut m = &*last % (BigUint::from(1u8) << bits);
        m.set_bit(0, true);
        if spec.has_all_bits() {
            m.set_bit(u64::from(n) - 1, true);
        }
        if m == BigUint::from(1u8) {
            m = BigUint::from(3u8);
        }
        let mut follows = BigUint::default();
        if spec.op == Op::Tomont {
            follows = square_of_r(&m, n);
        }
        if spec.is_folded() {
            follows = folded::follows(&m, n, spec.word_bits);
        }
        if spec.inverse_follows() {
            let inverse = BigUint::from(negated_inverse(&m, spec.word_bits));
            follows = (follows << spec.word_bits) + inverse;
        }
        m += follows << n;
        *last = m;
    }
    if let Some(limit) = spec.limit(sources) {
        for source in sources.iter_mut().take(spec.op.factors()) {
            *source %= &limit;
        }
    }
}

/// Pairs of operands of `bytes` bytes.
pub fn pairs(bytes: usize, count: usize, seed: u64) -> Vec<[BigUint; 2]> {
    let list = operands(&[bytes, bytes], count, seed);
    list.into_iter()
        .filter_map(|pair| pair.try_into().ok())
        .collect()
}
