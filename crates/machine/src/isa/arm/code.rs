//! Instructions as bits and as GNU text, both from the rows of the table.

use std::sync::OnceLock;

use crate::domain::concrete::Concrete;
use crate::isa::arm::instructions::{Op, Timing, table};
use crate::isa::arm::machine::{LR, PC, SP};
use crate::isa::arm::operands::{ALWAYS, Ops};
use crate::isa::cost::{Class, EncodeError};

/// An instruction with its operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Insn {
    pub op: Op,
    pub ops: Ops,
}

/// Where the bits of one operand lie, most significant first.
#[derive(Clone, Debug)]
struct Field {
    letter: char,
    bits: Vec<u32>,
}

/// A row without its meaning, its pattern compiled.
#[derive(Clone, Debug)]
pub struct Form {
    pub op: Op,
    pub name: &'static str,
    pub syntax: &'static str,
    pub pattern: &'static str,
    pub timing: Timing,
    pub class: Class,
    fixed: u32,
    care: u32,
    fields: Vec<Field>,
}

/// All forms, in the order of [`Op`].
pub fn forms() -> &'static [Form] {
    static FORMS: OnceLock<Vec<Form>> = OnceLock::new();
    FORMS.get_or_init(|| {
        table::<Concrete>()
            .iter()
            .map(|r| {
                let mut form = Form {
                    op: r.op,
                    name: r.name,
                    syntax: r.syntax,
                    pattern: r.pattern,
                    timing: r.timing,
                    class: r.class,
                    fixed: 0,
                    care: 0,
                    fields: Vec::new(),
                };
                form.compile();
                form
            })
            .collect()
    })
}

/// The bits that tell most instructions apart: 27 to 20 and 7 to 4.
fn key(word: u32) -> usize {
    (word >> 16 & 0xff0 | word >> 4 & 15) as usize
}

/// For each key, the forms an instruction may have.
fn decoder() -> &'static [Vec<u8>] {
    static DECODER: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    DECODER.get_or_init(|| {
        (0..0x1000u32)
            .map(|k| {
                let (word, known) = ((k & 0xff0) << 16 | (k & 15) << 4, 0x0ff0_00f0);
                let may = |f: &Form| (word ^ f.fixed) & f.care & known == 0;
                let list = forms().iter().enumerate();
                list.filter(|(_, f)| may(f)).map(|(i, _)| i as u8).collect()
            })
            .collect()
    })
}

/// The number in the bits of a shifter operand with an immediate.
fn immediate(k: u32) -> u32 {
    (k & 0xff).rotate_right(k >> 7 & 30)
}

/// The bits of a shifter operand with the immediate `value`, in the least rotation.
pub fn immediate_bits(value: u32) -> Option<i32> {
    (0..16u32)
        .map(|r| (r, value.rotate_left(2 * r)))
        .find(|(_, low)| *low < 256)
        .map(|(r, low)| (0x1000 | r << 8 | low) as i32)
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
                    }),
                },
            }
        }
    }

    fn has(&self, letter: char) -> bool {
        self.fields.iter().any(|f| f.letter == letter)
    }

    /// The number in a field; halfword offsets are kept as word offsets are.
    fn put(&self, letter: char, ops: &mut Ops, bits: u32) {
        match letter {
            'c' => ops.cond = bits as u8,
            'd' => ops.d = bits as u8,
            'n' => ops.n = bits as u8,
            'm' => ops.m = bits as u8,
            'r' => ops.r = bits as u8,
            'S' => ops.s = bits == 1,
            'P' => ops.p = bits == 1,
            'U' => ops.u = bits == 1,
            'W' => ops.w = bits == 1,
            'k' => ops.k = (bits << 8) as i32 >> 8,
            '%' if bits & 0x100 == 0 => ops.k = (0x1000 | bits) as i32,
            '%' => ops.k = (bits & 0xff) as i32,
            _ => ops.k = bits as i32,
        }
    }

    fn get(&self, letter: char, ops: &Ops) -> i64 {
        match letter {
            'c' => i64::from(ops.cond),
            'd' => i64::from(ops.d),
            'n' => i64::from(ops.n),
            'm' => i64::from(ops.m),
            'r' => i64::from(ops.r),
            'S' => i64::from(ops.s),
            'P' => i64::from(ops.p),
            'U' => i64::from(ops.u),
            'W' => i64::from(ops.w),
            '%' if ops.k & 0x1000 != 0 => i64::from(ops.k & !0x1000),
            '%' if ops.k < 0x100 => i64::from(ops.k | 0x100),
            _ => i64::from(ops.k),
        }
    }

    /// Do the operands make an instruction of this form, and not of another or of none?
    fn admits(&self, ops: &Ops) -> bool {
        let k = ops.k;
        let number = k & 0x1000 != 0;
        let shifter = match self.op {
            Op::MSR => number || k & 0xff0 == 0,
            _ => number || k & 0x90 != 0x90,
        };
        ops.cond <= ALWAYS
            && (!self.has('#') || shifter)
            && (!self.has('@') || k & 0x1010 != 0x1010)
            && (!self.has('%') || k & 0x1ff0 == 0x1000 || k & !0xff == 0)
            && (!self.has('l') || k != 0)
            // LDRT and the like: user-mode accesses of an operating system.
            && (!self.has('P') || self.has('l') || ops.p || !ops.w)
    }

    /// Are the fixed bits of this form those of `word`?
    pub fn matches(&self, word: u32) -> bool {
        word & self.care == self.fixed
    }

    /// The operand letters with their numbers of bits.
    pub fn letters(&self) -> Vec<(char, u32)> {
        let list = self.fields.iter();
        list.map(|f| (f.letter, f.bits.len() as u32)).collect()
    }

    /// The instruction of this form with the operand bits of `word`, if they make one.
    pub fn with_bits_of(&self, word: u32) -> Option<Insn> {
        let mut ops = Ops::default();
        for field in &self.fields {
            let bits = field
                .bits
                .iter()
                .fold(0, |number, p| number << 1 | word >> p & 1);
            self.put(field.letter, &mut ops, bits);
        }
        let op = self.op;
        self.admits(&ops).then_some(Insn { op, ops })
    }
}

