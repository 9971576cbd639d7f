//! The numbers a caller must put beside modulus and base, and what is wrong with the ones given.

use num_bigint::BigUint;
use spec::folded;
use spec::modulus::long_negated_inverse;
use spec::vectors::Random;

use crate::driver::{Driver, EXPONENT};

/// Numbers that no driver can work on.
#[derive(thiserror::Error, Debug, Clone, PartialEq, Eq)]
pub enum NumberError {
    #[error("the modulus {0:#x} is even: Montgomery's products need an odd one")]
    Even(BigUint),
    #[error("the modulus {0:#x} is too small: the smallest is 3")]
    Small(BigUint),
    #[error("the {name} has {bits} bits, there is room for {room}: try {bits} bits")]
    Large {
        name: &'static str,
        bits: u64,
        room: u32,
    },
    #[error("the base must be less than the modulus: try {0:#x}")]
    Base(BigUint),
    #[error("the exponent is 0: the smallest is 1")]
    Zero,
}

/// A base, an exponent and a modulus.
#[derive(Clone, Debug)]
pub struct Power {
    pub base: BigUint,
    pub exponent: BigUint,
    pub modulus: BigUint,
}

impl Power {
    /// Are they what a driver for `bits` and `exponent_bits` bits works on?
    ///
    /// # Errors
    /// What is wrong, and what to give instead.
    pub fn check(&self, bits: u32, exponent_bits: u32) -> Result<(), NumberError> {
        let Power {
            base,
            exponent,
            modulus,
        } = self;
        if *modulus < BigUint::from(3u8) {
            return Err(NumberError::Small(modulus.clone()));
        }
        if !modulus.bit(0) {
            return Err(NumberError::Even(modulus.clone()));
        }
        for (name, value, room) in [
            ("modulus", modulus, bits),
            ("exponent", exponent, exponent_bits),
        ] {
            if value.bits() > u64::from(room) {
                let bits = value.bits();
                return Err(NumberError::Large { name, bits, room });
            }
        }
        if base >= modulus {
            return Err(NumberError::Base(base % modulus));
        }
        if exponent.bits() == 0 {
            return Err(NumberError::Zero);
        }
        Ok(())
    }

    /// The inputs of `driver`.
    pub fn inputs(&self, driver: &Driver) -> Inputs {
        let bits = field_bits(driver, "base");
        vec![
            ("base", self.base.clone()),
            (EXPONENT, self.exponent.clone()),
            (
                "modulus",
                with_inverse(&self.modulus, bits, driver, "modulus"),
            ),
            ("r2", r_squared(&self.modulus, bits)),
        ]
    }

    /// What the driver must leave as `result`.
    pub fn value(&self) -> BigUint {
        self.base.modpow(&self.exponent, &self.modulus)
    }
}

/// The numbers that a caller gives, by the names of their fields.
pub type Inputs = Vec<(&'static str, BigUint)>;

/// Bits of a field.
pub fn field_bits(driver: &Driver, name: &str) -> u32 {
    driver.named(name).map_or(0, |f| 8 * f.place.bytes as u32)
}

/// `m`, and above its `bits` bits as many bits of `-m^-1` as the field has room for, or half of them and what folds.
pub fn with_inverse(m: &BigUint, bits: u32, driver: &Driver, name: &str) -> BigUint {
    let room = field_bits(driver, name).saturating_sub(bits);
    let follows = match room == bits / 2 + bits {
        true => folded::constants(m, bits),
        false => long_negated_inverse(m, room),
    };
    m + (follows << bits)
}

/// `2^(2 bits) mod m`.
pub fn r_squared(m: &BigUint, bits: u32) -> BigUint {
    (BigUint::from(1u8) << (2 * bits)) % m
}

/// A prime of exactly `bits` bits, its two upper ones set, so that products of two have twice as many;
/// `e` has an inverse modulo the prime less 1.
pub fn prime(bits: u32, e: u32, random: &mut Random) -> BigUint {
    let one = BigUint::from(1u8);
    loop {
        let drawn = random.uniform(bits.div_ceil(8) as usize) % (&one << bits);
        let x = drawn | BigUint::from(3u8) << (bits - 2) | &one;
        let fits = (&x - 1u8).modinv(&e.into()).is_some() || e == 1;
        if fits && is_prime(&x, random) {
            return x;
        }
    }
}

/// Is `x` prime? Wrong for a number that is not with a probability of 4^-24 at most (Miller, Rabin).
pub fn is_prime(x: &BigUint, random: &mut Random) -> bool {
    const SMALL: [u32; 15] = [3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53];
    const ROUNDS: usize = 24;
    let zero = BigUint::ZERO;
    if *x < BigUint::from(5u8) {
        return *x > BigUint::from(1u8) && *x != BigUint::from(4u8);
    }
    if SMALL
        .iter()
        .any(|p| x % *p == zero && *x != BigUint::from(*p))
    {
        return false;
    }
    let less = x - 1u8;
    let twos = less.trailing_zeros().unwrap_or(0);
    let odd = &less >> twos;
    let one = BigUint::from(1u8);
    (0..ROUNDS).all(|_| {
        let a = random.uniform(x.bits().div_ceil(8) as usize) % (&less - 2u8) + 2u8;
        let mut power = a.modpow(&odd, x);
        if power == one || power == less {
            return true;
        }
        (1..twos).any(|_| {
            power = &power * &power % x;
            power == less
        })
    })
}
