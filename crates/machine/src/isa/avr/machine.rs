//! The AVR's registers and what the rows of the instruction table do to them.
//!
//! Flags as in the instruction set manual: C carry, Z zero, N negative, V overflow,
//! S = N xor V, H half carry, T bit storage, I interrupts.

use std::ops::Range;
use std::rc::Rc;

use crate::domain::place::{Address, Base};
use crate::domain::word::{Domain, Logic, Signs, Sum};
use crate::fault::{BELOW_STACK, Fault};
use crate::isa::avr::operands::Ops;
use crate::isa::avr::past::{Environment, Wrote};
use crate::isa::machine::Condition;
pub use crate::isa::machine::{Flow, Outcome};
use crate::segment::Marks;

/// The pointer registers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pointer {
    X = 26,
    Y = 28,
    Z = 30,
}

impl Pointer {
    /// The low register of the pair.
    pub const fn low(self) -> u8 {
        self as u8
    }
}

/// Addresses in I/O space (DS40002198, "the general purpose register file"; ATmega128 datasheet, register summary).
mod io {
    pub const RAMPZ: i32 = 0x3b;
    pub const EIND: i32 = 0x3c;
    pub const SPL: i32 = 0x3d;
    pub const SPH: i32 = 0x3e;
    pub const SREG: i32 = 0x3f;
    /// How many I/O addresses there are.
    pub const LENGTH: i64 = 0x40;
}

/// An AVR over the domain `D`.
pub struct Avr<D: Domain> {
    pub d: D,
    pub r: [D::Word<8>; 32],
    /// SREG, bit by bit: C Z N V S H T I.
    pub flags: [D::Bit; 8],
    /// Stack pointer, low byte first.
    pub sp: [D::Word<8>; 2],
    pub rampz: D::Word<8>,
    pub eind: D::Word<8>,
    /// Byte address of the running instruction.
    pub pc: usize,
    /// Bytes of a return address: 2, or 3 on parts with more than 128 KB of flash.
    pub pc_bytes: usize,
    /// I/O address 0 in data space: above the register file, or 0 where that is not in data space.
    pub io_start: i64,
    /// Whether the next instruction is executed, where that depends on a bit nobody knows.
    pub condition: Option<Condition<D::Bit>>,
    /// Has it RAMPZ, is that the page of what Z points to in data space, too, and has it EIND?
    pub has_rampz: bool,
    pub pages_data: bool,
    pub has_eind: bool,
    /// For how many instructions after a write to SPL no interrupt comes.
    pub closed_by_spl: u8,
    /// What the running instruction wrote of the I/O registers.
    pub wrote: Wrote,
    /// Was one byte of SP written and the other not yet?
    pub half_moved: bool,
    /// What a run for all inputs is held to.
    pub environment: Option<Environment<Self, D::Bit>>,
    /// Addresses of the stack in a run on numbers, where the part's memory is known.
    pub stack: Option<Range<usize>>,
    /// Where Y points at entry, if it is the stack pointer of data.
    pub data_stack: Option<Address>,
    /// Program memory from address 0, for LPM.
    flash: Rc<[u8]>,
    /// What is to be known of it beside its bytes.
    pub marks: Rc<Marks>,
}

const C: usize = 0;
const ZERO: usize = 1;
const N: usize = 2;
const V: usize = 3;
const S: usize = 4;
const H: usize = 5;

impl<D: Domain> Avr<D> {
    /// A machine with all registers and flags zero.
    pub fn new(mut d: D, pc_bytes: usize, flash: Rc<[u8]>) -> Self {
        let zero = d.known(0);
        let off = d.flag(false);
        Self {
            r: std::array::from_fn(|_| zero.clone()),
            flags: std::array::from_fn(|_| off.clone()),
            sp: [zero.clone(), zero.clone()],
            rampz: zero.clone(),
            eind: zero,
            pc: 0,
            pc_bytes,
            io_start: 0x20,
            condition: None,
            has_rampz: true,
            pages_data: false,
            has_eind: true,
            closed_by_spl: 0,
            wrote: Wrote::Nothing,
            half_moved: false,
            environment: None,
            stack: None,
            data_stack: None,
            marks: Rc::default(),
            flash,
            d,
        }
    }

