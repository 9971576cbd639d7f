//! MIPS32 encodings against GNU binutils: what we print assembles to our bytes, and what we
//! decode objdump calls the same.

use lozenge::isa::Isa;
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::code::{Insn, forms};
use lozenge::isa::mips::cores::{Core, Features};
use lozenge::isa::mips::instructions::{Feature, Op, Timing};
use lozenge::vectors::Random;

use crate::kit::oracle::{folder, tool};
use crate::kit::tier;

fn core(big_endian: bool) -> Core {
    Core {
        big_endian,
        features: Features::ALL,
        ..Core::named("mips-4km").unwrap()
    }
}

/// Each form with random operands.
fn samples(random: &mut Random, count: usize) -> Vec<Insn> {
    let mut list = Vec::new();
    for form in forms() {
        for _ in 0..count {
            let number = |(letter, least, most, step): (char, i64, i64, i64)| {
                let number =
                    least + step * random.below(((most - least) / step + 1) as usize) as i64;
                (letter, number)
            };
            let numbers: Vec<_> = form.ranges().into_iter().map(number).collect();
            let insn = form.with(&numbers);
            // GNU as knows that a call must not overwrite what it reads.
            let calls = insn.writes() & insn.reads() != 0;
            if !calls || !matches!(form.timing, Timing::Jump | Timing::Branch) {
                list.push(insn);
            }
        }
    }
    list
}

#[test]
fn text_assembles_to_our_bytes() {
    let dir = folder("mips_as");
    let insns = samples(&mut tier::random(1), tier::times(60));
    for (march, big) in [
        ("4km", false),
        ("4km", true),
        ("mips32", false),
        ("mips32", true),
    ] {
        let core = core(big);
        let mut text = MipsIsa::dialect(&core).preamble.to_string();
        // A branch at the end would reach outside the section: the file ends with room.
        for insn in &insns {
            text += &format!("\t{}\n", MipsIsa::text(insn));
        }
        std::fs::write(dir.join("t.s"), text).unwrap();
        let order = if big { "-EB" } else { "-EL" };
        let march = format!("-march={march}");
        let flags = [
            order,
            &march,
            "-mabi=32",
            "-no-pad-sections",
            "-o",
            "t.o",
            "t.s",
            // Debian's assembler would put a SYNC before LL.
            "-mno-fix-loongson3-llsc",
        ];
        tool(&dir, "mipsel-linux-gnu-as", &flags);
        let copy = ["-O", "binary", "-j", ".text", "t.o", "t.bin"];
        tool(&dir, "mipsel-linux-gnu-objcopy", &copy);
        let theirs = std::fs::read(dir.join("t.bin")).unwrap();
        let ours = MipsIsa::encode(&core, &insns).unwrap();
        for (i, insn) in insns.iter().enumerate() {
            let at = 4 * i..4 * i + 4;
            assert_eq!(ours[at.clone()], theirs[at], "{}", insn.text());
        }
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

#[test]
fn objdump_reads_every_word_as_we_do() {
    let dir = folder("mips_objdump");
    let mut random = tier::random(2);
    let mut words = Vec::new();
    let rounds = tier::times(6);
    // Opcode, function code and the register fields that tell instructions apart, others random or 0.
    for opcode in 0..64u32 {
        for function in 0..64u32 {
            for round in 0..rounds {
                let mut word = opcode << 26 | function;
                let bits = random.draw() as u32 & 0x03ff_ffc0;
                word |= match round % 6 {
                    0 => bits,
                    1 => bits & 0x03ff_0000,
                    2 => bits & 0x03ff_f800,
                    3 => bits & 0x001f_ffc0,
                    4 => bits & 0x03e0_0000,
                    _ => bits & 0x0000_f800,
                };
                words.push(word);
            }
        }
    }
    for big in [false, true] {
        let bytes: Vec<u8> = words
            .iter()
            .flat_map(|w| {
                if big {
                    w.to_be_bytes()
                } else {
                    w.to_le_bytes()
                }
            })
            .collect();
        std::fs::write(dir.join("d.bin"), &bytes).unwrap();
        let order = if big { "-EB" } else { "-EL" };
        let flags = [
            "-D",
            "-z",
            "-b",
            "binary",
            "-mmips:isa32",
            order,
            "-Mno-aliases",
            "d.bin",
        ];
        let listing = tool(&dir, "mipsel-linux-gnu-objdump", &flags);
        let texts: Vec<String> = listing
            .lines()
            .filter(|l| l.starts_with(' ') && l.contains(":\t"))
            .map(|l| l.split('\t').nth(2).unwrap_or("").to_string())
            .collect();
        assert_eq!(texts.len(), words.len());
        let (mut known, mut left) = (0, 0);
        for (word, name) in words.iter().zip(&texts) {
            let name = name.trim();
            match Insn::decode(*word, Features::NONE) {
                Some(insn) => {
                    known += 1;
                    let ours = insn.form().name;
                    let same = ours == name || other_names(insn.op).contains(&name);
                    assert!(same, "{word:#010x}: we say {ours}, objdump {name}");
                }
                None => {
                    left += 1;
                    let coprocessor = matches!(word >> 26, 0x10..=0x13 | 0x31..=0x3f);
                    // rt and rd must be the same (MD00086, CLO, CLZ).
                    let twice = matches!(name, "clz" | "clo") && word >> 16 & 31 != word >> 11 & 31;
                    let fine = coprocessor
                        || twice
                        || name.starts_with('.')
                        || name.starts_with("0x")
                        || LEFT_OUT.contains(&name);
                    assert!(fine, "{word:#010x}: objdump reads {name}, we nothing");
                }
            }
        }
        println!("{known} words are instructions, {left} are not");
        assert!(
            known > 4_000 * rounds / 6,
            "only {known} words are instructions"
        );
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
