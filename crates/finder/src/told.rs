//! Statements that the algebra takes to be true in every run: tests evaluate them on numbers.
//!
//! Proofs do not use it. `tests/algebra_truth` runs random programs in the domain and on numbers, and
//! looks whether each statement holds on these.

use machine::domain::variable::VarId;
use num_bigint::BigUint;

use crate::algebra::Algebra;
use crate::claim::Equation;
pub use crate::truth::{Told, ToldTerm};

#[doc(hidden)]
impl Algebra {
    /// The joint bounds that changed after `since`, as they are now, and what to pass next time.
    pub fn told_bounds(&self, since: u32) -> (Vec<Told>, u32) {
        self.bounds.told(since)
    }

    /// What else is said now.
    pub fn told(&self) -> Vec<Told> {
        let mut list = Vec::new();
        list.extend(self.choices.iter().map(|(word, (bit, set, clear))| {
            let (word, bit, set, clear) = (*word, *bit, *set, *clear);
            Told::Choice {
                word,
                bit,
                set,
                clear,
            }
        }));
        list.extend(self.digits.iter().map(|(word, digits)| Told::Digits {
            word: *word,
            digits: digits.clone(),
        }));
        list.extend(self.cuts.told());
        let stepped = self.stepped.iter();
        list.extend(stepped.map(|((x, y), product)| Told::Product {
            product: *product,
            x: *x,
            y: *y,
        }));
        let compared = self.compared.iter();
        list.extend(compared.map(|(word, (a, b, c, borrow))| Told::Difference {
            word: *word,
            of: [*a, *b, *c],
            borrow: *borrow,
        }));
        let zeros = self.zeros.iter();
        list.extend(zeros.map(|((word, is), bit)| Told::Zero {
            bit: *bit,
            word: *word,
            is: *is,
        }));
        let placed = self.run.placed.iter();
        list.extend(placed.map(|(word, low)| {
            let (count, bits) = low.told();
            let word = *word;
            Told::LowBits { word, count, bits }
        }));
        let follows = self.follows.iter().filter(|(_, known)| **known);
        list.extend(follows.map(|((bit, after), _)| Told::Follows {
            bit: *bit,
            after: *after,
        }));
        list.extend(self.packed.iter().map(|(word, (base, bits))| Told::Packed {
            word: *word,
            base: *base,
            bits: bits.clone(),
        }));
        list
    }

    /// The claims about sums that were shown.
    pub fn told_claims(&self) -> Vec<Told> {
        let shown = self.claims.shown().iter();
        let mut list: Vec<Told> = shown.map(|e| claim(e, Some(e.most.clone()))).collect();
        let magnitudes = self.claims.magnitudes.iter();
        list.extend(magnitudes.map(|m| Told::Magnitude {
            words: m.words.clone(),
            terms: ToldTerm::of(&m.terms),
            negative: m.negative,
        }));
        list
    }

    /// What was offered, of words that were written, whether it was shown or not.
    pub fn told_offers(&self, w: u32) -> Vec<Told> {
        let offers = self.claims.offers(w);
        offers.iter().map(|e| claim(e, None)).collect()
    }

    /// Are the bits `x` and `y` never both 1?
    pub fn told_exclusive(&self, x: VarId, y: VarId) -> bool {
        self.are_exclusive(x, y)
    }

    /// Is the carry `x` never set, by the chains around it?
    pub fn told_excluded(&self, x: VarId) -> bool {
        self.is_excluded(x)
    }

    /// Is the bit `y` 1 wherever the bit `x` is?
    pub fn told_follows(&self, x: VarId, y: VarId) -> bool {
        self.follows(x, y)
    }

    /// The values of these bits where a variable has this value, if it says them.
    pub fn told_forced(&self, known: (VarId, i128), bits: &[VarId]) -> Option<Vec<i128>> {
        self.forced(known, bits)
    }
}

fn claim(e: &Equation, most: Option<BigUint>) -> Told {
    Told::Claim {
        words: e.words.clone(),
        lead: e.lead,
        terms: ToldTerm::of(&e.terms),
        most,
    }
}
