//! `lozenge check` as a user meets it: what `gen` wrote is judged as `gen` judged it, from the
//! object and from the assembly source; JSON, exit codes, and messages that say what to type.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::tools::{AVR, sources};
use serde_json::Value;

fn lozenge(folder: &Path, line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .args(line.split_whitespace())
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn what_gen_wrote_is_judged_as_gen_judged_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for target in [
        "--mcu atmega328p",
        "--core arm7tdmi",
        "--core mips-4km-32x16 --isa-ext wide-acc",
        "--core mips-4km --big-endian",
    ] {
        let made = lozenge(folder.path(), &format!("gen mul 96 {target} --json"));
        let made: Value = serde_json::from_slice(&made.stdout).expect("JSON");
        for file in ["mul96.o", "mul96.S"] {
            let line = format!("check {file} --symbol mul96 --op mul --bits 96 {target} --json");
            let output = lozenge(folder.path(), &line);
            assert_eq!(
                output.status.code(),
                Some(0),
                "{line}: {}",
                text(&output.stderr)
            );
            let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            for key in [
                "spec",
                "core",
                "mcu",
                "cycles",
                "cycles_on",
                "instructions",
                "bytes",
                "stack_bytes",
                "verdict",
                "reasons",
                "aliasing",
                "abi",
            ] {
                assert_eq!(found[key], made[key], "{line}: {key}");
            }
            let command = found["command"].as_str().expect("a command");
            let again = lozenge(folder.path(), command.trim_start_matches("lozenge "));
            assert_eq!(again.status.code(), Some(0), "{command}");
        }
    }
}

#[test]
fn a_wrong_kernel_ends_with_1_and_operands() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let object = AVR.multiplications(8, 8, &["-O2"]);
    std::fs::write(folder.path().join("mul.o"), object).expect("written");
    let line = "check mul.o --symbol lost --op mul --bits 64 --core atmega128";
    let output = lozenge(folder.path(), line);
    assert_eq!(output.status.code(), Some(1), "{line}");
    let printed = text(&output.stdout);
    assert!(
        printed.contains("CORRECT        disproved: a=0x"),
        "{printed}"
    );
    let json = lozenge(folder.path(), &format!("{line} --json"));
    let json: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(json["verdict"]["correct"], "disproved");
    let reason = json["reasons"]["correct"].as_str().expect("a reason");
    assert!(reason.contains("expected 0x"), "{reason}");
    // A register that the caller gives away need not be preserved.
    let own = folder.path().join("own.s");
    let clobbers =
        "own: ld r2, X\n ld r3, Y\n mul r2, r3\n st Z, r0\n std Z+1, r1\n clr r1\n ret\n";
    std::fs::write(
        own,
        format!(".text\n.global own\n.type own, @function\n{clobbers}"),
    )
    .expect("written");
    let line =
        "check own.s --symbol own --op mul --bits 8 --core atmega128 --args r@r30,a@r26,b@r28";
    assert_eq!(lozenge(folder.path(), line).status.code(), Some(1));
    let given = format!("{line} --scratch r2-r3");
    assert_eq!(lozenge(folder.path(), &given).status.code(), Some(0));
}

#[test]
fn errors_say_what_to_type() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let object = AVR.multiplications(8, 8, &["-O2"]);
    std::fs::write(folder.path().join("mul.o"), object).expect("written");
    std::fs::write(folder.path().join("text.o"), "no object").expect("written");
    std::fs::write(folder.path().join("bad.s"), " frobnicate r1\n").expect("written");
    let table = sources().join("table.c").display().to_string();
    let avr = "--op mul --bits 64 --core atmega128";
    for (line, expected) in [
        (
            format!("check none.o --symbol f {avr}"),
            "cannot read none.o",
        ),
        (
            format!("check text.o --symbol f {avr}"),
            "text.o: not an ELF file",
        ),
        (format!("check {table} --symbol f {avr}"), "not an ELF file"),
        (format!("check bad.s --symbol f {avr}"), "frobnicate"),
        (
            format!("check mul.o --symbol comb {avr}"),
            "no function comb (did you mean comba?)",
        ),
        (
            "check mul.o --symbol comba --op mul --bits 64 --core arm7tdmi".into(),
            "it is for avr, little-endian, not for arm, little-endian",
        ),
        (
            format!("check mul.o --symbol comba {avr} --args r,a"),
            "no argument points to b: try r,a,b",
        ),
        (
            format!("check mul.o --symbol comba {avr} --args r,a,c"),
            "c is no argument: try r, a, b",
        ),
        (
            format!("check mul.o --symbol comba {avr} --args r@q7,a,b"),
            "q7 is no place of an argument: try r24",
        ),
        (
            format!("check mul.o --symbol comba {avr} --args r,a,b,3:99"),
            "99 bytes are not the size",
        ),
        (
            format!("check mul.o --symbol comba {avr} --scratch r40"),
            "r40 is no register",
        ),
        (
            "check mul.o --symbol comba --op mul --bits 60 --core atmega128".into(),
            "try 56 or 64",
        ),
        (
            "check mul.o --symbol comba --op mul --bits 64".into(),
            "try --mcu atmega328p",
        ),
    ] {
        let output = lozenge(folder.path(), &line);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        assert!(message.contains(expected), "{line}: {message}");
        assert_eq!(text(&output.stdout), "", "{line}");
    }
}
