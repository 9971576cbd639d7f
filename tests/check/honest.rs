//! What a file does not say is not made up: undefined, common and weak symbols, what lies between
//! sections, addresses of objects, functions of one name. Each of these programs is right but for the one
//! thing that it takes for granted.

use std::path::PathBuf;

use lozenge::load::LoadError;
use lozenge::prove::{Proof, Verdict};

use crate::check::tools::{ARM, AVR, Compiler, MIPS, Question, RISCV, check};

/// One instruction set: how it multiplies words, and the parts that the programs here are made of.
struct Machine {
    compiler: Compiler,
    bits: u32,
    kind: char,
    /// The product, without the return; and the return.
    product: &'static str,
    back: &'static str,
    /// Reads the word or byte called `v`, and returns unless it is what follows.
    reads: &'static str,
    /// The same of nothing: the word is read and left alone.
    looks: &'static str,
    /// Goes to the function `g`.
    goes: &'static str,
}

const MACHINES: [Machine; 4] = [
    Machine {
        compiler: AVR,
        bits: 8,
        kind: '@',
        product: "movw r30, r22\n ld r18, Z\n movw r30, r20\n ld r19, Z\n mul r18, r19\n \
                  movw r30, r24\n st Z, r0\n std Z+1, r1\n clr r1\n",
        back: "ret\n",
        reads: "lds r18, v\n cpi r18, WANT\n breq 1f\n ret\n1:\n",
        looks: "lds r18, v\n",
        goes: "jmp g\n",
    },
    Machine {
        compiler: ARM,
        bits: 32,
        kind: '%',
        product: "ldr r1, [r1]\n ldr r2, [r2]\n umull r3, r12, r1, r2\n stmia r0, {r3, r12}\n",
        back: "bx lr\n",
        reads: "ldr r3, 2f\n ldrb r3, [r3]\n cmp r3, #WANT\n beq 1f\n bx lr\n2: .word v\n1:\n",
        looks: "ldr r3, 2f\n ldr r3, [r3]\n b 1f\n2: .word v\n1:\n",
        goes: "b g\n",
    },
    Machine {
        compiler: MIPS,
        bits: 32,
        kind: '@',
        product: "lw $5, 0($5)\n lw $6, 0($6)\n multu $5, $6\n mflo $2\n mfhi $3\n \
                  sw $2, 0($4)\n sw $3, 4($4)\n",
        back: "jr $31\n nop\n",
        reads: "lui $8, %hi(v)\n lbu $8, %lo(v)($8)\n li $9, WANT\n beq $8, $9, 1f\n nop\n jr $31\n nop\n1:\n",
        looks: "lui $8, %hi(v)\n lw $8, %lo(v)($8)\n",
        goes: "j g\n nop\n",
    },
    Machine {
        compiler: RISCV,
        bits: 32,
        kind: '@',
        product: "lw a1, 0(a1)\n lw a2, 0(a2)\n mul a3, a1, a2\n mulhu a4, a1, a2\n sw a3, 0(a0)\n sw a4, 4(a0)\n",
        back: "ret\n",
        reads: "lui t0, %hi(v)\n lbu t0, %lo(v)(t0)\n li t1, WANT\n beq t0, t1, 1f\n ret\n1:\n",
        looks: "lui t0, %hi(v)\n lw t0, %lo(v)(t0)\n",
        goes: "j g\n",
    },
];

impl Machine {
    /// A function `name` of this body in a section of its own.
    fn function(&self, name: &str, scope: &str, body: &str) -> String {
        let mode = match self.compiler.gcc {
            gcc if gcc == MIPS.gcc => ".set noreorder\n",
            // A linker that relaxes reads through gp.
            gcc if gcc == RISCV.gcc => ".option norelax\n",
            _ => "",
        };
        format!(
            "{mode}.section .text.{name}, \"ax\"\n.p2align 2\n{scope} {name}\n.type {name}, {}function\n\
             {name}: {body} .size {name}, . - {name}\n",
            self.kind
        )
    }

    /// The product after `before`.
    fn f(&self, before: &str) -> String {
        let body = format!("{before} {}{}", self.product, self.back);
        self.function("f", ".global", &body)
    }

