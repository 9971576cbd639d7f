//! `cargo xtask ledger` makes every cell of the ledger and writes `tests/ledger/`; `cargo xtask ledger --check` compares.

use std::process::{Command, ExitCode};

const USAGE: &str = "cargo xtask ledger            makes all cells and writes tests/ledger/
cargo xtask ledger --check    makes them and compares
cargo xtask ledger --night    those of the night, too (with --check or without)
cargo xtask ledger ... NAME   only tests whose names hold NAME, as matrix::avr";

/// Test binaries and tests of them that make cells.
const MAKERS: [(&str, &[&str]); 2] = [
    ("kernels", &["matrix::", "tables::"]),
    (
        "check",
        &["compiled::", "mutants::", "modular::", "ops::wrong"],
    ),
];

/// What was asked for.
#[derive(Debug, Default, PartialEq)]
struct Asked {
    check: bool,
    night: bool,
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
            name if name.starts_with('-') => return None,
            name => asked.names.push(name.into()),
        }
    }
    Some(asked)
}

/// Which tests of a binary: those of `makers` whose names hold one of `names`, or that one of `names` begins with.
fn chosen(makers: &[&str], names: &[String]) -> Vec<String> {
    let all = makers.iter().map(|maker| maker.to_string());
    if names.is_empty() {
        return all.collect();
    }
    let of = |name: &&String| makers.iter().any(|maker| name.starts_with(maker));
    names.iter().filter(of).cloned().collect()
}

fn main() -> ExitCode {
    let Some(asked) = asked(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut failed = false;
    let mut ran = 0;
    for (binary, makers) in MAKERS {
        let filters = chosen(makers, &asked.names);
        if filters.is_empty() {
            continue;
        }
        ran += 1;
        let mut command = Command::new(&cargo);
        command.args(["test", "--release", "--test", binary, "--"]);
        // Progress is printed as cells are made.
        command.args(filters).arg("--nocapture");
        command.env(
            "LOZENGE_LEDGER",
            if asked.check { "check" } else { "bless" },
        );
        command.env("LOZENGE_TIER", if asked.night { "night" } else { "full" });
        match command.status() {
            Ok(status) => failed |= !status.success(),
            Err(error) => {
                eprintln!("{}: {error}", cargo.to_string_lossy());
                failed = true;
            }
        }
    }
    if ran == 0 {
        eprintln!(
            "no cells are made by {}: try matrix::, tables::, compiled:: or mutants::",
            asked.names.join(" ")
        );
        return ExitCode::from(2);
    }
    if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
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
        assert!(of("").is_none() && of("ledger --all").is_none() && of("leger").is_none());
        assert_eq!(chosen(MAKERS[0].1, &check.names), ["matrix::avr"]);
        assert!(chosen(MAKERS[1].1, &check.names).is_empty());
        assert_eq!(chosen(MAKERS[1].1, &[]), MAKERS[1].1);
    }
}
