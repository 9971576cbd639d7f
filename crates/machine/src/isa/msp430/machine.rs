//! The registers of an MSP430 and what the rows of the instruction table do to them.

use crate::domain::place::{Address, Base};
use crate::domain::word::{Domain, Logic, Shift, Sum};
use crate::fault::{BELOW_STACK, Fault};
use crate::isa::environment::Environment;
pub use crate::isa::machine::{Flow, Outcome};
use crate::isa::msp430::multiplier::{Irq, Kind, Multiplier, Unit};
use crate::isa::msp430::operands::{CG, Dest, Ops, PC, SP, SR, Size, Source};

/// The flags, which are the bits of SR.
pub const C: usize = 0;
pub const Z: usize = 1;
pub const N: usize = 2;
pub const GIE: usize = 3;
pub const CPUOFF: usize = 4;
pub const V: usize = 8;
/// How many there are.
pub const FLAGS: usize = 9;

/// An MSP430 over the domain `D`.
pub struct Msp430<D: Domain> {
    pub d: D,
    /// R0 to R15; PC, SR and the constant generator are kept elsewhere.
    pub r: [D::Word<16>; 16],
    pub flags: [D::Bit; FLAGS],
    /// Is V what the manual leaves undefined?
    pub v_lost: bool,
    pub multiplier: Option<Multiplier>,
    pub unit: Unit<D>,
    pub irq: Irq,
    /// Behind how many instructions in a row GIE was 0, as far as that matters.
    pub masked: u8,
    /// What a run for all inputs is held to: the stack, and interrupts.
    pub environment: Option<Environment<Self>>,
    pub interrupts: Option<Interrupts<D>>,
    /// Byte address of the running instruction, and of what is read of it next.
    pub pc: usize,
    pub next: usize,
}

/// GIE at entry, and what shows that it is now what it may be.
pub type Interrupts<D> = (
    <D as Domain>::Bit,
    fn(&mut Msp430<D>, &<D as Domain>::Bit) -> Result<(), Fault>,
);

/// Does an instruction take the carry?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carry {
    None,
    Flag,
}

/// Where a result goes.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    Register(u8),
    Memory(Address),
}

/// Does what `$body` does with the bits `$w` of the operands.
macro_rules! sized {
    ($o:expr, |$w:ident| $body:expr) => {
        match $o.size {
            Size::Byte => {
                const $w: u32 = 8;
                $body
            }
            Size::Word => {
                const $w: u32 = 16;
                $body
            }
            Size::Address => Err(Fault::Unsupported(
                "words of 20 bits are not followed".into(),
            )),
        }
    };
}

impl<D: Domain> Msp430<D> {
    /// A machine with all registers and flags zero.
    pub fn new(mut d: D, multiplier: Option<Multiplier>, irq: Irq) -> Self {
        let (zero, off) = (d.known(0), d.flag(false));
        Self {
            r: std::array::from_fn(|_| zero.clone()),
            flags: std::array::from_fn(|_| off.clone()),
            v_lost: false,
            multiplier,
            unit: Unit::new(&mut d, multiplier.map_or(Kind::Mpy16, |m| m.kind)),
            irq,
            masked: 0,
            environment: None,
            interrupts: None,
            pc: 0,
            next: 0,
            d,
        }
    }

    #[inline(always)]
    pub fn r(&self, i: u8) -> D::Word<16> {
        self.r[usize::from(i & 15)].clone()
    }

    // Operands

    /// The address of the code unit that is read next.
    fn unit_read(&mut self) -> usize {
        let at = self.next;
        self.next += 2;
        at
    }

    /// `x` bytes above where register `r` points.
    fn indexed(&mut self, r: u8, x: u16) -> Result<Address, Fault> {
        if r == PC {
            return Err(Fault::Unsupported("a read where PC points".into()));
        }
        let base = self.r(r);
        self.d.address(&[&base], i64::from(x as i16))
    }

    /// The word of a register, as a source.
    fn register(&mut self, r: u8) -> Result<D::Word<16>, Fault> {
        match r {
            PC => Ok(self.d.known(self.next as u64)),
            SR => self.status(),
            CG => Ok(self.d.known(0)),
            r => Ok(self.r(r)),
        }
    }

    /// SR as a word.
    fn status(&mut self) -> Result<D::Word<16>, Fault> {
        if self.v_lost {
            return Err(Fault::Unpredictable("V is read after DADD".into()));
        }
        let mut word = self.d.known(0);
        for (i, flag) in (0..).zip(self.flags.clone()) {
            word = self.d.with_bit(&word, i, &flag);
        }
        Ok(word)
    }

