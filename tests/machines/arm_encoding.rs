//! ARM encodings against GNU binutils.

use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::code::{Form, Insn, forms};
use lozenge::isa::arm::cores::ARM7TDMI;
use lozenge::isa::arm::instructions::Op;
use lozenge::vectors::Random;

use crate::kit::tier;
use crate::machines::binutils::{Binutils, PLAIN, mnemonic};

const GNU: Binutils = Binutils {
    prefix: "arm-none-eabi",
    assembler: &["-mcpu=arm7tdmi", "--no-warn"],
    disassembler: &["-marmv4t"],
    before: ".syntax unified\n.arm\n",
    // What is unpredictable has an encoding all the same.
    warnings: &[
        "must all be different",
        "rdhi and rdlo must be different",
        "Rd and Rm should be different",
        "use of r15 in bx in ARM mode",
    ],
    ..PLAIN
};

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
fn text_assembles_to_our_bytes() {
    let mut random = tier::random(1);
    let forms = forms().iter();
    let of_form = |form| samples(form, &mut random, tier::times(1000));
    let insns: Vec<Insn> = forms.flat_map(of_form).collect();
    GNU.assembles::<ArmIsa>(&ARM7TDMI, "arm_as", &insns);
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
    let mut random = tier::random(2);
    // Every value of the bits that tell instructions apart, other bits random.
    let codes: Vec<Vec<u8>> = (0..0x1000 * tier::times(24) as u32)
        .map(|i| random.draw() as u32 & !0x0ff0_00f0 | (i & 0xff0) << 16 | (i & 15) << 4)
        .map(|word| word.to_le_bytes().to_vec())
        .collect();
    let same = |insn: &Insn, text: &str| {
        let (name, own) = (mnemonic(text), insn.form().name);
        let others = other_names(insn.op);
        name.starts_with(own) || others.iter().any(|o| name.starts_with(o))
    };
    // What we leave out of the instructions we know: saved status registers, empty lists, user-mode accesses, and bits that
    // should be zero and are not.
    let fine = |code: &[u8], text: &str| {
        let word = u32::from_le_bytes(code.try_into().expect("a word"));
        let Some(form) = forms().iter().find(|f| spells(f, mnemonic(text))) else {
            return true;
        };
        let marks = ["PSR", "^", "{}", "UNPREDICTABLE", "<illegal"];
        word >> 28 == 15 || !form.matches(word) || marks.iter().any(|mark| text.contains(mark))
    };
    let known = GNU.reads::<ArmIsa>(&ARM7TDMI, "arm_objdump", &codes, same, fine);
    assert!(10 * known > 3 * codes.len(), "only {known}");
}
