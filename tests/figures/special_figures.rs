//! Cycles modulo special primes: as `tests/paper/special.toml` says, and proved.

use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::cores::ARM7TDMI;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::{ATMEGA128, ATTINY85};
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::cores::Core as MipsCore;
use lozenge::kernel::Request;
use lozenge::lower::Lower;
use lozenge::spec::Op;
use lozenge::spec::modulus::{Modular, Reduce};
use toml::Value;

use crate::kit::{any, ask, known, tier, work};

/// Cycles of a call of the kernel that `row` plans, which is proved.
fn call<I: Lower>(core: &I::Core, row: &Value) -> u64 {
    let text = |key: &str| row[key].as_str().expect("a text");
    let op = Op::ALL.into_iter().find(|op| op.name() == text("op"));
    let reduce = Reduce::ALL.into_iter().find(|r| r.name() == text("reduce"));
    let asked = Request {
        modular: Some(Modular {
            modulus: text("modulus").parse().expect("a modulus"),
            reduce: reduce.expect("a reduction"),
            shift: row
                .get("shift")
                .map_or(0, |bits| bits.as_integer().expect("bits") as u32),
            times: 0,
        }),
        style: row.get("style").map(|style| {
            let style = style.as_str().expect("a text");
            style.parse().expect("a style")
        }),
        ..ask::in_any_time(
            op.expect("an operation"),
            row["bits"].as_integer().expect("bits") as u32,
        )
    };
    let request = ask::by(text("plan"), asked);
    let kernel = known::generate(&request, &any(core)).expect("a kernel");
    assert!(kernel.is_proved(), "{row}: {:?}", kernel.proof);
    if let Some(bytes) = row.get("bytes") {
        assert_eq!(bytes.as_integer(), Some(kernel.code.len() as i64), "{row}");
    }
    kernel.cost.call.max
}

#[test]
fn special_primes_take_what_is_said() {
    let table: Value = toml::from_str(include_str!("../paper/special.toml")).expect("TOML");
    let rows = table["kernel"].as_array().expect("rows");
    work::each(&tier::some(rows, 2), |row| {
        let made = match row.get("core").and_then(Value::as_str) {
            None => call::<AvrIsa>(&ATMEGA128, row),
            Some("attiny85") => call::<AvrIsa>(&ATTINY85, row),
            Some("arm7tdmi") => call::<ArmIsa>(&ARM7TDMI, row),
            Some(name) => call::<MipsIsa>(&MipsCore::named(name).expect("a core"), row),
        };
        println!("{} {}: {made}", row["op"], row["modulus"]);
        assert_eq!(Some(made as i64), row["ours"].as_integer(), "{row}");
    });
}