    /// RAMPZ and EIND.
    pub fn pages(&self) -> [D::Word<8>; 2] {
        [self.rampz.clone(), self.eind.clone()]
    }

    pub fn set_pages(&mut self, pages: [D::Word<8>; 2]) {
        [self.rampz, self.eind] = pages;
    }

    #[inline(always)]
    pub fn r(&self, i: u8) -> D::Word<8> {
        self.r[usize::from(i & 31)].clone()
    }

    #[inline(always)]
    pub fn set(&mut self, i: u8, word: D::Word<8>) -> Outcome {
        self.r[usize::from(i & 31)] = word;
        Ok(Flow::Next)
    }

    #[inline(always)]
    pub fn c(&self) -> D::Bit {
        self.flags[C].clone()
    }

    #[inline(always)]
    pub fn byte(&mut self, k: i32) -> D::Word<8> {
        self.d.known(k as u64)
    }

    /// SREG bit `s`.
    #[inline(always)]
    pub fn get_flag(&self, s: u8) -> D::Bit {
        self.flags[usize::from(s & 7)].clone()
    }

    #[inline(always)]
    pub fn set_flag(&mut self, s: u8, bit: D::Bit) {
        self.flags[usize::from(s & 7)] = bit;
    }

    #[inline(always)]
    pub fn register_bit(&mut self, r: u8, b: u8) -> D::Bit {
        let word = self.r(r);
        self.d.bit(&word, u32::from(b))
    }

    /// N from the result, V as given, S = N xor V.
    #[inline(always)]
    fn set_nvs(&mut self, word: &D::Word<8>, v: D::Bit) {
        let n = self.d.bit(word, 7);
        self.flags[S] = self.d.gate(Logic::Xor, &n, &v);
        self.flags[N] = n;
        self.flags[V] = v;
    }

    #[inline(always)]
    fn set_z(&mut self, word: &D::Word<8>) {
        self.flags[ZERO] = self.d.is_zero(word);
    }

    /// All six arithmetic flags of a sum or difference.
    #[inline(always)]
    fn set_sum_flags(&mut self, s: Sum<D, 8>) -> D::Word<8> {
        self.flags[C] = s.carry;
        self.flags[H] = s.half;
        self.set_nvs(&s.word, s.overflow);
        s.word
    }

    #[inline(always)]
    pub fn sum(&mut self, d: u8, b: D::Word<8>, c: D::Bit) -> Outcome {
        let s = self.d.add(&self.r[usize::from(d & 31)], &b, &c);
        let word = self.set_sum_flags(s);
        self.set_z(&word);
        self.set(d, word)
    }

    #[inline(always)]
    fn subtract(&mut self, d: u8, b: D::Word<8>, c: D::Bit) -> D::Word<8> {
        let s = self.d.sub(&self.r[usize::from(d & 31)], &b, &c);
        self.set_sum_flags(s)
    }

    /// SUB, SUBI: Z from the result.
    #[inline(always)]
    pub fn difference(&mut self, d: u8, b: D::Word<8>, c: D::Bit) -> Outcome {
        let word = self.subtract(d, b, c);
        self.set_z(&word);
        self.set(d, word)
    }

    /// SBC, SBCI: Z only stays set.
    #[inline(always)]
    pub fn difference_with_borrow(&mut self, d: u8, b: D::Word<8>, c: D::Bit) -> Outcome {
        let word = self.subtract(d, b, c);
        self.keep_z(&word);
        self.set(d, word)
    }

    #[inline(always)]
    fn keep_z(&mut self, word: &D::Word<8>) {
        let z = self.d.is_zero(word);
        self.flags[ZERO] = self.d.gate(Logic::And, &self.flags[ZERO], &z);
    }

    #[inline(always)]
    pub fn compare(&mut self, d: u8, b: D::Word<8>, c: D::Bit) -> Outcome {
        let word = self.subtract(d, b, c);
        self.set_z(&word);
        Ok(Flow::Next)
    }

    #[inline(always)]
    pub fn compare_with_borrow(&mut self, d: u8, b: D::Word<8>, c: D::Bit) -> Outcome {
        let word = self.subtract(d, b, c);
        self.keep_z(&word);
        Ok(Flow::Next)
    }

