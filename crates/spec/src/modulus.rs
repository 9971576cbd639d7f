//! Moduli: numbers, names and sums of powers, and what reduction leaves.

use std::fmt;
use std::str::FromStr;

use num_bigint::BigUint;

use crate::nearest::did_you_mean;

/// A modulus.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Modulus {
    /// Known when the kernel is generated; `text` is what it was called.
    Fixed { value: BigUint, text: String },
    /// An operand of the kernel, in Montgomery's operations followed by `m' = -m^-1 mod 2^w`.
    Runtime,
    /// An operand alone: the kernel computes `m'`.
    RuntimeBare,
    /// An operand, followed by `-m^-1 mod 2^(n/2)`, `2^n - m + (2^-(n/2) mod m)`, and differences of halves
    /// ([`crate::folded`]).
    RuntimeFolded,
}

/// How far a result is reduced.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Reduce {
    /// Operands and result below `m`.
    #[default]
    Full,
    /// Operands and result below `2^n`.
    Almost,
    /// Operands and result below `2 m`, for `4 m <= 2^n`.
    Lazy,
}

impl Reduce {
    /// All of them.
    pub const ALL: [Reduce; 3] = [Reduce::Full, Reduce::Almost, Reduce::Lazy];

    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Reduce::Full => "full",
            Reduce::Almost => "almost",
            Reduce::Lazy => "lazy",
        }
    }

    /// What results, and operands that are reduced, are below: `m`, `2^n` or `2 m`.
    pub fn bound(self, m: &BigUint, n: u32) -> BigUint {
        match self {
            Reduce::Full => m.clone(),
            Reduce::Almost => BigUint::from(1u8) << n,
            Reduce::Lazy => m << 1,
        }
    }

    /// The same in words.
    pub fn bound_text(self, n: u32) -> String {
        match self {
            Reduce::Full => "m".into(),
            Reduce::Almost => format!("2^{n}"),
            Reduce::Lazy => "2 m".into(),
        }
    }
}

/// A modulus and how far results are reduced.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Modular {
    pub modulus: Modulus,
    pub reduce: Reduce,
    /// Of products and squares: numbers are kept times `2^shift`, so that `2^-shift` is a factor of a product
    /// (Park, Hong, Chang, Cho 2021: the range shifted representation). 0 for all others.
    pub shift: u32,
    /// What [`Op::Modtimes`](crate::Op::Modtimes) multiplies by. 0 for all others.
    pub times: u32,
}

impl Modular {
    /// Full reduction modulo `modulus`.
    pub fn full(modulus: Modulus) -> Self {
        Self {
            modulus,
            reduce: Reduce::Full,
            shift: 0,
            times: 0,
        }
    }

    /// The modulus, if it is known.
    pub fn fixed(&self) -> Option<&BigUint> {
        match &self.modulus {
            Modulus::Fixed { value, .. } => Some(value),
            Modulus::Runtime | Modulus::RuntimeBare | Modulus::RuntimeFolded => None,
        }
    }
}

/// `-m^-1 mod 2^bits` for an odd `m` and any number of bits.
pub fn long_negated_inverse(m: &BigUint, bits: u32) -> BigUint {
    let power = BigUint::from(1u8) << bits;
    // x (2 - m x) has twice as many right bits; m m = 1 mod 8.
    let mut x = m % &power;
    for _ in 0..u32::BITS - bits.leading_zeros() {
        let two = BigUint::from(2u8) + &power - (m * &x) % &power;
        x = x * two % &power;
    }
    (&power - x) % &power
}

/// `-m^-1 mod 2^bits` for an odd `m`: Newton's `x (2 - m x)` doubles the bits that are right.
pub fn negated_inverse(m: &BigUint, bits: u32) -> u64 {
    let digits = m.to_u64_digits();
    let m = digits.first().copied().unwrap_or(0);
    // Three bits to begin with: m m = 1 mod 8.
    let mut x = m;
    for _ in 0..5 {
        x = x.wrapping_mul(2u64.wrapping_sub(m.wrapping_mul(x)));
    }
    x.wrapping_neg() & (u64::MAX >> (64 - bits))
}

/// `R^2 mod m` for `R = 2^bits`: Montgomery's product with it is `R` times the other factor.
pub fn square_of_r(m: &BigUint, bits: u32) -> BigUint {
    (BigUint::from(1u8) << (2 * bits)) % m
}

/// Moduli with names: FIPS 186-4 D.1.2, SEC 2, RFC 7748, and the OPFs of Seo, Kim 2014, table 3.
pub const NAMES: [(&str, &str); 19] = [
    ("p192", "2^192-2^64-1"),
    ("p224", "2^224-2^96+1"),
    ("p256", "2^256-2^224+2^192+2^96-1"),
    ("p384", "2^384-2^128-2^96+2^32-1"),
    ("p521", "2^521-1"),
    ("25519", "2^255-19"),
    ("secp160r1", "2^160-2^31-1"),
    ("secp256k1", "2^256-2^32-977"),
    ("opf160", "52542*2^144+1"),
    ("opf192", "55218*2^176+1"),
    ("opf224", "50643*2^208+1"),
    ("opf256", "37266*2^240+1"),
    (
        "p192-order",
        "0xffffffffffffffffffffffff99def836146bc9b1b4d22831",
    ),
    (
        "p224-order",
        "0xffffffffffffffffffffffffffff16a2e0b8f03e13dd29455c5c2a3d",
    ),
    (
        "p256-order",
        "0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
    ),
    (
        "p384-order",
        "0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973",
    ),
    (
        "25519-order",
        "2^252+27742317777372353535851937790883648493",
    ),
    (
        "secp160r1-order",
        "0x0100000000000000000001f4c8f927aed3ca752257",
    ),
    (
        "secp256k1-order",
        "0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141",
    ),
];

