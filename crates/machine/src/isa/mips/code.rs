//! Instructions as bits, as GNU text and as data flow, all from the rows of the table.

use std::sync::OnceLock;

pub use crate::codec::Places;
use crate::codec::{self, Codec, Operands, Reading};
use crate::domain::concrete::Concrete;
use crate::isa::cost::Class;
use crate::isa::mips::assumed::is_callee_saved;
use crate::isa::mips::instructions::{Op, Timing, table};
use crate::isa::mips::operands::{Feature, Features, Ops};
pub use crate::isa::mips::registers::REGISTERS;
use crate::isa::mips::registers::{RA, SAVE_AREA, SP};

/// An instruction with its operands.
pub type Insn = codec::Insn<Ops>;
/// A row without its meaning.
pub type Form = codec::Form<Ops>;

/// HI with its guard bits, in [`Places`] behind $0 to $31.
pub const HI: Places = 1 << 32;
/// LO, in [`Places`].
pub const LO: Places = 1 << 33;

impl Operands for Ops {
    type Op = Op;
    type Timing = Timing;
    type Feature = Feature;

    const UNIT: usize = 4;
    const HIGH_FIRST: bool = true;
    const REPEATS: &'static [char] = &['e'];

    fn index(op: Op) -> usize {
        op as usize
    }

    fn codec() -> &'static Codec<Ops> {
        static CODEC: OnceLock<Codec<Ops>> = OnceLock::new();
        CODEC.get_or_init(|| Codec::of(&table::<Concrete>()))
    }

    fn reading(letter: char, _: usize, _: usize) -> Reading {
        match letter {
            'i' | 'n' | 'o' => Reading::SIGNED,
            // Even registers only.
            'p' => Reading {
                step: 2,
                ..Reading::PLAIN
            },
            _ => Reading::PLAIN,
        }
    }

    fn get(&self, letter: char) -> i64 {
        match letter {
            's' => i64::from(self.s),
            't' => i64::from(self.t),
            'd' | 'e' => i64::from(self.d),
            'p' => i64::from(self.p),
            _ => i64::from(self.k),
        }
    }

    fn put(&mut self, letter: char, number: i64) {
        match letter {
            's' => self.s = number as u8,
            't' => self.t = number as u8,
            'd' => self.d = number as u8,
            'e' => {}
            'p' => self.p = number as u8,
            _ => self.k = number as i32,
        }
    }

    fn places(&self, letter: char) -> Places {
        let places = match letter {
            's' => 1 << self.s,
            't' => 1 << self.t,
            'd' => 1 << self.d,
            'p' => 3 << self.p,
            'R' => 1 << RA,
            'H' => HI,
            'L' => LO,
            _ => 0,
        };
        // $zero is no place.
        places & !1
    }
}

/// All forms, in the order of [`Op`].
pub fn forms() -> &'static [Form] {
    &Ops::codec().forms
}

impl Insn {
    /// `rd = rs op rt`.
    pub fn three(op: Op, d: u8, s: u8, t: u8) -> Self {
        let ops = Ops {
            s,
            t,
            d,
            ..Ops::default()
        };
        Self { op, ops }
    }

    /// `rt = rs op k`, or a load or store of `rt` at `rs + k`.
    pub fn immediate(op: Op, t: u8, s: u8, k: i32) -> Self {
        let ops = Ops {
            s,
            t,
            k,
            ..Ops::default()
        };
        Self { op, ops }
    }

    /// MADDL, MADDH.
    pub fn row(op: Op, d: u8, s: u8, t: u8, p: u8) -> Self {
        let ops = Ops { s, t, d, p, k: 0 };
        Self { op, ops }
    }

    /// What a count calls it: saving and restoring registers is no part of the body.
    pub fn class(&self) -> Class {
        let Ops { s, t, d, k, .. } = self.ops;
        let saves = s == SP && k < SAVE_AREA && is_callee_saved(t);
        match self.op {
            Op::SW | Op::LW if saves => Class::Frame,
            Op::ADDIU if s == SP && t == SP => Class::Frame,
            Op::JR if s == 31 => Class::Frame,
            Op::ADDU | Op::OR if d != 0 && (s == 0 || t == 0) => Class::Move,
            Op::ADDIU | Op::ORI if s == 0 => Class::Move,
            Op::SLL if d == 0 => Class::Other,
            _ => self.form().class,
        }
    }

    /// The instruction with this code, if a core with `features` has one.
    pub fn decode(code: u32, features: Features) -> Option<Self> {
        Ops::codec().decode(&code.to_le_bytes(), false, |form| {
            features.has(form.feature)
        })
    }

    /// How many bytes on from its own address a branch goes: those from its delay slot on.
    pub fn branch(&self) -> Option<i64> {
        let relative = !matches!(self.op, Op::J | Op::JAL) && self.form().syntax.contains('@');
        relative.then(|| 4 + 4 * i64::from(self.ops.k))
    }

    /// Mnemonic and operands. Relative targets are written `.+n`, in bytes.
    pub fn mnemonic(&self) -> String {
        let form = self.form();
        let Ops { s, t, d, p, k } = self.ops;
        if self.op == Op::SLL && (d, t, k) == (0, 0, 0) {
            return "nop".into();
        }
        if self.op == Op::BREAK {
            // GNU as takes the two halves of the code.
            return format!("break {}, {}", k >> 10, k & 0x3ff);
        }
        let target = match self.op {
            Op::J | Op::JAL => format!("{:#x}", i64::from(k) << 2),
            _ => format!(".{:+}", 4 + 4 * i64::from(k)),
        };
        let name = |r: u8| format!("${}", REGISTERS[usize::from(r & 31)]);
        self.written(form.name, |operand| {
            Some(match operand {
                "rs" => name(s),
                "rt" => name(t),
                "rd" => name(d),
                "rp" => name(p),
                "#" => k.to_string(),
                "@" => target.clone(),
                _ => return None,
            })
        })
    }

    /// GNU as text: an extension instruction is a `.word`, with its mnemonic in a comment.
    pub fn text(&self) -> String {
        match (self.form().feature, self.code()) {
            (Feature::Base, _) | (_, Err(_)) => self.mnemonic(),
            (_, Ok(code)) => format!(".word {code:#010x}\t/* {} */", self.mnemonic()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_32_bits_and_do_not_overlap() {
        for (i, a) in forms().iter().enumerate() {
            assert_eq!(a.op as usize, i, "{}", a.name);
            assert_eq!(a.pattern.replace(' ', "").len(), 32, "{}", a.name);
            for b in &forms()[i + 1..] {
                let care = a.care & b.care;
                assert_ne!(a.fixed & care, b.fixed & care, "{} and {}", a.name, b.name);
            }
        }
    }

    #[test]
    fn extensions_are_illegal_without_their_feature() {
        for form in forms().iter().filter(|f| f.feature != Feature::Base) {
            assert_eq!(form.fixed >> 26, 0x1c, "{} is not in SPECIAL2", form.name);
            assert_eq!(Insn::decode(form.fixed, Features::NONE), None);
            let with = Features::NONE.with(form.feature);
            assert_eq!(Insn::decode(form.fixed, with).map(|i| i.op), Some(form.op));
        }
    }

    #[test]
    fn every_operand_survives_encoding() {
        for form in forms() {
            for (letter, least, most, step) in form.ranges() {
                for number in [least, (least + most) / 2 / step * step, most] {
                    let insn = form.with(&[(letter, number)]);
                    let code = insn.code().unwrap();
                    assert_eq!(Insn::decode(code, Features::ALL), Some(insn));
                }
            }
        }
    }
}
