//! Instructions as bits and as GNU text, both from the rows of the table.

use std::sync::OnceLock;

use crate::codec::{self, Codec, Operands, Places, Reading};
use crate::domain::concrete::Concrete;
use crate::isa::avr::core::{Core, Set};
use crate::isa::avr::instructions::table;
use crate::isa::avr::operands::{Op, Ops, Timing};
use crate::isa::cost::Class;

/// An instruction with its operands.
pub type Insn = codec::Insn<Ops>;
/// A row without its meaning.
pub type Form = codec::Form<Ops>;

/// The reduced core's addresses start at 0x40, with this bit inverted in the code.
const ADDRESS_TOP: i64 = 0x40;
/// ADDR[7:0] = !INST[8], INST[8], INST[10], INST[9], INST[3:0] (DS40002198, LDS on AVRrc): the places in the address of
/// the bits 10, 9, 8 and 3 to 0 of the code.
const ADDRESS_ORDER: &[u32] = &[5, 4, 6, 3, 2, 1, 0];

impl Operands for Ops {
    type Op = Op;
    type Timing = Timing;
    type Feature = ();

    const UNIT: usize = 2;
    const HIGH_FIRST: bool = true;

    fn index(op: Op) -> usize {
        op as usize
    }

    fn codec() -> &'static Codec<Ops> {
        static CODEC: OnceLock<Codec<Ops>> = OnceLock::new();
        CODEC.get_or_init(|| Codec::of(&table::<Concrete>()))
    }

    fn reading(letter: char, bits: usize, bytes: usize) -> Reading {
        let (base, step) = match (letter, bits) {
            ('d' | 'r', 3 | 4) => (16, 1),
            ('d' | 'r', 2) => (24, 2),
            ('D' | 'R', _) => (0, 2),
            ('a', _) => (0x40, 1),
            _ => (0, 1),
        };
        let (inverted, order) = match letter {
            'a' => (ADDRESS_TOP, ADDRESS_ORDER),
            _ => (0, &[][..]),
        };
        Reading {
            base,
            step,
            signed: letter == 'k' && bytes == Self::UNIT,
            inverted,
            order,
        }
    }

    fn get(&self, letter: char) -> i64 {
        match letter {
            'd' | 'D' => i64::from(self.d),
            'r' | 'R' => i64::from(self.r),
            'b' | 's' => i64::from(self.b),
            _ => i64::from(self.k),
        }
    }

    fn put(&mut self, letter: char, number: i64) {
        match letter {
            'd' | 'D' => self.d = number as u8,
            'r' | 'R' => self.r = number as u8,
            'b' | 's' => self.b = number as u8,
            _ => self.k = number as i32,
        }
    }
}

/// All forms, in the order of [`Op`].
pub fn forms() -> &'static [Form] {
    &Ops::codec().forms
}

/// The instruction at the start of `bytes`: of the reduced core, or of any other, which differ only in what they leave
/// out.
pub fn read(reduced: bool, bytes: &[u8]) -> Option<Insn> {
    let set = if reduced { Set::Avrrc } else { Set::AvrePlus };
    // The reduced core's LDS and STS, last in the table, hide LDD and STD.
    Ops::codec().decode(bytes, false, |form| set.has(form.op))
}

/// What an instruction reads and what it writes: registers by their numbers, then the flags (bit 32). For listings.
pub fn registers(insn: &Insn) -> [Places; 2] {
    const FLAGS: Places = 1 << 32;
    let form = insn.form();
    let Ops { d, r, .. } = insn.ops;
    let one = |r: u8| (1 as Places) << r;
    let pair = |r: u8| 3 << r;
    // Only an arithmetic instruction reads what it writes.
    let (mut reads, mut writes) = match form.op {
        Op::MOVW => (pair(r), pair(d)),
        Op::ADIW | Op::SBIW => (pair(d), pair(d) | FLAGS),
        Op::MOV => (one(r), one(d)),
        Op::MUL | Op::MULS | Op::MULSU | Op::FMUL | Op::FMULS | Op::FMULSU => {
            (one(d) | one(r), pair(0) | FLAGS)
        }
        Op::CP | Op::CPSE => (one(d) | one(r), FLAGS),
        Op::CPC => (one(d) | one(r) | FLAGS, FLAGS),
        Op::CPI => (one(d), FLAGS),
        Op::ADC | Op::SBC => (one(d) | one(r) | FLAGS, one(d) | FLAGS),
        Op::SBCI | Op::ROR => (one(d) | FLAGS, one(d) | FLAGS),
        Op::BST => (one(d), FLAGS),
        Op::BLD => (one(d) | FLAGS, one(d)),
        Op::SBRC | Op::SBRS => (one(r), 0),
        Op::BRBS | Op::BRBC => (FLAGS, 0),
        Op::BSET | Op::BCLR => (0, FLAGS),
        Op::LPM | Op::ELPM => (pair(30), one(0)),
        _ => {
            let (to, from) = (form.syntax.contains("Rd"), form.syntax.contains("Rr"));
            let of = |named: bool, register: u8| if named { one(register) } else { 0 };
            match form.class {
                Class::Add | Class::Other if form.timing == Timing::Alu && form.op != Op::IN => {
                    let flags = if to { FLAGS } else { 0 };
                    (of(to, d) | of(from, r), of(to, d) | flags)
                }
                _ => (of(from, r), of(to, d)),
            }
        }
    };
    if form.op == Op::EOR && d == r {
        // r ^ r is 0 whatever r is.
        reads = 0;
    }
    for (letter, low) in [('X', 26), ('Y', 28), ('Z', 30)] {
        if form.syntax.contains(letter) {
            reads |= pair(low);
        }
    }
    if let Some(low) = moved_pointer(insn.op) {
        writes |= pair(low);
    }
    [reads, writes]
}

