//! Numbers for a driver: those that were typed, random ones for the rest, and the expected result.

use lozenge::driver::Driver;
use lozenge::driver::numbers::{Inputs, NumberError, Power, prime};
use lozenge::driver::rsa::{self, Key};
use lozenge::spec::modulus::Modulus;
use lozenge::vectors::Random;
use num_bigint::BigUint;

use crate::cli::driver_plan::Asked;
use crate::cli::values::DriverOp;

/// Numbers on the command line, by their names.
pub type Given = Vec<(&'static str, Option<BigUint>)>;

/// A run.
pub struct Case {
    pub inputs: Inputs,
    pub want: BigUint,
    /// What people want to see, in this order.
    pub shown: Inputs,
}

/// The public exponent of keys.
const PUBLIC: u32 = 65537;

impl Case {
    /// Of `driver` for `plan`.
    ///
    /// # Errors
    /// A number that does not fit, or that this computation does not take.
    pub fn new(plan: &Asked, driver: &Driver, given: &Given, seed: u64) -> Result<Self, String> {
        let taken: &[&str] = match plan.op {
            DriverOp::Modexp => &["base", "exponent", "modulus"],
            DriverOp::Modinv => &["base", "modulus"],
            DriverOp::Rsa => &["input", "p", "q", "dp", "dq", "qinv"],
            DriverOp::RsaPublic => &["input", "modulus"],
        };
        let stranger =
            |(name, value): &&(&'static str, _)| Option::is_some(value) && !taken.contains(name);
        if let Some((name, _)) = given.iter().find(stranger) {
            let taken: Vec<_> = taken.iter().map(|name| format!("--{name}")).collect();
            return Err(format!(
                "{} takes no --{name}, but {}",
                plan.name(),
                taken.join(", ")
            ));
        }
        let value = |name: &str| given.iter().find(|(n, _)| *n == name)?.1.clone();
        let mut random = Random::new(seed);
        match plan.op {
            DriverOp::Modexp => power(plan, driver, &value, &mut random),
            DriverOp::Modinv => inverse(plan, &value, &mut random),
            DriverOp::Rsa => private(plan, driver, &value, &mut random),
            DriverOp::RsaPublic => public(plan, driver, &value, &mut random),
        }
    }
}

type Value<'a> = &'a dyn Fn(&str) -> Option<BigUint>;

/// An odd number of exactly so many bits.
fn odd(bits: u32, random: &mut Random) -> BigUint {
    let one = BigUint::from(1u8);
    random.uniform(bits as usize / 8) | &one << (bits - 1) | one
}

/// `given`, or a number below `modulus`.
fn below(given: Option<BigUint>, modulus: &BigUint, bits: u32, random: &mut Random) -> BigUint {
    let any = random.uniform(bits as usize / 8);
    match modulus.bits() {
        0 => given.unwrap_or(any),
        _ => given.unwrap_or(any % modulus),
    }
}

fn power(plan: &Asked, driver: &Driver, value: Value, random: &mut Random) -> Result<Case, String> {
    let (bits, exponent_bits) = (plan.bits, plan.exponent_bits());
    let drawn = odd(bits, random);
    let modulus = value("modulus").unwrap_or(drawn);
    let base = below(value("base"), &modulus, bits, random);
    let drawn = random.uniform(exponent_bits.div_ceil(8) as usize);
    let one = BigUint::from(1u8);
    let drawn = (drawn % (&one << exponent_bits)) | (one << (exponent_bits - 1));
    let power = Power {
        base,
        exponent: value("exponent").unwrap_or(drawn),
        modulus,
    };
    power
        .check(bits, exponent_bits)
        .map_err(|e| e.to_string())?;
    Ok(Case {
        inputs: power.inputs(driver),
        want: power.value(),
        shown: vec![
            ("base", power.base),
            ("exponent", power.exponent),
            ("modulus", power.modulus),
        ],
    })
}

fn inverse(plan: &Asked, value: Value, random: &mut Random) -> Result<Case, String> {
    let Modulus::Fixed { value: modulus, .. } = plan.modulus else {
        return Err("modinv has its prime in its kernels: try --modulus p256".into());
    };
    let base = below(value("base"), modulus, plan.bits, random);
    if base >= *modulus {
        return Err(NumberError::Base(base % modulus).to_string());
    }
    Ok(Case {
        want: base.modinv(modulus).unwrap_or_default(),
        inputs: vec![("base", base.clone())],
        shown: vec![("base", base), ("modulus", modulus.clone())],
    })
}

fn private(
    plan: &Asked,
    driver: &Driver,
    value: Value,
    random: &mut Random,
) -> Result<Case, String> {
    let half = plan.bits / 2;
    let mut primes = ["p", "q"].map(|name| match value(name) {
        Some(given) => given,
        None => prime(half, PUBLIC, random),
    });
    // The larger first, if it is ours to say.
    if value("p").is_none() && value("q").is_none() {
        primes.sort_by(|a, b| b.cmp(a));
    }
    let [p, q] = primes;
    let key = Key {
        p: p.clone(),
        q: q.clone(),
        e: PUBLIC.into(),
        dp: value("dp"),
        dq: value("dq"),
        qinv: value("qinv"),
    };
    let key = key.private(plan.bits).map_err(|e| e.to_string())?;
    let input = below(value("input"), &key.modulus(), plan.bits, random);
    Ok(Case {
        inputs: key.inputs(driver, &input).map_err(|e| e.to_string())?,
        want: key.value(&input),
        shown: vec![("p", p), ("q", q), ("input", input)],
    })
}

fn public(
    plan: &Asked,
    driver: &Driver,
    value: Value,
    random: &mut Random,
) -> Result<Case, String> {
    let drawn = odd(plan.bits, random);
    let modulus = value("modulus").unwrap_or(drawn);
    let input = below(value("input"), &modulus, plan.bits, random);
    let power = Power {
        base: input.clone(),
        exponent: PUBLIC.into(),
        modulus: modulus.clone(),
    };
    power
        .check(plan.bits, u32::BITS)
        .map_err(|e| e.to_string())?;
    Ok(Case {
        inputs: rsa::public_inputs(driver, &modulus, &input),
        want: power.value(),
        shown: vec![("modulus", modulus), ("input", input)],
    })
}
