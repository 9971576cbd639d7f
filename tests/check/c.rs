//! Compiled C through the four verdicts: right kernels are proved, wrong ones are not.

use lozenge::prove::Verdict;

use crate::check::tools::{ARM, AVR, Compiler, MIPS, NO_MEMSET, Question, RISCV, check, sources};

const LEVELS: [&str; 3] = ["-Os", "-O2", "-O3"];

/// Every right multiplication of mul.c, with words of `bits` bits, at every level.
fn all_are_proved(compiler: &Compiler, bits: u32, words: u32, align: u64) {
    let length = format!("r,a,b,n{bits}");
    for level in LEVELS {
        let file = compiler.multiplications(bits, words, &[level, NO_MEMSET]);
        for symbol in ["school", "school_n", "ends_n", "comba", "comba_n", "rows"] {
            let arguments = match symbol.ends_with("_n") {
                true => &length,
                false => "r,a,b",
            };
            let question = Question {
                arguments,
                align: Some(align),
                ..Question::of(symbol, bits * words)
            };
            let audit = check(&file, compiler.core, question).expect("a function");
            let name = format!("{} {level}, {bits}-bit words: {symbol}", compiler.gcc);
            let proof = &audit.judged.proof;
            assert_eq!(proof.correct, Verdict::Proved, "{name}");
            assert_eq!(proof.memory, Verdict::Proved, "{name}");
            assert_eq!(proof.abi, Verdict::Proved, "{name}");
            let cost = audit.judged.cost;
            assert!(
                0 < cost.body.min && cost.body.max <= cost.call.max,
                "{name}"
            );
            assert!(
                0 < audit.bytes.body && audit.bytes.body <= audit.bytes.call,
                "{name}"
            );
        }
    }
}

#[test]
fn avr_in_bytes() {
    all_are_proved(&AVR, 8, 20, 1);
}

#[test]
fn arm_in_words() {
    all_are_proved(&ARM, 32, 6, 8);
}

#[test]
fn arm_in_halfwords() {
    all_are_proved(&ARM, 16, 8, 8);
}

#[test]
fn arm_in_bytes() {
    all_are_proved(&ARM, 8, 10, 8);
}

#[test]
fn mips_in_words() {
    all_are_proved(&MIPS, 32, 6, 8);
}

#[test]
fn mips_in_halfwords() {
    all_are_proved(&MIPS, 16, 8, 8);
}

#[test]
fn mips_in_bytes() {
    all_are_proved(&MIPS, 8, 10, 8);
}

#[test]
fn riscv_in_words() {
    all_are_proved(&RISCV, 32, 6, 8);
}

#[test]
fn riscv_in_halfwords() {
    all_are_proved(&RISCV, 16, 8, 8);
}

#[test]
fn riscv_in_bytes() {
    all_are_proved(&RISCV, 8, 10, 8);
}

/// Objects of all targets, in the word of each, of 4 words.
fn each() -> [(Compiler, u32, Vec<u8>); 4] {
    [(AVR, 8), (ARM, 32), (MIPS, 32), (RISCV, 32)].map(|(compiler, bits)| {
        let file = compiler.multiplications(bits, 4, &["-O2", NO_MEMSET]);
        (compiler, bits, file)
    })
}

#[test]
fn a_lost_carry_is_shown() {
    for (compiler, bits, file) in each() {
        let audit = check(&file, compiler.core, Question::of("lost", 4 * bits)).expect("lost");
        let Verdict::Disproved(text) = audit.judged.proof.correct else {
            panic!("{compiler:?}: {:?}", audit.judged.proof);
        };
        let shown = text.contains("expected 0x") && text.contains("got 0x");
        assert!(shown && text.contains("may be lost"), "{text}");
    }
}

/// The class of CVE-2021-4160: one carry of one product, which random operands never need.
#[test]
fn a_carry_that_is_lost_once_is_shown() {
    for (compiler, bits, file) in each() {
        let question = Question::of("lost_once", 4 * bits);
        let audit = check(&file, compiler.core, question).expect("lost_once");
        let Verdict::Disproved(text) = audit.judged.proof.correct else {
            panic!("{compiler:?}: {:?}", audit.judged.proof);
        };
        assert!(text.contains("expected 0x"), "{text}");
    }
}

