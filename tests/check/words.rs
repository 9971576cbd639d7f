//! Words by value, and operands in place, as libraries pass them.

use lozenge::prove::{Proof, Verdict};
use lozenge::spec::{Op, Size};

use crate::check::tools::{ARM, AVR, Compiler, MIPS, NO_MEMSET, Question, RISCV, check};

/// Functions of words.c, what they compute, and how they are called.
const CALLS: [(&str, Op, &str); 12] = [
    ("core_mla", Op::Addmul, "r=a,n:SIZE,b,n:SIZE,=s"),
    ("addmul_1", Op::Addmul, "r=a,b,n:LONG,=s"),
    ("submul_1", Op::Submul, "r=a,b,n:LONG,=s"),
    ("mul_1", Op::Mulword, "r,a,n:LONG,=s"),
    ("vli_add", Op::Add, "r,a,b,n:1"),
    ("add_nc", Op::Addc, "r,a,b,n:LONG,=s"),
    ("sub_nc", Op::Subb, "r,a,b,n:LONG,=s"),
    ("add_two", Op::Add, "r,a,4:LONG,b,2:LONG"),
    ("sub_1", Op::Sub, "r,a,n:LONG,=b"),
    ("swap_if", Op::Swap, "r=a,n:LONG,=s"),
    ("add_if", Op::Addif, "r=a,b,n:SIZE,=s"),
    ("assign_if", Op::Select, "r=a,b,n:LONG,=s"),
];

const COMPILERS: [(Compiler, u32); 4] = [(AVR, 8), (ARM, 32), (MIPS, 32), (RISCV, 32)];

/// The sizes of a and b: of two functions the second one is shorter.
fn sizes(symbol: &str, bits: u32) -> Size {
    let b = match symbol {
        "add_two" => 2,
        "sub_1" => 1,
        _ => 4,
    };
    Size {
        a: 4 * bits,
        b: b * bits,
    }
}

/// The arguments with the sizes of `size_t` and `long`.
fn arguments(compiler: Compiler, text: &str) -> String {
    let size = if compiler.gcc == AVR.gcc { "2" } else { "4" };
    text.replace("SIZE", size).replace("LONG", "4")
}

/// What is said of a function of `file` in this contract.
fn proof(
    (compiler, bits): (Compiler, u32),
    file: &[u8],
    (symbol, op, text): (&str, Op, &str),
) -> Proof {
    let arguments = arguments(compiler, text);
    let question = Question {
        op,
        arguments: &arguments,
        limb_bits: Some(bits),
        align: None,
        ..Question::of(symbol, sizes(symbol, bits))
    };
    let audit = check(file, compiler.core, question);
    audit.expect("a function").judged.proof
}

#[test]
fn words_by_value_are_proved() {
    for (compiler, bits) in COMPILERS {
        for level in ["-Os", "-O2"] {
            let file = compiler.whole("words.c", bits, 4, &[level, NO_MEMSET]);
            for call in CALLS {
                let proof = proof((compiler, bits), &file, call);
                assert!(proof.holds(), "{compiler:?} {level}: {call:?}: {proof:?}");
            }
        }
    }
}

#[test]
fn words_by_value_are_disproved() {
    for (compiler, bits) in COMPILERS {
        let file = compiler.whole("words.c", bits, 4, &["-O2", NO_MEMSET]);
        for call in [
            ("addmul_lost", Op::Addmul, "r=a,b,n:LONG,=s"),
            ("addmul_1", Op::Submul, "r=a,b,n:LONG,=s"),
            ("mul_1", Op::Addmul, "r=a,b,n:LONG,=s"),
            ("add_nc", Op::Subb, "r,a,b,n:LONG,=s"),
            ("assign_if", Op::Addif, "r=a,b,n:LONG,=s"),
        ] {
            let correct = proof((compiler, bits), &file, call).correct;
            let wrong = matches!(correct, Verdict::Disproved(_));
            assert!(wrong, "{compiler:?}: {call:?}: {correct:?}");
        }
    }
}
