//! What the rows of the instruction table do: operands, a result, flags.

use crate::domain::place::Base;
use crate::domain::word::{Domain, Logic, Shift, Sum};
use crate::fault::Fault;
use crate::isa::msp430::machine::{C, FLAGS, Flow, Msp430, N, Outcome, Place, V, V_LOST, Z};
use crate::isa::msp430::operands::{Dest, Ops, SP, SR, Size};

/// Does an instruction take the carry?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carry {
    None,
    Flag,
}

/// What comes in at the top of a shift to the right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Above {
    Carry,
    Sign,
    Zero,
}

/// What `$body` does with the bits `$w` of the operands.
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

/// The destination becomes `$word` of the source `$x` and itself, `$y`, unless only flags are wanted.
macro_rules! two {
    ($m:expr, $o:expr, $keeps:expr, |$w:ident, $x:ident, $y:ident| $word:expr) => {
        sized!($o, |$w| {
            let ($x, _) = $m.source::<$w>($o)?;
            let to = $m.dest($o)?;
            let $y = $m.read::<$w>(to)?;
            let word = $word;
            match $keeps {
                true => $m.write::<$w>(to, word),
                false => Ok(Flow::Next),
            }
        })
    };
}

fn unpredictable<T>(what: &str) -> Result<T, Fault> {
    Err(Fault::Unpredictable(what.into()))
}

impl<D: Domain> Msp430<D> {
    // Flags

    /// N and Z of a result, and V.
    fn set_nzv<const W: u32>(&mut self, word: &D::Word<W>, v: D::Bit) {
        self.flags[N] = self.d.bit(word, W - 1);
        self.flags[Z] = self.d.is_zero(word);
        (self.flags[V], self.v_lost) = (v, false);
    }

    /// The same; C says that the result is not 0.
    fn set_logic<const W: u32>(&mut self, word: &D::Word<W>, v: D::Bit) {
        self.set_nzv(word, v);
        self.flags[C] = self.d.not(&self.flags[Z]);
    }

    /// Of a sum or difference.
    fn set_sum<const W: u32>(&mut self, s: Sum<D, W>, carry: D::Bit) -> D::Word<W> {
        self.set_nzv(&s.word, s.overflow);
        self.flags[C] = carry;
        s.word
    }