#[test]
fn a_word_too_many_is_shown() {
    for (compiler, bits, file) in each() {
        let audit = check(&file, compiler.core, Question::of("beyond", 4 * bits)).expect("beyond");
        let proof = &audit.judged.proof;
        let bytes = bits;
        let Verdict::Disproved(text) = &proof.memory else {
            panic!("{compiler:?}: {proof:?}");
        };
        assert!(
            text.contains(&format!("r[{bytes}], outside its {bytes} bytes")),
            "{text}"
        );
        assert!(!proof.correct.is_proved());
    }
}

/// The order of addresses is known within an operand, not between two.
#[test]
fn a_branch_on_places_is_not_followed() {
    for (compiler, bits, file) in each() {
        let audit = check(&file, compiler.core, Question::of("apart", 4 * bits)).expect("apart");
        let Verdict::Unknown(text) = &audit.judged.proof.correct else {
            panic!("{compiler:?}: {:?}", audit.judged.proof);
        };
        // ARM moves the two pointers on a condition.
        let reasons = [
            "a branch depends on the operands or their places",
            "an address depends on",
        ];
        assert!(reasons.iter().any(|reason| text.contains(reason)), "{text}");
    }
}

#[test]
fn a_branch_on_a_secret_is_shown_with_its_way() {
    for (compiler, bits, file) in each() {
        let audit = check(&file, compiler.core, Question::of("skips", 4 * bits)).expect("skips");
        let judged = &audit.judged;
        let Verdict::Unknown(text) = &judged.proof.correct else {
            panic!("{compiler:?}: {:?}", judged.proof);
        };
        // Never proved, but tested for long.
        let tested = " random and structured operand pairs gave the right result";
        let runs = text
            .split(tested)
            .next()
            .and_then(|text| text.rsplit(' ').next());
        let runs: usize = runs.and_then(|n| n.parse().ok()).unwrap_or(0);
        // Besides those that are made of numbers in the code.
        assert!(runs >= 20007, "{text}");
        assert!(
            text.contains("a branch depends on") && text.contains(tested),
            "{text}"
        );
        for (core, timing) in &judged.constant_time {
            let leak = timing.leak.as_ref().expect("a leak");
            let begins = leak
                .text
                .starts_with("a branch depends on the secret b[0] at 0x");
            assert!(
                begins && leak.text.contains("by way of 0x"),
                "{core}: {leak:?}"
            );
        }
    }
}

/// Without a multiplier avr-gcc calls loops that end as soon as no bit of a factor is left: how often they
/// turn depends on operands, which is neither constant time nor followed. All else of the verdict stands.
#[test]
fn products_by_loops_that_end_early_are_tested_only() {
    let tiny = Compiler {
        flags: &["-mmcu=attiny85"],
        core: "attiny85",
        ..AVR
    };
    let defines = ["-DLIMB=uint8_t", "-DWIDE=uint16_t", "-DBITS=8", "-DN=3"];
    let mut flags = vec!["-Os", NO_MEMSET, "-nostartfiles", "-Wl,-e,0", "-lgcc"];
    flags.extend(defines);
    let file = tiny.compile(&sources().join("mul.c"), &flags);
    for symbol in ["school", "comba", "rows"] {
        let audit = check(&file, tiny.core, Question::of(symbol, 24)).expect(symbol);
        let judged = &audit.judged;
        let Verdict::Unknown(text) = &judged.proof.correct else {
            panic!("{:?}", judged.proof);
        };
        let tested = "random and structured operand pairs gave the right result";
        let branches = text.contains("a branch depends on");
        assert!(branches && text.contains(tested), "{text}");
        assert!(judged.constant_time.iter().all(|(_, t)| t.leak.is_some()));
    }
}

#[test]
fn what_is_not_in_the_file_is_named() {
    let file = ARM.multiplications(32, 4, &["-O2", "-ftree-loop-distribute-patterns"]);
    let question = Question {
        arguments: "r,a,b,n32",
        ..Question::of("school_n", 128)
    };
    let audit = check(&file, ARM.core, question).expect("school_n");
    let Verdict::Unknown(text) = audit.judged.proof.correct else {
        panic!("{:?}", audit.judged.proof);
    };
    assert!(
        text.contains("it needs memset, which is not in this file"),
        "{text}"
    );
}

#[test]
fn a_wrong_length_is_no_proof() {
    for (compiler, bits, file) in each() {
        let question = Question {
            arguments: "r,a,b,3",
            ..Question::of("school_n", 4 * bits)
        };
        let audit = check(&file, compiler.core, question).expect("school_n");
        assert!(!audit.judged.proof.correct.is_proved(), "{compiler:?}");
    }
}
