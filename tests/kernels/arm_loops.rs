//! Two nested loops on an ARM: proved, right on big integers, as fast as they should be; faults are rejected.

use lozenge::facts::Style;
use lozenge::function::Function;
use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::code::Insn;
use lozenge::isa::arm::cores::{ARM7TDMI, ARM7TDMI_HW2018, Core};
use lozenge::isa::arm::instructions::Op as Operation;
use lozenge::kernel::{Error, Kernel, Request};
use lozenge::spec::modulus::{Modular, Modulus, Reduce};
use lozenge::spec::{Alias, Op};
use lozenge::vectors::{self, Random};
use lozenge::{kernel, prove};
use num_bigint::BigUint;
use toml::Value;

use crate::kit::paper::numbers;
use crate::kit::{any, ask, known, mutants, own, refused, tier};

const LOOPS: [Style; 2] = [Style::Looped, Style::Rolled];

/// An operation and a method that has loops.
type Kind = (Op, &'static str);

const MUL: Kind = (Op::Mul, "product-scanning");
const ROWS: Kind = (Op::Mul, "operand-scanning");
const SQR: Kind = (Op::Sqr, "square-product-scanning");
const MONTMUL: Kind = (Op::Montmul, "fips");
const MONTSQR: Kind = (Op::Montsqr, "fips");
const REDC: Kind = (Op::Redc, "fips");
const TOMONT: Kind = (Op::Tomont, "fips");

pub(super) fn request(
    kind: Kind,
    words: u32,
    reduce: Reduce,
    style: Style,
    unroll: usize,
) -> Request {
    let (op, method) = kind;
    let modular = Modular {
        modulus: Modulus::Runtime,
        reduce,
        shift: 0,
        times: 0,
    };
    Request {
        modular: op.is_modular().then_some(modular),
        method: Some(method.into()),
        params: [("unroll".into(), unroll)].into(),
        style: Some(style),
        ..ask::in_any_time(op, 32 * words)
    }
}

/// `a b`, `a b / R mod m` or `a / R mod m`, from big integers alone.
fn is_right(
    op: Op,
    modular: Option<&Modular>,
    bits: u32,
    sources: &[BigUint],
    got: &BigUint,
) -> bool {
    let product = match op {
        Op::Redc => sources[0].clone(),
        Op::Tomont => &sources[0] << (2 * bits),
        _ => &sources[0] * &sources[op.factors() - 1],
    };
    let Some(modular) = modular else {
        return *got == product;
    };
    let words = BigUint::from(1u8) << bits;
    let given = || &sources[op.factors()] % &words;
    let m = modular.fixed().cloned().unwrap_or_else(given);
    let bound = match modular.reduce {
        Reduce::Full => m.clone(),
        Reduce::Almost => words,
        Reduce::Lazy => &m << 1,
    };
    (got << bits) % &m == product % &m && *got < bound
}

/// A proved kernel that is right on numbers wherever its operands may lie.
pub(super) fn check<C>(core: &C, request: &Request, runs: usize) -> Kernel
where
    C: Clone + Into<lozenge::isa::core::Core>,
{
    let name = format!("{request:?}");
    let kernel = known::generate(request, &any(core));
    let kernel = kernel.unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(kernel.is_proved(), "{name}: {:?}", kernel.proof);
    assert_eq!(Some(kernel.style), request.style, "{name}");
    let others = kernel.aliasing.iter().filter(|case| {
        // What is reduced alone is longer than the result.
        let longer = request.op == Op::Redc;
        let modular = request.op.is_modular() && !longer;
        assert!(case.allowed || !modular, "{name}: {case:?}");
        case.allowed
    });
    let others: Vec<_> = others.map(|case| case.alias).collect();
    for alias in [Alias::Distinct].into_iter().chain(others) {
        let on = any(core);
        let run = kernel::runs(&kernel.spec, &on, &kernel.code);
        for mut sources in vectors::of(&kernel.spec, runs, 7) {
            if request.op.factors() == 2 && matches!(alias, Alias::AIsB | Alias::All) {
                sources[1] = sources[0].clone();
            }
            let (got, _) = run(&sources, alias).unwrap_or_else(|e| panic!("{name}: {e}"));
            let modular = request.modular.as_ref();
            let right = is_right(request.op, modular, kernel.spec.size.a, &sources, &got);
            assert!(right, "{name}, {alias:?}: {sources:x?}: {got:x}");
        }
    }
    kernel
}

/// Sizes with and without a rest of columns, all reductions, every shape of a pass.
#[test]
fn loops_are_proved_and_right() {
    let (mut made, mut turns) = (0, tier::Turns::default());
    for words in [2, 3, 6, 13] {
        for op in [MUL, ROWS, SQR, MONTMUL, MONTSQR, REDC, TOMONT] {
            for unroll in [1, 2, 4, 6] {
                for (i, style) in LOOPS.into_iter().enumerate() {
                    if turns.skips() {
                        continue;
                    }
                    // Every size and shape meets every reduction.
                    let reduce = Reduce::ALL[(words as usize + unroll + i) % 3];
                    check(&ARM7TDMI, &request(op, words, reduce, style, unroll), 6);
                    made += 1;
                }
            }
        }
    }
    println!("{made} kernels");
}

/// Odd numbers of so many words: words of ones, of zeros, a 1 at the bottom (`m' = -1`), all ones (`m' = 1`), with a
/// bit or a word to spare, and without pattern.
fn moduli(words: u32) -> Vec<BigUint> {
    let power = |bits: u32| BigUint::from(1u8) << bits;
    let n = 32 * words;
    let uniform = Random::new(u64::from(words)).uniform(4 * words as usize) | power(n - 1);
    vec![
        power(n) - 1u8,
        power(n) - power(n - 32) + 1u8,
        power(n - 1) - 19u8,
        power(n - 1) + 1u8,
        power(n - 31) - 3u8,
        uniform | power(0),
    ]
}

/// A modulus that is a number lies in the stack frame.
#[test]
fn a_fixed_modulus_in_loops_is_proved_and_right() {
    for words in [2, 3, 6, 9] {
        for (i, value) in moduli(words).into_iter().enumerate() {
            for op in [MONTMUL, MONTSQR, REDC, TOMONT] {
                let lazy = value.bits() + 2 <= u64::from(32 * words);
                let reduce = Reduce::ALL[(words as usize + i) % if lazy { 3 } else { 2 }];
                let unroll = 1 + i % 2;
                let mut request = request(op, words, reduce, LOOPS[i / 2 % 2], unroll);
                let modulus = format!("{value:#x}").parse().expect("a modulus");
                request.modular = Some(Modular {
                    modulus,
                    reduce,
                    shift: 0,
                    times: 0,
                });
                check(&ARM7TDMI, &request, 6);
            }
        }
    }
}

/// The code of a rolled kernel is as long for all sizes with the same rests.
/// A product in loops, then its reduction in loops: every product, reduction, and modulus.
#[test]
fn products_are_reduced_in_loops() {
    let calls = ("karatsuba-calls+sps", [("levels", 1), ("columns", 1)]);
    let square = ("square-product-scanning+sps", [("c", 0), ("unroll", 3)]);
    let columns = ("product-scanning+sps", [("unroll", 2), ("unroll", 2)]);
    for (op, (method, params), words, modulus, style) in [
        (Op::Montmul, columns, 3, "runtime", Style::Rolled),
        (Op::Montmul, columns, 8, "p256", Style::Looped),
        (Op::Montmul, calls, 8, "runtime", Style::Rolled),
        (Op::Montmul, calls, 12, "2^383-187", Style::Rolled),
        (Op::Montsqr, square, 7, "runtime", Style::Rolled),
        (Op::Montsqr, calls, 8, "p256", Style::Rolled),
    ] {
        for reduce in Reduce::ALL {
            let modulus: Modulus = modulus.parse().expect("a modulus");
            let fits = !matches!(&modulus, Modulus::Fixed { value, .. } if value.bits() + 2 > u64::from(32 * words));
            if reduce == Reduce::Lazy && !fits {
                continue;
            }
            let mut asked = request((op, method), words, reduce, style, 1);
            asked.modular = Some(Modular {
                modulus,
                reduce,
                shift: 0,
                times: 0,
            });
            asked.params = params.iter().map(|(k, v)| (k.to_string(), *v)).collect();
            check(&ARM7TDMI, &asked, 6);
        }
    }
}

#[test]
fn rolled_code_does_not_grow() {
    for (op, bytes) in [(MUL, 216), (ROWS, 124), (SQR, 740), (MONTMUL, 1000)] {
        let code = |words| {
            let request = request(op, words, Reduce::Full, Style::Rolled, 1);
            check(&ARM7TDMI, &request, 2).code.len()
        };
        let [small, large] = [code(16), code(64)];
        assert!(
            small <= bytes && large <= small + 16,
            "{op:?}: {small}, {large}"
        );
    }
}

/// Cycles of a pass of the inner loop with the most products, and how many those are.
fn inner(core: &Core, insns: &[Insn]) -> (u64, usize) {
    let back = |(at, insn): (usize, &Insn)| {
        let jumps = insn.op == Operation::B && insn.ops.k < 0;
        jumps.then(|| &insns[(at as i32 + 2 + insn.ops.k) as usize..=at])
    };
    let branches = |body: &&[Insn]| body.iter().filter(|i| i.op == Operation::B).count() == 1;
    let products = |body: &&[Insn]| body.iter().filter(|i| i.op == Operation::UMULL).count();
    let bodies = insns.iter().enumerate().filter_map(back).filter(branches);
    let body = bodies.max_by_key(products).expect("a loop");
    let cost = |insn: &Insn| {
        let words = match insn.op {
            Operation::LDM => insn.ops.k.count_ones(),
            _ => 0,
        };
        let effects = lozenge::isa::arm::cores::Effects {
            words,
            ..Default::default()
        };
        (core.cycles)(insn.form().timing, &effects).max
    };
    (body.iter().map(cost).sum(), products(&body))
}

fn on_record() -> Value {
    toml::from_str(include_str!("../paper/arm-loops.toml")).expect("TOML")
}

/// `2 (c + 2) + 9 c` cycles for a chunk of `c > 1` products, `6 + 9` for one, 4 for the end of the loop.
#[test]
fn inner_loops_cost_what_their_instructions_do() {
    let table = &on_record()["inner"];
    let [unroll, cycles] = ["unroll", "cycles"].map(|key| numbers(&table[key]));
    for (unroll, cycles) in unroll.into_iter().zip(cycles) {
        let unroll = unroll as usize;
        let request = request(MUL, 32, Reduce::Full, Style::Rolled, unroll);
        let (_, best) = kernel::choose(&request, &any(&ARM7TDMI)).expect("a kernel");
        let made = inner(&ARM7TDMI, &own(&best.program.insns));
        assert_eq!(made, (cycles, unroll), "unroll={unroll}");
    }
}

/// Cycles of the body and bytes of 1024 bits, as `tests/paper/arm-loops.toml` has them.
#[test]
fn products_take_what_is_on_record() {
    let kinds = [MUL, ROWS, SQR, MONTMUL, MONTSQR];
    let table = on_record();
    let rows = table["kernel"].as_array().expect("rows").iter();
    assert_eq!(rows.len(), kinds.len());
    for ((op, method), row) in tier::some(kinds.into_iter().zip(rows), 12) {
        let named = [&row["op"], &row["method"]].map(Value::as_str);
        assert_eq!(named, [Some(op.name()), Some(method)]);
        for (name, style, unroll) in [
            ("unrolled", Style::Unrolled, 0),
            ("rolled", Style::Rolled, 0),
            ("one", Style::Rolled, 1),
        ] {
            let mut request = request((op, method), 32, Reduce::Full, style, unroll);
            request.params.retain(|_, unroll| *unroll > 0);
            let (spec, best) = kernel::choose(&request, &any(&ARM7TDMI)).expect("a kernel");
            let timing =
                prove::function_timing(&spec, &any(&ARM7TDMI), &Function::kernel(&best.code));
            let cycles = timing.cost.expect("it returns").body.max;
            let made = [cycles, best.code.len() as u64];
            assert_eq!(numbers(&row[name]), made, "{row}");
        }
    }
}

/// What has no such loops says so.
#[test]
fn what_has_no_loops_is_refused() {
    for (op, words, modulus, method) in [
        (Op::Montmul, 1, "runtime", "fips"),
        (Op::Montmul, 8, "runtime", "fios"),
        (Op::Montsqr, 8, "runtime", "fios"),
    ] {
        let mut request = request((op, method), words, Reduce::Full, Style::Rolled, 1);
        request.modular.as_mut().expect("a modulus").modulus = modulus.parse().expect("a modulus");
        match known::generate(&request, &any(&ARM7TDMI)) {
            Err(error @ (Error::Style { .. } | Error::Lower { .. })) => {
                let text = refused::instead(&error);
                let hints = ["--style unrolled", "--method fips"];
                assert!(hints.iter().any(|hint| text.contains(hint)), "{text}");
            }
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("{request:?}"),
        }
    }
}

#[test]
fn the_prover_rejects_faults_in_loops() {
    let attacked = [
        (MUL, 5, Style::Rolled, 1),
        (MUL, 7, Style::Looped, 2),
        (SQR, 6, Style::Rolled, 1),
        (SQR, 9, Style::Rolled, 2),
        (MONTMUL, 5, Style::Rolled, 1),
        (MONTSQR, 5, Style::Rolled, 1),
        (REDC, 5, Style::Rolled, 1),
        (ROWS, 5, Style::Rolled, 1),
        (MONTMUL, 6, Style::Rolled, 1),
    ];
    let cases = attacked.map(|((op, method), words, style, unroll)| {
        let modulus = if words == 6 { "p192" } else { "runtime" };
        let modulus = op.is_modular().then_some((modulus, Reduce::Full));
        let params = vec![("unroll", unroll)];
        let spec = ask::spec(op, words, modulus, 32);
        (ARM7TDMI_HW2018.clone(), spec, style, method, params)
    });
    mutants::attack::<ArmIsa>(cases.into(), 90, 11).hold(810, 8);
}
