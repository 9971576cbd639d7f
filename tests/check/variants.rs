//! The other multiplications of the AVR, in kernels that use them: FMUL doubles its product, MULS and
//! MULSU read words as signed.

use crate::tools::{AVR, Question, check};
use lozenge::prove::Verdict;
use lozenge::spec::Op;

/// What the proof says of the function with this body.
fn verdict(op: Op, bits: u32, arguments: &str, body: &str) -> Verdict {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("f.s");
    let text = format!(".text\n.global f\n.type f, @function\nf: {body}\n.size f, . - f\n");
    std::fs::write(&path, text).expect("written");
    let file = AVR.compile(&path, &["-c"]);
    let question = Question {
        op,
        arguments,
        ..Question::of("f", bits)
    };
    check(&file, AVR.core, question)
        .expect("f")
        .judged
        .proof
        .correct
}

/// a0^2 + 2^8 (2 a0 a1) + 2^16 a1^2: the doubled product comes with its 17th bit in the carry.
#[test]
fn fmul_doubles() {
    let square = |carry: &str| {
        format!(
            "movw r30, r22\n ld r18, Z\n ldd r19, Z+1\n movw r30, r24\n ldi r24, 0\n \
             mul r18, r18\n movw r20, r0\n mul r19, r19\n movw r22, r0\n fmul r18, r19\n {carry}\n \
             add r21, r0\n adc r22, r1\n adc r23, r24\n st Z, r20\n std Z+1, r21\n std Z+2, r22\n \
             std Z+3, r23\n clr r1\n ret"
        )
    };
    let right = verdict(Op::Sqr, 16, "r,a", &square("adc r23, r24"));
    assert_eq!(right, Verdict::Proved);
    let wrong = verdict(Op::Sqr, 16, "r,a", &square("nop"));
    assert!(matches!(wrong, Verdict::Disproved(_)), "{wrong:?}");
}

/// A word `x` read as signed is `x - 2^8` if its top bit is set: what is missing is added to the upper
/// word.
fn signed(multiply: &str, corrections: &str) -> Verdict {
    let body = format!(
        "movw r30, r22\n ld r18, Z\n movw r30, r20\n ld r19, Z\n movw r30, r24\n {multiply} r18, r19\n \
         {corrections}\n st Z, r0\n std Z+1, r1\n clr r1\n ret"
    );
    verdict(Op::Mul, 8, "r,a,b", &body)
}

#[test]
fn signed_products_are_corrected() {
    let (of_a, of_b) = ("sbrc r18, 7\n add r1, r19\n", "sbrc r19, 7\n add r1, r18\n");
    assert_eq!(signed("muls", &format!("{of_a}{of_b}")), Verdict::Proved);
    assert_eq!(signed("mulsu", of_a), Verdict::Proved);
    for (multiply, corrections) in [("muls", of_a), ("mulsu", of_b), ("mulsu", "")] {
        let wrong = signed(multiply, corrections);
        assert!(
            matches!(wrong, Verdict::Disproved(_)),
            "{multiply}: {wrong:?}"
        );
    }
}
