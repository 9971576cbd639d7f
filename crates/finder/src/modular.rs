//! A goal modulo a number, and the polynomials that its equation is made of.

use judge::checker;
use judge::checker::{Corner, Term};
use judge::prove::Open;
use machine::domain::variable::{Value, VarId};
use num_bigint::BigInt;
use num_traits::One;

use crate::algebra::Algebra;
use crate::identity;
use crate::polynomial::{Polynomial, Scaled};
use crate::remainder::Remainder;

/// `M`: a number, or the words of an operand.
pub enum Modulus<'a> {
    Number(BigInt),
    Words(&'a [Value]),
}

/// What is to be shown.
pub struct Residue<'a> {
    pub w: u32,
    pub result: &'a [Value],
    /// As the checker's.
    pub h: u64,
    /// `P`, once `scale` multiplies it.
    pub value: Vec<Term<'a>>,
    pub scale: BigInt,
    pub modulus: Modulus<'a>,
    /// One for a number, two for an operand.
    pub corners: Vec<Corner>,
}

pub(crate) fn open(text: &str) -> Open {
    Open {
        text: text.into(),
        pc: None,
    }
}

pub(crate) fn once(value: BigInt) -> Scaled {
    Scaled::new(value, 0)
}

impl<'a> Residue<'a> {
    /// `W n`.
    pub(crate) fn bits(&self) -> u64 {
        u64::from(self.w) * self.result.len() as u64
    }

    /// `R`.
    pub(crate) fn all(&self) -> BigInt {
        BigInt::one() << self.bits()
    }

    /// `2^h R`.
    pub(crate) fn top(&self) -> BigInt {
        BigInt::one() << (self.bits() + self.h)
    }

    /// What `Z` must be below.
    pub(crate) fn bound(&self, corner: &Corner) -> BigInt {
        corner.bound.clone().unwrap_or_else(|| self.all())
    }

    /// As the checker is asked for it.
    pub fn of(goal: &checker::Goal<'a>) -> Self {
        Self {
            w: goal.w,
            result: goal.result,
            h: goal.h,
            value: goal.value.clone(),
            scale: goal.scale.clone(),
            modulus: match goal.modulus {
                checker::Modulus::Number(m) => Modulus::Number(m.clone()),
                checker::Modulus::Words(words) => Modulus::Words(words),
            },
            corners: goal.corners.clone(),
        }
    }

    /// `sign * P`.
    pub(crate) fn operands<'d>(
        &self,
        algebra: &'d Algebra,
        sign: i64,
    ) -> Result<Polynomial<'d>, Open> {
        let mut p = Polynomial::new(algebra, u64::MAX);
        identity::add_value(&mut p, &self.value, &(&self.scale * sign))?;
        Ok(p)
    }

    /// Adds `2^h Z`.
    pub(crate) fn add_result(&self, p: &mut Polynomial<'_>) -> Result<(), Open> {
        identity::add_words(p, self.w, self.result, self.h)
    }

    /// Adds `by * value * M`.
    pub(crate) fn add_modulus(
        &self,
        p: &mut Polynomial<'_>,
        value: Value,
        by: &BigInt,
    ) -> Result<(), Open> {
        match &self.modulus {
            Modulus::Number(m) => p.add_value(value, &once(by * m)),
            Modulus::Words(words) => {
                for (j, m) in words.iter().enumerate() {
                    p.add_product(value, *m, &once(by << (self.w as usize * j)))?;
                }
                Ok(())
            }
        }
    }
}

/// What is left, without variables that are always 0.
pub(crate) fn remainder(p: &Polynomial<'_>) -> Remainder {
    let mut rest = p.remainder();
    let counts = |v: &VarId| p.algebra.vars[*v as usize].bound > 0;
    rest.terms.retain(|v, _| counts(v));
    rest.products.retain(|(x, y), _| counts(x) && counts(y));
    rest
}
