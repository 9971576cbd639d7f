//! The registers of an MSP430 and what the rows of the instruction table do to them.

use crate::domain::place::{Address, Base};
use crate::domain::word::Domain;
use crate::fault::{BELOW_STACK, Fault};
use crate::isa::environment::Environment;
pub use crate::isa::machine::{Flow, Outcome};
use crate::isa::msp430::multiplier::{Irq, Kind, Multiplier, Unit};
use crate::isa::msp430::operands::{CG, Dest, Ops, PC, SP, SR, Source};

/// The flags, which are the bits of SR.
pub const C: usize = 0;
pub const Z: usize = 1;
pub const N: usize = 2;
pub const GIE: usize = 3;
pub const CPUOFF: usize = 4;
pub const V: usize = 8;
/// How many there are.
pub const FLAGS: usize = 9;

/// Why V is nothing to read.
pub const V_LOST: &str = "V is read after DADD or RLAM, which leave it undefined";

/// An MSP430 over the domain `D`.
pub struct Msp430<D: Domain> {
    pub d: D,
    /// R0 to R15; PC, SR and the constant generator are kept elsewhere.
    pub r: [D::Word<16>; 16],
    pub flags: [D::Bit; FLAGS],
    /// Is V what the manual leaves undefined?
    pub v_lost: bool,
    /// Have registers bits 19 to 16?
    pub extended: bool,
    /// These bits in the large model, in which a caller's may be set. Elsewhere none: they are 0, and what may set them is
    /// refused.
    pub high: Vec<D::Word<16>>,
    pub multiplier: Option<Multiplier>,
    pub unit: Unit<D>,
    pub irq: Irq,
    /// Behind how many instructions in a row GIE was 0, as far as that matters.
    pub masked: u8,
    /// Cycles since interrupts are kept out, if they are, and the most so far.
    pub kept_out: [Option<u64>; 2],
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

/// Where a result goes.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    Register(u8),
    Memory(Address),
}

impl<D: Domain> Msp430<D> {
    /// A machine with all registers and flags zero.
    pub fn new(mut d: D, multiplier: Option<Multiplier>, irq: Irq) -> Self {
        let (zero, off) = (d.known(0), d.flag(false));
        Self {
            r: std::array::from_fn(|_| zero.clone()),
            flags: std::array::from_fn(|_| off.clone()),
            v_lost: false,
            extended: false,
            high: Vec::new(),
            multiplier,
            unit: Unit::new(&mut d, multiplier.map_or(Kind::Mpy16, |m| m.kind)),
            irq,
            masked: 0,
            kept_out: [None; 2],
            environment: None,
            interrupts: None,
            pc: 0,
            next: 0,
            d,
        }
    }

    /// Says of what CPU it is, and whether code may lie above 64 KB.
    pub(super) fn is_of(&mut self, extended: bool, large: bool) {
        self.extended = extended;
        if large {
            self.high = vec![self.d.known(0); 16];
        }
    }

    /// Bits 19 to 16 of a register, as a word.
    pub(super) fn above(&mut self, r: u8) -> D::Word<16> {
        match self.high.get(usize::from(r & 15)).cloned() {
            None => self.d.known(0),
            Some(high) => {
                let bits = self.d.slice::<16, 4>(&high, 0);
                self.d.extend::<4, 16>(&bits, false)
            }
        }
    }

    /// A register becomes a word, and bits 19 to 16 become 0.
    pub(super) fn set(&mut self, r: u8, word: D::Word<16>) {
        let i = usize::from(r & 15);
        self.r[i] = word;
        let zero = self.d.known(0);
        if let Some(high) = self.high.get_mut(i) {
            *high = zero;
        }
    }

    /// What reaches the lowest 64 KB alone is no code of the large model.
    pub(super) fn is_near(&self, what: &str) -> Result<(), Fault> {
        match self.high.is_empty() {
            true => Ok(()),
            false => Err(Fault::Unsupported(format!(
                "{what} reaches the lowest 64 KB alone, and code of the large model may lie above"
            ))),
        }
    }

    #[inline(always)]
    pub fn r(&self, i: u8) -> D::Word<16> {
        self.r[usize::from(i & 15)].clone()
    }

    // Operands

