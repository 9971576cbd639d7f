//! What nobody promised is not believed: the alignment of operands and areas, flags and registers that
//! the manual leaves undefined, memory beyond the operands, and that operands are not the numbers that the
//! code looks for.

use lozenge::prove::{Proof, Verdict};

use crate::check::tools::{ARM, AVR, Compiler, MIPS, Question, check};

/// The proof of the function `f` of this body.
fn proof(compiler: &Compiler, question: Question<'_>, body: &str) -> Proof {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("f.s");
    let kind = if compiler.gcc == ARM.gcc { '%' } else { '@' };
    let text = format!(
        ".text\n.global f\n.type f, {kind}function\n.set noreorder\nf: {body}\n.size f, . - f\n"
    );
    let text = match compiler.gcc == MIPS.gcc {
        true => text,
        false => text.replace(".set noreorder\n", ""),
    };
    std::fs::write(&path, text).expect("written");
    let file = compiler.compile(&path, &["-c"]);
    let audit = check(&file, compiler.core, question).expect("f");
    audit.judged.proof
}

/// The reason why it is neither right nor wrong, or why it is wrong.
fn reason(proof: &Proof) -> &str {
    proof.correct.reason().unwrap_or_default()
}

const ARM_PRODUCT: &str =
    "ldr r1, [r1]\n ldr r2, [r2]\n umull r3, r12, r1, r2\n stmia r0, {r3, r12}\n bx lr\n";
const MIPS_PRODUCT: &str = "lw $5, 0($5)\n lw $6, 0($6)\n multu $5, $6\n mflo $2\n mfhi $3\n \
                            sw $2, 0($4)\n sw $3, 4($4)\n jr $31\n nop\n";

#[test]
fn bytes_are_no_words_unless_somebody_promises() {
    // The result byte by byte, which nobody has to promise anything of.
    let byte = |i: usize| match i {
        0..4 => format!("strb r3, [r0, #{i}]\n lsr r3, r3, #8\n"),
        _ => format!("strb r12, [r0, #{i}]\n lsr r12, r12, #8\n"),
    };
    let arm = ARM_PRODUCT.replace(
        "stmia r0, {r3, r12}\n",
        &(0..8).map(byte).collect::<String>(),
    );
    let byte = |i: usize| match i {
        0..4 => format!("sb $2, {i}($4)\n srl $2, $2, 8\n"),
        _ => format!("sb $3, {i}($4)\n srl $3, $3, 8\n"),
    };
    let stores = (0..8).map(byte).collect::<String>();
    let mips = MIPS_PRODUCT.replace("sw $2, 0($4)\n sw $3, 4($4)\n", &stores);
    assert!(!arm.contains("stmia") && !mips.contains("sw "));
    for (compiler, body) in [
        (ARM, ARM_PRODUCT),
        (ARM, &arm),
        (MIPS, MIPS_PRODUCT),
        (MIPS, &mips),
    ] {
        for (limb_bits, align, holds) in [
            (Some(8), Some(1), false),
            (Some(8), None, false),
            (Some(8), Some(2), false),
            (Some(16), Some(1), false),
            (Some(8), Some(4), true),
            (Some(32), Some(1), true),
            (None, None, true),
        ] {
            let question = Question {
                limb_bits,
                align,
                ..Question::of("f", 32)
            };
            let proof = proof(&compiler, question, body);
            assert_eq!(proof.holds(), holds, "{question:?}: {proof:?}");
            if !holds {
                let text = reason(&proof);
                assert!(
                    text.contains("a promise of alignment (--align 4)"),
                    "{text}"
                );
                // Nor is it right on numbers: a rotated word, or a bus error.
                assert!(matches!(proof.correct, Verdict::Disproved(_)), "{text}");
            }
        }
    }
}

/// A table of bytes lies where a linker puts it.
#[test]
fn tables_are_as_aligned_as_their_sections() {
    let arm = "ldr r3, 2f\n ldr r3, [r3]\n b 1f\n2: .word t\n1:\n";
    let mips = "lui $8, %hi(t)\n lw $8, %lo(t)($8)\n";
    for (compiler, head, body) in [(ARM, arm, ARM_PRODUCT), (MIPS, mips, MIPS_PRODUCT)] {
        for (align, holds) in [("", false), (".p2align 1\n", false), (".p2align 2\n", true)] {
            let table = format!(".section .rodata\n{align}t: .byte 1, 2, 3, 4\n.text\n");
            let text = format!("{head}{body}{table}");
            let proof = proof(&compiler, Question::of("f", 32), &text);
            assert_eq!(proof.holds(), holds, "{align}: {proof:?}");
            assert!(
                holds || reason(&proof).contains("in a section that is aligned to"),
                "{proof:?}"
            );
        }
    }
}

