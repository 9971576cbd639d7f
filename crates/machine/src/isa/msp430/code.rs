//! Instructions as bits, as GNU text and as data flow, all from the rows of the table.

use std::ops::RangeInclusive;
use std::sync::OnceLock;

pub use crate::codec::Places;
use crate::codec::{self, Codec, Operands, Reading};
use crate::domain::concrete::Concrete;
use crate::isa::cost::Class;
use crate::isa::msp430::convention::IAR;
use crate::isa::msp430::instructions::{Op, Timing, table};
use crate::isa::msp430::operands::{CG, Feature, Features, Ops, PC, SP, SR, Size};
pub use crate::isa::msp430::operands::{Dest, Source};

/// An instruction with its operands.
pub type Insn = codec::Insn<Ops>;
/// A row without its meaning.
pub type Form = codec::Form<Ops>;

/// Places beside the registers: C, Z, N, V, GIE; what lies at fixed addresses.
const CARRY: Places = 1 << 16;
/// C, Z, N and V as places.
pub const FLAGS: Places = 0xf << 16;
const STATUS: Places = 0x1f << 16;
const FIXED: Places = 1 << 21;

/// A register as a place.
fn register(r: u8) -> Places {
    match r {
        PC => FIXED,
        // Where it lets interrupts in or not, the multiplier must stay before or behind it.
        SR => STATUS | FIXED,
        CG => 0,
        r => 1 << r,
    }
}

impl Operands for Ops {
    type Op = Op;
    type Timing = Timing;
    type Feature = Feature;

    const UNIT: usize = 2;
    const HIGH_FIRST: bool = true;
    const EXACT: bool = true;

    fn index(op: Op) -> usize {
        op as usize
    }

    fn codec() -> &'static Codec<Ops> {
        static CODEC: OnceLock<Codec<Ops>> = OnceLock::new();
        CODEC.get_or_init(|| Codec::of(&table::<Concrete>()))
    }

    fn reading(letter: char, bits: usize, _: usize) -> Reading {
        match (letter, bits) {
            // Words from the one behind the jump on.
            ('k', _) => Reading {
                base: 2,
                step: 2,
                ..Reading::SIGNED
            },
            ('n', _) => Reading {
                base: 1,
                ..Reading::PLAIN
            },
            // B/W alone, or behind A/L.
            ('w', 1) => Reading {
                base: 2,
                ..Reading::PLAIN
            },
            _ => Reading::PLAIN,
        }
    }

    fn get(&self, letter: char) -> i64 {
        match letter {
            's' => self.s.into(),
            'a' => self.a.into(),
            'x' => self.x.into(),
            'd' => self.d.into(),
            'b' => self.b.into(),
            'y' => self.y.into(),
            'w' => match self.size {
                Size::Address => 1,
                Size::Word => 2,
                Size::Byte => 3,
            },
            _ => self.k.into(),
        }
    }

    fn put(&mut self, letter: char, number: i64) {
        match letter {
            's' => self.s = number as u8,
            'a' => self.a = number as u8,
            'x' => self.x = number as u16,
            'd' => self.d = number as u8,
            'b' => self.b = number as u8,
            'y' => self.y = number as u16,
            'w' => {
                self.size = match number {
                    1 => Size::Address,
                    3 => Size::Byte,
                    _ => Size::Word,
                }
            }
            _ => self.k = number as i16,
        }
    }

    /// The constant generator is no address of a destination, no constant is written to, and several are of R4 to R15.
    fn admits(&self, form: &codec::Form<Self>) -> bool {
        let written = form.timing == Timing::One;
        let number = matches!(self.source(), Source::Constant(_));
        let own = |r: RangeInclusive<u8>| (4..=15).contains(r.start()) && *r.end() <= 15;
        let fits = match form.op {
            Op::PUSHM | Op::PUSHMA => {
                own(self.pushed()) && self.pushed().count() == self.k as usize
            }
            Op::POPM | Op::POPMA => own(self.popped()),
            Op::RRCM | Op::RRAM | Op::RLAM | Op::RRUM => self.d >= 4,
            _ => true,
        };
        (self.d, self.b) != (CG, 1) && !(written && number) && fits
    }

    fn behind(&self, form: &codec::Form<Self>) -> &'static [char] {
        match (
            form.has('h') || form.has('a') && self.source_unit(),
            self.b == 1,
        ) {
            (false, false) => &[],
            (true, false) => &['x'],
            (false, true) => &['y'],
            (true, true) => &['x', 'y'],
        }
    }

    fn places(&self, letter: char) -> Places {
        let [source, address] = match self.source() {
            Source::Register(r) => [register(r), 0],
            Source::Indexed(r, _) | Source::Indirect(r) | Source::Increment(r) => [0, register(r)],
            Source::Absolute(_) | Source::Symbolic(_) => [0, FIXED],
            Source::Constant(_) => [0, 0],
        };
        let [dest, base] = match self.dest() {
            Dest::Register(r) => [register(r), 0],
            Dest::Indexed(r, _) => [0, register(r)],
            Dest::Absolute(_) | Dest::Symbolic(_) => [FIXED, FIXED],
        };
        match letter {
            's' => source | address,
            't' => source | address & FIXED,
            'i' if matches!(self.source(), Source::Increment(_)) => address,
            'd' => dest,
            'e' => dest | base,
            'a' => base,
            'm' => self.pushed().fold(0, |all, r| all | register(r)),
            'q' => self.popped().fold(0, |all, r| all | register(r)),
            'F' => FLAGS,
            'C' => CARRY,
            'p' => register(SP),
            'P' => FIXED,
            _ => 0,
        }
    }
}

