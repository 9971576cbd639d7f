//! How many wrong kernels get evidence: each instruction of compiled C in turn does nothing, and what is
//! not proved is to be disproved, by operands or by what it does to memory and registers.

use crate::tools::{ARM, AVR, Compiler, MIPS, NO_MEMSET, Question, on_core, prepared};
use lozenge::emit::ObjectFormat;
use lozenge::isa::Isa;
use lozenge::kernel;
use lozenge::prove::{self, Verdict};
use lozenge::spec::{Alias, Op};
use lozenge::target::OnIsa;

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
            let proof = prove::prove_function::<I>(&spec, core, &function, Alias::Distinct);
            let seen = [&proof.memory, &proof.abi];
            let seen = seen.iter().any(|v| matches!(v, Verdict::Disproved(_)));
            let found = kernel::counterexample::<I>(&spec, core, &function, Alias::Distinct, 300);
            let verdict = match (proof.correct.is_proved(), seen || found.is_some()) {
                (true, false) => 0,
                (_, true) => 1,
                (false, false) => {
                    let (text, name) = (I::text(&insn), question.symbol);
                    println!("{name} without {at:#x}: {text}: {:?}", proof.correct);
                    2
                }
            };
            assert!(!(proof.holds() && found.is_some()), "{found:?}");
            counts[verdict] += 1;
            at += len as u64;
        }
        counts
    }
}

/// Mutants of six functions in words of `bits` bits; README has the sums of `counts`.
fn rate(compiler: &Compiler, bits: u32, nop: &'static [u8], counts: Counts) {
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
            align: Some(8),
            limb_bits: Some(bits),
            ..Question::of(symbol, 4 * bits)
        };
        let found = on_core(compiler.core, Nops(file, question, nop));
        println!("{} {bits} {symbol}: {found:?}", compiler.gcc);
        (0..3).for_each(|i| sum[i] += found[i]);
    }
    assert_eq!(sum, counts, "{} {bits}", compiler.gcc);
}

#[test]
fn avr() {
    rate(&AVR, 8, &[0, 0], [56, 402, 59]);
}

#[test]
fn arm() {
    rate(&ARM, 32, &[0, 0, 0xa0, 0xe1], [14, 226, 20]);
    rate(&ARM, 16, &[0, 0, 0xa0, 0xe1], [12, 224, 36]);
}

#[test]
fn mips() {
    rate(&MIPS, 32, &[0; 4], [45, 268, 27]);
}
