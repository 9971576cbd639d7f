//! Two nested loops on MIPS32: proved, right on big integers, and as fast as gk2003 counts.

use lozenge::facts::Style;
use lozenge::function::Function;
use lozenge::isa::clock::{Line, Scoreboard, Timed};
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::code::Insn;
use lozenge::isa::mips::cores::{Core, Features};
use lozenge::isa::mips::instructions::Op as Operation;
use lozenge::kernel::{Error, Kernel, Request};
use lozenge::lower::Lower;
use lozenge::schedule::{Schedule, ScheduleError};
use lozenge::spec::modulus::{Modular, Modulus, Reduce};
use lozenge::spec::{Alias, Op, Spec};
use lozenge::vectors::{self, Random};
use lozenge::{kernel, method, prove};
use num_bigint::BigUint;
use toml::Value;

use crate::kit::paper::numbers;
use crate::kit::{any, ask, known, own, refused, tier};

fn core(name: &str, extensions: &[&str]) -> Core {
    let core = Core::named(name).expect("a core");
    extensions.iter().fold(core, |core, word| {
        let known = Features::EACH.iter().find(|(_, name)| name == word);
        core.with(known.expect("an extension").0)
    })
}

fn request(op: Op, bits: u32, reduce: Reduce, unroll: usize) -> Request {
    let method = match op {
        Op::Mul => "product-scanning",
        Op::Sqr => "square-product-scanning",
        _ => "fips",
    };
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
        style: Some(Style::Rolled),
        ..ask::in_any_time(op, bits)
    }
}

