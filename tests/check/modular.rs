//! Compiled C modulo a number, fixed or an operand: proved where the algebra follows it, and disproved where it
//! is wrong; what it does not follow is tested.

use std::process::Command;

use crate::check::tools::{ARM, AVR, MIPS, NO_MEMSET};
use crate::ledger::{Line, Sheet};

const WORDS: u32 = 4;

/// The word behind the modulus is nobody's where m' is an argument.
#[test]
fn behind_the_modulus_nothing_is_read() {
    for (compiler, bits) in [(AVR, 8), (ARM, 32), (MIPS, 32)] {
        let file = compiler.whole("mod.c", bits, WORDS, &["-Os", NO_MEMSET]);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let object = folder.path().join("mod.o");
        std::fs::write(&object, file).expect("written");
        let checked = Command::new(env!("CARGO_BIN_EXE_lozenge"))
            .arg("check")
            .arg(&object)
            .args(["--symbol", "montmul", "--op", "montmul", "--core"])
            .args([compiler.core, "--bits", &(WORDS * bits).to_string()])
            .args(["--modulus", "runtime", "--args", "r,a,b,m,=inverse"])
            .output()
            .expect("the binary runs");
        let text = String::from_utf8_lossy(&checked.stdout);
        let memory = text.lines().find(|line| line.contains("MEMORY"));
        let memory = memory.unwrap_or_else(|| panic!("{}: {checked:?}", compiler.gcc));
        let behind = format!("disproved: reads m[{}], outside", WORDS * bits / 8);
        assert!(memory.contains(&behind), "{}: {memory}", compiler.gcc);
    }
}

#[test]
fn compiled_c() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let object = folder.path().join("mod.o");
    let mut lines = Vec::new();
    for (compiler, bits) in [(AVR, 8), (ARM, 32), (MIPS, 32)] {
        let size = (WORDS * bits).to_string();
        let fixed = format!("2^{size}-17");
        let scratch = (2 * WORDS + 1) * bits / 8;
        let core = format!("r,a,b,{WORDS},m,{WORDS},=inverse,scratch:{scratch}");
        for level in ["-Os", "-O2"] {
            let file = compiler.whole("mod.c", bits, WORDS, &[level, NO_MEMSET]);
            std::fs::write(&object, file).expect("written");
            for (symbol, op, modulus, arguments, expected) in [
                ("modsub", "modsub", fixed.as_str(), "r,a,b", "proved"),
                ("modsub_wrong", "modsub", &fixed, "r,a,b", "disproved: a="),
                ("montmul", "montmul", "runtime", "r,a,b,m", "proved"),
                (
                    "montmul_word",
                    "montmul",
                    "runtime",
                    "r,a,b,m,=inverse",
                    "proved",
                ),
                ("montmul_full", "montmul", "runtime", "r,a,b,m", "unknown"),
                (
                    "montmul_core",
                    "montmul",
                    "runtime",
                    core.as_str(),
                    "unknown",
                ),
                (
                    "montmul_wrong",
                    "montmul",
                    "runtime",
                    "r,a,b,m",
                    "disproved: a=",
                ),
            ] {
                let is_fixed = modulus == fixed;
                let checked = Command::new(env!("CARGO_BIN_EXE_lozenge"))
                    .arg("check")
                    .arg(&object)
                    .args(["--symbol", symbol, "--op", op, "--bits", &size])
                    .args(["--modulus", modulus, "--core", compiler.core])
                    .args(["--args", arguments])
                    .args(["--reduce", if is_fixed { "full" } else { "almost" }])
                    .output()
                    .expect("the binary runs");
                let text = String::from_utf8_lossy(&checked.stdout);
                let name = format!("{} {level} {symbol}", compiler.gcc);
                let correct = text.lines().find(|line| line.contains("CORRECT"));
                let correct = correct.unwrap_or_else(|| panic!("{name}: {checked:?}"));
                assert!(correct.contains(expected), "{name}: {correct}");
                let tested = "random and structured operand pairs gave the right result";
                assert_eq!(correct.contains(tested), expected == "unknown", "{name}");
                let known = match expected {
                    "unknown" => "none: unknown",
                    other => other.trim_end_matches(": a="),
                };
                lines.push(Line::known(name.replace(' ', ","), known));
            }
        }
    }
    let sheet = Sheet {
        name: "foreign/modular".into(),
        columns: "compiler,level,function,known",
        figures: 0,
    };
    sheet.hold(lines, true);
}
