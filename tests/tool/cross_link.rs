//! The files `gen` writes for ARM, MIPS and RISC-V, as a firmware project meets them: the object
//! linked into a C program by the cross compilers and called on QEMU (results, stack,
//! registers, memory), the assembly file assembled to the same bytes, the header in C99.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use lozenge::vectors;
use num_bigint::BigUint;
use object::{
    FileFlags, Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind, SymbolScope,
};
use serde_json::Value;

use crate::kit::oracle::{lozenge, run, source};
use crate::kit::{tier, work};
use crate::tool::cross_cells::{
    ARM_CELLS, EXTENDED_CELLS, MIPS_CELLS, OPERATIONS, RISCV_CELLS, RISCV_SHORT_CELLS,
    STRONGARM_CELLS,
};

/// A cross compiler and what runs its programs.
struct Tools {
    gcc: &'static str,
    flags: &'static [&'static str],
    qemu: [&'static str; 3],
    /// The start and the calling sequence, in tests/oracle.
    runtime: &'static str,
    /// Callee-saved registers, in the order of `runtime`.
    saved: &'static [&'static str],
    /// Words above the stack pointer that the callee may write.
    home: usize,
    /// The stack pointer stays a multiple of this.
    stack_align: u64,
    big_endian: bool,
}

const ARM_SAVED: &[&str] = &["r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11"];
const MIPS_SAVED: &[&str] = &[
    "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "gp", "fp", "k0", "k1",
];
const MIPS_FLAGS: &[&str] = &[
    "-march=mips32",
    "-mabi=32",
    "-mno-abicalls",
    "-fno-pic",
    "-msoft-float",
];

/// The CPU model has architecture 4T: it refuses what an ARM7TDMI lacks.
const ARM: Tools = Tools {
    gcc: "arm-none-eabi-gcc",
    flags: &["-mcpu=arm7tdmi", "-marm"],
    qemu: ["qemu-arm", "-cpu", "ti925t"],
    runtime: "cross_arm.S",
    saved: ARM_SAVED,
    home: 0,
    stack_align: 4,
    big_endian: false,
};
/// Without Thumb, and so without BX.
const STRONGARM: Tools = Tools {
    flags: &["-mcpu=strongarm1100", "-marm"],
    qemu: ["qemu-arm", "-cpu", "sa1100"],
    ..ARM
};
/// Callers in Thumb: the kernel must return to their state.
const THUMB: Tools = Tools {
    flags: &["-mcpu=arm7tdmi", "-mthumb"],
    ..ARM
};
const MIPSEL: Tools = Tools {
    gcc: "mipsel-linux-gnu-gcc",
    flags: MIPS_FLAGS,
    qemu: ["qemu-mipsel", "-cpu", "4Km"],
    runtime: "cross_mips.S",
    saved: MIPS_SAVED,
    home: 4,
    stack_align: 8,
    big_endian: false,
};
const RISCV_SAVED: &[&str] = &[
    "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "gp", "tp",
];
const RISCV: Tools = Tools {
    gcc: "riscv64-unknown-elf-gcc",
    flags: &["-march=rv32im", "-mabi=ilp32"],
    qemu: ["qemu-riscv32", "-cpu", "rv32"],
    runtime: "cross_riscv.S",
    saved: RISCV_SAVED,
    home: 0,
    stack_align: 16,
    big_endian: false,
};
const RISCV_SHORT: Tools = Tools {
    flags: &["-march=rv32imc", "-mabi=ilp32"],
    ..RISCV
};
const MIPSEB: Tools = Tools {
    gcc: "mips-linux-gnu-gcc",
    qemu: ["qemu-mips", "-cpu", "4Km"],
    big_endian: true,
    ..MIPSEL
};

/// Which pointers are equal, by the names of the report; the number is `mode` in the program.
const ALIASES: [(u32, &str); 4] = [
    (1, "a == b"),
    (2, "r == a"),
    (3, "r == b"),
    (4, "r == a == b"),
];

struct Pair {
    mode: u32,
    a: BigUint,
    b: BigUint,
}

