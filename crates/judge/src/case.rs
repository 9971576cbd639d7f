//! The record of one run, for one case of aliasing: which operands share memory.

use machine::domain::trace::{Noted, Reason};
use machine::domain::variable::{Def, Value, Var, VarId};
use serde::{Deserialize, Serialize};
use spec::Alias;

/// A run for operands that lie apart, or of which some are one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Case {
    pub alias: Alias,
    /// Definitions of the variables, by their numbers.
    pub variables: Vec<Def>,
    /// The terms that the definitions speak of.
    pub terms: Vec<(VarId, i64)>,
    pub entries: Vec<Noted>,
    pub reason: Reason,
}

impl Case {
    /// The variables, if each is defined by earlier ones. An input that is `b + 2 h` is defined by two inputs.
    pub(crate) fn variables(&self) -> Result<Vec<Var>, String> {
        let known = |i: usize, v: VarId| match self.variables.get(v as usize) {
            Some(Def::Free) => true,
            Some(_) => (v as usize) < i,
            None => false,
        };
        let value = |i: usize, v: &Value| v.variable().is_none_or(|v| known(i, v));
        let is_right = |(i, def): (usize, &Def)| match def {
            Def::Free | Def::Carry => true,
            Def::Linear { start, len, .. } => {
                let start = *start as usize;
                let end = start.checked_add(*len as usize);
                let terms = end.and_then(|end| self.terms.get(start..end));
                terms.is_some_and(|terms| terms.iter().all(|(v, _)| known(i, *v)))
            }
            Def::Low { a, b, hi, w } => {
                (1..=32).contains(w) && known(i, *hi) && value(i, a) && value(i, b)
            }
            Def::Product { a, b } => known(i, *a) && known(i, *b),
        };
        if let Some(i) = self.variables.iter().enumerate().position(|v| !is_right(v)) {
            return Err(format!("variable {i} is defined by later ones, or by none"));
        }
        let var = |(rank, def): (VarId, &Def)| Var {
            def: *def,
            bound: u64::MAX,
            pc: 0,
            rank,
        };
        Ok((0..).zip(&self.variables).map(var).collect())
    }
}
