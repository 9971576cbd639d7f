//! Every dialect is a view of the same bytes: a parser of that dialect's subset, which shares
//! nothing with the emitter, reads the file back; GNU as and ld encode what it read; the bytes
//! must be those of the object file. And `.S` files are empty where they do not belong.

use std::path::Path;
use std::process::Command;

use object::{Object, ObjectSection, ObjectSymbol};

use crate::kit::oracle::{HINT, MSP430_BINUTILS, lozenge, run};

fn generate(folder: &Path, arguments: &str) {
    run(lozenge()
        .arg("gen")
        .args(arguments.split_whitespace())
        .args(["--variable-time", "--force", "-o"])
        .arg(folder));
}

/// What a file says, in any dialect.
#[derive(Debug)]
struct Parsed {
    symbol: String,
    /// Labels (`name:`) and instructions.
    body: Vec<String>,
}

/// Lines without comments, and without empty ones.
fn significant(text: &str) -> Vec<&str> {
    text.lines()
        .map(|line| line.split(';').next().unwrap_or_default().trim_end())
        .filter(|line| !line.is_empty())
        .collect()
}

fn is_name(text: &str) -> bool {
    let first = text
        .chars()
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    first && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Takes the directives of `head`, `$` standing for the symbol, and of `tail` away.
fn framed<'t>(lines: &[&'t str], head: &[&str], tail: &[&str], symbol: &str) -> Vec<&'t str> {
    assert!(
        lines.len() > head.len() + tail.len(),
        "the file is too short"
    );
    let (before, rest) = lines.split_at(head.len());
    let (body, after) = rest.split_at(rest.len() - tail.len());
    for (line, want) in before.iter().zip(head).chain(after.iter().zip(tail)) {
        assert_eq!(*line, want.replace('$', symbol));
    }
    body.to_vec()
}

/// Labels as `label` recognises them, instructions behind a tab.
fn body(lines: &[&str], label: impl Fn(&str) -> Option<String>) -> Vec<String> {
    lines
        .iter()
        .map(|line| match line.strip_prefix('\t') {
            Some(insn) => {
                assert!(
                    !insn.contains(['\t', '.', ':', '$', '"', '@', '|']),
                    "{insn}"
                );
                insn.to_string()
            }
            None => label(line).unwrap_or_else(|| panic!("{line} is no label")) + ":",
        })
        .collect()
}

fn with_colon(line: &str) -> Option<String> {
    line.strip_suffix(':')
        .filter(|n| is_name(n))
        .map(String::from)
}

/// Labels and instructions of an MSP430 as its vendors write them: R4 to R15, PC, SP and SR, `X(R)`, `&X`, `@R`, `@R+`, `#X`.
fn of_msp430(lines: &[&str]) -> Vec<String> {
    let register = |text: &str| match text {
        "PC" => "r0".to_string(),
        "SP" => "r1".to_string(),
        "SR" => "r2".to_string(),
        _ => {
            let number = text.strip_prefix('r').and_then(|r| r.parse::<u8>().ok());
            assert!(number.is_some_and(|r| (4..16).contains(&r)), "{text}");
            text.to_string()
        }
    };
    let number = |text: &str| {
        let digits = text.trim_start_matches('-');
        let hex = digits.strip_prefix("0x").map(|hex| (hex, 16));
        let (digits, radix) = hex.unwrap_or((digits, 10));
        assert!(i64::from_str_radix(digits, radix).is_ok(), "{text}");
        text.to_string()
    };
    let operand = |text: &str| {
        if let Some(r) = text.strip_prefix('@') {
            let plain = r.trim_end_matches('+');
            return format!("@{}{}", register(plain), &r[plain.len()..]);
        }
        match (text.split_once('('), &text[..1]) {
            (Some((x, r)), _) => {
                let r = r.strip_suffix(')').expect("a register in brackets");
                format!("{}({})", number(x), register(r))
            }
            (None, "#" | "&") => format!("{}{}", &text[..1], number(&text[1..])),
            _ if is_name(text) && text.contains('_') => text.to_string(),
            _ => register(text),
        }
    };
    let line = |line: &&str| {
        let Some(insn) = line.strip_prefix('\t') else {
            return with_colon(line).expect("a label") + ":";
        };
        let (name, operands) = insn.split_once(' ').unwrap_or((insn, ""));
        let plain = name.trim_end_matches(".b").trim_end_matches(".w");
        let plain = plain.trim_end_matches(".a");
        assert!(plain.chars().all(|c| c.is_ascii_lowercase()), "{name}");
        let operands = operands.split(", ").filter(|text| !text.is_empty());
        let operands: Vec<_> = operands.map(operand).collect();
        format!("{name} {}", operands.join(", "))
    };
    lines.iter().map(line).collect()
}

