//! How many wrong kernels get evidence: each instruction of compiled C in turn does nothing, and what is
//! not proved is to be disproved, by operands or by what it does to memory and registers.

use std::process::Command;

use crate::tools::{ARM, AVR, Compiler, MIPS, NO_MEMSET, Question, on_core, prepared};
use lozenge::emit::ObjectFormat;
use lozenge::isa::Isa;
use lozenge::kernel::{self, Search};
use lozenge::prove::{self, Verdict};
use lozenge::spec::Op;
use lozenge::target::OnIsa;

/// Some hundred operands.
const SEARCH: Search = Search {
    proved: 300,
    open: 300,
    told: false,
};

/// A file, a function of it, and an instruction that does nothing.
struct Nops<'a>(&'a [u8], Question<'a>, &'static [u8]);

/// How many mutants are proved, disproved, neither.
type Counts = [usize; 3];

impl OnIsa for Nops<'_> {
    type Output = Counts;

    fn call<I: Isa>(self, core: &I::Core, format: &ObjectFormat) -> Counts {
        let Nops(file, question, nop) = self;
        let (spec, loaded) = prepared::<I>(file, question, core, format);
        let entry = loaded.function.entry;
        let own = loaded.symbols.iter().find(|(at, ..)| *at == entry);
        let (start, bytes, _) = own.expect("the function");
        let (mut counts, mut at) = ([0; 3], *start);
        while at < start + bytes {
            let mut function = loaded.function.clone();
            // Constants behind the code are none.
            let Some((insn, len)) = prove::instruction::<I>(core, &function, at as usize) else {
                break;
            };
            let first = (at - function.start()) as usize;
            let mut code = function.code.to_vec();
            for chunk in code[first..first + len].chunks_mut(nop.len()) {
                chunk.copy_from_slice(nop);
            }
            function.code = code.into();
            function.limit = 20_000;
            let (proof, found) = kernel::verdict::<I>(&spec, core, &function, SEARCH);
            let seen = [&proof.correct, &proof.memory, &proof.abi];
            let wrong =
                |v: &&&Verdict| matches!(v, Verdict::Disproved(_) | Verdict::Unpredictable(_));
            let seen = seen.iter().any(|v| wrong(&v));
            let verdict = match (proof.correct.is_proved(), seen) {
                (true, false) => 0,
                (_, true) => 1,
                (false, false) => {
                    let (text, name) = (I::text(&insn), question.symbol);
                    println!("{name} without {at:#x}: {text}: {:?}", proof.correct);
                    2
                }
            };
            assert!(
                !(proof.holds() && found.wrong.is_some()),
                "{:?}",
                found.wrong
            );
            counts[verdict] += 1;
            at += len as u64;
        }
        counts
    }
}

/// Mutants of a kernel that `gen` makes, whose object holds the claims of its method.
fn own(compiler: &Compiler, (op, bits, method): (Op, u32, &str), nop: &'static [u8]) -> Counts {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let line = format!("gen {} {bits} --method {method} -p levels=1", op.name());
    let made = Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .args(line.split_whitespace())
        .args(["--variable-time", "--core", compiler.core])
        .current_dir(folder.path())
        .output();
    let made = made.expect("the binary runs");
    assert!(made.status.success(), "{made:?}");
    let symbol = format!("{}{bits}", op.name());
    let file = std::fs::read(folder.path().join(format!("{symbol}.o"))).expect("an object");
    let question = Question {
        op,
        arguments: if op == Op::Sqr { "r,a" } else { "r,a,b" },
        ..Question::of(&symbol, bits)
    };
    on_core(compiler.core, Nops(&file, question, nop))
}

/// Mutants of six functions in words of `bits` bits; README has the sums of all counts.
fn rate(compiler: &Compiler, bits: u32, nop: &'static [u8]) -> Counts {
    let [mul, ops] = ["mul.c", "ops.c"].map(|c| compiler.whole(c, bits, 4, &["-O2", NO_MEMSET]));
    let mut sum = [0; 3];
    for (file, symbol, op, arguments) in [
        (&mul, "school", Op::Mul, "r,a,b"),
        (&mul, "comba", Op::Mul, "r,a,b"),
        (&ops, "square", Op::Sqr, "r,a"),
        (&ops, "square_rows", Op::Sqr, "r,a"),
        (&ops, "add_n", Op::Add, "r,a,b,4"),
        (&ops, "sub", Op::Sub, "r,a,b"),
    ] {
        let question = Question {
            op,
            arguments,
            align: Some(u64::from(bits / 8)),
            limb_bits: Some(bits),
            ..Question::of(symbol, 4 * bits)
        };
        let found = on_core(compiler.core, Nops(file, question, nop));
        println!("{} {bits} {symbol}: {found:?}", compiler.gcc);
        (0..3).for_each(|i| sum[i] += found[i]);
    }
    sum
}

#[test]
fn avr() {
    assert_eq!(rate(&AVR, 8, &[0, 0]), [56, 460, 1]);
}

#[test]
fn arm() {
    let counts = [32, 16].map(|bits| rate(&ARM, bits, &[0, 0, 0xa0, 0xe1]));
    assert_eq!(counts, [[14, 245, 1], [12, 256, 4]]);
}

#[test]
fn mips() {
    assert_eq!(rate(&MIPS, 32, &[0; 4]), [45, 294, 1]);
}

/// Claims help to prove what is right, and nothing else.
#[test]
fn kernels_with_claims() {
    let avr = own(&AVR, (Op::Mul, 48, "karatsuba"), &[0, 0]);
    let arm = own(&ARM, (Op::Mul, 128, "karatsuba"), &[0, 0, 0xa0, 0xe1]);
    let mips = own(&MIPS, (Op::Mul, 128, "karatsuba"), &[0; 4]);
    assert_eq!([avr, arm, mips], [[0, 224, 1], [0, 85, 0], [1, 158, 2]]);
}
