//! Instructions as bits and as GNU text, all from the rows of the tables.

use std::sync::OnceLock;

use crate::domain::concrete::Concrete;
use crate::isa::cost::{Class, EncodeError};
use crate::isa::riscv::assumed::is_callee_saved;
use crate::isa::riscv::compressed::SHORTS;
use crate::isa::riscv::instructions::{Op, Row, Timing, table};
use crate::isa::riscv::operands::{Feature, Features, Ops};
pub use crate::isa::riscv::registers::REGISTERS;
use crate::isa::riscv::registers::{RA, SAVE_AREA, SP};

/// An instruction with its operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Insn {
    pub op: Op,
    pub ops: Ops,
    /// In 16 bits?
    pub short: bool,
}

/// Registers as a set of bits.
pub type Places = u64;

/// Where the bits of one operand lie: the position of each in the code, and what bit of the operand it is.
#[derive(Clone, Debug)]
struct Field {
    /// `d`, `s`, `t`, or `k` for the immediate.
    letters: &'static str,
    bits: Vec<(u32, u32)>,
    /// A register x8 to x15.
    narrow: bool,
    /// The top bit of a signed immediate.
    sign: Option<u32>,
    /// Is it a register?
    register: bool,
}

/// A row of either table without its meaning, its encoding compiled.
#[derive(Clone, Debug)]
pub struct Form {
    pub op: Op,
    pub name: &'static str,
    pub bits: &'static str,
    pub syntax: &'static str,
    pub timing: Timing,
    pub class: Class,
    pub feature: Feature,
    pub short: bool,
    implied: &'static [(char, u8)],
    never: &'static [(char, u8)],
    /// The bits that are the same in every instruction of this form, and which these are.
    pub fixed: u32,
    pub care: u32,
    fields: Vec<Field>,
}

/// All forms: those of 32 bits in the order of [`Op`], then those of 16 bits.
pub fn forms() -> &'static [Form] {
    static FORMS: OnceLock<Vec<Form>> = OnceLock::new();
    FORMS.get_or_init(|| {
        let rows = table::<Concrete>();
        let mut forms: Vec<Form> = rows.iter().map(Form::of).collect();
        for short in &SHORTS {
            let mut form = Form {
                name: short.name,
                bits: short.bits,
                syntax: short.syntax,
                short: true,
                implied: short.implied,
                never: short.never,
                ..Form::of(&rows[short.op as usize])
            };
            form.compile();
            forms.push(form);
        }
        forms
    })
}

/// Forms of 32 bits by bits 2 to 6, of 16 bits by their lowest two bits and highest three.
fn candidates(code: u32) -> &'static [&'static Form] {
    static TABLE: OnceLock<Vec<Vec<&'static Form>>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let mut table = vec![Vec::new(); 64];
        for form in forms() {
            table[key(form.fixed)].push(form);
        }
        table
    });
    &table[key(code)]
}

fn key(code: u32) -> usize {
    let key = match code & 3 {
        3 => 32 + (code >> 2 & 31),
        low => low << 3 | code >> 13 & 7,
    };
    key as usize
}

impl Form {
    fn of(row: &Row<Concrete>) -> Self {
        let mut form = Form {
            op: row.op,
            name: row.name,
            bits: row.bits,
            syntax: row.syntax,
            timing: row.timing,
            class: row.class,
            feature: row.feature,
            short: false,
            implied: &[],
            never: &[],
            fixed: 0,
            care: 0,
            fields: Vec::new(),
        };
        form.compile();
        form
    }

    /// Bits of the code.
    fn width(&self) -> u32 {
        if self.short { 16 } else { 32 }
    }

    fn compile(&mut self) {
        (self.fixed, self.care) = (0, 0);
        self.fields.clear();
        let mut at = self.width();
        for word in self.bits.split(' ') {
            if word.starts_with(['0', '1']) {
                for digit in word.chars() {
                    at -= 1;
                    self.care |= 1 << at;
                    self.fixed |= u32::from(digit == '1') << at;
                }
            } else if let Some((name, list)) = word.trim_end_matches(']').split_once('[') {
                self.immediate(name, list, &mut at);
            } else {
                self.register(word, &mut at);
            }
        }
    }

