//! The size dial: `gen` within bytes of code and of stack, `compare --pareto`.

use std::process::{Command, Output};

use serde_json::Value;

use crate::kit::tier;

fn lozenge(arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .args(arguments.split_whitespace())
        .output()
        .expect("the binary runs")
}

fn json(arguments: &str) -> Value {
    let output = lozenge(arguments);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() < Some(2), "{arguments}: {told}");
    serde_json::from_slice(&output.stdout).expect("one JSON value")
}

fn number(value: &Value, pointer: &str) -> u64 {
    let number = value.pointer(pointer).and_then(Value::as_u64);
    number.unwrap_or_else(|| panic!("no number {pointer} in {value}"))
}

fn cycles(row: &Value) -> u64 {
    number(row, "/cycles/call/max")
}

fn bytes(row: &Value) -> u64 {
    number(row, "/bytes/call")
}

fn stack(row: &Value) -> u64 {
    number(row, "/stack_bytes")
}

fn is_proved(row: &Value) -> bool {
    ["correct", "memory", "abi"]
        .iter()
        .all(|v| row["verdict"][v] == "proved")
}

const TARGETS: [&str; 4] = [
    "mul 96 --mcu atmega328p",
    "mul 96 --mcu attiny85",
    "mul 128 --core arm7tdmi",
    "sqr 128 --core mips-4km",
];

/// Every limit between the extremes of the table: what `gen` makes keeps it, is proved, and is no
/// slower than the fastest row that keeps it.
#[test]
fn the_fastest_within_the_budget() {
    let (mut made, mut slower) = (0, 0);
    let targets = tier::some(TARGETS, 21);
    for target in &targets {
        let table = json(&format!("compare {target} --json"));
        let rows = table["rows"].as_array().expect("rows");
        let rows: Vec<_> = rows
            .iter()
            .filter(|r| r["unsupported"].is_null() && is_proved(r))
            .collect();
        let best = rows.iter().map(|r| cycles(r)).min().expect("a row");
        for (option, size) in [
            ("--max-flash", bytes as fn(&Value) -> u64),
            ("--max-stack", stack),
        ] {
            let mut limits: Vec<_> = rows.iter().map(|r| size(r)).collect();
            limits.sort_unstable();
            limits.dedup();
            for i in [0, limits.len() / 2, limits.len() - 1] {
                let limit = limits[i];
                let fits = rows.iter().filter(|r| size(r) <= limit).map(|r| cycles(r));
                let fastest = fits.min().expect("the row with this size");
                let folder = tempfile::tempdir().expect("a temporary folder");
                let line = format!(
                    "gen {target} {option} {limit} --json -o {}",
                    folder.path().display()
                );
                let report = json(&line);
                assert!(is_proved(&report), "{line}");
                assert!(size(&report) <= limit, "{line}: {}", size(&report));
                assert!(
                    cycles(&report) <= fastest,
                    "{line}: {} > {fastest}",
                    cycles(&report)
                );
                let command = report["command"].as_str().expect("a command");
                assert!(command.contains(&format!(" {option} {limit}")), "{command}");
                made += 1;
                slower += usize::from(cycles(&report) > best);
            }
        }
    }
    assert_eq!(made, 6 * targets.len());
    assert!(
        slower >= tier::least(4),
        "only {slower} budgets cost cycles"
    );
}

/// Where nothing fits: one line with what there is, exit code 2, no file; and what it says to type works.
#[test]
fn what_does_not_fit_is_told() {
    for (target, limits) in [
        ("mul 96 --mcu attiny85", "--max-flash 150"),
        ("mul 64 --mcu atmega328p", "--max-stack 1"),
        ("mul 64 --mcu atmega328p", "--max-flash 60 --max-stack 3"),
        ("mul 64 --mcu attiny85", "--max-flash 100 --max-stack 1"),
        (
            "mul 128 --core arm7tdmi",
            "--max-flash 64 --method operand-caching",
        ),
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let to = format!("-o {}", folder.path().display());
        let output = lozenge(&format!("gen {target} {limits} {to}"));
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{limits}: {told}");
        assert_eq!(told.lines().count(), 1, "{told}");
        assert!(output.stdout.is_empty());
        assert_eq!(
            std::fs::read_dir(folder.path())
                .expect("the folder")
                .count(),
            0
        );
        // Of two ways neither needs as little of both as the other.
        let needs = told.match_indices(" bytes of code and ").map(|(at, text)| {
            let code = told[..at].rsplit(' ').next();
            let stack = told[at + text.len()..].split(' ').next();
            [code, stack].map(|n| n.and_then(|n| n.parse::<u64>().ok()).expect("bytes"))
        });
        if let [[code, stack], [more_code, less_stack]] = needs.collect::<Vec<_>>()[..] {
            assert!(code < more_code && less_stack < stack, "{told}");
        }
        let hint = told
            .split("try ")
            .nth(1)
            .unwrap_or_else(|| panic!("no hint: {told}"));
        let hint = hint.split(';').next().expect("the first hint");
        let rest = limits
            .split_once("--method")
            .map_or(String::new(), |(_, m)| format!("--method{m}"));
        let report = json(&format!("gen {target} {hint} {rest} {to} --json"));
        assert!(is_proved(&report), "{hint}");
        // It is the least: one byte less does not do.
        let (option, least) = hint.trim().split_once(' ').expect("an option and a number");
        let least: u64 = least
            .split(' ')
            .next()
            .and_then(|n| n.parse().ok())
            .expect("a number");
        if !hint.trim().contains(" --") {
            let less = format!("gen {target} {option} {} {rest} {to}", least - 1);
            assert_eq!(lozenge(&less).status.code(), Some(2), "{less}");
        }
    }
}

