//! What a certificate claims, and the file that it is.

use std::path::Path;

use crate::cli::output;
use lozenge::certificate::Certificate;
use lozenge::isa::Isa;
use lozenge::kernel::Aliasing;
use lozenge::prove::{self, Proof};
use lozenge::spec::modulus::{Modular, Reduce};
use lozenge::spec::{Alias, Op, Size};
use lozenge::target::Target;

/// Arguments of `check` that say what a function computes and where it runs.
pub fn claim(
    (symbol, op): (&str, Op),
    (size, modular): (&Size, Option<&Modular>),
    target: &Target,
) -> Vec<String> {
    let text = format!("--symbol {symbol} --op {} --bits {size}", op.name());
    let mut text = format!("{text} {}", target.arguments());
    if let Some(modular) = modular {
        text += &format!(" --modulus {}", modular.modulus);
        if modular.reduce != Reduce::Full {
            text += &format!(" --reduce {}", modular.reduce.name());
        }
        if modular.shift > 0 {
            text += &format!(" --shift {}", modular.shift);
        }
    }
    text.split_whitespace().map(String::from).collect()
}

/// Writes a certificate of what is proved: operands that lie apart, and each overlap that is allowed.
///
/// # Errors
/// What is not proved, or cannot be written.
pub fn write<I: Isa>(
    path: &Path,
    claim: Vec<String>,
    (spec, core, function): (&lozenge::spec::Spec, &I::Core, &lozenge::function::Function),
    aliasing: &[Aliasing],
) -> Result<(), String> {
    let allowed = aliasing.iter().filter(|case| case.allowed);
    // Of a and b that are one the run is that of any a and b.
    let overlaps = allowed
        .map(|case| case.alias)
        .filter(|case| *case != Alias::AIsB);
    let mut cases = Vec::new();
    for alias in std::iter::once(Alias::Distinct).chain(overlaps) {
        match prove::certify::<I>(spec, core, function, alias) {
            (_, Some(case)) => cases.push(case),
            (proof, None) => {
                let why = reasons(&proof).join("; ");
                return Err(format!(
                    "{}: there is nothing to certify: {why}",
                    alias.text()
                ));
            }
        }
    }
    let text = Certificate::new(claim, cases).write()?;
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| format!("{} is no name of a file", path.display()))?;
    let file = (name.to_string(), text.into_bytes());
    let is_other = |old: String| Certificate::read(&old).is_err();
    if path.exists() && std::fs::read_to_string(path).map_or(true, is_other) {
        let path = path.display();
        return Err(format!(
            "{path} is there, and is no certificate: try another name"
        ));
    }
    output::write_all(folder.unwrap_or(Path::new(".")), &[file], true)
}

pub fn reasons(proof: &Proof) -> Vec<String> {
    let each = [&proof.correct, &proof.memory, &proof.abi];
    each.iter()
        .filter_map(|verdict| verdict.reason().map(String::from))
        .collect()
}
