//! Two nested loops on AVR: blocks of every size on cores with and without a multiplier, in both calling
//! conventions, proved and right on big integers; single-instruction faults; sizes and cycles.

use lozenge::facts::Style;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::abi::IAR;
use lozenge::isa::avr::cores::{ATMEGA128, ATMEGA2560, ATTINY10, ATTINY85, Core};
use lozenge::kernel;
use lozenge::kernel::{Error, Kernel, Request};
use lozenge::spec::modulus::{Modular, Modulus, Reduce};
use lozenge::spec::{Alias, Op as Operation, Spec};
use lozenge::vectors::{self};
use num_bigint::BigUint;
use toml::Value;

use crate::kit::{any, ask, known, mutants, refused, tier, work};

const FAULTS_PER_KERNEL: usize = 120;

fn request(op: Operation, bits: u32, method: &str, params: &[(&str, usize)]) -> Request {
    let modular = Modular {
        modulus: Modulus::Runtime,
        reduce: Reduce::Full,
        shift: 0,
        times: 0,
    };
    let params = params.iter().map(|(k, v)| (k.to_string(), *v));
    Request {
        modular: op.is_modular().then_some(modular),
        method: Some(method.into()),
        params: params.collect(),
        style: Some(Style::Rolled),
        ..ask::of(op, bits)
    }
}

fn modulo(modulus: &str, request: Request) -> Request {
    let modulus: Modulus = modulus.parse().expect("a modulus");
    let modular = request.modular.map(|m| Modular {
        modulus: modulus.clone(),
        ..m
    });
    Request { modular, ..request }
}

fn reduced(reduce: Reduce, request: Request) -> Request {
    let modular = request.modular.map(|m| Modular { reduce, ..m });
    Request { modular, ..request }
}

/// A proved kernel in constant time that is right wherever its operands may lie, and takes as long for all.
fn check(core: &Core, request: &Request, runs: usize) -> Kernel {
    let name = format!("{} {} {request:?}", core.name, core.abi.name);
    let kernel = known::generate(request, &any(core));
    let kernel = kernel.unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(kernel.is_proved(), "{name}: {:?}", kernel.proof);
    for (core, timing) in &kernel.constant_time {
        assert_eq!(timing.leak, None, "{name}: {core}");
    }
    let Spec { op, size, .. } = kernel.spec;
    let others = kernel.aliasing.iter().filter(|case| case.allowed);
    let others: Vec<_> = others.map(|case| case.alias).collect();
    assert!(
        !op.is_modular() || op == Operation::Redc || others.len() == kernel.aliasing.len(),
        "{name}: {others:?}"
    );
    for alias in [Alias::Distinct].into_iter().chain(others) {
        let on = any(core);
        let run = kernel::runs(&kernel.spec, &on, &kernel.code);
        for mut sources in vectors::of(&kernel.spec, runs, 7) {
            if op.factors() == 2 && matches!(alias, Alias::AIsB | Alias::All) {
                sources[1] = sources[0].clone();
            }
            let (got, cost) = run(&sources, alias).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(cost.call, kernel.cost.call, "{name}");
            let product = match op {
                Operation::Redc | Operation::Frommont => sources[0].clone(),
                Operation::Tomont => &sources[0] << (2 * size.a),
                _ => &sources[0] * &sources[op.factors() - 1],
            };
            let Some(modular) = &kernel.spec.modular else {
                assert_eq!(got, product, "{name}, {alias:?}");
                continue;
            };
            let words = BigUint::from(1u8) << size.a;
            let m = match modular.fixed() {
                Some(m) => m.clone(),
                None => &sources[op.factors()] % &words,
            };
            assert_eq!((&got << size.a) % &m, product % &m, "{name}, {alias:?}");
            let bound = match modular.reduce {
                Reduce::Full => m,
                Reduce::Almost => words,
                Reduce::Lazy => m << 1,
            };
            assert!(got < bound, "{name}, {alias:?}: {got:x}");
        }
    }
    kernel
}

/// Every side of a block, of few and of many columns, with each reduction.
#[test]
fn blocks_are_proved_and_right() {
    let mut turns = tier::Turns::default();
    for core in [&ATMEGA128, &ATTINY85] {
        for (i, core) in [core.clone(), core.called(&IAR)].iter().enumerate() {
            for (d, words) in [(1, &[2, 7][..]), (2, &[2, 10]), (3, &[6, 9]), (4, &[4, 12])] {
                for (j, n) in words.iter().enumerate() {
                    if turns.skips() {
                        continue;
                    }
                    let bits = 8 * n;
                    let side = [("d", d)];
                    check(core, &request(Operation::Mul, bits, "hybrid", &side), 6);
                    let products = [("c", 0), ("unroll", d * d)];
                    let square = "square-product-scanning";
                    check(core, &request(Operation::Sqr, bits, square, &products), 6);
                    let reductions = match core.multiplies() {
                        true => &Reduce::ALL[..],
                        false => &[Reduce::Full, Reduce::Almost],
                    };
                    let reduce = reductions[(i + j + d) % reductions.len()];
                    for op in [Operation::Montmul, Operation::Montsqr] {
                        let request = request(op, bits, "hfips", &side);
                        check(core, &reduced(reduce, request), 4);
                    }
                }
            }
        }
    }
}

