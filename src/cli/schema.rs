//! `lozenge schema`.

use crate::cli::output;

/// What `--json` prints, in the words of JSON Schema (draft 2020-12).
pub const SCHEMA: &str = include_str!("schema.json");

/// Prints the schema.
pub fn run() -> Result<bool, String> {
    output::say(SCHEMA.trim_end())?;
    Ok(true)
}
