//! The numbers that a caller passes behind a folded modulus (`--modulus runtime-folded`).
//!
//! With `X = 2^(n/2)` and words of `w` bits: `m = m_0 + X m_1`, then `m' = -m^-1 mod X`, then
//! `d = 2^n - m + (X^-1 mod m)`. Behind them stand the differences of halves that Karatsuba multiplies by, as they are the
//! same in every reduction: for `h = n/4`, `n/8` ... of every `2h` bits in `m`, in `d` and in the differences so far, in the
//! order in which they stand there, the upper half less the lower one.

use num_bigint::BigUint;

use crate::modulus::long_negated_inverse;

/// The fewest words of a number whose halves' difference is there: half as many stay in registers.
const HALVED: usize = 16;

/// The differences of one length.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Level {
    /// Words of each, behind which a word of ones stands if the lower half is the larger, else 0.
    pub half: usize,
    /// The first one's first word in the operand.
    pub at: usize,
    /// What numbers they are of.
    pub runs: Vec<Run>,
}

/// Groups of numbers one after another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    pub at: usize,
    pub groups: usize,
    /// Numbers in a group.
    pub numbers: usize,
    /// Words behind each group that belong to none.
    pub skipped: usize,
}

/// The differences behind a modulus of `n` words, in their order.
pub fn levels(n: usize) -> Vec<Level> {
    let run = |at| Run {
        at,
        groups: 1,
        numbers: 2,
        skipped: 0,
    };
    let mut runs = vec![run(0), run(n + n / 2)];
    let (mut at, mut words) = (2 * n + n / 2, n / 2);
    let mut list = Vec::new();
    while words >= HALVED && words.is_multiple_of(2) {
        let half = words / 2;
        let level = Level { half, at, runs };
        let groups = level.runs.iter().map(|run| run.groups * run.numbers).sum();
        runs = level.runs.clone();
        runs.iter_mut().for_each(|run| run.numbers *= 2);
        runs.push(Run {
            at,
            groups,
            numbers: 1,
            skipped: 1,
        });
        at += groups * (half + 1);
        words = half;
        list.push(level);
    }
    list
}

/// `2^(w len) s + x - y` in `len` words of the operand, and then a word that is ones if the borrow `s` is 1, else 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The first words of `x`, of `y` and of the difference.
    pub x: usize,
    pub y: usize,
    pub at: usize,
    pub len: usize,
}

/// The differences behind a modulus of `n` words, each as what it is of.
pub fn differences(n: usize) -> Vec<Difference> {
    let mut list = Vec::new();
    for level in levels(n) {
        let (len, mut at) = (level.half, level.at);
        for run in level.runs {
            let mut y = run.at;
            for _ in 0..run.groups {
                for _ in 0..run.numbers {
                    list.push(Difference {
                        x: y + len,
                        y,
                        at,
                        len,
                    });
                    (y, at) = (y + 2 * len, at + len + 1);
                }
                y += run.skipped;
            }
        }
    }
    list
}

/// What follows a modulus of `bits` bits, in words of `word_bits`, for its contract.
pub fn contract(bits: u32, word_bits: u32) -> Vec<String> {
    let half = bits / 2;
    let mut list = vec![
        format!("-m^-1 mod 2^{half}"),
        format!("d = 2^{bits} - m + (2^-{half} mod m)"),
    ];
    if !differences((bits / word_bits) as usize).is_empty() {
        list.push(format!(
            "for h = {}, {} ... as long as 2h bits are {HALVED} words or more, of an even number: of every 2h bits of m, \
             of d and of the differences so far, in this order, the upper half less the lower mod 2^h, and behind each \
             difference, no part of it, the word 2^{word_bits} - 1 if it is negative, else 0",
            bits / 4,
            bits / 8
        ));
    }
    list
}

/// Words of the operand that stand behind a modulus of `n`.
pub fn following(n: usize) -> usize {
    let own = n / 2 + n;
    differences(n).last().map_or(own, |d| d.at + d.len + 1 - n)
}

/// `m'` and above it `d` for an odd modulus of `bits` bits.
pub fn constants(m: &BigUint, bits: u32) -> BigUint {
    let half = bits / 2;
    let inverse = long_negated_inverse(m, half);
    // (m m' + 1) / X = X^-1 mod m
    let c = (m * &inverse + 1u8) >> half;
    let fold = c + (BigUint::from(1u8) << bits) - m;
    inverse + (fold << half)
}

/// All that follows an odd modulus of `bits` bits, in words of `word_bits`.
pub fn follows(m: &BigUint, bits: u32, word_bits: u32) -> BigUint {
    let mut whole = m + (constants(m, bits) << bits);
    for d in differences((bits / word_bits) as usize) {
        let at = |words: usize| words as u32 * word_bits;
        let power = |words: usize| BigUint::from(1u8) << at(words);
        let number = |from: usize| (&whole >> at(from)) % power(d.len);
        let (x, y) = (number(d.x), number(d.y));
        let with_mask = match x < y {
            true => power(d.len + 1) + x - y,
            false => x - y,
        };
        whole += with_mask << at(d.at);
    }
    whole >> bits
}