/// Reductions alone, by columns of blocks.
#[test]
fn reductions_are_proved_and_right() {
    let mut turns = tier::Turns::default();
    for core in [&ATMEGA128, &ATTINY85] {
        for (i, core) in [core.clone(), core.called(&IAR)].iter().enumerate() {
            for (d, words) in [(1, &[2, 7][..]), (2, &[2, 10]), (3, &[6]), (4, &[4, 12])] {
                for (j, n) in words.iter().enumerate() {
                    if turns.skips() {
                        continue;
                    }
                    let alone = request(Operation::Redc, 8 * n, "hsps", &[("d", d)]);
                    let reduce = [Reduce::Full, Reduce::Almost][(i + j + d) % 2];
                    check(core, &reduced(reduce, alone), 4);
                    for op in [Operation::Frommont, Operation::Tomont] {
                        check(core, &request(op, 8 * n, "fips", &[("unroll", d * d)]), 4);
                    }
                }
            }
        }
    }
}

/// Moduli that are numbers: with words of zeros, ones and ones that repeat, with a bit to spare and without, with `m' = 1`.
#[test]
fn fixed_moduli_lie_in_the_frame() {
    let mut cells = Vec::new();
    for (core, moduli) in [
        (
            &ATMEGA128,
            &["secp160r1", "opf160", "2^159-91", "2^160-47"][..],
        ),
        (&ATTINY85, &["opf160", "2^160-47", "secp160r1"]),
    ] {
        for (i, modulus) in moduli.iter().enumerate() {
            for (j, core) in [core.clone(), core.called(&IAR)].iter().enumerate() {
                let reduce = [Reduce::Almost, Reduce::Full][(i + j) % 2];
                let montgomery = [Operation::Montmul, Operation::Montsqr][i % 2];
                let d = [("d", 1 + 3 * ((i + j) % 2))];
                for (op, method) in [(montgomery, "hfips"), (Operation::Redc, "hsps")] {
                    let asked = reduced(reduce, modulo(modulus, request(op, 160, method, &d)));
                    cells.push((core.clone(), asked));
                }
            }
        }
        let lazy = request(Operation::Montmul, 160, "hfips", &[("d", 2)]);
        if core.multiplies() {
            let lazy = reduced(Reduce::Lazy, modulo("2^158-15", lazy));
            cells.push((core.clone(), lazy));
        }
        for (modulus, op, bits) in [
            ("p256-order", Operation::Frommont, 256),
            ("p256", Operation::Montmul, 256),
            ("p192", Operation::Tomont, 192),
        ] {
            let asked = modulo(modulus, request(op, bits, "fips", &[]));
            cells.push((core.clone(), asked));
        }
    }
    work::each(&tier::some(cells, 10), |(core, asked)| {
        drop(check(core, asked, 3));
    });
}

/// A product in loops, then its reduction, which it is called with: every product that has loops.
#[test]
fn products_are_reduced_in_loops() {
    let square = Operation::Montsqr;
    for (core, modulus, op, bits, method, params) in [
        (
            &ATMEGA128,
            "runtime",
            Operation::Montmul,
            96,
            "hsps",
            &[("d", 4)][..],
        ),
        (
            &ATMEGA128,
            "secp160r1",
            Operation::Montmul,
            160,
            "hybrid+sps",
            &[("d", 2)],
        ),
        (
            &ATMEGA128,
            "2^159-91",
            square,
            160,
            "square-product-scanning+sps",
            &[("c", 0)],
        ),
        (
            &ATMEGA128,
            "runtime",
            Operation::Montmul,
            80,
            "reverse-hybrid+sps",
            &[("d", 4)],
        ),
        (
            &ATMEGA128,
            "runtime",
            square,
            96,
            "square-reverse-hybrid+sps",
            &[("d", 4)],
        ),
        (
            &ATTINY85,
            "runtime",
            Operation::Montmul,
            64,
            "product-scanning+sps",
            &[],
        ),
    ] {
        for (i, core) in [core.clone(), core.called(&IAR)].iter().enumerate() {
            let asked = modulo(modulus, request(op, bits, method, params));
            check(core, &reduced([Reduce::Full, Reduce::Almost][i], asked), 4);
        }
    }
    let halves = [("levels", 1), ("d", 4)];
    for op in [Operation::Montmul, square] {
        let calls = request(op, 128, "karatsuba-calls+sps", &halves);
        check(&ATMEGA128, &calls, 4);
    }
    for op in [Operation::Montmul, square] {
        let mut tiles = request(op, 80, "shift-and-add+sps", &[("e", 5), ("f", 5)]);
        tiles.style = None;
        check(&ATTINY85, &tiles, 4);
    }
}

