//! The files `gen` writes, as a firmware project meets them: the object linked into a C
//! program by avr-gcc and called on simavr (results, cycles, stack, registers), the
//! assembly file assembled to the same bytes, the header in C and C++.

use std::path::{Path, PathBuf};
use std::process::Command;

use num_bigint::BigUint;
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind};
use serde_json::Value;

use crate::kit::oracle::{self, SIMAVR, run};

#[path = "../oracle/avr_cells.rs"]
mod cells;
use cells::CELLS;

use crate::kit::{tier, work};

/// Which pointers are equal, by the names of the report; the number is `mode` in the program.
const ALIASES: [(u8, &str); 4] = [
    (1, "a == b"),
    (2, "r == a"),
    (3, "r == b"),
    (4, "r == a == b"),
];

/// Bytes of results the program keeps before the runner must take them.
const ROOM: usize = 512;

/// xorshift64* (Vigna, 2016).
struct Rng(u64);

impl Rng {
    fn byte(&mut self) -> u8 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.byte()).collect()
    }
}

struct Pair {
    mode: u8,
    a: Vec<u8>,
    b: Vec<u8>,
}

/// Structured and random operands, each structured one also with equal pointers; `modes` are
/// the other ways pointers may be equal.
fn pairs(n: usize, modes: &[u8], seed: u64) -> Vec<Pair> {
    let mut rng = Rng(seed);
    let mut single = Vec::new();
    let bits = 8 * n;
    for bit in [0, 7, 8, bits / 2, bits - 1] {
        let bit = bit.min(bits - 1);
        let mut one = vec![0; n];
        one[bit / 8] = 1 << (bit % 8);
        let other = one.iter().map(|x| !x).collect();
        single.extend([one, other]);
    }
    for byte in [0x00, 0x01, 0x80, 0xff] {
        single.push(vec![byte; n]);
    }
    for _ in 0..4 {
        let edges = [0x00, 0x01, 0x80, 0xff];
        single.push((0..n).map(|_| edges[usize::from(rng.byte() & 3)]).collect());
    }
    let mut list = Vec::new();
    let ones = vec![0xff; n];
    for (i, a) in single.iter().enumerate() {
        for b in [&single[(5 * i + 3) % single.len()], &ones] {
            list.push((0, a.clone(), b.clone()));
        }
        for mode in modes {
            list.push((*mode, a.clone(), single[(7 * i + 1) % single.len()].clone()));
        }
    }
    for i in 0..20 {
        let mode = if i % 4 == 3 { 1 } else { 0 };
        list.push((mode, rng.bytes(n), rng.bytes(n)));
    }
    list.into_iter()
        .map(|(mode, a, b)| Pair { mode, a, b })
        .collect()
}

/// One cell's files, in a folder of its own.
struct Cell {
    mcu: &'static str,
    op: &'static str,
    size: &'static str,
    name: String,
    symbol: String,
    folder: PathBuf,
    report: Value,
}

