//! Instructions as bits, as GNU text and as data flow, all from the rows of the table.

use std::sync::OnceLock;

pub use crate::codec::Places;
use crate::codec::{self, Codec, Operands, Reading};
use crate::domain::concrete::Concrete;
use crate::isa::cost::Class;
use crate::isa::riscv::assumed::is_callee_saved;
use crate::isa::riscv::instructions::{Op, SHORTS, Timing, table};
use crate::isa::riscv::operands::{Feature, Features, Ops};
pub use crate::isa::riscv::registers::REGISTERS;
use crate::isa::riscv::registers::{RA, SAVE_AREA, SP};

/// An instruction with its operands.
pub type Insn = codec::Insn<Ops>;
/// A row, or a form of 16 bits, without its meaning.
pub type Form = codec::Form<Ops>;

/// What an immediate whose bits are out of order is a multiple of, and their places in the manual's listing, divided by
/// that.
fn scattered(letter: char, bits: usize) -> (i64, &'static [u32]) {
    match (letter, bits) {
        // imm[12|10:5], imm[4:1|11]; in 16 bits imm[8|4:3], imm[7:6|2:1|5].
        ('b', 12) => (2, &[11, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 10]),
        ('b', _) => (2, &[7, 3, 2, 6, 5, 1, 0, 4]),
        // imm[20|10:1|11|19:12]; in 16 bits imm[11|4|9:8|10|6|7|3:1|5].
        ('j', 20) => {
            const JUMP: [u32; 20] = [
                19, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 10, 18, 17, 16, 15, 14, 13, 12, 11,
            ];
            (2, &JUMP)
        }
        ('j', _) => (2, &[10, 3, 8, 7, 9, 5, 6, 2, 1, 0, 4]),
        // uimm[5:3], uimm[2|6] of C.LW and C.SW.
        ('w', 5) => (4, &[3, 2, 1, 0, 4]),
        // uimm[5], uimm[4:2|7:6] of C.LWSP; uimm[5:2|7:6] of C.SWSP.
        ('w', 6) => (4, &[3, 2, 1, 0, 5, 4]),
        // uimm[5:4|9:6|2|3] of C.ADDI4SPN.
        ('w', _) => (4, &[3, 2, 7, 6, 5, 4, 0, 1]),
        // imm[9], imm[4|6|8:7|5] of C.ADDI16SP.
        ('p', _) => (16, &[5, 0, 2, 4, 3, 1]),
        // imm[31:12]; in 16 bits imm[17], imm[16:12].
        ('u', _) => (0x1000, &[]),
        _ => (1, &[]),
    }
}

impl Operands for Ops {
    type Op = Op;
    type Timing = Timing;
    type Feature = Feature;

    const UNIT: usize = 2;
    const HIGH_FIRST: bool = false;
    const EXACT: bool = true;

    fn index(op: Op) -> usize {
        op as usize
    }

    fn codec() -> &'static Codec<Ops> {
        static CODEC: OnceLock<Codec<Ops>> = OnceLock::new();
        CODEC.get_or_init(|| Codec::with_shorts(&table::<Concrete>(), SHORTS))
    }

    fn reading(letter: char, bits: usize, _: usize) -> Reading {
        let (step, order) = scattered(letter, bits);
        Reading {
            // Three bits name x8 to x15.
            base: if bits == 3 { 8 } else { 0 },
            step,
            signed: matches!(letter, 'i' | 'u' | 'b' | 'j' | 'p'),
            order,
            ..Reading::PLAIN
        }
    }

    fn get(&self, letter: char) -> i64 {
        match letter {
            'd' | 'e' => i64::from(self.d),
            's' | 'z' => i64::from(self.s),
            't' => i64::from(self.t),
            _ => i64::from(self.k),
        }
    }

    fn put(&mut self, letter: char, number: i64) {
        match letter {
            'd' => self.d = number as u8,
            's' | 'z' => self.s = number as u8,
            'e' => (self.d, self.s) = (number as u8, number as u8),
            't' => self.t = number as u8,
            _ => self.k = number as i32,
        }
    }

    fn places(&self, letter: char) -> Places {
        // x0 is no place.
        1 << self.get(letter) & !1
    }
}

/// All forms, in the order of [`Op`]: those of 32 bits, then those of 16.
pub fn forms() -> &'static [Form] {
    &Ops::codec().forms
}

impl Insn {
    /// An instruction of 32 bits.
    pub fn new(op: Op, ops: Ops) -> Self {
        Self { op, ops }
    }

    /// `rd = rs1 op rs2`.
    pub fn three(op: Op, d: u8, s: u8, t: u8) -> Self {
        Self::new(op, Ops { d, s, t, k: 0 })
    }

    /// `rd = rs1 op k`, or a load.
    pub fn immediate(op: Op, d: u8, s: u8, k: i32) -> Self {
        Self::new(op, Ops { d, s, t: 0, k })
    }

    /// A store of `rs2` at `rs1 + k`, or a branch over `k` bytes.
    pub fn store(op: Op, t: u8, s: u8, k: i32) -> Self {
        Self::new(op, Ops { d: 0, s, t, k })
    }

    /// What a count calls it: saving and restoring registers is no part of the body.
    pub fn class(&self) -> Class {
        let Ops { d, s, t, k } = self.ops;
        let saves = s == SP && k < SAVE_AREA;
        match self.form().of {
            Op::SW if saves && is_callee_saved(t) => Class::Frame,
            Op::LW if saves && is_callee_saved(d) => Class::Frame,
            Op::ADDI if s == SP && d == SP => Class::Frame,
            Op::JALR if d == 0 && s == RA => Class::Frame,
            Op::ADDI if d == 0 => Class::Other,
            Op::ADDI if s == 0 || k == 0 => Class::Move,
            Op::ADD if d != 0 && (s == 0 || t == 0) => Class::Move,
            _ => self.form().class,
        }
    }

