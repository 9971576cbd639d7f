//! What an instruction may do to the world around the function: stack pointers, the interrupt flag, registers that
//! belong to interrupt handlers, pages, and what a part has not. Each program computes the right product in a
//! quiet machine; those that an interrupt, a caller or the part would spoil must not be proved.

use lozenge::audit::Audit;
use lozenge::facts::Style;
use lozenge::isa::avr::code::Insn;
use lozenge::isa::avr::cores::{ATMEGA128, Core};
use lozenge::isa::avr::instructions::Op as AvrOp;
use lozenge::isa::{arm, avr, mips, msp430, riscv};
use lozenge::kernel::{self, Request};
use lozenge::prove::{Proof, Verdict};
use lozenge::spec::modulus::{Modular, Modulus, Reduce};
use lozenge::spec::{Alias, Op};
use lozenge::target::{Names, Target};
use lozenge::{audit, prove, smt};
use num_bigint::BigUint;

use crate::check::tools::{ARM, AVR, Compiler, MIPS, Question, RISCV, core_named, prepared};
use crate::kit::{any, ask, known, own};

/// What a product is checked on.
#[derive(Clone, Copy)]
struct Machine {
    compiler: Compiler,
    mcu: Option<&'static str>,
    abi: Option<&'static str>,
    bits: u32,
    /// The product, with `MIDDLE` where its words are in registers and pointers are still to come.
    source: &'static str,
}

/// Of 8 bits: the product is in r1:r0, r26 is free, X, Z and r18 to r23 are.
const ON_AVR: Machine = Machine {
    compiler: AVR,
    mcu: None,
    abi: None,
    bits: 8,
    source: "f: movw r30, r22\n ld r18, Z\n movw r30, r20\n ld r19, Z\n mul r18, r19\n MIDDLE\n movw r30, r24\n \
             st Z, r0\n std Z+1, r1\n clr r1\n ret\n",
};

/// The same as IAR's compiler calls it: Y is the stack pointer of data.
const ON_IAR: Machine = Machine {
    abi: Some("iar"),
    source: "f: movw r30, r18\n ld r22, Z\n movw r30, r20\n ld r23, Z\n mul r22, r23\n MIDDLE\n movw r30, r16\n \
             st Z, r0\n std Z+1, r1\n ret\n",
    ..ON_AVR
};

/// Of 32 bits: the product is in r3 and r12, r1 and r2 are free.
const ON_ARM: Machine = Machine {
    compiler: ARM,
    bits: 32,
    source: "f: ldr r1, [r1]\n ldr r2, [r2]\n umull r3, r12, r1, r2\n MIDDLE\n stmia r0, {r3, r12}\n bx lr\n",
    ..ON_AVR
};

/// Of 32 bits: the product is in $2 and $3, $5 to $15 are free.
const ON_MIPS: Machine = Machine {
    compiler: MIPS,
    bits: 32,
    source: ".set noreorder\n.set noat\nf: lw $5, 0($5)\n lw $6, 0($6)\n multu $5, $6\n mflo $2\n mfhi $3\n MIDDLE\n \
             sw $2, 0($4)\n sw $3, 4($4)\n jr $31\n nop\n",
    ..ON_AVR
};

/// Of 32 bits: the product is in a3 and a4, a1, a2, a5 and t0 to t6 are free.
const ON_RISCV: Machine = Machine {
    compiler: RISCV,
    bits: 32,
    source: "f: lw a1, 0(a1)\n lw a2, 0(a2)\n mul a3, a1, a2\n mulhu a4, a1, a2\n MIDDLE\n sw a3, 0(a0)\n \
             sw a4, 4(a0)\n ret\n",
    ..ON_AVR
};

impl Machine {
    fn part(self, mcu: &'static str) -> Self {
        Self {
            mcu: Some(mcu),
            ..self
        }
    }