/// Structured and random operands with distinct pointers, then with each of `modes`.
fn pairs(bytes: usize, modes: &[u32], seed: u64) -> Vec<Pair> {
    let mut list = Vec::new();
    // Every byte the same, single bits and all ones but a bit, each with what follows it.
    let bits = 8 * bytes;
    let one = BigUint::from(1u8);
    let ones = (&one << bits) - 1u8;
    let mut single: Vec<_> = [0x00, 0x01, 0x80, 0xff]
        .map(|byte| BigUint::from_bytes_le(&vec![byte; bytes]))
        .into();
    for bit in [0, 15, 16, 31, bits / 2, bits - 2, bits - 1] {
        single.extend([&one << bit, &ones - (&one << bit)]);
    }
    for (i, a) in single.iter().enumerate() {
        let b = &single[(5 * i + 3) % single.len()];
        list.push([a.clone(), b.clone()]);
        list.push([a.clone(), ones.clone()]);
    }
    list.extend(vectors::pairs(bytes, 60, seed));
    let mut all = Vec::new();
    for mode in [0].iter().chain(modes) {
        // The other cases on every second pair.
        let step = if *mode == 0 { 1 } else { 2 };
        all.extend(list.iter().step_by(step).map(|[a, b]| Pair {
            mode: *mode,
            a: a.clone(),
            b: b.clone(),
        }));
    }
    all
}

/// One cell's files, in a folder of its own.
struct Cell<'a> {
    tools: &'a Tools,
    op: String,
    /// Bytes of a, of b (of a again where there is none) and of the result.
    bytes: [usize; 3],
    name: String,
    symbol: String,
    folder: PathBuf,
    report: Value,
}

