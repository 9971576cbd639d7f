//! The published tables beside ours: never above theirs, and exactly what the file says.

use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::isa::{Cost, Isa};
use lozenge::kernel::{self, Request};
use lozenge::spec::Op;
use toml::Value;

fn table() -> Value {
    toml::from_str(include_str!("paper/hw2018.toml")).expect("the file is TOML")
}

/// The cheapest body of one method with one set of parameters.
fn cost(method: &str, e: Option<usize>, bits: u32) -> Cost {
    let request = Request {
        op: Op::Mul,
        bits,
        method: Some(method.into()),
        params: e.map(|e| ("e".to_string(), e)).into_iter().collect(),
        drop: None,
    };
    let (_, best) = kernel::choose::<AvrIsa>(&request, &ATMEGA128).expect("a kernel");
    let code = AvrIsa::encode(&ATMEGA128, &best.program.insns).expect("encodes");
    assert_eq!(code, best.code);
    best.cost.expect("it returns")
}

fn numbers(value: &Value) -> Vec<u64> {
    let list = value.as_array().expect("an array");
    list.iter()
        .map(|v| v.as_integer().expect("a number") as u64)
        .collect()
}

#[test]
fn table_3_counts() {
    for row in table()["table3"]["row"].as_array().expect("rows") {
        let method = row["method"].as_str().expect("a name");
        let e = row.get("e").and_then(Value::as_integer).map(|e| e as usize);
        let cost = cost(method, e, 160);
        let counts = cost.counts;
        for (name, value) in [
            ("load", counts.load),
            ("store", counts.store),
            ("mul", counts.mul),
            ("add", counts.add),
            ("cycles", cost.body.max),
        ] {
            let ours = row["ours"][name].as_integer().expect("a number") as u64;
            let theirs = row["theirs"][name].as_integer().expect("a number") as u64;
            assert_eq!(value, ours, "{method} {e:?}: {name}");
            assert!(value <= theirs, "{method} {e:?}: {name}");
            println!("{method} {name}: theirs {theirs}, ours {ours}");
        }
    }
}

fn compare(name: &str, table: &Value, bits: &[u64], method: &str, e: Option<usize>) {
    let (theirs, ours) = (numbers(&table["theirs"]), numbers(&table["ours"]));
    let made: Vec<u64> = bits
        .iter()
        .map(|bits| cost(method, e, *bits as u32).body.max)
        .collect();
    for ((bits, theirs), made) in bits.iter().zip(&theirs).zip(&made) {
        let delta = 100.0 * (*made as f64 / *theirs as f64 - 1.0);
        println!("{name} {bits} bits: theirs {theirs}, ours {made} ({delta:+.1} %)");
        assert!(made <= theirs, "{name} {bits}");
    }
    assert_eq!(made, ours, "{name}: tests/paper/hw2018.toml says otherwise");
}

#[test]
fn table_4_product_scanning() {
    let table = &table()["table4"];
    compare(
        "product scanning",
        table,
        &numbers(&table["bits"]),
        "product-scanning",
        None,
    );
}

#[test]
fn table_5_operand_caching() {
    let table = &table()["table5"];
    let bits = numbers(&table["bits"]);
    for e in [2, 4, 8, 10] {
        let name = format!("e{e}");
        compare(
            &name,
            &table[name.as_str()],
            &bits,
            "operand-caching",
            Some(e),
        );
    }
}
