//! The banner at the top of every text file.

use crate::report::{Report, SourceReport, SpecReport};

/// Licence of generated files.
pub const LICENCE: &str = "CC0-1.0 OR MIT-0";

fn equation(spec: &SpecReport) -> String {
    let bytes = |s: &SourceReport| format!("{} of {} bytes", s.name, s.bytes);
    let sources: Vec<_> = spec.sources.iter().map(bytes).collect();
    format!(
        "{}, {}-bit words, least significant first; {}, r of {}",
        spec.equation,
        spec.word_bits,
        sources.join(", "),
        spec.result_bytes
    )
}

/// `key: value` lines, the same in the assembly file and the header.
pub fn lines(report: &Report) -> Vec<(String, String)> {
    let verdict = &report.verdict;
    let state = |word: &str, name: &str| match report.reasons.get(name) {
        Some(reason) => format!("{} ({reason})", word.to_uppercase()),
        None => word.to_string(),
    };
    let mut lines = vec![
        ("equation", equation(&report.spec)),
        ("prototype", report.prototype()),
    ];
    if let Some(shorter) = &report.spec.shorter {
        lines.push(("size", shorter.clone()));
    }
    if let Some(modular) = &report.spec.modular {
        lines.push(("modulus", format!("m = {}", modular.modulus)));
        lines.push(("reduction", modular.reduce.to_string()));
        lines.push(("contract", modular.contract.clone()));
    }
    lines.extend([
        ("abi", report.abi.to_string()),
        ("aliasing", report.aliasing_text()),
        (
            "method",
            format!("{}, {}", report.method_text(), report.style),
        ),
        (
            "bytes",
            format!("{} body, {} call", report.bytes.body, report.bytes.call),
        ),
        ("stack", report.stack_text()),
        ("correct", state(verdict.correct.word(), "correct")),
        ("memory", state(verdict.memory.word(), "memory")),
        ("abi kept", state(verdict.abi.word(), "abi")),
    ]);
    lines.push(("cycles", report.cycles_text()));
    if let Some(masked) = report.masked_text() {
        lines.push(("interrupts", masked));
    }
    lines.push(("energy", report.energy_text()));
    lines.push(("constant time", report.time_text()));
    if let Some(others) = report.others_text() {
        lines.push(("other cores", others));
    }
    for warning in &report.warnings {
        lines.push(("warning", warning.clone()));
    }
    if !report.is_proved() {
        lines.push((
            "NOT PROVED",
            "written because --unproved was given; do not use".to_string(),
        ));
    }
    if let Some(link) = &report.link {
        lines.push(("link", link.clone()));
    }
    lines.push(("command", report.command.clone()));
    lines.push(("version", format!("lozenge {}", report.version)));
    lines
        .into_iter()
        .map(|(key, value)| (key.to_string(), value))
        .collect()
}

/// The banner as a C comment, which both a preprocessed assembly file and C read.
pub fn comment(report: &Report, title: &str) -> String {
    let mut text = format!("/* SPDX-License-Identifier: {LICENCE}\n *\n * {title}\n *\n");
    for (key, value) in lines(report) {
        // No line can end the comment early, or look like the start of another.
        let value = value.replace("*/", "* /").replace("/*", "/ *");
        text.push_str(&format!(" * {key:<14}{value}\n"));
    }
    text.push_str(" */\n");
    text
}

/// The banner for assemblers that know comments after a semicolon only.
pub fn semicolons(report: &Report, title: &str) -> String {
    let mut text = format!("; SPDX-License-Identifier: {LICENCE}\n;\n; {title}\n;\n");
    for (key, value) in lines(report) {
        text.push_str(&format!("; {key:<14}{value}\n"));
    }
    text
}
