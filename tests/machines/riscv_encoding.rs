//! RV32 encodings against GNU binutils, of 32 bits and of 16.

use lozenge::isa::Isa;
use lozenge::isa::riscv::RiscvIsa;
use lozenge::isa::riscv::code::{Insn, forms};
use lozenge::isa::riscv::cores::Core;
use lozenge::isa::riscv::instructions::Timing;
use lozenge::vectors::Random;

use crate::kit::tier;
use crate::machines::binutils::{Binutils, PLAIN, mnemonic, numbers};

fn core(name: &str) -> &'static Core {
    Core::named(name).expect("a core")
}

/// Each form of 32 bits, or of 16, with operands at their ends and random ones.
fn samples(short: bool, random: &mut Random, count: usize) -> Vec<Insn> {
    let mut list = Vec::new();
    for form in forms().iter().filter(|f| f.is_short() == short) {
        let insns = numbers(&form.ranges(), random, count).into_iter();
        let insns = insns.map(|numbers| form.with(&numbers));
        list.extend(insns.filter(|insn| insn.code().is_ok()));
    }
    list
}

/// Asks the tools about a core.
fn gnu<T>(core: &Core, ask: impl Fn(Binutils) -> T) -> T {
    let march = format!("-march={}_zicsr_zifencei", core.features.name());
    ask(Binutils {
        prefix: "riscv64-unknown-elf",
        assembler: &[&march, "-mabi=ilp32"],
        disassembler: &["-mriscv:rv32", "-Mno-aliases"],
        before: RiscvIsa::dialect(core).preamble,
        ..PLAIN
    })
}

#[test]
fn text_assembles_to_our_bytes() {
    let mut random = tier::random(1);
    for (name, short) in [("rv32im", false), ("rv32imc", true)] {
        let insns = samples(short, &mut random, tier::times(60));
        let folder = format!("riscv_as_{name}");
        gnu(core(name), |gnu| {
            gnu.assembles::<RiscvIsa>(core(name), &folder, &insns)
        });
    }
}

/// What GNU as makes of an instruction is short just where [`Insn::shortest_on`] says so.
#[test]
fn short_forms_are_those_of_the_assembler() {
    let core = core("rv32imc");
    let mut random = tier::random(2);
    let long = samples(false, &mut random, tier::times(300));
    let shorts = samples(true, &mut random, tier::times(60));
    let shorts = shorts.into_iter().map(Insn::full);
    let no_jump = |insn: &Insn| insn.branch().is_none() && insn.form().timing != Timing::Trap;
    for insn in long.into_iter().chain(shorts).filter(no_jump) {
        let chosen = insn.shortest_on(core.features);
        let code = RiscvIsa::encode(core, &[chosen]).expect("code");
        let again = RiscvIsa::decode(core, &code);
        assert_eq!(again, Ok(vec![(0, chosen)]), "{}", insn.text());
    }
    let list = samples(false, &mut random, tier::times(200));
    let list: Vec<_> = list.into_iter().filter(no_jump).collect();
    let lines = || list.iter().map(Insn::text);
    let theirs = gnu(core, |gnu| gnu.assembled("riscv_shortest", lines()));
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
    let words = (0..=u16::MAX).filter(|w| w & 3 != 3);
    let codes: Vec<Vec<u8>> = words.map(|w| w.to_le_bytes().to_vec()).collect();
    let same = |insn: &Insn, text: &str| {
        let (ours, theirs) = (insn.form().name, mnemonic(text));
        ours == theirs || (ours, theirs) == ("c.nop", "c.addi")
    };
    let fine = |_: &[u8], text: &str| {
        let theirs = mnemonic(text);
        let left = NOT_OURS.contains(&theirs) || HINTS.contains(&theirs);
        left || theirs == "c.ebreak" || theirs.starts_with(['.', '0'])
    };
    let core = core("rv32imc");
    let known = gnu(core, |gnu| {
        gnu.reads::<RiscvIsa>(core, "riscv_short_objdump", &codes, same, fine)
    });
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
    let codes: Vec<Vec<u8>> = words.iter().map(|w| w.to_le_bytes().to_vec()).collect();
    let same = |insn: &Insn, text: &str| insn.form().name == mnemonic(text);
    let fine = |code: &[u8], text: &str| {
        let word = u32::from_le_bytes(code.try_into().expect("a word"));
        let name = mnemonic(text);
        name.starts_with(['.', '0']) || is_of_other_extensions(word, name)
    };
    let core = core("rv32imc");
    let known = gnu(core, |gnu| {
        gnu.reads::<RiscvIsa>(core, "riscv_objdump", &codes, same, fine)
    });
    assert!(known > words.len() / 10, "only {known}");
}
