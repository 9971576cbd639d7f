//! The modulus and the contract in a report.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use serde::Serialize;
use spec::Spec;
use spec::modulus::{negated_inverse, square_of_r};

/// The modulus and what follows from it.
#[derive(Clone, Debug, Serialize)]
pub struct ModularReport {
    /// Hexadecimal, or `runtime`.
    pub modulus: String,
    /// How far the result is reduced, as on the command line.
    pub reduce: &'static str,
    /// What the result is below: `m`, `2 m` or `2^n`.
    pub bound: String,
    /// What is asked of the operands, and promised of the result.
    pub contract: String,
    /// How far numbers are shifted, if they are.
    #[serde(skip_serializing_if = "is_zero")]
    pub shift: u32,
    /// What a number is multiplied by, if there is such a number.
    #[serde(skip_serializing_if = "is_zero")]
    pub times: u32,
    /// Numbers that go with a fixed modulus of Montgomery's, hexadecimal: m', `one = 2^n mod m` (1 in Montgomery's form)
    /// and `r2 = 2^(2n) mod m` (whose product with a number is its form); the last two of the shift where numbers are.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub constants: BTreeMap<&'static str, String>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl ModularReport {
    pub(super) fn of(spec: &Spec) -> Option<Self> {
        let modular = spec.modular.as_ref()?;
        let n = spec.size.a;
        let hex = |x: &BigUint| format!("{x:#x}");
        let mut constants = BTreeMap::new();
        if let Some(m) = modular.fixed().filter(|_| spec.op.is_montgomery()) {
            let one = BigUint::from(1u8);
            let inverse = negated_inverse(m, spec.word_bits);
            constants.insert("mprime", format!("{inverse:#x}"));
            constants.insert("one", hex(&((one << n) % m)));
            constants.insert("r2", hex(&square_of_r(m, n)));
        }
        if let Some(m) = modular.fixed().filter(|_| modular.shift > 0) {
            let one = BigUint::from(1u8);
            constants.insert("one", hex(&((one << modular.shift) % m)));
            constants.insert("r2", hex(&square_of_r(m, modular.shift)));
        }
        Some(Self {
            modulus: modular.fixed().map_or(modular.modulus.to_string(), hex),
            reduce: modular.reduce.name(),
            bound: modular.reduce.bound_text(n),
            contract: spec.contract()?,
            shift: modular.shift,
            times: modular.times,
            constants,
        })
    }
}
