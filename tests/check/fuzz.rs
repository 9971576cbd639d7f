//! Broken and hostile files end in an error or an "unknown", never in a panic, an endless loop
//! or memory without bound; and no broken kernel is proved that numbers show to be wrong.

use crate::tools::{ARM, AVR, Compiler, MIPS, Question, check};
use lozenge::prove::Verdict;
use lozenge::vectors::Random;

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
        let Ok(audit) = check(&bytes, compiler.core, Question::of("comba", 3 * bits)) else {
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
            Verdict::Unknown(_) => {}
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
    for compiler in [AVR, ARM, MIPS] {
        let text = match compiler.gcc.starts_with("avr") {
            true => text.replace(" b f", " rjmp f"),
            false => text.to_string(),
        };
        std::fs::write(&source, text).expect("written");
        let file = compiler.compile(&source, &["-c"]);
        let audit = check(&file, compiler.core, Question::of("f", 32)).expect("f");
        let Verdict::Unknown(text) = audit.judged.proof.correct else {
            panic!("{:?}", audit.judged.proof);
        };
        assert!(
            text.starts_with("no result after 10000000 instructions at 0x0: "),
            "{text}"
        );
    }
}
