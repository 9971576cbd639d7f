//! Position-independent code: on MIPS $gp and the table of addresses, as an object leaves them to the linker, and as the
//! linker fills them in; on ARM and RISC-V linked programs that read such a table.

use crate::check::tools::{ARM, Compiler, MIPS, Question, RISCV, check, sources};

const PIC: Compiler = Compiler {
    flags: &["-march=mips32", "-mabicalls", "-fPIC", "-msoft-float"],
    ..MIPS
};
const WORDS: [&str; 7] = [
    "-O2",
    "-fno-tree-loop-distribute-patterns",
    "-fno-ipa-icf",
    "-DLIMB=uint32_t",
    "-DWIDE=uint64_t",
    "-DBITS=32",
    "-DN=4",
];

/// Compiles with these flags besides, and proves `symbols`.
fn proved(source: &str, symbols: &[(&str, u32)], flags: &[&str]) {
    for flag in ["-mno-shared", "-mshared"] {
        let flags: Vec<_> = WORDS.iter().chain(flags).copied().chain([flag]).collect();
        let file = PIC.compile(&sources().join(source), &flags);
        for (symbol, bits) in symbols {
            let audit = check(&file, PIC.core, Question::of(symbol, *bits)).expect("a function");
            let proof = &audit.judged.proof;
            assert!(proof.holds(), "{symbol} {flags:?}: {proof:?}");
        }
    }
}

#[test]
fn objects() {
    proved(
        "mul.c",
        &[("school", 128), ("comba", 128), ("rows", 128)],
        &["-c"],
    );
    proved("table.c", &[("memory_table", 64)], &["-c"]);
}

#[test]
fn linked_programs() {
    let link = ["-nostartfiles", "-static", "-Wl,-e,rows"];
    proved("mul.c", &[("comba", 128), ("rows", 128)], &link);
    let link = ["-nostartfiles", "-static", "-Wl,-e,memory_table"];
    proved("table.c", &[("memory_table", 64)], &link);
}

/// On ARM and RISC-V, too, code reads addresses from a table that the linker fills in.
#[test]
fn linked_programs_for_others() {
    let arm = Compiler {
        flags: &["-mcpu=arm7tdmi", "-marm", "-fPIC"],
        ..ARM
    };
    let riscv = Compiler {
        flags: &["-march=rv32imc", "-mabi=ilp32", "-fPIC"],
        ..RISCV
    };
    for pic in [arm, riscv] {
        let link = ["-nostartfiles", "-static", "-Wl,-e,memory_table"];
        let flags: Vec<_> = WORDS.iter().chain(&link).copied().collect();
        let file = pic.compile(&sources().join("table.c"), &flags);
        let audit = check(&file, pic.core, Question::of("memory_table", 64)).expect("a function");
        let proof = &audit.judged.proof;
        assert!(proof.holds(), "{}: {proof:?}", pic.core);
    }
}
