//! Certificates: what a proof wrote down, for somebody who believes neither its finder nor its writer.
//!
//! A certificate says what is claimed of a function, in the words of `lozenge check`, and holds for each case of
//! operands that may be one a run: its variables, its answers and conclusions, and why the goal is reached.
//! [`verify`] runs the code again, takes each answer from the certificate, and lets [`crate::checker`] decide.

use serde::{Deserialize, Serialize};

use crate::prove;
use crate::prove::Proof;
use machine::domain::trace::{Noted, Reason, Record};
use machine::domain::variable::{Def, Value, Var, VarId};
use machine::function::Function;
use machine::isa::Isa;
use spec::{Alias, Spec};

/// What files begin with; another one is not read.
const FORMAT: u32 = 1;

/// A claim, and why it holds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Certificate {
    /// The version of this format.
    pub format: u32,
    /// Who wrote it.
    pub version: String,
    /// The claim: arguments of `lozenge check` behind the name of the file.
    pub claim: Vec<String>,
    pub cases: Vec<Case>,
}

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

impl Certificate {
    /// Of these cases.
    pub fn new(claim: Vec<String>, cases: Vec<Case>) -> Self {
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            claim,
            cases,
        }
    }

    /// Reads what [`Certificate::write`] wrote.
    ///
    /// # Errors
    /// What is wrong with the text, in words for a person.
    pub fn read(text: &str) -> Result<Self, String> {
        let other = "it is no certificate: make one with lozenge gen ... --certificate FILE";
        let certificate: Self = serde_json::from_str(text).map_err(|e| format!("{other} ({e})"))?;
        match certificate.format {
            FORMAT => Ok(certificate),
            format => Err(format!(
                "it has format {format}, and this version reads format {FORMAT}: make it again"
            )),
        }
    }

    /// As text.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn write(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|e| e.to_string())
    }
}

impl Case {
    /// The variables, if each is defined by earlier ones. An input that is `b + 2 h` is defined by two inputs.
    fn variables(&self) -> Result<Vec<Var>, String> {
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

/// What a case comes to: the proof that a run along it gives.
///
/// # Errors
/// What is wrong with the definitions of the case.
pub fn verify<I: Isa>(
    spec: &Spec,
    core: &I::Core,
    function: &Function,
    case: &Case,
) -> Result<Proof, String> {
    let record = Record {
        variables: &case.variables()?,
        terms: &case.terms,
        entries: &case.entries,
        reason: Some(&case.reason),
    };
    Ok(prove::follow::<I>(spec, core, function, case.alias, record))
}