/// Making instructions.
impl Insn {
    /// `op Rd, Rn, Rm`, flags set if `s`.
    pub fn reg(op: Op, s: bool, d: u8, n: u8, m: u8) -> Self {
        let k = i32::from(m);
        Self::alu(op, s, d, n, k)
    }

    /// `op Rd, Rn, #value`, for a value below 256.
    pub fn imm(op: Op, s: bool, d: u8, n: u8, value: u8) -> Self {
        Self::alu(op, s, d, n, 0x1000 | i32::from(value))
    }

    /// Makes `value` in `d`, eight bits at a time, or its complement if that takes fewer.
    pub fn number(d: u8, value: u32) -> Vec<Self> {
        let list = |first: Op, on: Op, value: u32| {
            let mut rest = value;
            let mut list = Vec::new();
            while rest != 0 || list.is_empty() {
                let at = rest.trailing_zeros().min(31) & !1;
                let part = rest & 0xff << at;
                rest ^= part;
                let op = if list.is_empty() { first } else { on };
                let n = if list.is_empty() { 0 } else { d };
                list.extend(immediate_bits(part).map(|k| Self::alu(op, false, d, n, k)));
            }
            list
        };
        let (plain, complement) = (
            list(Op::MOV, Op::ORR, value),
            list(Op::MVN, Op::BIC, !value),
        );
        match complement.len() < plain.len() {
            true => complement,
            false => plain,
        }
    }

    /// A data-processing instruction with the bits of its shifter operand.
    pub fn alu(op: Op, s: bool, d: u8, n: u8, k: i32) -> Self {
        let ops = Ops {
            s,
            d,
            n,
            k,
            ..Ops::default()
        };
        Self { op, ops }
    }

    /// A long multiplication `op lo, hi, Rm, Rs`.
    pub fn long(op: Op, lo: u8, hi: u8, m: u8, r: u8) -> Self {
        let ops = Ops {
            d: hi,
            n: lo,
            m,
            r,
            ..Ops::default()
        };
        Self { op, ops }
    }

    /// A load or store of `reg` at `base + offset` bytes, which becomes the base if `w`.
    pub fn at(op: Op, reg: u8, base: u8, offset: i32, w: bool) -> Self {
        let ops = Ops {
            d: reg,
            n: base,
            p: true,
            u: offset >= 0,
            w,
            k: offset.abs(),
            ..Ops::default()
        };
        Self { op, ops }
    }

    /// A load or store of `reg` at `base`, which then moves by `offset` bytes.
    pub fn post(op: Op, reg: u8, base: u8, offset: i32) -> Self {
        let mut insn = Self::at(op, reg, base, offset, false);
        insn.ops.p = false;
        insn
    }