    /// The address of the code unit that is read next.
    pub(super) fn unit_read(&mut self) -> usize {
        let at = self.next;
        self.next += 2;
        at
    }

    /// `x` bytes above where register `r` points.
    pub(super) fn indexed(&mut self, r: u8, x: u16) -> Result<Address, Fault> {
        if r == PC {
            return Err(Fault::Unsupported("a read where PC points".into()));
        }
        if let Some(high) = self.high.get(usize::from(r & 15))
            && self.d.value(high) != Some(0)
        {
            return Err(Fault::Unsupported(format!(
                "r{r} is an address, and its bits 19 to 16 may be set"
            )));
        }
        let base = self.r(r);
        self.d.address(&[&base], i64::from(x as i16))
    }

    /// The word of a register, as a source.
    fn register(&mut self, r: u8) -> Result<D::Word<16>, Fault> {
        match r {
            PC => {
                self.is_near("PC as a source")?;
                Ok(self.d.known(self.next as u64))
            }
            SR => self.status(),
            CG => Ok(self.d.known(0)),
            r => Ok(self.r(r)),
        }
    }

    /// SR as a word.
    fn status(&mut self) -> Result<D::Word<16>, Fault> {
        if self.v_lost {
            return Err(Fault::Unpredictable(V_LOST.into()));
        }
        let mut word = self.d.known(0);
        for (i, flag) in (0..).zip(self.flags.clone()) {
            word = self.d.with_bit(&word, i, &flag);
        }
        Ok(word)
    }

    /// The source, and where it is.
    pub(super) fn source<const W: u32>(
        &mut self,
        o: &Ops,
    ) -> Result<(D::Word<W>, Option<Place>), Fault> {
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
                self.is_near("an address from PC on")?;
                let at = self.unit_read();
                (absolute((at as u16).wrapping_add(x)), 3)
            }
        };
        Ok((self.load::<W>(at, cycle)?, Some(Place::Memory(at))))
    }

    /// Where the destination is.
    pub(super) fn dest(&mut self, o: &Ops) -> Result<Place, Fault> {
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
                self.is_near("an address from PC on")?;
                let at = self.unit_read();
                Place::Memory(absolute((at as u16).wrapping_add(y)))
            }
        })
    }

    /// What is there.
    pub(super) fn read<const W: u32>(&mut self, place: Place) -> Result<D::Word<W>, Fault> {
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
    pub(super) fn write<const W: u32>(&mut self, place: Place, word: D::Word<W>) -> Outcome {
        let r = match place {
            Place::Memory(at) => return self.store(at, word),
            Place::Register(r) => r,
        };
        let word = self.d.extend::<W, 16>(&word, false);
        match r {
            PC => {
                self.is_near("PC as a destination")?;
                self.go(&[&word])
            }
            SR => {
                for i in 0..FLAGS {
                    self.flags[i] = self.d.bit(&word, i as u32);
                }
                self.v_lost = false;
                self.stays_on()
            }
            CG => Ok(Flow::Next),
            r => {
                self.set(r, word);
                Ok(Flow::Next)
            }
        }
    }

    /// Does the CPU stay on?
    pub(super) fn stays_on(&mut self) -> Outcome {
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
    pub(super) fn load<const W: u32>(
        &mut self,
        at: Address,
        cycle: u8,
    ) -> Result<D::Word<W>, Fault> {
        if let Some(register) = self.multiplier(at, W)? {
            let word = self.unit.read(register, cycle)?;
            return Ok(self.d.slice::<16, W>(&word, 0));
        }
        self.is_fine(at, i64::from(W / 8))?;
        self.d.load(at)
    }

    pub(super) fn store<const W: u32>(&mut self, at: Address, word: D::Word<W>) -> Outcome {
        if let Some(register) = self.multiplier(at, W)? {
            let word = self.d.extend::<W, 16>(&word, false);
            self.unit.write(&mut self.d, register, word)?;
            return Ok(Flow::Next);
        }
        self.is_fine(at, i64::from(W / 8))?;
        self.d.store(at, &word)?;
        Ok(Flow::Next)
    }
}

fn absolute(at: u16) -> Address {
    Address {
        base: Base::ABSOLUTE,
        offset: at.into(),
    }
}
