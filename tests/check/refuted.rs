//! Kernels that were once called proved and are wrong, each for one pair of operands or a few. Each computes
//! the right product and then adds a word that a false rule of the algebra took for 0.

use lozenge::call::Operands;
use lozenge::isa::core::Core;
use lozenge::prove;
use lozenge::spec::Alias;
use num_bigint::BigUint;

use crate::check::tools::{ARM, AVR, Compiler, MIPS, Question, RISCV, core_named, prepared};

/// A function `f(r, a, b)` as an object, the bits of its operands, and two of them that it multiplies wrong.
struct Wrong<'a> {
    file: &'a [u8],
    bits: u32,
    pair: [u64; 2],
}

impl Wrong<'_> {
    fn is_not_proved(&self, core: &Core) {
        let question = Question::of("f", self.bits);
        let (spec, loaded) = prepared(self.file, question, core);
        let function = &loaded.function;
        let run = |pair: [u64; 2]| {
            let sources = pair.map(BigUint::from);
            let operands = Operands::of(&spec, &sources, Alias::Distinct);
            let called = core.calls(function.clone())(&operands, 10_000);
            (called.expect("it returns").0, &sources[0] * &sources[1])
        };
        let (got, product) = run(self.pair);
        assert_ne!(got, product, "{:x?} is multiplied wrong", self.pair);
        let (got, product) = run(self.pair.map(|x| x ^ 1 << (self.bits - 2)));
        assert_eq!(got, product, "others are multiplied right");
        let proof = prove::prove_function(&spec, core, function, Alias::Distinct);
        assert!(!proof.correct.is_proved(), "{proof:?}");
    }
}

fn is_not_proved(compiler: &Compiler, source: &str, bits: u32, pair: [u64; 2]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("f.S");
    let text = format!(".text\n.global f\n.type f, %function\nf:\n{source}\n.size f, . - f\n");
    std::fs::write(&path, text).expect("written");
    let file = compiler.compile(&path, &["-c"]);
    let wrong = Wrong {
        file: &file,
        bits,
        pair,
    };
    wrong.is_not_proved(&core_named(compiler.core));
}

/// r27:r26:r23:r22 = a b, a in r19:r18 and b in r21:r20; Z points to the result; then `error` leaves a word in r24,
/// which is added at the top.
fn avr(error: &str) -> String {
    format!(
        "
    movw r30, r22
    ld r18, Z
    ldd r19, Z+1
    movw r30, r20
    ld r20, Z
    ldd r21, Z+1
    movw r30, r24
    clr r25
    mul r18, r20
    movw r22, r0
    mul r19, r21
    movw r26, r0
    mul r18, r21
    add r23, r0
    adc r26, r1
    adc r27, r25
    mul r19, r20
    add r23, r0
    adc r26, r1
    adc r27, r25
{error}
    clr r1
    add r27, r24
    st Z, r22
    std Z+1, r23
    std Z+2, r26
    std Z+3, r27
    ret"
    )
}

/// r18 = 0 just where a = 0xa735 and b = 0x9d5b.
const AVR_PAIR: [u64; 2] = [0xa735, 0x9d5b];
const AVR_COMPARED: &str = "
    subi r18, 0x35
    subi r19, 0xa7
    subi r20, 0x5b
    subi r21, 0x9d
    or r18, r19
    or r18, r20
    or r18, r21";

/// With `s = x + y - 2^8 c` the borrow of `s - x - 1` is `c`, but where `y = 0`.
#[test]
fn a_borrow_that_is_taken_from_a_sum_on_avr() {
    let error = format!(
        "{AVR_COMPARED}
    mov r19, r22
    add r19, r18
    clr r24
    adc r24, r25
    sec
    sbc r19, r22
    clr r21
    adc r21, r25
    sub r24, r21"
    );
    is_not_proved(&AVR, &avr(&error), 16, AVR_PAIR);
}

/// With `s = x - y + 2^8 c` the borrow of `x - s - 1` is `c`, but where `y = 0`.
#[test]
fn a_borrow_that_is_taken_from_a_difference_on_avr() {
    let error = format!(
        "{AVR_COMPARED}
    mov r19, r22
    sub r19, r18
    clr r24
    adc r24, r25
    mov r20, r22
    sec
    sbc r20, r19
    clr r21
    adc r21, r25
    sub r24, r21"
    );
    is_not_proved(&AVR, &avr(&error), 16, AVR_PAIR);
}