fn parse(dialect: &str, machine: &str, text: &str) -> Parsed {
    let lines = significant(text);
    let named = |prefix: &str| {
        let found = lines.iter().find_map(|l| l.strip_prefix(prefix));
        let name = found.unwrap_or_else(|| panic!("no {prefix}"));
        assert!(is_name(name), "{name}");
        name.to_string()
    };
    match (dialect, machine) {
        ("iar", "avr") => {
            let symbol = named("\tPUBLIC ");
            let head = [
                "\tMODULE $",
                "\tPUBLIC $",
                "\tRSEG CODE:CODE:NOROOT(1)",
                "$:",
            ];
            let inner = framed(&lines, &head, &["\tEND"], &symbol);
            Parsed {
                body: body(&inner, with_colon),
                symbol,
            }
        }
        ("iar", MSP430_BINUTILS) => {
            let symbol = named("\tPUBLIC ");
            let head = [
                "\tMODULE $",
                "\tPUBLIC $",
                "\tRSEG CODE:CODE:NOROOT(1)",
                "$:",
            ];
            let inner = framed(&lines, &head, &["\tEND"], &symbol);
            Parsed {
                body: of_msp430(&inner),
                symbol,
            }
        }
        ("ti", _) => {
            let symbol = named("\t.def ");
            let head = [
                "\t.def $",
                "\t.sect \".text:$\"",
                "\t.align 2",
                "$:\t.asmfunc",
            ];
            let inner = framed(&lines, &head, &["\t.endasmfunc", "\t.end"], &symbol);
            Parsed {
                body: of_msp430(&inner),
                symbol,
            }
        }
        ("iar", _) => {
            let symbol = named("\tPUBLIC ");
            let head = [
                "\tMODULE $",
                "\tPUBLIC $",
                "\tSECTION `.text`:CODE:NOROOT(2)",
                "\tARM",
                "$:",
            ];
            let inner = framed(&lines, &head, &["\tEND"], &symbol);
            Parsed {
                body: body(&inner, with_colon),
                symbol,
            }
        }
        ("crossworks", _) => {
            let symbol = named("\t.public ");
            let inner = framed(
                &lines,
                &["\t.code", "\t.public $", "$:"],
                &["\t.end"],
                &symbol,
            );
            Parsed {
                body: body(&inner, with_colon),
                symbol,
            }
        }
        _ => {
            let symbol = named("\tEXPORT ");
            let head = [
                "\tAREA |.text.$|, CODE, READONLY, ALIGN=2",
                "\tARM",
                "\tEXPORT $",
                "$ PROC",
            ];
            let inner = framed(&lines, &head, &["\tENDP", "\tEND"], &symbol);
            let plain = |line: &str| is_name(line).then(|| line.to_string());
            Parsed {
                body: body(&inner, plain),
                symbol,
            }
        }
    }
}

/// The code that GNU as and ld make of what was parsed.
fn assemble(folder: &Path, parsed: &Parsed, tools: &str, cpu: &str, link: &[&str]) -> Vec<u8> {
    let mut source = format!("\t.text\n\t.global {0}\n{0}:\n", parsed.symbol);
    if tools == "arm-none-eabi" {
        source.insert_str(0, "\t.syntax unified\n\t.arm\n");
    }
    source += &parsed.body.join("\n");
    source.push('\n');
    std::fs::write(folder.join("back.s"), source).expect("it can be written");
    // The regions of the MSP430 linker's own script are for small parts.
    let script = "SECTIONS { .text 0 : { *(.text) } }\n";
    std::fs::write(folder.join("t.ld"), script).expect("it can be written");
    let tool = |name: &str| {
        let mut command = Command::new(format!("{tools}-{name}"));
        command.current_dir(folder);
        command
    };
    run(tool("as").args([cpu, "-o", "back.o", "back.s"]));
    run(tool("ld")
        .args(link)
        .args(["-Ttext=0", "-e0", "back.o", "-o", "back.elf"]));
    let data = std::fs::read(folder.join("back.elf")).expect("it can be read");
    let file = object::File::parse(&*data).expect("an executable");
    let text = file.section_by_name(".text").expect("it has code");
    text.data().expect("it has bytes").to_vec()
}

