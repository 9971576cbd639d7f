//! The cheapest of all methods beside the best figures in print: proved, and what `tests/paper/records.toml` says.

use lozenge::facts::Style;
use lozenge::isa::arm::cores::SA_1100;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::isa::riscv::cores::Core;
use lozenge::kernel::Request;
use lozenge::spec::Op;
use lozenge::spec::modulus::Reduce;
use toml::Value;

use crate::kit::paper::numbers;
use crate::kit::{any, ask, known, tier, work};

fn body(op: Op, bits: u32) -> u64 {
    let request = ask::of(op, bits);
    let kernel = known::generate(&request, &any(&ATMEGA128)).expect("a kernel");
    assert!(
        kernel.is_proved(),
        "{} {bits}: {:?}",
        op.name(),
        kernel.proof
    );
    kernel.cost.body.max
}

#[test]
fn the_best_of_ours() {
    let table: Value = toml::from_str(include_str!("../paper/records.toml")).expect("TOML");
    let mut rows = Vec::new();
    for op in [Op::Mul, Op::Sqr, Op::Mullo] {
        let row = &table[op.name()];
        let (bits, theirs, ours) = (&row["bits"], &row["theirs"], &row["ours"]);
        for ((bits, theirs), ours) in numbers(bits)
            .into_iter()
            .zip(numbers(theirs))
            .zip(numbers(ours))
        {
            rows.push((op, bits, theirs, ours));
        }
    }
    // The longest first.
    rows.sort_by_key(|(_, bits, ..)| std::cmp::Reverse(*bits));
    work::each(&tier::some(rows, 1), |(op, bits, theirs, ours)| {
        let made = body(*op, *bits as u32);
        println!("{} {bits}: theirs {theirs}, ours {made}", op.name());
        assert_eq!(made, *ours, "{} {bits}", op.name());
    });
}

/// The same of RV32IM, in instructions of a call.
#[test]
fn the_best_of_ours_on_riscv() {
    let table: Value = toml::from_str(include_str!("../paper/records.toml")).expect("TOML");
    let core = Core::named("rv32im").expect("a core");
    let rows = table["rv32im"].as_array().expect("rows").clone();
    work::each(&tier::some(rows, 2), |row| {
        let text = |key: &str| row[key].as_str().expect("text");
        let number = |key: &str| row[key].as_integer().expect("a number") as u64;
        let op = Op::ALL.iter().find(|op| op.name() == text("op"));
        let op = *op.expect("an operation");
        let reduce = match text("reduce") {
            "full" => Reduce::Full,
            _ => Reduce::Almost,
        };
        let modulus = text("modulus");
        let request = Request {
            modular: Some(ask::modular(modulus, reduce)),
            ..ask::of(op, 256)
        };
        let kernel = known::generate(&request, &any(core)).expect("a kernel");
        assert!(kernel.is_proved(), "{modulus}: {:?}", kernel.proof);
        let (theirs, ours) = (number("theirs"), kernel.cost.call.max);
        println!("{} {modulus}: theirs {theirs}, ours {ours}", op.name());
        assert_eq!(ours, number("ours"), "{} {modulus}", op.name());
    });
}

/// The same on a StrongARM, by the methods named, in cycles of a body.
#[test]
fn ours_on_a_strongarm() {
    let table: Value = toml::from_str(include_str!("../paper/records.toml")).expect("TOML");
    let rows = table["sa1100"].as_array().expect("rows").clone();
    work::each(&tier::some(rows, 3), |row| {
        let text = |key: &str| row[key].as_str().expect("text");
        let number = |key: &str| row[key].as_integer().expect("a number") as u64;
        let op = Op::ALL.iter().find(|op| op.name() == text("op"));
        let op = *op.expect("an operation");
        let bits = number("bits") as u32;
        let params = row["params"].as_table().expect("parameters").iter();
        let params = params.map(|(name, value)| {
            let value = value.as_integer().expect("a number") as usize;
            (name.clone(), value)
        });
        let reduced = op
            .is_montgomery()
            .then(|| ask::modular("runtime", Reduce::Full));
        let request = Request {
            modular: reduced,
            method: Some(text("method").into()),
            params: params.collect(),
            ..ask::in_any_time(op, bits)
        };
        let kernel = known::generate(&request, &any(&SA_1100)).expect("a kernel");
        assert!(
            kernel.is_proved(),
            "{} {bits}: {:?}",
            op.name(),
            kernel.proof
        );
        let (theirs, ours) = (number("theirs"), kernel.cost.body.max);
        println!("{} {bits}: theirs {theirs}, ours {ours}", op.name());
        assert_eq!(ours, number("ours"), "{} {bits}", op.name());
        assert!(ours < theirs, "{} {bits}", op.name());
    });
}

/// Loops of cores whose results are late, in an order in which they wait less.
#[test]
fn loops_wait_less() {
    let table: Value = toml::from_str(include_str!("../paper/records.toml")).expect("TOML");
    for row in table["ordered"].as_array().expect("rows") {
        let text = |key: &str| row[key].as_str().expect("text");
        let number = |key: &str| row[key].as_integer().expect("a number") as u64;
        let op = Op::ALL.iter().find(|op| op.name() == text("op"));
        let (op, bits) = (*op.expect("an operation"), number("bits"));
        let mut request = lozenge::Request::new(op, bits as u32)
            .method(text("method"))
            .style(Style::Rolled)
            .variable_time();
        if op.is_montgomery() {
            request = request.modulus("runtime");
        }
        let name = format!("`{}` {} {bits}", text("core"), op.name());
        let target = lozenge::Target::core(text("core")).expect("a core");
        let kernel = request.generate(&target).expect("a proved kernel");
        let (before, ours) = (number("unordered"), kernel.cycles().body.max);
        assert_eq!(ours, number("ours"), "{name}");
        assert!(ours < before, "{name}");
    }
}
