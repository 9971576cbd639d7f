//! What elimination leaves of a polynomial.

use std::collections::BTreeMap;

use machine::domain::variable::{Value, VarId};
use num_bigint::BigInt;
use num_traits::Zero;

/// What elimination cannot replace.
#[derive(Default)]
pub(crate) struct Remainder {
    pub constant: BigInt,
    pub terms: BTreeMap<VarId, BigInt>,
    pub products: BTreeMap<(VarId, VarId), BigInt>,
    /// Words with a definition that are left as they are.
    pub left: Vec<VarId>,
}

impl Remainder {
    /// Takes away the multiples of a modulus in `words` of `w` bits that are seen at its lowest word: those by
    /// variables, and by a number. None if that word is no variable.
    pub fn take_modulus(
        &mut self,
        words: &[Value],
        w: u32,
    ) -> Option<(BTreeMap<VarId, BigInt>, BigInt)> {
        let words: Vec<_> = words.iter().filter_map(Value::variable).collect();
        let first = words.first().copied()?;
        let with_first = |((x, y), by): (&(VarId, VarId), &BigInt)| match *y == first {
            true => Some((*x, by.clone())),
            false => (*x == first).then(|| (*y, by.clone())),
        };
        let multiples: BTreeMap<_, _> = self.products.iter().filter_map(with_first).collect();
        for (v, by) in &multiples {
            for (j, m) in words.iter().enumerate() {
                let term = self.products.entry((*v.max(m), *v.min(m))).or_default();
                *term -= by << (w as usize * j);
            }
        }
        self.products.retain(|_, by| !by.is_zero());
        let times = self.terms.get(&first).cloned().unwrap_or_default();
        if !times.is_zero() {
            for (j, m) in words.iter().enumerate() {
                *self.terms.entry(*m).or_default() -= &times << (w as usize * j);
            }
        }
        Some((multiples, times))
    }
}