fn object_code(path: &Path, symbol: &str) -> Vec<u8> {
    let data = std::fs::read(path).expect("the object can be read");
    let file = object::File::parse(&*data).expect("an object");
    let section = file.section_by_name(&format!(".text.{symbol}"));
    section
        .expect("the function's section")
        .data()
        .expect("bytes")
        .to_vec()
}

#[test]
fn text_reads_back_as_the_same_bytes() {
    let base = tempfile::tempdir().expect("a temporary folder");
    let avr = |mcu: &'static str, arch: &'static str| ("avr", format!("-mmcu={mcu}"), vec![arch]);
    let msp430 = |cpu: &str| (MSP430_BINUTILS, format!("-mcpu={cpu}"), vec!["-T", "t.ld"]);
    let region = "--defsym=__TEXT_REGION_LENGTH__=0x400000";
    let cells = [
        (
            avr("atmega128", "-mavr51"),
            "mul 64 --mcu atmega128",
            ["iar", "crossworks"],
        ),
        (
            avr("atmega2560", "-mavr6"),
            "mul 160 --mcu atmega2560",
            ["iar", "crossworks"],
        ),
        (
            avr("atmega128", "-mavr51"),
            "mul 96 --mcu atmega128 --abi iar",
            ["iar", "crossworks"],
        ),
        (
            avr("attiny85", "-mavr25"),
            "mul 24 --mcu attiny85 --prefix lz_",
            ["iar", "crossworks"],
        ),
        (
            avr("attiny85", "-mavr25"),
            "mul 160 --mcu attiny85",
            ["iar", "crossworks"],
        ),
        (
            avr("attiny10", "-mavrtiny"),
            "mul 32 --mcu attiny10",
            ["iar", "crossworks"],
        ),
        (
            avr("atxmega128a1", "-mavrxmega7"),
            "mul 96 --mcu atxmega128a1",
            ["iar", "crossworks"],
        ),
        (
            ("arm-none-eabi", "-mcpu=arm7tdmi".into(), vec![]),
            "mul 64 --core arm7tdmi",
            ["iar", "armasm"],
        ),
        (
            ("arm-none-eabi", "-mcpu=arm7tdmi".into(), vec![]),
            "mul 512 --core arm7tdmi --prefix _",
            ["iar", "armasm"],
        ),
        (
            msp430("msp430"),
            "mul 128 --mcu msp430f1611 --abi iar",
            ["iar", "ti"],
        ),
        (
            msp430("msp430x"),
            "mul 256 --mcu msp430f5529 --style rolled --irq mask-per-column",
            ["iar", "ti"],
        ),
        (
            msp430("msp430x"),
            "mul 48 --core msp430x --abi large",
            ["iar", "ti"],
        ),
    ];
    let mut labels = 0;
    for (i, ((tools, cpu, link), arguments, dialects)) in cells.iter().enumerate() {
        for dialect in dialects {
            let folder = base.path().join(format!("{i}{dialect}"));
            generate(&folder, &format!("{arguments} --dialect {dialect}"));
            let extension = match (*dialect, *tools) {
                ("iar", "avr") => "s90",
                ("iar", MSP430_BINUTILS) => "s43",
                ("crossworks" | "ti", _) => "asm",
                _ => "s",
            };
            let files = std::fs::read_dir(&folder).expect("the folder");
            let asm = files
                .map(|f| f.expect("a file").path())
                .find(|p| p.extension().is_some_and(|e| e == extension))
                .unwrap_or_else(|| panic!("{arguments}: no .{extension}"));
            let text = std::fs::read_to_string(&asm).expect("text");
            let parsed = parse(dialect, tools, &text);
            labels += parsed.body.iter().filter(|l| l.ends_with(':')).count();
            let mut link = link.clone();
            if *tools == "avr" {
                link.push(region);
            }
            let theirs = assemble(&folder, &parsed, tools, cpu, &link);
            let ours = object_code(&asm.with_extension("o"), &parsed.symbol);
            assert_eq!(
                asm.file_stem().and_then(|s| s.to_str()),
                Some(&*parsed.symbol)
            );
            assert!(
                ours == theirs,
                "{arguments} --dialect {dialect}: other bytes"
            );
            let header = std::fs::read_to_string(asm.with_extension("h")).expect("the header");
            assert!(
                header.contains(&format!("extern void {}(", parsed.symbol)),
                "{arguments}"
            );
        }
    }
    assert!(labels > 20, "{labels} labels read");
}

