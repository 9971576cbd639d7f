//! Operations other than a product of two numbers of one length, in C on every machine.

use crate::tools::{ARM, AVR, Compiler, MIPS, Question, check};
use lozenge::prove::Verdict;
use lozenge::spec::{Op, Size};

const LEVELS: [&str; 3] = ["-Os", "-O2", "-O3"];
/// Loops that set words to 0 stay loops, not calls of memset.
const NO_MEMSET: &str = "-fno-tree-loop-distribute-patterns";

/// The questions about ops.c, with words of `bits` bits and `words` of them.
fn questions(bits: u32, words: u32) -> Vec<Question<'static>> {
    let size = bits * words;
    let oblong = Size {
        a: size,
        b: 2 * bits,
    };
    let length = match bits {
        8 => "r,a,b,n8",
        16 => "r,a,b,n16",
        _ => "r,a,b,n32",
    };
    let ask = |symbol, op, arguments| Question {
        op,
        arguments,
        ..Question::of(symbol, size)
    };
    vec![
        ask("square", Op::Sqr, "r,a"),
        ask("square_doubled", Op::Sqr, "r,a"),
        ask("square_rows", Op::Sqr, "r,a"),
        ask("low", Op::Mullo, "r,a,b"),
        ask("high", Op::Mulhi, "r,a,b"),
        Question::of("oblong", oblong),
        ask("add", Op::Add, "r,a,b"),
        ask("add_n", Op::Add, length),
        ask("sub", Op::Sub, "r,a,b"),
        ask("sub_n", Op::Sub, length),
    ]
}

/// All are proved, but perhaps those named in `open`, by level or at every level (""): compilers make
/// something of them there that the algebra does not follow. These are right on many numbers, and
/// said to be unknown.
fn all_are_proved(compiler: &Compiler, bits: u32, words: u32, open: &[(&str, &str)]) {
    let (mut unknown, mut proved) = (Vec::new(), 0);
    for level in LEVELS {
        let file = compiler.operations(bits, words, &[level, NO_MEMSET]);
        for question in questions(bits, words) {
            let question = Question {
                align: Some(8),
                limb_bits: Some(bits),
                ..question
            };
            let audit = check(&file, compiler.core, question).expect("a function");
            let proof = &audit.judged.proof;
            let name = format!("{level}: {}: {:?}", question.symbol, proof.correct);
            let is_open = |(at, symbol): &(&str, &str)| {
                *symbol == question.symbol && (at.is_empty() || *at == level)
            };
            match &proof.correct {
                Verdict::Proved if proof.holds() => proved += 1,
                Verdict::Unknown(text) if open.iter().any(is_open) => {
                    assert!(text.contains("pairs gave the right result"), "{name}");
                    println!("{name}");
                }
                _ => unknown.push(name),
            }
        }
    }
    println!("{} in {bits}-bit words: {proved} proved", compiler.gcc);
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

/// Comparisons of words become branches, and `add_n` and `sub_n` are made of them.
#[test]
fn avr_in_bytes() {
    let open = [("", "add_n"), ("", "sub_n"), ("-O3", "add"), ("-O3", "sub")];
    all_are_proved(&AVR, 8, 8, &open);
}

/// `sub_n` asks whether a word is higher than another: a flag of two conditions.
#[test]
fn arm_in_words() {
    all_are_proved(&ARM, 32, 5, &[("", "sub_n")]);
}

/// Sums of narrow words, in registers that are twice as wide or more.
#[test]
fn arm_in_halfwords() {
    let open = [
        ("", "square_rows"),
        ("", "add_n"),
        ("", "sub"),
        ("", "sub_n"),
        ("-O2", "square"),
        ("-O2", "square_doubled"),
        ("-O3", "square_doubled"),
    ];
    all_are_proved(&ARM, 16, 6, &open);
}

#[test]
fn mips_in_words() {
    all_are_proved(&MIPS, 32, 5, &[]);
}

/// As for halfwords.
#[test]
fn mips_in_bytes() {
    let open = [
        ("", "square_rows"),
        ("", "sub"),
        ("", "sub_n"),
        ("-O3", "square_doubled"),
    ];
    all_are_proved(&MIPS, 8, 6, &open);
}

/// What is wrong in words or in the carry alone, with operands that show it.
#[test]
fn wrong_ones_are_disproved() {
    for (compiler, bits) in [(AVR, 8), (ARM, 32), (MIPS, 32)] {
        let file = compiler.operations(bits, 4, &["-O2", NO_MEMSET]);
        for (symbol, op, arguments) in [
            ("add_silent", Op::Add, "r,a,b"),
            ("add_lost", Op::Add, "r,a,b"),
            ("sub_mask", Op::Sub, "r,a,b"),
            ("add", Op::Sub, "r,a,b"),
            ("square_wrong", Op::Sqr, "r,a"),
            ("low", Op::Mulhi, "r,a,b"),
            ("high", Op::Mullo, "r,a,b"),
        ] {
            let question = Question {
                op,
                arguments,
                ..Question::of(symbol, 4 * bits)
            };
            let audit = check(&file, compiler.core, question).expect("a function");
            let Verdict::Disproved(text) = &audit.judged.proof.correct else {
                panic!("{compiler:?}: {symbol}: {:?}", audit.judged.proof);
            };
            let shown = text.contains("expected 0x") && text.contains("got 0x");
            assert!(shown, "{symbol}: {text}");
            // Behind the operands, what the algebra left open: it had not proved this.
            assert!(text.contains("; "), "{symbol}: {text}");
        }
    }
}

/// The result may lie over an operand where words are read before they are written.
#[test]
fn sums_in_place() {
    for (compiler, bits) in [(AVR, 8), (ARM, 32), (MIPS, 32)] {
        let file = compiler.operations(bits, 4, &["-Os", NO_MEMSET]);
        for op in [Op::Add, Op::Sub] {
            let question = Question {
                op,
                ..Question::of(op.name(), 4 * bits)
            };
            let audit = check(&file, compiler.core, question).expect("a function");
            let allowed = audit.judged.aliasing.iter().filter(|case| case.allowed);
            assert_eq!(
                allowed.count(),
                4,
                "{compiler:?}: {:?}",
                audit.judged.aliasing
            );
        }
    }
}
