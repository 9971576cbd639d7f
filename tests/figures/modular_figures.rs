//! Cycles of Montgomery's products and squares: as `tests/paper/seo-kim-2014.toml` says.

use lozenge::isa::Cost;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::kernel;
use lozenge::kernel::Request;
use lozenge::spec::Op;
use lozenge::spec::modulus::{Modular, Reduce};
use toml::Value;

use crate::kit::paper::numbers;
use crate::kit::{any, ask, tier};

/// What the cheapest kernel of `method`, with whatever parameters, takes; the ledger holds that it is proved.
fn made(op: Op, bits: u32, modulus: &str, method: &str) -> Cost {
    let modular = Modular {
        modulus: modulus.parse().expect("a modulus"),
        reduce: Reduce::Full,
        shift: 0,
        times: 0,
    };
    let request = Request {
        modular: Some(modular),
        method: Some(method.into()),
        ..ask::in_any_time(op, bits)
    };
    let (_, best) = kernel::choose(&request, &any(&ATMEGA128)).expect("a kernel");
    let cost = best.cost.expect("it returns");
    let proved = |line: &str| {
        let cells: Vec<_> = line.split(',').collect();
        let plan = cells[4].split(' ').next();
        let asked = [ATMEGA128.name, op.name(), &bits.to_string()];
        cells[..3] == asked
            && cells[3] == format!("{modulus} full")
            && plan == Some(method)
            && cells[7] == cost.body.max.to_string()
            && cells[11].starts_with("proved")
    };
    let ledger = include_str!("../ledger/tables.csv");
    assert!(
        ledger.lines().skip(1).any(proved),
        "no proof in the ledger: {modulus} {bits} {method}"
    );
    cost
}

/// The same: its body cycles.
fn body(op: Op, modulus: &str, method: &str) -> u64 {
    made(op, 160, modulus, method).body.max
}

#[test]
fn products_and_squares_take_what_is_said() {
    let table: Value = toml::from_str(include_str!("../paper/seo-kim-2014.toml")).expect("TOML");
    for modulus in tier::some(["opf160", "secp160r1"], 1) {
        for op in [Op::Montmul, Op::Montsqr] {
            let said = table[modulus][op.name()].as_table().expect("a table");
            for (method, cycles) in said {
                let made = body(op, modulus, method);
                assert_eq!(
                    Some(made as i64),
                    cycles.as_integer(),
                    "{modulus} {} {method}",
                    op.name()
                );
                if let Some(best) = table[modulus].get("best").and_then(Value::as_integer) {
                    assert!(made < best as u64, "{method}");
                }
            }
        }
    }
}

/// Seo, Kim 2014, figure 6: modulo `u 2^(n-16) + 1` a quotient word takes a plain addition of itself and two
/// products of bytes (`u` has 16 bits); `m' = -1` takes none. Their table 3: of all lengths.
#[test]
fn optimal_primes_take_the_products_of_figure_6() {
    let table: Value = toml::from_str(include_str!("../paper/seo-kim-2014.toml")).expect("TOML");
    let table = &table["optimal"];
    for (op, products) in [
        (Op::Montmul, (|n| n * n) as fn(u64) -> u64),
        (Op::Montsqr, |n| n * (n + 1) / 2),
    ] {
        let mut cycles = Vec::new();
        for bits in numbers(&table["bits"]) {
            let n = bits / 8;
            let modulus = format!("opf{bits}");
            let cost = made(op, bits as u32, &modulus, "fips");
            let mul = cost.counts.mul;
            assert_eq!(mul, products(n) + 2 * n, "{modulus} {}", op.name());
            cycles.push(cost.body.max);
        }
        assert_eq!(cycles, numbers(&table[op.name()]), "{}", op.name());
    }
}

/// Their table 2: lengths of a modulus at run time.
#[test]
fn lengths_take_what_is_said() {
    let table: Value = toml::from_str(include_str!("../paper/seo-kim-2014.toml")).expect("TOML");
    let table = table["lengths"].as_table().expect("a table");
    let lengths = numbers(&table["bits"]);
    for (method, cycles) in tier::some(table.iter().filter(|(key, _)| *key != "bits"), 2) {
        let cycles = numbers(cycles);
        let body = |bits: &u64| made(Op::Montmul, *bits as u32, "runtime", method).body.max;
        let ours: Vec<_> = lengths.iter().map(body).collect();
        assert_eq!(ours, cycles, "{method}");
    }
}