    /// The product with `middle` in it.
    fn object(&self, middle: &str) -> Vec<u8> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("f.s");
        let kind = if self.compiler.gcc == ARM.gcc {
            "%"
        } else {
            "@"
        };
        let body = self.source.replace("MIDDLE", &middle.replace(';', "\n"));
        let text = format!(".text\n.global f\n.type f, {kind}function\n{body}.size f, . - f\n");
        std::fs::write(&path, text).expect("written");
        // One assembler for all parts: it knows every instruction that they have.
        let newest = Compiler {
            flags: &["-mmcu=atxmega128a1"],
            ..AVR
        };
        match self.compiler.gcc == AVR.gcc {
            true => newest.compile(&path, &["-c"]),
            false => self.compiler.compile(&path, &["-c"]),
        }
    }

    /// The same, checked.
    fn audit(&self, middle: &str) -> Audit {
        self.check(&self.object(middle))
    }

    fn check(&self, file: &[u8]) -> Audit {
        let core = self.target().to_core();
        let (spec, loaded) = prepared(file, Question::of("f", self.bits), &core);
        audit::audit(&spec, &core, &loaded)
    }

    fn target(&self) -> Target {
        let names = Names {
            core: self.mcu.is_none().then_some(self.compiler.core),
            mcu: self.mcu,
            abi: self.abi,
            ..Names::default()
        };
        Target::resolve(&names).expect("a target")
    }

    /// With `middle` it is proved.
    fn proves(&self, middle: &str) -> Audit {
        let audit = self.audit(middle);
        assert!(
            audit.judged.proof.holds(),
            "{middle}: {:?}",
            audit.judged.proof
        );
        audit
    }

    /// With `middle` it is not, and a verdict says `why`.
    fn refuses(&self, middle: &str, why: &str) {
        let proof = self.audit(middle).judged.proof;
        let told = [&proof.correct, &proof.memory, &proof.abi].map(Verdict::reason);
        let is_told = told.iter().flatten().any(|text| text.contains(why));
        assert!(!proof.holds() && is_told, "{middle}: {proof:?}");
    }

    /// With `middle` the words that are stored are not known to be the product.
    fn forgets(&self, middle: &str) {
        let proof = self.audit(middle).judged.proof;
        assert!(
            matches!(proof.correct, Verdict::Unknown(_)),
            "{middle}: {proof:?}"
        );
        assert!(
            proof.memory.is_proved() && proof.abi.is_proved(),
            "{middle}: {proof:?}"
        );
    }
}

const LOST: &str = "the stack pointer is no aligned address of the stack";
const HALF: &str = "SP is half written where an interrupt may come";
const NONE: &str = "SP is no address of the stack";

/// X is added to by `by` and goes to SP as avr-gcc writes it.
fn to_sp(by: &str) -> String {
    format!(
        "in r26, 0x3d;in r27, 0x3e;{by};in r20, 0x3f;cli;out 0x3e, r27;out 0x3f, r20;out 0x3d, r26"
    )
}

