//! Instructions as bits, as GNU text and as data flow, all from the rows of the table.

use std::sync::OnceLock;

use crate::domain::concrete::Concrete;
use crate::isa::cost::{Class, EncodeError};
use crate::isa::mips::assumed::is_callee_saved;
use crate::isa::mips::instructions::{Op, Timing, table};
use crate::isa::mips::operands::{Feature, Features, Ops};
pub use crate::isa::mips::registers::REGISTERS;
use crate::isa::mips::registers::{SAVE_AREA, SP};

/// An instruction with its operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Insn {
    pub op: Op,
    pub ops: Ops,
}

/// Registers, HI and LO as a set of bits: $0 to $31, then [`HI`] and [`LO`].
pub type Places = u64;
/// HI with its guard bits, in [`Places`].
pub const HI: Places = 1 << 32;
/// LO, in [`Places`].
pub const LO: Places = 1 << 33;

/// Where the bits of one operand lie, most significant first, and how they are read.
#[derive(Clone, Debug)]
struct Field {
    letter: char,
    bits: Vec<u32>,
    signed: bool,
}

/// A row without its meaning, its pattern compiled.
#[derive(Clone, Debug)]
pub struct Form {
    pub op: Op,
    pub name: &'static str,
    pub pattern: &'static str,
    pub syntax: &'static str,
    pub flow: &'static str,
    pub timing: Timing,
    pub class: Class,
    pub feature: Feature,
    /// The bits that are the same in every instruction of this form, and which these are.
    pub fixed: u32,
    pub care: u32,
    fields: Vec<Field>,
}

/// All forms, in the order of [`Op`].
pub fn forms() -> &'static [Form] {
    static FORMS: OnceLock<Vec<Form>> = OnceLock::new();
    FORMS.get_or_init(|| {
        let rows = table::<Concrete>();
        let form = |row: &crate::isa::mips::instructions::Row<Concrete>| {
            let mut form = Form {
                op: row.op,
                name: row.name,
                pattern: row.pattern,
                syntax: row.syntax,
                flow: row.flow,
                timing: row.timing,
                class: row.class,
                feature: row.feature,
                fixed: 0,
                care: 0,
                fields: Vec::new(),
            };
            form.compile();
            form
        };
        rows.iter().map(form).collect()
    })
}

/// Forms by their opcode, bits 26 to 31.
fn by_opcode() -> &'static [Vec<&'static Form>] {
    static TABLE: OnceLock<Vec<Vec<&'static Form>>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let with = |opcode: u32| forms().iter().filter(move |f| f.fixed >> 26 == opcode);
        (0..64).map(|opcode| with(opcode).collect()).collect()
    })
}

impl Form {
    fn compile(&mut self) {
        let bits = self.pattern.chars().filter(|c| *c != ' ');
        for (i, c) in bits.enumerate() {
            let position = 31 - i as u32;
            match c {
                '0' | '1' => {
                    self.care |= 1 << position;
                    self.fixed |= u32::from(c == '1') << position;
                }
                letter => match self.fields.iter_mut().find(|f| f.letter == letter) {
                    Some(field) => field.bits.push(position),
                    None => self.fields.push(Field {
                        letter,
                        bits: vec![position],
                        signed: matches!(letter, 'i' | 'n' | 'o'),
                    }),
                },
            }
        }
    }

    fn get(letter: char, ops: &Ops) -> i64 {
        match letter {
            's' => i64::from(ops.s),
            't' => i64::from(ops.t),
            'd' | 'e' => i64::from(ops.d),
            // Even registers only.
            'p' if ops.p % 2 == 1 => -1,
            'p' => i64::from(ops.p / 2),
            _ => i64::from(ops.k),
        }
    }

    fn put(letter: char, ops: &mut Ops, value: i64) {
        match letter {
            's' => ops.s = value as u8,
            't' => ops.t = value as u8,
            'd' => ops.d = value as u8,
            'e' => {}
            'p' => ops.p = 2 * value as u8,
            _ => ops.k = value as i32,
        }
    }

