//! Certificates: what `gen` writes, `verify` follows on the object alone; with other code, other claims or other
//! entries it accepts nothing, and no file makes it panic.

use std::path::Path;
use std::process::{Command, Output};

use lozenge::certificate::Case;
use lozenge::domain::trace::{Entry, Noted, Step};
use lozenge::domain::variable::{Def, Value};
use lozenge::function::Function;
use lozenge::isa::core::Core;
use lozenge::kernel::Request;
use lozenge::spec::modulus::{Modular, Modulus, Reduce};
use lozenge::spec::{Alias, Op, Spec};
use lozenge::vectors::Random;
use lozenge::{certificate, prove};
use serde_json::Value as Json;

use crate::check::tools::{ARM, AVR, MIPS, NO_MEMSET, Question, core_named, prepared};
use crate::kit::{ask, known};

fn lozenge(folder: &Path, line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .current_dir(folder)
        .args(line.split_whitespace())
        .output()
        .expect("lozenge runs")
}

/// Every operation, on each machine: the certificate holds on the object, and says so in JSON.
#[test]
fn what_gen_certifies_is_verified_on_the_object() {
    let kernels = [
        "mul 64 --core atmega128",
        "mul 64 --core atmega128 --abi iar",
        "mul 64 --core attiny85",
        "mulhi 64 --core atmega128",
        "mullo 64 --core mips-4km",
        "sqr 128 --core mips-4km --big-endian",
        "mul 256 --core mips-4km --method karatsuba",
        "mul 96 --core atmega128 --method karatsuba",
        "montmul 64 --core atmega128 --modulus runtime",
        "montmul 128 --core mips-4km --modulus runtime --style rolled",
        "redc 64 --core atmega128 --modulus runtime-folded --reduce almost",
        "redc 128 --core mips-4km --modulus runtime-bare",
        "modadd 64 --core atmega128 --modulus runtime",
        "modsub 160 --core mips-4km --modulus secp160r1",
        "modneg 64 --core atmega128 --modulus 2^64-17",
        "modhalf 64 --core mips-4km --modulus 2^64-17",
        "modmul 64 --core atmega128 --modulus 2^64-17",
    ];
    for line in kernels {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let made = lozenge(
            folder.path(),
            &format!("gen {line} -o out --certificate proof"),
        );
        assert!(made.status.success(), "{line}: {made:?}");
        let objects = std::fs::read_dir(folder.path().join("out")).expect("a folder");
        let mut names = objects.map(|file| file.expect("a file").file_name());
        let object = names.find(|name| name.to_string_lossy().ends_with(".o"));
        let object = format!("out/{}", object.expect("an object").to_string_lossy());
        let told = lozenge(folder.path(), &format!("verify proof {object} --json"));
        assert_eq!(told.status.code(), Some(0), "{line}: {told:?}");
        let json: Json = serde_json::from_slice(&told.stdout).expect("JSON");
        assert_eq!(json["verified"], true, "{line}");
        let apart = &json["cases"][0];
        for verdict in ["correct", "memory", "abi"] {
            assert_eq!(apart[verdict], "proved", "{line}");
        }
    }
}

/// A certificate about one kernel says nothing of another one.
#[test]
fn other_code_and_other_claims_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path();
    let lines = [
        "gen mul 64 --core atmega128 -o right --certificate proof",
        "gen mul 64 --core atmega128 --drop 30 --unproved -o wrong",
        "gen sqr 64 --core atmega128 -o square",
    ];
    for line in lines {
        lozenge(path, line);
    }
    let right = lozenge(path, "verify proof right/mul64.o");
    assert_eq!(right.status.code(), Some(0), "{right:?}");
    let wrong = lozenge(path, "verify proof wrong/mul64.o");
    assert_eq!(wrong.status.code(), Some(1), "{wrong:?}");
    let none = lozenge(path, "verify proof square/sqr64.o");
    assert_eq!(none.status.code(), Some(2), "{none:?}");
    let text = std::fs::read_to_string(path.join("proof")).expect("a certificate");
    for (from, to) in [
        ("\"64\"", "\"56\""),
        ("\"mul\"", "\"mullo\""),
        ("\"mul\"", "\"sqr\""),
    ] {
        std::fs::write(path.join("other"), text.replace(from, to)).expect("it is written");
        let other = lozenge(path, "verify other right/mul64.o");
        assert_eq!(other.status.code(), Some(1), "{from} {to}: {other:?}");
    }
    for text in ["", "{}", &text[..text.len() / 2], "\u{0}\u{1}"] {
        std::fs::write(path.join("other"), text).expect("it is written");
        let other = lozenge(path, "verify other right/mul64.o");
        assert_eq!(other.status.code(), Some(2), "{other:?}");
        let told = String::from_utf8_lossy(&other.stderr);
        assert!(told.contains("--certificate"), "{told}");
    }
}