    /// ADIW, SBIW: all flags but H, from the 16-bit result.
    #[inline(always)]
    pub fn add_word(&mut self, d: u8, k: i32, up: bool) -> Outcome {
        let (lo, hi) = (self.r(d), self.r(d + 1));
        let (k, zero, off) = (self.byte(k), self.byte(0), self.d.flag(false));
        let (lo, hi) = if up {
            let lo = self.d.add(&lo, &k, &off);
            let hi = self.d.add(&hi, &zero, &lo.carry);
            (lo.word, hi)
        } else {
            let lo = self.d.sub(&lo, &k, &off);
            let hi = self.d.sub(&hi, &zero, &lo.carry);
            (lo.word, hi)
        };
        self.set_z(&lo);
        self.keep_z(&hi.word);
        self.flags[C] = hi.carry;
        self.set_nvs(&hi.word, hi.overflow);
        self.set(d, lo)?;
        self.set(d + 1, hi.word)
    }

    #[inline(always)]
    pub fn bitwise(&mut self, op: Logic, d: u8, b: D::Word<8>) -> Outcome {
        let word = self.d.logic(op, &self.r[usize::from(d & 31)], &b);
        let off = self.d.flag(false);
        self.set_nvs(&word, off);
        self.set_z(&word);
        self.set(d, word)
    }

    /// COM: 255 - Rd, C = 1, V = 0.
    #[inline(always)]
    pub fn complement(&mut self, d: u8) -> Outcome {
        let (ones, off) = (self.byte(0xff), self.d.flag(false));
        let word = self.d.sub(&ones, &self.r[usize::from(d & 31)], &off).word;
        self.flags[C] = self.d.flag(true);
        self.set_nvs(&word, off);
        self.set_z(&word);
        self.set(d, word)
    }

    /// NEG: 0 - Rd.
    #[inline(always)]
    pub fn negate(&mut self, d: u8) -> Outcome {
        let (zero, off) = (self.byte(0), self.d.flag(false));
        let s = self.d.sub(&zero, &self.r[usize::from(d & 31)], &off);
        let word = self.set_sum_flags(s);
        self.set_z(&word);
        self.set(d, word)
    }

    /// INC, DEC: C and H stay.
    #[inline(always)]
    pub fn step_by_one(&mut self, d: u8, up: bool) -> Outcome {
        let (one, off) = (self.byte(1), self.d.flag(false));
        let x = &self.r[usize::from(d & 31)];
        let s = if up {
            self.d.add(x, &one, &off)
        } else {
            self.d.sub(x, &one, &off)
        };
        self.set_nvs(&s.word, s.overflow);
        self.set_z(&s.word);
        self.set(d, s.word)
    }

    /// r1:r0 = Rd * Rr, doubled when `fractional`; C = bit 15 of the product.
    #[inline(always)]
    pub fn product(&mut self, o: &Ops, signs: Signs, fractional: bool) -> Outcome {
        let (x, y) = (
            &self.r[usize::from(o.d & 31)],
            &self.r[usize::from(o.r & 31)],
        );
        let (mut lo, mut hi) = self.d.mul(x, y, signs);
        self.flags[C] = self.d.bit(&hi, 7);
        if fractional {
            let off = self.d.flag(false);
            let low = self.d.add(&lo, &lo, &off);
            // The carry is bit 15 of the product.
            let high = self.d.add(&hi, &hi, &low.carry);
            self.flags[C] = high.carry;
            (lo, hi) = (low.word, high.word);
        }
        self.set_z(&lo);
        self.keep_z(&hi);
        self.set(0, lo)?;
        self.set(1, hi)
    }

    /// LSR, ROR, ASR: V = N xor C after the shift.
    #[inline(always)]
    pub fn shift_right(&mut self, d: u8, top: D::Bit) -> Outcome {
        let (word, out) = self.d.shift_right(&self.r[usize::from(d & 31)], &top);
        let n = self.d.bit(&word, 7);
        let v = self.d.gate(Logic::Xor, &n, &out);
        self.flags[C] = out;
        self.set_nvs(&word, v);
        self.set_z(&word);
        self.set(d, word)
    }