/// `--align` speaks of the operands.
#[test]
fn areas_are_as_aligned_as_their_words() {
    for (compiler, head, body) in [
        (
            ARM,
            "ldr r3, [sp]\n str r0, [r3]\n ldr r0, [r3]\n",
            ARM_PRODUCT,
        ),
        (MIPS, "sw $4, 0($7)\n lw $4, 0($7)\n", MIPS_PRODUCT),
    ] {
        for (limb_bits, promise, holds) in [
            (8, "", false),
            (8, "/2", false),
            (8, "/4", true),
            (32, "", true),
        ] {
            // Behind three pointers ARM has a register left, MIPS too; on ARM it is not this one.
            let unused = if compiler.gcc == ARM.gcc { ",_" } else { "" };
            let arguments = format!("r,a,b{unused},scratch:4{promise}");
            let question = Question {
                limb_bits: Some(limb_bits),
                align: Some(8),
                arguments: &arguments,
                ..Question::of("f", 32)
            };
            let proof = proof(&compiler, question, &format!("{head}{body}"));
            assert_eq!(proof.holds(), holds, "{question:?}: {proof:?}");
            assert!(holds || reason(&proof).contains("scratch[0]"), "{proof:?}");
        }
    }
}

/// C and V after a multiplication that sets flags, each until an instruction that is executed gives it a
/// value.
#[test]
fn flags_are_undefined_one_by_one() {
    let load = "ldr r1, [r1]\n ldr r2, [r2]\n umulls r3, r12, r1, r2\n";
    let store = " stmia r0, {r3, r12}\n bx lr\n";
    for (between, holds) in [
        // C is defined by a shift, V is not.
        ("movs r2, r1, lsr #1\n movcs r1, r1\n", true),
        ("movs r2, r1, lsr #1\n movvs r1, r1\n", false),
        ("movs r2, r1, lsr #1\n movge r1, r1\n", false),
        ("movs r2, r1, lsr #1\n mrs r2, cpsr\n", false),
        ("adds r2, r1, r1\n movvs r1, r1\n", true),
        // Neither is defined by what may not be executed.
        ("addeqs r2, r1, r1\n movcs r1, r1\n", false),
        ("addeqs r2, r1, r1\n movvs r1, r1\n", false),
        ("msr cpsr_f, #0\n movvs r1, r1\n", true),
        // A multiplication that may be executed undefines C, and only C.
        ("cmp r1, r2\n muleqs r2, r1, r3\n movcs r1, r1\n", false),
        ("cmp r1, r2\n muleqs r2, r1, r3\n movvs r1, r1\n", true),
        ("adc r2, r1, r1\n", false),
    ] {
        let text = format!("{load}{between}{store}");
        let proof = proof(&ARM, Question::of("f", 32), &text);
        assert_eq!(proof.holds(), holds, "{between}: {proof:?}");
        assert!(
            holds || reason(&proof).contains("unpredictable"),
            "{proof:?}"
        );
    }
}

/// HI and LO: to write one before the product was read loses the other.
#[test]
fn hi_and_lo_are_unpredictable_one_by_one() {
    let load = "lw $5, 0($5)\n lw $6, 0($6)\n";
    let store = " sw $2, 0($4)\n sw $3, 4($4)\n jr $31\n nop\n";
    for (body, holds) in [
        (
            "multu $5, $6\n mthi $0\n mflo $2\n multu $5, $6\n mfhi $3\n",
            false,
        ),
        (
            "multu $5, $6\n mtlo $0\n mfhi $3\n multu $5, $6\n mflo $2\n",
            false,
        ),
        (
            "multu $5, $6\n mflo $2\n mfhi $3\n mthi $0\n mflo $2\n",
            true,
        ),
        (
            "multu $5, $6\n mtlo $0\n mthi $0\n maddu $5, $6\n mflo $2\n mfhi $3\n",
            true,
        ),
        // As gcc writes it: HI is unpredictable, and nobody reads it.
        (
            "multu $5, $6\n mfhi $3\n mul $2, $5, $6\n mtlo $0\n madd $5, $6\n mflo $2\n",
            true,
        ),
        (
            "mul $2, $5, $6\n mtlo $0\n maddu $5, $6\n mflo $2\n mfhi $3\n",
            false,
        ),
        (
            "mul $2, $5, $6\n mthi $0\n maddu $5, $6\n mflo $2\n mfhi $3\n",
            false,
        ),
    ] {
        let text = format!("{load}{body}{store}");
        let proof = proof(&MIPS, Question::of("f", 32), &text);
        assert_eq!(proof.holds(), holds, "{body}: {proof:?}");
        assert!(
            holds || reason(&proof).contains("unpredictable"),
            "{proof:?}"
        );
    }
}