/// All forms, in the order of [`Op`].
pub fn forms() -> &'static [Form] {
    &Ops::codec().forms
}

impl Insn {
    pub fn new(op: Op, ops: Ops) -> Self {
        Self { op, ops }
    }

    /// `op src, dst` of words.
    pub fn two(op: Op, source: Source, dest: Dest) -> Self {
        let (d, b, y) = dest.fields();
        let Self { ops, .. } = Self::one(op, source);
        Self::new(op, Ops { d, b, y, ..ops })
    }

    /// `op src` of words.
    pub fn one(op: Op, source: Source) -> Self {
        let (s, a, x) = source.fields();
        let ops = Ops::default();
        Self::new(op, Ops { s, a, x, ..ops })
    }

    /// A jump over `k` bytes from its own address.
    pub fn jump(op: Op, k: i16) -> Self {
        let ops = Ops::default();
        Self::new(op, Ops { k, ..ops })
    }

    /// RET.
    pub fn ret() -> Self {
        Self::two(Op::MOV, Source::Increment(SP), Dest::Register(PC))
    }

    /// RETA.
    pub fn reta() -> Self {
        Self::new(Op::RETA, Ops::default())
    }

    /// PUSHM of the registers `low` to `high`, or POPM.
    pub fn several(op: Op, low: u8, high: u8) -> Self {
        let pushes = matches!(op, Op::PUSHM | Op::PUSHMA);
        let d = if pushes { high } else { low };
        let k = i16::from(high) - i16::from(low) + 1;
        let ops = Ops::default();
        Self::new(op, Ops { d, k, ..ops })
    }

    /// A shift of a register by `count` bits.
    pub fn shift(op: Op, d: u8, count: u8) -> Self {
        let (k, ops) = (count.into(), Ops::default());
        Self::new(op, Ops { d, k, ..ops })
    }

    /// POP.
    pub fn pop(dest: Dest) -> Self {
        Self::two(Op::MOV, Source::Increment(SP), dest)
    }

    /// NOP: a cycle.
    pub fn nop() -> Self {
        Self::two(Op::MOV, Source::Constant(0), Dest::Register(CG))
    }

    /// The same with operands of `size`.
    pub fn sized(self, size: Size) -> Self {
        let Self { op, ops } = self;
        Self::new(op, Ops { size, ..ops })
    }