/// Frames of functions that call each other may be too deep together, by the return addresses alone.
#[test]
fn what_is_too_deep_is_refused() {
    let plan = [("levels", 3), ("d", 4)];
    let deep = request(Operation::Montmul, 2048, "karatsuba-calls+sps", &plan);
    let error = known::generate(&deep, &any(&ATMEGA128)).err();
    let text = refused::instead(&error.expect("a reason"));
    assert!(text.contains("it needs 1029 bytes of stack, a kernel may use 1024: try fewer levels"));
}

/// Rows, with a rest of words and without one.
#[test]
fn rows_are_proved_and_right() {
    let mut turns = tier::Turns::default();
    for core in [&ATMEGA128, &ATTINY85] {
        for core in [core.clone(), core.called(&IAR)] {
            for (unroll, words) in [(1, &[2, 5, 16][..]), (2, &[2, 3, 20]), (5, &[4, 5, 13])] {
                for n in words.iter().filter(|_| !turns.skips()) {
                    let params = [("unroll", unroll)];
                    let request = request(Operation::Mul, 8 * n, "operand-scanning", &params);
                    check(&core, &request, 5);
                }
            }
        }
    }
}

/// Without `d` or `unroll` the fastest side is found; the code does not grow with the operands.
#[test]
fn the_fastest_side_is_found() {
    for (core, op, method) in [
        (&ATMEGA2560, Operation::Mul, "product-scanning"),
        (&ATMEGA2560, Operation::Montmul, "fips"),
        (&ATTINY85, Operation::Sqr, "square-product-scanning"),
    ] {
        let kernel = |bits| check(core, &request(op, bits, method, &[]), 4);
        let (small, large) = (kernel(96), kernel(192));
        assert_eq!(small.code.len(), large.code.len(), "{method}");
        assert!(4 * small.cost.call.max > large.cost.call.max, "{method}");
    }
    // Words of which no larger block can be made.
    check(
        &ATMEGA128,
        &request(Operation::Mul, 56, "product-scanning", &[]),
        4,
    );
}