impl<'a> Cell<'a> {
    fn generate(base: &Path, tools: &'a Tools, (core, what, rest): (&str, &str, &str)) -> Cell<'a> {
        let endian = ["", "--big-endian "][usize::from(tools.big_endian)];
        let name = format!("gen {what} --core {core} {endian}{rest}");
        let folder = base.join(name.trim().replace(' ', "_"));
        let output = run(lozenge()
            .args(name.split_whitespace())
            // Multipliers that stop early: what is linked and run here holds no secrets.
            .args(["--variable-time", "--json"])
            .arg("-o")
            .arg(&folder));
        let report = serde_json::from_slice(&output.stdout).expect("gen --json is JSON");
        let (op, size) = what.split_once(' ').expect("operation and size");
        let (a, b) = size.split_once('x').unwrap_or((size, size));
        let [a, b] = [a, b].map(|bits| bits.parse::<usize>().expect("bits") / 8);
        let result = if ["mul", "sqr"].contains(&op) {
            a + b
        } else {
            a
        };
        Cell {
            tools,
            op: op.into(),
            bytes: [a, b, result],
            symbol: format!("{op}{size}"),
            name,
            folder,
            report,
        }
    }

    fn file(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.symbol))
    }

    fn number(&self, pointer: &str) -> u64 {
        let value = self.report.pointer(pointer).and_then(Value::as_u64);
        value.unwrap_or_else(|| panic!("{}: no number {pointer}", self.name))
    }

    fn gcc(&self) -> Command {
        let mut command = Command::new(self.tools.gcc);
        command.args(self.tools.flags).current_dir(&self.folder);
        command
    }

    /// Aliasing cases the report calls proved.
    fn modes(&self) -> Vec<u32> {
        let proved = |name: &str| self.report["aliasing"][name] == "proved";
        assert_eq!(proved("a == b"), self.op != "sqr", "{}: a == b", self.name);
        let cases = ALIASES.iter().filter(|(_, name)| proved(name));
        cases.map(|(mode, _)| *mode).collect()
    }

    fn word(&self, word: u32) -> [u8; 4] {
        match self.tools.big_endian {
            true => word.to_be_bytes(),
            false => word.to_le_bytes(),
        }
    }

    /// `value` in memory: words, the least significant first.
    fn words(&self, value: &BigUint, bytes: usize) -> Vec<u8> {
        let mut digits = value.to_u32_digits();
        digits.resize(bytes / 4, 0);
        digits.into_iter().flat_map(|w| self.word(w)).collect()
    }

    /// Links the object into a program that calls it.
    fn link(&self) -> PathBuf {
        let upper = self.symbol.to_uppercase();
        // The object is linked as it is; unused sections go, as in many firmware projects.
        run(self
            .gcc()
            .args([
                "-O2",
                "-std=c99",
                "-pedantic",
                "-Wall",
                "-Wextra",
                "-Werror",
            ])
            .args(["-ffreestanding", "-fno-tree-loop-distribute-patterns"])
            .args(["-nostdlib", "-static", "-ffunction-sections", "-I."])
            .arg("-Wl,--gc-sections,--fatal-warnings,--warn-execstack,--entry=_start")
            .arg(format!("-DHEADER=\"{}.h\"", self.symbol))
            .arg(format!("-DKERNEL={}", self.symbol))
            .args(["A", "B"].map(|side| match self.bytes[0] == self.bytes[1] {
                true => format!("-D{side}_BYTES={upper}_OPERAND_BYTES"),
                false => format!("-D{side}_BYTES={upper}_{side}_BYTES"),
            }))
            .arg(format!(
                "-DSOURCES={}",
                if self.op == "sqr" { 1 } else { 2 }
            ))
            .args([
                "-DM_BYTES=4".into(),
                format!("-DRESULT_BYTES={upper}_RESULT_BYTES"),
            ])
            .arg(format!("-DSAVED={}", self.tools.saved.len()))
            .arg(format!("-DHOME={}", self.tools.home))
            .arg(source("cross_calls.c"))
            .arg(source(self.tools.runtime))
            .arg(self.file("o"))
            .args(["-o", "calls.elf"]));
        self.folder.join("calls.elf")
    }

    /// Calls the kernel on QEMU: everything must be as the report says.
    fn check_calls(&self) -> usize {
        let [len_a, len_b, len_r] = self.bytes;
        let mut pairs = pairs(len_a, &self.modes(), 0xc2_055 + 8 * len_a as u64);
        let short = |x: &BigUint| x % (BigUint::from(1u8) << (8 * len_b));
        for pair in &mut pairs {
            pair.b = short(&pair.b);
        }
        let mut input = Vec::new();
        for pair in &pairs {
            input.extend(self.word(pair.mode));
            input.extend(self.words(&pair.a, len_a));
            input.extend(self.words(&pair.b, len_b));
            input.extend(self.word(0));
        }
        let operands = self.folder.join("operands");
        std::fs::write(&operands, input).expect("the operands can be written");
        let [qemu, arguments @ ..] = self.tools.qemu;
        let output = run(Command::new(qemu)
            .args(arguments)
            .arg(self.link())
            .stdin(File::open(&operands).expect("the operands can be read")));

        let records: Vec<_> = output.stdout.chunks(4 + len_r).collect();
        assert_eq!(records.len(), pairs.len(), "{}: calls", self.name);
        let mut deepest = 0;
        for (i, (pair, record)) in pairs.iter().zip(records).enumerate() {
            let Pair { mode, a, b } = pair;
            let b = &if matches!(mode, 1 | 4) {
                short(a)
            } else {
                b.clone()
            };
            let context = format!("{}: pair {i}, mode {mode}, a={a:x} b={b:x}", self.name);
            let (&[status, broken, low, high], result) = record.split_first_chunk().unwrap();
            assert_eq!(
                status, 0,
                "changed: an operand (1), memory around (2), the caller's stack (4), the stack \
                 pointer (8), something when C calls it (16): {context}"
            );
            if broken > 0 {
                let register = self.tools.saved[usize::from(broken) - 1];
                panic!("{register} is not restored: {context}");
            }
            deepest = deepest.max(u64::from(u16::from_le_bytes([low, high])));
            let value = match self.op.as_str() {
                "sqr" => a.pow(2),
                "mulhi" => (a * b) >> (8 * len_a),
                "mullo" => short(&(a * b)),
                _ => a * b,
            };
            assert_eq!(result, self.words(&value, len_r), "{context}");
        }
        // The pointer goes further than what is written: padding keeps it aligned, and loops may make room for a
        // number that they do not write in the end.
        let stack = self.number("/stack_bytes");
        let room = self.tools.stack_align + len_a.max(len_b) as u64;
        assert!(
            deepest <= stack && stack < deepest + room,
            "{}: {deepest} bytes of stack used, the report says {stack}",
            self.name
        );
        pairs.len()
    }

    /// The assembly file gives the object, byte for byte and name for name.
    fn check_assembly(&self) {
        run(self
            .gcc()
            .args(["-c", "-Wa,--fatal-warnings", "-o", "assembled.o"])
            .arg(self.file("S")));
        let [ours, theirs] = [self.file("o"), self.folder.join("assembled.o")].map(|path| {
            let data = std::fs::read(path).expect("the object can be read");
            Function::read(&data, &self.symbol)
        });
        let name = &self.name;
        assert_eq!(ours, theirs, "{name}: .o left, assembled .S right");
        assert_eq!(ours.section, format!(".text.{}", self.symbol), "{name}");
        assert_eq!(ours.code.len() as u64, self.number("/bytes/call"), "{name}");
        let align = match self.tools.flags.contains(&"-march=rv32imc") {
            true => 2,
            false => 4,
        };
        assert_eq!((ours.address, ours.align), (0, align), "{name}");
        assert_eq!(ours.code.len() as u64, ours.size, "{name}");
        assert_eq!((ours.kind, ours.global), (SymbolKind::Text, true), "{name}");
        let marks: &[_] = match self.tools.gcc {
            "arm-none-eabi-gcc" => &[("$a".to_string(), 0)],
            "riscv64-unknown-elf-gcc" => &[("$x".to_string(), 0)],
            _ => &[],
        };
        assert_eq!(ours.marks, marks, "{name}");
    }

    /// The header stands alone, twice, and says what the report says.
    fn check_header(&self) {
        let upper = self.symbol.to_uppercase();
        let [a, b, r] = self.bytes;
        let sizes = match a == b {
            true => vec![("OPERAND_BYTES", a as u64)],
            false => vec![("A_BYTES", a as u64), ("B_BYTES", b as u64)],
        };
        let arguments = if self.op == "sqr" { "r, a" } else { "r, a, a" };
        let facts = [
            ("RESULT_BYTES", r as u64),
            ("STACK_BYTES", self.number("/stack_bytes")),
            ("CYCLES", self.number("/cycles/call/max")),
        ];
        let mut source = format!("#include \"{0}.h\"\n#include \"{0}.h\"\n", self.symbol);
        for (name, value) in facts.into_iter().chain(sizes) {
            source += &format!("extern int must_be_{name}[{upper}_{name} == {value} ? 1 : -1];\n");
        }
        source += &format!(
            "void call(uint32_t *r, const uint32_t *a);\n\
             void call(uint32_t *r, const uint32_t *a) {{ {}({arguments}); }}\n",
            self.symbol
        );
        std::fs::write(self.folder.join("header.c"), &source).expect("the source can be written");
        run(self
            .gcc()
            .args(["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"])
            .args(["-ffreestanding", "-c", "header.c", "-o", "header.o"]));
    }
}