    /// What a count calls it: saving and restoring registers is no part of the body, whichever convention asks for it.
    pub fn class(&self) -> Class {
        let saved = |r: u8| IAR.preserves(r) || r == SR;
        match (self.op, self.ops.source(), self.ops.dest()) {
            (Op::PUSH, Source::Register(r), _) if saved(r) => Class::Frame,
            (Op::MOV, Source::Increment(SP), Dest::Register(r)) if r == PC || saved(r) => {
                Class::Frame
            }
            (Op::PUSHM | Op::PUSHMA, ..) if self.ops.pushed().all(saved) => Class::Frame,
            (Op::POPM | Op::POPMA, ..) if self.ops.popped().all(saved) => Class::Frame,
            (Op::RETA, ..) => Class::Frame,
            (Op::ADD | Op::SUB, _, Dest::Register(SP)) => Class::Frame,
            (Op::MOV, _, Dest::Register(CG)) => Class::Other,
            (Op::MOV, Source::Register(_) | Source::Constant(_), Dest::Register(_)) => Class::Move,
            (Op::MOV, _, Dest::Register(_)) => Class::Load,
            (Op::MOV, _, _) => Class::Store,
            _ => self.form().class,
        }
    }

    /// Does a core with `features` have it?
    pub fn is_of(&self, features: Features) -> bool {
        features.has(self.form().feature)
    }

    /// The instruction at the start of `bytes`, if a core with `features` has one.
    pub fn decode(bytes: &[u8], features: Features) -> Option<Self> {
        Ops::codec().decode(bytes, false, |form| features.has(form.feature))
    }

    /// How many bytes on from its own address a jump goes.
    pub fn branch(&self) -> Option<i64> {
        let relative = self.form().timing == Timing::Jump;
        relative.then_some(self.ops.k.into())
    }

    /// The address that a CALLA or BRA goes to.
    pub fn lands(&self) -> Option<usize> {
        matches!(self.op, Op::CALLA | Op::BRA).then(|| self.ops.far())
    }

    /// Do assemblers make other bytes of its text, or none: has it a code unit that it could do without, is it a PUSH of 4 or 8, which an erratum (CPU4 of the MSP430) makes them write in one unit or two, or a jump
    /// that GNU as gets wrong, to itself or as far back as there is one, or a CALLA or BRA, whose address it leaves to the linker?
    fn is_ambiguous(&self) -> bool {
        const FARTHEST: i16 = -1022;
        let Ops { s, a, x, k, .. } = self.ops;
        let source = self.ops.source();
        let pushed = matches!(source, Source::Constant(4 | 8)) && self.op == Op::PUSH;
        let unit = source.fields() != (s, a, x) || source == Source::Symbolic(0);
        let jump = self.branch().is_some() && (k == 0 || k == FARTHEST);
        unit || pushed || jump || self.lands().is_some()
    }

    /// The mnemonic of an instruction that stands for this one, with its operand.
    fn emulated(&self) -> Option<(&'static str, Option<Dest>)> {
        let (source, dest) = (self.ops.source(), self.ops.dest());
        let on = |name| Some((name, Some(dest)));
        let same = matches!((source, dest), (Source::Register(r), Dest::Register(d)) if r == d);
        let alone = |name| (self.ops.size == Size::Word).then_some((name, None));
        match (self.op, source, dest) {
            (Op::MOV, Source::Constant(0), Dest::Register(CG)) => alone("nop"),
            (Op::MOV, Source::Increment(SP), Dest::Register(PC)) => alone("ret"),
            (Op::MOV, Source::Increment(SP), _) => on("pop"),
            (Op::MOV, Source::Constant(0), _) => on("clr"),
            (Op::BIC, Source::Constant(8), Dest::Register(SR)) => alone("dint"),
            (Op::BIS, Source::Constant(8), Dest::Register(SR)) => alone("eint"),
            (Op::BIC, Source::Constant(1), Dest::Register(SR)) => alone("clrc"),
            (Op::BIS, Source::Constant(1), Dest::Register(SR)) => alone("setc"),
            (Op::ADD, Source::Constant(1), _) => on("inc"),
            (Op::ADD, Source::Constant(2), _) => on("incd"),
            (Op::SUB, Source::Constant(1), _) => on("dec"),
            (Op::SUB, Source::Constant(2), _) => on("decd"),
            (Op::CMP, Source::Constant(0), _) => on("tst"),
            (Op::XOR, Source::Constant(0xffff), _) => on("inv"),
            (Op::ADDC, Source::Constant(0), _) => on("adc"),
            (Op::SUBC, Source::Constant(0), _) => on("sbc"),
            (Op::ADD, Source::Register(_), _) if same => on("rla"),
            (Op::ADDC, Source::Register(_), _) if same => on("rlc"),
            _ => None,
        }
    }

