//! Which equation left a carry or a borrow: written down where the carry is made.

use machine::domain::variable::VarId;

use crate::algebra::Algebra;

/// A word that left a carry: `word = constant + sum of terms`, the carry being one of these with this factor.
pub(crate) struct Leaving<'a> {
    pub word: VarId,
    pub terms: &'a [(VarId, i64)],
    pub constant: i64,
    pub factor: i64,
}

impl Leaving<'_> {
    /// Its terms but the carry `c`.
    pub fn others(&self, c: VarId) -> impl Iterator<Item = (VarId, i64)> {
        self.terms.iter().copied().filter(move |(v, _)| *v != c)
    }
}

impl Algebra {
    /// The carry `c` was made with the sum `word`.
    pub(crate) fn leaves(&mut self, word: VarId, c: VarId) {
        self.left.entry(c).or_insert(word);
    }

    /// Was `c` left by the sum `word`?
    pub(crate) fn is_left_by(&self, c: VarId, word: VarId) -> bool {
        self.left.get(&c) == Some(&word)
    }

    /// The sum that left the carry or borrow `c`.
    pub(crate) fn left_by(&self, c: VarId) -> Option<Leaving<'_>> {
        let word = *self.left.get(&c)?;
        let (terms, constant) = self.sum(word)?;
        let (_, factor) = terms.iter().find(|(v, _)| *v == c)?;
        Some(Leaving {
            word,
            terms,
            constant,
            factor: *factor,
        })
    }
}