    /// The letter of each operand, with the smallest and the largest number in its field.
    pub fn ranges(&self) -> Vec<(char, i64, i64)> {
        let range = |f: &Field| {
            let count = 1i64 << f.bits.len();
            match f.signed {
                true => (f.letter, -count / 2, count / 2 - 1),
                false => (f.letter, 0, count - 1),
            }
        };
        self.fields.iter().map(range).collect()
    }

    /// An instruction of this form with the given numbers in its fields.
    pub fn with(&self, numbers: &[(char, i64)]) -> Insn {
        let mut ops = Ops::default();
        for (letter, number) in numbers {
            Self::put(*letter, &mut ops, *number);
        }
        Insn { op: self.op, ops }
    }

    fn places(&self, ops: &Ops, side: usize) -> Places {
        let letters = self.flow.split('<').nth(side).unwrap_or_default();
        let mut places = 0;
        for letter in letters.chars() {
            places |= match letter {
                's' => 1 << ops.s,
                't' => 1 << ops.t,
                'd' => 1 << ops.d,
                'p' => 3 << ops.p,
                'R' => 1 << 31,
                'H' => HI,
                'L' => LO,
                _ => 0,
            };
        }
        // $zero is no place.
        places & !1
    }
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

    /// Its row, without the meaning.
    pub fn form(&self) -> &'static Form {
        &forms()[self.op as usize]
    }

    /// What it reads.
    pub fn reads(&self) -> Places {
        self.form().places(&self.ops, 1)
    }

    /// What it writes.
    pub fn writes(&self) -> Places {
        self.form().places(&self.ops, 0)
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

    /// The code word.
    ///
    /// # Errors
    /// When an operand does not fit its field.
    pub fn encode(&self) -> Result<u32, EncodeError> {
        let form = self.form();
        let mut code = form.fixed;
        for (field, (letter, least, most)) in form.fields.iter().zip(form.ranges()) {
            let value = Form::get(letter, &self.ops);
            if value < least || value > most {
                return Err(EncodeError {
                    name: form.name,
                    letter,
                    value,
                });
            }
            for (i, position) in field.bits.iter().rev().enumerate() {
                code |= ((value >> i & 1) as u32) << position;
            }
        }
        Ok(code)
    }

    /// The instruction in a code word, if a core with `features` has one.
    pub fn decode(code: u32, features: Features) -> Option<Self> {
        let form = by_opcode()[(code >> 26) as usize]
            .iter()
            .find(|f| code & f.care == f.fixed && features.has(f.feature))?;
        let mut ops = Ops::default();
        for field in &form.fields {
            let mut number = 0i64;
            for position in &field.bits {
                number = number << 1 | i64::from(code >> position & 1);
            }
            let count = 1i64 << field.bits.len();
            if field.signed && number >= count / 2 {
                number -= count;
            }
            Form::put(field.letter, &mut ops, number);
        }
        let insn = Self { op: form.op, ops };
        // A register that is named twice is the same both times.
        (insn.encode() == Ok(code)).then_some(insn)
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
        let words: Vec<_> = form
            .syntax
            .split(", ")
            .map(|word| {
                let word = match word {
                    "rs" => name(s),
                    "rt" => name(t),
                    "rd" => name(d),
                    "rp" => name(p),
                    other => other.replace("(rs)", &format!("({})", name(s))),
                };
                let word = word.replace('#', &k.to_string());
                word.replace('@', &target)
            })
            .collect();
        match form.syntax {
            "" => form.name.to_string(),
            _ => format!("{} {}", form.name, words.join(", ")),
        }
    }

    /// GNU as text: an extension instruction is a `.word`, with its mnemonic in a comment.
    pub fn text(&self) -> String {
        match (self.form().feature, self.encode()) {
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
            for (letter, least, most) in form.ranges() {
                for number in [least, (least + most) / 2, most] {
                    let insn = form.with(&[(letter, number)]);
                    let code = insn.encode().unwrap();
                    assert_eq!(Insn::decode(code, Features::ALL), Some(insn));
                }
            }
        }
    }
}
