//! Instructions as bits and as text, from the rows of a table: what every instruction set's encoder, decoder and printer
//! share.
//!
//! A row has a pattern, one character a bit from the highest on: `0`, `1`, or the letter of an operand. From the patterns
//! come the bits that tell instructions apart and the field of each operand. What a machine says beside its rows is
//! [`Operands`]: how the number in a field is read, and where an operand is kept.

mod field;
mod tests;

use std::fmt::Debug;
use std::hash::Hash;

pub use crate::codec::field::{Field, Range, Reading};
use crate::isa::cost::{Class, EncodeError};

/// What an instruction reads or writes, as a set of bits: registers by their numbers, then what a machine has beside.
pub type Places = u64;

/// The operands of an instruction set's instructions, and what its table says beside the rows.
pub trait Operands: Copy + Default + PartialEq + Eq + Hash + Debug + Send + Sync + 'static {
    /// Names of the rows.
    type Op: Copy + PartialEq + Eq + Hash + Debug + Send + Sync + 'static;
    /// What a core charges for.
    type Timing: Copy + PartialEq + Debug + Send + Sync + 'static;
    /// What a core must have for an instruction to exist.
    type Feature: Copy + PartialEq + Debug + Send + Sync + 'static;

    /// Bytes of a code unit: what is read at once, in the core's byte order. Patterns are one unit or two.
    const UNIT: usize;
    /// Is the first of two units the upper half of the pattern?
    const HIGH_FIRST: bool;
    /// Is an instruction refused whose operands say more than its bits: does decoding give it back?
    const EXACT: bool = false;
    /// Letters that stand for an operand for the second time: with other bits than at the first it is no instruction.
    const REPEATS: &'static [char] = &[];

    /// The place of a row in the table.
    fn index(op: Self::Op) -> usize;
    /// The table.
    fn codec() -> &'static Codec<Self>;
    /// How the `bits` bits of operand `letter`, in an instruction of `bytes` bytes, are read.
    fn reading(letter: char, bits: usize, bytes: usize) -> Reading;
    /// The number of an operand.
    fn get(&self, letter: char) -> i64;
    /// Sets it. Of a letter that stands for an operand for the second time nothing is set.
    fn put(&mut self, letter: char, number: i64);
    /// Do the operands make an instruction of this form, and not of another or of none?
    fn admits(&self, _form: &Form<Self>) -> bool {
        true
    }
    /// Letters of operands that lie behind the pattern, a code unit each, as the operands in the pattern say.
    fn behind(&self, _form: &Form<Self>) -> &'static [char] {
        &[]
    }
    /// The places of a letter in a row's data flow.
    fn places(&self, _letter: char) -> Places {
        0
    }
}

/// Letters of operands, with a number for each.
pub type Numbers = &'static [(char, i64)];

/// One instruction: a row of the table of an instruction set, with what it means to the machine `M`.
pub struct Row<O: Operands, M> {
    pub op: O::Op,
    pub name: &'static str,
    pub pattern: &'static str,
    pub syntax: &'static str,
    /// Letters of what it writes, `<`, letters of what it reads; empty where nothing depends on it.
    pub flow: &'static str,
    pub timing: O::Timing,
    pub class: Class,
    pub feature: O::Feature,
    pub meaning: M,
}

/// A short form of an instruction: fewer bits for what a row says, with some of its operands. It needs
/// [`Operands::EXACT`].
pub struct Short<O: Operands> {
    pub op: O::Op,
    pub name: &'static str,
    pub pattern: &'static str,
    pub syntax: &'static str,
    pub feature: O::Feature,
    /// The row: what it does, reads, writes and takes.
    pub of: O::Op,
    /// The operands that are not in its bits; others are 0.
    pub implied: Numbers,
    /// Numbers with which it is no instruction.
    pub never: Numbers,
}