impl Cell {
    fn generate(base: &Path, index: usize) -> Self {
        let (mcu, what, rest) = CELLS[index];
        let (op, size) = what.split_once(' ').expect("operation and size");
        let name = format!("gen {what} --mcu {mcu} {rest}");
        let folder = base.join(format!("cell{index}"));
        let output = run(oracle::lozenge()
            .args(name.split_whitespace())
            .arg("--json")
            .arg("-o")
            .arg(&folder));
        let report: Value = serde_json::from_slice(&output.stdout).expect("gen --json is JSON");
        let symbol = report["spec"]["symbol"]
            .as_str()
            .expect("a symbol")
            .to_string();
        Self {
            mcu,
            op,
            size,
            name,
            symbol,
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

    fn avr_gcc(&self) -> Command {
        let mut command = Command::new("avr-gcc");
        command.arg(format!("-mmcu={}", self.mcu));
        command.current_dir(&self.folder);
        command
    }

    /// Bytes of a, of b (of a again where there is none) and of the result, from the operation's size.
    fn bytes(&self) -> [usize; 3] {
        let (a, b) = self.size.split_once('x').unwrap_or((self.size, self.size));
        let [a, b] = [a, b].map(|bits| bits.parse::<usize>().expect("bits") / 8);
        match self.op {
            "mul" | "sqr" => [a, b, a + b],
            _ => [a, b, a],
        }
    }

    /// What the operation makes of the operands.
    fn value(&self, a: &[u8], b: &[u8]) -> Vec<u8> {
        let [length, _, result] = self.bytes();
        let (a, b) = (BigUint::from_bytes_le(a), BigUint::from_bytes_le(b));
        let mut bytes = match self.op {
            "sqr" => a.pow(2),
            "mulhi" => (a * b) >> (8 * length),
            "montmul" => self.reduced(a * b, 8 * length),
            "montsqr" => self.reduced(a.pow(2), 8 * length),
            _ => a * b,
        }
        .to_bytes_le();
        bytes.resize(result, 0);
        bytes
    }

    /// `T = (P + Q M) / R`, less `M` if it is `R` or more, with `Q = -P M^-1 mod R`, `R = 2^n`: a number of `n` bits.
    fn reduced(&self, p: BigUint, n: usize) -> BigUint {
        let modulus = self.report["spec"]["modulus"].as_str().expect("a modulus");
        let m = BigUint::parse_bytes(modulus.trim_start_matches("0x").as_bytes(), 16);
        let m = m.expect("hexadecimal");
        let r = BigUint::from(1u8) << n;
        // Odd numbers have order 2^(n - 1) at most.
        let inverse = m.modpow(&((&r >> 1u8) - 1u8), &r);
        let q = (&r - &p * inverse % &r) % &r;
        let t = (p + q * &m) >> n;
        if t < r { t } else { t - m }
    }

    /// Whether there is a second factor.
    fn takes_two(&self) -> bool {
        !self.op.ends_with("sqr")
    }

    /// Aliasing cases the report calls proved.
    fn modes(&self) -> Vec<u8> {
        let proved = |name: &str| self.report["aliasing"][name] == "proved";
        assert_eq!(proved("a == b"), self.takes_two(), "{}: a == b", self.name);
        let cases = ALIASES.iter().filter(|(_, name)| proved(name));
        cases.map(|(mode, _)| *mode).collect()
    }

    /// Links the object into a program that calls it on `pairs`.
    fn link(&self, pairs: &[Pair], kept: usize) -> PathBuf {
        let list = |bytes: &[u8]| {
            let text: Vec<_> = bytes.iter().map(u8::to_string).collect();
            format!("{{{}}}", text.join(","))
        };
        let rows: Vec<_> = pairs
            .iter()
            .map(|p| format!("{{{},{},{},{{0}}}}", p.mode, list(&p.a), list(&p.b)))
            .collect();
        let [a, b, r] = self.bytes().map(|n| n.to_string());
        let sources = if self.takes_two() { 2 } else { 1 };
        std::fs::write(self.folder.join("cases.h"), rows.join(",\n")).expect("it can be written");
        let program = oracle::source("avr_calls.c");
        // The object is linked as it is; unused sections go, as in many firmware projects.
        run(self
            .avr_gcc()
            .args(["-O2", "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-I."])
            .args(["-ffunction-sections", "-Wl,--gc-sections,--fatal-warnings"])
            .arg(format!("-DHEADER=\"{}.h\"", self.symbol))
            .arg(format!("-DKERNEL={}", self.symbol))
            .arg(format!(
                "-DHEADER_RESULT_BYTES={}_RESULT_BYTES",
                self.symbol.to_uppercase()
            ))
            .args([
                format!("-DA_BYTES={a}"),
                format!("-DB_BYTES={b}"),
                "-DM_BYTES=1".into(),
            ])
            .args([
                format!("-DRESULT_BYTES={r}"),
                format!("-DSOURCES={sources}"),
            ])
            .args([format!("-DCOUNT={}", pairs.len()), format!("-DKEPT={kept}")])
            .arg(program)
            .args([&format!("{}.o", self.symbol), "-o", "main.elf"]));
        self.folder.join("main.elf")
    }

    /// Calls the kernel on simavr: everything must be as the report says.
    fn check_calls(&self, runner: &Path) -> usize {
        let [len_a, len_b, len_r] = self.bytes();
        let room = if self.mcu.starts_with("attiny") {
            64
        } else {
            ROOM
        };
        let kept = (room / (len_r + 1)).clamp(1, 64);
        let mut pairs = pairs(len_a, &self.modes(), 0x10_2e_46 + 8 * len_a as u64);
        for pair in &mut pairs {
            pair.b.truncate(len_b);
        }
        let elf = self.link(&pairs, kept);
        let data = std::fs::read(&elf).expect("main.elf can be read");
        let file = object::File::parse(&*data).expect("main.elf is an object file");
        let address = |name: &str| {
            let symbol = file.symbols().find(|s| s.name() == Ok(name));
            let symbol = symbol.unwrap_or_else(|| panic!("{}: no symbol {name}", self.name));
            format!("{:#x}", symbol.address() & 0x7f_ffff) // data space begins at 0x800000
        };
        let output = run(Command::new(runner)
            .arg(self.mcu)
            .arg(&elf)
            .args([&self.symbol, "flush", "done", "results"].map(address))
            .arg((kept * (len_r + 1)).to_string()));
        let text = String::from_utf8(output.stdout).expect("the runner prints text");

        let want = format!(
            "{} {} 0",
            self.number("/cycles/call/max"),
            self.number("/stack_bytes")
        );
        assert_eq!(
            self.number("/cycles/call/min"),
            self.number("/cycles/call/max")
        );
        let calls: Vec<_> = text
            .lines()
            .filter_map(|l| l.strip_prefix("call "))
            .collect();
        assert_eq!(calls.len(), pairs.len(), "{}: calls", self.name);
        for (i, got) in calls.iter().enumerate() {
            assert_eq!(
                *got, want,
                "{}: cycles, stack, broken registers, pair {i}",
                self.name
            );
        }
        let results = text
            .lines()
            .filter_map(|l| l.strip_prefix("data "))
            .flat_map(unhex);
        let results: Vec<u8> = results.collect();
        for (i, pair) in pairs.iter().enumerate() {
            let got = &results[i * (len_r + 1)..(i + 1) * (len_r + 1)];
            let b = if matches!(pair.mode, 1 | 4) {
                &pair.a[..len_b]
            } else {
                &pair.b
            };
            let want = self.value(&pair.a, b);
            let context = || {
                format!(
                    "{}: pair {i}, mode {}, a={:x?} b={b:x?}",
                    self.name, pair.mode, pair.a
                )
            };
            assert_eq!(
                got[0],
                0,
                "an operand (1) or a guard (2) changed: {}",
                context()
            );
            assert_eq!(&got[1..], want, "{}", context());
        }
        pairs.len()
    }

    /// The assembly file gives the object, byte for byte and name for name.
    fn check_assembly(&self) {
        run(self
            .avr_gcc()
            .args(["-c", "-Wa,--fatal-warnings", "-o", "assembled.o"])
            .arg(self.file("S")));
        let [ours, mut theirs] = [self.file("o"), self.folder.join("assembled.o")].map(|path| {
            let data = std::fs::read(path).expect("the object can be read");
            Function::read(&data, &self.symbol)
        });
        // GNU as leaves relative jumps to the linker.
        run(self
            .avr_gcc()
            .args(["-nostdlib", "-Wl,-e0", "assembled.o", "-o", "linked.elf"]));
        let linked = std::fs::read(self.folder.join("linked.elf")).expect("it can be read");
        let linked = object::File::parse(&*linked).expect("an executable");
        let text = linked.section_by_name(".text").expect("it has code");
        theirs.code = text.data().expect("it has bytes").to_vec();
        assert_eq!(ours, theirs, "{}: .o left, assembled .S right", self.name);
        assert_eq!(
            ours.section,
            format!(".text.{}", self.symbol),
            "{}",
            self.name
        );
        assert_eq!(
            ours.code.len() as u64,
            self.number("/bytes/call"),
            "{}",
            self.name
        );
        assert_eq!(ours.code.len() as u64, ours.size, "{}", self.name);
        assert_eq!(
            (ours.kind, ours.global),
            (SymbolKind::Text, true),
            "{}",
            self.name
        );
    }

    /// The header stands alone, twice, in C and in C++, and says what the report says.
    fn check_header(&self) {
        let upper = self.symbol.to_uppercase();
        let [a, b, r] = self.bytes();
        let facts = [
            ("RESULT_BYTES", r as u64),
            ("STACK_BYTES", self.number("/stack_bytes")),
            ("CYCLES", self.number("/cycles/call/max")),
        ];
        let sizes = match a == b {
            true => vec![("OPERAND_BYTES", a as u64)],
            false => vec![("A_BYTES", a as u64), ("B_BYTES", b as u64)],
        };
        let arguments = if self.takes_two() { "r, a, a" } else { "r, a" };
        let mut source = format!("#include \"{0}.h\"\n#include \"{0}.h\"\n", self.symbol);
        for (name, value) in facts.into_iter().chain(sizes) {
            source += &format!("extern int must_be_{name}[{upper}_{name} == {value} ? 1 : -1];\n");
        }
        source += &format!(
            "void call(uint8_t *r, const uint8_t *a);\n\
             void call(uint8_t *r, const uint8_t *a) {{ {}({arguments}); }}\n",
            self.symbol
        );
        for name in ["header.c", "header.cpp"] {
            std::fs::write(self.folder.join(name), &source).expect("the source can be written");
        }
        let strict = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-c"];
        run(Command::new("gcc")
            .current_dir(&self.folder)
            .arg("-std=c99")
            .args(strict)
            .args(["header.c", "-o", "header_gcc.o"]));
        run(self
            .avr_gcc()
            .arg("-std=c99")
            .args(strict)
            .args(["header.c", "-o", "header_avr.o"]));
        run(Command::new("g++")
            .current_dir(&self.folder)
            .arg("-std=c++11")
            .args(strict)
            .args(["header.cpp", "-o", "header_gxx.o"]));
        // In C++ the name must not be mangled.
        let data = std::fs::read(self.folder.join("header_gxx.o")).expect("g++ wrote the object");
        let file = object::File::parse(&*data).expect("g++ writes an object");
        assert!(
            file.symbols().any(|s| s.name() == Ok(&self.symbol)),
            "{}",
            self.name
        );
    }
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    let byte = |d: &[u8]| u8::from_str_radix(std::str::from_utf8(d).ok()?, 16).ok();
    digits
        .map(|d| byte(d).expect("the runner prints hexadecimal"))
        .collect()
}

/// What a linker sees of a function.
#[derive(PartialEq, Debug)]
struct Function {
    section: String,
    section_flags: SectionFlags,
    align: u64,
    code: Vec<u8>,
    address: u64,
    size: u64,
    kind: SymbolKind,
    global: bool,
    weak: bool,
    /// EF_AVR_MACH
    machine: u64,
}

impl Function {
    fn read(data: &[u8], name: &str) -> Self {
        let file = object::File::parse(data).expect("an object file");
        let symbol = file.symbols().find(|s| s.name() == Ok(name));
        let symbol = symbol.unwrap_or_else(|| panic!("no symbol {name}"));
        let index = symbol.section_index().expect("the symbol has a section");
        let section = file.section_by_index(index).expect("the section exists");
        // Nothing else that takes room.
        for other in file.sections().filter(|s| s.index() != index) {
            let name = other.name().unwrap_or_default();
            assert!(
                !matches!(name, ".text" | ".data" | ".bss") || other.size() == 0,
                "{name}"
            );
        }
        Self {
            section: section.name().expect("the section has a name").to_string(),
            section_flags: section.flags(),
            align: section.align(),
            code: section.data().expect("the section has bytes").to_vec(),
            address: symbol.address(),
            size: symbol.size(),
            kind: symbol.kind(),
            global: symbol.is_global(),
            weak: symbol.is_weak(),
            // e_flags of a 32-bit little-endian ELF header; the low 7 bits are the machine.
            machine: u64::from(data[36] & 0x7f),
        }
    }
}

#[test]
fn files_work_in_a_c_project() {
    let base = tempfile::tempdir().expect("a temporary folder");
    let runner = oracle::built("simavr_calls", SIMAVR);
    let cells = tier::some(0..CELLS.len(), 1);
    let calls = work::each(&cells, |index| {
        let cell = Cell::generate(base.path(), *index);
        cell.check_assembly();
        cell.check_header();
        cell.check_calls(&runner)
    });
    println!(
        "avr_link: {} kernels, {} calls, all as reported",
        cells.len(),
        calls.iter().sum::<usize>()
    );
}

/// A kernel for a core, without a part, links on every part with that core.
#[test]
fn an_object_for_a_core_links_on_its_parts() {
    let base = tempfile::tempdir().expect("a temporary folder");
    for (core, parts) in [
        ("atmega128", &["atmega8", "atmega328p", "atmega1284p"][..]),
        ("atmega2560", &["atmega2560", "atmega2561"]),
    ] {
        let folder = base.path().join(core);
        run(oracle::lozenge()
            .args(["gen", "mul", "64", "--core", core, "-o"])
            .arg(&folder));
        let source = "#include \"mul64.h\"\nuint8_t r[16], a[8], b[8];\n\
                      int main(void) { mul64(r, a, b); return r[0]; }\n";
        std::fs::write(folder.join("main.c"), source).expect("main.c can be written");
        for part in parts {
            run(Command::new("avr-gcc")
                .current_dir(&folder)
                .arg(format!("-mmcu={part}"))
                .args(["-Os", "-Wl,--fatal-warnings", "main.c", "mul64.o", "-o"])
                .arg(format!("{part}.elf")));
        }
    }
}