    /// Mnemonic and operands, or code units where an assembler would make others. Targets of jumps are written `$+n`, in
    /// bytes.
    pub fn text(&self) -> String {
        let mut bytes = Vec::new();
        match self.is_ambiguous() && self.encode(false, &mut bytes).is_ok() {
            true => {
                let units = bytes.chunks_exact(2);
                let unit = |pair: &[u8]| format!("{:#06x}", u16::from_le_bytes([pair[0], pair[1]]));
                let units: Vec<_> = units.map(unit).collect();
                format!(".word {}\t; {}", units.join(", "), self.plain())
            }
            false => self.plain(),
        }
    }

    fn plain(&self) -> String {
        let size = self.ops.size.suffix();
        match self.emulated() {
            Some((name, None)) => name.into(),
            Some((name, Some(dest))) => format!("{name}{size} {}", dest_text(dest)),
            None => self.written(&format!("{}{size}", self.form().name), |operand| {
                Some(match operand {
                    "src" => source_text(self.ops.source()),
                    "dst" => dest_text(self.ops.dest()),
                    "n" => format!("#{}", self.ops.k),
                    "highest" if matches!(self.op, Op::POPM | Op::POPMA) => {
                        format!("r{}", self.ops.popped().end())
                    }
                    "highest" => format!("r{}", self.ops.d),
                    "far" => format!("#{:#x}", self.ops.far()),
                    "@" => format!("${:+}", self.ops.k),
                    _ => return None,
                })
            }),
        }
    }
}

fn source_text(source: Source) -> String {
    match source {
        Source::Register(r) => format!("r{r}"),
        Source::Indexed(r, x) => format!("{}(r{r})", x as i16),
        Source::Indirect(r) => format!("@r{r}"),
        Source::Increment(r) => format!("@r{r}+"),
        Source::Absolute(x) => format!("&{x:#06x}"),
        Source::Symbolic(x) => format!("{}(r0)", x as i16),
        Source::Constant(k) => format!("#{}", k as i16),
    }
}

fn dest_text(dest: Dest) -> String {
    match dest {
        Dest::Register(r) => format!("r{r}"),
        Dest::Indexed(r, y) => format!("{}(r{r})", y as i16),
        Dest::Absolute(y) => format!("&{y:#06x}"),
        Dest::Symbolic(y) => format!("{}(r0)", y as i16),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_do_not_overlap() {
        for (i, a) in forms().iter().enumerate() {
            assert_eq!(a.op as usize, i, "{}", a.name);
            for b in forms()[i + 1..].iter().filter(|b| b.bytes == a.bytes) {
                let care = a.care & b.care;
                assert_ne!(a.fixed & care, b.fixed & care, "{} and {}", a.name, b.name);
            }
        }
    }

    /// Whatever lies behind it, every word decodes to itself or to nothing.
    #[test]
    fn words_decode_to_themselves() {
        for code in 0..=u16::MAX {
            let [low, high] = code.to_le_bytes();
            let bytes = [low, high, 0x34, 0x92, 1, 0, 0xff, 0xff];
            if let Some(insn) = Insn::decode(&bytes, Features { extended: true }) {
                let mut again = Vec::new();
                assert_eq!(insn.encode(false, &mut again), Ok(()), "{code:#06x}");
                assert_eq!(again, bytes[..insn.bytes()], "{code:#06x}");
            }
        }
    }
}
