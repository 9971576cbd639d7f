//! Compiled C modulo a number, fixed or an operand: proved where the algebra follows it, and disproved where it
//! is wrong; what it does not follow is tested.

use std::process::Command;

use crate::check::tools::{ARM, AVR, MIPS, NO_MEMSET};
use crate::ledger::{Line, Sheet};

const WORDS: u32 = 4;

#[test]
fn compiled_c() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let object = folder.path().join("mod.o");
    let mut lines = Vec::new();
    for (compiler, bits) in [(AVR, 8), (ARM, 32), (MIPS, 32)] {
        let size = (WORDS * bits).to_string();
        let fixed = format!("2^{size}-17");
        for level in ["-Os", "-O2"] {
            let file = compiler.whole("mod.c", bits, WORDS, &[level, NO_MEMSET]);
            std::fs::write(&object, file).expect("written");
            for (symbol, op, modulus, expected) in [
                ("modsub", "modsub", fixed.as_str(), "proved"),
                ("modsub_wrong", "modsub", &fixed, "disproved: a="),
                ("montmul", "montmul", "runtime", "proved"),
                ("montmul_full", "montmul", "runtime", "unknown"),
                ("montmul_wrong", "montmul", "runtime", "disproved: a="),
            ] {
                let is_fixed = modulus == fixed;
                let checked = Command::new(env!("CARGO_BIN_EXE_lozenge"))
                    .arg("check")
                    .arg(&object)
                    .args(["--symbol", symbol, "--op", op, "--bits", &size])
                    .args(["--modulus", modulus, "--core", compiler.core])
                    .args(["--args", if is_fixed { "r,a,b" } else { "r,a,b,m" }])
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