/// Makes the enumeration `Op` of names and the function `table` of a machine from one list of rows:
/// `NAME "name" "pattern" "syntax" "flow" Timing Class Feature |m, o| meaning;`. Behind them may stand, in braces, a list
/// that makes the static `SHORTS`: `NAME "name" "pattern" "syntax" Feature ROW ['l' implied ...] ['l' never ...];`.
macro_rules! instructions {
    ($($op:ident $name:literal $pattern:literal $syntax:literal $flow:literal
       $timing:ident $class:ident $feature:ident |$m:pat_param, $o:pat_param| $meaning:expr;)*
     $({$($short:ident $short_name:literal $short_pattern:literal $short_syntax:literal $short_feature:ident
          $of:ident [$($implied:literal $number:literal)*] [$($never:literal $not:literal)*];)*})?) => {
        /// An instruction's name in the table.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(clippy::upper_case_acronyms, non_camel_case_types)]
        pub enum Op { $($op,)* $($($short,)*)? }

        $(
            /// The short forms, in the order of [`Op`] behind those of the table.
            pub static SHORTS: &[codec::Short<Ops>] = &[$(codec::Short {
                op: Op::$short,
                name: $short_name,
                pattern: $short_pattern,
                syntax: $short_syntax,
                feature: Feature::$short_feature,
                of: Op::$of,
                implied: &[$(($implied, $number),)*],
                never: &[$(($never, $not),)*],
            },)*];
        )?

        /// The table, in the order of [`Op`].
        pub fn table<D: Domain>() -> Vec<Row<D>> {
            vec![$(Row {
                op: Op::$op,
                name: $name,
                pattern: $pattern,
                syntax: $syntax,
                flow: $flow,
                timing: Timing::$timing,
                class: $class,
                feature: Feature::$feature,
                meaning: |$m, $o| $meaning,
            },)*]
        }
    };
}
pub(crate) use instructions;

/// A row without its meaning, its pattern compiled.
#[derive(Clone, Debug)]
pub struct Form<O: Operands> {
    pub op: O::Op,
    pub name: &'static str,
    pub pattern: &'static str,
    pub syntax: &'static str,
    pub flow: &'static str,
    pub timing: O::Timing,
    pub class: Class,
    pub feature: O::Feature,
    /// The row that says what it does: another one if this is a short form.
    pub of: O::Op,
    implied: Numbers,
    never: Numbers,
    /// Length of the pattern in bytes.
    pub bytes: usize,
    /// The bits that are the same in every instruction of this form, and which these are.
    pub fixed: u32,
    pub care: u32,
    pub fields: Vec<Field>,
    /// Letters of what it writes, and of what it reads.
    sides: [&'static str; 2],
}

impl<O: Operands> Form<O> {
    fn of<M>(row: &Row<O, M>) -> Self {
        let bits: Vec<char> = row.pattern.chars().filter(|c| *c != ' ').collect();
        let mut form = Self {
            op: row.op,
            name: row.name,
            pattern: row.pattern,
            syntax: row.syntax,
            flow: row.flow,
            timing: row.timing,
            class: row.class,
            feature: row.feature,
            of: row.op,
            implied: &[],
            never: &[],
            bytes: bits.len() / 8,
            fixed: 0,
            care: 0,
            fields: Vec::new(),
            sides: row.flow.split_once('<').unwrap_or_default().into(),
        };
        let mut operands: Vec<(char, Vec<u32>)> = Vec::new();
        for (c, position) in bits.iter().zip((0..bits.len() as u32).rev()) {
            match c {
                '0' | '1' => {
                    form.care |= 1 << position;
                    form.fixed |= u32::from(*c == '1') << position;
                }
                letter => match operands.iter_mut().find(|(of, _)| of == letter) {
                    Some((_, places)) => places.push(position),
                    None => operands.push((*letter, vec![position])),
                },
            }
        }
        let field = |(letter, places): &(char, Vec<u32>)| {
            Field::new(
                *letter,
                places,
                O::reading(*letter, places.len(), form.bytes),
                O::REPEATS.contains(letter),
            )
        };
        form.fields = operands.iter().map(field).collect();
        form
    }

    /// `short`, of an instruction that `row` says.
    fn short<M>(short: &Short<O>, row: &Row<O, M>) -> Self {
        let shorter = Row {
            op: short.op,
            name: short.name,
            pattern: short.pattern,
            syntax: short.syntax,
            flow: row.flow,
            timing: row.timing,
            class: row.class,
            feature: short.feature,
            meaning: (),
        };
        Self {
            of: short.of,
            implied: short.implied,
            never: short.never,
            ..Self::of(&shorter)
        }
    }

