//! Factors of polynomials: mostly powers of 2.

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_traits::Zero;

/// An integer `odd * 2^shift`; 0 has `odd = 0`.
#[derive(Clone, Debug)]
pub(crate) struct Scaled {
    pub odd: BigInt,
    pub shift: u64,
}

impl Scaled {
    /// `value * 2^shift`.
    pub fn new(value: BigInt, shift: u64) -> Self {
        match value.trailing_zeros().unwrap_or(0) {
            0 => Self { odd: value, shift },
            zeros => Self {
                odd: value >> zeros,
                shift: shift + zeros,
            },
        }
    }

    /// `self / (sign 2^bits)`, if it is whole.
    pub fn divided(&self, sign: i64, bits: u64) -> Option<Self> {
        Some(Self {
            odd: &self.odd * sign,
            shift: match self.odd.is_zero() {
                true => 0,
                false => self.shift.checked_sub(bits)?,
            },
        })
    }

    /// The number itself.
    pub fn value(&self) -> BigInt {
        &self.odd << self.shift
    }

    pub fn add(&mut self, other: &Self) {
        if self.odd.is_zero() {
            *self = other.clone();
            return;
        }
        if other.odd.is_zero() {
            return;
        }
        // An odd number and an even one are an odd number: only of two odd ones the sum is to be shifted.
        match self.shift.cmp(&other.shift) {
            Ordering::Less => self.odd += &other.odd << (other.shift - self.shift),
            Ordering::Greater => {
                self.odd <<= self.shift - other.shift;
                self.odd += &other.odd;
                self.shift = other.shift;
            }
            Ordering::Equal => {
                let sum = std::mem::take(&mut self.odd) + &other.odd;
                *self = Self::new(sum, self.shift);
            }
        }
    }

    pub fn times(&self, factor: i64) -> Self {
        if factor == 0 || self.odd.is_zero() {
            return Self::new(BigInt::zero(), self.shift);
        }
        // Odd numbers have an odd product.
        let zeros = factor.trailing_zeros();
        let odd = match factor >> zeros {
            1 => self.odd.clone(),
            -1 => -&self.odd,
            other => &self.odd * other,
        };
        Self {
            odd,
            shift: self.shift + u64::from(zeros),
        }
    }

    /// `-self * 2^bits`.
    pub fn carried(&self, bits: u64) -> Self {
        Self {
            odd: -&self.odd,
            shift: self.shift + bits,
        }
    }

    /// Is it a multiple of `2^bits`?
    pub fn vanishes(&self, bits: u64) -> bool {
        self.odd.is_zero() || self.shift >= bits
    }
}
