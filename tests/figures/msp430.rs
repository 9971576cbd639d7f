//! The cheapest of all methods on MSP430 beside the best figures in print: proved, and what `tests/paper/msp430.toml` says.

use lozenge::isa::msp430::cores::Core;
use lozenge::spec::Op;
use toml::Value;

use crate::kit::{any, ask, known, tier, work};

#[test]
fn ours_beside_theirs() {
    let table: Value = toml::from_str(include_str!("../paper/msp430.toml")).expect("TOML");
    let rows = table["figure"].as_array().expect("rows").clone();
    work::each(&tier::some(rows, 4), |row| {
        let text = |key: &str| row[key].as_str().expect("text");
        let number = |key: &str| row[key].as_integer().expect("a number") as u64;
        let op = Op::ALL.iter().find(|op| op.name() == text("op"));
        let (op, bits, core) = (*op.expect("an operation"), number("bits"), text("core"));
        let core = any(Core::named(core).expect("a core"));
        let kernel = known::generate(&ask::of(op, bits as u32), &core).expect("a kernel");
        assert!(kernel.is_proved(), "{bits}: {:?}", kernel.proof);
        assert_eq!(kernel.cost.body.max, number("ours"), "{} {bits}", op.name());
    });
}
