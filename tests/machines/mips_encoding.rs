//! MIPS32 encodings against GNU binutils, in both byte orders.

use lozenge::isa::Isa;
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::code::{Insn, forms};
use lozenge::isa::mips::cores::{Core, Features};
use lozenge::isa::mips::instructions::{Feature, Op, Timing};
use lozenge::vectors::Random;

use crate::kit::tier;
use crate::machines::binutils::{Binutils, PLAIN, mnemonic, numbers};

const PREFIX: &str = "mipsel-linux-gnu";

fn core(big_endian: bool, features: Features) -> Core {
    Core {
        big_endian,
        features,
        ..Core::named("mips-4km").unwrap()
    }
}

fn order(big_endian: bool) -> &'static str {
    if big_endian { "-EB" } else { "-EL" }
}

/// Each form with operands at their ends and random ones.
fn samples(random: &mut Random, count: usize) -> Vec<Insn> {
    let mut list = Vec::new();
    for form in forms() {
        let insns = numbers(&form.ranges(), random, count).into_iter();
        let insns = insns.map(|numbers| form.with(&numbers));
        // GNU as knows that a call must not overwrite what it reads.
        let jumps = matches!(form.timing, Timing::Jump | Timing::Branch);
        let overwrites = |insn: &Insn| {
            let itself = form.has('d') && insn.ops.d == insn.ops.s;
            itself || insn.writes() & insn.reads() != 0
        };
        list.extend(insns.filter(|insn| !jumps || !overwrites(insn)));
    }
    list
}

#[test]
fn text_assembles_to_our_bytes() {
    let insns = samples(&mut tier::random(1), tier::times(60));
    for (march, big) in [
        ("-march=4km", false),
        ("-march=4km", true),
        ("-march=mips32", false),
        ("-march=mips32", true),
    ] {
        let core = core(big, Features::ALL);
        let gnu = Binutils {
            prefix: PREFIX,
            assembler: &[
                order(big),
                march,
                "-mabi=32",
                "-no-pad-sections",
                // Debian's assembler would put a SYNC before LL.
                "-mno-fix-loongson3-llsc",
            ],
            before: MipsIsa::dialect(&core).preamble,
            ..PLAIN
        };
        gnu.assembles::<MipsIsa>(&core, "mips_as", &insns);
    }
}

/// What objdump calls instructions that MIPS32 or the 4Km has and kernels have no use for, or that
/// its choice of architecture adds.
const LEFT_OUT: [&str; 13] = [
    "jalx", "ll", "sc", "pref", "cache", "sdbbp", "ssnop", "ehb", "movf", "movt", "wait", "eret",
    "deret",
];

/// Names objdump gives instructions of a form beside the form's own.
fn other_names(op: Op) -> &'static [&'static str] {
    match op {
        Op::SLL => &["nop", "ssnop", "ehb"],
        Op::SUB => &["neg"],
        Op::SUBU => &["negu"],
        Op::ADDU | Op::OR => &["move"],
        Op::ADDIU | Op::ORI => &["li"],
        Op::NOR => &["not"],
        Op::BEQ => &["b", "beqz"],
        Op::BNE => &["bnez"],
        Op::BEQL => &["beqzl"],
        Op::BNEL => &["bnezl"],
        Op::BGEZAL => &["bal"],
        _ => &[],
    }
}

/// Opcode, function code and the register fields that tell instructions apart, others random or 0.
fn words(random: &mut Random, rounds: usize) -> Vec<u32> {
    let mut words = Vec::new();
    for opcode in 0..64u32 {
        for function in 0..64u32 {
            for round in 0..rounds {
                let bits = random.draw() as u32 & 0x03ff_ffc0;
                let bits = match round % 6 {
                    0 => bits,
                    1 => bits & 0x03ff_0000,
                    2 => bits & 0x03ff_f800,
                    3 => bits & 0x001f_ffc0,
                    4 => bits & 0x03e0_0000,
                    _ => bits & 0x0000_f800,
                };
                words.push(opcode << 26 | function | bits);
            }
        }
    }
    words
}

#[test]
fn objdump_reads_every_word_as_we_do() {
    let rounds = tier::times(6);
    let words = words(&mut tier::random(2), rounds);
    for big in [false, true] {
        let bytes = |word: &u32| match big {
            true => word.to_be_bytes().to_vec(),
            false => word.to_le_bytes().to_vec(),
        };
        let codes: Vec<Vec<u8>> = words.iter().map(bytes).collect();
        let same = |insn: &Insn, text: &str| {
            let name = mnemonic(text);
            insn.form().name == name || other_names(insn.op).contains(&name)
        };
        let fine = |code: &[u8], text: &str| {
            let code = code.try_into().expect("a word");
            let word = match big {
                true => u32::from_be_bytes(code),
                false => u32::from_le_bytes(code),
            };
            let name = mnemonic(text);
            let coprocessor = matches!(word >> 26, 0x10..=0x13 | 0x31..=0x3f);
            // rt and rd must be the same (MD00086, CLO, CLZ).
            let twice = matches!(name, "clz" | "clo") && word >> 16 & 31 != word >> 11 & 31;
            let none = name.starts_with('.') || name.starts_with("0x");
            coprocessor || twice || none || LEFT_OUT.contains(&name)
        };
        let gnu = Binutils {
            prefix: PREFIX,
            disassembler: &["-mmips:isa32", order(big), "-Mno-aliases"],
            ..PLAIN
        };
        let core = core(big, Features::NONE);
        let known = gnu.reads::<MipsIsa>(&core, "mips_objdump", &codes, same, fine);
        assert!(known > 4_000 * rounds / 6, "only {known}");
    }
}

#[test]
fn extensions_are_words_in_special2() {
    for form in forms().iter().filter(|f| f.feature != Feature::Base) {
        let insn = form.with(&[]);
        let text = insn.text();
        assert!(text.starts_with(".word 0x7"), "{text}");
        assert!(text.contains(form.name), "{text}");
        assert_eq!(Insn::decode(insn.code().unwrap(), Features::NONE), None);
    }
    assert_eq!(
        Insn::three(Op::SHA, 0, 0, 0).text(),
        ".word 0x70000028\t/* sha */"
    );
}
