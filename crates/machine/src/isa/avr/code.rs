//! Instructions as bits and as GNU text, both from the rows of the table.

use std::sync::OnceLock;

use crate::domain::concrete::Concrete;
use crate::isa::avr::core::{Core, Set};
use crate::isa::avr::instructions::table;
use crate::isa::avr::operands::{Op, Ops, Timing};
use crate::isa::cost::{Class, EncodeError};

/// An instruction with its operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Insn {
    pub op: Op,
    pub ops: Ops,
}

/// Where the bits of one operand lie, most significant first, and how they are read.
#[derive(Clone, Debug)]
struct Field {
    letter: char,
    /// Bit positions in the 16- or 32-bit code, first word in the upper half.
    bits: Vec<u32>,
    /// Added to (and, for pairs, doubled before) the number in the bits.
    base: i64,
    step: i64,
    signed: bool,
}

/// The reduced core's addresses start at 0x40, with this bit set in the code.
const ADDRESS_TOP: i64 = 0x40;

/// A row without its meaning, its pattern compiled.
#[derive(Clone, Debug)]
pub struct Form {
    pub op: Op,
    pub name: &'static str,
    pub syntax: &'static str,
    pub pattern: &'static str,
    pub timing: Timing,
    pub class: Class,
    /// Length in words, 1 or 2.
    pub words: usize,
    fixed: u32,
    care: u32,
    fields: Vec<Field>,
    /// The low register of a pointer that steps or takes a displacement.
    steps: Option<u8>,
}

fn compile(
    op: Op,
    name: &'static str,
    syntax: &'static str,
    pattern: &'static str,
    timing: Timing,
    class: Class,
) -> Form {
    let bits: Vec<char> = pattern.chars().filter(|c| *c != ' ').collect();
    let words = bits.len() / 16;
    let pointers = [
        ("X+", 26),
        ("-X", 26),
        ("Y+", 28),
        ("-Y", 28),
        ("Z+", 30),
        ("-Z", 30),
    ];
    let steps = pointers.iter().find(|(text, _)| syntax.contains(text));
    let mut form = Form {
        op,
        name,
        syntax,
        pattern,
        timing,
        class,
        words,
        fixed: 0,
        care: 0,
        fields: Vec::new(),
        steps: steps.map(|(_, low)| *low),
    };
    for (i, c) in bits.iter().enumerate() {
        let position = (bits.len() - 1 - i) as u32;
        match c {
            '0' | '1' => {
                form.care |= 1 << position;
                form.fixed |= u32::from(*c == '1') << position;
            }
            letter => match form.fields.iter_mut().find(|f| f.letter == *letter) {
                Some(field) => field.bits.push(position),
                None => form.fields.push(Field {
                    letter: *letter,
                    bits: vec![position],
                    base: 0,
                    step: 1,
                    signed: false,
                }),
            },
        }
    }
    for field in &mut form.fields {
        (field.base, field.step) = match (field.letter, field.bits.len()) {
            ('d' | 'r', 3 | 4) => (16, 1),
            ('d' | 'r', 2) => (24, 2),
            ('D' | 'R', _) => (0, 2),
            ('a', _) => (0x40, 1),
            _ => (0, 1),
        };
        field.signed = field.letter == 'k' && words == 1;
        if field.letter == 'a' {
            // ADDR[7:0] = !INST[8], INST[8], INST[10], INST[9], INST[3:0] (DS40002198, LDS on AVRrc).
            field.bits = vec![8, 10, 9, 3, 2, 1, 0];
        }
    }
    form
}

/// All forms, in the order of [`Op`].
pub fn forms() -> &'static [Form] {
    static FORMS: OnceLock<Vec<Form>> = OnceLock::new();
    FORMS.get_or_init(|| {
        table::<Concrete>()
            .iter()
            .map(|r| compile(r.op, r.name, r.syntax, r.pattern, r.timing, r.class))
            .collect()
    })
}

/// The form that each possible first word of an instruction belongs to: on the reduced core,
/// and on all others, which differ only in what they leave out.
fn decoder(reduced: bool) -> &'static [Option<u8>] {
    static DECODERS: [OnceLock<Vec<Option<u8>>>; 2] = [OnceLock::new(), OnceLock::new()];
    let set = if reduced { Set::Avrrc } else { Set::AvrePlus };
    DECODERS[usize::from(reduced)].get_or_init(|| {
        let form_of = |word: u32| {
            // The reduced core's LDS and STS, last in the table, hide LDD and STD.
            forms().iter().rposition(|f| {
                let shift = 16 * (f.words as u32 - 1);
                let fits = (word << shift) & (f.care >> shift << shift);
                set.has(f.op) && fits == f.fixed >> shift << shift
            })
        };
        (0..=0xffff)
            .map(|word| form_of(word).map(|i| i as u8))
            .collect()
    })
}

