//! Every operation but the plain product: method x parameters x size x machine, proved and
//! run against big integers, for every aliasing that is allowed.

use std::collections::BTreeMap;

use lozenge::candidate::Budget;
use lozenge::facts::Facts;
use lozenge::isa::Isa;
use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::cores::ARM7TDMI_HW2018;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::cores::Core as MipsCore;
use lozenge::kernel::{self, Error, Request};
use lozenge::method::{METHODS, Method, Params};
use lozenge::prove::Verdict;
use lozenge::spec::{Alias, Op, Size, Spec};
use lozenge::vectors;
use num_bigint::BigUint;

/// Words of a and b, and how many sets of parameters of each method are tried.
fn sizes() -> Vec<([u32; 2], usize)> {
    let mut list: Vec<_> = (1..=9).map(|n| ([n, n], 99)).collect();
    list.extend([12, 16, 20, 25].map(|n| ([n, n], 2)));
    for n in [1, 2, 3, 5, 8] {
        list.extend([1, 2, 4, 7].map(|m| ([n, m], 99)));
    }
    list.extend([[32, 8], [8, 32], [40, 1], [1, 40]].map(|size| (size, 99)));
    list
}

/// What the operation is, said once more.
fn expected(op: Op, sources: &[BigUint], bits: u32) -> BigUint {
    let modulus = BigUint::from(2u8).pow(bits);
    match op {
        Op::Mul => &sources[0] * &sources[1],
        Op::Sqr => sources[0].pow(2),
        Op::Mullo => &sources[0] * &sources[1] % modulus,
        Op::Mulhi => &sources[0] * &sources[1] / modulus,
    }
}

/// Operands that share a place are the same as far as both go.
fn share(sources: &mut [BigUint], alias: Alias, size: Size) {
    if let ([a, b], Alias::AIsB | Alias::All) = (sources, alias) {
        let short = size.a.min(size.b);
        let low = a.clone() % BigUint::from(2u8).pow(short);
        match size.a > size.b {
            true => *b = low,
            false => {
                *b = (b.clone() >> short << short) + &low;
                *a = low;
            }
        }
    }
}

#[derive(Default)]
struct Tally {
    proved: usize,
    runs: usize,
    unsupported: BTreeMap<String, usize>,
    /// Right on numbers, but not proved.
    unknown: Vec<String>,
}

fn cell<I: Isa>(
    core: &I::Core,
    op: Op,
    [n, m]: [u32; 2],
    method: &Method,
    params: &Params,
    tally: &mut Tally,
) {
    let size = Size {
        a: n * I::WORD_BITS,
        b: m * I::WORD_BITS,
    };
    let name = format!(
        "{} {size} {} {params:?} on {}",
        op.name(),
        method.name,
        I::core_name(core)
    );
    let named = params
        .iter()
        .map(|(name, value)| (name.to_string(), *value));
    let request = Request {
        op,
        size,
        method: Some(method.name.into()),
        params: named.collect(),
        max_regs: None,
        budget: Budget::default(),
        drop: None,
    };
    let kernel = match kernel::generate::<I>(&request, core) {
        Ok(kernel) => kernel,
        Err(error @ (Error::Lower { .. } | Error::Method(_))) => {
            *tally.unsupported.entry(error.to_string()).or_default() += 1;
            return;
        }
        Err(error) => panic!("{name}: {error}"),
    };
    match &kernel.proof.correct {
        _ if kernel.is_proved() => tally.proved += 1,
        Verdict::Unknown(text) => tally.unknown.push(format!("{name}: {text}")),
        _ => panic!("{name}: {:?}", kernel.proof),
    }
    let others = kernel.aliasing.iter().filter(|case| case.allowed);
    let aliases = std::iter::once(Alias::Distinct).chain(others.map(|case| case.alias));
    for alias in aliases {
        let lengths = kernel.spec.source_bytes();
        for mut sources in vectors::operands(&lengths, 10, u64::from(n)) {
            share(&mut sources, alias, size);
            let got = kernel::run::<I>(&kernel.spec, core, &kernel.code, &sources, alias);
            let (got, _) = got.unwrap_or_else(|e| panic!("{name}, {alias:?}: {e}"));
            let want = expected(op, &sources, size.a);
            assert_eq!(got, want, "{name}, {alias:?}: {sources:x?}");
            tally.runs += 1;
        }
    }
}

/// All cells of a machine: how many are proved, how many are not.
fn machine<I: Isa>(core: &I::Core) -> (usize, usize) {
    let mut tally = Tally::default();
    for (words, sets) in sizes() {
        for op in Op::ALL {
            let square = words[0] == words[1];
            if (op == Op::Mul) == square {
                continue;
            }
            let spec = Spec::new(
                op,
                Size {
                    a: words[0] * I::WORD_BITS,
                    b: words[1] * I::WORD_BITS,
                },
                I::WORD_BITS,
            );
            let Ok(spec) = spec else {
                continue;
            };
            for method in METHODS
                .iter()
                .filter(|m| m.computes(op) && m.name != "karatsuba-squaring")
            {
                let choices = (method.defaults)(&spec, &I::facts(core));
                for params in choices.iter().take(sets) {
                    cell::<I>(core, op, words, method, params, &mut tally);
                }
            }
        }
    }
    let unsupported: usize = tally.unsupported.values().sum();
    println!(
        "{}: {} cells proved, {} not, {} runs, {unsupported} unsupported, 0 missing",
        I::core_name(core),
        tally.proved,
        tally.unknown.len(),
        tally.runs,
    );
    for text in &tally.unknown {
        println!("  unknown: {text}");
    }
    for (reason, count) in &tally.unsupported {
        println!("  {count} x {reason}");
    }
    (tally.proved, tally.unknown.len())
}

#[test]
fn avr_computes_every_operation() {
    // Four cells of mulhi by product scanning are refused: a pointer would have to move while a
    // carry is on its way.
    let (proved, unknown) = machine::<AvrIsa>(&ATMEGA128);
    assert!(proved >= 238 && unknown == 0, "{proved}, {unknown}");
}

#[test]
fn arm_computes_every_operation() {
    let (proved, unknown) = machine::<ArmIsa>(&ARM7TDMI_HW2018);
    assert!(proved >= 242 && unknown == 0, "{proved}, {unknown}");
}

/// Where the scheduler doubles words while others are still added up, the bounds of one sum
/// are lost to the other, and the carry at its top stays open.
#[test]
fn mips_computes_every_operation() {
    // Doubled squares whose carries the scheduler interleaves are right, but not all proved.
    let (proved, unknown) = machine::<MipsIsa>(&MipsCore::named("mips-4km").expect("a core"));
    assert!(proved >= 210 && unknown <= 32, "{proved}, {unknown}");
}

/// A square of s words takes (s^2 + s) / 2 products, whatever the method and its parameters.
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
        };
        for s in (1..=24).chain([32, 64]) {
            let spec = Spec::new(Op::Sqr, s * word_bits, word_bits).expect("a size");
            for method in METHODS
                .iter()
                .filter(|m| m.computes(Op::Sqr) && m.name != "karatsuba-squaring")
            {
                if method.name == "karatsuba" {
                    continue;
                }
                for params in (method.defaults)(&spec, &facts) {
                    let cell = format!("{} {params:?} s={s}", method.name);
                    let schedule = (method.schedule)(&spec, &facts, &params).expect("a schedule");
                    let counts = schedule.check().unwrap_or_else(|e| panic!("{cell}: {e}"));
                    assert_eq!(counts.products as u32, (s * s + s) / 2, "{cell}");
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