/// What a linker sees of a function.
#[derive(PartialEq, Debug)]
struct Function {
    /// `e_flags`.
    flags: FileFlags,
    big_endian: bool,
    section: String,
    section_flags: SectionFlags,
    align: u64,
    code: Vec<u8>,
    address: u64,
    size: u64,
    kind: SymbolKind,
    global: bool,
    weak: bool,
    /// Visibility.
    scope: SymbolScope,
    stack_note: bool,
    /// Other names in the section: mapping symbols.
    marks: Vec<(String, u64)>,
}

impl Function {
    fn read(data: &[u8], name: &str) -> Self {
        let file = object::File::parse(data).expect("an object file");
        let symbol = file.symbols().find(|s| s.name() == Ok(name));
        let symbol = symbol.unwrap_or_else(|| panic!("no symbol {name}"));
        let index = symbol.section_index().expect("the symbol has a section");
        let section = file.section_by_index(index).expect("the section exists");
        for other in file.sections().filter(|s| s.index() != index) {
            let name = other.name().unwrap_or_default();
            assert!(
                !matches!(name, ".text" | ".data" | ".bss") || other.size() == 0,
                "{name} takes room"
            );
        }
        // Nothing to resolve, except that GNU as marks BX for machines without it (R_ARM_V4BX).
        for (offset, relocation) in section.relocations() {
            let v4bx = object::RelocationFlags::Elf {
                r_type: object::elf::R_ARM_V4BX,
            };
            assert_eq!(relocation.flags(), v4bx, "at {offset:#x}");
        }
        let others = file.symbols().filter(|s| {
            let named = s.section_index() == Some(index) && s.kind() != SymbolKind::Section;
            named && s.name() != Ok(name)
        });
        Self {
            flags: file.flags(),
            big_endian: !file.is_little_endian(),
            section: section.name().expect("the section has a name").to_string(),
            section_flags: section.flags(),
            align: section.align(),
            code: section.data().expect("the section has bytes").to_vec(),
            address: symbol.address(),
            size: symbol.size(),
            kind: symbol.kind(),
            global: symbol.is_global(),
            weak: symbol.is_weak(),
            scope: symbol.scope(),
            stack_note: file.section_by_name(".note.GNU-stack").is_some(),
            marks: marks(others),
        }
    }
}