/// A proved kernel that is right on numbers wherever its operands may lie.
fn kernel(core: &Core, request: &Request, runs: usize) -> Kernel {
    let name = format!("{} {request:?}", core.full_name());
    let kernel = known::generate(request, &any(core));
    let kernel = kernel.unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(kernel.is_proved(), "{name}: {:?}", kernel.proof);
    let others = kernel.aliasing.iter().filter(|case| {
        // What is reduced alone is longer than the result.
        let modular = request.op.is_modular() && request.op != Op::Redc;
        assert!(case.allowed || !modular, "{name}: {case:?}");
        case.allowed
    });
    let others: Vec<_> = others.map(|case| case.alias).collect();
    for alias in [Alias::Distinct].into_iter().chain(others) {
        let on = any(core);
        let run = kernel::runs(&kernel.spec, &on, &kernel.code);
        for mut sources in vectors::of(&kernel.spec, runs, 7) {
            let Spec { op, size, .. } = kernel.spec;
            if op.factors() == 2 && matches!(alias, Alias::AIsB | Alias::All) {
                sources[1] = sources[0].clone();
            }
            let (got, _) = run(&sources, alias).unwrap_or_else(|e| panic!("{name}: {e}"));
            let product = match op {
                Op::Redc => sources[0].clone(),
                Op::Tomont => &sources[0] << (2 * size.a),
                _ => &sources[0] * &sources[op.factors() - 1],
            };
            let Some(modular) = &kernel.spec.modular else {
                assert_eq!(got, product, "{name}, {alias:?}");
                continue;
            };
            let words = BigUint::from(1u8) << size.a;
            let given = || &sources[op.factors()] % &words;
            let m = modular.fixed().cloned().unwrap_or_else(given);
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

/// Sizes with and without a rest of columns, all reductions, every shape of a pass.
#[test]
fn columns_in_loops_are_proved_and_right() {
    let extensions: [&[&str]; 4] = [&[], &["wide-acc"], &["wide-acc", "autoinc"], &["autoinc"]];
    let (mut made, mut turns) = (0, tier::Turns::default());
    for words in (2..=9).chain([13]) {
        for (i, extension) in extensions.into_iter().enumerate() {
            let core = core("mips-4km-32x16", extension);
            for op in [Op::Montmul, Op::Montsqr, Op::Mul, Op::Sqr] {
                for unroll in 1..=3 {
                    // Every size and shape meets every reduction once.
                    let reduce = Reduce::ALL[(words as usize + unroll + i) % 3];
                    let mut request = request(op, 32 * words, reduce, unroll);
                    if unroll == 1 + i % 3 {
                        request.style = Some(Style::Looped);
                    }
                    if turns.skips() {
                        continue;
                    }
                    kernel(&core, &request, 6);
                    made += 1;
                }
            }
        }
    }
    println!("{made} kernels");
}

/// A reduction alone, and operand scanning, with and without MADDH and MADDL.
#[test]
fn reductions_and_rows_of_products_are_proved_and_right() {
    let extensions: [&[&str]; 3] = [&[], &["wide-acc", "autoinc"], &["maddhl"]];
    for words in [2, 3, 5, 9] {
        for (i, extension) in extensions.into_iter().enumerate() {
            let core = core("mips-4km-32x16", extension);
            for unroll in 1..=3 {
                let reduce = Reduce::ALL[(words as usize + unroll + i) % 3];
                let mut redc = request(Op::Redc, 32 * words, reduce, unroll);
                let mut tomont = request(Op::Tomont, 32 * words, reduce, unroll);
                let mut rows = request(Op::Mul, 32 * words, reduce, unroll);
                rows.method = Some("operand-scanning".into());
                if unroll == 1 + i {
                    for request in [&mut redc, &mut rows, &mut tomont] {
                        request.style = Some(Style::Looped);
                    }
                }
                kernel(&core, &tomont, 6);
                kernel(&core, &redc, 6);
                kernel(&core, &rows, 6);
            }
        }
    }
}

/// FIOS in loops, with MADDH and MADDL and without them.
#[test]
fn rows_in_loops_are_proved_and_right() {
    let mut turns = tier::Turns::default();
    let sizes = (2..=8).chain([11]).map(|words| (words, &["maddhl"][..]));
    let plain = [2, 3, 6, 9].map(|words| (words, &[][..]));
    for (words, extension) in sizes.chain(plain) {
        let core = core("mips-4km-32x16", extension);
        for unroll in 1..=3 {
            for reduce in Reduce::ALL {
                for op in [Op::Montmul, Op::Montsqr] {
                    if turns.skips() {
                        continue;
                    }
                    let mut request = request(op, 32 * words, reduce, unroll);
                    request.method = Some("fios".into());
                    if unroll == 2 && op == Op::Montmul {
                        request.style = Some(Style::Looped);
                    }
                    kernel(&core, &request, 6);
                }
            }
        }
    }
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
    let mut turns = tier::Turns::default();
    let extensions: [&[&str]; 3] = [&[], &["wide-acc", "autoinc"], &["maddhl"]];
    for words in [2, 3, 6, 9] {
        for (i, value) in moduli(words).into_iter().enumerate() {
            for (j, extension) in extensions.into_iter().enumerate() {
                let core = core("mips-4km-32x16", extension);
                for op in [Op::Montmul, Op::Montsqr, Op::Redc, Op::Tomont] {
                    if turns.skips() {
                        continue;
                    }
                    let lazy = value.bits() + 2 <= u64::from(32 * words);
                    let reduce = Reduce::ALL[(words as usize + i + j) % if lazy { 3 } else { 2 }];
                    let mut request = request(op, 32 * words, reduce, 1 + i % 2);
                    let modulus = format!("{value:#x}").parse().expect("a modulus");
                    request.modular = Some(Modular {
                        modulus,
                        reduce,
                        shift: 0,
                        times: 0,
                    });
                    if extension == ["maddhl"] && matches!(op, Op::Montmul | Op::Montsqr) {
                        request.method = Some("fios".into());
                    } else if (i + j) % 3 == 0 {
                        request.style = Some(Style::Looped);
                    }
                    kernel(&core, &request, 6);
                }
            }
        }
    }
}

/// A product in loops, then its reduction in loops: with each extension, reduction, and modulus.
#[test]
fn products_are_reduced_in_loops() {
    let extensions: [&[&str]; 3] = [&[], &["wide-acc"], &["wide-acc", "autoinc"]];
    for (i, extension) in extensions.into_iter().enumerate() {
        let core = core("mips-4km", extension);
        for (j, (op, words, modulus)) in [
            (Op::Montmul, 3, "runtime"),
            (Op::Montsqr, 9, "runtime"),
            (Op::Montmul, 8, "p256"),
            (Op::Montsqr, 5, "2^158-15"),
        ]
        .into_iter()
        .enumerate()
        {
            // The third modulus has no bits to spare.
            let reduce = Reduce::ALL[if j == 2 { i % 2 } else { (i + j) % 3 }];
            let mut asked = request(op, 32 * words, reduce, 1 + i);
            let modulus = modulus.parse().expect("a modulus");
            asked.modular = Some(Modular {
                modulus,
                reduce,
                shift: 0,
                times: 0,
            });
            let (name, params): (&str, &[_]) = match op {
                Op::Montmul => ("product-scanning+sps", &[("unroll", 1 + i)]),
                _ => (
                    "square-product-scanning+sps",
                    &[("unroll", 1 + i), ("c", 0)],
                ),
            };
            asked.method = Some(name.into());
            asked.params = params.iter().map(|(k, v)| (k.to_string(), *v)).collect();
            kernel(&core, &asked, 6);
        }
    }
}

/// What has no such loops says so.
#[test]
fn what_has_no_loops_is_refused() {
    let wide = core("mips-4km", &["wide-acc"]);
    let told = |op, bits, modulus: &str, method: &str| {
        let mut request = request(op, bits, Reduce::Full, 1);
        request.method = Some(method.into());
        request.params.clear();
        request.modular.as_mut().expect("a modulus").modulus = modulus.parse().expect("a modulus");
        match known::generate(&request, &any(&wide)) {
            Err(error @ (Error::Style { .. } | Error::Lower { .. })) => refused::instead(&error),
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("{op:?} of {bits} bits"),
        }
    };
    for (op, bits, modulus, method) in [
        (Op::Montmul, 32, "runtime", "fips"),
        (Op::Montmul, 256, "runtime", "cios"),
    ] {
        let text = told(op, bits, modulus, method);
        assert!(text.contains("--style unrolled"), "{text}");
    }
}

/// Strands that are not the sweep are no schedule.
#[test]
fn strands_must_give_the_sweep_back() {
    let request = request(Op::Montmul, 256, Reduce::Full, 1);
    let spec = request.spec(32).expect("a spec");
    let facts = MipsIsa::facts(&core("mips-4km", &[])).styled(Style::Rolled);
    let fips = method::find("fips").expect("a method");
    let schedule = (fips.schedule)(&spec, &facts, &Default::default());
    let Schedule::Scans(scans) = schedule.expect("a schedule") else {
        panic!("no loops");
    };
    assert!(scans.check().is_ok());
    let mut wrong = scans.clone();
    wrong.strands[0].pairs = true;
    assert_eq!(wrong.check(), Err(ScheduleError::Loops));
    wrong = scans.clone();
    wrong.strands.pop();
    assert_eq!(wrong.check(), Err(ScheduleError::Loops));
}

/// Cycles of a pass of the innermost loop with the most products, once it goes round.
fn inner(core: &Core, insns: &[Insn]) -> u64 {
    let products = [Operation::MADDU, Operation::M2ADDU, Operation::MADDL];
    let multiplies = |insn: &Insn| products.contains(&insn.op);
    let loops = insns
        .iter()
        .enumerate()
        .filter(|(_, insn)| insn.op == Operation::BNE);
    let bodies = loops.map(|(at, insn)| {
        let start = (at as i32 + 1 + insn.ops.k) as usize;
        &insns[start..=at + 1]
    });
    let innermost = bodies.filter(|body| {
        let branches = body.iter().filter(|insn| insn.op == Operation::BNE);
        branches.count() == 1
    });
    let body = innermost.max_by_key(|body| body.iter().filter(|i| multiplies(i)).count());
    let body = body.expect("a loop");
    let cycles = |rounds: usize| {
        let mut pipeline = Scoreboard::default();
        for insn in (0..rounds).flat_map(|_| body) {
            let [_, most] = core.observing(insn, &core.work(insn), None);
            pipeline.issue(&most);
        }
        pipeline.now()
    };
    (cycles(30) - cycles(20)) / 10
}

/// The table of gk2003, theirs and ours.
#[test]
fn the_paper_s_figures() {
    let table: Value =
        toml::from_str(include_str!("../paper/groszschaedl-kamendje-2003.toml")).expect("TOML");
    let mut otherwise = Vec::new();
    for row in table["row"].as_array().expect("rows") {
        let text = |key: &str| row[key].as_str().expect("text");
        let extension = row["extension"].as_array().expect("a list").iter();
        let extension: Vec<_> = extension.map(|e| e.as_str().expect("a word")).collect();
        let op = match text("op") {
            "montmul" => Op::Montmul,
            _ => Op::Montsqr,
        };
        let unroll = row["unroll"].as_integer().expect("a number") as usize;
        let name = format!(
            "{} {} {extension:?} unroll={unroll}",
            text("op"),
            text("method")
        );
        let mut made = Vec::new();
        let mut inners = Vec::new();
        for multiplier in ["32x32", "32x16", "32x12"] {
            let core = core(&format!("mips-4km-{multiplier}"), &extension);
            let mut request = request(op, 1024, Reduce::Full, unroll);
            request.method = Some(text("method").into());
            if unroll == 0 {
                request.style = Some(Style::Unrolled);
                request.params.clear();
            }
            let (spec, best) = kernel::choose(&request, &any(&core)).expect("a kernel");
            let proof = prove::prove(&spec, &any(&core), &best.code, Alias::Distinct);
            assert!(proof.holds(), "{name}: {proof:?}");
            let timing = prove::function_timing(&spec, &any(&core), &Function::kernel(&best.code));
            let cycles = timing.cost.expect("it returns").body;
            assert_eq!(cycles.min, cycles.max, "{name}");
            made.push(cycles.max);
            if unroll > 0 {
                inners.push(inner(&core, &own(&best.program.insns)));
            }
        }
        println!("{name}: ours {made:?}, inner loop {inners:?}");
        if let Some(theirs) = row.get("theirs").and_then(Value::as_integer) {
            let delta = 100.0 * (made[0] as f64 / theirs as f64 - 1.0);
            println!("  theirs {theirs} ({delta:+.1} %)");
            // FIOS waits for a slower multiplier, and says so.
            let all = if text("method") == "fios" { 1 } else { 3 };
            assert!(
                made[..all].iter().all(|cycles| *cycles <= theirs as u64),
                "{name}"
            );
        }
        if let Some(theirs) = row.get("inner_theirs").and_then(Value::as_integer) {
            assert!(inners[0] <= theirs as u64, "{name}");
        }
        println!("  {}", text("why").replace('\n', " "));
        if made != numbers(&row["ours"]) || inners != numbers(&row["inner"]) {
            otherwise.push(format!("{name}: ours = {made:?}, inner = {inners:?}"));
        }
    }
    assert!(
        otherwise.is_empty(),
        "the file says otherwise: {otherwise:#?}"
    );
}
