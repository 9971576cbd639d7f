//! `cargo xtask docs` writes pages of the book: the reference (by `lozenge reference`), the results, and all figures on record.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use toml::{Table, Value};

use crate::pages;

/// The page of all figures.
pub const DATA: &str = "docs/src/results/data.md";

/// The files of figures, and what each is about.
pub const FILES: [(&str, &str); 20] = [
    (
        "records",
        "Records in print on the ATmega128, RISC-V and StrongARM, and ours",
    ),
    ("special", "Products and sums modulo special primes"),
    (
        "seo-kim-2014",
        "Montgomery's products and squares, as Seo and Kim (2014) sort them",
    ),
    ("hw2018", "Products as Hutter and Wenger (2018) sort them"),
    (
        "groszschaedl-kamendje-2003",
        "Montgomery's products in nested loops on MIPS32, after Grossschaedl and Kamendje (2003)",
    ),
    ("small", "Small code"),
    ("arm-loops", "Products in loops on the ARM7TDMI"),
    ("calls", "Karatsuba that calls itself"),
    ("constant-time", "Constant time on ARM"),
    ("no-multiplier", "Parts without a multiplier"),
    ("msp430", "MSP430"),
    ("rsa", "RSA on AVR"),
    ("rsa-32", "RSA on machines of 32 bits"),
    ("exponentiation", "Exponentiation on MIPS32"),
    ("x25519", "X25519"),
    ("mbed-tls", "Mbed TLS with and without kernels of a pack"),
    (
        "p256-m",
        "p256-m, Mbed TLS's driver for P-256, with and without a pack",
    ),
    ("bearssl", "BearSSL with and without packs"),
    ("micro-ecc", "micro-ecc with and without kernels of a pack"),
    ("sentences", "Figures that stand in a sentence of the book"),
];

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Writes all pages.
pub fn write() -> Result<(), String> {
    for (path, text) in made()? {
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args([
        "run",
        "--release",
        "--quiet",
        "--",
        "reference",
        "-o",
        "docs/src/reference",
    ]);
    match command.current_dir(root()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err("lozenge reference failed".into()),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

/// All pages with figures: where each stands, and its text.
fn made() -> Result<Vec<(PathBuf, String)>, String> {
    let mut pages = pages::all()?;
    pages.push((root().join(DATA), data()?));
    Ok(pages)
}

/// A file of figures.
pub fn file(name: &str) -> Result<Table, String> {
    let path = root().join(format!("tests/paper/{name}.toml"));
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{name}: {e}"))?;
    text.parse().map_err(|e| format!("{name}: {e}"))
}

/// The page of all figures.
pub fn data() -> Result<String, String> {
    let mut text = String::from(
        "# All figures on record\n\nThis page is written by `cargo xtask docs` from `tests/paper/*.toml`; a test keeps it so, and \
         others make every figure of ours again. Cycles are of the body on AVR and ARM, and of a call where a row says so. \
         `theirs` is in print.\n",
    );
    for (name, about) in FILES {
        let _ = write!(text, "\n## {about}\n");
        section(&mut text, "", &file(name)?);
    }
    Ok(text)
}

/// The values of a table as rows, its rows as a table of their own, then the tables in it.
fn section(text: &mut String, name: &str, table: &Table) {
    let is_rows = |value: &Value| {
        value
            .as_array()
            .is_some_and(|list| list.iter().all(Value::is_table) && !list.is_empty())
    };
    let single: Vec<_> = table
        .iter()
        .filter(|(_, v)| !v.is_table() && !is_rows(v))
        .collect();
    if !name.is_empty() {
        let _ = write!(text, "\n### {name}\n");
    }
    if !single.is_empty() {
        text.push_str("\n| | |\n|---|---|\n");
        for (key, value) in single {
            let _ = writeln!(text, "| {key} | {} |", cell(value));
        }
    }
    for (_, value) in table.iter().filter(|(_, v)| is_rows(v)) {
        rows(text, value.as_array().map_or(&[], Vec::as_slice));
    }
    for (key, value) in table {
        if let Value::Table(inner) = value {
            let name = if name.is_empty() {
                key.clone()
            } else {
                format!("{name}, {key}")
            };
            section(text, &name, inner);
        }
    }
}

/// Words, which make a table wide: they stand below it.
const NOTES: [&str; 3] = ["why", "source", "wrong"];

/// Rows as a table of the keys that any of them has; notes by number below.
fn rows(text: &mut String, list: &[Value]) {
    let mut keys: Vec<&str> = Vec::new();
    for row in list.iter().filter_map(Value::as_table) {
        for key in row.keys() {
            if !keys.contains(&key.as_str()) && !NOTES.contains(&key.as_str()) && key != "readme" {
                keys.push(key);
            }
        }
    }
    let mut notes: Vec<String> = Vec::new();
    let mut lines = Vec::new();
    for row in list.iter().filter_map(Value::as_table) {
        let of = |key: &str| row.get(key).map_or(String::new(), cell);
        let mut cells: Vec<_> = keys.iter().map(|key| of(key)).collect();
        let said = NOTES.iter().filter_map(|key| Some(cell(row.get(*key)?)));
        let said = said.collect::<Vec<_>>().join("; ");
        cells.push(
            match (said.as_str(), notes.iter().position(|note| *note == said)) {
                ("", _) => String::new(),
                (_, Some(at)) => (at + 1).to_string(),
                (_, None) => {
                    notes.push(said);
                    notes.len().to_string()
                }
            },
        );
        lines.push(cells);
    }
    if !notes.is_empty() {
        keys.push("note");
    }
    let _ = write!(
        text,
        "\n| {} |\n|{}\n",
        keys.join(" | "),
        "---|".repeat(keys.len())
    );
    for cells in lines {
        let _ = writeln!(text, "| {} |", cells[..keys.len()].join(" | "));
    }
    if !notes.is_empty() {
        text.push('\n');
    }
    for (i, note) in notes.iter().enumerate() {
        let _ = writeln!(text, "{}. {note}", i + 1);
    }
}

fn cell(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Value::Array(list) => list.iter().map(cell).collect::<Vec<_>>().join(", "),
        Value::Table(table) => {
            let pairs = table
                .iter()
                .map(|(key, value)| format!("{key} {}", cell(value)));
            pairs.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    text.replace('|', "\\|").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_those_on_record() {
        for (path, text) in made().expect("pages") {
            let kept = std::fs::read_to_string(&path).expect("the page is there");
            assert!(kept == text, "{} is old: cargo xtask docs", path.display());
        }
    }

    /// Every file of figures is shown.
    #[test]
    fn all_figures_are_shown() {
        let files = std::fs::read_dir(root().join("tests/paper")).expect("a folder");
        let paths = files.flatten().map(|entry| entry.path());
        let tables = paths.filter(|path| path.extension().is_some_and(|e| e == "toml"));
        let mut names: Vec<_> = tables
            .filter_map(|path| Some(path.file_stem()?.to_owned()))
            .collect();
        let shown = FILES.iter().map(|(name, _)| std::ffi::OsString::from(name));
        let mut shown: Vec<_> = shown.collect();
        names.sort();
        shown.sort();
        assert_eq!(names, shown);
    }
}
