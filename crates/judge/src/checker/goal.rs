//! Goals: what the result must be, from the words that the operation found and left.
//!
//! Each is an equation `2^h Z = P` of the result `Z` and a sum of products `P`: of numbers ([`Identity`]), modulo a
//! number ([`Residue`]), or modulo one that comes with constants to fold by ([`Folded`]).

use machine::domain::trace::{Multiples, Reason};
use machine::domain::variable::{Value, VarId};
use num_bigint::{BigInt, BigUint};
use num_traits::{One, Signed, Zero};

use crate::checker::folded::Folded;
use crate::checker::form::Form;
use crate::checker::polynomial::{Number, Polynomial};
use crate::checker::refused::Check;
use crate::checker::residue::Residue;
use crate::checker::state::Checker;
use crate::checker::term::Term;

/// What is to hold for all inputs.
pub enum Goal<'a> {
    Identity(Identity<'a>),
    Residue(Residue<'a>),
    Folded(Folded<'a>),
}

/// `2^h Z + low = P` with `0 <= low < 2^h`, modulo `2^bits`: so `Z = floor(P / 2^h)`, if it is `exact`.
pub struct Identity<'a> {
    /// `Z`, in words of `w` bits.
    pub w: u32,
    pub result: &'a [Value],
    pub h: u64,
    /// `P`.
    pub value: Vec<Term<'a>>,
    pub bits: u64,
    /// Must both sides be equal, and not only modulo `2^bits`?
    pub exact: bool,
}

impl Checker<'_> {
    /// Does the goal hold, for this reason?
    ///
    /// # Errors
    /// Why that is not shown.
    pub fn reached(&mut self, goal: &Goal<'_>, reason: &Reason) -> Check {
        match (goal, reason) {
            (Goal::Identity(identity), Reason::Identity { used, low }) => {
                identity.holds(self, used, low)
            }
            (Goal::Residue(residue), Reason::Residue(reason)) => residue.holds(self, reason),
            (
                Goal::Folded(folded),
                Reason::Folded {
                    reduced,
                    quotient,
                    bits,
                    by,
                    used,
                },
            ) => folded.holds(self, [reduced, quotient], bits, by, used),
            (
                Goal::Identity(_) | Goal::Residue(_) | Goal::Folded(_),
                Reason::Identity { .. } | Reason::Residue(_) | Reason::Folded { .. },
            ) => Err("the reason given is one for another goal"),
        }
    }

    pub(super) fn are_words(&mut self, words: &[Value], w: u32) -> Check {
        let mut words = words.iter();
        words.try_for_each(|word| self.lies(&Form::of(*word)?, (0, (1 << w) - 1)))
    }

    /// The range of a sum of variables.
    pub(super) fn range_of_sum(&mut self, sum: &[(u32, BigInt)]) -> Check<(BigInt, BigInt)> {
        let (mut least, mut most) = (BigInt::zero(), BigInt::zero());
        for (v, by) in sum {
            let (low, high) = self.range(*v)?;
            let (x, y) = (by * low, by * high);
            least += x.clone().min(y.clone());
            most += x.max(y);
        }
        Ok((least, most))
    }
}

/// The most that a number in words is.
fn most(words: &[Value], w: u32) -> BigUint {
    (BigUint::one() << (u64::from(w) * words.len() as u64)) - 1u8
}

impl Identity<'_> {
    fn holds(&self, d: &mut Checker<'_>, used: &Multiples, low: &[(VarId, BigInt)]) -> Check {
        d.are_words(self.result, self.w)?;
        if self.exact && !self.is_near(d)? {
            return Err("the sides of an equation may differ by a power of 2");
        }
        let mut p = Polynomial::new(Some(self.bits));
        p.add_words(self.w, self.result, &BigInt::one(), self.h)?;
        d.add_value(&mut p, &self.value, &BigInt::from(-1))?;
        for (v, by) in low {
            p.add(*v, Number::new(by.clone(), 0));
        }
        let (least, most) = d.range_of_sum(low)?;
        if least.is_negative() || most.bits() > self.h {
            return Err("the words below the result may add up to more than they are");
        }
        d.take_lemmas(&mut p, used)?;
        d.is_zero(p)
    }

    /// Are both sides less than `2^bits` apart?
    fn is_near(&self, d: &mut Checker<'_>) -> Check<bool> {
        let (mut least, mut greatest) = (BigUint::default(), BigUint::default());
        for term in &self.value {
            d.are_words(term.a, term.w)?;
            let mut product = most(term.a, term.w) << term.shift;
            if let Some(b) = term.b {
                d.are_words(b, term.w)?;
                product *= most(b, term.w);
            }
            match term.sign {
                1 => greatest += product,
                -1 => least += product,
                _ => return Err("a number is added more than once"),
            }
        }
        // 2^h Z + low < 2^h R
        let left = ((most(self.result, self.w) + 1u8) << self.h) - 1u8;
        let limit = BigUint::one() << self.bits;
        Ok(greatest < limit && left + least < limit)
    }
}
