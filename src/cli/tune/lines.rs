//! What processes tell each other.

use serde::Serialize;

/// A value as a line.
pub fn line(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|e| e.to_string())
}