    fn register(&mut self, word: &'static str, at: &mut u32) {
        let narrow = word.contains('\'');
        let letters = match word.trim_end_matches('\'') {
            "rd" => "d",
            "rs1" | "zimm" => "s",
            "rs2" => "t",
            // rd/rs1
            _ => "ds",
        };
        let width = if narrow { 3 } else { 5 };
        *at -= width;
        self.fields.push(Field {
            letters,
            bits: (0..width).map(|i| (*at + i, i)).collect(),
            narrow,
            sign: None,
            register: word != "zimm",
        });
    }

    /// Bits of an immediate as the manual lists them: `10:5` or `3`, from the left, with bars between.
    fn immediate(&mut self, name: &str, list: &str, at: &mut u32) {
        let number = |text: &str| text.parse().unwrap_or(0u32);
        for part in list.split('|') {
            let (high, low) = part.split_once(':').unwrap_or((part, part));
            for bit in (number(low)..=number(high)).rev() {
                *at -= 1;
                match self.fields.iter_mut().find(|f| f.letters == "k") {
                    Some(field) => field.bits.push((*at, bit)),
                    None => self.fields.push(Field {
                        letters: "k",
                        bits: vec![(*at, bit)],
                        narrow: false,
                        sign: None,
                        register: false,
                    }),
                }
            }
        }
        if name == "imm"
            && let Some(field) = self.fields.iter_mut().find(|f| f.letters == "k")
        {
            field.sign = field.bits.iter().map(|(_, bit)| *bit).max();
        }
    }

    fn get(letter: char, ops: &Ops) -> i64 {
        match letter {
            'd' => i64::from(ops.d),
            's' => i64::from(ops.s),
            't' => i64::from(ops.t),
            _ => i64::from(ops.k),
        }
    }

    fn put(letter: char, ops: &mut Ops, value: i64) {
        match letter {
            'd' => ops.d = value as u8,
            's' => ops.s = value as u8,
            't' => ops.t = value as u8,
            _ => ops.k = value as i32,
        }
    }

    /// The letters of each operand, with the smallest and the largest number it may have and how far these lie apart.
    pub fn ranges(&self) -> Vec<(&'static str, i64, i64, i64)> {
        let range = |f: &Field| {
            let bits = f.bits.iter().map(|(_, bit)| *bit);
            let step = 1i64 << bits.clone().min().unwrap_or(0);
            let all = bits.fold(0i64, |all, bit| all | 1 << bit);
            match (f.sign, f.narrow) {
                (Some(top), _) => (f.letters, -(1i64 << top), all & !(1 << top), step),
                (None, true) => (f.letters, 8, 15, 1),
                (None, false) => (f.letters, 0, all, step),
            }
        };
        self.fields.iter().map(range).collect()
    }

    /// An instruction of this form with these numbers, and 0 for the others that are not implied.
    pub fn with(&self, numbers: &[(&str, i64)]) -> Insn {
        let mut ops = Ops::default();
        let implied = self.implied.iter();
        for (letter, number) in implied.map(|(l, n)| (*l, i64::from(*n))) {
            Self::put(letter, &mut ops, number);
        }
        for (letters, number) in numbers {
            for letter in letters.chars() {
                Self::put(letter, &mut ops, *number);
            }
        }
        Insn {
            op: self.op,
            ops,
            short: self.short,
        }
    }