impl Form {
    fn put(field: &Field, ops: &mut Ops, value: i64) {
        match field.letter {
            'd' | 'D' => ops.d = value as u8,
            'r' | 'R' => ops.r = value as u8,
            'b' | 's' => ops.b = value as u8,
            _ => ops.k = value as i32,
        }
    }

    fn get(field: &Field, ops: &Ops) -> i64 {
        match field.letter {
            'd' | 'D' => i64::from(ops.d),
            'r' | 'R' => i64::from(ops.r),
            'b' | 's' => i64::from(ops.b),
            _ => i64::from(ops.k),
        }
    }

    /// The smallest and largest value of each operand, with its letter.
    pub fn ranges(&self) -> Vec<(char, i64, i64, i64)> {
        self.fields
            .iter()
            .map(|f| {
                let count = 1i64 << f.bits.len();
                if f.signed {
                    (f.letter, -count / 2, count / 2 - 1, 1)
                } else {
                    (f.letter, f.base, f.base + f.step * (count - 1), f.step)
                }
            })
            .collect()
    }

    /// An instruction of this form with the given operand values.
    pub fn with(&self, values: &[(char, i64)]) -> Insn {
        let mut ops = Ops::default();
        for (letter, value) in values {
            if let Some(field) = self.fields.iter().find(|f| f.letter == *letter) {
                Self::put(field, &mut ops, *value);
            }
        }
        Insn { op: self.op, ops }
    }
}

impl Insn {
    /// An instruction with two registers.
    pub fn rr(op: Op, d: u8, r: u8) -> Self {
        Self {
            op,
            ops: Ops {
                d,
                r,
                ..Ops::default()
            },
        }
    }

    /// An instruction with a destination register and a number.
    pub fn dk(op: Op, d: u8, k: i32) -> Self {
        Self {
            op,
            ops: Ops {
                d,
                k,
                ..Ops::default()
            },
        }
    }

    /// An instruction with a source register and a number.
    pub fn rk(op: Op, r: u8, k: i32) -> Self {
        Self {
            op,
            ops: Ops {
                r,
                k,
                ..Ops::default()
            },
        }
    }

    /// Is a moving pointer also the register moved? The result is undefined (DS40002198, LD, ST, LPM).
    pub fn is_undefined(&self) -> bool {
        let (low, r) = match self.op {
            Op::LDX_INC | Op::LDX_DEC => (26, self.ops.d),
            Op::STX_INC | Op::STX_DEC => (26, self.ops.r),
            Op::LDY_INC | Op::LDY_DEC => (28, self.ops.d),
            Op::STY_INC | Op::STY_DEC => (28, self.ops.r),
            Op::LDZ_INC | Op::LDZ_DEC | Op::LPMZ_INC | Op::ELPMZ_INC => (30, self.ops.d),
            Op::STZ_INC | Op::STZ_DEC => (30, self.ops.r),
            _ => return false,
        };
        r == low || r == low + 1
    }

    /// The registers it names or moves: operands, and the pointer that steps.
    pub fn registers(&self) -> Vec<u8> {
        let mut list = Vec::with_capacity(4);
        let form = self.form();
        for field in &form.fields {
            match (field.letter, field.bits.len()) {
                ('D', _) | ('d', 2) => list.extend([self.ops.d, self.ops.d + 1]),
                ('R', _) => list.extend([self.ops.r, self.ops.r + 1]),
                ('d', _) => list.push(self.ops.d),
                ('r', _) => list.push(self.ops.r),
                _ => {}
            }
        }
        list.extend(form.steps.into_iter().flat_map(|low| [low, low + 1]));
        list
    }