#[test]
fn what_was_below_a_stack_pointer_does_not_come_back() {
    let lower = to_sp("sbiw r26, 1");
    ON_AVR.proves("push r0;pop r0");
    ON_AVR.forgets(&format!("push r0;pop r20;{lower};pop r0"));
    ON_AVR.forgets(&format!("push r0;{};{lower};pop r0", to_sp("adiw r26, 1")));
    ON_IAR.proves("st -Y, r0;ld r0, Y+");
    ON_IAR.forgets("st -Y, r0;adiw r28, 1;sbiw r28, 1;ld r0, Y+");
    let lower = "in r18, 0x3d;in r19, 0x3e;subi r18, 1;sbci r19, 0;in r20, 0x3f;cli;out 0x3e, r19;out 0x3f, r20;\
                 out 0x3d, r18";
    ON_IAR.forgets(&format!("push r0;pop r22;{lower};pop r0"));
    ON_ARM.proves("str r3, [sp, #-4]!;ldr r3, [sp], #4");
    ON_ARM.forgets("str r3, [sp, #-4]!;add sp, sp, #4;sub sp, sp, #4;ldr r3, [sp], #4");
    ON_ARM.forgets("stmdb sp!, {r3, r12};add sp, sp, #8;sub sp, sp, #4;ldr r12, [sp], #4");
    ON_MIPS.proves("addiu $29, $29, -8;sw $2, 4($29);lw $2, 4($29);addiu $29, $29, 8");
    ON_MIPS.forgets(
        "addiu $29, $29, -8;sw $2, 4($29);addiu $29, $29, 8;addiu $29, $29, -8;lw $2, 4($29);addiu $29, $29, 8",
    );
    ON_RISCV.proves("addi sp, sp, -16;sw a3, 4(sp);lw a3, 4(sp);addi sp, sp, 16");
    ON_RISCV.forgets(
        "addi sp, sp, -16;sw a3, 4(sp);addi sp, sp, 16;addi sp, sp, -16;lw a3, 4(sp);addi sp, sp, 16",
    );
    ON_RISCV.refuses("sw a3, -4(sp);lw a3, -4(sp)", "below the stack pointer");
}

#[test]
fn a_stack_pointer_is_one_whenever_an_interrupt_may_come() {
    let frame = |write: &str| {
        format!("in r26, 0x3d;in r27, 0x3e;sbiw r26, 60;{write};adiw r26, 60;{write}")
    };
    let closed = "in r20, 0x3f;cli;out 0x3e, r27;out 0x3f, r20;out 0x3d, r26";
    let proved = ON_AVR.proves(&frame(closed));
    assert_eq!(proved.judged.proof.stack.bytes, 60);
    ON_AVR.proves(&frame(
        "in r20, 0x3f;cli;out 0x3d, r26;out 0x3e, r27;out 0x3f, r20",
    ));
    // One instruction is executed after I was set again, not two.
    ON_AVR.refuses(
        &frame("in r20, 0x3f;cli;out 0x3e, r27;out 0x3f, r20;nop;out 0x3d, r26"),
        HALF,
    );
    ON_AVR.refuses(&frame("out 0x3e, r27;out 0x3d, r26"), HALF);
    ON_AVR.refuses(&frame("out 0x3d, r26;out 0x3e, r27"), HALF);
    // The hardware of these keeps interrupts out after a write to SPL.
    for mcu in ["atxmega32a4", "atmega4809"] {
        let newer = ON_AVR.part(mcu);
        newer.proves(&frame("out 0x3d, r26;out 0x3e, r27"));
        newer.proves(&frame("out 0x3d, r26;nop;nop;out 0x3e, r27"));
        newer.refuses(&frame("out 0x3d, r26;nop;nop;nop;nop;out 0x3e, r27"), HALF);
        newer.refuses(&frame("out 0x3e, r27;out 0x3d, r26"), HALF);
    }
}