/// Other names of these, in small letters: SEC 2, ANSI X9.62, FIPS 186-4, RFC 7748.
const ALSO: [(&str, &str); 22] = [
    ("p-192", "p192"),
    ("secp192r1", "p192"),
    ("prime192v1", "p192"),
    ("nistp192", "p192"),
    ("p-224", "p224"),
    ("secp224r1", "p224"),
    ("nistp224", "p224"),
    ("p-256", "p256"),
    ("secp256r1", "p256"),
    ("prime256v1", "p256"),
    ("nistp256", "p256"),
    ("p-384", "p384"),
    ("secp384r1", "p384"),
    ("nistp384", "p384"),
    ("p-521", "p521"),
    ("secp521r1", "p521"),
    ("nistp521", "p521"),
    ("curve25519", "25519"),
    ("ed25519", "25519"),
    ("x25519", "25519"),
    ("ed25519-order", "25519-order"),
    ("secp256r1-order", "p256-order"),
];

/// The largest exponent that is read.
const MOST_BITS: u32 = 1 << 16;

impl FromStr for Modulus {
    type Err = String;

    /// `runtime`, `runtime-bare`, `runtime-folded`, a name, or a sum like `52542*2^144+1` of numbers, decimal or 0x..,
    /// times powers of 2.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "runtime" => return Ok(Modulus::Runtime),
            "runtime-bare" => return Ok(Modulus::RuntimeBare),
            "runtime-folded" => return Ok(Modulus::RuntimeFolded),
            _ => {}
        }
        let small = text.to_lowercase();
        let also = ALSO.iter().find(|(name, _)| *name == small);
        let small = also.map_or(small.as_str(), |(_, name)| name);
        let named = NAMES.iter().find(|(name, _)| *name == small);
        let value = sum(named.map_or(text, |(_, sum)| sum)).ok_or_else(|| {
            let names: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
            let near = did_you_mean(small, names.iter().copied());
            format!(
                "{text} is no modulus{near}: try a number (0x.. is hexadecimal), a sum like 2^255-19 or \
                 52542*2^144+1, runtime, runtime-bare, runtime-folded, or one of {}",
                names.join(", ")
            )
        })?;
        let text = match named {
            // A name is a number, too: only a table says that 25519 is one.
            Some((name, _)) => (*name).to_string(),
            None => format!("{value:#x}"),
        };
        Ok(Modulus::Fixed { value, text })
    }
}

impl fmt::Display for Modulus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Modulus::Fixed { text, .. } => f.write_str(text),
            Modulus::Runtime => f.write_str("runtime"),
            Modulus::RuntimeBare => f.write_str("runtime-bare"),
            Modulus::RuntimeFolded => f.write_str("runtime-folded"),
        }
    }
}

/// The value of `x + y - z ...`.
fn sum(text: &str) -> Option<BigUint> {
    let (mut plus, mut minus) = (BigUint::default(), BigUint::default());
    let mut rest = text;
    let mut negative = false;
    loop {
        let end = rest.find(['+', '-']).unwrap_or(rest.len());
        let value = product(&rest[..end])?;
        match negative {
            false => plus += value,
            true => minus += value,
        }
        if end == rest.len() {
            return (plus >= minus).then(|| plus - minus);
        }
        negative = rest[end..].starts_with('-');
        rest = &rest[end + 1..];
    }
}

/// `x`, `2^k` or `x*2^k`.
fn product(text: &str) -> Option<BigUint> {
    let power = |text: &str| {
        let exponent: u32 = text.trim().strip_prefix("2^")?.parse().ok()?;
        (exponent <= MOST_BITS).then(|| BigUint::from(1u8) << exponent)
    };
    match text.split_once('*') {
        Some((x, two)) => Some(number(x)? * power(two)?),
        None => power(text).or_else(|| number(text)),
    }
}

fn number(text: &str) -> Option<BigUint> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(hex) => BigUint::parse_bytes(hex.as_bytes(), 16),
        None => BigUint::parse_bytes(text.as_bytes(), 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_numbers() {
        let value = |text: &str| match text.parse() {
            Ok(Modulus::Fixed { value, .. }) => format!("{value:x}"),
            other => format!("{other:?}"),
        };
        assert_eq!(value("2^8-5"), "fb");
        assert_eq!(value("3*2^8+0x11"), "311");
        assert_eq!(value("65537"), "10001");
        for (name, known) in ALSO {
            assert!(!value(known).starts_with("Err"), "{known}");
            let loud = name.to_uppercase();
            assert_eq!(
                [value(name), value(&loud)],
                [value(known), value(known)],
                "{name}"
            );
        }
        assert_eq!(
            value("p256"),
            "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"
        );
        for wrong in ["", "p257", "1-2", "2^x", "3*5", "-1", "2^99999999", "0xg"] {
            assert!(wrong.parse::<Modulus>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn inverses_multiply_to_minus_one() {
        for m in (1..2000u64).step_by(2).chain([u64::MAX, 0x8000_0001]) {
            for bits in [8, 16, 32, 64] {
                let x = negated_inverse(&m.into(), bits);
                let one = m.wrapping_mul(x).wrapping_add(1) << (64 - bits);
                assert_eq!(one, 0, "{m} {bits}");
            }
        }
    }
}
