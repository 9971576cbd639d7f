//! What a certificate claims, and the cases that show it.

use judge::certificate::{Case, Certificate};
use judge::prove::Proof;
use judge::verdict::Aliasing;
use machine::function::Function;
use machine::isa::core::Core;
use spec::modulus::Reduce;
use spec::{Alias, Spec};

use crate::face::error::Error;
use crate::prove;
use crate::target::Target;

/// What is claimed of a function, as `lozenge check` reads it: what it computes, and where it runs.
pub(super) fn claim(symbol: &str, spec: &Spec, target: &Target) -> Vec<String> {
    let (op, size) = (spec.op.name(), spec.size);
    let mut text = format!("--symbol {symbol} --op {op} --bits {size}");
    text += &format!(" {}", target.arguments());
    if let Some(modular) = &spec.modular {
        text += &format!(" --modulus {}", modular.modulus);
        if modular.reduce != Reduce::Full {
            text += &format!(" --reduce {}", modular.reduce.name());
        }
        if modular.shift > 0 {
            text += &format!(" --shift {}", modular.shift);
        }
        if modular.times > 0 {
            text += &format!(" --times {}", modular.times);
        }
    }
    text.split_whitespace().map(String::from).collect()
}

/// The certificate of what is proved: operands as callers pass them, and each overlap that is allowed.
pub(super) fn certificate(
    claim: Vec<String>,
    spec: &Spec,
    core: &Core,
    function: &Function,
    aliasing: &[Aliasing],
) -> Result<Certificate, Error> {
    let allowed = aliasing.iter().filter(|case| case.allowed);
    // Of a and b that are one the run is that of any a and b.
    let overlaps = allowed
        .map(|case| case.alias)
        .filter(|case| *case != Alias::AIsB);
    let mut cases: Vec<Case> = Vec::new();
    for alias in std::iter::once(function.together).chain(overlaps) {
        match prove::certify(spec, core, function, alias) {
            (_, Some(case)) => cases.push(case),
            (proof, None) => {
                let why = why(&proof);
                return Err(Error::NothingToCertify { alias, why });
            }
        }
    }
    Ok(Certificate::new(claim, cases))
}

/// What stayed open.
fn why(proof: &Proof) -> String {
    let each = [&proof.correct, &proof.memory, &proof.abi];
    let reasons: Vec<_> = each.iter().filter_map(|verdict| verdict.reason()).collect();
    reasons.join("; ")
}
