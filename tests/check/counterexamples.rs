//! What a counterexample says is all that the run depends on, and lies where the part has memory; a report says what it
//! assumes.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::check::tools::{ARM, AVR, Compiler};
use crate::kit::oracle;

/// The function `f` of this body as an object in `folder`.
fn object(folder: &Path, compiler: Compiler, body: &str) {
    let kind = if compiler.gcc == ARM.gcc { '%' } else { '@' };
    let text = format!(".text\n.global f\n.type f, {kind}function\nf: {body}\n.size f, . - f\n");
    let source = folder.join("f.s");
    std::fs::write(&source, text).expect("written");
    let file = compiler.compile(&source, &["-c"]);
    std::fs::write(folder.join("f.o"), file).expect("written");
}

/// What `lozenge check f.o --symbol f` says in `folder`.
fn checked(folder: &Path, arguments: &str) -> Value {
    let line = format!("check f.o --symbol f --json {arguments}");
    let output = oracle::lozenge()
        .args(line.split_whitespace())
        .current_dir(folder)
        .output();
    let output = output.expect("it runs");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Bytes of hexadecimal digits.
fn bytes(text: &str) -> Vec<u8> {
    let digits: Vec<_> = text.trim().chars().collect();
    let byte = |pair: &[char]| u8::from_str_radix(&String::from_iter(pair), 16).expect("hex");
    digits.chunks(2).map(byte).collect()
}

/// The product is wrong if a register that nobody set holds a large number, or a flag that nobody set is set: an emulator
/// comes to the same wrong result from what is told.
#[test]
fn an_emulator_repeats_a_counterexample() {
    for rubbish in ["add r1, r1, r12, lsr #31", "addcs r1, r1, #1"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let body = format!(
            "push {{r4}}\n ldr r1, [r1]\n ldr r2, [r2]\n umull r3, r4, r2, r1\n mov r1, r4\n {rubbish}\n \
             stmia r0, {{r3, r1}}\n pop {{r4}}\n bx lr\n"
        );
        object(folder.path(), ARM, &body);
        let report = checked(folder.path(), "--op mul --bits 32 --core arm7tdmi");
        assert_eq!(report["verdict"]["correct"], "disproved", "{report}");
        let run = &report["counterexamples"][0];
        let got = run["got"].as_str().expect("a result");
        assert_ne!(run["expected"], run["got"]);
        oracle::run(
            Command::new("arm-none-eabi-objcopy")
                .args(["-O", "binary", "f.o", "f.bin"])
                .current_dir(folder.path()),
        );
        let code = std::fs::read(folder.path().join("f.bin")).expect("code");
        let code: String = code.iter().map(|byte| format!("{byte:02x}")).collect();
        let input = json!({"code": code, "counterexample": run}).to_string();
        let told = oracle::answer(&mut oracle::in_python("arm_repeat.py"), input.as_bytes());
        let left = bytes(&String::from_utf8(told).expect("text"));
        let left = left.iter().rev().map(|byte| format!("{byte:02x}"));
        let left = u64::from_str_radix(&String::from_iter(left), 16).expect("a number");
        assert_eq!(format!("{left:#x}"), got, "{run}");
    }
}

/// Pointers of which only the low byte is moved: right on a part whose memory ends below 0x100, wrong on one where it
/// goes on.
#[test]
fn a_part_has_no_other_addresses() {
    let body = "movw r26, r22\n movw r30, r20\n ld r18, X\n inc r26\n ld r19, X\n ld r20, Z\n inc r30\n ld r21, Z\n \
                movw r26, r24\n add r18, r20\n st X, r18\n inc r26\n adc r19, r21\n st X, r19\n clr r24\n \
                adc r24, r1\n ret\n";
    let folder = tempfile::tempdir().expect("a temporary folder");
    object(folder.path(), AVR, body);
    let lies = |report: &Value| -> Vec<u64> {
        let memory = report["counterexamples"][0]["memory"].as_array();
        let places = memory.into_iter().flatten();
        let address = |place: &Value| {
            let text = place["address"].as_str().expect("an address");
            u64::from_str_radix(&text[2..], 16).expect("hex")
        };
        places.map(address).collect()
    };
    let small = checked(folder.path(), "--op add --bits 16 --mcu attiny25");
    assert_eq!(small["verdict"]["memory"], "unknown", "{small}");
    assert_eq!(small["verdict"]["correct"], "unknown", "{small}");
    let large = checked(folder.path(), "--op add --bits 16 --mcu attiny85");
    assert_eq!(large["verdict"]["correct"], "disproved", "{large}");
    let places = lies(&large);
    assert!(
        places.iter().all(|at| (0x60..0x260).contains(at)),
        "{places:x?}"
    );
    assert!(places.len() >= 4, "{places:x?}");
}

#[test]
fn a_report_says_what_it_assumes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let body = "ldr r3, [r0]\n ldr r1, [r1]\n umull r12, r2, r1, r2\n adds r3, r3, r12\n str r3, [r0]\n \
                adc r0, r2, #0\n bx lr\n";
    object(folder.path(), ARM, body);
    let asked = "--op addmul --bits 32 --core arm7tdmi --args r=a,b,=s --variable-time";
    let report = checked(folder.path(), asked);
    assert_eq!(report["proved"], true, "{report}");
    let assumes = &report["assumes"];
    assert_eq!(
        assumes["operands"],
        "arrays of 32-bit words, at multiples of 4 bytes"
    );
    let layout = assumes["layout"].as_str().expect("text");
    assert!(layout.contains("r == a: one pointer"), "{layout}");
    let interrupts = assumes["interrupts"].as_str().expect("text");
    assert!(
        interrupts.contains("below the stack pointer"),
        "{interrupts}"
    );
    assert!(report["counterexamples"].is_null());
}
