//! `lozenge check` as a user meets it: what `gen` wrote is judged as `gen` judged it, from the
//! object and from the assembly source; JSON, exit codes, and messages that say what to type.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::check::tools::{ARM, AVR, NO_MEMSET, sources};

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
        let made = lozenge(
            folder.path(),
            &format!("gen mul 96 {target} --variable-time --force --json"),
        );
        let made: Value = serde_json::from_slice(&made.stdout).expect("JSON");
        for file in ["mul96.o", "mul96.S"] {
            let line = format!(
                "check {file} --symbol mul96 --op mul --bits 96 {target} --variable-time --json"
            );
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
    let name = "_Z3ownPhS_S_";
    let plus = format!(".type {name}, @function\n{name}: ret\n.size {name}, .-{name}\n");
    std::fs::write(folder.path().join("plus.s"), plus).expect("written");
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
            format!("check plus.s --symbol own {avr}"),
            "no function own, but _Z3ownPhS_S_, its name in C++",
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

#[test]
fn a_member_of_a_library_is_named_as_linkers_do() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let object = AVR.multiplications(8, 8, &["-O2"]);
    std::fs::write(folder.path().join("mul.o"), object).expect("written");
    let archived = Command::new("avr-ar")
        .args(["rcs", "lib.a", "mul.o"])
        .current_dir(folder.path())
        .status();
    assert!(archived.expect("avr-ar runs").success());
    let other = folder.path().join("other");
    std::fs::create_dir(&other).expect("a folder");
    std::fs::write(other.join("mul.o"), AVR.operations(8, 8, &["-O2"])).expect("written");
    let twice = Command::new("avr-ar")
        .args(["qc", "twice.a", "mul.o", "other/mul.o"])
        .current_dir(folder.path())
        .status();
    assert!(twice.expect("avr-ar runs").success());
    let question = "--op mul --bits 64 --core atmega128 --args r,a,b";
    for (file, symbol, code, expected) in [
        ("lib.a(mul.o)", "comba", 0, "CORRECT        proved"),
        ("lib.a", "comba", 0, "CORRECT        proved"),
        (
            "lib.a(mull.o)",
            "comba",
            2,
            "lib.a: no member mull.o (did you mean mul.o?)",
        ),
        (
            "lib.a",
            "combat",
            2,
            "no function combat in its 1 members (did you mean comba?)",
        ),
        ("none.a(mul.o)", "comba", 2, "cannot read none.a"),
        // Of members that have one name the one that has the function.
        ("twice.a(mul.o)", "rows", 0, "CORRECT        proved"),
        ("twice.a(mul.o)", "add", 1, "CORRECT        disproved"),
    ] {
        let output = lozenge(
            folder.path(),
            &format!("check {file} --symbol {symbol} {question}"),
        );
        let printed = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{file}: {printed}");
        assert!(printed.contains(expected), "{file}: {printed}");
    }
}

#[test]
fn memory_to_work_in_is_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let object = ARM.multiplications(32, 4, &["-O2", NO_MEMSET]);
    std::fs::write(folder.path().join("mul.o"), object).expect("written");
    let line = "check mul.o --symbol by_way --op mul --bits 128 --core arm7tdmi --args r,a,b,n,scratch:32 --variable-time";
    let output = lozenge(folder.path(), line);
    let printed = text(&output.stdout);
    // What is taken of operands, where nobody says it.
    let told = "operands       arrays of 32-bit words, at multiples of 4 bytes";
    assert!(printed.contains(told), "{printed}");
    assert_eq!(output.status.code(), Some(0), "{printed}");
    let told =
        "MEMORY         proved: reads a, b, writes r, 32 bytes of scratch and its own stack frame";
    assert!(printed.contains(told), "{printed}");
    // A byte too few is written beyond, on these operands.
    let output = lozenge(folder.path(), &line.replace("scratch:32", "scratch:31"));
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("outside its 31 bytes"), "{printed}");
}