#[test]
fn a_stack_pointer_is_no_register_for_other_things() {
    let keep = "in r26, 0x3d;in r27, 0x3e";
    let back = "out 0x3e, r27;out 0x3f, r20;out 0x3d, r26";
    ON_AVR.refuses(
        &format!("{keep};in r20, 0x3f;cli;out 0x3d, r0;in r0, 0x3d;{back}"),
        NONE,
    );
    ON_AVR.refuses(
        &format!("{keep};in r20, 0x3f;cli;out 0x3e, r25;out 0x3d, r24;{back}"),
        NONE,
    );
    let registers = "clr r21;ldi r22, 30;out 0x3e, r21;out 0x3d, r22";
    ON_AVR.refuses(&format!("{keep};in r20, 0x3f;cli;{registers};{back}"), NONE);
    // Higher than at entry lies what the caller still needs.
    ON_AVR.refuses(
        &format!("{};{}", to_sp("adiw r26, 2"), to_sp("sbiw r26, 2")),
        NONE,
    );
    ON_AVR.refuses("pop r20;push r20", NONE);
    ON_ARM.refuses("mov r2, sp;mov sp, r3;mov r3, sp;mov sp, r2", LOST);
    ON_ARM.refuses("mov r2, sp;mov sp, r0;mov sp, r2", LOST);
    ON_ARM.refuses("sub sp, sp, #2;add sp, sp, #2", LOST);
    ON_ARM.refuses("add sp, sp, #4;sub sp, sp, #4", LOST);
    ON_MIPS.refuses("move $8, $29;move $29, $2;move $2, $29;move $29, $8", LOST);
    ON_MIPS.refuses("move $8, $29;move $29, $4;move $29, $8", LOST);
    ON_MIPS.refuses("addiu $29, $29, -4;addiu $29, $29, 4", LOST);
    ON_MIPS.refuses("addiu $29, $29, 8;addiu $29, $29, -8", LOST);
    ON_RISCV.refuses("mv t0, sp;mv sp, a3;mv a3, sp;mv sp, t0", LOST);
    ON_RISCV.refuses("mv t0, sp;mv sp, a0;mv sp, t0", LOST);
    ON_RISCV.refuses("addi sp, sp, -8;addi sp, sp, 8", LOST);
    ON_RISCV.refuses("addi sp, sp, 16;addi sp, sp, -16", LOST);
}

/// What sp is a multiple of is the convention's to say: 16 in ILP32, 4 in ILP32E.
#[test]
fn a_stack_pointer_is_as_aligned_as_its_convention() {
    for (core, step, fits) in [
        ("rv32i", 16, true),
        ("rv32i", 4, false),
        ("rv32ec", 4, true),
        ("rv32ec", 2, false),
    ] {
        let core = riscv::cores::Core::named(core).expect("a core");
        let request = Request {
            modular: Some(ask::modular("2^96-17", Reduce::Full)),
            ..ask::of(Op::Modadd, 96)
        };
        let whole = known::generate(&request, &any(core)).expect("a kernel");
        let mut program = whole.program.clone();
        let at = program.insns.len() - 1;
        let moved = |k| riscv::code::Insn::immediate(riscv::instructions::Op::ADDI, 2, 2, k);
        program
            .insns
            .splice(at..at, [moved(-step).into(), moved(step).into()]);
        let code = any(core).encode(&program.insns).expect("code");
        let claims = &program.claims;
        let alias = Alias::Distinct;
        let proof = prove::prove_with(&whole.spec, &any(core), &code, claims, alias);
        let lost = proof.abi.reason().is_some_and(|text| text.contains(LOST));
        assert_eq!((proof.holds(), lost), (fits, !fits), "{proof:?}");
    }
}

/// Bytes of stack that a run on numbers counts.
fn counted(machine: &Machine, file: &[u8]) -> usize {
    let core = machine.target().to_core();
    let (spec, loaded) = prepared(file, Question::of("f", machine.bits), &core);
    let operands = [3u8, 5].map(BigUint::from);
    let ran = core.run(&spec, &loaded.function, &operands, Alias::Distinct);
    let (product, cost) = ran.expect("a run");
    assert_eq!(product, BigUint::from(15u8));
    cost.stack.total()
}

#[test]
fn the_depth_of_the_stack_is_how_far_its_pointer_goes() {
    let avr = format!("{};{}", to_sp("sbiw r26, 33"), to_sp("adiw r26, 33"));
    for (machine, middle, bytes) in [
        (ON_ARM, "sub sp, sp, #64;add sp, sp, #64", 64),
        (ON_MIPS, "addiu $29, $29, -64;addiu $29, $29, 64", 64),
        (ON_RISCV, "addi sp, sp, -64;addi sp, sp, 64", 64),
        (ON_AVR, &avr, 33),
        (ON_IAR, "sbiw r28, 21;adiw r28, 21", 21),
    ] {
        let proved = machine.proves(middle).judged.proof.stack.total();
        let counted = counted(&machine, &machine.object(middle));
        assert_eq!([proved, counted], [bytes; 2], "{middle}");
    }
}

