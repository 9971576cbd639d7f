//! `lozenge compare`: the table of the field, as text, JSON and CSV.

use std::process::{Command, Output};

use serde_json::Value;

fn compare(arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .arg("compare")
        .args(arguments.split(' '))
        .output()
        .expect("the binary runs")
}

fn rows(arguments: &str) -> Vec<Value> {
    let output = compare(&format!("{arguments} --json"));
    assert!(output.status.success(), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr);
    // Where ten seconds have gone, a line says what is done.
    let quiet = told.lines().all(|line| line.ends_with(" s]"));
    assert!(quiet, "quiet in a pipe: {output:?}");
    let value: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    value["rows"].as_array().expect("rows").clone()
}

/// The cells a method has on a target: operand caching for every e that fits, and so on.
#[test]
fn every_method_has_its_rows() {
    let rows = rows("mul 160 --mcu atmega128");
    let of = |method: &str| {
        rows.iter()
            .filter(|r| r["method"] == method)
            .collect::<Vec<_>>()
    };
    assert_eq!(of("operand-caching").len(), 10);
    assert_eq!(of("product-scanning").len(), 1);
    assert_eq!(of("operand-scanning").len(), 20);
}

/// Every row of every machine is proved, and the cheapest comes first.
#[test]
fn several_cores_stand_side_by_side() {
    let rows = rows("mul 192 --core arm7tdmi-hw2018 --core mips-4km-32x16");
    let made: Vec<_> = rows.iter().filter(|r| r["unsupported"].is_null()).collect();
    let calls = made
        .iter()
        .map(|r| r["cycles"]["call"]["max"].as_u64().expect("cycles"));
    assert!(calls.is_sorted());
    for core in ["arm7tdmi-hw2018", "mips-4km-32x16"] {
        assert!(made.iter().any(|r| r["core"] == core), "{core}");
    }
    for (i, row) in made.iter().enumerate() {
        assert_eq!(row["verdict"]["correct"], "proved", "{row}");
        let ratio = row["ratio"].as_f64().expect("a ratio");
        assert!(ratio >= 1.0 && (i > 0 || ratio == 1.0), "{row}");
        for key in [
            "spec",
            "params",
            "cycles",
            "instructions",
            "bytes",
            "stack_bytes",
            "command",
        ] {
            assert!(!row[key].is_null(), "{key} in {row}");
        }
    }
}

/// A method that a machine cannot run has a reason.
#[test]
fn refusals_say_why() {
    let rows = rows("mul 160 --core attiny85");
    let (made, refused): (Vec<_>, Vec<_>) = (rows.iter()).partition(|r| r["unsupported"].is_null());
    // By additions: tiles, or loops of rows that are added bit by bit.
    let is_added = |r: &Value| r["method"] == "shift-and-add" || r["style"] == "rolled";
    assert!(made.iter().all(|r| is_added(r)));
    assert!(made.len() >= 2 && refused.len() >= 10, "{rows:?}");
    for row in refused {
        let reason = row["unsupported"].as_str().expect("a reason");
        let known = ["MUL is not an instruction", "cannot be cut into blocks"];
        assert!(known.iter().any(|text| reason.contains(text)), "{reason}");
    }
}

#[test]
fn csv_has_a_line_for_each_row() {
    let output = compare("mul 64 --core mips-4km --variable-time --csv");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let mut lines = text.lines();
    assert!(
        lines
            .next()
            .expect("a head")
            .starts_with("core,method,body,call")
    );
    let json = rows("mul 64 --core mips-4km --variable-time");
    assert_eq!(lines.count(), json.len(), "{text}");
}

#[test]
fn bad_names_are_usage_errors() {
    for arguments in [
        "mul 64",
        "mul 0 --mcu atmega128",
        "mul 64 --core atmega129",
        "mullo 8 --core arm7tdmi",
    ] {
        let output = compare(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        assert_eq!(
            String::from_utf8_lossy(&output.stderr).lines().count(),
            1,
            "{arguments}"
        );
        assert!(output.stdout.is_empty(), "{arguments}");
    }
}
