//! Products, loads and stores of every operation but the plain product, as the papers count them.

use lozenge::facts::{Facts, Style};
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::lower::Lower;
use lozenge::method::{METHODS, MethodError, Params};
use lozenge::spec::{Op, Size, Spec};

use crate::kit::ask;

/// Products of a square of `s` words: (s^2 + s) / 2, and with a level of Karatsuba three squares of half
/// the size, of the low words, the high ones, and their distance.
fn products(s: u32, levels: usize) -> u32 {
    let (low, high) = (s.div_ceil(2), s / 2);
    match levels {
        0 => (s * s + s) / 2,
        _ if s < 2 => 1,
        _ => 2 * products(low, levels - 1) + products(high, levels - 1),
    }
}

/// Whatever the method and its other parameters.
#[test]
fn squares_take_half_the_products() {
    let mut cells = 0;
    for word_bits in [8, 32] {
        let facts = Facts {
            word_bits,
            free_registers: 24,
            accumulator_registers: 3,
            constant_registers: 1,
            tile_registers: 0,
            tile_rows: false,
            one_time: true,
            style: Style::Unrolled,
        };
        for s in (1..=24).chain([32, 64]) {
            let spec = Spec::new(Op::Sqr, s * word_bits, word_bits).expect("a size");
            for method in METHODS.iter().filter(|m| m.computes(Op::Sqr)) {
                for params in (method.defaults)(&spec, &facts) {
                    let cell = format!("{} {params:?} s={s}", method.name);
                    let schedule = match (method.schedule)(&spec, &facts, &params) {
                        // Made by additions, where nothing multiplies.
                        Err(MethodError::Multiplies("shift-and-add")) => continue,
                        schedule => schedule.expect("a schedule"),
                    };
                    let counts = schedule.check().unwrap_or_else(|e| panic!("{cell}: {e}"));
                    let levels = params.get("levels").copied().unwrap_or(0);
                    assert_eq!(counts.products as u32, products(s, levels), "{cell}");
                    cells += 1;
                }
            }
        }
    }
    println!("{cells} squares");
    assert!(cells > 500, "only {cells} squares");
}

/// A half takes n (n + 1) / 2 products if it is the low one, all if it is the high one; n x m
/// words take n m.
#[test]
fn halves_and_rectangles_take_their_products() {
    let facts = AvrIsa::facts(&ATMEGA128);
    let method = lozenge::method::find("product-scanning").expect("a method");
    for n in 1..=20 {
        for m in 1..=20 {
            for op in [Op::Mul, Op::Mullo, Op::Mulhi] {
                let Ok(spec) = Spec::new(op, Size { a: 8 * n, b: 8 * m }, 8) else {
                    continue;
                };
                let schedule = (method.schedule)(&spec, &facts, &Params::new());
                let counts = schedule.expect("a schedule").check().expect("valid");
                let products = if op == Op::Mullo {
                    n * (n + 1) / 2
                } else {
                    n * m
                };
                assert_eq!(counts.products as u32, products, "{} {n} x {m}", op.name());
                assert_eq!(counts.stores as u32, spec.result_bits() / 8);
            }
        }
    }
}

/// Of up to 8 words in the lower half that is a square of words; then `mullo(k + l) = mul(k) + 2 mullo(l)`.
#[test]
fn short_products_take_one_whole_product_and_two_low_halves() {
    fn products(n: usize, levels: u32) -> usize {
        let at = n.div_ceil(2);
        match levels {
            0 => n * (n + 1) / 2,
            _ => at * at + 2 * products(n - at, levels - 1),
        }
    }
    let facts = AvrIsa::facts(&ATMEGA128);
    let method = lozenge::method::find("short-product").expect("a method");
    for n in 2..=16 {
        let spec = Spec::new(Op::Mullo, 8 * n, 8).expect("a size");
        for levels in 1..=n.ilog2() {
            let params = Params::from([("levels", levels as usize)]).with(ask::plan("k1024-a"));
            let schedule = (method.schedule)(&spec, &facts, &params).expect("a schedule");
            let counts = schedule.check().expect("valid");
            let want = products(n as usize, levels);
            assert_eq!(counts.products, want, "{n} words, {levels} levels");
            assert_eq!(counts.stores as u32, n);
        }
    }
}
