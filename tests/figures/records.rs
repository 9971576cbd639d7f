//! The cheapest of all methods beside the best figures in print: proved, and what `tests/paper/records.toml`
//! and README say.

use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::kernel;
use lozenge::spec::Op;
use toml::Value;

use crate::kit::{ask, tier, work};

fn body(op: Op, bits: u32) -> u64 {
    let request = ask::of(op, bits);
    let kernel = kernel::generate::<AvrIsa>(&request, &ATMEGA128).expect("a kernel");
    assert!(
        kernel.is_proved(),
        "{} {bits}: {:?}",
        op.name(),
        kernel.proof
    );
    kernel.cost.body.max
}

fn numbers(value: &Value) -> Vec<u64> {
    let list = value.as_array().expect("an array").iter();
    list.map(|v| v.as_integer().expect("a number") as u64)
        .collect()
}

#[test]
fn the_best_of_ours() {
    let table: Value = toml::from_str(include_str!("../paper/records.toml")).expect("TOML");
    let readme = include_str!("../../README.md");
    assert!(readme.contains("(w): of a kernel that gives wrong products on rare operands"));
    let mut rows = Vec::new();
    for op in [Op::Mul, Op::Sqr, Op::Mullo] {
        let row = &table[op.name()];
        let (bits, theirs, ours) = (&row["bits"], &row["theirs"], &row["ours"]);
        let wrong = numbers(&row["wrong"]);
        for ((bits, theirs), ours) in numbers(bits)
            .into_iter()
            .zip(numbers(theirs))
            .zip(numbers(ours))
        {
            // Theirs is of a kernel that is not right for all operands: README says so.
            let mark = if wrong.contains(&bits) { " (w)" } else { "" };
            rows.push((op, bits, (theirs, mark), ours));
        }
    }
    // The longest first.
    rows.sort_by_key(|(_, bits, ..)| std::cmp::Reverse(*bits));
    work::each(&tier::some(rows, 1), |(op, bits, (theirs, mark), ours)| {
        let made = body(*op, *bits as u32);
        println!("{} {bits}: theirs {theirs}, ours {made}", op.name());
        assert_eq!(made, *ours, "{} {bits}", op.name());
        let bold = if ours < theirs { "**" } else { "" };
        let line = format!(
            "| {} {bits} | {theirs}{mark} | {bold}{ours}{bold} |",
            op.name()
        );
        assert!(readme.contains(&line), "README lacks {line}");
    });
}
