//! Encodings both ways against GNU binutils: what we print assembles to the bytes we decoded,
//! and what we decode is what objdump calls by the same name.

use std::io::Write;
use std::path::Path;

use lozenge::isa::arm::code::{Form, Insn, forms};
use lozenge::isa::arm::instructions::Op;
use lozenge::vectors::Random;

use crate::kit::oracle::{folder, tool};
use crate::kit::tier;

/// The words that GNU as makes of `lines`.
fn assemble(lines: &[String], dir: &Path) -> Vec<u32> {
    let mut file = std::fs::File::create(dir.join("t.s")).unwrap();
    writeln!(file, ".syntax unified\n.arm").unwrap();
    for line in lines {
        writeln!(file, "{line}").unwrap();
    }
    let flags = ["-mcpu=arm7tdmi", "--no-warn", "-o", "t.o", "t.s"];
    tool(dir, "arm-none-eabi-as", &flags);
    let copied = ["-O", "binary", "t.o", "t.bin"];
    tool(dir, "arm-none-eabi-objcopy", &copied);
    let bytes = std::fs::read(dir.join("t.bin")).unwrap();
    let words = bytes
        .chunks(4)
        .map(|c| u32::from_le_bytes(c.try_into().unwrap()));
    words.collect()
}

/// What objdump calls each word: name and operands.
fn disassemble(words: &[u32], dir: &Path) -> Vec<String> {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    std::fs::write(dir.join("d.bin"), bytes).unwrap();
    let flags = ["-D", "-z", "-b", "binary", "-marmv4t", "d.bin"];
    let listing = tool(dir, "arm-none-eabi-objdump", &flags);
    let lines = listing
        .lines()
        .filter(|l| l.starts_with(' ') && l.contains(":\t"));
    let texts: Vec<_> = lines
        .map(|l| l.splitn(3, '\t').nth(2).unwrap_or("").to_string())
        .collect();
    assert_eq!(texts.len(), words.len());
    texts
}

/// Random instructions of a form that the architecture gives a meaning to.
fn samples(form: &Form, random: &mut Random, count: usize) -> Vec<Insn> {
    let mut list = Vec::with_capacity(count);
    while list.len() < count {
        let Some(mut insn) = form.with_bits_of(random.draw() as u32) else {
            continue;
        };
        let data = form.syntax.ends_with('#') && insn.op != Op::MSR;
        let o = &mut insn.ops;
        let by_register = o.k & 0x1010 == 0x10;
        let pc = [o.d, o.n, o.m, o.r].contains(&15) || o.k & 15 == 15 || o.k >> 8 & 15 == 15;
        let block = matches!(insn.op, Op::LDM | Op::STM);
        // r15 is an operand of data processing without a shift by a register only.
        let skip = match insn.op {
            Op::B | Op::BL | Op::BX => false,
            Op::MSR => o.k & 0x100f == 15,
            _ if block => o.n == 15 || o.w && o.k >> o.n & 1 == 1,
            _ if data => pc && by_register,
            Op::SWP | Op::SWPB => pc || o.n == o.d || o.n == o.m,
            _ => pc,
        };
        if !skip {
            list.push(insn);
        }
    }
    list
}

#[test]
fn printed_instructions_assemble_to_the_bytes_they_come_from() {
    let dir = folder("arm_as");
    let mut random = tier::random(1);
    let insns: Vec<Insn> = forms()
        .iter()
        .flat_map(|form| samples(form, &mut random, tier::times(1000)))
        .collect();
    let words: Vec<u32> = insns.iter().map(|i| i.code().unwrap()).collect();
    let lines: Vec<String> = insns.iter().map(Insn::text).collect();
    let assembled = assemble(&lines, &dir);
    assert_eq!(assembled.len(), words.len());
    for (i, insn) in insns.iter().enumerate() {
        assert_eq!(
            assembled[i], words[i],
            "{}: as makes {:#010x}",
            lines[i], assembled[i]
        );
        assert_eq!(Insn::decode(words[i]), Some(*insn), "{}", lines[i]);
    }
}

/// Names objdump gives instructions of a form beside the form's own.
fn other_names(op: Op) -> &'static [&'static str] {
    match op {
        Op::MOV => &["lsl", "lsr", "asr", "ror", "rrx", "nop"],
        Op::LDM => &["pop"],
        Op::STM => &["push"],
        Op::LDR => &["pop"],
        Op::STR => &["push"],
        _ => &[],
    }
}

/// Is `name` this form's, with a condition or the S?
fn spells(form: &Form, name: &str) -> bool {
    let Some(rest) = name.strip_prefix(form.name) else {
        return false;
    };
    let conditions = "eq ne cs cc mi pl vs vc hi ls ge lt gt le ia ib da db";
    let rest = rest.strip_prefix('s').unwrap_or(rest);
    rest.is_empty() || conditions.split(' ').any(|c| c == rest)
}

#[test]
fn objdump_reads_every_word_as_we_do() {
    let dir = folder("arm_objdump");
    let mut random = tier::random(2);
    // Every value of the bits that tell instructions apart, other bits random.
    let words: Vec<u32> = (0..0x1000 * tier::times(24) as u32)
        .map(|i| random.draw() as u32 & !0x0ff0_00f0 | (i & 0xff0) << 16 | (i & 15) << 4)
        .collect();
    let texts = disassemble(&words, &dir);
    let mut known = 0;
    for (word, text) in words.iter().zip(&texts) {
        let name = text.split_whitespace().next().unwrap_or("");
        match Insn::decode(*word) {
            Some(insn) => {
                known += 1;
                let own = insn.form().name;
                let others = other_names(insn.op);
                let same = name.starts_with(own) || others.iter().any(|o| name.starts_with(o));
                assert!(same, "{word:#010x}: we say {}, objdump {text}", insn.text());
            }
            None => {
                // What we leave out of the instructions we know: saved status registers, empty
                // lists, user-mode accesses, and bits that should be zero and are not.
                let Some(form) = forms().iter().find(|f| spells(f, name)) else {
                    continue;
                };
                let fine = word >> 28 == 15
                    || !form.matches(*word)
                    || text.contains("PSR")
                    || text.contains('^')
                    || text.contains("{}")
                    || text.contains("UNPREDICTABLE")
                    || text.contains("<illegal");
                assert!(fine, "{word:#010x}: objdump knows {text}");
            }
        }
    }
    assert!(
        10 * known > 3 * words.len(),
        "only {known} of {} words are instructions",
        words.len()
    );
}