    /// Its row, without the meaning.
    pub fn form(&self) -> &'static Form {
        &forms()[self.op as usize]
    }

    /// Appends the code, little-endian words.
    ///
    /// # Errors
    /// When an operand does not fit its field.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let form = self.form();
        let mut code = form.fixed;
        for field in &form.fields {
            let value = Form::get(field, &self.ops);
            let count = 1i64 << field.bits.len();
            let raw = value - field.base;
            let fits = if field.signed {
                (-count / 2..count / 2).contains(&value)
            } else {
                raw >= 0 && raw % field.step == 0 && raw / field.step < count
            };
            if !fits {
                return Err(EncodeError {
                    name: form.name,
                    letter: field.letter,
                    value,
                });
            }
            let mut number = raw / field.step;
            if field.letter == 'a' {
                number ^= ADDRESS_TOP;
            }
            for (i, position) in field.bits.iter().rev().enumerate() {
                code |= ((number >> i & 1) as u32) << position;
            }
        }
        for i in (0..form.words).rev() {
            out.extend_from_slice(&((code >> (16 * i)) as u16).to_le_bytes());
        }
        Ok(())
    }

    /// The instruction of `core` at the start of `bytes`; `None` if it is none, or cut off.
    pub fn decode_on(core: &Core, bytes: &[u8]) -> Option<Self> {
        let insn = Self::read(core.set == Set::Avrrc, bytes)?;
        core.refusal(&insn).is_none().then_some(insn)
    }

    /// The instruction of any core but the reduced one at the start of `bytes`.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        Self::read(false, bytes)
    }

    /// The same on the reduced core, or on any other.
    pub fn read(reduced: bool, bytes: &[u8]) -> Option<Self> {
        let word = |i: usize| {
            let pair = bytes.get(2 * i..2 * i + 2)?;
            Some(u32::from(pair[0]) | u32::from(pair[1]) << 8)
        };
        let first = word(0)?;
        let form = &forms()[usize::from(decoder(reduced)[first as usize]?)];
        let code = if form.words == 2 {
            first << 16 | word(1)?
        } else {
            first
        };
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
            if field.letter == 'a' {
                number ^= ADDRESS_TOP;
            }
            Form::put(field, &mut ops, field.base + field.step * number);
        }
        Some(Self { op: form.op, ops })
    }

    /// GNU as syntax. Relative targets are written `.+n`, in bytes.
    pub fn text(&self) -> String {
        let form = self.form();
        let Ops { d, r, k, b } = self.ops;
        let alias = match self.op {
            Op::EOR if d == r => Some("clr"),
            Op::ADD if d == r => Some("lsl"),
            Op::ADC if d == r => Some("rol"),
            Op::AND if d == r => Some("tst"),
            _ => None,
        };
        if let Some(alias) = alias {
            return format!("{alias} r{d}");
        }
        // Displacement 0 is the plain pointer, which the reduced core has as well.
        match self.op {
            Op::LDDY if k == 0 => return format!("ld r{d}, Y"),
            Op::LDDZ if k == 0 => return format!("ld r{d}, Z"),
            Op::STDY if k == 0 => return format!("st Y, r{r}"),
            Op::STDZ if k == 0 => return format!("st Z, r{r}"),
            _ => {}
        }
        let operands = form
            .syntax
            .replace('a', &k.to_string())
            .replace(['b', 's'], &b.to_string())
            .replace("Rd", &format!("r{d}"))
            .replace("Rr", &format!("r{r}"))
            .replace("@k", &format!("{:#x}", 2 * i64::from(k)))
            .replace("#k", &format!("{k:#x}"))
            .replace("+q", &format!("+{k}"))
            .replace('K', &k.to_string())
            .replace('A', &format!("{k:#x}"))
            .replace('k', &format!(".{:+}", 2 * i64::from(k)));
        if operands.is_empty() {
            form.name.to_string()
        } else {
            format!("{} {operands}", form.name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_in_the_order_of_op() {
        for (i, form) in forms().iter().enumerate() {
            assert_eq!(form.op as usize, i, "{}", form.name);
        }
    }

    #[test]
    fn no_two_patterns_overlap() {
        for (i, a) in forms().iter().enumerate() {
            for b in &forms()[i + 1..] {
                // On the reduced core these hide displacements that it does not have.
                if matches!(b.op, Op::LDS_RC | Op::STS_RC) {
                    continue;
                }
                let shift = |f: &Form| 16 * (f.words as u32 - 1);
                let (sa, sb) = (shift(a), shift(b));
                let care = (a.care >> sa) & (b.care >> sb);
                assert_ne!(
                    (a.fixed >> sa) & care,
                    (b.fixed >> sb) & care,
                    "{} and {}",
                    a.pattern,
                    b.pattern
                );
            }
        }
    }

    #[test]
    fn every_first_word_decodes_to_itself_or_to_nothing() {
        let mut known = 0;
        for word in 0..=0xffffu16 {
            let mut bytes = word.to_le_bytes().to_vec();
            bytes.extend([0x34, 0x12]);
            for reduced in [false, true] {
                if let Some(insn) = Insn::read(reduced, &bytes) {
                    known += 1;
                    let mut back = Vec::new();
                    insn.encode(&mut back).unwrap();
                    assert_eq!(back, bytes[..back.len()], "{}", insn.text());
                }
            }
        }
        assert!(known > 115_000, "only {known} words are instructions");
    }
}