    /// The source, and where it is.
    fn source<const W: u32>(&mut self, o: &Ops) -> Result<(D::Word<W>, Option<Place>), Fault> {
        let (at, cycle) = match o.source() {
            Source::Constant(k) => {
                if o.source_unit() {
                    self.unit_read();
                }
                return Ok((self.d.known(k.into()), None));
            }
            Source::Register(r) => {
                let word = self.register(r)?;
                return Ok((self.d.slice::<16, W>(&word, 0), Some(Place::Register(r))));
            }
            Source::Indirect(r) => (self.indexed(r, 0)?, 2),
            Source::Increment(r) => {
                let at = self.indexed(r, 0)?;
                let word = self.load::<W>(at, 2)?;
                // SP stays even.
                let step = if r == SP { 2 } else { u64::from(W / 8) };
                let (step, none) = (self.d.known(step), self.d.flag(false));
                self.r[usize::from(r & 15)] = self.d.add(&self.r(r), &step, &none).word;
                return Ok((word, Some(Place::Memory(at))));
            }
            Source::Indexed(r, x) => {
                self.unit_read();
                (self.indexed(r, x)?, 3)
            }
            Source::Absolute(x) => {
                self.unit_read();
                (absolute(x), 3)
            }
            Source::Symbolic(x) => {
                let at = self.unit_read();
                (absolute((at as u16).wrapping_add(x)), 3)
            }
        };
        Ok((self.load::<W>(at, cycle)?, Some(Place::Memory(at))))
    }

    /// Where the destination is.
    fn dest(&mut self, o: &Ops) -> Result<Place, Fault> {
        Ok(match o.dest() {
            Dest::Register(r) => Place::Register(r),
            Dest::Indexed(r, y) => {
                self.unit_read();
                Place::Memory(self.indexed(r, y)?)
            }
            Dest::Absolute(y) => {
                self.unit_read();
                Place::Memory(absolute(y))
            }
            Dest::Symbolic(y) => {
                let at = self.unit_read();
                Place::Memory(absolute((at as u16).wrapping_add(y)))
            }
        })
    }

    /// What is there.
    fn read<const W: u32>(&mut self, place: Place) -> Result<D::Word<W>, Fault> {
        match place {
            Place::Register(CG) => Err(Fault::Unpredictable(
                "the constant generator is a destination".into(),
            )),
            Place::Register(r) => {
                let word = self.register(r)?;
                Ok(self.d.slice::<16, W>(&word, 0))
            }
            // Behind its own words and those of the source.
            Place::Memory(at) => self.load::<W>(at, 3),
        }
    }

    /// Puts a result there.
    fn write<const W: u32>(&mut self, place: Place, word: D::Word<W>) -> Outcome {
        let r = match place {
            Place::Memory(at) => return self.store(at, word),
            Place::Register(r) => r,
        };
        let word = self.d.extend::<W, 16>(&word, false);
        match r {
            PC => self.go(&word),
            SR => {
                for i in 0..FLAGS {
                    self.flags[i] = self.d.bit(&word, i as u32);
                }
                self.v_lost = false;
                self.stays_on()
            }
            CG => Ok(Flow::Next),
            r => {
                self.r[usize::from(r & 15)] = word;
                Ok(Flow::Next)
            }
        }
    }

    /// Does the CPU stay on?
    fn stays_on(&mut self) -> Outcome {
        match self.d.decide(&self.flags[CPUOFF]) {
            Ok(true) => Err(Fault::Unsupported(
                "it stops the CPU: nobody knows for how long".into(),
            )),
            Ok(false) | Err(_) => Ok(Flow::Next),
        }
    }

    // Memory

    /// An access of `bytes` bytes there is aligned, and not below the stack pointer.
    fn is_fine(&mut self, at: Address, bytes: i64) -> Result<(), Fault> {
        if at.base == Base::STACK {
            let sp = self.r(SP);
            let sp = self.d.address(&[&sp], 0)?;
            if sp.base != Base::STACK || at.offset < sp.offset {
                return Err(Fault::Store(BELOW_STACK.into()));
            }
        }
        match self.d.above_multiple(at, bytes)? {
            0 => Ok(()),
            _ => Err(Fault::Exception(
                "an access to a word at an odd address".into(),
            )),
        }
    }

