//! Figures that stand in a sentence of the book, as `tests/paper/sentences.toml` says.

use lozenge::kernel::{self, Request};
use lozenge::spec::Op;
use lozenge::spec::modulus::Reduce;
use lozenge::target::{Names, Target};
use toml::Value;

use crate::kit::{ask, tier, work};

#[test]
fn sentences_say_what_is_made() {
    let table: toml::Table = toml::from_str(include_str!("../paper/sentences.toml")).expect("TOML");
    work::each(&tier::some(&table, 3), |(name, row)| {
        let text = |key: &str| row.get(key).and_then(Value::as_str);
        let names = Names {
            core: text("core"),
            irq: text("irq"),
            ..Names::default()
        };
        let core = Target::resolve(&names).expect("a core").to_core();
        let op = Op::ALL.into_iter().find(|op| text("op") == Some(op.name()));
        let bits = row["bits"].as_integer().expect("bits") as u32;
        let reduce = Reduce::ALL
            .into_iter()
            .find(|r| text("reduce") == Some(r.name()));
        let modular = |modulus| ask::modular(modulus, reduce.unwrap_or_default());
        let asked = Request {
            modular: text("modulus").map(modular),
            style: text("style").map(|style| style.parse().expect("a style")),
            ..ask::of(op.expect("an operation"), bits)
        };
        let request = match text("plan") {
            Some(plan) => ask::by(plan, asked),
            None => asked,
        };
        let (_, best) = kernel::choose(&request, &core).expect("a kernel");
        let cost = best.cost.expect("it returns");
        let made = [
            ("body", cost.body.max),
            ("call", cost.call.max),
            ("bytes", best.code.len() as u64),
        ];
        for (key, made) in made {
            let said = row.get(key).and_then(Value::as_integer);
            assert!(
                said.is_none_or(|said| said == made as i64),
                "{name}: {key} is {made}"
            );
        }
    });
}