    #[inline(always)]
    pub fn branch_if(&mut self, bit: D::Bit, k: i32) -> Outcome {
        if self.d.branch(&bit)? {
            self.jump_by(k)
        } else {
            Ok(Flow::Next)
        }
    }

    #[inline(always)]
    pub fn jump_by(&self, k: i32) -> Outcome {
        // The program counter counts words.
        let width = if self.pc_bytes == 3 {
            0x7f_ffff
        } else {
            0x1_ffff
        };
        let by = 2 * (k as isize + 1);
        Ok(Flow::Jump(self.pc.wrapping_add_signed(by) & width))
    }

    /// IJMP, ICALL; with EIND above Z when `extended`.
    pub fn jump_z(&mut self, extended: bool) -> Outcome {
        if extended {
            self.needs_eind()?;
        }
        let (lo, hi, eind) = (self.r(30), self.r(31), self.eind.clone());
        let high = if extended { self.d.number(&eind)? } else { 0 };
        let target = self.d.number(&lo)? | self.d.number(&hi)? << 8 | high << 16;
        Ok(Flow::Jump(2 * target as usize))
    }

    /// Refuses EIJMP and EICALL on a core without EIND.
    pub fn needs_eind(&self) -> Result<(), Fault> {
        if self.pc_bytes == 3 {
            return Ok(());
        }
        Err(Fault::Unsupported(
            "eijmp and eicall need a 22-bit program counter".into(),
        ))
    }

    #[inline(always)]
    pub fn pointer(&mut self, p: Pointer, offset: i32) -> Result<Address, Fault> {
        let low = usize::from(p.low());
        self.d
            .address(&[&self.r[low], &self.r[low + 1]], i64::from(offset))
    }

    /// Adds to X, Y or Z; no flag changes.
    #[inline(always)]
    pub fn move_pointer(&mut self, p: Pointer, by: i32) -> Outcome {
        let low = usize::from(p.low());
        let (k, off) = (self.byte(by), self.d.flag(false));
        let high_k = self.byte(by >> 8);
        let lo = self.d.add(&self.r[low], &k, &off);
        let hi = self.d.add(&self.r[low + 1], &high_k, &lo.carry);
        self.r[low] = lo.word;
        self.r[low + 1] = hi.word;
        Ok(Flow::Next)
    }

    #[inline(always)]
    pub fn read(&mut self, at: Address) -> Result<D::Word<8>, Fault> {
        if at.base == Base::ABSOLUTE && at.offset < self.io_start + io::LENGTH {
            if at.offset < self.io_start {
                return Ok(self.r(at.offset as u8));
            }
            return self.load_io((at.offset - self.io_start) as i32);
        }
        if self.is_below_stack(at)? {
            return Err(Fault::Load(BELOW_STACK.into()));
        }
        self.d.load(at)
    }

    #[inline(always)]
    pub fn write(&mut self, at: Address, word: D::Word<8>) -> Outcome {
        if at.base == Base::ABSOLUTE && at.offset < self.io_start + io::LENGTH {
            if at.offset < self.io_start {
                return self.set(at.offset as u8, word);
            }
            return self.write_io((at.offset - self.io_start) as i32, word);
        }
        if self.is_below_stack(at)? {
            return Err(Fault::Store(BELOW_STACK.into()));
        }
        self.d.store(at, &word)?;
        Ok(Flow::Next)
    }

    /// What Z points to in data space, as `access` says, where RAMPZ is not 0: in another page than that of 16-bit
    /// addresses. RAMPX, RAMPY and RAMPD are no registers that a program may access here.
    #[inline(always)]
    fn in_page_0(&mut self, p: Pointer, access: fn(String) -> Fault) -> Result<(), Fault> {
        if !self.pages_data || p != Pointer::Z {
            return Ok(());
        }
        let rampz = self.rampz.clone();
        match self.d.number(&rampz)? {
            0 => Ok(()),
            page => Err(access(format!("page {page} of data space: RAMPZ is not 0"))),
        }
    }

    #[inline(always)]
    pub fn load(&mut self, d: u8, p: Pointer, q: i32) -> Outcome {
        self.in_page_0(p, Fault::Load)?;
        let at = self.pointer(p, q)?;
        let word = self.read(at)?;
        self.set(d, word)
    }