    /// Is it a short form?
    pub fn is_short(&self) -> bool {
        self.of != self.op
    }

    /// The operands that are in no bits of it.
    fn start(&self) -> O {
        let mut ops = O::default();
        for (letter, number) in self.implied {
            ops.put(*letter, *number);
        }
        ops
    }

    /// Has it the operand `letter`?
    pub fn has(&self, letter: char) -> bool {
        self.fields.iter().any(|f| f.letter == letter)
    }

    /// The numbers that each operand may have.
    pub fn ranges(&self) -> Vec<Range> {
        self.fields.iter().map(Field::range).collect()
    }

    /// An instruction of this form with the given numbers; of letters that it has not nothing is set.
    pub fn with(&self, numbers: &[(char, i64)]) -> Insn<O> {
        let mut ops = self.start();
        for (letter, number) in numbers.iter().filter(|(letter, _)| self.has(*letter)) {
            ops.put(*letter, *number);
        }
        Insn { op: self.op, ops }
    }

    /// Are the fixed bits of this form those of `code`?
    pub fn matches(&self, code: u32) -> bool {
        code & self.care == self.fixed
    }

    /// The instruction of this form with the operand bits of `code`, if they make one; what lies behind the pattern is 0.
    pub fn with_bits_of(&self, code: u32) -> Option<Insn<O>> {
        let mut ops = self.start();
        for field in &self.fields {
            ops.put(field.letter, field.read(code));
        }
        // A register that is named twice is the same both times.
        let mut again = self.fields.iter().filter(|f| f.repeats);
        let same = again.all(|f| f.read(code) == ops.get(f.letter));
        let is_none = |(letter, number): &(char, i64)| ops.get(*letter) == *number;
        let fits = same && !self.never.iter().any(is_none) && ops.admits(self);
        let op = self.op;
        fits.then_some(Insn { op, ops })
    }

    /// The bits of its first unit: those of `code`, and where they begin.
    fn first_unit(&self, code: u32) -> u32 {
        let rest = 8 * (self.bytes - O::UNIT) as u32;
        let shift = if O::HIGH_FIRST { rest } else { 0 };
        (u64::from(code >> shift) & ((1u64 << (8 * O::UNIT)) - 1)) as u32
    }
}

/// How many bits of the first unit the decoder looks an instruction up by.
const KEY_BITS: usize = 12;

/// A table, ready to encode and decode.
pub struct Codec<O: Operands> {
    /// In the order of [`Operands::index`].
    pub forms: Vec<Form<O>>,
    /// The bits of the first unit that most forms fix, side by side: those of each value of each byte of it.
    key: Vec<[u16; 256]>,
    /// For each value of them, the forms an instruction may have, by their places.
    candidates: Vec<Vec<u16>>,
}

impl<O: Operands> Codec<O> {
    /// That of these rows.
    pub fn of<M>(rows: &[Row<O, M>]) -> Self {
        Self::with_shorts(rows, &[])
    }

    /// That of these rows and of short forms of them.
    pub fn with_shorts<M>(rows: &[Row<O, M>], shorts: &[Short<O>]) -> Self {
        let shorts = shorts.iter();
        let shorts = shorts.map(|short| Form::short(short, &rows[O::index(short.of)]));
        let forms: Vec<Form<O>> = rows.iter().map(Form::of).chain(shorts).collect();
        let fixing = |bit: u32| {
            let forms = forms.iter();
            forms
                .filter(|f| f.first_unit(f.care) >> bit & 1 == 1)
                .count()
        };
        let mut key: Vec<u32> = (0..8 * O::UNIT as u32).collect();
        key.sort_by_key(|bit| (std::cmp::Reverse(fixing(*bit)), *bit));
        key.truncate(KEY_BITS);
        let spread = |value: usize| {
            let bits = key.iter().enumerate();
            bits.map(|(i, bit)| (value as u32 >> i & 1) << bit)
                .sum::<u32>()
        };
        let known = spread((1 << KEY_BITS) - 1);
        let of_key = |value: usize| {
            let unit = spread(value);
            let may =
                |f: &Form<O>| (unit ^ f.first_unit(f.fixed)) & f.first_unit(f.care) & known == 0;
            let list = forms.iter().zip(0u16..).filter(|(f, _)| may(f));
            list.map(|(_, i)| i).collect()
        };
        let candidates = (0..1usize << KEY_BITS).map(of_key).collect();
        let gathered = |unit: u32| {
            let bits = key.iter().zip(0..);
            bits.fold(0, |all, (bit, i)| all | ((unit >> bit & 1) as u16) << i)
        };
        let of_byte =
            |byte: usize| std::array::from_fn(|value| gathered((value << (8 * byte)) as u32));
        let key = (0..O::UNIT).map(of_byte).collect();
        Self {
            forms,
            key,
            candidates,
        }
    }

