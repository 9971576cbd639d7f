//! Looped and rolled kernels on AVR: method x parameters x size proved and run against big
//! integers, the size of rolled code, single-instruction faults, and what the loops cost.

use lozenge::candidate::Budget;
use lozenge::facts::Style;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::{ATMEGA128, ATMEGA2560, ATMEGA4809, ATXMEGA32A4};
use lozenge::kernel::{Kernel, Request};
use lozenge::lower::Lower;
use lozenge::schedule::Schedule;
use lozenge::spec::{Alias, Op as Operation, Spec};
use lozenge::vectors::{self};
use lozenge::{kernel, method};
use toml::Value;

use crate::kit::paper::numbers;
use crate::kit::tier::Tier;
use crate::kit::{any, ask, known, mutants, refused, tier, work};

const FAULTS_PER_KERNEL: usize = 150;

/// A method with its parameters and the style.
#[derive(Clone, Copy, Debug)]
struct Cell {
    op: Operation,
    method: &'static str,
    params: &'static [(&'static str, usize)],
    style: Style,
}

fn request(cell: &Cell, bits: u32) -> Request {
    let params = cell.params.iter().map(|(k, v)| (k.to_string(), *v));
    Request {
        method: Some(cell.method.into()),
        params: params.collect(),
        style: Some(cell.style),
        ..ask::of(cell.op, bits)
    }
}

fn generate(cell: &Cell, bits: u32) -> Kernel {
    known::generate(&request(cell, bits), &any(&ATMEGA128))
        .unwrap_or_else(|error| panic!("{cell:?} {bits}: {error}"))
}

/// Proved on every count, in constant time on every core, and right on structured operands.
fn check(cell: &Cell, bits: u32, operands: usize) -> Kernel {
    let kernel = generate(cell, bits);
    let what = format!("{cell:?}, {bits} bits");
    assert!(kernel.is_proved(), "{what}: {:?}", kernel.proof);
    assert_eq!(kernel.style, cell.style, "{what}");
    for (name, timing) in &kernel.constant_time {
        assert_eq!(timing.leak, None, "{what}: {name}");
    }
    let spec = &kernel.spec;
    let operands = vectors::operands(&spec.source_bytes(), operands, bits.into());
    for core in [&ATMEGA128, &ATMEGA2560, &ATMEGA4809, &ATXMEGA32A4] {
        let on = any(core);
        let run = kernel::runs(spec, &on, &kernel.code);
        for sources in &operands {
            let ran = run(sources, Alias::Distinct);
            let (got, cost) = ran.unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(got, spec.value(sources), "{what}: {sources:x?}");
            let told = kernel.constant_time.iter().find(|(n, _)| n == core.name);
            let told = told.and_then(|(_, timing)| timing.cost).expect("followed");
            assert_eq!(
                cost, told,
                "{what} on {}: the same for every operand",
                core.name
            );
        }
    }
    kernel
}

