//! Factors of polynomials: mostly small numbers times powers of 2.

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_traits::{Signed, Zero};

/// An odd number, or 0.
#[derive(Clone, Debug)]
enum Odd {
    Small(i64),
    /// One that is not small.
    Large(BigInt),
}

impl Odd {
    fn of(value: i128) -> Self {
        i64::try_from(value).map_or_else(|_| Self::Large(value.into()), Self::Small)
    }

    fn of_large(value: BigInt) -> Self {
        i64::try_from(&value).map_or(Self::Large(value), Self::Small)
    }

    fn value(&self) -> BigInt {
        match self {
            Self::Small(odd) => (*odd).into(),
            Self::Large(odd) => odd.clone(),
        }
    }
}

/// An integer `odd * 2^shift`; 0 has `odd = 0`.
#[derive(Clone, Debug)]
pub struct Scaled {
    odd: Odd,
    pub shift: u64,
}

/// A small number may be shifted by so many bits in one of 128, with a bit for a sum.
const ROOM: u64 = 62;

impl Scaled {
    /// 0.
    pub const ZERO: Self = Self {
        odd: Odd::Small(0),
        shift: 0,
    };

    /// `value * 2^shift`.
    pub fn new(value: impl Into<BigInt>, shift: u64) -> Self {
        let value = value.into();
        match value.trailing_zeros().unwrap_or(0) {
            0 => Self {
                odd: Odd::of_large(value),
                shift,
            },
            zeros => Self {
                odd: Odd::of_large(value >> zeros),
                shift: shift + zeros,
            },
        }
    }

    /// `2^shift`.
    pub const fn power(shift: u64) -> Self {
        let odd = Odd::Small(1);
        Self { odd, shift }
    }

    /// `value * 2^shift` of a number that is not large.
    fn small(value: i128, shift: u64) -> Self {
        let zeros = match value {
            0 => 0,
            value => value.trailing_zeros(),
        };
        Self {
            odd: Odd::of(value >> zeros),
            shift: shift + u64::from(zeros),
        }
    }

    /// The odd part with another power of 2.
    pub fn with_shift(&self, shift: u64) -> Self {
        Self {
            odd: self.odd.clone(),
            shift,
        }
    }

    /// The odd part; 0 of 0.
    pub fn odd(&self) -> BigInt {
        self.odd.value()
    }

    pub fn is_zero(&self) -> bool {
        matches!(self.odd, Odd::Small(0))
    }

    pub fn is_positive(&self) -> bool {
        match &self.odd {
            Odd::Small(odd) => *odd > 0,
            Odd::Large(odd) => odd.is_positive(),
        }
    }

    pub fn is_negative(&self) -> bool {
        match &self.odd {
            Odd::Small(odd) => *odd < 0,
            Odd::Large(odd) => odd.is_negative(),
        }
    }

    /// Bits of the odd part without its sign.
    pub fn odd_bits(&self) -> u64 {
        match &self.odd {
            Odd::Small(odd) => u64::from(u64::BITS - odd.unsigned_abs().leading_zeros()),
            Odd::Large(odd) => odd.bits(),
        }
    }

    /// Is the odd part a multiple of a number?
    pub fn is_multiple(&self, of: &BigInt) -> bool {
        (self.odd() % of).is_zero()
    }

    /// `self / (sign 2^bits)`, if it is whole.
    pub fn divided(&self, sign: i64, bits: u64) -> Option<Self> {
        let shift = match self.is_zero() {
            true => 0,
            false => self.shift.checked_sub(bits)?,
        };
        Some(self.times(sign).with_shift(shift))
    }

    /// The number itself.
    pub fn value(&self) -> BigInt {
        self.odd() << self.shift
    }

    pub fn add(&mut self, other: &Self) {
        if self.is_zero() {
            *self = other.clone();
            return;
        }
        if other.is_zero() {
            return;
        }
        // An odd number and an even one are an odd number: only of two odd ones the sum is to be shifted.
        let (low, high) = match self.shift.cmp(&other.shift) {
            Ordering::Less => (&*self, other),
            Ordering::Greater => (other, &*self),
            Ordering::Equal => {
                *self = match (&self.odd, &other.odd) {
                    (Odd::Small(x), Odd::Small(y)) => {
                        Self::small(i128::from(*x) + i128::from(*y), self.shift)
                    }
                    _ => Self::new(self.odd() + other.odd(), self.shift),
                };
                return;
            }
        };
        let by = high.shift - low.shift;
        let odd = match (&low.odd, &high.odd) {
            (Odd::Small(x), Odd::Small(y)) if by <= ROOM => {
                Odd::of(i128::from(*x) + (i128::from(*y) << by))
            }
            _ => Odd::of_large(low.odd() + (high.odd() << by)),
        };
        let shift = low.shift;
        *self = Self { odd, shift };
    }

    /// `factor` times as much.
    pub fn times(&self, factor: i64) -> Self {
        self.times_wide(factor.into())
    }

    /// The same for a factor that need not fit 64 bits.
    pub fn times_wide(&self, factor: i128) -> Self {
        let small = match &self.odd {
            Odd::Small(odd) => i128::from(*odd).checked_mul(factor),
            Odd::Large(_) => None,
        };
        match (small, factor) {
            (Some(product), _) => Self::small(product, self.shift),
            (None, -1) => Self {
                odd: Odd::of_large(-self.odd()),
                shift: self.shift,
            },
            (None, _) => Self::new(self.odd() * factor, self.shift),
        }
    }

    /// The same for a factor of any size.
    pub fn times_large(&self, factor: impl Into<BigInt>) -> Self {
        Self::new(self.odd() * factor.into(), self.shift)
    }

    /// `-self * 2^bits`.
    pub fn carried(&self, bits: u64) -> Self {
        self.times(-1).with_shift(self.shift + bits)
    }

    /// Is it a multiple of `2^bits`?
    pub fn vanishes(&self, bits: u64) -> bool {
        self.is_zero() || self.shift >= bits
    }
}