    /// The instruction at the start of `bytes`, of a form that `has` names; none if it is none, or cut off. Where two
    /// forms fit, the later row hides the earlier one.
    pub fn decode(
        &self,
        bytes: &[u8],
        big_endian: bool,
        has: impl Fn(&Form<O>) -> bool,
    ) -> Option<Insn<O>> {
        let first = unit::<O>(bytes, big_endian)?;
        let bytes_of_first = self.key.iter().zip(first.to_le_bytes());
        let key = bytes_of_first.fold(0, |key, (of, byte)| key | of[usize::from(byte)]);
        let candidates = self.candidates[usize::from(key)].iter().rev();
        let mut fits = candidates.filter_map(|i| {
            let form = &self.forms[usize::from(*i)];
            let code = match (form.bytes == O::UNIT, O::HIGH_FIRST) {
                (true, _) => first,
                (false, true) => first << 16 | unit::<O>(bytes.get(O::UNIT..)?, big_endian)?,
                (false, false) => first | unit::<O>(bytes.get(O::UNIT..)?, big_endian)? << 16,
            };
            let insn = (form.matches(code) && has(form)).then(|| form.with_bits_of(code))??;
            insn.with_units_of(bytes.get(form.bytes..)?, big_endian)
        });
        fits.next()
    }
}

/// The code unit at the start of `bytes`.
fn unit<O: Operands>(bytes: &[u8], big_endian: bool) -> Option<u32> {
    let bytes = bytes.get(..O::UNIT)?;
    let join = |unit: u32, byte: &u8| unit << 8 | u32::from(*byte);
    Some(match big_endian {
        true => bytes.iter().fold(0, join),
        false => bytes.iter().rev().fold(0, join),
    })
}

/// An instruction with its operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Insn<O: Operands> {
    pub op: O::Op,
    pub ops: O,
}

