//! Texts with places, and what all packages are called.

use lozenge::pack::Made;
use minijinja::{AutoEscape, Environment};

use crate::cli::failure::Failure;

/// Name and contents of a file.
pub(super) type File = (String, Vec<u8>);

/// A name of letters, digits and `_`: `lozenge_rsa_1024`.
pub(super) fn name(made: &Made<'_>) -> String {
    format!("lozenge_{}", made.name.replace('-', "_"))
}

/// The template with its places filled.
///
/// # Errors
/// When that fails (a defect of this tool).
pub(super) fn filled(template: &str, values: &minijinja::Value) -> Result<String, Failure> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_keep_trailing_newline(true);
    let text = environment.render_str(template, values);
    text.map_err(|e| {
        Failure::from(format!(
            "the package cannot be made: {e} (a defect of this tool)"
        ))
    })
}