fn modular(modulus: &str) -> Modular {
    Modular {
        modulus: modulus.parse::<Modulus>().expect("a modulus"),
        reduce: Reduce::Full,
        shift: 0,
        times: 0,
    }
}

/// A kernel, its certificate, and what is done with both.
struct With<'a>(Op, u32, Option<&'a str>, Done);

enum Done {
    /// Single faults in the code, and in the certificate as well.
    Mutants,
    /// Entries that promise or define what a certificate cannot.
    Lies,
}

fn refused(core: &str, with: With<'_>) -> usize {
    let With(op, bits, modulus, done) = with;
    let core = &core_named(core);
    let request = Request {
        modular: modulus.map(modular),
        demands: Default::default(),
        ..ask::of(op, bits)
    };
    let kernel = known::generate(&request, core).expect("a kernel");
    let function = prove::kernel(core, &kernel.code, &kernel.program.claims);
    let (proof, case) = prove::certify(&kernel.spec, core, &function, Alias::Distinct);
    assert!(proof.holds());
    let case = case.expect("a case");
    let holds = |function: &Function, case: &Case| holds(&kernel.spec, core, function, case);
    let bare = Function::kernel(&kernel.code);
    assert!(holds(&bare, &case));
    match done {
        Done::Mutants => mutants(&bare, &case, &holds),
        Done::Lies => lies(&bare, &case, &holds),
    }
}

fn holds(spec: &Spec, core: &Core, function: &Function, case: &Case) -> bool {
    certificate::verify(spec, core, function, case).is_ok_and(|proof| proof.holds())
}

/// Leaves of a JSON value.
fn leaves(json: &mut Json) -> Vec<&mut Json> {
    match json {
        Json::Array(list) => list.iter_mut().flat_map(leaves).collect(),
        Json::Object(map) => map.values_mut().flat_map(leaves).collect(),
        leaf => vec![leaf],
    }
}

/// Exchanges numbers and truths of a certificate for others.
fn damaged(case: &Json, random: &mut Random) -> Option<Case> {
    let mut json = case.clone();
    {
        // Every other time in the reason alone, which has few of the numbers.
        let reason = json.get("reason").is_some_and(Json::is_object) && random.below(2) == 0;
        let mut leaves = match reason {
            true => leaves(&mut json["reason"]),
            false => leaves(&mut json),
        };
        let (count, edits) = (leaves.len(), 1 + random.below(3));
        for _ in 0..edits {
            let from = leaves[random.below(count)].clone();
            let leaf = &mut leaves[random.below(count)];
            match leaf {
                Json::Bool(b) => *b = !*b,
                Json::Number(n) => {
                    let n = n.as_i64().unwrap_or(0);
                    let others = [n + 1, n - 1, -n, n << 7, 0, 255, i64::from(u32::MAX)];
                    **leaf = match random.below(others.len() + 4) {
                        i if i < others.len() => Json::from(others[i]),
                        _ if from.is_number() => from,
                        _ => Json::from(1),
                    };
                }
                Json::Null | Json::String(_) | Json::Array(_) | Json::Object(_) => {}
            }
        }
    }
    serde_json::from_value(json).ok()
}

/// No wrong code is verified, by the certificate of the right one or by one that is damaged; and no damage lets it
/// panic, on the right code either.
fn mutants(right: &Function, case: &Case, holds: &dyn Fn(&Function, &Case) -> bool) -> usize {
    let mut random = Random::new(0x1e57);
    let json = serde_json::to_value(case).expect("JSON");
    let mut refused = 0;
    for _ in 0..1500 {
        if let Some(damaged) = damaged(&json, &mut random) {
            refused += usize::from(!holds(right, &damaged));
        }
    }
    for at in (0..right.code.len()).step_by(2) {
        let mut wrong = right.code.to_vec();
        wrong[at] ^= 1 << random.below(8);
        let function = Function {
            code: wrong.into(),
            ..right.clone()
        };
        // A bit that nothing reads, as in NOPs, may leave the same function: then the run is the same.
        if holds(&function, case) {
            continue;
        }
        for _ in 0..15 {
            if let Some(damaged) = damaged(&json, &mut random) {
                assert!(!holds(&function, &damaged), "{at}");
                refused += 1;
            }
        }
    }
    refused
}

