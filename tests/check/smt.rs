//! `--export smt2`: a solver that shares nothing with the algebra comes to the same verdict.

use std::process::Command;

use crate::check::tools::{ARM, AVR, Compiler, MIPS, NO_MEMSET, RISCV};
use crate::kit::{oracle, tier, work};

/// What the solver says of a product of mul.c.
fn opinion(compiler: &Compiler, symbol: &str, bits: u32, words: u32) -> String {
    let file = compiler.multiplications(bits, words, &["-O2", NO_MEMSET]);
    judged(compiler, &file, symbol, &["--op", "mul"], bits * words)
}

/// What the solver says of a function of ops.c.
fn opinion_of(compiler: &Compiler, symbol: &str, op: &str, bits: u32, words: u32) -> String {
    let file = compiler.operations(bits, words, &["-O2", NO_MEMSET]);
    let arguments = if op == "sqr" { "r,a" } else { "r,a,b" };
    judged(
        compiler,
        &file,
        symbol,
        &["--op", op, "--args", arguments],
        bits * words,
    )
}

fn judged(compiler: &Compiler, file: &[u8], symbol: &str, question: &[&str], bits: u32) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let object = folder.path().join("mul.o");
    std::fs::write(&object, file).expect("written");
    let exported = Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .arg("check")
        .arg(&object)
        .args(["--symbol", symbol, "--export", "smt2"])
        .args(question)
        .args(["--bits", &bits.to_string(), "--core", compiler.core])
        .output()
        .expect("the binary runs");
    let errors = String::from_utf8_lossy(&exported.stderr);
    assert!(exported.status.success(), "{symbol}: {errors}");
    let script = folder.path().join("mul.smt2");
    std::fs::write(&script, exported.stdout).expect("written");
    let ran = oracle::run(oracle::in_python("smt.py").arg(&script));
    String::from_utf8_lossy(&ran.stdout).trim().to_string()
}

#[test]
fn right_kernels_have_no_counterexample() {
    let all = [(AVR, 8), (ARM, 32), (MIPS, 32), (RISCV, 32)];
    let all = all
        .into_iter()
        .flat_map(|of| ["school", "rows", "comba"].map(|symbol| (of, symbol)));
    work::each(&tier::some(all, 1), |((compiler, bits), symbol)| {
        let said = opinion(compiler, symbol, *bits, 2);
        assert_eq!(said, "unsat", "{compiler:?}: {symbol}");
    });
}

#[test]
fn wrong_kernels_have_one() {
    for (compiler, bits) in [(AVR, 8), (ARM, 32), (MIPS, 32), (RISCV, 32)] {
        let said = opinion(&compiler, "lost", bits, 3);
        assert_eq!(said, "sat", "{compiler:?}");
    }
}

#[test]
fn squares_and_sums_have_none_but_wrong_ones() {
    let all = [(AVR, 8), (ARM, 32), (MIPS, 32), (RISCV, 32)];
    let all = all.into_iter().flat_map(|of| {
        [
            ("square", "sqr", 2, "unsat"),
            ("square_doubled", "sqr", 2, "unsat"),
            ("square_wrong", "sqr", 3, "sat"),
            ("add", "add", 3, "unsat"),
            ("add_lost", "add", 3, "sat"),
            ("add_silent", "add", 3, "sat"),
            ("sub", "sub", 3, "unsat"),
            ("sub_mask", "sub", 3, "sat"),
        ]
        .map(|function| (of, function))
    });
    work::each(&tier::some(all, 2), |((compiler, bits), function)| {
        let (symbol, op, words, expected) = *function;
        let said = opinion_of(compiler, symbol, op, *bits, words);
        assert_eq!(said, expected, "{compiler:?}: {symbol}");
    });
}

/// Sums modulo a number, as `gen` makes them, on every machine; by the contract of another modulus they are wrong.
#[test]
fn sums_modulo_a_number() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (compiler, bits, modulus) in [
        (AVR, 16, "65521"),
        (ARM, 64, "2^64-59"),
        (MIPS, 64, "2^64-59"),
        (RISCV, 64, "2^64-59"),
    ] {
        for op in ["modadd", "modsub", "modneg", "modhalf"] {
            let mut maker = Command::new(env!("CARGO_BIN_EXE_lozenge"));
            let args = ["gen", op, &bits.to_string(), "--modulus", modulus];
            maker.args(args).args(["--force", "--core", compiler.core]);
            let made = maker.current_dir(folder.path()).output().expect("it runs");
            assert!(made.status.success(), "{made:?}");
            let symbol = format!("{op}{bits}");
            let object = std::fs::read(folder.path().join(format!("{symbol}.o"))).expect("made");
            let ask = |modulus| {
                let question = ["--op", op, "--modulus", modulus];
                judged(&compiler, &object, &symbol, &question, bits)
            };
            assert_eq!(ask(modulus), "unsat", "{compiler:?}: {op}");
            assert_eq!(ask(&format!("2^{bits}-17")), "sat", "{compiler:?}: {op}");
        }
    }
}

/// Montgomery products modulo a number, as `gen` makes them: by their contract, and with an instruction
/// left out.
#[test]
fn montgomery_modulo_a_number() {
    let all = [
        ("montmul", 251, "full"),
        ("montmul", 61, "lazy"),
        ("montsqr", 241, "almost"),
        ("redc", 239, "full"),
        ("tomont", 251, "full"),
        ("frommont", 239, "full"),
    ];
    work::each(&tier::some(all, 3), |(op, modulus, reduce)| {
        let question = format!("--modulus {modulus} --reduce {reduce}");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let line = format!("gen {op} 8 {question} --mcu atmega128");
        oracle::run(
            oracle::lozenge()
                .args(line.split_whitespace())
                .current_dir(folder.path()),
        );
        let symbol = format!("{op}8");
        let path = folder.path().join(format!("{symbol}.o"));
        let object = std::fs::read(&path).expect("an object");
        let options = [
            "--op",
            op,
            "--modulus",
            &modulus.to_string(),
            "--reduce",
            reduce,
        ];
        let said = judged(&AVR, &object, &symbol, &options, 8);
        assert_eq!(said, "unsat", "{op} {question}");
        // A product with the factor 2^-8 it is by another name, too.
        if *op == "montmul" && *reduce == "full" {
            let shifted = |shift| {
                let options = ["--op", "modmul", "--modulus", "251", "--shift", shift];
                judged(&AVR, &object, &symbol, &options, 8)
            };
            assert_eq!([shifted("8"), shifted("7")], ["unsat", "sat"]);
        }
        // By the contract of another modulus it is wrong.
        let other = ["--op", op, "--modulus", "193", "--reduce", "full"];
        assert_eq!(judged(&AVR, &object, &symbol, &other, 8), "sat", "{op}");
    });
}
