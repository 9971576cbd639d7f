//! Operands to run a kernel on: random, and structured where carries get lost.
//!
//! Uniform operands almost never ripple a carry through a word of ones. These do: words
//! of 00, 01, 80 and ff, single bits, all ones minus a bit, runs of ones.

use num_bigint::BigUint;

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

/// Pairs of operands of `bytes` bytes: the corners first, then `count` random and structured ones.
pub fn pairs(bytes: usize, count: usize, seed: u64) -> Vec<[BigUint; 2]> {
    let mut random = Random::new(seed);
    let one = BigUint::from(1u8);
    let ones = (&one << (8 * bytes)) - 1u8;
    let zero = BigUint::from(0u8);
    let mut list = vec![
        [ones.clone(), ones.clone()],
        [zero.clone(), ones.clone()],
        [ones.clone(), one.clone()],
        [ones.clone(), &ones - 1u8],
    ];
    for i in 0..count {
        list.push(if i % 3 == 0 {
            [random.uniform(bytes), random.uniform(bytes)]
        } else {
            [random.structured(bytes), random.structured(bytes)]
        });
    }
    list
}
