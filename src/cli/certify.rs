//! Writing a certificate to a file.

use std::path::Path;

use lozenge::certificate::Certificate;
use lozenge::prove::Proof;

use crate::cli::output;

/// Writes a certificate.
///
/// # Errors
/// What cannot be written.
pub fn write(path: &Path, certificate: &Certificate) -> Result<(), String> {
    let text = certificate.write()?;
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

/// Why a proof is none.
pub fn reasons(proof: &Proof) -> Vec<String> {
    let each = [&proof.correct, &proof.memory, &proof.abi];
    each.iter()
        .filter_map(|verdict| verdict.reason().map(String::from))
        .collect()
}