/// The mapping symbols in the order of their places, without those that repeat what holds.
fn marks<'a>(symbols: impl Iterator<Item = object::Symbol<'a, 'a>>) -> Vec<(String, u64)> {
    let mut list: Vec<_> = symbols.map(|s| (mark(&s), s.address())).collect();
    list.sort_by_key(|(_, at)| *at);
    list.dedup_by(|next, last| next.0 == last.0);
    list
}

/// A mapping symbol: GNU as for RISC-V adds the instruction set.
fn mark(symbol: &object::Symbol<'_, '_>) -> String {
    let name = symbol.name().unwrap_or_default();
    let short = name.starts_with("$x").then_some("$x");
    short.unwrap_or(name).to_string()
}

/// Everything but calls, and calls where `callable`, of each cell.
fn check(tools: &Tools, cells: &[(&str, &[u32], &str)], callable: bool) {
    let base = tempfile::tempdir().expect("a temporary folder");
    let products = cells.iter().flat_map(|(core, sizes, rest)| {
        let what = sizes.iter().map(|bits| format!("mul {bits}"));
        what.map(move |what| (*core, what, *rest))
    });
    let (first, _, extension) = cells[0];
    let others = OPERATIONS
        .iter()
        .map(|what| (first, what.to_string(), extension));
    let cells = tier::part(products.chain(others), 2, 2);
    let calls = work::each(&cells, |(core, what, rest)| {
        let cell = Cell::generate(base.path(), tools, (core, what, rest));
        cell.check_assembly();
        cell.check_header();
        match callable {
            true => cell.check_calls(),
            false => 0,
        }
    });
    println!(
        "cross_link: {}: {} kernels, {} calls, all as reported",
        tools.gcc,
        cells.len(),
        calls.iter().sum::<usize>()
    );
}

#[test]
fn files_work_in_an_arm_project() {
    check(&ARM, ARM_CELLS, true);
    check(&STRONGARM, STRONGARM_CELLS, true);
}

#[test]
fn thumb_code_calls_arm_kernels() {
    let cells: &[(&str, &[u32], &str)] = &[
        ("arm7tdmi", &[32, 160], ""),
        ("arm7tdmi-hw2018", &[192], "--method operand-caching -p e=3"),
    ];
    check(&THUMB, cells, true);
}

#[test]
fn files_work_in_a_mips_project() {
    check(&MIPSEL, MIPS_CELLS, true);
}

#[test]
fn files_work_in_a_big_endian_mips_project() {
    check(&MIPSEB, MIPS_CELLS, true);
}

#[test]
fn files_work_in_a_riscv_project() {
    check(&RISCV, RISCV_CELLS, true);
    check(&RISCV_SHORT, RISCV_SHORT_CELLS, true);
}

#[test]
fn stock_binutils_assembles_extended_kernels() {
    check(&MIPSEL, EXTENDED_CELLS, false);
    check(&MIPSEB, EXTENDED_CELLS, false);
}

/// rustc assembles by LLVM, which makes other instructions short than GNU as does, unless each one says its length.
#[test]
fn llvm_assembles_the_same_bytes() {
    const CRATE: &str = "#![no_std]\ncore::arch::global_asm!(include_str!(\"plain.s\"));\n\
        #[panic_handler] fn stop(_: &core::panic::PanicInfo) -> ! { loop {} }\n";
    let base = tempfile::tempdir().expect("a temporary folder");
    let what = ("rv32imc", "montmul 256", "--modulus runtime --style rolled");
    let cell = Cell::generate(base.path(), &RISCV_SHORT, what);
    run(cell
        .gcc()
        .args(["-E", "-P", "-o", "plain.s"])
        .arg(cell.file("S")));
    std::fs::write(cell.folder.join("crate.rs"), CRATE).expect("a file");
    let target = "riscv32imc-unknown-none-elf";
    run(Command::new("rustc")
        .args(["--crate-type", "lib", "--emit", "obj", "--target", target])
        .args(["-o", "llvm.o", "crate.rs"])
        .current_dir(&cell.folder));
    let [ours, llvm] = [cell.file("o"), cell.folder.join("llvm.o")].map(|path| {
        let data = std::fs::read(path).expect("the object can be read");
        let file = object::File::parse(&*data).expect("an object file");
        let section = file.section_by_name(".text.montmul256").expect("the code");
        section.data().expect("bytes").to_vec()
    });
    assert!(ours == llvm, "{}", cell.name);
}