#[test]
fn y_has_an_address_too() {
    let lost = "Y, the stack pointer of data";
    ON_IAR.refuses("mov r22, r28;sts 0x1c, r0;sts 0x1c, r22", lost);
    ON_IAR.refuses(
        "mov r22, r29;ldi r30, 0x1d;ldi r31, 0;st Z, r0;st Z, r22",
        lost,
    );
    ON_IAR.proves("sts 0x16, r0;lds r0, 0x16");
}

#[test]
fn interrupts_are_let_in_by_nobody_but_the_caller() {
    let opened = "I is set";
    ON_AVR.proves("in r20, 0x3f;cli;out 0x3f, r20");
    ON_AVR.refuses("in r20, 0x3f;sei;out 0x3f, r20", opened);
    ON_AVR.refuses("in r20, 0x3f;cli;sei;nop;out 0x3f, r20", opened);
    ON_AVR.refuses(
        "in r20, 0x3f;mov r21, r20;ori r21, 0x80;out 0x3f, r21;out 0x3f, r20",
        opened,
    );
    ON_AVR.refuses("cli", "the interrupt flag is not restored");
    ON_AVR.refuses("sleep", "sleep");
}

/// What the program's start set, threads and interrupt handlers rely on, even while it holds another word for a moment.
#[test]
fn registers_of_the_whole_program_are_not_written() {
    for register in ["gp", "tp"] {
        let aside = format!("mv t0, {register};mv {register}, a3;mv a3, {register}");
        ON_RISCV.refuses(&format!("{aside};mv {register}, t0"), "gp or tp");
    }
    ON_RISCV.proves("mv t0, s0;mv s0, a3;mv a3, s0;mv s0, t0");
    ON_RISCV.refuses("mv s0, a3", "s0 is not restored");
}

#[test]
fn registers_of_interrupt_handlers_hold_anything() {
    ON_MIPS.proves("move $8, $26");
    ON_MIPS.proves("subu $8, $27, $27;addu $3, $3, $8");
    ON_MIPS.forgets("move $8, $26;subu $8, $8, $26;addu $3, $3, $8");
    ON_MIPS.forgets("move $8, $27;subu $8, $27, $8;addu $3, $3, $8");
    ON_MIPS.refuses("move $26, $2;move $2, $26", "$k0 or $k1");
    ON_MIPS.refuses(
        "move $8, $27;move $27, $2;move $2, $27;move $27, $8",
        "$k0 or $k1",
    );
}

#[test]
fn pages_are_given_back_and_data_lies_in_the_first() {
    let paged = ON_AVR.part("atxmega128a1");
    paged.proves("ldi r20, 1;out 0x3b, r20;ldi r20, 0;out 0x3b, r20");
    paged.refuses("ldi r20, 1;out 0x3b, r20", "RAMPZ is not 0");
    let load = "ldi r20, 1;out 0x3b, r20;movw r30, r22;ld r21, Z;ldi r20, 0;out 0x3b, r20";
    paged.refuses(load, "RAMPZ is not 0");
    // X has a page of its own, which is 0.
    let load = load.replace("r30", "r26").replace("Z", "X");
    paged.proves(&load);
    let leaves = "movw r30, r24;st Z, r0;std Z+1, r1;ldi r20, 1;out 0x3b, r20;clr r1;ret";
    paged.refuses(leaves, "RAMPZ is not 0 at return");
    // Nobody needs it where it only reads program memory, and nobody says what it holds.
    ON_AVR.proves(leaves);
    let wide = ON_AVR.part("atmega2560");
    wide.proves("ldi r20, 1;out 0x3c, r20;ldi r20, 0;out 0x3c, r20");
    wide.refuses("ldi r20, 1;out 0x3c, r20", "EIND is not 0 at return");
    let iar = Machine {
        mcu: Some("atmega2560"),
        ..ON_IAR
    };
    iar.proves("ldi r22, 1;out 0x3c, r22");
}