    /// Sources as one file.
    fn file(&self, sources: &[&str], flags: &[&str]) -> Vec<u8> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let written = sources.iter().enumerate().map(|(i, text)| {
            let path = folder.path().join(format!("{i}.s"));
            std::fs::write(&path, text).expect("written");
            path
        });
        let paths: Vec<PathBuf> = written.collect();
        let more = paths[1..].iter().filter_map(|path| path.to_str());
        let flags: Vec<&str> = more.chain(flags.iter().copied()).collect();
        self.compiler.compile(&paths[0], &flags)
    }

    fn proof_of(&self, file: &[u8], symbol: &str) -> Proof {
        let question = Question::of(symbol, self.bits);
        let audit = check(file, self.compiler.core, question).expect("a function");
        audit.judged.proof
    }

    /// The proof of `f` of an object.
    fn proof(&self, source: &str) -> Proof {
        self.proof_of(&self.file(&[source], &["-c"]), "f")
    }

    fn proved(&self, source: &str) {
        let proof = self.proof(source);
        assert!(proof.holds(), "{source}: {proof:?}");
    }

    /// Neither right nor wrong is known, for this reason.
    fn unknown(&self, source: &str, reason: &str) {
        let proof = self.proof(source);
        let Verdict::Unknown(text) = &proof.correct else {
            panic!("{source}: {proof:?}");
        };
        assert!(text.contains(reason), "{text}");
        assert!(!proof.memory.is_proved(), "{proof:?}");
    }
}

/// The program before anything is wrong with it, and with a constant that is one.
#[test]
fn what_the_file_says_is_read() {
    for machine in &MACHINES {
        machine.proved(&machine.f(""));
        let reads = machine.reads.replace("WANT", "77");
        let table = ".section .rodata\n.p2align 2\nv: .byte 77, 0, 0, 0\n";
        machine.proved(&format!("{}{table}", machine.f(&reads)));
    }
}

#[test]
fn an_undefined_symbol_in_data_is_named() {
    for machine in &MACHINES {
        // All ones, the linker willing.
        let reads = machine.reads.replace("WANT", "255");
        let word = if machine.bits == 8 { ".word" } else { ".long" };
        let table = format!(".section .rodata\n.p2align 2\nv: {word} elsewhere\n");
        let source = format!("{}{table}", machine.f(&reads));
        machine.unknown(&source, "it needs elsewhere, which is not in this file");
    }
}

#[test]
fn common_symbols_have_no_place() {
    for machine in &MACHINES {
        let source = format!(".comm v, 4, 4\n{}", machine.f(machine.looks));
        machine.unknown(
            &source,
            "it needs v, a common symbol, which a linker places",
        );
    }
}

#[test]
fn a_weak_callee_may_be_another() {
    for machine in &MACHINES {
        let product = format!("{}{}", machine.product, machine.back);
        for (scope, weak) in [(".weak", true), (".global", false)] {
            let f = machine.function("f", ".global", machine.goes);
            let source = format!("{f}{}", machine.function("g", scope, &product));
            match weak {
                true => machine.unknown(&source, "it needs g, which is weak"),
                false => machine.proved(&source),
            }
        }
    }
}

#[test]
fn a_section_called_got_is_a_variable() {
    for machine in &MACHINES {
        let reads = machine.reads.replace("WANT", "1");
        let table = ".section .got, \"aw\"\n.p2align 2\nv: .byte 1, 0, 0, 0\n";
        let source = format!("{}{table}", machine.f(&reads));
        let mut files = vec![machine.file(&[&source], &["-c"])];
        if machine.bits == 32 {
            let flags = ["-nostartfiles", "-static", "-Wl,-e,f"];
            files.push(machine.file(&[&source], &flags));
        }
        for file in files {
            let proof = machine.proof_of(&file, "f");
            let Verdict::Disproved(text) = &proof.memory else {
                panic!("{proof:?}");
            };
            assert!(text.contains("the variable at 0x"), "{text}");
            assert!(!proof.correct.is_proved());
        }
    }
}