/// A branch on a secret that is not followed, then a product with what lies behind `a` added: zeros, as
/// long as nobody else uses that memory.
#[test]
fn memory_beyond_the_operands_is_not_zero() {
    let arm = "ldr r12, [r1, #4]\n ldr r1, [r1]\n ldr r2, [r2]\n 3: subs r3, r1, r1\n addne pc, pc, r1\n \
               umull r3, r1, r2, r1\n add r1, r1, r12\n stmia r0, {r3, r1}\n bx lr\n";
    let mips = "lw $8, 4($5)\n lw $5, 0($5)\n lw $6, 0($6)\n multu $5, $6\n mflo $2\n mfhi $3\n \
                addu $3, $3, $8\n sw $2, 0($4)\n sw $3, 4($4)\n jr $31\n nop\n";
    let avr = "movw r30, r22\n ld r18, Z\n ldd r21, Z+1\n movw r30, r20\n ret\n";
    for (compiler, bits, body) in [(ARM, 32, arm), (MIPS, 32, mips), (AVR, 8, avr)] {
        let proof = proof(&compiler, Question::of("f", bits), body);
        let Verdict::Disproved(text) = &proof.correct else {
            panic!("{proof:?}");
        };
        assert!(text.contains("reads a["), "{text}");
        assert!(!text.contains("gave the right result"), "{text}");
    }
}

/// Right for all operands but one number that stands in the code.
#[test]
fn numbers_of_the_code_are_operands() {
    let arm = "ldr r1, [r1]\n ldr r2, [r2]\n umull r3, r12, r1, r2\n stmia r0, {r3, r12}\n ldr r12, 2f\n \
               cmp r1, r12\n bxne lr\n1: str r1, [r0]\n bx lr\n2: .word 0x9e3779b1\n";
    let mips = "lw $5, 0($5)\n lw $6, 0($6)\n multu $5, $6\n mflo $2\n mfhi $3\n sw $2, 0($4)\n \
                sw $3, 4($4)\n lui $8, 0x9e37\n ori $8, $8, 0x79b1\n bne $5, $8, 1f\n nop\n sw $5, 0($4)\n\
                1: jr $31\n nop\n";
    for (compiler, body) in [(ARM, arm), (MIPS, mips)] {
        let proof = proof(&compiler, Question::of("f", 32), body);
        let Verdict::Disproved(text) = &proof.correct else {
            panic!("{proof:?}");
        };
        assert!(text.contains("a=0x9e3779b1"), "{text}");
    }
    // Four bytes, compared one by one.
    let words = "movw r30, r22\n ld r18, Z\n ldd r19, Z+1\n ldd r26, Z+2\n ldd r27, Z+3\n movw r30, r20\n \
                 ld r22, Z\n ldd r23, Z+1\n ldd r20, Z+2\n ldd r21, Z+3\n movw r30, r24\n";
    let sum = "movw r24, r18\n add r24, r22\n adc r25, r23\n st Z, r24\n std Z+1, r25\n mov r24, r26\n \
               adc r24, r20\n std Z+2, r24\n mov r24, r27\n adc r24, r21\n std Z+3, r24\n clr r24\n adc r24, r1\n";
    let looks = "cpi r18, 0xb1\n brne 1f\n cpi r19, 0x79\n brne 1f\n cpi r26, 0x37\n brne 1f\n \
                 cpi r27, 0x9e\n brne 1f\n st Z, r27\n1: ret\n";
    let question = Question {
        op: lozenge::spec::Op::Add,
        limb_bits: Some(8),
        ..Question::of("f", 32)
    };
    let right = proof(&AVR, question, &format!("{words}{sum} ret\n"));
    assert!(right.holds(), "{right:?}");
    let wrong = proof(&AVR, question, &format!("{words}{sum}{looks}"));
    let Verdict::Disproved(text) = &wrong.correct else {
        panic!("{wrong:?}");
    };
    assert!(text.contains("a=0x9e3779b1"), "{text}");
}

/// Hundreds of areas are as many places.
#[test]
fn many_areas_have_places_of_their_own() {
    let arguments = format!("r,a,b{}", ",scratch:4".repeat(300));
    for (compiler, body) in [(ARM, ARM_PRODUCT), (MIPS, MIPS_PRODUCT)] {
        let question = Question {
            arguments: &arguments,
            ..Question::of("f", 32)
        };
        let found = proof(&compiler, question, body);
        assert!(found.holds(), "{found:?}");
    }
}