    /// LDM or STM of the registers in `list`.
    pub fn block(op: Op, base: u8, (p, u): (bool, bool), w: bool, list: u16) -> Self {
        let ops = Ops {
            n: base,
            p,
            u,
            w,
            k: i32::from(list),
            ..Ops::default()
        };
        Self { op, ops }
    }
}

/// Facts about instructions.
impl Insn {
    /// Its row, without the meaning.
    pub fn form(&self) -> &'static Form {
        &forms()[self.op as usize]
    }

    /// Does it move the stack pointer: an access through it, ADD or SUB?
    fn moves_stack(&self) -> bool {
        let o = &self.ops;
        let access = self.form().has('W') && o.n == SP && (o.w || !o.p);
        access || matches!(self.op, Op::ADD | Op::SUB) && o.d == SP && o.n == SP
    }

    /// Does it write the program counter other than by a branch?
    pub fn writes_pc(&self) -> bool {
        let form = self.form();
        match self.op {
            Op::LDM => self.ops.k >> PC & 1 == 1,
            Op::STM | Op::STR | Op::STRB | Op::STRH => false,
            Op::BX => true,
            _ => form.has('d') && self.ops.d == PC,
        }
    }

    /// What a count of instructions calls it.
    pub fn class(&self) -> Class {
        if self.moves_stack() || self.writes_pc() {
            Class::Frame
        } else {
            self.form().class
        }
    }

    /// Registers it names, as bits.
    pub fn registers(&self) -> u16 {
        let form = self.form();
        let o = &self.ops;
        let mut set = 0u16;
        for (letter, register) in [('d', o.d), ('n', o.n), ('m', o.m), ('r', o.r)] {
            if form.has(letter) {
                set |= 1 << register;
            }
        }
        if self.op == Op::BL {
            set |= 1 << LR;
        }
        let low = (o.k & 15) as u16;
        if form.has('l') {
            set |= o.k as u16;
        }
        if form.has('#') && o.k & 0x1000 == 0 {
            set |= 1 << low;
            if o.k & 0x10 != 0 {
                set |= 1 << (o.k >> 8 & 15);
            }
        }
        if (form.has('@') || form.has('%')) && o.k & 0x1000 != 0 {
            set |= 1 << low;
        }
        set
    }

    /// Its code.
    ///
    /// # Errors
    /// When an operand does not fit its field.
    pub fn encode(&self) -> Result<u32, EncodeError> {
        let form = self.form();
        let error = |letter, value| EncodeError {
            name: form.name,
            letter,
            value,
        };
        let mut code = form.fixed;
        for field in &form.fields {
            let value = form.get(field.letter, &self.ops);
            let count = 1i64 << field.bits.len();
            let fits = match field.letter {
                'k' => (-count / 2..count / 2).contains(&value),
                _ => (0..count).contains(&value),
            };
            if !fits {
                return Err(error(field.letter, value));
            }
            for (i, position) in field.bits.iter().rev().enumerate() {
                code |= ((value >> i & 1) as u32) << position;
            }
        }
        if form.with_bits_of(code) != Some(*self) {
            return Err(error('k', i64::from(self.ops.k)));
        }
        Ok(code)
    }

    /// The instruction with this code, if it is one.
    pub fn decode(code: u32) -> Option<Self> {
        decoder()[key(code)]
            .iter()
            .map(|i| &forms()[usize::from(*i)])
            .filter(|f| f.matches(code))
            .find_map(|f| f.with_bits_of(code))
    }
}

const CONDITIONS: [&str; 15] = [
    "eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "",
];
const SHIFTS: [&str; 4] = ["lsl", "lsr", "asr", "ror"];

/// A register's name.
pub fn register(i: u8) -> String {
    match i {
        SP => "sp".into(),
        LR => "lr".into(),
        PC => "pc".into(),
        _ => format!("r{i}"),
    }
}

/// `{r4-r6, lr}`.
fn list(bits: u32) -> String {
    let mut parts = Vec::new();
    let mut i = 0u8;
    while i < 16 {
        if bits >> i & 1 == 0 {
            i += 1;
            continue;
        }
        let first = i;
        // Ranges are of r0 to r12 only.
        while i < 12 && bits >> (i + 1) & 1 == 1 {
            i += 1;
        }
        parts.push(match i - first {
            0 => register(first),
            1 => format!("{}, {}", register(first), register(i)),
            _ => format!("{}-{}", register(first), register(i)),
        });
        i += 1;
    }
    format!("{{{}}}", parts.join(", "))
}