    /// SR is no destination of what sets its flags, unless only these are wanted.
    fn sets_flags(&self, o: &Ops, keeps: bool) -> Result<(), Fault> {
        match o.dest() {
            Dest::Register(SR) if keeps => {
                unpredictable("SR is the destination of an instruction that sets flags")
            }
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
        self.sets_flags(o, true)?;
        two!(self, o, true, |W, x, y| {
            let c = match carry {
                Carry::None => self.d.flag(false),
                Carry::Flag => self.flags[C].clone(),
            };
            let s = self.d.add(&y, &x, &c);
            let carry = s.carry.clone();
            self.set_sum(s, carry)
        })
    }

    /// SUB, SUBC, CMP: C is no borrow.
    pub fn difference(&mut self, o: &Ops, carry: Carry, keeps: bool) -> Outcome {
        self.sets_flags(o, keeps)?;
        two!(self, o, keeps, |W, x, y| {
            let borrow = match carry {
                Carry::None => self.d.flag(false),
                Carry::Flag => self.d.not(&self.flags[C]),
            };
            let s = self.d.sub(&y, &x, &borrow);
            let carry = self.d.not(&s.carry);
            self.set_sum(s, carry)
        })
    }

    /// DADD, of numbers only: digit by digit; V is undefined.
    pub fn decimal_sum(&mut self, o: &Ops) -> Outcome {
        self.sets_flags(o, true)?;
        two!(self, o, true, |W, x, y| {
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
            let (word, off) = (self.d.known::<W>(sum), self.d.flag(false));
            self.set_nzv(&word, off);
            self.flags[C] = self.d.flag(carry == 1);
            self.v_lost = true;
            word
        })
    }

    /// AND, BIT.
    pub fn and(&mut self, o: &Ops, keeps: bool) -> Outcome {
        self.sets_flags(o, keeps)?;
        two!(self, o, keeps, |W, x, y| {
            let (word, off) = (self.d.logic(Logic::And, &y, &x), self.d.flag(false));
            self.set_logic(&word, off);
            word
        })
    }

    /// XOR: V says that both were negative.
    pub fn xor(&mut self, o: &Ops) -> Outcome {
        self.sets_flags(o, true)?;
        two!(self, o, true, |W, x, y| {
            let word = self.d.logic(Logic::Xor, &y, &x);
            let (x, y) = (self.d.bit(&x, W - 1), self.d.bit(&y, W - 1));
            let v = self.d.gate(Logic::And, &x, &y);
            self.set_logic(&word, v);
            word
        })
    }

    /// BIC and BIS: the bits of the source become 0 or 1. In SR the others stay as they are, known or not.
    pub fn change_bits(&mut self, o: &Ops, to_one: bool) -> Outcome {
        if let (Dest::Register(SR), Size::Word) = (o.dest(), o.size) {
            let (x, _) = self.source::<16>(o)?;
            if let Some(mask) = self.d.value(&x) {
                return self.change_flags(mask, to_one);
            }
        }
        two!(self, o, true, |W, x, y| match to_one {
            true => self.d.logic(Logic::Or, &y, &x),
            false => {
                let ones = self.d.known(0xffff);
                let kept = self.d.logic(Logic::Xor, &x, &ones);
                self.d.logic(Logic::And, &y, &kept)
            }
        })
    }

    /// The flags in `mask` become 1 or 0.
    fn change_flags(&mut self, mask: u64, to_one: bool) -> Outcome {
        for i in (0..FLAGS).filter(|i| mask >> i & 1 == 1) {
            self.flags[i] = self.d.flag(to_one);
            self.v_lost &= i != V;
        }
        self.stays_on()
    }

    // One operand

    /// RRC, RRA.
    pub fn turn(&mut self, o: &Ops, above: Above) -> Outcome {
        sized!(o, |W| {
            let (x, place) = self.source::<W>(o)?;
            let word = self.turned::<W>(&x, above);
            self.write_back::<W>(place, word)
        })
    }

    /// One bit to the right, with the flags of that.
    fn turned<const W: u32>(&mut self, x: &D::Word<W>, above: Above) -> D::Word<W> {
        let top = match above {
            Above::Carry => self.flags[C].clone(),
            Above::Sign => self.d.bit(x, W - 1),
            Above::Zero => self.d.flag(false),
        };
        let ((word, out), off) = (self.d.shift_right(x, &top), self.d.flag(false));
        self.set_nzv(&word, off);
        self.flags[C] = out;
        word
    }

    /// RRCM, RRAM, RRUM: so many times.
    pub fn turn_all(&mut self, o: &Ops, above: Above) -> Outcome {
        let mut word = self.r(o.d);
        for _ in 0..o.k {
            word = self.turned::<16>(&word, above);
        }
        self.write::<16>(Place::Register(o.d), word)
    }

    /// RLAM: as many additions to itself, after which V is undefined.
    pub fn double_all(&mut self, o: &Ops) -> Outcome {
        for _ in 0..o.k {
            let (x, none) = (self.r(o.d), self.d.flag(false));
            let s = self.d.add(&x, &x, &none);
            let carry = s.carry.clone();
            let word = self.set_sum(s, carry);
            self.write::<16>(Place::Register(o.d), word)?;
        }
        self.v_lost = true;
        Ok(Flow::Next)
    }

    /// What one operand became goes back to where it was.
    fn write_back<const W: u32>(&mut self, place: Option<Place>, word: D::Word<W>) -> Outcome {
        match place {
            Some(Place::Register(..=SR)) => unpredictable("an operation on PC, SP or SR alone"),
            Some(place) => self.write::<W>(place, word),
            None => unpredictable("the constant generator is a destination"),
        }
    }

    /// SWPB.
    pub fn swap_bytes(&mut self, o: &Ops) -> Outcome {
        let (x, place) = self.source::<16>(o)?;
        let (word, _) = self.d.shift(Shift::RotateRight, &x, 8);
        self.write_back::<16>(place, word)
    }

    /// SXT. Of a register an MSP430X also sets bits 19 to 16.
    pub fn extend_sign(&mut self, o: &Ops) -> Outcome {
        let (x, place) = self.source::<16>(o)?;
        if matches!(place, Some(Place::Register(_))) {
            self.stays_below_64k("SXT of a register")?;
        }
        let low = self.d.slice::<16, 8>(&x, 0);
        let (word, off) = (self.d.extend::<8, 16>(&low, true), self.d.flag(false));
        self.set_logic(&word, off);
        self.write_back::<16>(place, word)
    }

    /// Bits 19 to 16 stay 0, unless an MSP430X does this.
    fn stays_below_64k(&self, what: &str) -> Result<(), Fault> {
        match self.extended {
            true => Err(Fault::Unsupported(format!(
                "{what} may set bits 19 to 16 of an MSP430X, which are not followed"
            ))),
            false => Ok(()),
        }
    }

    // The stack, calls and jumps

    /// SP two bytes on, or back.
    fn move_sp(&mut self, up: bool) {
        let (sp, two, none) = (self.r(SP), self.d.known(2), self.d.flag(false));
        let moved = match up {
            true => self.d.add(&sp, &two, &none),
            false => self.d.sub(&sp, &two, &none),
        };
        self.r[usize::from(SP)] = moved.word;
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
        if o.size != Size::Word {
            return Err(Fault::Unsupported("only words are pushed".into()));
        }
        let (word, _) = self.source::<16>(o)?;
        self.push_word(word)
    }

    /// PUSHM: the highest register first; of 20 bits the upper four in a word of their own, above the others.
    pub fn push_all(&mut self, o: &Ops, whole: bool) -> Outcome {
        for r in o.pushed().rev() {
            if whole {
                let above = self.above(r);
                self.push_word(above)?;
            }
            self.push_word(self.r(r))?;
        }
        Ok(Flow::Next)
    }

    /// POPM: the lowest register first.
    pub fn pop_all(&mut self, o: &Ops, whole: bool) -> Outcome {
        for r in o.popped() {
            let word = self.pop_word()?;
            self.set(r, word);
            if whole {
                let above = self.pop_word()?;
                self.set_above(r, &above)?;
            }
        }
        Ok(Flow::Next)
    }

    /// Bits 19 to 16 of a register become the lowest of a word.
    fn set_above(&mut self, r: u8, word: &D::Word<16>) -> Result<(), Fault> {
        let bits = self.d.slice::<16, 4>(word, 0);
        let above = self.d.extend::<4, 16>(&bits, false);
        match self.high.get_mut(usize::from(r & 15)) {
            Some(high) => *high = above,
            None if self.d.value(&above) == Some(0) => {}
            None => return self.stays_below_64k("POPM.A"),
        }
        Ok(())
    }

    /// CALL.
    pub fn call(&mut self, o: &Ops) -> Outcome {
        self.is_near("CALL")?;
        let (to, _) = self.source::<16>(o)?;
        let back = self.d.known(self.next as u64);
        self.push_word(back)?;
        self.go(&[&to])
    }

    /// CALLA of an address: the way back takes two words, the upper one above the other.
    pub fn call_far(&mut self, o: &Ops) -> Outcome {
        self.unit_read();
        for part in [self.next >> 16, self.next] {
            let word = self.d.known(part as u64 & 0xffff);
            self.push_word(word)?;
        }
        Ok(Flow::Jump(o.far()))
    }

    /// BRA.
    pub fn jump_far(&mut self, o: &Ops) -> Outcome {
        self.unit_read();
        Ok(Flow::Jump(o.far()))
    }

    /// RETA.
    pub fn return_far(&mut self) -> Outcome {
        let [low, high] = [self.pop_word()?, self.pop_word()?];
        self.go(&[&low, &high])
    }

    /// RETI: the flags, then the way back, of which an MSP430X takes bits 19 to 16 from the word of the flags.
    pub fn return_from_interrupt(&mut self) -> Outcome {
        let status = self.pop_word()?;
        let high = self.d.slice::<16, 4>(&status, 12);
        let stays = self.d.is_zero(&high);
        if self.d.decide(&stays) != Ok(true) {
            self.stays_below_64k("RETI")?;
        }
        self.write::<16>(Place::Register(SR), status)?;
        let to = self.pop_word()?;
        self.is_near("RETI")?;
        self.go(&[&to])
    }

    /// To the address of these words, the lowest first.
    pub fn go(&mut self, to: &[&D::Word<16>]) -> Outcome {
        let at = self.d.address(to, 0)?;
        match at.base {
            Base::ABSOLUTE if at.offset % 2 == 0 => Ok(Flow::Jump(at.offset as usize)),
            Base::RETURN if at.offset == 0 => Ok(Flow::Return),
            _ => Err(Fault::Return),
        }
    }

    /// To `k` bytes from here.
    pub fn jump(&self, k: i16) -> Outcome {
        let to = self.pc.wrapping_add_signed(k.into());
        let mask = if self.high.is_empty() {
            0xffff
        } else {
            0xf_ffff
        };
        Ok(Flow::Jump(to & mask))
    }

    /// There, if a bit is as it `is`.
    fn jump_by(&mut self, bit: &D::Bit, is: bool, k: i16) -> Outcome {
        match self.d.branch(bit)? == is {
            true => self.jump(k),
            false => Ok(Flow::Next),
        }
    }

    /// The same of a flag.
    pub fn jump_if(&mut self, flag: usize, is: bool, k: i16) -> Outcome {
        let bit = self.flags[flag].clone();
        self.jump_by(&bit, is, k)
    }

    /// There, if N and V differ, or if they do not.
    pub fn jump_less(&mut self, less: bool, k: i16) -> Outcome {
        if self.v_lost {
            return unpredictable(V_LOST);
        }
        let differ = self.d.gate(Logic::Xor, &self.flags[N], &self.flags[V]);
        self.jump_by(&differ, less, k)
    }
}