impl<O: Operands> Insn<O> {
    /// Its row, without the meaning.
    pub fn form(&self) -> &'static Form<O> {
        &O::codec().forms[O::index(self.op)]
    }

    /// Letters of what lies behind the pattern.
    fn behind(&self) -> &'static [char] {
        self.ops.behind(self.form())
    }

    /// Length in bytes.
    pub fn bytes(&self) -> usize {
        self.form().bytes + O::UNIT * self.behind().len()
    }

    /// The same with what lies behind its pattern from the start of `bytes`; none if that is cut off.
    fn with_units_of(mut self, bytes: &[u8], big_endian: bool) -> Option<Self> {
        for (letter, at) in self.behind().iter().zip((0..).step_by(O::UNIT)) {
            let unit = unit::<O>(bytes.get(at..)?, big_endian)?;
            self.ops.put(*letter, unit.into());
        }
        Some(self)
    }

    /// The same in the form of its row.
    pub fn full(self) -> Self {
        let op = self.form().of;
        Self { op, ..self }
    }

    /// The same in the first short form that `has` names and its operands fit, or else in the form of its row.
    pub fn shortest(self, has: impl Fn(&Form<O>) -> bool) -> Self {
        let full = self.full();
        let forms = O::codec().forms.iter();
        let shorts = forms.filter(|f| f.is_short() && f.of == full.op && has(f));
        let mut shorts = shorts.map(|f| Self { op: f.op, ..self });
        shorts.find(|s| s.code().is_ok()).unwrap_or(full)
    }

    /// The bits of its pattern.
    ///
    /// # Errors
    /// When an operand does not fit its field, or the operands make another instruction.
    pub fn code(&self) -> Result<u32, EncodeError> {
        let form = self.form();
        let error = |letter, value| EncodeError {
            name: form.name,
            letter,
            value,
        };
        let mut code = form.fixed;
        for field in &form.fields {
            let value = self.ops.get(field.letter);
            code |= field
                .write(value)
                .ok_or_else(|| error(field.letter, value))?;
        }
        let again = || {
            let mut again = form.with_bits_of(code)?;
            for letter in again.behind() {
                again.ops.put(*letter, self.ops.get(*letter));
            }
            Some(again)
        };
        let fits = match O::EXACT {
            true => again() == Some(*self),
            false => self.ops.admits(form),
        };
        match fits {
            true => Ok(code),
            false => Err(error('k', self.ops.get('k'))),
        }
    }

    /// Appends its bytes.
    ///
    /// # Errors
    /// As [`Insn::code`].
    pub fn encode(&self, big_endian: bool, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let code = self.code()?;
        let units = self.form().bytes / O::UNIT;
        let of_pattern = (0..units).map(|i| {
            let place = if O::HIGH_FIRST { units - 1 - i } else { i };
            code >> (8 * O::UNIT * place)
        });
        let behind = self.behind().iter();
        for unit in of_pattern.chain(behind.map(|letter| self.ops.get(*letter) as u32)) {
            let bytes = &unit.to_le_bytes()[..O::UNIT];
            match big_endian {
                true => out.extend(bytes.iter().rev()),
                false => out.extend(bytes),
            }
        }
        Ok(())
    }

    /// What it reads.
    pub fn reads(&self) -> Places {
        self.flow(1)
    }

    /// What it writes.
    pub fn writes(&self) -> Places {
        self.flow(0)
    }

    fn flow(&self, side: usize) -> Places {
        let places = self.form().sides[side]
            .chars()
            .map(|letter| self.ops.places(letter));
        places.fold(0, |all, places| all | places)
    }

    /// `name`, a blank and the syntax of its row with operands: what `operand` says of a name (`Rd`, `k`) or of a mark
    /// (`#`, `@`, `!`) with the name behind it stands for it, other text for itself.
    pub fn written(&self, name: &str, operand: impl Fn(&str) -> Option<String>) -> String {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let is_mark = |c: char| matches!(c, '#' | '@' | '!');
        let syntax = self.form().syntax;
        let mut text = name.to_string();
        if !syntax.is_empty() {
            text.push(' ');
        }
        let mut rest = syntax;
        while let Some(first) = rest.chars().next() {
            let from = if is_mark(first) { 1 } else { 0 };
            let name = rest[from..].find(|c| !is_name(c));
            let end = from + name.unwrap_or(rest.len() - from);
            let (token, after) = rest.split_at(end.max(first.len_utf8()));
            match operand(token) {
                Some(operand) => text += &operand,
                None => text += token,
            }
            rest = after;
        }
        text
    }
}

/// The bytes of `program`.
///
/// # Errors
/// The instruction that cannot be encoded.
pub fn encode<O: Operands>(program: &[Insn<O>], big_endian: bool) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(4 * program.len());
    for insn in program {
        insn.encode(big_endian, &mut bytes)
            .map_err(|e| e.to_string())?;
    }
    Ok(bytes)
}

/// The instructions in `code`, one after the other, each with its byte address; `decode` says which one is at the start
/// of bytes.
///
/// # Errors
/// The address of a word that is no instruction.
pub fn decode<O: Operands>(
    code: &[u8],
    decode: impl Fn(&[u8]) -> Option<Insn<O>>,
) -> Result<Vec<(usize, Insn<O>)>, usize> {
    let mut list = Vec::with_capacity(code.len() / O::UNIT);
    let mut at = 0;
    while at < code.len() {
        let insn = decode(&code[at..]).ok_or(at)?;
        list.push((at, insn));
        at += insn.bytes();
    }
    Ok(list)
}
