//! Factors of polynomials: mostly powers of 2.

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
        let zeros = value.trailing_zeros().unwrap_or(0);
        Self {
            odd: value >> zeros,
            shift: shift + zeros,
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
        } else if !other.odd.is_zero() {
            let low = self.shift.min(other.shift);
            let sum = (&self.odd << (self.shift - low)) + (&other.odd << (other.shift - low));
            *self = Self::new(sum, low);
        }
    }

    pub fn times(&self, factor: i64) -> Self {
        Self::new(&self.odd * factor, self.shift)
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