    /// The register of the multiplier at `at`, of an access of `bits` bits.
    fn multiplier(&mut self, at: Address, bits: u32) -> Result<Option<u16>, Fault> {
        let found = match at.base {
            Base::ABSOLUTE => self.multiplier.and_then(|m| m.register(at.offset)),
            _ => None,
        };
        match (found, bits) {
            (Some(register), 16) if register % 2 == 0 => Ok(Some(register)),
            (Some(_), _) => Err(Fault::Unsupported(
                "an access to a byte of the multiplier is not followed".into(),
            )),
            (None, _) => Ok(None),
        }
    }

    /// The word there, read in the cycle `cycle` of the instruction.
    fn load<const W: u32>(&mut self, at: Address, cycle: u8) -> Result<D::Word<W>, Fault> {
        if let Some(register) = self.multiplier(at, W)? {
            let word = self.unit.read(register, cycle)?;
            return Ok(self.d.slice::<16, W>(&word, 0));
        }
        self.is_fine(at, i64::from(W / 8))?;
        self.d.load(at)
    }

    fn store<const W: u32>(&mut self, at: Address, word: D::Word<W>) -> Outcome {
        if let Some(register) = self.multiplier(at, W)? {
            let word = self.d.extend::<W, 16>(&word, false);
            self.unit.write(&mut self.d, register, word)?;
            return Ok(Flow::Next);
        }
        self.is_fine(at, i64::from(W / 8))?;
        self.d.store(at, &word)?;
        Ok(Flow::Next)
    }

    // Flags

    /// N and Z of a result.
    fn set_nz<const W: u32>(&mut self, word: &D::Word<W>) {
        self.flags[N] = self.d.bit(word, W - 1);
        self.flags[Z] = self.d.is_zero(word);
    }

    /// N and Z of a result; C says that it is not 0.
    fn set_logic<const W: u32>(&mut self, word: &D::Word<W>, v: D::Bit) {
        self.set_nz(word);
        self.flags[C] = self.d.not(&self.flags[Z]);
        self.set_v(v);
    }

    fn set_v(&mut self, v: D::Bit) {
        (self.flags[V], self.v_lost) = (v, false);
    }

    /// SR is no destination of what sets its flags.
    fn is_no_status(&self, o: &Ops) -> Result<(), Fault> {
        match o.dest() {
            Dest::Register(SR) => Err(Fault::Unpredictable(
                "SR is the destination of an instruction that sets flags".into(),
            )),
            Dest::Register(_) | Dest::Indexed(..) | Dest::Absolute(_) | Dest::Symbolic(_) => Ok(()),
        }
    }

    // Two operands

    /// MOV.
    pub fn copy(&mut self, o: &Ops) -> Outcome {
        sized!(o, |W| {
            let (word, _) = self.source::<W>(o)?;
            let to = self.dest(o)?;
            self.write::<W>(to, word)
        })
    }

    /// ADD, ADDC.
    pub fn sum(&mut self, o: &Ops, carry: Carry) -> Outcome {
        self.is_no_status(o)?;
        sized!(o, |W| {
            let (x, _) = self.source::<W>(o)?;
            let to = self.dest(o)?;
            let y = self.read::<W>(to)?;
            let c = match carry {
                Carry::None => self.d.flag(false),
                Carry::Flag => self.flags[C].clone(),
            };
            let s = self.d.add(&y, &x, &c);
            self.flags[C] = s.carry.clone();
            let word = self.set_sum(s);
            self.write::<W>(to, word)
        })
    }

    /// SUB, SUBC, CMP: C is no borrow.
    pub fn difference(&mut self, o: &Ops, carry: Carry, keeps: bool) -> Outcome {
        if keeps {
            self.is_no_status(o)?;
        }
        sized!(o, |W| {
            let (x, _) = self.source::<W>(o)?;
            let to = self.dest(o)?;
            let y = self.read::<W>(to)?;
            let borrow = match carry {
                Carry::None => self.d.flag(false),
                Carry::Flag => self.d.not(&self.flags[C]),
            };
            let s = self.d.sub(&y, &x, &borrow);
            self.flags[C] = self.d.not(&s.carry);
            let word = self.set_sum(s);
            match keeps {
                true => self.write::<W>(to, word),
                false => Ok(Flow::Next),
            }
        })
    }

    /// N, Z and V of a sum or difference.
    fn set_sum<const W: u32>(&mut self, s: Sum<D, W>) -> D::Word<W> {
        self.set_nz(&s.word);
        self.set_v(s.overflow);
        s.word
    }

