//! AVR encodings against GNU binutils, on cores that between them have every row.

use std::process::Command;

use lozenge::isa::Isa;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::code::{Form, Insn, forms};
use lozenge::isa::avr::cores::{ATMEGA2560, ATTINY10, ATTINY85, ATXMEGA128A1, Core};
use lozenge::isa::avr::instructions::Op;
use lozenge::vectors::Random;

use crate::kit::oracle::{HINT, folder};
use crate::kit::tier;
use crate::machines::binutils::{Binutils, numbers};

const RANDOM: usize = 200;
/// Code starts here, so that relative jumps back stay above address 0.
const START: usize = 0x2000;

/// All combinations of smallest and largest operands, then random ones.
fn samples(form: &Form, random: &mut Random) -> Vec<Insn> {
    let numbers = numbers(&form.ranges(), random, tier::times(RANDOM));
    numbers
        .into_iter()
        .map(|numbers| form.with(&numbers))
        .collect()
}

/// A core and what GNU calls it: option of the assembler, of the linker, machine of the disassembler.
struct Family {
    core: &'static Core,
    names: [&'static str; 3],
}

/// Between them they have every row.
const FAMILIES: [Family; 4] = [
    Family {
        core: &ATMEGA2560,
        names: ["-mmcu=avr6", "-mavr6", "avr:6"],
    },
    Family {
        core: &ATTINY85,
        names: ["-mmcu=attiny85", "-mavr25", "avr:25"],
    },
    Family {
        core: &ATXMEGA128A1,
        names: ["-mmcu=atxmega128a1", "-mavrxmega7", "avr:107"],
    },
    Family {
        core: &ATTINY10,
        names: ["-mmcu=attiny10", "-mavrtiny", "avr:100"],
    },
];

/// Samples of every row that `core` has.
fn all_samples(core: &Core) -> Vec<Insn> {
    let mut random = tier::random(0x10_2e_46_e5);
    let rows = || forms().iter().filter(|form| core.set.has(form.op));
    let list: Vec<Insn> = rows()
        .flat_map(|form| samples(form, &mut random))
        .filter(|insn| core.refusal(insn).is_none())
        .collect();
    for form in rows() {
        let of_form = list.iter().filter(|insn| insn.op == form.op).count();
        // Half of r0..r31 and one displacement of 64 are left on the reduced core.
        assert!(of_form > 0, "{} is not covered", form.name);
        assert!(
            of_form > tier::times(RANDOM) || core == &ATTINY10,
            "{} is not covered",
            form.name
        );
    }
    list
}

impl Family {
    /// Asks the tools about it.
    fn gnu<T>(&self, ask: impl Fn(Binutils) -> T) -> T {
        let room = format!("\t.space {START}\n");
        ask(Binutils {
            prefix: "avr",
            assembler: &[self.names[0]],
            linker: Some(&[
                self.names[1],
                "-Ttext=0",
                "--defsym=__TEXT_REGION_LENGTH__=0x400000",
                "-e0",
            ]),
            disassembler: &["-m", self.names[2]],
            before: &room,
            // For jumps forward.
            behind: &room,
            start: START,
            // Such operands (LD r26, X+) have an encoding all the same.
            warnings: &["Warning: undefined combination of operands"],
        })
    }
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
fn text_assembles_to_our_bytes() {
    for family in &FAMILIES {
        let core = family.core;
        let (list, folder) = (all_samples(core), format!("avr_as_{}", core.name));
        family.gnu(|gnu| gnu.assembles::<AvrIsa>(core, &folder, &list));
    }
}

/// What GNU as refuses is what we say the core has not.
#[test]
fn gnu_as_knows_the_same_instructions() {
    for Family { core, names } in &FAMILIES {
        let directory = folder(&format!("avr_encoding_refused_{}", core.name));
        let mut random = tier::random(0x5e_75);
        for form in forms() {
            if matches!(form.op, Op::LDS | Op::STS | Op::LDS_RC | Op::STS_RC) {
                continue; // one name, the core chooses the encoding: compared above
            }
            let insn = samples(form, &mut random)
                .into_iter()
                .find(|insn| insn.registers().iter().all(|r| *r >= 20) && !insn.is_undefined())
                .unwrap_or_else(|| panic!("{}: a sample with high registers", form.name));
            let line = format!("{}\n", insn.text());
            std::fs::write(directory.join("one.s"), line).expect("written");
            let output = Command::new("avr-as")
                .args([names[0], "-o", "one.o", "one.s"])
                .current_dir(&directory)
                .output()
                .unwrap_or_else(|error| panic!("avr-as does not start ({error}): {HINT}"));
            let ours = core.refusal(&insn).is_none();
            let theirs = output.status.success();
            assert_eq!(
                ours,
                theirs,
                "{} on {}: ours left, GNU as right",
                insn.text(),
                core.name
            );
        }
    }
}

#[test]
fn objdump_reads_our_bytes_as_we_print_them() {
    for family in &FAMILIES {
        let core = family.core;
        let (list, folder) = (all_samples(core), format!("avr_objdump_{}", core.name));
        let code = AvrIsa::encode(core, &list).expect("code");
        let lines = family.gnu(|gnu| gnu.listing(&folder, &code));
        assert_eq!(lines.len(), list.len(), "{}", core.name);
        let mut at = 0;
        for (insn, (address, text)) in list.iter().zip(&lines) {
            assert_eq!(*address, at, "{}: length differs: {text}", insn.text());
            // objdump 2.26 prints the 7 bits in the code, not the 8-bit address they stand for.
            let mut shown = *insn;
            if matches!(insn.op, Op::LDS_RC | Op::STS_RC) {
                shown.ops.k &= 0x7f;
            }
            assert_eq!(meaning(text), meaning(&shown.text()), "at {at:#x}");
            at += insn.bytes();
        }
    }
}