#[test]
fn a_dialect_that_a_machine_has_not_is_refused() {
    for (arguments, what) in [
        (
            "mul 8 --mcu atmega8 --dialect armasm",
            "gnu or iar or crossworks",
        ),
        (
            "mul 32 --core arm7tdmi --dialect crossworks",
            "gnu or iar or armasm",
        ),
        (
            "mul 32 --core mips-4km-32x16 --dialect iar",
            "--dialect gnu",
        ),
        ("mul 8 --mcu atmega8 --abi iat", "try gcc or iar"),
        ("mul 8 --mcu attiny10 --abi iar", "leave out --abi"),
        (
            "mul 160 --mcu atmega8 --abi iar --style looped --method operand-caching",
            "or --abi gcc",
        ),
        ("mul 32 --core arm7tdmi --abi iar", "leave out --abi"),
        ("mul 32 --core msp430 --dialect armasm", "gnu or iar or ti"),
        (
            "mul 32 --core msp430 --abi large",
            "try gcc or mspgcc or iar",
        ),
        (
            "mul 32 --core msp430x --abi eabi",
            "gcc or mspgcc or iar or large",
        ),
        (
            "modexp 64 --mcu msp430f1611 --abi large",
            "try gcc or mspgcc or iar",
        ),
        ("mul 8 --mcu atmega8 --prefix 1x", "try lz_"),
        ("mul 8 --mcu atmega8 --prefix a-b", "try lz_"),
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let output = lozenge()
            .arg("gen")
            .args(arguments.split_whitespace())
            .arg("-o")
            .arg(folder.path())
            .output()
            .expect("it starts");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {told}");
        assert!(told.contains(what), "{arguments}: {told}");
        assert_eq!(
            std::fs::read_dir(folder.path())
                .expect("the folder")
                .count(),
            0
        );
    }
}

/// A kernel in IAR's convention is written for IAR's assembler, says in every file how it is
/// called, and its header is refused by the compiler that calls otherwise.
#[test]
fn iars_convention_is_told_everywhere() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    generate(folder.path(), "mul 64 --mcu atmega128 --abi iar");
    let mut files: Vec<_> = std::fs::read_dir(folder.path())
        .expect("the folder")
        .map(|f| f.expect("a file").file_name().into_string().expect("UTF-8"))
        .collect();
    files.sort();
    assert_eq!(files, ["mul64.h", "mul64.json", "mul64.o", "mul64.s90"]);
    for name in ["mul64.h", "mul64.json", "mul64.s90"] {
        let text = std::fs::read_to_string(folder.path().join(name)).expect("text");
        assert!(text.contains("IAR AVR, data stack in Y"), "{name}");
        assert!(
            text.contains("--mcu atmega128 --abi iar --method "),
            "{name}"
        );
    }
    let compile = |guard: &str| {
        let source = format!("{guard}\n#include \"mul64.h\"\nint main(void) {{ return 0; }}\n");
        std::fs::write(folder.path().join("main.c"), source).expect("written");
        let mut gcc = Command::new("avr-gcc");
        gcc.current_dir(folder.path())
            .args(["-mmcu=atmega128", "-fsyntax-only", "main.c"]);
        let output = gcc.output().unwrap_or_else(|e| panic!("{e}: {HINT}"));
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (accepted, told) = compile("");
    assert!(
        !accepted && told.contains("mul64 is called as IAR AVR"),
        "{told}"
    );
    let (accepted, told) = compile("#undef __GNUC__");
    assert!(accepted, "{told}");
    generate(folder.path(), "mul 64 --mcu atmega128");
    let (accepted, told) = compile("#define __ICCAVR__ 1");
    assert!(
        !accepted && told.contains("mul64 is called as avr-gcc"),
        "{told}"
    );
    let (accepted, told) = compile("");
    assert!(accepted, "{told}");
}

