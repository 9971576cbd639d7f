//! RSA: the private operation by way of the primes, and the public one.

use num_bigint::BigUint;
use spec::Op;

use crate::driver::exponentiation::{Ladder, Room, modulus, operand, power};
use crate::driver::modulo::{Factor, Modulo, Products, copy, kernel};
use crate::driver::numbers::{Inputs, field_bits, r_squared, with_inverse};
use crate::driver::{Action, Cell, Driver, MultiplyAdd, Role, Stored};

/// `result = input^d mod p q` for primes of half as many bits as the product's `bits`:
/// `m1 = input^dp mod p`, `m2 = input^dq mod q`, `h = (m1 - m2) / q mod p`, `result = m2 + h q`
/// (Garner; RFC 8017, section 5.1.2).
pub fn private(word: usize, bits: u32, ladder: Ladder, products: Products) -> Driver {
    let mut d = Driver::new(word);
    let half = bits / 2;
    let result = d.field("result", bits, Role::Output, "input^d mod p q");
    let input = d.field("input", bits, Role::Input, "less than p q");
    let p = modulus(&mut d, "p", products, half);
    let q = modulus(&mut d, "q", products, half);
    let mut number = |name, meaning| d.field(name, half, Role::Input, meaning);
    let dp = number("dp", "d mod p - 1");
    let dq = number("dq", "d mod q - 1");
    let qinv = number(
        "qinv_mont",
        "2^n / q mod p, for primes of n bits, p > q: PKCS#1's coefficient q^-1 mod p, times 2^n, mod p",
    );
    let r2p = number("r2p", "2^(2n) mod p");
    let r2q = number("r2q", "2^(2n) mod q");
    let e = Modulo::new(&mut d, products, half);
    let room = Room::new(&mut d, ladder, half);
    let n = e.x.bytes;
    // input^d mod p and mod q wait where the result and the powers are not yet, or no more.
    let (m1, m2) = (result.part(0, n), room.first(n));
    let mut steps = Vec::new();
    for (prime, exponent, r2, to) in [(p, dp, r2p, m1), (q, dq, r2q, m2)] {
        steps.extend(e.modulo(prime));
        steps.extend(residue(&e, input, r2));
        steps.extend(power(&e, &room, exponent, half, r2));
        steps.push(copy(to, e.x));
    }
    steps.extend(e.modulo(p));
    steps.extend([
        copy(e.x, m1),
        // m2 < q < p: one addition makes up for a borrow.
        Action::MultiplyAdd(MultiplyAdd::subtract(e.x, m2.at).out(Cell::Borrow)),
        Action::MultiplyAdd(MultiplyAdd::add(e.x, p.at).times(Cell::Borrow)),
        copy(e.y, qinv),
    ]);
    steps.extend(e.multiply());
    steps.extend(e.canonical());
    let product = kernel(&mut d, Op::Mul, half);
    steps.extend([
        Action::Call {
            kernel: product,
            pointers: vec![result.at, e.x.at, q.at],
        },
        Action::MultiplyAdd(MultiplyAdd::add(result.part(0, n), m2.at).out(Cell::Carry)),
        Action::MultiplyAdd(MultiplyAdd {
            from: None,
            ..MultiplyAdd::add(result.part(n, n), 0).with(Cell::Carry)
        }),
    ]);
    d.routines[0] = steps;
    d
}

/// `x = input 2^n mod m` of an input of `2n` bits: reduced, and twice by `2^(2n)`; or `high 2^(2n) + low 2^n`, each by
/// products with `2^(2n)`.
fn residue(e: &Modulo, input: Stored, r2: Stored) -> Vec<Action> {
    let n = e.x.bytes;
    let mut steps = vec![copy(e.y, r2)];
    let Some(z) = e.z else {
        steps.extend(e.reduced(input));
        steps.extend(e.products(&[Factor::Y, Factor::Y]));
        return steps;
    };
    steps.push(copy(e.x, input.part(n, n)));
    steps.extend(e.multiply());
    steps.extend(e.multiply());
    steps.extend([copy(z, e.x), copy(e.x, input.part(0, n))]);
    steps.extend(e.multiply());
    steps.extend(e.add());
    steps
}

/// Squares of the public exponent: `65537 = 2^16 + 1`.
const SQUARES: usize = 16;

/// `result = input^65537 mod modulus`.
pub fn public(word: usize, bits: u32, products: Products) -> Driver {
    public_modulo(Driver::new(word), bits, products)
}

/// The same in `d`, modulo what that says.
pub fn public_modulo(mut d: Driver, bits: u32, products: Products) -> Driver {
    let result = d.field("result", bits, Role::Output, "input^65537 mod modulus");
    let input = d.field("input", bits, Role::Input, "less than the modulus");
    let modulus = operand(&mut d, products, bits);
    let r2 = d.field(
        "r2",
        bits,
        Role::Input,
        "2^(2n) mod m, for numbers of n bits",
    );
    let e = Modulo::new(&mut d, products, bits);
    let mut steps = modulus.map_or_else(Vec::new, |m| e.modulo(m));
    steps.extend([copy(e.x, input), copy(e.y, r2)]);
    steps.extend(e.multiply());
    steps.push(Action::Repeat {
        times: SQUARES,
        counter: Cell::Outer,
        body: e.square(),
    });
    // input^65536 2^n times input: out of Montgomery's form at once.
    steps.push(copy(e.y, input));
    steps.extend(e.multiply());
    steps.extend(e.canonical());
    steps.push(copy(result, e.x));
    d.routines[0] = steps;
    d
}

