//! No ordinary compiler output is an unknown instruction: every instruction that objdump finds
//! in a compiled program, and in the compilers' libraries, decodes.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use lozenge::isa::arm::ArmIsa;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::riscv::RiscvIsa;
use lozenge::lower::Lower;

use crate::check::tools::{ARM, AVR, Compiler, MIPS, RISCV, RISCV_LONG, sources};

/// What objdump finds in a file.
#[derive(Default)]
struct Disassembly {
    /// Mnemonic and bytes of every instruction.
    list: Vec<(String, Vec<u8>)>,
    /// Functions that these are of.
    functions: usize,
    /// Functions in Thumb state, which `check` refuses: their instructions are not in the list.
    thumb: usize,
}

impl Disassembly {
    /// Adds a function, or leaves it out.
    fn add(&mut self, function: Vec<(String, Vec<u8>)>, is_thumb: bool) {
        match is_thumb {
            true => self.thumb += 1,
            false => self.functions += usize::from(!function.is_empty()),
        }
        self.list.extend(function.into_iter().filter(|_| !is_thumb));
    }
}

fn disassembly(compiler: &Compiler, file: &Path) -> Disassembly {
    let objdump = compiler.gcc.replace("gcc", "objdump");
    let out = Command::new(&objdump).arg("-d").arg(file).output();
    let out = out.unwrap_or_else(|e| panic!("{objdump}: {e}"));
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let (mut all, mut function, mut is_thumb) = (Disassembly::default(), Vec::new(), false);
    for line in text.lines() {
        if line.ends_with(">:") {
            all.add(std::mem::take(&mut function), is_thumb);
            is_thumb = false;
        }
        let mut fields = line.split('\t');
        let (Some(at), Some(bytes), Some(name)) = (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let name = name.split_whitespace().next().unwrap_or_default();
        // What objdump does not know, or knows as data.
        let data = name.starts_with('.') || name.starts_with('<') || name.contains("undefined");
        if !at.trim_end().ends_with(':') || data || name == "udf" {
            continue;
        }
        // Two bytes are Thumb, where all else has four.
        is_thumb |= bytes.trim().len() == 4 && compiler.gcc.starts_with("arm");
        let mut code = Vec::new();
        for word in bytes.split_whitespace() {
            let word_bytes = (0..word.len()).step_by(2);
            let mut part: Vec<u8> = word_bytes
                .map(|i| u8::from_str_radix(&word[i..i + 2], 16).expect("hexadecimal"))
                .collect();
            part.reverse();
            code.extend(part);
        }
        function.push((name.to_string(), code));
    }
    all.add(function, is_thumb);
    let count = all.list.len();
    assert!(count > 100, "{}: {count} instructions", file.display());
    all
}

/// What decodes of a file, and what does not.
#[derive(Default)]
struct Decoded {
    functions: usize,
    thumb: usize,
    known: usize,
    unknown: BTreeMap<String, usize>,
}

fn decode<I: Lower>(core: &I::Core, compiler: &Compiler, file: &Path) -> Decoded {
    let found = disassembly(compiler, file);
    let mut decoded = Decoded {
        functions: found.functions,
        thumb: found.thumb,
        ..Decoded::default()
    };
    for (name, bytes) in found.list {
        match I::decode(core, &bytes) {
            Ok(list) if list.len() == 1 => decoded.known += 1,
            _ => *decoded.unknown.entry(name).or_insert(0) += 1,
        }
    }
    decoded
}

/// Everything that the compiler makes of program.c is known.
fn program<I: Lower>(core: &I::Core, compiler: &Compiler) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for level in ["-O0", "-Os", "-O2", "-O3"] {
        let object = compiler.compile(&sources().join("program.c"), &[level, "-c"]);
        let file = folder.path().join("program.o");
        std::fs::write(&file, object).expect("written");
        let Decoded { known, unknown, .. } = decode::<I>(core, compiler, &file);
        assert!(known > 250, "{level}: {known}");
        assert!(unknown.is_empty(), "{} {level}: {unknown:?}", compiler.gcc);
    }
}