    /// DADD, of numbers only: digit by digit; V is undefined.
    pub fn decimal_sum(&mut self, o: &Ops) -> Outcome {
        self.is_no_status(o)?;
        sized!(o, |W| {
            let (x, _) = self.source::<W>(o)?;
            let to = self.dest(o)?;
            let y = self.read::<W>(to)?;
            let c = self.flags[C].clone();
            let (Some(x), Some(y), Ok(c)) = (self.d.value(&x), self.d.value(&y), self.d.decide(&c))
            else {
                let text = "DADD of what is not the same in every run";
                return Err(Fault::Unsupported(text.into()));
            };
            let (mut sum, mut carry) = (0, u64::from(c));
            for place in (0..W).step_by(4) {
                let digit = (x >> place & 15) + (y >> place & 15) + carry;
                carry = u64::from(digit > 9);
                sum |= (if digit > 9 { digit - 10 } else { digit } & 15) << place;
            }
            let word = self.d.known::<W>(sum);
            self.set_nz(&word);
            self.flags[C] = self.d.flag(carry == 1);
            self.v_lost = true;
            self.write::<W>(to, word)
        })
    }

    /// AND, BIT.
    pub fn and(&mut self, o: &Ops, keeps: bool) -> Outcome {
        if keeps {
            self.is_no_status(o)?;
        }
        sized!(o, |W| {
            let (x, _) = self.source::<W>(o)?;
            let to = self.dest(o)?;
            let y = self.read::<W>(to)?;
            let word = self.d.logic(Logic::And, &y, &x);
            let v = self.d.flag(false);
            self.set_logic(&word, v);
            match keeps {
                true => self.write::<W>(to, word),
                false => Ok(Flow::Next),
            }
        })
    }

    /// XOR: V says that both were negative.
    pub fn xor(&mut self, o: &Ops) -> Outcome {
        self.is_no_status(o)?;
        sized!(o, |W| {
            let (x, _) = self.source::<W>(o)?;
            let to = self.dest(o)?;
            let y = self.read::<W>(to)?;
            let word = self.d.logic(Logic::Xor, &y, &x);
            let (x, y) = (self.d.bit(&x, W - 1), self.d.bit(&y, W - 1));
            let v = self.d.gate(Logic::And, &x, &y);
            self.set_logic(&word, v);
            self.write::<W>(to, word)
        })
    }

    /// BIC.
    pub fn clear_bits(&mut self, o: &Ops) -> Outcome {
        self.change_bits(o, false)
    }

    /// BIS.
    pub fn set_bits(&mut self, o: &Ops) -> Outcome {
        self.change_bits(o, true)
    }

    /// Clears or sets the bits of the source in the destination.
    fn change_bits(&mut self, o: &Ops, to_one: bool) -> Outcome {
        sized!(o, |W| {
            let (x, _) = self.source::<W>(o)?;
            let to = self.dest(o)?;
            if let (Place::Register(SR), Some(mask)) = (to, self.d.value(&x)) {
                // The other flags stay as they are, known or not.
                return self.change_flags(mask, to_one, W);
            }
            let y = self.read::<W>(to)?;
            let word = match to_one {
                true => self.d.logic(Logic::Or, &y, &x),
                false => {
                    let ones = self.d.known(0xffff);
                    let kept = self.d.logic(Logic::Xor, &x, &ones);
                    self.d.logic(Logic::And, &y, &kept)
                }
            };
            self.write::<W>(to, word)
        })
    }

    /// The flags in `mask` become 1 or 0; an operation on a byte of SR leaves no other ones.
    fn change_flags(&mut self, mask: u64, to_one: bool, bits: u32) -> Outcome {
        for i in 0..FLAGS {
            if mask >> i & 1 == 1 {
                self.flags[i] = self.d.flag(to_one);
                self.v_lost &= i != V;
            }
        }
        if bits == 8 {
            let off = self.d.flag(false);
            self.set_v(off);
        }
        self.stays_on()
    }

    // One operand

    /// RRC: through the carry.
    pub fn rotate(&mut self, o: &Ops) -> Outcome {
        let top = self.flags[C].clone();
        self.turn(o, Some(top))
    }

    /// RRA: the sign stays.
    pub fn halve(&mut self, o: &Ops) -> Outcome {
        self.turn(o, None)
    }

    /// One bit to the right, with `top` above it, or its sign.
    fn turn(&mut self, o: &Ops, top: Option<D::Bit>) -> Outcome {
        sized!(o, |W| {
            let (x, place) = self.source::<W>(o)?;
            let top = match top {
                Some(top) => top,
                None => self.d.bit(&x, W - 1),
            };
            let (word, out) = self.d.shift_right(&x, &top);
            self.set_nz(&word);
            self.flags[C] = out;
            let off = self.d.flag(false);
            self.set_v(off);
            self.write_back::<W>(place, word)
        })
    }

