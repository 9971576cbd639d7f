//! Certificates: what a proof wrote down, for somebody who believes neither its finder nor its writer.
//!
//! A certificate says what is claimed of a function, in the words of `lozenge check`, and holds for each case of
//! operands that may be one a run: its variables, its answers and conclusions, and why the goal is reached.
//! [`verify`] runs the code again, takes each answer from the certificate, and lets [`crate::checker`] decide.

use machine::domain::trace::Record;
use machine::function::Function;
use machine::isa::core::Core;
use serde::{Deserialize, Serialize};
use spec::Spec;

pub use crate::case::Case;
use crate::prove;
use crate::prove::Proof;

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

/// What a case comes to: the proof that a run along it gives.
///
/// # Errors
/// What is wrong with the definitions of the case.
pub fn verify(spec: &Spec, core: &Core, function: &Function, case: &Case) -> Result<Proof, String> {
    let record = Record {
        variables: &case.variables()?,
        terms: &case.terms,
        entries: &case.entries,
        reason: Some(&case.reason),
    };
    Ok(prove::follow(spec, core, function, case.alias, record))
}
