//! The cheapest of all methods on MSP430 beside the best figures in print: proved, and what `tests/paper/msp430.toml` says.

use lozenge::facts::Style;
use lozenge::isa::core::Core as AnyCore;
use lozenge::isa::msp430::cores::Core;
use lozenge::kernel::Request;
use lozenge::spec::Op;
use lozenge::spec::modulus::Reduce;
use toml::Value;

use crate::kit::{any, ask, known, tier, work};

fn rows(name: &str) -> Vec<Value> {
    let table: Value = toml::from_str(include_str!("../paper/msp430.toml")).expect("TOML");
    table[name].as_array().expect("rows").clone()
}

fn text<'r>(row: &'r Value, key: &str) -> &'r str {
    row[key].as_str().expect("text")
}

fn number(row: &Value, key: &str) -> u64 {
    row[key].as_integer().expect("a number") as u64
}

/// What a row asks for, of any method, and its core.
fn asked(row: &Value) -> (Request, AnyCore) {
    let op = Op::ALL.iter().find(|op| op.name() == text(row, "op"));
    let modulus = row
        .get("modulus")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let request = Request {
        modular: (!modulus.is_empty()).then(|| ask::modular(modulus, Reduce::Full)),
        ..ask::of(*op.expect("an operation"), number(row, "bits") as u32)
    };
    let core = Core::named(text(row, "core")).expect("a core");
    (request, any(core))
}

/// Cycles of the body of the cheapest kernel, or of that by a method; it is proved.
fn cycles(row: &Value, method: Option<&str>) -> u64 {
    let (request, core) = asked(row);
    let request = Request {
        method: method.map(str::to_string),
        ..request
    };
    let kernel = known::generate(&request, &core).unwrap_or_else(|e| panic!("{row}: {e}"));
    assert!(kernel.is_proved(), "{row}: {:?}", kernel.proof);
    kernel.cost.body.max
}

#[test]
fn ours_beside_theirs() {
    work::each(&tier::some(rows("figure"), 4), |row| {
        assert_eq!(cycles(row, None), number(row, "ours"), "{row}");
    });
}

/// What Seo and Kim ask of methods: theirs take so many cycles, and another takes fewer.
#[test]
fn what_the_survey_asks_is_answered() {
    work::each(&tier::some(rows("answer"), 5), |row| {
        let by = |key: &str| cycles(row, Some(text(row, key)));
        let (asked, instead) = (by("asked"), by("instead"));
        let said = [number(row, "cycles"), number(row, "ours")];
        assert_eq!([asked, instead], said, "{row}");
        assert!(instead < asked, "{row}");
    });
}

/// Rows in two nested loops beside columns: cycles and bytes of both, which are proved.
#[test]
fn rows_beside_columns_in_loops() {
    work::each(&tier::part(rows("loop"), 4, 6), |row| {
        let (request, core) = asked(row);
        for [method, cycles, bytes] in [
            ["rows", "row_cycles", "row_bytes"],
            ["columns", "column_cycles", "column_bytes"],
        ] {
            let request = Request {
                method: Some(text(row, method).into()),
                style: Some(Style::Rolled),
                ..request.clone()
            };
            let kernel = known::generate(&request, &core).unwrap_or_else(|e| panic!("{row}: {e}"));
            assert!(kernel.is_proved(), "{row}: {:?}", kernel.proof);
            let made = [kernel.cost.body.max, kernel.code.len() as u64];
            let said = [cycles, bytes].map(|key| number(row, key));
            assert_eq!(made, said, "{row}");
        }
    });
}

/// A cell that cannot be says why.
#[test]
fn what_cannot_be_says_why() {
    for row in rows("refused") {
        let (request, core) = asked(&row);
        let request = Request {
            method: Some(text(&row, "asked").into()),
            ..request
        };
        let error = known::generate(&request, &core).err().expect("refused");
        assert!(error.to_string().contains(text(&row, "why")), "{error}");
    }
}