    /// What one operand became goes back to where it was.
    fn write_back<const W: u32>(&mut self, place: Option<Place>, word: D::Word<W>) -> Outcome {
        match place {
            Some(Place::Register(r)) if r <= SR => {
                Err(Fault::Unpredictable(format!("an operation on r{r} alone")))
            }
            Some(place) => self.write::<W>(place, word),
            None => Err(Fault::Unpredictable(
                "the constant generator is a destination".into(),
            )),
        }
    }

    /// SWPB.
    pub fn swap_bytes(&mut self, o: &Ops) -> Outcome {
        let (x, place) = self.source::<16>(o)?;
        let (word, _) = self.d.shift(Shift::RotateRight, &x, 8);
        self.write_back::<16>(place, word)
    }

    /// SXT.
    pub fn extend_sign(&mut self, o: &Ops) -> Outcome {
        let (x, place) = self.source::<16>(o)?;
        let low = self.d.slice::<16, 8>(&x, 0);
        let word = self.d.extend::<8, 16>(&low, true);
        let off = self.d.flag(false);
        self.set_logic(&word, off);
        self.write_back::<16>(place, word)
    }

    // The stack, calls and jumps

    /// SP two bytes on, or back.
    fn move_sp(&mut self, up: bool) {
        let (two, none) = (self.d.known(2), self.d.flag(false));
        let sp = self.r(SP);
        self.r[usize::from(SP)] = match up {
            true => self.d.add(&sp, &two, &none).word,
            false => self.d.sub(&sp, &two, &none).word,
        };
    }

    /// Puts a word on the stack.
    fn push_word(&mut self, word: D::Word<16>) -> Outcome {
        self.move_sp(false);
        let at = self.indexed(SP, 0)?;
        self.store::<16>(at, word)
    }

    /// Takes a word off the stack.
    fn pop_word(&mut self) -> Result<D::Word<16>, Fault> {
        let at = self.indexed(SP, 0)?;
        let word = self.load::<16>(at, 2)?;
        self.move_sp(true);
        Ok(word)
    }

    /// PUSH, of words: of a byte no manual says what lies above it.
    pub fn push(&mut self, o: &Ops) -> Outcome {
        match o.size {
            Size::Word => {
                let (word, _) = self.source::<16>(o)?;
                self.push_word(word)
            }
            Size::Byte | Size::Address => Err(Fault::Unsupported("only words are pushed".into())),
        }
    }

    /// CALL.
    pub fn call(&mut self, o: &Ops) -> Outcome {
        let (to, _) = self.source::<16>(o)?;
        let back = self.d.known(self.next as u64);
        self.push_word(back)?;
        self.go(&to)
    }

    /// RETI: the flags, then the way back.
    pub fn return_from_interrupt(&mut self) -> Outcome {
        let status = self.pop_word()?;
        self.write::<16>(Place::Register(SR), status)?;
        let to = self.pop_word()?;
        self.go(&to)
    }

    /// To the address `to`.
    fn go(&mut self, to: &D::Word<16>) -> Outcome {
        let at = self.d.address(&[to], 0)?;
        match at.base {
            Base::ABSOLUTE if at.offset % 2 == 0 => Ok(Flow::Jump(at.offset as usize)),
            Base::RETURN if at.offset == 0 => Ok(Flow::Return),
            _ => Err(Fault::Return),
        }
    }

    /// To `k` bytes from here.
    pub fn jump(&self, k: i16) -> Outcome {
        let to = self.pc.wrapping_add_signed(k.into());
        Ok(Flow::Jump(to & 0xffff))
    }

    /// There, if a flag is as it `is`.
    pub fn jump_if(&mut self, flag: usize, is: bool, k: i16) -> Outcome {
        let bit = self.flags[flag].clone();
        match self.d.branch(&bit)? == is {
            true => self.jump(k),
            false => Ok(Flow::Next),
        }
    }

    /// There, if N and V differ, or if they do not.
    pub fn jump_less(&mut self, less: bool, k: i16) -> Outcome {
        if self.v_lost {
            return Err(Fault::Unpredictable("V is read after DADD".into()));
        }
        let differ = self.d.gate(Logic::Xor, &self.flags[N], &self.flags[V]);
        match self.d.branch(&differ)? == less {
            true => self.jump(k),
            false => Ok(Flow::Next),
        }
    }
}

fn absolute(at: u16) -> Address {
    Address {
        base: Base::ABSOLUTE,
        offset: at.into(),
    }
}
