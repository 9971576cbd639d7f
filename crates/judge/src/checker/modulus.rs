//! A modulus of a goal.

use machine::domain::variable::{Value, VarId};
use num_bigint::BigInt;

use crate::checker::polynomial::{Number, Polynomial};
use crate::checker::refused::Check;
use crate::checker::state::Checker;

/// A modulus: a number, or the words of an operand.
#[derive(Clone, Copy)]
pub enum Modulus<'a> {
    Number(&'a BigInt),
    Words(&'a [Value]),
}

impl Checker<'_> {
    /// Adds `by value M`, the modulus in words of `w` bits.
    pub(super) fn add_modulus(
        &self,
        p: &mut Polynomial,
        modulus: Modulus<'_>,
        w: u32,
        value: Value,
        by: &BigInt,
    ) -> Check {
        match modulus {
            Modulus::Number(m) => p.add_value(value, Number::new(by * m, 0)),
            Modulus::Words(words) => self.add_numbers(p, w, [&[value], words], by, 0),
        }
    }

    /// Adds `by M` times variables with their factors.
    pub(super) fn add_multiples(
        &self,
        p: &mut Polynomial,
        modulus: Modulus<'_>,
        w: u32,
        terms: &[(VarId, BigInt)],
        by: &BigInt,
    ) -> Check {
        let mut terms = terms.iter();
        terms.try_for_each(|(v, u)| self.add_modulus(p, modulus, w, Value::Var(*v), &(u * by)))
    }
}