/// r1:r0 = a0 a0 + a1 is 0xff00 just where a0 = a1 = 0xff; r20 = b1 - 0x5b.
const AVR_FULL: [u64; 2] = [0xffff, 0x5bff];
const AVR_COLUMN: &str = "
    mul r18, r18
    add r0, r19
    adc r1, r25
    mov r20, r21
    subi r20, 0x5b";

/// Where an addition is skipped, the carry is the old one, which the sum has no room for.
#[test]
fn a_carry_before_an_addition_that_is_skipped_on_avr() {
    let error = format!(
        "{AVR_COLUMN}
    clr r24
    cp r25, r20
    sbc r20, r20
    sec
    sbrc r20, 0
    add r0, r21
    adc r1, r25
    adc r24, r25"
    );
    is_not_proved(&AVR, &avr(&error), 16, AVR_FULL);
}

/// The same where a branch skips it. The ways meet before anything more is added.
#[test]
fn a_carry_that_branches_over_an_addition_on_avr() {
    let error = format!(
        "{AVR_COLUMN}
    clr r24
    cpi r20, 1
    brcs 1f
    add r0, r21
1:
    .rept 16
    nop
    .endr
    adc r1, r25
    adc r24, r25"
    );
    is_not_proved(&AVR, &avr(&error), 16, AVR_FULL);
}