/// What has no such loops names what works.
#[test]
fn what_has_no_loops_names_what_works() {
    let text = |core: &Core, request: &Request| match known::generate(request, &any(core)) {
        Err(error @ (Error::Style { .. } | Error::Lower { .. } | Error::Method(_))) => {
            refused::instead(&error)
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("{request:?} on {}", core.name),
    };
    for (core, op, method, params, told) in [
        (
            &ATMEGA128,
            Operation::Mul,
            "hybrid",
            &[("d", 3)][..],
            "the largest side that fits is 4",
        ),
        (
            &ATMEGA128,
            Operation::Mul,
            "product-scanning",
            &[("unroll", 2)],
            "try -p unroll=16",
        ),
        (
            &ATMEGA128,
            Operation::Mul,
            "operand-caching",
            &[("e", 4)],
            "try --style looped",
        ),
        (
            &ATMEGA128,
            Operation::Montmul,
            "fios",
            &[],
            "try --style rolled --method fips",
        ),
        (
            &ATMEGA128,
            Operation::Montmul,
            "cios",
            &[],
            "try --style unrolled",
        ),
        (
            &ATTINY85,
            Operation::Montmul,
            "cios",
            &[],
            "MUL is not an instruction",
        ),
        (
            &ATTINY10,
            Operation::Montmul,
            "hfips",
            &[("d", 2)],
            "no loads with displacement",
        ),
    ] {
        let mut request = request(op, 160, method, params);
        if core.name != "atmega128" {
            request.style = None;
        }
        let text = text(core, &request);
        assert!(text.contains(told), "{text}");
    }
    let lazy = reduced(
        Reduce::Lazy,
        request(Operation::Montmul, 64, "hfips", &[("d", 2)]),
    );
    let text = text(&ATTINY85, &lazy);
    assert!(text.contains("try --reduce almost"), "{text}");
}

/// Sums, differences and negatives need no multiplier.
#[test]
fn sums_without_a_multiplier() {
    for op in [Operation::Modadd, Operation::Modsub, Operation::Modneg] {
        for modulus in ["25519", "secp160r1", "runtime"] {
            let mut request = request(op, 160, "carry-chain", &[]);
            request.style = None;
            let modular = request.modular.as_mut().expect("a modulus");
            modular.modulus = modulus.parse().expect("a modulus");
            if modulus == "25519" {
                request.size = 256.into();
            }
            let kernel = known::generate(&request, &any(&ATTINY85)).expect("a kernel");
            assert!(kernel.is_proved(), "{modulus}: {:?}", kernel.proof);
            let on = any(&ATTINY85);
            let run = kernel::runs(&kernel.spec, &on, &kernel.code);
            for sources in vectors::of(&kernel.spec, 12, 3) {
                let (got, _) = run(&sources, Alias::Distinct).expect("runs");
                assert_eq!(got, kernel.spec.value(&sources));
            }
        }
    }
}

#[test]
fn wrong_mutants_are_rejected() {
    let attacked = [
        (&ATMEGA128, Operation::Mul, "hybrid", 4, 64),
        (&ATMEGA128, Operation::Mul, "hybrid", 3, 72),
        (&ATMEGA128, Operation::Sqr, "square-product-scanning", 2, 48),
        (&ATMEGA128, Operation::Montmul, "hfips", 1, 24),
        (&ATMEGA128, Operation::Montmul, "hfips", 2, 32),
        (&ATMEGA128, Operation::Montsqr, "hfips", 4, 64),
        (&ATTINY85, Operation::Mul, "hybrid", 2, 32),
        (&ATMEGA128, Operation::Mul, "operand-scanning", 1, 40),
        (&ATTINY85, Operation::Montmul, "hfips", 2, 32),
        (&ATMEGA128, Operation::Redc, "hsps", 2, 32),
        (&ATTINY85, Operation::Redc, "hsps", 1, 16),
        (&ATMEGA128, Operation::Modadd, "carry-chain", 1, 40),
        (&ATTINY85, Operation::Modsub, "carry-chain", 1, 32),
        (&ATMEGA128, Operation::Montmul, "hsps", 2, 32),
    ]
    .map(|case| (case, "runtime"))
    .into_iter()
    .chain([
        ((&ATMEGA128, Operation::Montmul, "hfips", 2, 32), "2^32-5"),
        (
            (&ATMEGA128, Operation::Modmul, "hybrid+fold", 2, 32),
            "2^32-17",
        ),
        (
            (&ATTINY85, Operation::Modmul, "hybrid+fold", 1, 24),
            "2^23-15",
        ),
        ((&ATTINY85, Operation::Montsqr, "hfips", 1, 24), "0x83ff01"),
    ]);
    let cases = attacked.map(|((core, op, method, d, bits), modulus)| {
        let unroll = ("unroll", d * d);
        let params = match op {
            Operation::Sqr => vec![("c", 0), unroll],
            _ if method == "operand-scanning" => vec![unroll],
            _ if method == "carry-chain" => vec![],
            _ => vec![("d", d)],
        };
        let modulus = op.is_modular().then_some((modulus, Reduce::Full));
        let spec = ask::spec(op, bits / 8, modulus, 8);
        (core.clone(), spec, Style::Rolled, method, params)
    });
    mutants::attack::<AvrIsa>(cases.collect(), FAULTS_PER_KERNEL, 6).hold(2160, 8);
}

/// Bytes and cycles of a call as `tests/paper/small.toml` says.
#[test]
fn small_code_stays_as_it_is() {
    let table: Value = toml::from_str(include_str!("../paper/small.toml")).expect("TOML");
    for row in table["kernel"].as_array().expect("rows") {
        let text = |key: &str| row[key].as_str().expect("a text");
        let number = |key: &str| row[key].as_integer().expect("a number");
        let op = Operation::ALL
            .into_iter()
            .find(|op| op.name() == text("op"));
        let core = match text("core") {
            "atmega128" => &ATMEGA128,
            "attiny85" => &ATTINY85,
            other => panic!("{other}"),
        };
        let op = op.expect("an operation");
        let style = row.get("style").and_then(Value::as_str);
        let asked = Request {
            style: Some(style.map_or(Style::Rolled, |s| s.parse().expect("a style"))),
            ..request(op, number("bits") as u32, "", &[])
        };
        let request = ask::by(text("plan"), asked);
        let (_, best) = kernel::choose(&request, &any(core)).expect("a kernel");
        let made = (best.cycles() as i64, best.code.len() as i64);
        assert_eq!(made, (number("ours"), number("bytes")), "{row}");
    }
}
