//! The other multiplications of the AVR, in kernels that use them: FMUL doubles its product, MULS and
//! MULSU read words as signed.

use lozenge::prove::Verdict;
use lozenge::spec::Op;

use crate::check::tools::{AVR, Question, check};

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

/// 32 bytes in three parts, as hand-written kernels square them: columns summed in three bytes and doubled
/// at their end; then twice the product of the halves is added to what is in memory, carry by carry.
fn square_in_parts() -> String {
    const N: usize = 32;
    const HALF: usize = N / 2;
    let product = |i: usize, j: usize| {
        format!(
            " ldd r18, Y+{i}\n ldd r19, Y+{j}\n mul r18, r19\n add r2, r0\n adc r3, r1\n adc r4, r16\n"
        )
    };
    let saved = ["r2", "r3", "r4", "r5", "r6", "r16", "r28", "r29"];
    let pushes: String = saved.iter().map(|r| format!(" push {r}\n")).collect();
    let pops: String = saved.iter().rev().map(|r| format!(" pop {r}\n")).collect();
    let mut text = format!("{pushes} movw r30, r24\n movw r28, r22\n clr r16\n");
    let columns = (0..2 * HALF - 1).map(|k| (k, k.saturating_sub(HALF - 1)..=k.min(HALF - 1)));
    for first in [0, HALF] {
        text += " clr r5\n clr r6\n";
        for (k, range) in columns.clone() {
            text += " clr r2\n clr r3\n clr r4\n";
            let pairs = range.filter(|i| 2 * i < k);
            text.extend(pairs.map(|i| product(first + i, first + k - i)));
            text += " lsl r2\n rol r3\n rol r4\n";
            if k % 2 == 0 {
                text += &product(first + k / 2, first + k / 2);
            }
            text +=
                " add r2, r5\n adc r3, r6\n adc r4, r16\n st Z+, r2\n mov r5, r3\n mov r6, r4\n";
        }
        text += " st Z+, r5\n";
    }
    text += &format!(" sbiw r30, {}\n clr r5\n clr r6\n", 2 * N - HALF);
    for (k, range) in columns {
        text += " clr r2\n clr r3\n clr r4\n";
        text.extend(range.map(|i| product(i, HALF + k - i)));
        text += " lsl r2\n rol r3\n rol r4\n add r2, r5\n adc r3, r6\n adc r4, r16\n ld r20, Z\n \
                 add r2, r20\n adc r3, r16\n adc r4, r16\n st Z+, r2\n mov r5, r3\n mov r6, r4\n";
    }
    text += " ld r20, Z\n add r20, r5\n st Z+, r20\n ld r20, Z\n adc r20, r6\n st Z+, r20\n";
    text += &" ld r20, Z\n adc r20, r16\n st Z+, r20\n".repeat(HALF - 1);
    text + " clr r1\n" + &pops + " ret"
}

#[test]
fn a_square_of_256_bits_in_three_parts() {
    let body = square_in_parts();
    assert_eq!(verdict(Op::Sqr, 256, "r,a", &body), Verdict::Proved);
    // The carry of the sum with what is in memory.
    let lost = body.replace("adc r4, r16\n st Z+", "st Z+");
    assert_ne!(lost, body);
    let wrong = verdict(Op::Sqr, 256, "r,a", &lost);
    assert!(matches!(wrong, Verdict::Disproved(_)), "{wrong:?}");
}
