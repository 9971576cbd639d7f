//! Every row of the instruction table against GNU binutils: what we print is assembled to
//! our bytes, and our bytes are disassembled to what we print.

use std::path::{Path, PathBuf};
use std::process::Command;

use lozenge::isa::avr::code::{Form, Insn, forms};
use object::{Object, ObjectSection};

const RANDOM: usize = 200;
/// Code starts here, so that relative jumps back stay above address 0.
const START: usize = 0x2000;
const HINT: &str = "run scripts/test, which installs binutils-avr";

/// xorshift64* (Vigna, 2016).
fn random(state: &mut u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
}

/// All combinations of smallest and largest operands, then random ones.
fn samples(form: &Form, seed: &mut u64) -> Vec<Insn> {
    let ranges = form.ranges();
    let corners = (0..1usize << ranges.len()).map(|corner| {
        let pick = |(i, &(letter, low, high, _)): (usize, &(char, i64, i64, i64))| {
            (letter, if corner >> i & 1 == 0 { low } else { high })
        };
        form.with(&ranges.iter().enumerate().map(pick).collect::<Vec<_>>())
    });
    let mut list: Vec<_> = corners.collect();
    for _ in 0..RANDOM {
        let values = ranges.iter().map(|&(letter, low, high, step)| {
            let count = (high - low) / step + 1;
            (letter, low + step * (random(seed) as i64 % count))
        });
        list.push(form.with(&values.collect::<Vec<_>>()));
    }
    list
}

fn all_samples() -> Vec<Insn> {
    let mut seed = 0x10_2e_46_e5;
    let list: Vec<Insn> = forms()
        .iter()
        .flat_map(|form| samples(form, &mut seed))
        .collect();
    for form in forms() {
        let of_form = list.iter().filter(|insn| insn.op == form.op).count();
        assert!(of_form > RANDOM, "{} is not covered", form.name);
    }
    list
}

fn encode(insn: &Insn) -> Vec<u8> {
    let mut bytes = Vec::new();
    insn.encode(&mut bytes).expect("operands in their ranges");
    assert_eq!(
        Insn::decode(&bytes),
        Some(*insn),
        "{}: decoded otherwise than encoded",
        insn.text()
    );
    bytes
}

fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).expect("the test's directory can be made");
    path
}

/// Runs a GNU tool in `directory` and returns what it printed.
fn tool(directory: &Path, name: &str, arguments: &[&str]) -> String {
    let output = Command::new(name)
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap_or_else(|error| panic!("{name} does not start ({error}): {HINT}"));
    let complaints = String::from_utf8_lossy(&output.stderr);
    // Such operands (LD r26, X+) have an encoding all the same.
    let expected = |line: &str| {
        line.ends_with("Assembler messages:")
            || line.ends_with("Warning: undefined combination of operands")
    };
    assert!(
        output.status.success() && complaints.lines().all(expected),
        "{name} {arguments:?} failed: {complaints}"
    );
    String::from_utf8(output.stdout).expect("the tool prints text")
}

fn write(directory: &Path, name: &str, contents: &[u8]) {
    std::fs::write(directory.join(name), contents).expect("the test's directory can be written");
}

/// The instruction behind an alias, its operands as GNU writes them or as numbers:
/// `brne .+4` and `brbc 1, .+4` are both `[brbc, 1, 4]`.
fn meaning(text: &str) -> Vec<String> {
    let text = text.split(';').next().unwrap_or_default().trim();
    let (name, operands) = text.split_once([' ', '\t']).unwrap_or((text, ""));
    let mut words: Vec<String> = operands
        .split(',')
        .map(str::trim)
        .filter(|operand| !operand.is_empty())
        .map(|operand| number(operand).map_or(operand.to_string(), |n| n.to_string()))
        .collect();
    // Flags in the order of SREG's bits (DS40002198, conditional branch summary).
    let flag = |names: [&str; 8]| names.iter().position(|n| *n == name);
    let if_set = flag([
        "brcs", "breq", "brmi", "brvs", "brlt", "brhs", "brts", "brie",
    ]);
    let if_clear = flag([
        "brcc", "brne", "brpl", "brvc", "brge", "brhc", "brtc", "brid",
    ]);
    let set = flag(["sec", "sez", "sen", "sev", "ses", "seh", "set", "sei"]);
    let clear = flag(["clc", "clz", "cln", "clv", "cls", "clh", "clt", "cli"]);
    let flags = [
        ("brbs", if_set),
        ("brbc", if_clear),
        ("bset", set),
        ("bclr", clear),
    ];
    let mut name = name;
    for (plain, bit) in flags {
        if let Some(bit) = bit {
            name = plain;
            words.insert(0, bit.to_string());
        }
    }
    let twice = [
        ("clr", "eor"),
        ("lsl", "add"),
        ("rol", "adc"),
        ("tst", "and"),
    ];
    if let Some((_, plain)) = twice.iter().find(|pair| pair.0 == name) {
        name = plain;
        words.push(words[0].clone());
    }
    if name == "ser" {
        name = "ldi";
        words.push("255".into());
    }
    // GNU writes a displacement of 0 as none.
    if (name == "ld" || name == "st")
        && let Some(pointer) = words.iter_mut().find(|word| *word == "Y" || *word == "Z")
    {
        *pointer += "+0";
        name = if name == "ld" { "ldd" } else { "std" };
    }
    words.insert(0, name.to_string());
    words
}

