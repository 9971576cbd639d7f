//! The home of a carry: the word that it left, which is defined with `2^w` or `-2^w` times the carry. Where that word is added
//! to a polynomial, the carry cancels.

use std::collections::HashSet;

use machine::domain::variable::{Def, VarId};

use crate::algebra::Algebra;

/// A word that is defined with `sign 2^w` times a carry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home {
    pub word: VarId,
    pub carry: VarId,
    pub sign: i64,
    pub w: u32,
}

/// The first word of each carry that is defined with `2^w` or `-2^w` times it, latest word first.
pub(crate) fn homes(algebra: &Algebra, w: u32) -> Vec<Home> {
    let mut known = HashSet::new();
    let mut homes = Vec::new();
    for (word, var) in (0..).zip(&algebra.vars) {
        let carry = match var.def {
            Def::Low { hi, .. } => Some((hi, -1)),
            Def::Linear { .. } => algebra.sum(word).and_then(|(terms, _)| {
                let is_carry = |(v, factor): &&(VarId, i64)| {
                    factor.abs() == 1 << w && algebra.vars[*v as usize].def == Def::Carry
                };
                let (v, factor) = terms.iter().find(is_carry)?;
                Some((*v, factor.signum()))
            }),
            _ => None,
        };
        if let Some((carry, sign)) = carry
            && known.insert(carry)
        {
            homes.push(Home {
                word,
                carry,
                sign,
                w,
            });
        }
    }
    homes.reverse();
    homes
}
