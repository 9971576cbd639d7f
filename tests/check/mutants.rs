//! How many wrong kernels get evidence: each instruction of compiled C in turn does nothing, and what is
//! not proved is to be disproved, by operands or by what it does to memory and registers.

use std::process::Command;

use lozenge::kernel;
use lozenge::kernel::Search;
use lozenge::prove::Verdict;
use lozenge::spec::Op;

use crate::check::tools::{
    ARM, AVR, Compiler, MIPS, NO_MEMSET, Question, RISCV_LONG, core_named, prepared,
};
use crate::kit::book::book;
use crate::ledger::{Line, Sheet};

/// Some hundred operands.
const SEARCH: Search = Search {
    proved: 300,
    open: 300,
    told: false,
};

/// How many mutants are proved, disproved, neither.
type Counts = [usize; 3];

/// The function of a file with `nop`, which does nothing, in the place of each instruction.
fn nops(core: &str, (file, question): (&[u8], Question<'_>), nop: &[u8]) -> Counts {
    let core = core_named(core);
    let (spec, loaded) = prepared(file, question, &core);
    let entry = loaded.function.entry;
    let own = loaded.symbols.iter().find(|(at, ..)| *at == entry);
    let (start, bytes, _) = own.expect("the function");
    let (mut counts, mut at) = ([0; 3], *start);
    while at < start + bytes {
        let mut function = loaded.function.clone();
        // Constants behind the code are none.
        let Some((insn, len)) = lozenge::told::instruction(&core, &function, at as usize) else {
            break;
        };
        let first = (at - function.start()) as usize;
        let mut code = function.code.to_vec();
        for chunk in code[first..first + len].chunks_mut(nop.len()) {
            chunk.copy_from_slice(nop);
        }
        function.code = code.into();
        function.limit = 20_000;
        let (proof, found) = kernel::verdict(&spec, &core, &function, SEARCH);
        let seen = [&proof.correct, &proof.memory, &proof.abi];
        let wrong = |v: &&&Verdict| matches!(v, Verdict::Disproved(_) | Verdict::Unpredictable(_));
        let seen = seen.iter().any(|v| wrong(&v));
        let verdict = match (proof.correct.is_proved(), seen) {
            (true, false) => 0,
            (_, true) => 1,
            (false, false) => {
                let (text, name) = (insn.text(), question.symbol);
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
    nops(compiler.core, (&file, question), nop)
}

/// Holds the counts of mutants against their file.
fn hold(name: &str, lines: Vec<Line>) {
    let sheet = Sheet {
        name: format!("foreign/mutants-{name}"),
        columns: COLUMNS,
        figures: 2,
    };
    sheet.hold(lines, true);
}

/// Of a file of mutants.
const COLUMNS: &str = "bits,function,proved,neither,known";

fn line(bits: u32, function: &str, [proved, disproved, neither]: Counts) -> Line {
    Line {
        key: format!("{bits},{function}"),
        figures: vec![proved.to_string(), neither.to_string()],
        known: format!("{disproved} rejected"),
    }
}

/// Mutants of six functions in words of `bits` bits.
fn rate(compiler: &Compiler, bits: u32, nop: &'static [u8]) -> Vec<Line> {
    let [mul, ops] = ["mul.c", "ops.c"].map(|c| compiler.whole(c, bits, 4, &["-O2", NO_MEMSET]));
    let mut lines = Vec::new();
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
        let found = nops(compiler.core, (file, question), nop);
        println!("{} {bits} {symbol}: {found:?}", compiler.gcc);
        lines.push(line(bits, symbol, found));
    }
    lines
}

#[test]
fn avr() {
    hold("avr", rate(&AVR, 8, &[0, 0]));
}

#[test]
fn arm() {
    let lines = [32, 16].map(|bits| rate(&ARM, bits, &[0, 0, 0xa0, 0xe1]));
    hold("arm", lines.concat());
}

#[test]
fn mips() {
    hold("mips", rate(&MIPS, 32, &[0; 4]));
}

#[test]
fn riscv() {
    hold("riscv", rate(&RISCV_LONG, 32, &[0x13, 0, 0, 0]));
}

/// The book's sums are those of the files.
#[test]
fn readme_has_the_sums() {
    let mut sums = [0; 3];
    for name in ["avr", "arm", "mips", "riscv"] {
        let sheet = Sheet {
            name: format!("foreign/mutants-{name}"),
            columns: COLUMNS,
            figures: 2,
        };
        for line in sheet.lines().into_values() {
            let rejected = line.known.split(' ').next().unwrap_or_default();
            let counts = [&line.figures[0], rejected, &line.figures[1]];
            let counts = counts.map(|n| n.parse::<usize>().expect("a number"));
            (0..3).for_each(|i| sums[i] += counts[i]);
        }
    }
    let [proved, disproved, neither] = sums;
    let thousands = |n: usize| match n {
        1000.. => format!("{},{:03}", n / 1000, n % 1000),
        _ => n.to_string(),
    };
    let all = thousands(proved + disproved + neither);
    let (disproved, readme) = (thousands(disproved), book());
    let readme = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        format!("Of {all} mutants of compiled C (an instruction does nothing) {proved} are proved"),
        format!("{disproved} disproved or unpredictable, {neither} neither"),
    ] {
        assert!(readme.contains(&said), "the book lacks: {said}");
    }
}

/// Claims help to prove what is right, and nothing else.
#[test]
fn kernels_with_claims() {
    let avr = own(&AVR, (Op::Mul, 48, "karatsuba"), &[0, 0]);
    let arm = own(&ARM, (Op::Mul, 128, "karatsuba"), &[0, 0, 0xa0, 0xe1]);
    let mips = own(&MIPS, (Op::Mul, 128, "karatsuba"), &[0; 4]);
    let lines = [("avr", 48, avr), ("arm", 128, arm), ("mips", 128, mips)];
    let lines =
        lines.map(|(machine, bits, counts)| line(bits, &format!("karatsuba on {machine}"), counts));
    hold("claimed", lines.into());
}
