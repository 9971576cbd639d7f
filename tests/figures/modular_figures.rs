//! Cycles of Montgomery's products and squares: as `tests/paper/seo-kim-2014.toml` and the book say.

use std::collections::BTreeMap;

use lozenge::isa::Cost;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::kernel;
use lozenge::kernel::Request;
use lozenge::spec::Op;
use lozenge::spec::modulus::{Modular, Reduce};
use toml::Value;

use crate::kit::book::book;
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

/// Makes every figure of a modulus; the row of the book that says them in the order given there.
fn row(table: &Value, modulus: &str) -> Vec<u64> {
    let mut made = BTreeMap::new();
    for op in [Op::Montmul, Op::Montsqr] {
        let said = table[modulus][op.name()].as_table().expect("a table");
        for (method, cycles) in said {
            let cycles = cycles.as_integer().expect("a number") as u64;
            assert_eq!(
                body(op, modulus, method),
                cycles,
                "{modulus} {} {method}",
                op.name()
            );
            if let Some(best) = table[modulus].get("best").and_then(Value::as_integer) {
                assert!(cycles < best as u64, "{method}");
            }
            made.insert((op.name(), method.clone()), cycles);
        }
    }
    let columns = [
        ("montmul", "fips"),
        ("montmul", "product-scanning+sps"),
        ("montmul", "operand-caching+sps"),
        ("montmul", "consecutive-operand-caching+sps"),
        ("montmul", "karatsuba+sps"),
        ("montsqr", "fips"),
        ("montsqr", "sliding-block-doubling+sps"),
        ("montsqr", "karatsuba-squaring+sps"),
    ];
    columns
        .map(|(op, method)| made[&(op, method.into())])
        .to_vec()
}

/// The numbers of the book's row that begins with the name of the modulus.
fn said(modulus: &str) -> Vec<u64> {
    let begins = format!("| `{modulus}` |");
    let mut lines = book().lines();
    let line = lines.find(|line| line.starts_with(&begins)).expect("a row");
    let cells = line[begins.len()..].split('|').map(str::trim);
    let cells = cells.filter(|cell| !cell.is_empty());
    cells
        .map(|cell| cell.replace('*', "").parse().expect("a number"))
        .collect()
}

#[test]
fn products_and_squares_take_what_is_said() {
    let table = toml::from_str(include_str!("../paper/seo-kim-2014.toml")).expect("TOML");
    for modulus in tier::some(["opf160", "secp160r1"], 1) {
        let row = row(&table, modulus);
        println!("{modulus}: {row:?}");
        assert_eq!(said(modulus), row, "the book, {modulus}");
    }
}

/// The numbers of an array.
fn numbers(list: &Value) -> Vec<u64> {
    let numbers = list.as_array().expect("a list").iter();
    numbers
        .map(|n| n.as_integer().expect("a number") as u64)
        .collect()
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
        assert_eq!(said(&format!("fips`, `{}", op.name())), cycles);
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
        assert_eq!(said(&format!("runtime`, `{method}")), cycles);
    }
}