/// a in r3, r4; b in r5, r6; the product in r7, r8, r9, r10; then `error` leaves a word in r12, which is added at
/// the top.
fn arm(error: &str) -> String {
    format!(
        "
    push {{r4-r11, lr}}
    ldr r3, [r1]
    ldr r4, [r1, #4]
    ldr r5, [r2]
    ldr r6, [r2, #4]
    umull r7, r8, r3, r5
    umull r9, r10, r4, r6
    umull r11, r12, r3, r6
    adds r8, r8, r11
    adcs r9, r9, r12
    adc r10, r10, #0
    umull r11, r12, r4, r5
    adds r8, r8, r11
    adcs r9, r9, r12
    adc r10, r10, #0
    mov r12, #0
{error}
    add r10, r10, r12
    stmia r0, {{r7-r10}}
    pop {{r4-r11, lr}}
    bx lr"
    )
}

/// r2:r1 = a0 a0 + a1 is 2^64 - 2^32 just where a0 = a1 = 2^32 - 1.
const ARM_FULL: [u64; 2] = [u64::MAX, 0x5b_ffff_ffff];
const ARM_COLUMN: &str = "
    umull r1, r2, r3, r3
    adds r1, r1, r4
    adc r2, r2, #0
    cmp r6, #0x5b";

/// An addition under a condition keeps the old carry where it is not executed.
#[test]
fn a_carry_before_a_conditional_addition_on_arm() {
    let error = format!(
        "{ARM_COLUMN}
    addnes r1, r1, r6
    adcs r2, r2, #0
    adc r12, r12, #0"
    );
    is_not_proved(&ARM, &arm(&error), 64, ARM_FULL);
}

/// The same where a branch skips it.
#[test]
fn a_carry_before_a_branch_over_an_addition_on_arm() {
    let error = format!(
        "{ARM_COLUMN}
    beq 1f
    adds r1, r1, r6
1:
    .rept 16
    mov r11, r11
    .endr
    adcs r2, r2, #0
    adc r12, r12, #0"
    );
    is_not_proved(&ARM, &arm(&error), 64, ARM_FULL);
}

/// Of these operands, and of no others, r12 becomes 1.
const PAIR: [u64; 2] = [0x48_0000_0047, 0x36_0000_0035];
const ARM_COMPARED: &str = "
    sub r1, r3, #0x47
    sub r2, r4, #0x48
    orr r1, r1, r2
    sub r2, r5, #0x35
    orr r1, r1, r2
    sub r2, r6, #0x36
    orr r1, r1, r2
    cmp r1, #0
    moveq r12, #1";

/// `s = x + y - 2^32 c`, `s - x - 1`.
#[test]
fn a_borrow_that_is_taken_from_a_sum_on_arm() {
    let error = "
    sub r1, r3, #0x47
    sub r2, r4, #0x48
    orr r1, r1, r2
    sub r2, r5, #0x35
    orr r1, r1, r2
    sub r2, r6, #0x36
    orr r1, r1, r2
    adds r2, r7, r1
    adc r12, r12, #0
    cmn r2, #0
    sbcs r2, r2, r7
    mov r11, #0
    sbc r11, r11, #0
    add r12, r12, r11";
    is_not_proved(&ARM, &arm(error), 64, PAIR);
}

/// `2^32 - 1 - x` of a bit x is negative: its sign is all ones.
#[test]
fn the_sign_of_what_is_always_negative_on_arm() {
    let error = format!(
        "{ARM_COMPARED}
    mvn r1, r3, lsr #31
    mov r1, r1, asr #31
    and r12, r12, r1"
    );
    is_not_proved(&ARM, &arm(&error), 64, PAIR);
}

/// The same of `x - 2`.
#[test]
fn the_sign_of_what_is_always_negative_on_mips() {
    let source = "
    .set noreorder
    lw $t0, 0($a1)
    lw $t1, 4($a1)
    lw $t2, 0($a2)
    lw $t3, 4($a2)
    multu $t0, $t2
    mflo $t4
    mfhi $t5
    sw $t4, 0($a0)
    multu $t0, $t3
    mflo $t4
    mfhi $t6
    addu $t5, $t5, $t4
    sltu $t4, $t5, $t4
    addu $t6, $t6, $t4
    multu $t1, $t2
    mflo $t4
    mfhi $t7
    addu $t5, $t5, $t4
    sltu $t4, $t5, $t4
    addu $t7, $t7, $t4
    sw $t5, 4($a0)
    addu $t6, $t6, $t7
    sltu $t7, $t6, $t7
    multu $t1, $t3
    mflo $t4
    mfhi $t8
    addu $t6, $t6, $t4
    sltu $t4, $t6, $t4
    addu $t7, $t7, $t4
    addu $t7, $t7, $t8
    sw $t6, 8($a0)
    addiu $t4, $t0, -0x47
    addiu $t5, $t1, -0x48
    or $t4, $t4, $t5
    addiu $t5, $t2, -0x35
    or $t4, $t4, $t5
    addiu $t5, $t3, -0x36
    or $t4, $t4, $t5
    sltiu $t4, $t4, 1
    srl $t5, $t0, 31
    addiu $t5, $t5, -2
    sra $t5, $t5, 31
    and $t4, $t4, $t5
    addu $t7, $t7, $t4
    jr $ra
    sw $t7, 12($a0)";
    is_not_proved(&MIPS, source, 64, PAIR);
}

/// The same on RISC-V.
#[test]
fn the_sign_of_what_is_always_negative_on_riscv() {
    let source = "
    lw t0, 0(a1)
    lw t1, 4(a1)
    lw t2, 0(a2)
    lw t3, 4(a2)
    mul t4, t0, t2
    mulhu t5, t0, t2
    sw t4, 0(a0)
    mul t4, t0, t3
    mulhu t6, t0, t3
    add t5, t5, t4
    sltu t4, t5, t4
    add t6, t6, t4
    mul t4, t1, t2
    mulhu a7, t1, t2
    add t5, t5, t4
    sltu t4, t5, t4
    add a7, a7, t4
    sw t5, 4(a0)
    add t6, t6, a7
    sltu a7, t6, a7
    mul t4, t1, t3
    mulhu a6, t1, t3
    add t6, t6, t4
    sltu t4, t6, t4
    add a7, a7, t4
    add a7, a7, a6
    sw t6, 8(a0)
    addi t4, t0, -0x47
    addi t5, t1, -0x48
    or t4, t4, t5
    addi t5, t2, -0x35
    or t4, t4, t5
    addi t5, t3, -0x36
    or t4, t4, t5
    sltiu t4, t4, 1
    srli t5, t0, 31
    addi t5, t5, -2
    srai t5, t5, 31
    and t4, t4, t5
    add a7, a7, t4
    sw a7, 12(a0)
    ret";
    is_not_proved(&RISCV, source, 64, PAIR);
}
