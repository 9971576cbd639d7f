//! Bits made of other bits by AND, OR and XOR: whether a modulus is subtracted, as C asks it.
//!
//! `T = t + R c` is a number of `n` words with a carry, and `D = t - M + R b` what its words leave with a borrow. C keeps
//! `D` if `c | (1 - b)`, and `t` if `c ^ b`. That this bit `e` is right follows from how large `T` is, which is known
//! at the end only: `R (c - b) = T - M - D`, so that `-R <= T - M < R` leaves `c - b` the values 0 and -1, and each
//! of these leaves `e` one. Until then `e` is a bit that elimination does not replace, and `e b - c` is among what is lost.

use std::collections::BTreeSet;

use machine::domain::trace::{Entry, Step};
use machine::domain::variable::{Def, VarId};

use crate::algebra::Algebra;

impl Algebra {
    /// Finds the bits that are factors and whose definitions have products of bits.
    pub(crate) fn find_unions(&self) {
        let is_bit = |v: VarId| self.vars[v as usize].bound <= 1;
        let factors = self.vars.iter().flat_map(|var| match var.def {
            Def::Product { a, b } => vec![a, b],
            Def::Free | Def::Carry | Def::Linear { .. } | Def::Low { .. } => Vec::new(),
        });
        let found: BTreeSet<_> = factors
            .map(|v| self.named(v))
            .filter(|v| is_bit(*v) && self.asked(*v).is_some())
            .collect();
        for v in &found {
            self.note(Entry::Step(Step::Factor { v: *v }));
        }
        self.unions.borrow_mut().extend(found);
    }

    /// The variable that this one is another name of.
    fn named(&self, v: VarId) -> VarId {
        match self.sum(v) {
            Some(([(other, 1)], 0)) => self.named(*other),
            Some(_) | None => v,
        }
    }

    /// The two bits of the product in the sum that defines a bit.
    pub(crate) fn asked(&self, v: VarId) -> Option<[VarId; 2]> {
        let (terms, _) = self.sum(v)?;
        let mut products = terms
            .iter()
            .filter_map(|(t, _)| match self.vars[*t as usize].def {
                Def::Product { a, b } => Some([a, b]),
                Def::Free | Def::Carry | Def::Linear { .. } | Def::Low { .. } => None,
            });
        products.next()
    }
}