/// What of a compiler's library decodes, and what does not.
fn library<I: Lower>(core: &I::Core, compiler: &Compiler, name: &str) -> Decoded {
    let found = Command::new(compiler.gcc)
        .args(compiler.flags)
        .arg(format!("-print-file-name={name}"))
        .output()
        .expect("the compiler runs");
    let path = String::from_utf8_lossy(&found.stdout).trim().to_string();
    assert!(path.contains('/'), "{} has no {name}", compiler.gcc);
    let decoded = decode::<I>(core, compiler, Path::new(&path));
    let Decoded {
        functions,
        thumb,
        known,
        unknown,
    } = &decoded;
    println!(
        "{} {name}: {functions} functions, {known} instructions decode, {} do not; {thumb} functions \
         are Thumb and left out",
        compiler.gcc,
        unknown.values().sum::<usize>()
    );
    assert!(*known > 1000, "{name}: {known}");
    decoded
}

#[test]
fn avr() {
    let core = &lozenge::isa::avr::cores::ATMEGA128;
    program::<AvrIsa>(core, &AVR);
    for name in ["libgcc.a", "libc.a", "libm.a"] {
        let unknown = library::<AvrIsa>(core, &AVR, name).unknown;
        assert!(unknown.is_empty(), "{name}: {unknown:?}");
    }
}

#[test]
fn arm() {
    let core = &lozenge::isa::arm::cores::ARM7TDMI;
    program::<ArmIsa>(core, &ARM);
    // Unwinding saves the registers of coprocessors, which this core does not have.
    let coprocessor = ["ldc", "stc", "ldf", "stf", "fld", "fst", "vld", "vst"];
    for (name, functions, thumb) in [
        ("libgcc.a", 0..=usize::MAX, 1..=usize::MAX),
        ("libc.a", 900..=usize::MAX, 0..=0),
        ("libm.a", 300..=usize::MAX, 0..=0),
    ] {
        let mut found = library::<ArmIsa>(core, &ARM, name);
        found
            .unknown
            .retain(|name, _| !coprocessor.iter().any(|start| name.starts_with(start)));
        assert!(found.unknown.is_empty(), "{name}: {:?}", found.unknown);
        assert!(functions.contains(&found.functions) && thumb.contains(&found.thumb));
    }
}

#[test]
fn mips() {
    let core = lozenge::isa::mips::cores::Core::named("mips-4km").expect("a core");
    program::<MipsIsa>(&core, &MIPS);
    let mut unknown = library::<MipsIsa>(&core, &MIPS, "libgcc.a").unknown;
    unknown.extend(library::<MipsIsa>(&core, &MIPS, "libc.so.6").unknown);
    // The library is built for release 2 of the architecture and for floating point.
    let release2 = ["ext", "ins", "seb", "seh", "wsbh", "ror", "rorv", "rdhwr"];
    let float = |name: &str| {
        let moves = [
            "bc1t", "bc1f", "movt", "movf", "mtc1", "mfc1", "mthc1", "mfhc1", "ctc1", "cfc1",
        ];
        let memory = ["lwc1", "swc1", "ldc1", "sdc1"];
        let typed = [".s", ".d", ".w"].iter().any(|end| name.ends_with(end));
        typed || moves.contains(&name) || memory.contains(&name)
    };
    // A hint to the cache, in copies of memory written by hand.
    unknown.remove("pref");
    unknown.retain(|name, _| !release2.contains(&name.as_str()) && !float(name));
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn riscv() {
    for compiler in [RISCV, RISCV_LONG] {
        let core = lozenge::isa::riscv::cores::Core::named(compiler.core).expect("a core");
        program::<RiscvIsa>(core, &compiler);
        let unknown = library::<RiscvIsa>(core, &compiler, "libgcc.a").unknown;
        assert!(unknown.is_empty(), "{}: {unknown:?}", compiler.core);
    }
}