/// Kernels in the conventions of an MSP430 say how they are called, their headers are errors elsewhere, and `check` proves their
/// objects in that convention and not in the usual one.
#[test]
fn conventions_of_the_msp430_are_told_everywhere() {
    for (abi, called, refused) in [
        ("mspgcc", "mspgcc; no interrupt", "!defined(__MSPGCC__)"),
        (
            "large",
            "msp430 eabi, large model, all data below 64 KB",
            "!defined(__MSP430X_LARGE__)",
        ),
        ("gcc", "msp430 eabi; no interrupt", "defined(__MSPGCC__)"),
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let target = format!("--mcu msp430f5529 --abi {abi}");
        generate(folder.path(), &format!("mul 64 {target}"));
        for name in ["mul64.h", "mul64.S"] {
            let text = std::fs::read_to_string(folder.path().join(name)).expect("text");
            assert!(
                text.contains(called) && text.contains(refused),
                "{abi}: {name}"
            );
        }
        let proved = |abi: &str| {
            let line = format!("--symbol mul64 --op mul --bits 64 --mcu msp430f5529 --abi {abi}");
            let mut check = lozenge();
            check.arg("check").arg(folder.path().join("mul64.o"));
            let output = check.args(line.split_whitespace()).output();
            output.expect("it starts").status.success()
        };
        assert!(proved(abi), "{abi}");
        assert_eq!(proved("gcc"), abi == "gcc", "{abi}");
    }
}

/// Does the compiler find the function in the `.S` file? It must accept the file in any case.
fn defines(folder: &Path, compiler: &str, options: &[&str], symbol: &str) -> bool {
    let name = format!("{symbol}.S");
    run(Command::new(compiler)
        .current_dir(folder)
        .args(options)
        .args(["-c", &name, "-o", "guarded.o"]));
    let data = std::fs::read(folder.join("guarded.o")).expect("the object");
    let file = object::File::parse(&*data).expect("an object");
    file.symbols().any(|s| s.name() == Ok(symbol))
}

/// A folder of kernels for several machines builds for each of them (Arduino, PlatformIO).
#[test]
fn assembly_is_empty_for_other_machines() {
    // The first as the Arduino IDE's platform.txt has it (recipe.S.o.pattern).
    #[rustfmt::skip]
    let arduino = [
        "-g", "-x", "assembler-with-cpp", "-flto", "-MMD", "-mmcu=atmega328p", "-DF_CPU=16000000L",
        "-DARDUINO=10819", "-DARDUINO_AVR_UNO", "-DARDUINO_ARCH_AVR", "-I.",
    ];
    let compilers: [(&str, &[&str]); 8] = [
        ("avr-gcc", &arduino),
        ("avr-gcc", &["-mmcu=attiny85"]),
        ("avr-gcc", &["-mmcu=attiny10"]),
        ("avr-gcc", &["-mmcu=atxmega32a4"]),
        ("arm-none-eabi-gcc", &["-mcpu=arm7tdmi"]),
        ("mipsel-linux-gnu-gcc", &["-march=mips32"]),
        ("gcc", &[]),
        (
            "riscv64-unknown-elf-gcc",
            &["-march=rv32imc", "-mabi=ilp32"],
        ),
    ];
    // Which of the compilers take which kernel.
    let kernels: [(&str, &str, &[usize]); 6] = [
        ("mul 16 --mcu atmega328p", "mul16", &[0, 3]),
        ("mul 16 --mcu attiny85", "mul16", &[0, 1, 3]),
        ("mul 16 --mcu attiny10", "mul16", &[2]),
        ("mul 64 --core arm7tdmi", "mul64", &[4]),
        ("mul 64 --core mips-4km-32x16", "mul64", &[5]),
        ("mul 64 --core rv32imc", "mul64", &[7]),
    ];
    let base = tempfile::tempdir().expect("a temporary folder");
    for (i, (arguments, symbol, takers)) in kernels.iter().enumerate() {
        let folder = base.path().join(i.to_string());
        generate(&folder, arguments);
        for (c, (compiler, options)) in compilers.iter().enumerate() {
            let found = defines(&folder, compiler, options, symbol);
            assert_eq!(
                found,
                takers.contains(&c),
                "{arguments}: {compiler} {options:?}"
            );
        }
    }
}
