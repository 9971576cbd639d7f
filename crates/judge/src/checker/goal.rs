//! Goals: what the result must be, from the words that the operation found and left.
//!
//! All are one equation of the result `Z`, of `R = 2^(w n)` values, a sum of products `P` and a modulus `M`:
//!
//! `2^h Z = P + M U`, with `Z` below its bound.
//!
//! Of numbers `M` is 0. `h` is 0 for a product, `w n` for its upper half and for Montgomery's reduction, 1 where a number
//! is halved. A reason names `U`, and shows `2^h Z + low = P + M U (mod 2^bits)`: carries beyond the last word are dropped,
//! so no more can be seen in the words. Bounds show the rest: sides that are less than `2^bits` apart are equal.

use machine::domain::trace::{Reason, Sum};
use machine::domain::variable::Value;
use num_bigint::BigInt;

use crate::checker::modulus::Modulus;
use crate::checker::polynomial::{Number, Polynomial};
use crate::checker::refused::Check;
use crate::checker::state::Checker;
use crate::checker::term::Term;

/// The least and the most of a number, at each corner.
pub type Ranges = Vec<(BigInt, BigInt)>;

/// What holds where the modulus is at one end of the interval that it lies in.
#[derive(Clone)]
pub struct Corner {
    pub modulus: BigInt,
    /// The range of `P`, both inclusive.
    pub least: BigInt,
    pub most: BigInt,
    /// What `Z` must be below, if that is less than any number of its words.
    pub bound: Option<BigInt>,
}

/// What may be left between both sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rest {
    Nothing,
    /// A number below `2^h`: the result is rounded down.
    Below,
    /// A multiple of `2^bits`: the result is the lower half.
    Above,
}

/// `2^h Z = P + M U`, `Z` in words of `w` bits, `P` a sum of terms times `scale`.
#[derive(Clone)]
pub struct Goal<'a> {
    pub w: u32,
    pub result: &'a [Value],
    pub h: u64,
    pub value: Vec<Term<'a>>,
    pub scale: BigInt,
    pub modulus: Modulus<'a>,
    /// One for a number, two for an operand: what is linear in `M` lies between its values at both, what is convex
    /// (the most of a product of two factors) not above them.
    pub corners: Vec<Corner>,
    /// Both sides are compared modulo `2^bits`.
    pub bits: u64,
    pub rest: Rest,
}

impl Goal<'_> {
    /// `sign P`.
    pub(super) fn operands(
        &self,
        d: &Checker<'_>,
        sign: &BigInt,
        modulo: Option<u64>,
    ) -> Check<Polynomial> {
        let mut p = Polynomial::new(modulo);
        d.add_value(&mut p, &self.value, &(sign * &self.scale))?;
        Ok(p)
    }

    /// Adds `by M` times a sum.
    pub(super) fn add_multiples(
        &self,
        d: &Checker<'_>,
        p: &mut Polynomial,
        sum: &Sum,
        by: &BigInt,
    ) -> Check {
        d.add_multiples(p, self.modulus, self.w, &sum.terms, by)?;
        d.add_modulus(p, self.modulus, self.w, Value::ONE, &(&sum.constant * by))
    }

    /// Adds `by M` times the products of two variables among `U`, for a number `M`.
    pub(super) fn add_products(
        &self,
        d: &Checker<'_>,
        p: &mut Polynomial,
        reason: &Reason,
        by: &BigInt,
    ) -> Check {
        let Modulus::Number(m) = self.modulus else {
            return match reason.products.is_empty() {
                true => Ok(()),
                false => Err("products are multiplied by the modulus"),
            };
        };
        let mut products = reason.products.iter();
        products.try_for_each(|((x, y), u)| {
            let by = Number::new(u * by * m, 0);
            d.add_product(p, Value::Var(*x), Value::Var(*y), by)
        })
    }
}
