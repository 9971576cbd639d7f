//! RV32 encodings against GNU binutils: what we print assembles to our bytes, and what we decode objdump calls the
//! same.

use lozenge::isa::Isa;
use lozenge::isa::riscv::RiscvIsa;
use lozenge::isa::riscv::code::{Insn, forms};
use lozenge::isa::riscv::cores::{Core, Features};
use lozenge::isa::riscv::instructions::Timing;
use lozenge::vectors::Random;

use crate::kit::oracle::{folder, tool};
use crate::kit::tier;

/// Each form of 32 bits, or of 16, with operands at their ends and random ones.
fn samples(short: bool, random: &mut Random, count: usize) -> Vec<Insn> {
    let mut list = Vec::new();
    for form in forms().iter().filter(|f| f.is_short() == short) {
        let ends = [0usize, 1].map(Some).into_iter();
        for end in ends.chain((0..count).map(|_| None)) {
            let number = |(letter, least, most, step): (char, i64, i64, i64)| {
                let number = match end {
                    Some(end) => [least, most][end],
                    None => {
                        least + step * random.below(((most - least) / step + 1) as usize) as i64
                    }
                };
                (letter, number)
            };
            let numbers: Vec<_> = form.ranges().into_iter().map(number).collect();
            list.extend(Some(form.with(&numbers)).filter(|insn| insn.code().is_ok()));
        }
    }
    list
}

/// The instruction that code begins with.
fn decoded(code: u32) -> Option<Insn> {
    Insn::decode(&code.to_le_bytes(), Features::ALL)
}

fn assembled(core: &Core, insns: &[Insn], name: &str) -> Vec<u8> {
    let dir = folder(name);
    let mut text = RiscvIsa::dialect(core).preamble.to_string();
    for insn in insns {
        text += &format!("\t{}\n", RiscvIsa::text(insn));
    }
    std::fs::write(dir.join("t.s"), text).unwrap();
    let march = format!("-march={}_zicsr_zifencei", core.features.name());
    let flags = [&march, "-mabi=ilp32", "-o", "t.o", "t.s"];
    tool(&dir, "riscv64-unknown-elf-as", &flags);
    let copy = ["-O", "binary", "-j", ".text", "t.o", "t.bin"];
    tool(&dir, "riscv64-unknown-elf-objcopy", &copy);
    std::fs::read(dir.join("t.bin")).unwrap()
}

#[test]
fn text_assembles_to_our_bytes() {
    let mut random = tier::random(1);
    for (name, short) in [("rv32im", false), ("rv32imc", true)] {
        let core = Core::named(name).unwrap();
        let insns = samples(short, &mut random, tier::times(60));
        let theirs = assembled(core, &insns, &format!("riscv_as_{name}"));
        let ours = RiscvIsa::encode(core, &insns).unwrap();
        let mut at = 0;
        for insn in &insns {
            let end = at + insn.bytes();
            assert_eq!(ours[at..end], theirs[at..end], "{}", insn.text());
            at = end;
        }
        assert_eq!(ours, theirs);
    }
}

/// What GNU as makes of an instruction is short just where [`Insn::shortest_on`] says so.
#[test]
fn short_forms_are_those_of_the_assembler() {
    let core = Core::named("rv32imc").unwrap();
    let mut random = tier::random(2);
    let long = samples(false, &mut random, tier::times(300));
    let shorts = samples(true, &mut random, tier::times(60));
    let shorts = shorts.into_iter().map(Insn::full);
    let no_jump = |insn: &Insn| insn.branch().is_none() && insn.form().timing != Timing::Trap;
    for insn in long.into_iter().chain(shorts).filter(no_jump) {
        let chosen = insn.shortest_on(core.features);
        let again = decoded(chosen.code().unwrap());
        assert_eq!(again, Some(chosen), "{}", insn.text());
    }
    let list = samples(false, &mut random, tier::times(200));
    let list: Vec<_> = list.into_iter().filter(no_jump).collect();
    let theirs = assembled(core, &list, "riscv_shortest");
    let mut at = 0;
    for insn in &list {
        let ours = insn.shortest_on(core.features).form().is_short();
        // The assembler exchanges the operands of a sum to make it short, and moves with either zero.
        let theirs_short = theirs[at] & 3 != 3;
        assert!(theirs_short >= ours, "{}", insn.text());
        at += if theirs_short { 2 } else { 4 };
    }
    assert_eq!(at, theirs.len());
}