/// What follows a section is for the linker to say, and between sections are no NOPs.
#[test]
fn code_ends_with_its_section() {
    for machine in &MACHINES {
        let f = machine.function("f", ".global", machine.product);
        for align in ["", ".p2align 6\n"] {
            let back = format!("{align}{}", machine.back);
            let source = format!("{f}{}", machine.function("g", ".global", &back));
            machine.unknown(&source, "it runs off the end of a section");
        }
        let source = format!("{f}{}", machine.function("g", ".global", machine.back));
        let flags = [
            "-nostartfiles",
            "-static",
            "-Wl,-e,f",
            "-Wl,--section-start=.text.f=0x8000",
            "-Wl,--section-start=.text.g=0x8100",
        ];
        // Sections of a linked program that adjoin do, and others do not.
        let script =
            "SECTIONS { .text.f 0x8000 : { *(.text.f) } .text.g 0x8100 : { *(.text.g) } }\n";
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("script.ld");
        std::fs::write(&path, script).expect("written");
        let script = format!("-Wl,-T,{}", path.display());
        let file = machine.file(&[&source], &[flags[0], flags[1], flags[2], &script]);
        let proof = machine.proof_of(&file, "f");
        let Verdict::Unknown(text) = &proof.correct else {
            panic!("{proof:?}");
        };
        assert!(text.contains("no section of the file lies there"), "{text}");
    }
}

/// Objects lie at an address that nobody knows: 0 is not in them, nor is any number.
#[test]
fn numbers_are_no_addresses_of_an_object() {
    let numbers = ["0", "0x8", "0x400000", "0x400008"];
    for (machine, read) in [
        (
            &MACHINES[1],
            "ldr r3, 2f\n ldr r3, [r3]\n b 1f\n2: .word NUMBER\n1:\n",
        ),
        (&MACHINES[2], "li $8, NUMBER\n lw $8, 0($8)\n"),
        (&MACHINES[3], "li t0, NUMBER\n lw t0, 0(t0)\n"),
    ] {
        for number in numbers {
            let proof = machine.proof(&machine.f(&read.replace("NUMBER", number)));
            let Verdict::Disproved(text) = &proof.memory else {
                panic!("{number}: {proof:?}");
            };
            assert!(text.contains("which is no operand"), "{text}");
            assert!(!proof.correct.is_proved());
        }
    }
    // A jump to a number is none to code that lies somewhere.
    let source = MACHINES[2].function("f", ".global", ".word 0x08100002\n nop\n");
    let source = source.replace(
        ".size",
        &format!("{}{} .size", MACHINES[2].product, MACHINES[2].back),
    );
    let proof = MACHINES[2].proof(&source);
    let Verdict::Unknown(text) = &proof.correct else {
        panic!("{proof:?}");
    };
    assert!(text.contains("a jump to a number"), "{text}");
}

/// A linker takes the global one of two functions of one name.
#[test]
fn a_local_function_does_not_hide_a_global_one() {
    for machine in &MACHINES {
        let right = machine.function(
            "f",
            ".local",
            &format!("{}{}", machine.product, machine.back),
        );
        let wrong = machine.function("f", ".global", machine.back);
        let file = machine.file(&[&right, &wrong], &["-r"]);
        let proof = machine.proof_of(&file, "f");
        assert!(!proof.correct.is_proved(), "{proof:?}");
        let file = machine.file(
            &[
                &wrong.replace(".global", ".local"),
                &right.replace(".local", ".global"),
            ],
            &["-r"],
        );
        let proof = machine.proof_of(&file, "f");
        assert!(proof.holds(), "{proof:?}");
    }
}

#[test]
fn two_local_functions_of_one_name_are_listed() {
    for machine in &MACHINES {
        let product = format!("{}{}", machine.product, machine.back);
        let right = machine.function("f", ".local", &product);
        let wrong = machine.function("f", ".local", machine.back);
        let file = machine.file(&[&wrong, &right.replace(".text.f", ".text.z")], &["-r"]);
        let question = Question::of("f", machine.bits);
        let error = check(&file, machine.compiler.core, question).map(|_| ());
        let Err(LoadError::Ambiguous { places, .. }) = &error else {
            panic!("{error:?}");
        };
        let text = error
            .as_ref()
            .err()
            .map(ToString::to_string)
            .unwrap_or_default();
        assert!(
            text.contains("2 local functions are called f: say which, as --symbol .text"),
            "{text}"
        );
        let proofs = places
            .iter()
            .map(|place| machine.proof_of(&file, place).holds());
        let mut held: Vec<bool> = proofs.collect();
        held.sort_unstable();
        assert_eq!(held, [false, true], "{places:?}");
    }
}

/// Only callers of position-independent code put its address into $t9.
#[test]
fn t9_is_anything_where_no_caller_sets_it() {
    let machine = &MACHINES[2];
    let proof = machine.proof(&machine.f("lw $8, 0($25)\n"));
    let text = proof.correct.reason().unwrap_or_default();
    assert!(
        text.contains("an address depends on $t9 at entry"),
        "{proof:?}"
    );
}
