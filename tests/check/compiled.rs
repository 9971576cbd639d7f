//! What people write in C, as compilers make it: every function of mul.c and ops.c that is right, in words
//! of 8, 16 and 32 bits, at every level, on every machine. Each is proved, but what the ledger says is not.

use lozenge::prove::Verdict;
use lozenge::spec::{Alias, Op, Size};
use lozenge::{kernel, prove};

use crate::check::tools::{
    ARM, AVR, Compiler, MIPS, NO_MEMSET, Question, RISCV, RISCV_LONG, core_named, prepared,
};
use crate::ledger::{Line, Sheet};

const LEVELS: [&str; 3] = ["-Os", "-O2", "-O3"];
const WORDS: u32 = 6;

/// The questions about the functions, for words of `bits` bits: the source, and what is asked.
fn questions(bits: u32) -> Vec<(&'static str, Question<'static>)> {
    let size = bits * WORDS;
    let [both, one] = match bits {
        8 => ["r,a,b,n8", "r,a,n8"],
        16 => ["r,a,b,n16", "r,a,n16"],
        _ => ["r,a,b,n32", "r,a,n32"],
    };
    let ask = |symbol, op, arguments| Question {
        op,
        arguments,
        align: Some(8),
        limb_bits: Some(bits),
        ..Question::of(symbol, size)
    };
    let mut list: Vec<_> = [
        ("school", "r,a,b"),
        ("comba", "r,a,b"),
        ("rows", "r,a,b"),
        ("school_n", both),
        ("ends_n", both),
        ("comba_n", both),
    ]
    .map(|(symbol, arguments)| ("mul.c", ask(symbol, Op::Mul, arguments)))
    .into();
    let oblong = Size {
        a: size,
        b: 2 * bits,
    };
    let ops = [
        ask("square", Op::Sqr, "r,a"),
        ask("square_doubled", Op::Sqr, "r,a"),
        ask("square_rows", Op::Sqr, "r,a"),
        ask("square_n", Op::Sqr, one),
        ask("low", Op::Mullo, "r,a,b"),
        ask("high", Op::Mulhi, "r,a,b"),
        Question {
            size: oblong,
            ..ask("oblong", Op::Mul, "r,a,b")
        },
        ask("add", Op::Add, "r,a,b"),
        ask("add_n", Op::Add, both),
        ask("sub", Op::Sub, "r,a,b"),
        ask("sub_n", Op::Sub, both),
        ask("add_stays", Op::Add, both),
        ask("sub_stays", Op::Sub, both),
    ];
    list.extend(ops.map(|question| ("ops.c", question)));
    list
}

fn matrix(compiler: &Compiler) {
    let (mut open, mut lines) = (Vec::new(), Vec::new());
    for bits in [8, 16, 32] {
        for level in LEVELS {
            let files = ["mul.c", "ops.c"].map(|source| {
                (
                    source,
                    compiler.whole(source, bits, WORDS, &[level, NO_MEMSET]),
                )
            });
            for (source, question) in questions(bits) {
                let (_, file) = files.iter().find(|(s, _)| *s == source).expect("a source");
                let key = format!("{bits},{level},{}", question.symbol);
                let mut known = |known: &str| lines.push(Line::known(key.clone(), known));
                // Words of several registers are compared in several instructions.
                if compiler.gcc == AVR.gcc && bits > 8 && question.symbol.ends_with("stays") {
                    let verdict = judged(compiler.core, file, question);
                    let text = verdict.expect_err("proved: drop this case");
                    assert!(text.contains("both ways were followed, but"), "{text}");
                    known("none: unknown");
                    continue;
                }
                let name = format!("{bits} bits {level} {}", question.symbol);
                match judged(compiler.core, file, question) {
                    Ok(()) => known("proved"),
                    Err(text) => open.push(format!("{name}: {text}")),
                }
            }
        }
    }
    println!("{}: {} functions", compiler.gcc, lines.len());
    assert!(open.is_empty(), "{}", open.join("\n"));
    let sheet = Sheet {
        name: format!("foreign/{}", compiler.gcc),
        columns: "bits,level,function,known",
        figures: 0,
    };
    sheet.hold(lines, true);
}

/// Is the function proved, and right on some numbers? If not, why.
fn judged(core: &str, file: &[u8], question: Question<'_>) -> Result<(), String> {
    let core = &core_named(core);
    let (spec, loaded) = prepared(file, question, core);
    let function = &loaded.function;
    let found = kernel::counterexample(&spec, core, function, Alias::Distinct, 30);
    assert_eq!(found, None, "{}", question.symbol);
    let proof = prove::prove_function(&spec, core, function, Alias::Distinct);
    match [proof.correct, proof.memory, proof.abi]
        .into_iter()
        .find(|v| !v.is_proved())
    {
        None => Ok(()),
        Some(verdict) => Err(verdict.reason().unwrap_or_default().into()),
    }
}

#[test]
fn avr() {
    matrix(&AVR);
}

#[test]
fn arm() {
    matrix(&ARM);
}

#[test]
fn mips() {
    matrix(&MIPS);
}

#[test]
fn riscv() {
    matrix(&RISCV);
}

/// Each instruction of a function in turn is `nop`, which does nothing: is what is proved then still right? How many
/// there were, how many of them were right, and how many proved.
fn mutants(core: &str, (file, question): (&[u8], Question<'_>), nop: &[u8]) -> [usize; 3] {
    let core = &core_named(core);
    let (spec, loaded) = prepared(file, question, core);
    let (mut all, mut right, mut proved) = (0, 0, 0);
    let entry = loaded.function.entry;
    let own = loaded.symbols.iter().find(|(at, ..)| *at == entry);
    let (start, bytes, _) = own.expect("the function");
    let mut at = *start;
    while at < start + bytes {
        let mut function = loaded.function.clone();
        let (_, len) = lozenge::told::instruction(core, &function, at as usize).expect("code");
        let first = (at - function.start()) as usize;
        let mut code = function.code.to_vec();
        for chunk in code[first..first + len].chunks_mut(nop.len()) {
            chunk.copy_from_slice(nop);
        }
        function.code = code.into();
        function.limit = 100_000;
        at += len as u64;
        let proof = prove::prove_function(&spec, core, &function, Alias::Distinct);
        let found = kernel::counterexample(&spec, core, &function, Alias::Distinct, 100);
        all += 1;
        right += usize::from(found.is_none());
        proved += usize::from(proof.holds());
        let said = (&proof.correct, &found);
        assert!(
            !matches!(said, (Verdict::Proved, Some(_))),
            "{} at {at:#x}: {found:?}",
            question.symbol
        );
    }
    [all, right, proved]
}

/// Sums and differences whose carries are branches, selections and comparisons.
#[test]
fn mutants_are_not_proved() {
    let cases = [
        (AVR, 8, &[0u8, 0][..]),
        (ARM, 16, &[0, 0, 0xa0, 0xe1]),
        (MIPS, 8, &[0; 4]),
        (RISCV_LONG, 8, &[0x13, 0, 0, 0]),
    ];
    for (compiler, bits, nop) in cases {
        let file = compiler.whole("ops.c", bits, WORDS, &["-O2", NO_MEMSET]);
        for symbol in ["add_n", "sub", "sub_n"] {
            let all = questions(bits);
            let (_, question) = all.iter().find(|(_, q)| q.symbol == symbol).expect("one");
            let counts = mutants(compiler.core, (&file, *question), nop);
            let [all, right, proved] = counts;
            println!("{} {bits} {symbol}: {counts:?}", compiler.gcc);
            assert!(all > 10 && proved <= right && right < all);
        }
    }
}