/// The low register of the pointer that an instruction moves.
fn moved_pointer(op: Op) -> Option<u8> {
    match op {
        Op::LDX_INC | Op::LDX_DEC | Op::STX_INC | Op::STX_DEC => Some(26),
        Op::LDY_INC | Op::LDY_DEC | Op::STY_INC | Op::STY_DEC => Some(28),
        Op::LDZ_INC | Op::LDZ_DEC | Op::STZ_INC | Op::STZ_DEC => Some(30),
        Op::LPMZ_INC | Op::ELPMZ_INC => Some(30),
        _ => None,
    }
}

/// The same, or of one that it takes a displacement from.
fn pointer(op: Op) -> Option<u8> {
    match op {
        Op::LDDY | Op::STDY => Some(28),
        Op::LDDZ | Op::STDZ => Some(30),
        _ => moved_pointer(op),
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
        let form = self.form();
        let r = match form.has('d') {
            true => self.ops.d,
            false => self.ops.r,
        };
        moved_pointer(self.op).is_some_and(|low| r == low || r == low + 1)
    }

    /// The registers it names or moves: operands, and the pointer that steps.
    pub fn registers(&self) -> Vec<u8> {
        let mut list = Vec::with_capacity(4);
        for field in &self.form().fields {
            match (field.letter, field.bits) {
                ('D', _) | ('d', 2) => list.extend([self.ops.d, self.ops.d + 1]),
                ('R', _) => list.extend([self.ops.r, self.ops.r + 1]),
                ('d', _) => list.push(self.ops.d),
                ('r', _) => list.push(self.ops.r),
                _ => {}
            }
        }
        list.extend(pointer(self.op).into_iter().flat_map(|low| [low, low + 1]));
        list
    }

    /// The instruction of `core` at the start of `bytes`; `None` if it is none, or cut off.
    pub fn decode_on(core: &Core, bytes: &[u8]) -> Option<Self> {
        let insn = read(core.is_reduced(), bytes)?;
        core.refusal(&insn).is_none().then_some(insn)
    }

    /// The instruction of any core but the reduced one at the start of `bytes`.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        read(false, bytes)
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
        self.written(form.name, |operand| {
            Some(match operand {
                "Rd" => format!("r{d}"),
                "Rr" => format!("r{r}"),
                "b" | "s" => b.to_string(),
                "@k" => format!("{:#x}", 2 * i64::from(k)),
                "#k" => format!("{k:#x}"),
                "A" => format!("{k:#x}"),
                "K" | "q" | "a" => k.to_string(),
                "k" => format!(".{:+}", 2 * i64::from(k)),
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
    fn no_two_patterns_overlap() {
        for (i, a) in forms().iter().enumerate() {
            for b in &forms()[i + 1..] {
                // On the reduced core these hide displacements that it does not have.
                if matches!(b.op, Op::LDS_RC | Op::STS_RC) {
                    continue;
                }
                let shift = |f: &Form| 8 * (f.bytes as u32 - 2);
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
                if let Some(insn) = read(reduced, &bytes) {
                    known += 1;
                    let mut back = Vec::new();
                    insn.encode(false, &mut back).unwrap();
                    assert_eq!(back, bytes[..back.len()], "{}", insn.text());
                }
            }
        }
        assert!(known > 115_000, "only {known} words are instructions");
    }
}
