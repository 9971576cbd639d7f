//! No ordinary compiler output is an unknown instruction: every instruction that objdump finds
//! in a compiled program, and in the compilers' libraries, decodes.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::tools::{ARM, AVR, Compiler, MIPS, sources};
use lozenge::isa::Isa;
use lozenge::isa::arm::ArmIsa;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::mips::MipsIsa;

/// Mnemonic and bytes of every instruction in `file`, as objdump shows them.
fn disassembly(compiler: &Compiler, file: &Path) -> Vec<(String, Vec<u8>)> {
    let objdump = compiler.gcc.replace("gcc", "objdump");
    let out = Command::new(&objdump).arg("-d").arg(file).output();
    let out = out.unwrap_or_else(|e| panic!("{objdump}: {e}"));
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let mut list = Vec::new();
    for line in text.lines() {
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
        if bytes.trim().len() == 4 && !compiler.gcc.starts_with("avr") {
            continue;
        }
        let mut code = Vec::new();
        for word in bytes.split_whitespace() {
            let word_bytes = (0..word.len()).step_by(2);
            let mut part: Vec<u8> = word_bytes
                .map(|i| u8::from_str_radix(&word[i..i + 2], 16).expect("hexadecimal"))
                .collect();
            part.reverse();
            code.extend(part);
        }
        list.push((name.to_string(), code));
    }
    assert!(
        list.len() > 100,
        "{}: {} instructions",
        file.display(),
        list.len()
    );
    list
}

/// How many instructions decode, and which do not.
fn decode<I: Isa>(
    core: &I::Core,
    compiler: &Compiler,
    file: &Path,
) -> (usize, BTreeMap<String, usize>) {
    let (mut known, mut unknown) = (0, BTreeMap::new());
    for (name, bytes) in disassembly(compiler, file) {
        match I::decode(core, &bytes) {
            Ok(list) if list.len() == 1 => known += 1,
            _ => *unknown.entry(name).or_insert(0) += 1,
        }
    }
    (known, unknown)
}

/// Everything that the compiler makes of program.c is known.
fn program<I: Isa>(core: &I::Core, compiler: &Compiler) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for level in ["-O0", "-Os", "-O2", "-O3"] {
        let object = compiler.compile(&sources().join("program.c"), &[level, "-c"]);
        let file = folder.path().join("program.o");
        std::fs::write(&file, object).expect("written");
        let (known, unknown) = decode::<I>(core, compiler, &file);
        assert!(known > 250, "{level}: {known}");
        assert!(unknown.is_empty(), "{} {level}: {unknown:?}", compiler.gcc);
    }
}

/// What of a compiler's library does not decode.
fn library<I: Isa>(core: &I::Core, compiler: &Compiler, name: &str) -> BTreeMap<String, usize> {
    let found = Command::new(compiler.gcc)
        .args(compiler.flags)
        .arg(format!("-print-file-name={name}"))
        .output()
        .expect("the compiler runs");
    let path = String::from_utf8_lossy(&found.stdout).trim().to_string();
    assert!(path.contains('/'), "{} has no {name}", compiler.gcc);
    let (known, unknown) = decode::<I>(core, compiler, Path::new(&path));
    assert!(known > 1000, "{name}: {known}");
    unknown
}

#[test]
fn avr() {
    let core = &lozenge::isa::avr::cores::ATMEGA128;
    program::<AvrIsa>(core, &AVR);
    for name in ["libgcc.a", "libc.a", "libm.a"] {
        let unknown = library::<AvrIsa>(core, &AVR, name);
        assert!(unknown.is_empty(), "{name}: {unknown:?}");
    }
}

#[test]
fn arm() {
    let core = &lozenge::isa::arm::cores::ARM7TDMI;
    program::<ArmIsa>(core, &ARM);
    let mut unknown = library::<ArmIsa>(core, &ARM, "libgcc.a");
    // Unwinding saves the registers of coprocessors, which this core does not have.
    let coprocessor = ["ldc", "stc", "ldf", "stf", "fld", "fst", "vld", "vst"];
    unknown.retain(|name, _| !coprocessor.iter().any(|start| name.starts_with(start)));
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn mips() {
    let core = lozenge::isa::mips::cores::Core::named("mips-4km").expect("a core");
    program::<MipsIsa>(&core, &MIPS);
    let mut unknown = library::<MipsIsa>(&core, &MIPS, "libgcc.a");
    unknown.extend(library::<MipsIsa>(&core, &MIPS, "libc.so.6"));
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
