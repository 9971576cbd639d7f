//! Multiples of a claim in a polynomial.

use judge::prove::Open;
use machine::domain::variable::VarId;

use crate::claim::Equation;
use crate::polynomial::{Polynomial, Scaled};

impl Equation {
    /// Adds `by * (2^(w lead) sum 2^(w i) words[i] - sum of terms)`.
    ///
    /// # Errors
    /// When an address is among the words.
    pub fn add_to(&self, p: &mut Polynomial<'_>, by: &Scaled) -> Result<(), Open> {
        let at = |by: &Scaled, i: usize| by.with_shift(by.shift + u64::from(self.w) * i as u64);
        for (i, word) in self.words.iter().enumerate() {
            p.add_value(*word, &at(by, self.lead + i))?;
        }
        for term in &self.terms {
            let by = at(&by.times(-i64::from(term.sign)), term.shift);
            for (i, x) in term.x.iter().enumerate() {
                if term.y.is_empty() {
                    p.add_value(*x, &at(&by, i))?;
                }
                for (j, y) in term.y.iter().enumerate() {
                    p.add_product(*x, *y, &at(&by, i + j))?;
                }
            }
        }
        Ok(())
    }

    /// The factor `f` for which `p` contains `f 2^(W lead) sum 2^(W i) words[i]`, if it does; a word may be there
    /// more often where `p` leaves the rest as it is. The lowest word decides, whose coefficient is known
    /// best modulo a power of 2; over the integers first the highest, which is no quotient of Montgomery's:
    /// where a product is folded, its high words are there for other ones, and the lowest decides.
    pub fn factor_in(&self, p: &Polynomial<'_>) -> Option<Scaled> {
        let ends = [self.variables().next_back(), self.variables().next()];
        let highest = usize::from(p.bits != u64::MAX);
        let mut ends = ends.into_iter().skip(highest).flatten();
        ends.find_map(|(weight, end)| self.factor_of(weight, end, p))
    }

    /// The factor that the word `first` of this weight has, if it is that of all words.
    fn factor_of(&self, weight: u64, first: VarId, p: &Polynomial<'_>) -> Option<Scaled> {
        let mut factor = p.coefficient(first)?.clone();
        factor.shift = factor.shift.checked_sub(weight)?;
        for (weight, v) in self.variables() {
            let mut rest = factor.carried(weight);
            if let Some(by) = p.coefficient(v) {
                rest.add(by);
            }
            if !rest.vanishes(p.bits) && !p.leaves(&rest) {
                return None;
            }
        }
        Some(factor)
    }
}