const fn mul(method: &'static str, params: &'static [(&'static str, usize)], style: Style) -> Cell {
    let op = Operation::Mul;
    Cell {
        op,
        method,
        params,
        style,
    }
}

const fn sqr(method: &'static str, params: &'static [(&'static str, usize)], style: Style) -> Cell {
    let op = Operation::Sqr;
    Cell {
        op,
        method,
        params,
        style,
    }
}

use Style::{Looped, Rolled};

const CACHING: &str = "operand-caching";
const BANDS: &str = "reverse-hybrid";
const SQUARES: &str = "square-reverse-hybrid";
const CALLS: &str = "karatsuba-calls";

#[rustfmt::skip]
const MATRIX: &[Cell] = &[
    mul(CACHING, &[("e", 1)], Looped),
    mul(CACHING, &[("e", 2)], Looped),
    mul(CACHING, &[("e", 3), ("unroll", 1)], Looped),
    mul(CACHING, &[("e", 4), ("unroll", 2)], Looped),
    mul(CACHING, &[("e", 5), ("unroll", 2)], Looped),
    mul(CACHING, &[("e", 6), ("unroll", 3)], Looped),
    mul(CACHING, &[("e", 8), ("unroll", 6)], Looped),
    mul(CACHING, &[("e", 9), ("unroll", 1)], Looped),
    mul(CACHING, &[("e", 9), ("unroll", 2)], Looped),
    mul(BANDS, &[("d", 3)], Looped),
    mul(BANDS, &[("d", 1), ("unroll", 2)], Rolled),
    mul(BANDS, &[("d", 2), ("unroll", 1)], Rolled),
    mul(BANDS, &[("d", 3), ("unroll", 2)], Rolled),
    mul(BANDS, &[("d", 4), ("unroll", 1)], Rolled),
    mul(BANDS, &[("d", 5), ("unroll", 5)], Rolled),
    mul(BANDS, &[("d", 6), ("unroll", 2)], Rolled),
    mul(BANDS, &[("d", 7), ("unroll", 3)], Rolled),
    mul(BANDS, &[("d", 8), ("unroll", 4)], Rolled),
    mul(BANDS, &[("d", 8), ("unroll", 16)], Rolled),
    sqr(SQUARES, &[("d", 3)], Looped),
    sqr(SQUARES, &[("d", 1), ("unroll", 1)], Rolled),
    sqr(SQUARES, &[("d", 2), ("unroll", 2)], Rolled),
    sqr(SQUARES, &[("d", 3), ("unroll", 3)], Rolled),
    sqr(SQUARES, &[("d", 4), ("unroll", 2)], Rolled),
    sqr(SQUARES, &[("d", 6), ("unroll", 3)], Rolled),
    sqr(SQUARES, &[("d", 8), ("unroll", 4)], Rolled),
];

/// Words of the operands: one, primes, multiples, and more than a branch reaches.
const WORDS: [u32; 13] = [1, 2, 3, 5, 8, 9, 13, 16, 20, 24, 31, 40, 64];

#[test]
fn every_cell_is_proved_and_right() {
    let cells = MATRIX.iter().flat_map(|cell| WORDS.map(|n| (cell, n)));
    let cells = tier::some(cells, 2);
    work::each(&cells, |(cell, n)| drop(check(cell, 8 * n, 12)));
    println!("{} cells proved, 0 not, 0 missing", cells.len());
}

/// The size of rolled code does not depend on n, but for what is left over of bands and passes.
#[test]
fn rolled_code_does_not_grow() {
    for cell in tier::some(MATRIX.iter().filter(|cell| cell.style == Rolled), 3) {
        // What is proved at these sizes is no question of this test.
        let bytes = |n: usize| {
            let request = request(cell, 8 * n as u32);
            let chosen = kernel::choose(&request, &any(&ATMEGA128));
            chosen.expect("a kernel").1.code.len()
        };
        let period: usize = cell.params.iter().map(|(_, value)| value).product();
        // Squares double four words at a time.
        let further = if period.is_multiple_of(4) { 2 } else { 4 };
        let (small, large) = (bytes(144), bytes(144 + further * period));
        println!("{cell:?}: {small}, {large} bytes");
        assert_eq!(small, large, "{cell:?}");
    }
}

/// Products and squares by halves, with the words of their operands.
#[rustfmt::skip]
const HALVES: &[(Cell, &[u32])] = &[
    (mul(CALLS, &[("levels", 1), ("d", 2)], Rolled), &[4, 8, 12, 20, 36, 72]),
    (mul(CALLS, &[("levels", 1), ("d", 8), ("unroll", 2)], Rolled), &[16, 20, 24, 64]),
    (mul(CALLS, &[("levels", 2), ("d", 1), ("unroll", 1)], Rolled), &[8, 16, 24]),
    (mul(CALLS, &[("levels", 2), ("d", 5)], Rolled), &[24, 40, 56]),
    (mul(CALLS, &[("levels", 3), ("d", 4), ("unroll", 4)], Rolled), &[32, 48, 80]),
    (sqr(CALLS, &[("levels", 1), ("d", 2)], Rolled), &[4, 8, 12, 20, 36, 72]),
    (sqr(CALLS, &[("levels", 1), ("d", 6), ("unroll", 3)], Rolled), &[16, 20, 24, 64]),
    (sqr(CALLS, &[("levels", 2), ("d", 4)], Rolled), &[16, 24, 40]),
    (sqr(CALLS, &[("levels", 3), ("d", 4), ("unroll", 4)], Rolled), &[32, 48, 80]),
];

#[test]
fn halves_are_proved_and_right() {
    let cells = HALVES.iter();
    let cells = cells.flat_map(|(cell, words)| words.iter().map(move |n| (cell, *n)));
    work::each(&tier::some(cells, 4), |(cell, n)| {
        drop(check(cell, 8 * n, 12));
    });
}

/// As `tests/paper/calls.toml` says: below 1536 bytes, and within one and a half times the cycles of a call of the same
/// levels unrolled. Products that are joined at the end and, of a square, levels that are added up at once, which calls
/// cannot be, are faster still: the cheapest without loops.
#[test]
fn small_code_is_fast() {
    // The same levels unrolled: cycles of a call.
    let alike = [
        (Operation::Mul, 1024, "karatsuba levels=4 plan=k-m", 54_519),
        (Operation::Mul, 2048, "karatsuba levels=5", 173_459),
        (
            Operation::Sqr,
            1024,
            "karatsuba-squaring c=2 levels=3",
            35_341,
        ),
        (
            Operation::Sqr,
            2048,
            "karatsuba-squaring c=2 levels=4",
            113_601,
        ),
    ];
    let made = |op: Operation, bits: u32, plan: &str| {
        let unrolled = Request {
            style: Some(Style::Unrolled),
            ..ask::of(op, bits)
        };
        let (_, best) =
            kernel::choose(&ask::by(plan, unrolled), &any(&ATMEGA128)).expect("a kernel");
        (best.cycles(), best.code.len() as u64)
    };
    let table: Value = toml::from_str(include_str!("../paper/calls.toml")).expect("TOML");
    let flash = table["flash"].as_integer().expect("bytes") as usize;
    for (op, bits, plan, cycles) in tier::some(alike, 7) {
        let rows = table["kernel"].as_array().expect("rows");
        let row = rows.iter().find(|row| {
            row["core"].as_str() == Some("atmega128")
                && row["op"].as_str() == Some(op.name())
                && row["bits"].as_integer() == Some(bits.into())
        });
        let row = row.expect("a row");
        let within = Request {
            style: Some(Rolled),
            budget: Budget {
                flash: Some(flash),
                stack: None,
            },
            ..ask::of(op, bits)
        };
        let text = |key: &str| row[key].as_str().expect("a plan");
        let within = ask::by(text("small_plan"), within);
        let kernel = known::generate(&within, &any(&ATMEGA128)).expect("fits");
        assert!(kernel.is_proved(), "{row}: {:?}", kernel.proof);
        let (call, bytes) = (kernel.cost.call.max, kernel.code.len());
        assert_eq!(numbers(&row["small"]), [call, bytes as u64], "{row}");
        assert!(2 * call <= 3 * cycles && bytes <= flash, "{row}");
        // Twice the size takes minutes.
        if bits == 1024 || tier::tier() == Tier::Night {
            assert_eq!(made(op, bits, plan).0, cycles, "{plan}");
            let (call, bytes) = made(op, bits, text("plan"));
            assert_eq!(numbers(&row["unrolled"]), [call, bytes], "{row}");
        }
    }
}

/// What cannot be halved says what to type.
#[test]
fn odd_halves_are_refused() {
    for (cell, bits, told) in [
        (
            mul(CALLS, &[("levels", 3), ("d", 2)], Rolled),
            96,
            "at most 1",
        ),
        (
            mul(CALLS, &[("levels", 1), ("d", 9)], Rolled),
            256,
            "at most 8",
        ),
        (
            mul(CALLS, &[("levels", 1), ("d", 2)], Rolled),
            168,
            "leave out --method",
        ),
        (sqr(CALLS, &[], Rolled), 168, "leave out --method"),
        (
            mul(CALLS, &[("levels", 1), ("d", 2)], Rolled),
            4096,
            "up to 256 words",
        ),
        (
            sqr(CALLS, &[("levels", 1), ("d", 2)], Style::Unrolled),
            256,
            "try --style",
        ),
    ] {
        let error = known::generate(&request(&cell, bits), &any(&ATMEGA128)).err();
        let text = refused::instead(&error.expect("refused"));
        assert!(text.contains(told), "{text}");
    }
}

/// 1024 and 2048 bits are proved in linear time.
#[test]
fn large_kernels_are_proved() {
    let cell = mul(BANDS, &[("d", 8), ("unroll", 8)], Rolled);
    let sizes = tier::some([(1024, 100_405), (2048, 399_461)], 8);
    for (bits, cycles) in sizes {
        assert_eq!(check(&cell, bits, 2).cost.body.max, cycles, "{bits}");
    }
}

/// The papers' looped operand caching: 2865 cycles is the best looped multiplication they know
/// (hw2018, section 1).
#[test]
fn looped_operand_caching_stays_as_good_as_it_is() {
    let cell = mul(CACHING, &[], Looped);
    let kernel = generate(&cell, 160);
    println!("{:?} {:?}", kernel.params, kernel.cost);
    assert_eq!(kernel.cost.body.max, 2457);
    let small = mul(CACHING, &[("e", 5), ("unroll", 5)], Looped);
    let kernel = generate(&small, 160);
    println!("{} bytes, {:?}", kernel.code.len(), kernel.cost.body);
    assert!(kernel.cost.body.max < 2865);
}

/// What has no such form says which it has.
#[test]
fn other_styles_are_refused() {
    for (method, style, told) in [
        (
            CACHING,
            Rolled,
            "only looped: try --style looped, or --style rolled --method product-scanning",
        ),
        ("hybrid", Looped, "only rolled: try --style rolled"),
        (
            "operand-scanning",
            Looped,
            "(4 of a column on an AVR): try --style rolled",
        ),
        (
            "product-scanning",
            Looped,
            "(4 of a column on an AVR): try --style rolled",
        ),
    ] {
        let cell = mul(method, &[], style);
        let error = known::generate(&request(&cell, 64), &any(&ATMEGA128)).err();
        let text = refused::instead(&error.expect("refused"));
        assert!(text.ends_with(told), "{text}");
    }
}

const ATTACKED: &[(Cell, u32)] = &[
    (mul(CACHING, &[("e", 3), ("unroll", 2)], Looped), 13),
    (mul(CACHING, &[("e", 4), ("unroll", 1)], Looped), 16),
    (mul(BANDS, &[("d", 2), ("unroll", 2)], Rolled), 9),
    (mul(BANDS, &[("d", 4), ("unroll", 2)], Rolled), 16),
    (mul(BANDS, &[("d", 5), ("unroll", 1)], Rolled), 21),
    (sqr(SQUARES, &[("d", 2), ("unroll", 1)], Rolled), 11),
    (sqr(SQUARES, &[("d", 4), ("unroll", 2)], Rolled), 16),
    (
        mul(CALLS, &[("levels", 1), ("d", 2), ("unroll", 2)], Rolled),
        8,
    ),
    (
        mul(CALLS, &[("levels", 2), ("d", 2), ("unroll", 2)], Rolled),
        16,
    ),
    (
        sqr(CALLS, &[("levels", 1), ("d", 2), ("unroll", 2)], Rolled),
        8,
    ),
    (
        sqr(CALLS, &[("levels", 2), ("d", 2), ("unroll", 2)], Rolled),
        16,
    ),
];

#[test]
fn wrong_mutants_are_rejected() {
    let cases = ATTACKED.iter().map(|(cell, n)| {
        let spec = Spec::new(cell.op, 8 * n, 8).expect("a size");
        let params = cell.params.to_vec();
        (ATMEGA128.clone(), spec, cell.style, cell.method, params)
    });
    mutants::attack::<AvrIsa>(cases.collect(), FAULTS_PER_KERNEL, 5).hold(1650, 8);
}

/// Loops that are not the blocks are found out.
#[test]
fn a_wrong_loop_is_no_schedule() {
    let spec = Spec::new(Operation::Mul, 160, 8).expect("a size");
    let facts = AvrIsa::facts(&ATMEGA128).styled(Rolled);
    let method = method::find(BANDS).expect("a method");
    let schedule = (method.schedule)(&spec, &facts, &[("d", 4)].into()).expect("a schedule");
    let Schedule::Loops(loops) = schedule else {
        panic!("not loops");
    };
    assert_eq!(loops.check().expect("valid").products, 400);
    let turn = loops
        .turns
        .iter()
        .position(|t| t.times > 1)
        .expect("a turn");
    let mut wrong = loops.clone();
    wrong.turns[turn].times -= 1;
    assert!(wrong.check().is_err());
    let mut wrong = loops.clone();
    let run = |l: &mut lozenge::schedule::Loops| {
        let runs = &mut l.turns[turn].blocks[1].runs;
        runs.iter().position(|r| r.times > 1).expect("a loop")
    };
    let at = run(&mut wrong);
    wrong.turns[turn].blocks[1].runs[at].step.b = 0;
    assert!(wrong.check().is_err());
}
