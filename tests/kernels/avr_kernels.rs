//! Every kernel of the matrix size x method x parameter: counted, proved, and run against big integers.

use lozenge::isa::Isa;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::lower::Lower;
use lozenge::method::{self, Method, Params};
use lozenge::spec::{Alias, Op, Spec};
use lozenge::{kernel, prove, vectors};

use crate::kit::{any, tier, work};

/// Words of the operands: every size to 40, then powers of two.
fn sizes() -> Vec<usize> {
    (1..=40).chain([64, 128, 256]).collect()
}

fn cells() -> Vec<(usize, &'static Method, Params)> {
    let scanning = method::find("product-scanning").expect("method");
    let caching = method::find("operand-caching").expect("method");
    let rows = method::find("operand-scanning").expect("method");
    let mut list = Vec::new();
    // Largest first, so that two threads finish together.
    // At every save the longest would take a second each.
    let most = tier::of([64, usize::MAX, usize::MAX]);
    for n in sizes().into_iter().rev().filter(|n| *n <= most) {
        list.push((n, scanning, Params::new()));
        list.extend((1..=10).map(|e| (n, caching, Params::from([("e", e)]))));
        list.extend([0, 7, 19].map(|k| (n, rows, Params::from([("k", k)]))));
    }
    list
}

/// Loads and stores of hw2018, tables 1 and 2: words n, parameter e; of operand scanning less
/// the n loads of a result that is not there yet, and n - 1 for each of k words of A that stay.
fn formula(method: &Method, params: &Params, n: usize) -> (usize, usize) {
    match method.name {
        "operand-caching" => {
            let e = params["e"];
            let r = n / e;
            (
                2 * n + 4 * r * n - 2 * e * r * r - 2 * e * r,
                2 * n + 2 * r * n - e * r * r - e * r,
            )
        }
        "operand-scanning" => {
            let k = params["k"].min(n);
            (2 * n * n + n - n - k * (n - 1), n * n + n)
        }
        _ => (2 * n * n, 2 * n),
    }
}

/// Counts, loads and stores of all programs of a cell, products of numbers, and proofs; how many programs these are.
fn check(n: usize, method: &'static Method, params: &Params) -> usize {
    let cell = format!("{} {params:?} n={n}", method.name);
    let core = &ATMEGA128;
    let spec = Spec::new(Op::Mul, 8 * n as u32, 8).expect("a size");
    let schedule = (method.schedule)(&spec, &AvrIsa::facts(core), params).expect("a schedule");
    let counts = schedule.check().unwrap_or_else(|e| panic!("{cell}: {e}"));
    let (loads, stores) = formula(method, params, n);
    assert_eq!((counts.loads, counts.stores), (loads, stores), "{cell}");
    assert_eq!(counts.products, n * n, "{cell}");
    let programs = AvrIsa::lower(&schedule, core).unwrap_or_else(|e| panic!("{cell}: {e}"));
    assert!(!programs.is_empty(), "{cell}");
    for program in &programs {
        let code = AvrIsa::encode(core, &program.insns).expect("encodes");
        // One array for both operands changes no instruction and no number that is read but to a = b, which the proof for
        // all a and b covers. For small products that is proved besides, and for all of them it is run below.
        let aliases = [Alias::Distinct, Alias::AIsB].into_iter();
        for alias in aliases.take(if n > 12 { 1 } else { 2 }) {
            let proof = prove::prove(&spec, &any(core), &code, alias);
            assert!(proof.holds(), "{cell} {alias:?}: {proof:?}");
        }
        let cost = prove::leak(&spec, &any(core), &code).unwrap_or_else(|e| panic!("{cell}: {e}"));
        let body = cost.counts;
        assert_eq!(
            (body.load, body.store, body.mul),
            (loads as u64, stores as u64, (n * n) as u64),
            "{cell}"
        );
        let on = any(core);
        let run = kernel::runs(&spec, &on, &code);
        for pair in vectors::pairs(n, if n > 40 { 6 } else { 24 }, n as u64) {
            let (got, ran) = run(&pair, Alias::Distinct).unwrap_or_else(|e| panic!("{cell}: {e}"));
            assert_eq!(got, &pair[0] * &pair[1], "{cell}");
            assert_eq!(ran, cost, "{cell}: both domains count the same");
            let same = [pair[0].clone(), pair[0].clone()];
            let (square, _) = run(&same, Alias::AIsB).unwrap_or_else(|e| panic!("{cell}: {e}"));
            assert_eq!(square, &pair[0] * &pair[0], "{cell}");
        }
    }
    programs.len()
}

#[test]
fn every_cell_is_proved_and_right() {
    let all = cells();
    assert_eq!(all.len(), tier::of([41, 43, 43]) * 14);
    // The matrix proves the best program of each cell.
    let cells = tier::part(all, 3, 1);
    let kernels = work::each(&cells, |(n, method, params)| check(*n, method, params));
    let kernels: usize = kernels.iter().sum();
    println!("{} cells, {kernels} kernels proved", cells.len());
}

/// An operand overwritten by the result: proved where the method reads it in time, refused elsewhere.
#[test]
fn overlap_is_proved_or_refused() {
    let core = &ATMEGA128;
    let caching = method::find("operand-caching").expect("method");
    for (n, allowed) in [(1, true), (5, true), (10, true), (11, false), (20, false)] {
        let spec = Spec::new(Op::Mul, 8 * n, 8).expect("a size");
        let params = Params::from([("e", 10)]);
        let schedule = (caching.schedule)(&spec, &AvrIsa::facts(core), &params).expect("schedule");
        let programs = AvrIsa::lower(&schedule, core).expect("lowers");
        let code = AvrIsa::encode(core, &programs[0].insns).expect("encodes");
        for alias in [Alias::RIsA, Alias::RIsB, Alias::All] {
            let proof = prove::prove(&spec, &any(core), &code, alias);
            assert_eq!(proof.holds(), allowed, "n={n} {alias:?}: {proof:?}");
            let on = any(core);
            let run = kernel::runs(&spec, &on, &code);
            let right = vectors::pairs(n as usize, 50, 7).iter().all(|[a, b]| {
                let pair = if alias == Alias::All {
                    [a.clone(), a.clone()]
                } else {
                    [a.clone(), b.clone()]
                };
                let (got, _) = run(&pair, alias).expect("runs");
                got == &pair[0] * &pair[1]
            });
            assert_eq!(right, allowed, "n={n} {alias:?} on numbers");
        }
    }
}
