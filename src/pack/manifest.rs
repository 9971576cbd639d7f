//! What a pack holds, for programs: `manifest.json`.
//!
//! `check` of a kernel is what `lozenge check` takes behind the name of a file: `lozenge check --manifest` proves all of them
//! again, in whatever program they are linked into.

use serde::{Deserialize, Serialize};
use serde_json::json;
use spec::Alias;

use crate::pack::made::Made;

/// The file's name.
pub const NAME: &str = "manifest.json";

/// What `check` reads of it.
#[derive(Serialize, Deserialize, Debug)]
pub struct Manifest {
    /// The pack.
    pub pack: String,
    /// Its kernels.
    pub kernels: Vec<Entry>,
}

/// A kernel in it.
#[derive(Serialize, Deserialize, Debug)]
pub struct Entry {
    /// The function.
    pub symbol: String,
    /// Its object.
    pub object: String,
    /// What is proved of it, as arguments of `lozenge check`.
    pub check: Vec<String>,
    /// Overlaps that are allowed, as `lozenge gen --alias` names them.
    pub aliases: Vec<String>,
}

/// The file.
///
/// # Errors
/// What is no JSON (a defect of this tool).
pub fn manifest(made: &Made<'_>) -> Result<String, String> {
    let kernels = made.kernels.iter().map(|kernel| {
        let report = kernel.report();
        let allowed = Alias::ALL
            .into_iter()
            .filter(|case| report.may_coincide(case.text()));
        json!({
            "symbol": kernel.name(),
            "object": format!("{}.o", kernel.name()),
            "prototype": report.prototype(),
            "equation": report.spec.equation,
            "contract": report.spec.modular.as_ref().map(|modular| &modular.contract),
            "check": kernel.claim(),
            "aliases": allowed.map(|case| case.argument()).collect::<Vec<_>>(),
            "verdicts": report.verdict,
            "constant_time": report.time(&report.core),
            "cycles": report.cycles.call,
            "bytes": report.bytes.call,
            "stack_bytes": kernel.stack(),
            "command": report.command,
        })
    });
    let kernels: Vec<_> = kernels.collect();
    let text = serde_json::to_string_pretty(&json!({
        "pack": made.name,
        "title": made.title,
        "version": made.version,
        "command": made.command,
        "license": crate::emit::banner::LICENCE,
        "core": made.target.core_name(),
        "mcu": made.target.part_name(),
        "bytes": made.bytes(),
        "stack_bytes": made.stack(),
        "kernels": kernels,
        "driver": made.whole.map(|whole| &whole.report),
    }));
    text.map(|text| text + "\n").map_err(|e| e.to_string())
}