#[test]
fn a_missing_assembler_is_named_with_its_package() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("f.S"), "f: ret\n").expect("written");
    let line = "check f.S --symbol f --op mul --bits 8 --core atmega128";
    let output = Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .args(line.split_whitespace())
        .current_dir(folder.path())
        .env("PATH", folder.path())
        .output()
        .expect("the binary runs");
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    let expected = "avr-gcc, which assembles f.S, is not on the PATH: install it (Debian: gcc-avr)";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn a_leak_is_told_with_its_way_and_its_ways() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let object = AVR.multiplications(8, 4, &["-Os"]);
    std::fs::write(folder.path().join("mul.o"), object).expect("written");
    let line = "check mul.o --symbol skips --op mul --bits 32 --core atmega128";
    let output = lozenge(folder.path(), line);
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    for expected in [
        "on atmega128: leaks: a branch depends on the secret b[0] at 0x",
        ", by way of 0x",
        "; not cycle-balanced: all 16 ways through ",
        "  measured       ",
    ] {
        assert!(printed.contains(expected), "{expected}: {printed}");
    }
    let json = lozenge(folder.path(), &format!("{line} --json"));
    let json: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let leak = &json["leaks"]["atmega128"];
    assert_eq!(leak["secret"], "the secret b[0]");
    assert!(
        leak["path"][0]["instruction"]
            .as_str()
            .is_some_and(|i| i.starts_with("ld"))
    );
    assert_eq!(leak["ways"]["gone"], 16);
    assert_eq!(leak["ways"]["balanced"], false);
    assert_eq!(leak["ways"]["cycles"], json["cycles"]["call"]);
    assert!(
        json["measured"]["runs"]
            .as_u64()
            .is_some_and(|runs| runs > 20_000)
    );
}

#[test]
fn steps_are_limited_and_the_limit_is_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let object = AVR.multiplications(8, 8, &["-O2"]);
    std::fs::write(folder.path().join("mul.o"), object).expect("written");
    let line = "check mul.o --symbol comba --op mul --bits 64 --core atmega128 --steps 100";
    let output = lozenge(folder.path(), line);
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(
        printed.contains("no result after 100 instructions (--steps sets the limit) at 0x"),
        "{printed}"
    );
}

/// A modular kernel is judged by its contract; by that of another modulus it is wrong.
#[test]
fn a_modulus_is_part_of_the_question() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for target in ["--mcu atmega328p", "--core arm7tdmi", "--core mips-4km"] {
        for (op, method, modulus, wrong) in [
            (
                "montmul",
                "fips",
                "0xffffffffffffffc5",
                "0xffffffffffffffc3",
            ),
            ("montmul", "fips", "runtime", "0xffffffffffffffc5"),
            (
                "modmul",
                "product-scanning+fold",
                "0xffffffffffffffc5",
                "0xffffffffffffffc3",
            ),
            ("modadd", "carry-chain", "runtime", "0xffffffffffffffc5"),
        ] {
            let target = format!("{target} --variable-time");
            let line =
                format!("gen {op} 64 --modulus {modulus} --method {method} {target} --force");
            assert_eq!(
                lozenge(folder.path(), &line).status.code(),
                Some(0),
                "{line}"
            );
            let check = |modulus: &str| {
                let line = format!(
                    "check {op}64.o --symbol {op}64 --op {op} --bits 64 --modulus {modulus} {target}"
                );
                lozenge(folder.path(), &line)
            };
            let right = check(modulus);
            let told = text(&right.stdout);
            assert_eq!(right.status.code(), Some(0), "{line}: {told}");
            assert!(told.contains("CORRECT        proved"), "{line}: {told}");
            let other = check(wrong);
            let told = text(&other.stdout);
            assert_eq!(other.status.code(), Some(1), "{line}: {told}");
            assert!(!told.contains("CORRECT        proved"), "{line}: {told}");
        }
    }
}
