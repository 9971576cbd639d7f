//! The terms of a goal: products of numbers in words.

use machine::domain::variable::Value;
use num_bigint::BigInt;

use crate::checker::polynomial::Polynomial;
use crate::checker::refused::Check;
use crate::checker::state::Checker;

/// `sign 2^shift A B` of numbers in words of `w` bits; without `B` it is 1.
#[derive(Clone)]
pub struct Term<'a> {
    pub sign: i64,
    pub shift: u64,
    pub w: u32,
    pub a: &'a [Value],
    pub b: Option<&'a [Value]>,
}

impl Term<'_> {
    /// `2^bits` times as much.
    pub fn above(self, bits: u64) -> Self {
        let shift = self.shift + bits;
        Self { shift, ..self }
    }
}

impl Checker<'_> {
    /// Adds `by` times a sum of products of numbers.
    pub(super) fn add_value(&self, p: &mut Polynomial, value: &[Term<'_>], by: &BigInt) -> Check {
        value.iter().try_for_each(|term| {
            let factors = [term.a, term.b.unwrap_or(&[Value::ONE])];
            self.add_numbers(p, term.w, factors, &(by * term.sign), term.shift)
        })
    }
}