    #[inline(always)]
    pub fn store(&mut self, r: u8, p: Pointer, q: i32) -> Outcome {
        self.in_page_0(p, Fault::Store)?;
        let at = self.pointer(p, q)?;
        let word = self.r(r);
        self.write(at, word)
    }

    pub fn load_direct(&mut self, k: i32) -> Result<D::Word<8>, Fault> {
        self.read(absolute(k))
    }

    pub fn store_direct(&mut self, k: i32, r: u8) -> Outcome {
        let word = self.r(r);
        self.write(absolute(k), word)
    }

    /// LPM, ELPM: a byte of program memory at Z (RAMPZ:Z when `far`).
    pub fn load_program(&mut self, d: u8, far: bool) -> Outcome {
        let at = self.pointer(Pointer::Z, 0)?;
        let rampz = self.rampz.clone();
        let page = if far { self.d.number(&rampz)? } else { 0 };
        let place = (page << 16) as i64 + at.offset;
        if let Some(text) = self.marks.gap(place as u64, 1) {
            let text = format!("reads program memory at {place:#x}: {text}");
            return Err(Fault::Unsupported(text));
        }
        let byte = (at.base == Base::ABSOLUTE)
            .then(|| self.flash.get(place as usize).copied())
            .flatten()
            .ok_or_else(|| {
                Fault::Load(format!("program memory at {place:#x}, outside the code"))
            })?;
        let word = self.byte(i32::from(byte));
        self.set(d, word)
    }

    /// RAMPZ:Z + 1 after ELPM Rd, Z+.
    pub fn move_far_z(&mut self) -> Outcome {
        let (lo, hi) = (self.r(30), self.r(31));
        let low = self.d.number(&lo)? | self.d.number(&hi)? << 8;
        self.move_pointer(Pointer::Z, 1)?;
        if low == 0xffff {
            let (one, off, rampz) = (self.byte(1), self.d.flag(false), self.rampz.clone());
            self.rampz = self.d.add(&rampz, &one, &off).word;
        }
        Ok(Flow::Next)
    }

    pub fn load_io(&mut self, a: i32) -> Result<D::Word<8>, Fault> {
        match a {
            io::SPL => Ok(self.sp[0].clone()),
            io::SPH => Ok(self.sp[1].clone()),
            io::SREG => {
                let mut word = self.byte(0);
                for (i, bit) in self.flags.iter().enumerate() {
                    word = self.d.with_bit(&word, i as u32, bit);
                }
                Ok(word)
            }
            io::RAMPZ if self.has_rampz => Ok(self.rampz.clone()),
            io::EIND if self.has_eind => Ok(self.eind.clone()),
            _ => self.d.load(absolute(a + self.io_start as i32)),
        }
    }

    pub fn store_io(&mut self, a: i32, r: u8) -> Outcome {
        let word = self.r(r);
        self.write_io(a, word)
    }

    fn write_io(&mut self, a: i32, word: D::Word<8>) -> Outcome {
        self.wrote = if a == io::SPL {
            Wrote::Spl
        } else {
            Wrote::Other
        };
        match a {
            io::SPL => self.write_sp(0, word),
            io::SPH => self.write_sp(1, word),
            io::SREG => {
                for i in 0..8 {
                    self.flags[i] = self.d.bit(&word, i as u32);
                }
            }
            io::RAMPZ if self.has_rampz => self.rampz = word,
            io::EIND if self.has_eind => self.eind = word,
            _ => self.d.store(absolute(a + self.io_start as i32), &word)?,
        }
        Ok(Flow::Next)
    }

    pub fn io_bit(&mut self, a: i32, b: u8) -> Result<D::Bit, Fault> {
        let word = self.load_io(a)?;
        Ok(self.d.bit(&word, u32::from(b)))
    }

    pub fn set_io_bit(&mut self, a: i32, b: u8, on: bool) -> Outcome {
        let (word, bit) = (self.load_io(a)?, self.d.flag(on));
        let word = self.d.with_bit(&word, u32::from(b), &bit);
        self.write_io(a, word)
    }
}

fn absolute(k: i32) -> Address {
    Address {
        base: Base::ABSOLUTE,
        offset: i64::from(k & 0xffff),
    }
}