/// `r1, lsl #2`: the register in the low bits of `k`, shifted.
fn shifted(k: u32) -> String {
    let m = register((k & 15) as u8);
    let kind = SHIFTS[(k >> 5 & 3) as usize];
    if k & 0x10 != 0 {
        return format!("{m}, {kind} {}", register((k >> 8 & 15) as u8));
    }
    match (k >> 5 & 3, k >> 7 & 31) {
        (0, 0) => m,
        (3, 0) => format!("{m}, rrx"),
        (1 | 2, 0) => format!("{m}, {kind} #32"),
        (_, count) => format!("{m}, {kind} #{count}"),
    }
}

impl Insn {
    /// `#4`, or the shifted register, of a data-processing instruction.
    fn shifter_text(&self) -> String {
        let k = self.ops.k as u32;
        if k & 0x1000 == 0 {
            return shifted(k);
        }
        let value = immediate(k);
        match immediate_bits(value) {
            // The assembler takes numbers over 2^31 after the program counter for negative.
            Some(bits) if bits == self.ops.k && (self.ops.n != PC || value >> 31 == 0) => {
                format!("#{value}")
            }
            // Another rotation than the assembler's choice.
            _ => format!("#{}, {}", k & 0xff, k >> 7 & 30),
        }
    }

    /// `[r0, #4]!` and the like.
    fn address_text(&self) -> String {
        let Ops { n, p, u, w, k, .. } = self.ops;
        let sign = if u { "" } else { "-" };
        let offset = match k & 0x1000 {
            0 => format!("#{sign}{k}"),
            _ => format!("{sign}{}", shifted(k as u32 & 0xfff)),
        };
        let base = register(n);
        match (p, w) {
            (true, false) if k == 0 && u => format!("[{base}]"),
            (true, false) => format!("[{base}, {offset}]"),
            (true, true) => format!("[{base}, {offset}]!"),
            (false, _) => format!("[{base}], {offset}"),
        }
    }

    /// How many bytes on from its own address B and BL go.
    pub fn branch(&self) -> Option<i64> {
        let relative = matches!(self.op, Op::B | Op::BL);
        relative.then(|| 8 + 4 * i64::from(self.ops.k))
    }

    /// GNU as syntax (unified) that assembles to the same bytes. Branch targets are written `. + n`.
    pub fn text(&self) -> String {
        let form = self.form();
        let o = &self.ops;
        let number = o.k & 0x1000 != 0;
        if self.op == Op::MSR && number && immediate_bits(immediate(o.k as u32)) != Some(o.k) {
            // The assembler has no other words for it.
            return format!(".inst {:#010x}", self.encode().unwrap_or_default());
        }
        let mut name = form.name.to_string();
        if form.has('l') {
            name += if o.u { "i" } else { "d" };
            name += if o.p { "b" } else { "a" };
        }
        if o.s && form.has('S') {
            name += "s";
        }
        name += CONDITIONS[usize::from(o.cond.min(ALWAYS))];
        let mut operands = String::new();
        let mut letters = form.syntax.chars();
        while let Some(c) = letters.next() {
            match c {
                'R' => match letters.next() {
                    Some('d') => operands += &register(o.d),
                    Some('n') => operands += &register(o.n),
                    Some('m') => operands += &register(o.m),
                    _ => operands += &register(o.r),
                },
                '#' => operands += &self.shifter_text(),
                '@' => operands += &self.address_text(),
                '!' if o.w => operands.push('!'),
                '!' => {}
                'l' => operands += &list(o.k as u32),
                'k' => operands += &format!(". {:+}", 8 + 4 * i64::from(o.k)).replace("+", "+ "),
                other => operands.push(other),
            }
        }
        format!("{name} {}", operands.replace(". -", ". - "))
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
    fn every_word_has_at_most_one_form_and_encodes_back() {
        let mut seed = 1u64;
        let mut known = 0;
        for i in 0..4_000_000u32 {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            // Every key, with other bits random.
            let word = (seed >> 32) as u32 & !0x0ff0_00f0 | (i & 0xff0) << 16 | (i & 15) << 4;
            let forms = forms().iter().filter(|f| f.matches(word));
            let list: Vec<_> = forms.filter_map(|f| f.with_bits_of(word)).collect();
            assert!(list.len() <= 1, "{word:#010x}: {list:?}");
            assert_eq!(list.first().copied(), Insn::decode(word));
            if let [insn] = list[..] {
                known += 1;
                assert_eq!(insn.encode(), Ok(word), "{}", insn.text());
            }
        }
        assert!(known > 1_500_000, "only {known} words are instructions");
    }
}