/// What a certificate may not say.
fn lies(code: &Function, case: &Case, holds: &dyn Fn(&Function, &Case) -> bool) -> usize {
    let answers = |entry: &Noted| entry.is_answer;
    let first = case
        .entries
        .iter()
        .position(|e| !matches!(e.entry, Entry::Unknown { .. }));
    let first = first.expect("an operation");
    let told = |entry: Entry| Noted {
        pc: 0,
        is_answer: false,
        entry,
    };
    let inputs: Vec<_> = (case.entries.iter())
        .filter_map(|noted| match noted.entry {
            Entry::Unknown { v, .. } => Some(v),
            _ => None,
        })
        .collect();
    let (a, b) = (inputs[0], inputs[1]);
    let inserted = |entry: Entry| {
        let mut case = case.clone();
        case.entries.insert(first, told(entry));
        case
    };
    let mut cases = vec![
        inserted(Entry::Step(Step::Below { v: a, most: 0 })),
        inserted(Entry::Step(Step::Odd { m: a })),
        inserted(Entry::Step(Step::Inverse {
            m: a,
            inverse: b,
            bits: 8,
        })),
        inserted(Entry::Step(Step::Inverses {
            m: vec![Value::Var(a)],
            inverse: vec![Value::Var(b)],
            w: 8,
        })),
        inserted(Entry::LowBits {
            v: a,
            count: 1,
            bits: 0,
        }),
        // An input that is another one.
        inserted(Entry::Unknown { v: a, w: 8 }),
        inserted(Entry::Step(Step::Bound {
            v: a,
            most: 1,
            by: Vec::new(),
        })),
    ];
    for (at, entry) in case
        .entries
        .iter()
        .enumerate()
        .filter(|(_, e)| answers(e))
        .take(400)
    {
        let mut without = case.clone();
        without.entries.remove(at);
        cases.push(without);
        let mut twice = case.clone();
        twice.entries.insert(at, entry.clone());
        cases.push(twice);
        let mut no_answer = case.clone();
        no_answer.entries[at].is_answer = false;
        cases.push(no_answer);
    }
    // Definitions in a circle, of what is not there, and terms that are not there.
    for (i, def) in case.variables.iter().enumerate().take(200) {
        let Def::Linear { constant, .. } = def else {
            continue;
        };
        let terms = case.terms.len() as u32;
        for (start, len) in [(terms, 1), (u32::MAX, 2), (0, u32::MAX)] {
            let mut other = case.clone();
            other.variables[i] = Def::Linear {
                start,
                len,
                constant: *constant,
            };
            cases.push(other);
        }
        let mut circle = case.clone();
        circle.terms.push((i as u32, 1));
        circle.variables[i] = Def::Linear {
            start: terms,
            len: 1,
            constant: 0,
        };
        cases.push(circle);
    }
    for lie in &cases {
        assert!(!holds(code, lie));
    }
    cases.len()
}

/// On each machine; numbers of damaged certificates that were refused.
#[test]
fn no_wrong_code_is_verified_by_a_damaged_certificate() {
    for compiler in [&AVR, &ARM, &MIPS] {
        let bits = if compiler.core == AVR.core { 16 } else { 64 };
        let refused = refused(compiler.core, With(Op::Mul, bits, None, Done::Mutants));
        assert!(refused > 100, "{}: {refused}", compiler.core);
    }
    let modular = With(Op::Modadd, 24, Some("2^24-3"), Done::Mutants);
    assert!(refused(AVR.core, modular) > 100);
}

/// C that chooses between a sum and what is left without the modulus, by a carry or no borrow.
#[test]
fn no_wrong_choice_is_verified_by_a_damaged_certificate() {
    let modular = modular("runtime");
    for (compiler, bits) in [(&AVR, 8), (&ARM, 32), (&MIPS, 32)] {
        let core = &core_named(compiler.core);
        let file = compiler.whole("mod.c", bits, 2, &["-Os", NO_MEMSET]);
        let question = Question {
            op: Op::Montmul,
            modular: Some(&modular),
            arguments: "r,a,b,m",
            ..Question::of("montmul_full", 2 * bits)
        };
        let (spec, loaded) = prepared(&file, question, core);
        let function = &loaded.function;
        let (proof, case) = prove::certify(&spec, core, function, Alias::Distinct);
        assert!(proof.holds(), "{}: {proof:?}", compiler.core);
        let case = case.expect("a case");
        let holds = |function: &Function, case: &Case| holds(&spec, core, function, case);
        assert!(holds(function, &case));
        let refused = mutants(function, &case, &holds);
        assert!(refused > 1000, "{}: {refused}", compiler.core);
    }
}

#[test]
fn a_certificate_cannot_promise_or_define() {
    for compiler in [&AVR, &ARM, &MIPS] {
        let bits = if compiler.core == AVR.core { 24 } else { 96 };
        let lies = refused(compiler.core, With(Op::Mul, bits, None, Done::Lies));
        assert!(lies > 50, "{}: {lies}", compiler.core);
        let sum = With(
            Op::Modadd,
            bits,
            Some(["2^24-3", "2^96-17"][usize::from(bits > 24)]),
            Done::Lies,
        );
        assert!(refused(compiler.core, sum) > 50);
    }
}