/// A method without loops names one that makes the same in loops, on every machine, and that works.
#[test]
fn a_style_that_a_method_lacks() {
    for (target, method) in [
        ("mul 256", "karatsuba"),
        ("sqr 128", "lazy-doubling"),
        ("montmul 128 --modulus runtime", "cios"),
        ("montsqr 128 --modulus runtime", "sos"),
        ("redc 128 --modulus runtime", "sos"),
        ("modmul 256 --modulus p256", "karatsuba+fold"),
        ("modsqr 256 --modulus p256", "lazy-doubling+fold"),
    ] {
        for core in ["atmega128", "arm7tdmi", "mips-4km"] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let rest = format!(
                "--core {core} --style rolled -o {}",
                folder.path().display()
            );
            let output = lozenge(&format!("gen {target} {rest} --method {method}"));
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{target} {core}: {told}");
            let other = told.split("--method ").nth(1).unwrap_or_default();
            let other = other.split(',').next().unwrap_or_default();
            let report = json(&format!("gen {target} {rest} --method {other} --json"));
            assert!(is_proved(&report), "{target} {core} {other}");
        }
    }
}

/// The marks are what the definition says, and `--pareto` shows the marked rows alone.
#[test]
fn pareto_rows_are_those_that_no_other_beats() {
    let targets = "mul 64 --style unrolled --mcu atmega328p --mcu atmega2560 --core mips-4km";
    let table = json(&format!("compare {targets} --json"));
    let rows = table["rows"].as_array().expect("rows");
    let mut marked = Vec::new();
    for row in rows {
        let mut want = Vec::new();
        for (name, size) in [("bytes", bytes as fn(&Value) -> u64), ("stack", stack)] {
            let is_beaten = |by: &Value| {
                let same = by["core"] == row["core"] && by["mcu"] == row["mcu"];
                let (c, s) = (cycles(by), size(by));
                let (own_c, own_s) = (cycles(row), size(row));
                same && is_proved(by) && (c < own_c && s <= own_s || c <= own_c && s < own_s)
            };
            let made = |r: &&Value| r["unsupported"].is_null();
            if made(&row) && is_proved(row) && !rows.iter().filter(made).any(is_beaten) {
                want.push(name);
            }
        }
        if row["unsupported"].is_null() {
            assert_eq!(row["pareto"], serde_json::json!(want), "{row}");
        }
        if !want.is_empty() {
            marked.push(row.clone());
        }
    }
    assert!(
        marked.len() >= 6 && marked.len() < rows.len() / 2,
        "{} rows",
        marked.len()
    );
    let alone = json(&format!("compare {targets} --pareto --json"));
    assert_eq!(alone["rows"], Value::Array(marked.clone()));
    let csv = String::from_utf8(lozenge(&format!("compare {targets} --pareto --csv")).stdout);
    let csv = csv.expect("UTF-8");
    let mut lines = csv.lines();
    assert!(
        lines
            .next()
            .is_some_and(|head| head.ends_with(",ratio,pareto")),
        "{csv}"
    );
    let text = String::from_utf8(lozenge(&format!("compare {targets} --pareto")).stdout);
    let text = text.expect("UTF-8");
    for (row, (line, shown)) in marked.iter().zip(lines.zip(text.lines().skip(1))) {
        let names: Vec<_> = row["pareto"]
            .as_array()
            .expect("names")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert!(line.ends_with(&format!(",{}", names.join(" "))), "{line}");
        assert!(shown.trim_end().ends_with(&names.join(" ")), "{shown}");
        assert!(
            line.starts_with(row["core"].as_str().expect("a core")),
            "{line}"
        );
    }
    assert_eq!(csv.lines().count(), 1 + marked.len());
    assert_eq!(text.lines().count(), 1 + marked.len());
}

/// Where no style is asked for, the front goes on to loops.
#[test]
fn the_front_has_every_style() {
    let table = json("compare mul 64 --mcu atmega328p --pareto --json");
    let rows = table["rows"].as_array().expect("rows");
    for style in ["unrolled", "rolled"] {
        assert!(rows.iter().any(|row| row["style"] == style), "{style}");
    }
    let smallest = rows.iter().map(bytes).min().expect("a row");
    let own = |row: &&Value| bytes(row) == smallest;
    let shortest = |row: &Value| row["style"] == "rolled" && row["params"]["unroll"] == 1;
    assert!(rows.iter().filter(own).all(shortest));
    let text = String::from_utf8(lozenge("compare mul 64 --mcu atmega328p --pareto").stdout);
    assert!(text.expect("UTF-8").contains(", rolled  "));
}