#[test]
fn a_part_has_not_what_larger_ones_have() {
    // Their addresses are those of GIMSK, CCP or nothing.
    for (mcu, address) in [
        ("atmega328p", 0x3b),
        ("atmega328p", 0x3c),
        ("atmega128", 0x3c),
        ("atmega4809", 0x3b),
        ("atxmega32a4", 0x3b),
    ] {
        let part = ON_AVR.part(mcu);
        part.refuses(
            &format!("ldi r20, 0;out {address}, r20"),
            "which is no operand",
        );
        part.refuses(&format!("in r20, {address}"), "which is no operand");
    }
    let jump = "jmp 1f;1:";
    let call = "call 1f;rjmp 2f;1: ret;2:";
    for (mcu, middle, name) in [
        ("atmega8", jump, "JMP"),
        ("atmega88", jump, "JMP"),
        ("atmega48", call, "CALL"),
        ("attiny814", call, "CALL"),
    ] {
        let why = format!("{name} is not an instruction of {mcu}");
        ON_AVR.part(mcu).refuses(middle, &why);
    }
    ON_AVR.part("atmega168").proves(call);
    ON_AVR.part("atmega168").proves(jump);
    let far = "ldi r20, 0;out 0x3b, r20;clr r30;clr r31;elpm r20, Z";
    ON_AVR.proves(far);
    let near = "clr r30;clr r31;elpm r20, Z";
    ON_AVR
        .part("atmega328p")
        .refuses(near, "ELPM is not an instruction of atmega328p");
    ON_AVR
        .part("atxmega32a4")
        .refuses(near, "ELPM is not an instruction of atxmega32a4");
    // What a part has more than its core's namesake is there on that core, too.
    for (mcu, core) in [
        ("atxmega64a3u", "atxmega32a4"),
        ("avr128da28", "atmega4809"),
    ] {
        let audit = ON_AVR.part(mcu).proves(far);
        let timing = audit.judged.constant_time.iter();
        let own = timing
            .filter(|(name, _)| name == core)
            .map(|(_, timing)| &timing.leak);
        assert_eq!(own.collect::<Vec<_>>(), [&None], "{mcu}");
    }
    // Without RAMPZ being set, it is what somebody left there.
    ON_AVR.refuses(near, "an address depends");
    let trusting = "in r20, 0x3b;add r0, r20";
    let wrong = ON_AVR.audit(trusting).judged.proof.correct;
    assert!(matches!(wrong, Verdict::Disproved(_)), "{wrong:?}");
}

/// A product that avr-gcc keeps in a frame of 70 bytes.
const FRAMED: &str = "#include <stdint.h>
void f(uint8_t *r, const uint8_t *a, const uint8_t *b) {
    volatile uint8_t t[70];
    uint16_t p = (uint16_t)a[0] * b[0];
    t[0] = p;
    t[1] = p >> 8;
    r[0] = t[0];
    r[1] = t[1];
}
";

