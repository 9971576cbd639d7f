//! The numbers a caller must put beside modulus and base, and what is wrong with those he gives.

use num_bigint::BigUint;

use crate::spec::modulus::negated_inverse;

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
        for (name, value, room) in [("modulus", modulus, bits), ("exponent", exponent, exponent_bits)] {
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

    /// The inputs of a driver for `bits` bits on a machine with words of `word` bytes.
    pub fn inputs(&self, bits: u32, word: usize) -> Vec<(&'static str, BigUint)> {
        vec![
            ("base", self.base.clone()),
            ("exponent", self.exponent.clone()),
            ("modulus", with_inverse(&self.modulus, bits, 8 * word as u32)),
            ("r2", r_squared(&self.modulus, bits)),
        ]
    }

    /// What the driver must leave as `result`.
    pub fn value(&self) -> BigUint {
        self.base.modpow(&self.exponent, &self.modulus)
    }
}

/// `m`, and above its `bits` bits `-m^-1 mod 2^inverse_bits`.
pub fn with_inverse(m: &BigUint, bits: u32, inverse_bits: u32) -> BigUint {
    m + (BigUint::from(negated_inverse(m, inverse_bits)) << bits)
}

/// `2^(2 bits) mod m`.
pub fn r_squared(m: &BigUint, bits: u32) -> BigUint {
    (BigUint::from(1u8) << (2 * bits)) % m
}
