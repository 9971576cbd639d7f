//! Factors of polynomials: nearly all are a small number times a power of 2.

use num_bigint::BigInt;

#[derive(Clone, Debug)]
enum Odd {
    Small(i64),
    Large(BigInt),
}

/// `odd * 2^shift`, or 0.
#[derive(Clone, Debug)]
pub struct Number {
    odd: Odd,
    /// The power of 2.
    pub shift: u64,
}

impl Default for Number {
    fn default() -> Self {
        Self::small(0, 0)
    }
}

impl Number {
    /// `value * 2^shift`.
    pub fn new(value: BigInt, shift: u64) -> Self {
        match (i128::try_from(&value), value.trailing_zeros()) {
            (Ok(value), _) => Self::small(value, shift),
            (Err(_), zeros) => {
                let zeros = zeros.unwrap_or(0);
                let odd = value >> zeros;
                let odd = i64::try_from(&odd).map_or(Odd::Large(odd), Odd::Small);
                let shift = shift + zeros;
                Self { odd, shift }
            }
        }
    }

    fn small(value: i128, shift: u64) -> Self {
        let zeros = if value == 0 {
            0
        } else {
            value.trailing_zeros()
        };
        let odd = value >> zeros;
        let odd = i64::try_from(odd).map_or_else(|_| Odd::Large(odd.into()), Odd::Small);
        let shift = shift + u64::from(zeros);
        Self { odd, shift }
    }

    /// The odd number, or 0.
    pub fn odd(&self) -> BigInt {
        match &self.odd {
            Odd::Small(odd) => (*odd).into(),
            Odd::Large(odd) => odd.clone(),
        }
    }

    /// `2^shift factor` times as much.
    pub fn times(&self, factor: impl Into<i128>, shift: u64) -> Self {
        let (factor, shift) = (factor.into(), self.shift + shift);
        let small = match &self.odd {
            Odd::Small(odd) => i128::from(*odd).checked_mul(factor),
            Odd::Large(_) => None,
        };
        match small {
            Some(product) => Self::small(product, shift),
            None => Self::new(self.odd() * factor, shift),
        }
    }

    pub fn plus(&self, other: &Self) -> Self {
        /// A number of 64 bits may be shifted by so many bits in one of 128, with a bit for a sum.
        const ROOM: u64 = 62;
        let [low, high] = match self.shift <= other.shift {
            true => [self, other],
            false => [other, self],
        };
        if low.is_zero() {
            return high.clone();
        }
        if high.is_zero() {
            return low.clone();
        }
        let by = high.shift - low.shift;
        match (&low.odd, &high.odd) {
            (Odd::Small(x), Odd::Small(y)) if by <= ROOM => {
                Self::small(i128::from(*x) + (i128::from(*y) << by), low.shift)
            }
            (Odd::Small(_) | Odd::Large(_), Odd::Small(_) | Odd::Large(_)) => {
                Self::new(low.odd() + (high.odd() << by), low.shift)
            }
        }
    }

    fn is_zero(&self) -> bool {
        matches!(self.odd, Odd::Small(0))
    }

    /// Is it 0, or a multiple of `2^bits`?
    pub fn vanishes(&self, bits: Option<u64>) -> bool {
        self.is_zero() || bits.is_some_and(|bits| self.shift >= bits)
    }
}
