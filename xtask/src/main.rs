//! `cargo xtask docs` writes the pages of the book that are made. `cargo xtask ledger` makes every cell of the ledger and writes `tests/ledger/`; `cargo xtask ledger --check` compares.

mod docs;
mod pages;

use std::process::{Command, ExitCode};

const USAGE: &str = "cargo xtask ledger            makes all cells and writes tests/ledger/
cargo xtask ledger --check    makes them and compares
cargo xtask ledger --night    those of the night, too (with --check or without)
cargo xtask ledger --missing  searches winners for those cells of crates/make/winners/ alone that have none
cargo xtask docs              writes the pages of the book that are made
cargo xtask ledger ... NAME   only tests whose names hold NAME, as matrix::avr";

/// Tests that make cells.
const MAKERS: [&str; 7] = [
    // What is on record comes first: others take it.
    "kernels::winners::",
    "kernels::matrix::",
    "kernels::tables::",
    "check::compiled::",
    "check::mutants::",
    "check::modular::",
    "check::ops::wrong",
];

/// What was asked for.
#[derive(Debug, Default, PartialEq)]
struct Asked {
    check: bool,
    night: bool,
    missing: bool,
    names: Vec<String>,
}

fn asked(arguments: impl Iterator<Item = String>) -> Option<Asked> {
    let mut asked = Asked::default();
    let mut arguments = arguments;
    if arguments.next()? != "ledger" {
        return None;
    }
    for argument in arguments {
        match argument.as_str() {
            "--check" => asked.check = true,
            "--night" => asked.night = true,
            "--missing" => asked.missing = true,
            name if name.starts_with('-') => return None,
            name => asked.names.push(name.into()),
        }
    }
    if asked.missing {
        let plain = !asked.check && asked.names.is_empty();
        asked.names.push("winners::".into());
        return plain.then_some(asked);
    }
    Some(asked)
}

/// Which tests: all makers, or those whose names begin with one of `names` behind their folder.
fn chosen(names: &[String]) -> Vec<String> {
    if names.is_empty() {
        return MAKERS.map(String::from).to_vec();
    }
    let folders = ["kernels", "check"];
    let full = names
        .iter()
        .flat_map(|name| folders.map(|folder| format!("{folder}::{name}")));
    full.filter(|name| MAKERS.iter().any(|maker| name.starts_with(maker)))
        .collect()
}

fn main() -> ExitCode {
    if std::env::args().skip(1).eq(["docs"]) {
        return match docs::write() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let Some(asked) = asked(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tests = chosen(&asked.names);
    if tests.is_empty() {
        eprintln!(
            "no cells are made by {}: try matrix::, tables::, compiled:: or mutants::",
            asked.names.join(" ")
        );
        return ExitCode::from(2);
    }
    let mut command = Command::new(&cargo);
    command.args(["test", "--release", "--test", "all", "--"]);
    // Progress is printed as cells are made.
    command.args(tests).arg("--nocapture");
    let ledger = match (asked.check, asked.missing) {
        (true, _) => "check",
        (false, true) => "missing",
        (false, false) => "bless",
    };
    command.env("LOZENGE_LEDGER", ledger);
    command.env("LOZENGE_TIER", if asked.night { "night" } else { "full" });
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{}: {error}", cargo.to_string_lossy());
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<Asked> {
        asked(line.split_whitespace().map(String::from))
    }

    #[test]
    fn arguments_are_read() {
        let check = of("ledger --check matrix::avr").expect("good");
        assert!(check.check && !check.night && check.names == ["matrix::avr"]);
        assert_eq!(of("ledger"), Some(Asked::default()));
        let missing = of("ledger --missing").expect("good");
        assert_eq!(chosen(&missing.names), ["kernels::winners::"]);
        assert!(
            of("ledger --missing matrix::").is_none() && of("ledger --missing --check").is_none()
        );
        assert!(of("").is_none() && of("ledger --all").is_none() && of("leger").is_none());
        assert_eq!(chosen(&check.names), ["kernels::matrix::avr"]);
        assert!(chosen(&["figures::".into()]).is_empty());
        assert_eq!(chosen(&[]), MAKERS);
    }
}
