//! Instructions as bits and as GNU text, both from the rows of the table.

use std::sync::OnceLock;

use crate::codec::{self, Codec, Operands, Places, Reading};
use crate::domain::concrete::Concrete;
use crate::isa::arm::instructions::{Op, Timing, table};
use crate::isa::arm::machine::{LR, PC, SP};
use crate::isa::arm::operands::{ALWAYS, Ops};
use crate::isa::cost::Class;

/// The flags, in the data flow.
const FLAGS: Places = 1 << 16;

/// An instruction with its operands.
pub type Insn = codec::Insn<Ops>;
/// A row without its meaning.
pub type Form = codec::Form<Ops>;

impl Operands for Ops {
    type Op = Op;
    type Timing = Timing;
    type Feature = ();

    const UNIT: usize = 4;
    const HIGH_FIRST: bool = true;
    const EXACT: bool = true;

    fn index(op: Op) -> usize {
        op as usize
    }

    fn codec() -> &'static Codec<Ops> {
        static CODEC: OnceLock<Codec<Ops>> = OnceLock::new();
        CODEC.get_or_init(|| Codec::of(&table::<Concrete>()))
    }

    fn reading(letter: char, _: usize, _: usize) -> Reading {
        match letter {
            'k' => Reading::SIGNED,
            _ => Reading::PLAIN,
        }
    }

    fn get(&self, letter: char) -> i64 {
        match letter {
            'c' => i64::from(self.cond),
            'd' => i64::from(self.d),
            'n' => i64::from(self.n),
            'm' => i64::from(self.m),
            'r' => i64::from(self.r),
            'S' => i64::from(self.s),
            'P' => i64::from(self.p),
            'U' => i64::from(self.u),
            'W' => i64::from(self.w),
            '%' if self.k & 0x1000 != 0 => i64::from(self.k & !0x1000),
            '%' if self.k < 0x100 => i64::from(self.k | 0x100),
            _ => i64::from(self.k),
        }
    }

    /// Halfword offsets are kept as word offsets are.
    fn put(&mut self, letter: char, number: i64) {
        match letter {
            'c' => self.cond = number as u8,
            'd' => self.d = number as u8,
            'n' => self.n = number as u8,
            'm' => self.m = number as u8,
            'r' => self.r = number as u8,
            'S' => self.s = number == 1,
            'P' => self.p = number == 1,
            'U' => self.u = number == 1,
            'W' => self.w = number == 1,
            '%' if number & 0x100 == 0 => self.k = (0x1000 | number) as i32,
            '%' => self.k = (number & 0xff) as i32,
            _ => self.k = number as i32,
        }
    }

    fn admits(&self, form: &Form) -> bool {
        let k = self.k;
        let number = k & 0x1000 != 0;
        let shifter = match form.op {
            Op::MSR => number || k & 0xff0 == 0,
            _ => number || k & 0x90 != 0x90,
        };
        self.cond <= ALWAYS
            && (!form.has('#') || shifter)
            && (!form.has('@') || k & 0x1010 != 0x1010)
            && (!form.has('%') || k & 0x1ff0 == 0x1000 || k & !0xff == 0)
            && (!form.has('l') || k != 0)
            // LDRT and the like: user-mode accesses of an operating system.
            && (!form.has('P') || form.has('l') || self.p || !self.w)
    }

    fn places(&self, letter: char) -> Places {
        let by_register = self.k & 0x1000 == 0;
        let low = 1 << (self.k & 15);
        let shift = match self.k & 0x10 {
            0 => 0,
            _ => 1 << (self.k >> 8 & 15),
        };
        // ROR #0 is RRX, which reads the carry.
        let carry = if self.k & 0xff0 == 0x60 { FLAGS } else { 0 };
        match letter {
            'd' => 1 << self.d,
            'n' => 1 << self.n,
            'm' => 1 << self.m,
            'r' => 1 << self.r,
            'l' => self.k as Places & 0xffff,
            'w' if self.w || !self.p => 1 << self.n,
            '#' if by_register => low | shift | carry,
            '@' | '%' if !by_register => low | carry,
            'L' => 1 << LR,
            'f' => FLAGS,
            'S' if self.s => FLAGS,
            'c' if self.cond != ALWAYS => FLAGS,
            _ => 0,
        }
    }
}

/// All forms, in the order of [`Op`].
pub fn forms() -> &'static [Form] {
    &Ops::codec().forms
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
    pub fn block(op: Op, base: u8, mode: BlockMode, w: bool, list: u16) -> Self {
        let ops = Ops {
            n: base,
            p: mode.before,
            u: mode.up,
            w,
            k: i32::from(list),
            ..Ops::default()
        };
        Self { op, ops }
    }
}

/// Where LDM and STM go from their base: up or down, and is it moved before each word?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockMode {
    pub up: bool,
    pub before: bool,
}

impl BlockMode {
    /// Increment after: from the base upwards.
    pub const IA: Self = Self {
        up: true,
        before: false,
    };
    /// Decrement before: the words below the base.
    pub const DB: Self = Self {
        up: false,
        before: true,
    };
}

/// Facts about instructions.
impl Insn {
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

    /// The instruction with this code, if it is one.
    pub fn decode(code: u32) -> Option<Self> {
        Ops::codec().decode(&code.to_le_bytes(), false, |_| true)
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
            return format!(".inst {:#010x}", self.code().unwrap_or_default());
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
        self.written(&name, |operand| {
            Some(match operand {
                "Rd" => register(o.d),
                "Rn" => register(o.n),
                "Rm" => register(o.m),
                "Rr" => register(o.r),
                "#" => self.shifter_text(),
                "@" => self.address_text(),
                "!" if o.w => "!".into(),
                "!" => String::new(),
                "l" => list(o.k as u32),
                "k" => {
                    let by = 8 + 4 * i64::from(o.k);
                    let sign = if by < 0 { '-' } else { '+' };
                    format!(". {sign} {}", by.unsigned_abs())
                }
                _ => return None,
            })
        })
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
                assert_eq!(insn.code(), Ok(word), "{}", insn.text());
            }
        }
        assert!(known > 1_500_000, "only {known} words are instructions");
    }
}