/// avr-gcc clears I around a write to SP, and on XMEGA rests on the hardware instead.
#[test]
fn frames_of_the_compiler_are_proved() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("f.c");
    std::fs::write(&path, FRAMED).expect("written");
    let of = |flags: &'static [&'static str]| Compiler { flags, ..AVR };
    for (mcu, compiler) in [
        ("atmega328p", of(&["-mmcu=atmega328p", "-O1"])),
        ("atmega2560", of(&["-mmcu=atmega2560", "-O1"])),
        ("atxmega32a4", of(&["-mmcu=atxmega32a4", "-O1"])),
        ("atxmega128a1", of(&["-mmcu=atxmega128a1", "-O1"])),
    ] {
        let file = compiler.compile(&path, &["-c"]);
        let proof = ON_AVR.part(mcu).check(&file).judged.proof;
        assert!(proof.holds() && proof.stack.bytes == 72, "{mcu}: {proof:?}");
        let other = ON_AVR.part("atmega328p").check(&file).judged.proof;
        let is_closed = !mcu.starts_with("atxmega");
        assert_eq!(other.holds(), is_closed, "{mcu} on atmega328p: {other:?}");
    }
}

/// Terms of a solver are not compared: a frame does not stop the export, SEI does.
#[test]
fn a_frame_is_exported() {
    let frame = format!("{};{}", to_sp("sbiw r26, 9"), to_sp("adiw r26, 9"));
    let core = core_named("atmega128");
    let export = |middle: &str| {
        let (spec, loaded) = prepared(&ON_AVR.object(middle), Question::of("f", 8), &core);
        smt::script(&spec, &core, &loaded.function)
    };
    assert!(export(&frame).is_ok_and(|script| script.contains("check-sat")));
    assert!(export("sei").is_err_and(|text| text.contains("I is set")));
}

/// `gen montmul 256 --modulus p256 --style rolled` without an instruction.
fn montmul(core: &Core, drop: Option<usize>) -> kernel::Kernel {
    let modular = Modular {
        modulus: "p256".parse::<Modulus>().expect("a modulus"),
        reduce: Reduce::Full,
        shift: 0,
        times: 0,
    };
    let request = Request {
        modular: Some(modular),
        method: Some("hfips".into()),
        params: [("d".to_string(), 4)].into_iter().collect(),
        style: Some(Style::Rolled),
        drop,
        ..ask::of(Op::Montmul, 256)
    };
    known::generate(&request, &any(core)).expect("a kernel")
}

#[test]
fn a_frame_without_cli_is_not_proved() {
    let whole = montmul(&ATMEGA128, None);
    assert!(whole.is_proved());
    let insns: Vec<Insn> = own(&whole.program.insns);
    let clis = (0..insns.len()).filter(|i| insns[*i].op == AvrOp::BCLR && insns[*i].ops.b == 7);
    let clis: Vec<_> = clis.collect();
    assert_eq!(clis.len(), 2, "a frame is made and taken back");
    let is_refused = |proof: &Proof| {
        let told = proof.abi.reason().is_some_and(|text| text.contains(HALF));
        assert!(!proof.holds() && told, "{proof:?}");
    };
    is_refused(&montmul(&ATMEGA128, Some(clis[0])).proof);
    for cli in clis {
        let mut program = whole.program.clone();
        program.insns[cli] = Insn::rr(AvrOp::NOP, 0, 0).into();
        let code = any(&ATMEGA128).encode(&program.insns).expect("code");
        let claims = &program.claims;
        let alias = Alias::Distinct;
        is_refused(&prove::prove_with(
            &whole.spec,
            &any(&ATMEGA128),
            &code,
            claims,
            alias,
        ));
    }
}

/// The tables of SOUNDNESS.md are those that runs are made from.
#[test]
fn the_document_has_the_tables_of_what_is_assumed() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("SOUNDNESS.md");
    let text = std::fs::read_to_string(path).expect("SOUNDNESS.md");
    let of = |core: &Core| avr::assumed::table(core);
    for table in [
        of(&ATMEGA128),
        of(&avr::cores::ATTINY10),
        of(&ATMEGA128.called(&avr::abi::IAR)),
        arm::assumed::table(),
        mips::assumed::table(),
        riscv::assumed::table(),
        msp430::assumed::table(),
    ] {
        assert!(
            table.lines().count() > 5 && text.contains(&table),
            "not in SOUNDNESS.md:\n{table}"
        );
    }
}