fn number(operand: &str) -> Option<i64> {
    let digits = operand.strip_prefix('.').unwrap_or(operand);
    match digits.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}

#[test]
fn gnu_as_gives_our_bytes() {
    let directory = directory("avr_encoding_as");
    let list = all_samples();
    let mut source = format!("\t.text\n\t.space {START}\n");
    let mut expected = vec![0; START];
    for insn in &list {
        source += &format!("\t{}\n", insn.text());
        expected.extend(encode(insn));
    }
    // Room after the last, for jumps forward.
    source += &format!("\t.space {START}\n");
    expected.resize(expected.len() + START, 0);
    write(&directory, "listing.s", source.as_bytes());
    tool(
        &directory,
        "avr-as",
        &["-mmcu=avr6", "-o", "listing.o", "listing.s"],
    );
    tool(
        &directory,
        "avr-ld",
        &[
            "-mavr6",
            "-Ttext=0",
            "-e0",
            "-o",
            "listing.elf",
            "listing.o",
        ],
    );

    let elf = std::fs::read(directory.join("listing.elf")).expect("avr-ld wrote its output");
    let elf = object::File::parse(&*elf).expect("avr-ld writes ELF");
    let text = elf
        .section_by_name(".text")
        .expect("the program has a .text");
    let theirs = text.data().expect(".text has contents");
    let mut at = START;
    for insn in &list {
        let bytes = encode(insn);
        let same = theirs.get(at..at + bytes.len());
        assert_eq!(same, Some(&bytes[..]), "{} at {at:#x}", insn.text());
        at += bytes.len();
    }
    assert!(theirs == expected, "GNU as assembled more than we printed");
}

#[test]
fn gnu_objdump_reads_our_bytes_as_we_print_them() {
    let directory = directory("avr_encoding_objdump");
    let list = all_samples();
    let code: Vec<u8> = list.iter().flat_map(encode).collect();
    write(&directory, "code.bin", &code);
    let wrap = [
        "-I",
        "binary",
        "-O",
        "elf32-avr",
        "-B",
        "avr:6",
        "--rename-section",
        ".data=.text,contents,alloc,load,readonly,code",
    ];
    tool(
        &directory,
        "avr-objcopy",
        &[&wrap[..], &["code.bin", "code.o"]].concat(),
    );
    let listing = tool(
        &directory,
        "avr-objdump",
        &["-d", "-z", "-m", "avr:6", "code.o"],
    );

    // "   1c:\t0e 94 34 12 \tcall\t0x2468\t; 0x2468 <...>"
    let mut lines = listing.lines().filter_map(|line| {
        let (address, rest) = line.split_once(":\t")?;
        let (_bytes, text) = rest.split_once('\t')?;
        let address = usize::from_str_radix(address.trim(), 16).ok()?;
        Some((address, text))
    });
    let mut at = 0;
    for insn in &list {
        let (address, text) = lines
            .next()
            .unwrap_or_else(|| panic!("objdump stops before {} at {at:#x}", insn.text()));
        assert_eq!(address, at, "{}: length differs: {text}", insn.text());
        assert_eq!(meaning(text), meaning(&insn.text()), "at {at:#x}");
        at += encode(insn).len();
    }
    assert_eq!(lines.next(), None, "objdump reads more than we wrote");
}
