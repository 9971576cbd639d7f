//! Compiled C modulo a number, fixed or an operand: proved, and disproved where it is wrong.

use std::process::Command;

use crate::check::tools::{ARM, AVR, MIPS, NO_MEMSET, RISCV};
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
    for (compiler, bits) in [(AVR, 8), (ARM, 32), (MIPS, 32), (RISCV, 32)] {
        let size = (WORDS * bits).to_string();
        let fixed = format!("modsub --modulus 2^{size}-17 --args r,a,b");
        let product = |reduce: &str, arguments: &str| {
            format!("montmul --modulus runtime --reduce {reduce} --args {arguments}")
        };
        let scratch = (2 * WORDS + 1) * bits / 8;
        let core = format!("r,a,b,{WORDS},m,{WORDS},=inverse,scratch:{scratch}");
        for level in ["-Os", "-O2"] {
            let file = compiler.whole("mod.c", bits, WORDS, &[level, NO_MEMSET]);
            std::fs::write(&object, file).expect("written");
            for (symbol, op, expected) in [
                ("modsub", fixed.clone(), "proved"),
                ("modsub_wrong", fixed.clone(), "disproved: a="),
                ("montmul", product("almost", "r,a,b,m"), "proved"),
                (
                    "montmul_word",
                    product("almost", "r,a,b,m,=inverse"),
                    "proved",
                ),
                ("montmul_full", product("full", "r,a,b,m"), "proved"),
                ("montmul_core", product("full", &core), "proved"),
                (
                    "montmul_wrong",
                    product("almost", "r,a,b,m"),
                    "disproved: a=",
                ),
                ("montmul_both", product("full", "r,a,b,m"), "disproved: a="),
            ] {
                let checked = Command::new(env!("CARGO_BIN_EXE_lozenge"))
                    .arg("check")
                    .arg(&object)
                    .args(["--symbol", symbol, "--bits", &size, "--core", compiler.core])
                    .arg("--op")
                    .args(op.split(' '))
                    .output()
                    .expect("the binary runs");
                let text = String::from_utf8_lossy(&checked.stdout);
                let name = format!("{} {level} {symbol}", compiler.gcc);
                let correct = text.lines().find(|line| line.contains("CORRECT"));
                let correct = correct.unwrap_or_else(|| panic!("{name}: {checked:?}"));
                assert!(correct.contains(expected), "{name}: {correct}");
                let known = expected.trim_end_matches(": a=");
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
