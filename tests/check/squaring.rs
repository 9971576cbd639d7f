//! CVE-2021-4160: a carry that OpenSSL's squaring for MIPS32 lost for years. A kernel with that fault
//! is disproved, and the same kernel without it is proved.

use lozenge::load;
use lozenge::prove::Verdict;
use lozenge::spec::{Alias, Op, Spec};
use num_bigint::BigUint;

use crate::check::tools::{MIPS, Question, check, core_named, sources};

/// The operand of the report, its square, and what came out instead.
const OPERAND: &str = "022181bafd3aa878899b2346ee210f45";
const RIGHT: &str = "00048a699fe82f8b62bd2ed18878133575be8e3d97ed17d47950b4653cb32899";
const WRONG: &str = "00048a699fe82f8b62bd2ed18878133575be8e3c97ed17d47950b4653cb32899";

fn number(hex: &str) -> BigUint {
    BigUint::parse_bytes(hex.as_bytes(), 16).expect("hexadecimal")
}

fn object() -> Vec<u8> {
    MIPS.compile(&sources().join("squaring.S"), &["-c"])
}

fn question(symbol: &str) -> Question<'_> {
    Question {
        op: Op::Sqr,
        arguments: "r,a",
        align: Some(4),
        ..Question::of(symbol, 128)
    }
}

/// What the function makes of the operand of the report.
fn run(file: &[u8], symbol: &str) -> BigUint {
    let core = core_named(MIPS.core);
    let loaded = load::load(file, symbol, &core.object_format()).expect("a function");
    let spec = Spec::new(Op::Sqr, 128, 32).expect("a size");
    let sources = [number(OPERAND)];
    let ran = core.run(&spec, &loaded.function, &sources, Alias::Distinct);
    ran.expect("it runs").0
}

#[test]
fn the_operand_of_the_report_shows_the_fault() {
    let file = object();
    assert_eq!(number(OPERAND).pow(2), number(RIGHT));
    assert_eq!(run(&file, "kept"), number(RIGHT));
    assert_eq!(run(&file, "lost"), number(WRONG));
}

#[test]
fn the_lost_carry_is_found() {
    let file = object();
    let audit = check(&file, MIPS.core, question("lost")).expect("lost");
    let Verdict::Disproved(text) = &audit.judged.proof.correct else {
        panic!("{:?}", audit.judged.proof);
    };
    assert!(
        text.starts_with("a=0x") && text.contains("expected 0x"),
        "{text}"
    );
    assert!(text.contains("may be lost: 0x"), "{text}");
    assert!(text.contains("addu $t9, $t9, $at"), "{text}");
}

#[test]
fn the_kept_carry_is_proved() {
    let audit = check(&object(), MIPS.core, question("kept")).expect("kept");
    let proof = &audit.judged.proof;
    assert!(proof.holds(), "{proof:?}");
}