/// A private key, as a caller gives it.
#[derive(Clone, Debug, Default)]
pub struct Key {
    pub p: BigUint,
    pub q: BigUint,
    /// The public exponent.
    pub e: BigUint,
    /// As far as they are given: they must be what they would be computed to be.
    pub dp: Option<BigUint>,
    pub dq: Option<BigUint>,
    pub qinv: Option<BigUint>,
}

/// A key, or an input, that no driver can work on.
#[derive(thiserror::Error, Debug, Clone, PartialEq, Eq)]
pub enum KeyError {
    #[error("{0} has {1} bits: primes of this key have {2}")]
    Bits(&'static str, u64, u32),
    #[error("{0} is even, so it is no prime")]
    Even(&'static str),
    #[error("p and q are the same")]
    Equal,
    #[error(
        "{0} divides p q and the other's order: the public exponent has no inverse mod {1} - 1"
    )]
    Exponent(BigUint, &'static str),
    #[error("{0} does not belong to p, q and the public exponent: it must be {1:#x}")]
    Mismatch(&'static str, BigUint),
    #[error("{0} is not prime to the other prime")]
    Inverse(&'static str),
    #[error("the input must be less than p q: try {0:#x}")]
    Input(BigUint),
}

/// What follows from a key.
#[derive(Clone, Debug)]
pub struct Private {
    p: BigUint,
    q: BigUint,
    dp: BigUint,
    dq: BigUint,
    qinv: BigUint,
}

impl Key {
    /// What the private operation needs, with the larger prime first.
    ///
    /// # Errors
    /// What does not fit, in a key for products of `bits` bits.
    pub fn private(&self, bits: u32) -> Result<Private, KeyError> {
        let half = bits / 2;
        for (name, prime) in [("p", &self.p), ("q", &self.q)] {
            if prime.bits() != u64::from(half) {
                return Err(KeyError::Bits(name, prime.bits(), half));
            }
            if !prime.bit(0) {
                return Err(KeyError::Even(name));
            }
        }
        if self.p == self.q {
            return Err(KeyError::Equal);
        }
        let inverse = |name: &'static str, prime: &BigUint| {
            let found = self.e.modinv(&(prime - 1u8));
            found.ok_or_else(|| KeyError::Exponent(self.e.clone(), name))
        };
        let (dp, dq) = (inverse("p", &self.p)?, inverse("q", &self.q)?);
        let of = |a: &BigUint, m: &BigUint| a.modinv(m).ok_or(KeyError::Inverse("q"));
        let qinv = of(&self.q, &self.p)?;
        let given = [
            ("dp", &self.dp, &dp),
            ("dq", &self.dq, &dq),
            ("qinv", &self.qinv, &qinv),
        ];
        for (name, given, right) in given {
            if given.as_ref().is_some_and(|given| given != right) {
                return Err(KeyError::Mismatch(name, right.clone()));
            }
        }
        let (p, q) = (self.p.clone(), self.q.clone());
        match p > q {
            true => Ok(Private { p, q, dp, dq, qinv }),
            false => {
                let qinv = of(&p, &q)?;
                Ok(Private {
                    p: q,
                    q: p,
                    dp: dq,
                    dq: dp,
                    qinv,
                })
            }
        }
    }
}

impl Private {
    /// `p q`.
    pub fn modulus(&self) -> BigUint {
        &self.p * &self.q
    }

    /// The inputs of a private driver.
    ///
    /// # Errors
    /// When `input` is not less than the modulus.
    pub fn inputs(&self, driver: &Driver, input: &BigUint) -> Result<Inputs, KeyError> {
        if *input >= self.modulus() {
            return Err(KeyError::Input(input % self.modulus()));
        }
        let bits = field_bits(driver, "dp");
        Ok(vec![
            ("input", input.clone()),
            ("p", with_inverse(&self.p, bits, driver, "p")),
            ("q", with_inverse(&self.q, bits, driver, "q")),
            ("dp", self.dp.clone()),
            ("dq", self.dq.clone()),
            ("qinv_mont", (&self.qinv << bits) % &self.p),
            ("r2p", r_squared(&self.p, bits)),
            ("r2q", r_squared(&self.q, bits)),
        ])
    }

    /// What the private driver must leave as `result`.
    pub fn value(&self, input: &BigUint) -> BigUint {
        let (m1, m2) = (
            input.modpow(&self.dp, &self.p),
            input.modpow(&self.dq, &self.q),
        );
        let h = (m1 + &self.p - &m2 % &self.p) * &self.qinv % &self.p;
        m2 + h * &self.q
    }
}

/// The inputs of a public driver for an odd `modulus`.
pub fn public_inputs(driver: &Driver, modulus: &BigUint, input: &BigUint) -> Inputs {
    let bits = field_bits(driver, "input");
    vec![
        ("input", input.clone()),
        ("modulus", with_inverse(modulus, bits, driver, "modulus")),
        ("r2", r_squared(modulus, bits)),
    ]
}
