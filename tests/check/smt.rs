//! `--export smt2`: a solver that shares nothing with the algebra comes to the same verdict.

use std::process::Command;

use crate::tools::{ARM, AVR, Compiler, MIPS, NO_MEMSET};

/// What z3 says of a function of mul.c.
fn opinion(compiler: &Compiler, symbol: &str, bits: u32, words: u32) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = compiler.multiplications(bits, words, &["-O2", NO_MEMSET]);
    let object = folder.path().join("mul.o");
    std::fs::write(&object, file).expect("written");
    let exported = Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .arg("check")
        .arg(&object)
        .args(["--symbol", symbol, "--op", "mul", "--export", "smt2"])
        .args([
            "--bits",
            &(bits * words).to_string(),
            "--core",
            compiler.core,
        ])
        .output()
        .expect("the binary runs");
    let errors = String::from_utf8_lossy(&exported.stderr);
    assert!(exported.status.success(), "{symbol}: {errors}");
    let script = folder.path().join("mul.smt2");
    std::fs::write(&script, exported.stdout).expect("written");
    let ran = Command::new("z3").arg("-T:300").arg(&script).output();
    let ran = ran.expect("z3, which scripts/test installs");
    String::from_utf8_lossy(&ran.stdout).trim().to_string()
}

#[test]
fn right_kernels_have_no_counterexample() {
    for (compiler, bits) in [(AVR, 8), (ARM, 32), (MIPS, 32)] {
        for symbol in ["school", "rows", "comba"] {
            let said = opinion(&compiler, symbol, bits, 2);
            assert_eq!(said, "unsat", "{compiler:?}: {symbol}");
        }
    }
}

#[test]
fn wrong_kernels_have_one() {
    for (compiler, bits) in [(AVR, 8), (ARM, 32), (MIPS, 32)] {
        let said = opinion(&compiler, "lost", bits, 3);
        assert_eq!(said, "sat", "{compiler:?}");
    }
}