    /// Does a core with `features` have it?
    pub fn is_of(&self, features: Features) -> bool {
        let named = self.reads() | self.writes();
        features.has(self.form().feature) && named >> features.registers() == 0
    }

    /// The same in 16 bits, if a core with `features` has it so.
    pub fn shortest_on(self, features: Features) -> Self {
        self.shortest(|form| features.has(form.feature))
    }

    /// The instruction at the start of `bytes`, if a core with `features` has one.
    pub fn decode(bytes: &[u8], features: Features) -> Option<Self> {
        let insn = Ops::codec().decode(bytes, false, |form| features.has(form.feature));
        insn.filter(|insn| insn.is_of(features))
    }

    /// How many bytes on from its own address a branch or a jump goes.
    pub fn branch(&self) -> Option<i64> {
        let relative = self.form().syntax.contains('@');
        relative.then_some(i64::from(self.ops.k))
    }

    /// Mnemonic and operands. Relative targets are written `.+n`, in bytes.
    pub fn text(&self) -> String {
        let form = self.form();
        let Ops { d, s, t, k } = self.ops;
        let name = |r: u8| REGISTERS[usize::from(r & 31)].to_string();
        match (form.timing, self.code()) {
            // GNU as wants names for what is never made.
            (Timing::Trap, Ok(code)) => format!(".4byte {code:#010x}\t/* {} */", form.name),
            _ => self.written(form.name, |operand| {
                Some(match operand {
                    "rd" => name(d),
                    "rs1" => name(s),
                    "rs2" => name(t),
                    "zimm" => s.to_string(),
                    "#" => k.to_string(),
                    "^" => format!("{:#x}", k >> 12 & 0xfffff),
                    "@" => format!(".{k:+}"),
                    _ => return None,
                })
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_whole_and_do_not_overlap() {
        for (i, a) in forms().iter().enumerate() {
            assert_eq!(a.op as usize, i, "{}", a.name);
            assert_eq!(a.bytes, if a.is_short() { 2 } else { 4 }, "{}", a.name);
            assert_eq!(a.fixed & 3 != 3, a.is_short(), "{}", a.name);
            for b in forms()[i + 1..].iter().filter(|b| b.bytes == a.bytes) {
                let care = a.care & b.care;
                let apart = a.fixed & care != b.fixed & care;
                assert!(apart || a.is_short(), "{} and {}", a.name, b.name);
            }
        }
    }

    #[test]
    fn words_of_16_bits_are_of_one_form_and_decode_to_themselves() {
        for code in (0..=u16::MAX).filter(|code| code & 3 != 3) {
            let shorts = forms().iter().filter(|f| f.is_short());
            let fit = shorts.filter(|f| f.matches(code.into()));
            let fit: Vec<_> = fit.filter_map(|f| f.with_bits_of(code.into())).collect();
            assert!(fit.len() <= 1, "{code:#06x}");
            let insn = Insn::decode(&code.to_le_bytes(), Features::ALL);
            assert_eq!(insn, fit.first().copied(), "{code:#06x}");
            if let Some(insn) = insn {
                assert_eq!(insn.code(), Ok(code.into()), "{code:#06x}");
                // c.addi says the same of three words of c.addi16sp.
                let short = insn.full().shortest_on(Features::ALL);
                assert!(short == insn || insn.op == Op::C_ADDI16SP, "{code:#06x}");
                assert_eq!((short.bytes(), short.full()), (2, insn.full()));
            }
        }
    }

    /// What the bits of a short form cannot say, or must not.
    #[test]
    fn short_forms_refuse_other_operands() {
        let ops = |d, s, t, k| Ops { d, s, t, k };
        for (op, right, wrong) in [
            (Op::C_ADDI, ops(5, 5, 0, 1), ops(5, 6, 0, 1)),
            (Op::C_ADDI, ops(5, 5, 0, -32), ops(5, 5, 0, 0)),
            (Op::C_LI, ops(5, 0, 0, 0), ops(0, 0, 0, 0)),
            (Op::C_LI, ops(5, 0, 0, 31), ops(5, 1, 0, 31)),
            (Op::C_LWSP, ops(5, 2, 0, 252), ops(5, 3, 0, 252)),
            (Op::C_LW, ops(15, 8, 0, 124), ops(16, 8, 0, 124)),
            (Op::C_SW, ops(0, 8, 9, 4), ops(0, 8, 9, 6)),
            (Op::C_JAL, ops(1, 0, 0, -2048), ops(0, 0, 0, -2048)),
        ] {
            let [right, wrong] = [right, wrong].map(|ops| Insn::new(op, ops));
            let code = right.code().expect("an instruction") as u16;
            let again = Insn::decode(&code.to_le_bytes(), Features::ALL);
            assert_eq!(again, Some(right), "{}", right.text());
            assert!(wrong.code().is_err(), "{op:?} {:?}", wrong.ops);
        }
    }

    #[test]
    fn every_operand_survives_encoding() {
        for form in forms().iter().filter(|f| !f.is_short()) {
            for (letter, least, most, step) in form.ranges() {
                for number in [least, (least + most) / 2 / step * step, most] {
                    let insn = form.with(&[(letter, number)]);
                    let code = insn.code().unwrap();
                    let again = Insn::decode(&code.to_le_bytes(), Features::ALL);
                    assert_eq!(again, Some(insn));
                }
            }
        }
    }
}