    /// The code of operands, or the operand that it cannot hold.
    fn encode(&self, ops: &Ops) -> Result<u32, (char, i64)> {
        for (letter, number) in self.implied {
            let value = Self::get(*letter, ops);
            if value != i64::from(*number) {
                return Err((*letter, value));
            }
        }
        for (letter, number) in self.never {
            if Self::get(*letter, ops) == i64::from(*number) {
                return Err((*letter, i64::from(*number)));
            }
        }
        let mut code = self.fixed;
        for (field, (letters, least, most, step)) in self.fields.iter().zip(self.ranges()) {
            let first = letters.chars().next().unwrap_or('k');
            let value = Self::get(first, ops);
            let other = letters.chars().any(|l| Self::get(l, ops) != value);
            if value < least || value > most || value % step != 0 || other {
                return Err((first, value));
            }
            for (position, bit) in &field.bits {
                code |= ((value >> bit & 1) as u32) << position;
            }
        }
        Ok(code)
    }

    /// The operands in `code`, if it is of this form.
    fn decode(&self, code: u32) -> Option<Ops> {
        if code & self.care != self.fixed {
            return None;
        }
        let insn = self.with(&[]);
        let mut ops = insn.ops;
        for field in &self.fields {
            let mut number = if field.narrow { 8 } else { 0 };
            for (position, bit) in &field.bits {
                number |= i64::from(code >> position & 1) << bit;
            }
            if let Some(top) = field.sign
                && number >> top & 1 == 1
            {
                number -= 2 << top;
            }
            for letter in field.letters.chars() {
                Self::put(letter, &mut ops, number);
            }
        }
        (self.encode(&ops) == Ok(code)).then_some(ops)
    }

    /// Registers among the operands with one of these letters; x0 is no place.
    fn places(&self, ops: &Ops, letters: &str) -> Places {
        let fields = self.fields.iter().filter(|f| f.register);
        let named = fields.flat_map(|f| f.letters.chars());
        let named = named.filter(|l| letters.contains(*l));
        named.fold(0, |set, l| set | 1 << Self::get(l, ops)) & !1
    }
}

impl Insn {
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

    /// In 32 bits.
    pub fn new(op: Op, ops: Ops) -> Self {
        let short = false;
        Self { op, ops, short }
    }

    /// The same in 16 bits, if a core with `features` has it so.
    pub fn shortest(self, features: Features) -> Self {
        let short = Self {
            short: true,
            ..self
        };
        match features.compressed && short.encode().is_ok() {
            true => short,
            false => Self {
                short: false,
                ..self
            },
        }
    }

    /// Its bytes.
    pub fn length(&self) -> usize {
        if self.short { 2 } else { 4 }
    }