/// What objdump prints of `bytes`: a name for each instruction.
fn names(bytes: &[u8], folder_name: &str) -> Vec<String> {
    let dir = folder(folder_name);
    std::fs::write(dir.join("d.bin"), bytes).unwrap();
    let flags = [
        "-D",
        "-z",
        "-b",
        "binary",
        "-mriscv:rv32",
        "-Mno-aliases",
        "d.bin",
    ];
    let listing = tool(&dir, "riscv64-unknown-elf-objdump", &flags);
    let lines = listing.lines();
    let lines = lines.filter(|l| l.starts_with(' ') && l.contains(":\t"));
    let name = |line: &str| line.split('\t').nth(2).unwrap_or("").trim().to_string();
    lines.map(name).collect()
}

/// Instructions of 16 bits that objdump knows and RV32IC has not, or has as hints.
const NOT_OURS: [&str; 9] = [
    "c.fld", "c.flw", "c.fsd", "c.fsw", "c.fldsp", "c.flwsp", "c.fsdsp", "c.fswsp", "c.unimp",
];
/// Those of which some are hints, or reserved.
const HINTS: [&str; 14] = [
    "c.nop",
    "c.addi",
    "c.li",
    "c.lui",
    "c.slli",
    "c.slli64",
    "c.srli",
    "c.srai",
    "c.srli64",
    "c.srai64",
    "c.mv",
    "c.add",
    "c.addi4spn",
    "c.addi16sp",
];

#[test]
fn every_word_of_16_bits_is_what_objdump_says() {
    let words: Vec<u16> = (0..=u16::MAX).filter(|w| w & 3 != 3).collect();
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let names = names(&bytes, "riscv_short_objdump");
    assert_eq!(names.len(), words.len());
    let mut known = 0;
    for (word, theirs) in words.iter().zip(&names) {
        match decoded(u32::from(*word)) {
            Some(insn) => {
                known += 1;
                let ours = insn.form().name;
                assert_eq!(insn.code(), Ok(u32::from(*word)));
                let same = ours == theirs || (ours, theirs.as_str()) == ("c.nop", "c.addi");
                assert!(same, "{word:#06x}: we say {ours}, objdump {theirs}");
            }
            None => {
                let left = NOT_OURS.contains(&theirs.as_str()) || theirs == "c.ebreak";
                let fine =
                    left || HINTS.contains(&theirs.as_str()) || theirs.starts_with(['.', '0']);
                assert!(fine, "{word:#06x}: objdump reads {theirs}, we nothing");
            }
        }
    }
    println!("{known} words are instructions");
    assert!(known > 28_000, "only {known} words are instructions");
}

/// Extensions that objdump reads and no core here has.
fn is_of_other_extensions(word: u32, name: &str) -> bool {
    match word & 0x7f {
        // Floating point, vectors, atomics.
        0x07 | 0x27 | 0x43 | 0x47 | 0x4b | 0x4f | 0x53 | 0x57 | 0x2f => true,
        // Zb*, Zk*: sums and shifts with other upper bits.
        0x13 => matches!(word >> 12 & 7, 1 | 5) && word >> 25 & 0x5f != 0,
        0x33 => !matches!(word >> 25, 0 | 1 | 0x20) || (word >> 25 == 0x20),
        // Prefetches and cache blocks; returns, fences and waiting of privileged code.
        0x0f => name.starts_with("fence") || name.starts_with("cbo") || name.starts_with("pause"),
        0x73 => word >> 12 & 7 == 0 || word >> 12 & 7 == 4,
        _ => false,
    }
}

#[test]
fn objdump_reads_every_word_as_we_do() {
    let mut random = tier::random(3);
    let mut words = Vec::new();
    for opcode in 0..32u32 {
        for function in 0..8u32 {
            for upper in 0..128u32 {
                for _ in 0..tier::times(3) {
                    let bits = random.draw() as u32 & 0x01ff_8f80;
                    words.push(opcode << 2 | 3 | function << 12 | upper << 25 | bits);
                }
            }
        }
    }
    // Longer ones than 32 bits begin so.
    words.retain(|word| word & 0x1c != 0x1c);
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let names = names(&bytes, "riscv_objdump");
    assert_eq!(names.len(), words.len());
    let mut known = 0;
    for (word, theirs) in words.iter().zip(&names) {
        match decoded(*word) {
            Some(insn) => {
                known += 1;
                let ours = insn.form().name;
                assert_eq!(ours, theirs, "{word:#010x}");
                assert_eq!(insn.code(), Ok(*word));
            }
            None => {
                let none = theirs.starts_with(['.', '0']);
                let fine = none || is_of_other_extensions(*word, theirs);
                assert!(fine, "{word:#010x}: objdump reads {theirs}, we nothing");
            }
        }
    }
    println!(
        "{known} words are instructions, {} are not",
        words.len() - known
    );
    assert!(
        known > words.len() / 10,
        "only {known} words are instructions"
    );
}
