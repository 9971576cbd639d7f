//! Broken and hostile files end in an error or an "unknown", never in a panic, an endless loop
//! or memory without bound; and no broken kernel is proved that numbers show to be wrong.

use std::process::Command;

use lozenge::prove::Verdict;
use lozenge::vectors::Random;

use crate::check::tools::{ARM, AVR, Compiler, MIPS, Question, RISCV, check};
use crate::kit::tier;

#[path = "../../fuzz/entry.rs"]
mod entry;

const NO_MEMSET: &str = "-fno-tree-loop-distribute-patterns";

/// A file with bits flipped, bytes replaced, pieces moved, or its end cut off.
fn broken(file: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len());
        match random.below(5) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = [0x00, 0x01, 0x7f, 0x80, 0xff][random.below(5)],
            2 => {
                let from = random.below(bytes.len());
                let len = random
                    .below(64)
                    .min(bytes.len() - from)
                    .min(bytes.len() - at);
                bytes.copy_within(from..from + len, at);
            }
            3 => bytes.truncate(at.max(16)),
            _ => bytes[at] = random.draw() as u8,
        }
    }
    bytes
}

/// Breaks objects anywhere, and in their code alone.
fn survives(compiler: &Compiler, bits: u32, rounds: usize) {
    let file = compiler.multiplications(bits, 3, &["-O2", NO_MEMSET]);
    let mut random = Random::new(u64::from(bits) + compiler.gcc.len() as u64);
    let (mut loaded, mut proved, mut wrong) = (0, 0, 0);
    for round in 0..rounds {
        let bytes = match round % 2 {
            0 => broken(&file, &mut random),
            _ => {
                // The first section after the header is the code.
                let mut bytes = file.clone();
                bytes[52 + random.below(700)] ^= 1 << random.below(8);
                bytes
            }
        };
        let question = Question {
            limb_bits: Some(bits),
            ..Question::of("comba", 3 * bits)
        };
        let Ok(audit) = check(&bytes, compiler.core, question) else {
            continue;
        };
        loaded += 1;
        match audit.judged.proof.correct {
            Verdict::Proved => proved += 1,
            Verdict::Disproved(text) => {
                // Behind the operands, what the algebra left open: it had not proved this.
                assert!(text.contains("; "), "proved, and wrong on numbers: {text}");
                wrong += 1;
            }
            Verdict::Unknown(_) | Verdict::Unpredictable(_) => {}
        }
    }
    let seen = format!(
        "{}: {loaded} loaded, {proved} proved, {wrong} wrong",
        compiler.gcc
    );
    assert!(loaded > rounds / 4 && proved > 0 && wrong > 0, "{seen}");
}

#[test]
fn broken_avr_objects() {
    survives(&AVR, 8, 60);
}

#[test]
fn broken_arm_objects() {
    survives(&ARM, 32, 60);
}

#[test]
fn broken_riscv_objects() {
    survives(&RISCV, 32, 60);
}

#[test]
fn broken_mips_objects() {
    survives(&MIPS, 32, 60);
}

/// Words that are cut and joined.
#[test]
fn broken_objects_with_narrow_words() {
    survives(&ARM, 16, 40);
    survives(&MIPS, 8, 40);
}

#[test]
fn endless_loops_end() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("loop.s");
    let text = ".text\n.global f\n.type f, %function\nf: b f\n nop\n";
    for compiler in tier::some([AVR, ARM, MIPS], 27) {
        let text = match compiler.gcc.starts_with("avr") {
            true => text.replace(" b f", " rjmp f"),
            false => text.to_string(),
        };
        std::fs::write(&source, text).expect("written");
        let file = compiler.compile(&source, &["-c"]);
        let audit = check(&file, compiler.core, Question::of("f", 32)).expect("f");
        let Verdict::Disproved(text) = audit.judged.proof.correct else {
            panic!("{:?}", audit.judged.proof);
        };
        let limit = "no result after 10000000 instructions (--steps sets the limit) at 0x0: ";
        let endless = "never returns: after ";
        assert!(text.contains(limit) && text.contains(endless), "{text}");
    }
}

/// The entry points of `cargo fuzz`, for a while: noise, and real files with pieces broken.
#[test]
fn the_targets_of_cargo_fuzz_survive() {
    let mut random = tier::random(2021);
    let mut noise = || -> Vec<u8> { (0..256).map(|_| random.draw() as u8).collect() };
    for _ in 0..tier::times(200) {
        let data = noise();
        entry::decode(&data);
        entry::load(&data);
    }
    let mut random = tier::random(4160);
    for (compiler, bits) in [(AVR, 8), (ARM, 32), (MIPS, 32)] {
        let object = compiler.multiplications(bits, 2, &["-Os", NO_MEMSET]);
        entry::decode(&object);
        entry::load(&object);
        let mut library = b"!<arch>\n".to_vec();
        let head = format!(
            "{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
            "o/",
            0,
            0,
            0,
            644,
            object.len()
        );
        library.extend(head.bytes().chain(object.iter().copied()));
        for file in [object, library] {
            for _ in 0..tier::times(150) {
                let data = broken(&file, &mut random);
                entry::load(&data);
            }
        }
    }
}

/// A loop that makes new words for ever, under the limit on the memory of the process.
#[test]
fn memory_is_bounded() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (compiler, text) in [
        (
            AVR,
            "f: movw r30, r22\n ld r18, Z\n1: mul r18, r19\n add r19, r0\n adc r18, r1\n rjmp 1b\n",
        ),
        (
            ARM,
            "f: ldr r1, [r1]\n1: umull r2, r3, r1, r2\n adds r1, r1, r3\n adc r1, r1, r2\n b 1b\n",
        ),
        (
            MIPS,
            "f: lw $5, 0($5)\n1: multu $5, $6\n mflo $6\n mfhi $7\n addu $5, $5, $7\n b 1b\n nop\n",
        ),
    ] {
        let source = folder.path().join("loop.s");
        std::fs::write(&source, format!(".text\n.global f\n{text}")).expect("written");
        let object = folder.path().join("loop.o");
        std::fs::write(&object, compiler.compile(&source, &["-c"])).expect("written");
        // Kilobytes of address space.
        let limited = "ulimit -v 1000000 && exec \"$@\"";
        let ran = Command::new("sh")
            .args(["-c", limited, "sh", env!("CARGO_BIN_EXE_lozenge"), "check"])
            .arg(&object)
            .args([
                "--symbol",
                "f",
                "--op",
                "mul",
                "--bits",
                "64",
                "--core",
                compiler.core,
            ])
            .args(["--steps", "2000000"])
            .output()
            .expect("the binary runs");
        assert_eq!(
            ran.status.code(),
            Some(1),
            "{}",
            String::from_utf8_lossy(&ran.stderr)
        );
        let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(
            printed.contains("no result after 2000000 instructions")
                || printed.contains("no result after 2097152 words"),
            "{printed}"
        );
    }
}