    /// Its row of 32 bits, without the meaning.
    pub fn form(&self) -> &'static Form {
        &forms()[self.op as usize]
    }

    /// What it reads.
    pub fn reads(&self) -> Places {
        self.form().places(&self.ops, "st")
    }

    /// What it writes.
    pub fn writes(&self) -> Places {
        self.form().places(&self.ops, "d")
    }

    /// Every register it names.
    fn named(&self) -> Places {
        self.reads() | self.writes()
    }

    /// What a count calls it: saving and restoring registers is no part of the body.
    pub fn class(&self) -> Class {
        let Ops { d, s, t, k } = self.ops;
        let saves = s == SP && k < SAVE_AREA;
        match self.op {
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

    /// The code, in the low 16 bits if it is short.
    ///
    /// # Errors
    /// When an operand does not fit its field.
    pub fn encode(&self) -> Result<u32, EncodeError> {
        let form = self.form();
        let error = |(letter, value)| EncodeError {
            name: form.name,
            letter,
            value,
        };
        if !self.short {
            return form.encode(&self.ops).map_err(error);
        }
        let all = forms().iter().filter(|f| f.short && f.op == self.op);
        let codes = all.map(|form| form.encode(&self.ops));
        // Steps of sp by -32, -16 and 16 have two forms of 16 bits, of which the first is what GNU as takes.
        let code = codes.reduce(|known, next| known.or(next));
        code.unwrap_or(Err(('k', 0))).map_err(error)
    }

    /// The instruction that code begins with (its low 16 bits count if these say so), if a core with `features` has one.
    pub fn decode(code: u32, features: Features) -> Option<Self> {
        let short = code & 3 != 3;
        let code = if short { code & 0xffff } else { code };
        let forms = candidates(code).iter();
        let forms = forms.filter(|f| features.has(f.feature) && (!short || features.compressed));
        let insn = forms.into_iter().find_map(|f| {
            let ops = f.decode(code)?;
            let op = f.op;
            Some(Self { op, ops, short })
        })?;
        (insn.named() >> features.registers() == 0).then_some(insn)
    }

    /// How many bytes on from its own address a branch or a jump goes.
    pub fn branch(&self) -> Option<i64> {
        let relative = self.form().syntax.contains('@');
        relative.then_some(i64::from(self.ops.k))
    }

    /// Mnemonic and operands. Relative targets are written `.+n`, in bytes.
    pub fn text(&self) -> String {
        let mut all = forms().iter();
        let found =
            all.find(|f| f.op == self.op && f.short == self.short && f.encode(&self.ops).is_ok());
        let form = found.unwrap_or_else(|| self.form());
        let Ops { d, s, t, k } = self.ops;
        let name = |r: u8| REGISTERS[usize::from(r & 31)];
        let word = |word: &str| match word {
            "rd" => name(d).to_string(),
            "rs1" => name(s).to_string(),
            "rs2" => name(t).to_string(),
            "zimm" => s.to_string(),
            "#" => k.to_string(),
            "#(rs1)" => format!("{k}({})", name(s)),
            "^" => format!("{:#x}", k >> 12 & 0xfffff),
            _ => format!(".{k:+}"),
        };
        let bytes = |code| format!(".4byte {code:#010x}\t/* {} */", form.name);
        match (form.syntax, form.timing, self.encode()) {
            // GNU as wants names for what is never made.
            (_, Timing::Trap, Ok(code)) if !self.short => bytes(code),
            ("", _, _) => form.name.to_string(),
            (syntax, _, _) => {
                let words: Vec<_> = syntax.split(", ").map(word).collect();
                format!("{} {}", form.name, words.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_whole_and_do_not_overlap() {
        for (i, a) in forms().iter().enumerate() {
            assert!(a.short || a.op as usize == i, "{}", a.name);
            let fields = a.fields.iter().flat_map(|f| &f.bits);
            let all = fields.fold(a.care, |all, (position, _)| {
                assert_eq!(all >> position & 1, 0, "{}", a.name);
                all | 1 << position
            });
            assert_eq!(all.count_ones(), a.width(), "{}", a.name);
            for b in forms()[i + 1..].iter().filter(|b| !b.short && !a.short) {
                let care = a.care & b.care;
                assert_ne!(a.fixed & care, b.fixed & care, "{} and {}", a.name, b.name);
            }
        }
    }

    #[test]
    fn short_forms_decode_to_themselves() {
        for code in (0..=0xffffu32).filter(|code| code & 3 != 3) {
            let shorts = forms().iter().filter(|f| f.short);
            let fit: Vec<_> = shorts.filter_map(|f| Some((f, f.decode(code)?))).collect();
            assert!(fit.len() <= 1, "{code:#06x}");
            if let [(form, ops)] = fit[..] {
                let insn = Insn::decode(code, Features::ALL).unwrap();
                assert_eq!((insn.op, insn.ops), (form.op, ops), "{code:#06x}");
                // c.addi says the same of three words of c.addi16sp.
                let again = Insn::decode(insn.encode().unwrap(), Features::ALL);
                assert_eq!(again, Some(insn), "{code:#06x}");
                let is_same = insn.encode() == Ok(code) || form.name == "c.addi16sp";
                assert!(is_same, "{code:#06x}");
            }
        }
    }

    #[test]
    fn every_operand_survives_encoding() {
        for form in forms().iter().filter(|f| !f.short) {
            for (letter, least, most, step) in form.ranges() {
                for number in [least, (least + most) / 2 / step * step, most] {
                    let insn = form.with(&[(letter, number)]);
                    let code = insn.encode().unwrap();
                    assert_eq!(Insn::decode(code, Features::ALL), Some(insn));
                }
            }
        }
    }
}
