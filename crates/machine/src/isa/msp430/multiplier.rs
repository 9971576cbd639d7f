//! The multiplier: state behind addresses, and what interrupts do to it.
//!
//! Between two products the first must have ended before the multiplier is written again: so do TI's own functions
//! (`mpyll_f5hw.asm` of its run-time library waits three cycles behind OP2H).
//!
//! Sources: SLAU049, *MSP430x1xx Family User's Guide*, chapter 7 (MPY16); SLAU208, *MSP430x5xx and MSP430x6xx Family User's
//! Guide*, chapter 25, also alone as SLAU404 (MPY32). An operation is chosen by the address that the first operand is
//! written to, and begins when the second is; both stay, so that another second operand is multiplied by the same first.
//! A product that is accumulated is `new + 2^n c = old + a b`, `n` 32 or 64, and SUMEXT is `c`: the carry of this
//! accumulation alone.

use crate::domain::word::{Domain, Signs, Sum};
use crate::fault::Fault;

/// Which multiplier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// 16 by 16 bits, accumulating 32.
    Mpy16,
    /// The same, and 32 by 32 bits, accumulating 64.
    Mpy32,
}

/// A multiplier, and where its registers begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Multiplier {
    pub kind: Kind,
    pub base: u16,
}

/// What interrupt handlers do with the multiplier.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Irq {
    /// Nothing.
    #[default]
    None,
    /// What they like: a function keeps interrupts out while it uses the multiplier, from its first use to its last.
    MaskAll,
    /// The same, column by column.
    MaskPerColumn,
    /// They save and restore an MPY32, which erratum MPY1 of most parts (SLAZ318 and others) makes wrong between OP2L and
    /// OP2H: there interrupts are kept out.
    SaveRestore,
}

impl Irq {
    /// All of them, with their words on the command line.
    pub const EACH: [(Irq, &'static str); 4] = [
        (Irq::None, "none"),
        (Irq::MaskAll, "mask-all"),
        (Irq::MaskPerColumn, "mask-per-column"),
        (Irq::SaveRestore, "save-restore"),
    ];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        let mut each = Self::EACH.iter();
        each.find(|(irq, _)| *irq == self)
            .map_or("", |(_, name)| name)
    }

    /// Who promises what the multiplier holds between two instructions.
    pub fn promised(self) -> &'static str {
        match self {
            Irq::None => "no interrupt handler uses the multiplier (--irq none)",
            Irq::MaskAll | Irq::MaskPerColumn => {
                "nobody: what an interrupt may come between is lost"
            }
            Irq::SaveRestore => {
                "interrupt handlers, which save and restore all of its state (--irq save-restore)"
            }
        }
    }
}

/// Offsets of registers from the first: OP1 of 16 bits, then OP2, the result, SUMEXT; what MPY32 has beside.
mod register {
    pub const OP2: u16 = 0x08;
    pub const RESLO: u16 = 0x0a;
    pub const RESHI: u16 = 0x0c;
    pub const SUMEXT: u16 = 0x0e;
    pub const MPY32L: u16 = 0x10;
    pub const OP2L: u16 = 0x20;
    pub const OP2H: u16 = 0x22;
    pub const RES0: u16 = 0x24;
    pub const RES3: u16 = 0x2a;
    pub const END: u16 = 0x2e;
}
use register::{END, MPY32L, OP2, OP2H, OP2L, RES0, RES3, RESHI, RESLO, SUMEXT};

impl Multiplier {
    /// The offset of a register of it at `address`.
    pub fn register(&self, address: i64) -> Option<u16> {
        let end = match self.kind {
            Kind::Mpy16 => MPY32L,
            Kind::Mpy32 => END,
        };
        let at = u16::try_from(address.checked_sub(self.base.into())?).ok()?;
        (at < end).then_some(at)
    }

    /// How long what a write to this address begins takes, as [`Kind::late`] says; none if it begins nothing.
    pub fn begins(&self, address: u16, first_has_32_bits: bool) -> Option<[u8; 5]> {
        match self.register(address.into())? {
            OP2 => Some(self.kind.late(first_has_32_bits, false)),
            OP2L => Some(LATE_LOW),
            OP2H => Some(self.kind.late(first_has_32_bits, true)),
            _ => None,
        }
    }

    /// Does a write to this address choose an operation, and for a first operand of 32 bits?
    pub fn chooses(&self, address: u16) -> Option<bool> {
        match self.register(address.into())? {
            ..OP2 => Some(false),
            at @ MPY32L..OP2L => Some(at & 2 == 2),
            _ => None,
        }
    }

    /// Which word of the result is there: RES0 to RES3, or SUMEXT.
    pub fn result(&self, address: u16) -> Option<usize> {
        match self.register(address.into())? {
            RESLO => Some(0),
            RESHI => Some(1),
            SUMEXT => Some(4),
            at @ RES0..=RES3 => Some(usize::from(at - RES0) / 2),
            _ => None,
        }
    }

    /// Does a write to this address begin one of a second operand of 32 bits?
    pub fn takes_two_words(&self, address: u16) -> bool {
        self.register(address.into()) == Some(OP2H)
    }

    /// Does a write to this address choose an operation that does not accumulate?
    pub fn starts_anew(&self, address: u16) -> bool {
        // MPY and MPYS, MPY32 and MPYS32, low words.
        let low = [0, 2, MPY32L, MPY32L + 4];
        self.register(address.into())
            .is_some_and(|at| low.contains(&at))
    }

    /// Does a write to this address begin a multiplication?
    pub fn starts(&self, address: u16) -> bool {
        matches!(self.register(address.into()), Some(OP2 | OP2H))
    }

    /// The address of the register `offset` bytes behind the first.
    pub const fn at(&self, offset: u16) -> u16 {
        self.base + offset
    }
}

/// How many words the state has: OP1 and OP2, low and high, RES0 to RES3, SUMEXT.
pub const WORDS: usize = 9;
const OP1_WORD: usize = 0;
const OP2_WORD: usize = 2;
const RESULT: usize = 4;
const SUMEXT_WORD: usize = 8;

/// What a second operand begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mode {
    signed: bool,
    accumulates: bool,
    /// Has the first operand 32 bits?
    wide: bool,
    /// Was OP2L written, and OP2H not yet?
    pub half: bool,
}

/// Cycles from the end of an instruction that writes the second operand until RES0 to RES3 and SUMEXT are there: SLAU208,
/// chapter 25, rows of a first operand of 16 and of 32 bits; a second one of 16, and of 32 from OP2H on. RES0 is there
/// before OP2H can be written. Read a second time in SLAU367P, table 5-5 (page 278), which has these numbers for fractional mode.
const LATE: [[[u8; 5]; 2]; 2] = [
    [[3, 3, 4, 4, 3], [3, 5, 6, 7, 7]],
    [[0, 3, 4, 4, 4], [0, 3, 5, 6, 6]],
];
/// The same of an MPY16 (SLAU049, section 7.2.3): an access by an address is in time, an indirect one needs a NOP.
const LATE_16: [u8; 5] = [3, 3, 0, 0, 3];
/// How long the first step of OP2L takes (the same table).
const LATE_LOW: [u8; 5] = [3, 0, 0, 0, 0];

impl Kind {
    /// Cycles from the end of an instruction that writes a second operand, of 32 bits or not, until RES0 to RES3 and SUMEXT
    /// are there.
    pub fn late(self, first_has_32_bits: bool, second_has_32_bits: bool) -> [u8; 5] {
        match self {
            Kind::Mpy16 => LATE_16,
            Kind::Mpy32 => LATE[usize::from(second_has_32_bits)][usize::from(first_has_32_bits)],
        }
    }
}

/// The multiplier over the domain `D`.
pub struct Unit<D: Domain> {
    kind: Kind,
    pub words: [D::Word<16>; WORDS],
    /// What OP2 begins, if an operation was chosen.
    pub mode: Option<Mode>,
    /// Cycles until each word of the result, and SUMEXT, are there.
    pub late: [u8; 5],
    /// Did the running instruction begin a product?
    fresh: bool,
    /// Cycles of the running instruction, which writes in the last of them.
    pub cycles: u16,
    /// Are RES2 and RES3 what the manual does not say: those of a product of 16 by 16 bits?
    pub unsaid: [bool; 2],
    /// May an interrupt handler have used it since it was written?
    pub lost: bool,
    /// The same of RES0 to RES3 and SUMEXT, each since it was written or made.
    pub stale: [bool; 5],
}

/// `lo, hi` added to `words` from `at` on: the carry.
fn add_at<D: Domain>(d: &mut D, words: &mut [D::Word<16>], addends: &[D::Word<16>]) -> D::Bit {
    let (mut carry, zero) = (d.flag(false), d.known(0));
    let addends = addends.iter().chain(std::iter::repeat(&zero));
    for (word, addend) in words.iter_mut().zip(addends) {
        let Sum {
            word: sum,
            carry: next,
            ..
        } = d.add(word, addend, &carry);
        (*word, carry) = (sum, next);
    }
    carry
}

impl<D: Domain> Unit<D> {
    /// All of it 0, and no operation chosen.
    pub fn new(d: &mut D, kind: Kind) -> Self {
        let zero = d.known(0);
        Self {
            kind,
            words: std::array::from_fn(|_| zero.clone()),
            mode: None,
            late: [0; 5],
            fresh: false,
            cycles: 0,
            unsaid: [false; 2],
            lost: false,
            stale: [false; 5],
        }
    }

    /// The running instruction ended: what it began itself begins now.
    #[inline(always)]
    pub fn pass(&mut self) {
        if !std::mem::take(&mut self.fresh) {
            for late in &mut self.late {
                *late = late.saturating_sub(self.cycles as u8);
            }
        }
    }

    /// What decides how it goes on, as a number.
    pub fn position(&self) -> usize {
        let mode = self.mode.map_or(0, |mode| {
            let Mode {
                signed,
                accumulates,
                wide,
                half,
            } = mode;
            let bits = [true, signed, accumulates, wide, half];
            bits.iter().fold(0, |all, bit| all << 1 | usize::from(*bit))
        });
        self.late
            .iter()
            .fold(mode, |all, late| all << 4 | usize::from(*late))
    }

    /// An interrupt handler may use it now.
    pub fn lose(&mut self) {
        (self.lost, self.mode, self.stale) = (true, None, [true; 5]);
    }

    /// The word of register `at`, read in the cycle `cycle` of an instruction.
    ///
    /// # Errors
    /// Where it is not there yet, lost, or none that is followed.
    pub fn read(&self, at: u16, cycle: u8) -> Result<D::Word<16>, Fault> {
        let word = match at {
            ..OP2 => OP1_WORD,
            OP2 | OP2L => OP2_WORD,
            RESLO => RESULT,
            RESHI => RESULT + 1,
            SUMEXT => SUMEXT_WORD,
            MPY32L..OP2L => OP1_WORD + usize::from(at >> 1 & 1),
            OP2H => OP2_WORD + 1,
            RES0..=RES3 => RESULT + usize::from(at - RES0) / 2,
            _ => return Err(control()),
        };
        if self.lost || word >= RESULT && self.stale[word - RESULT] {
            return Err(Fault::Convention(LOST));
        }
        if word >= RESULT {
            let unfinished = self.mode.is_some_and(|mode| mode.half);
            if unfinished || self.late[word - RESULT] > cycle {
                return Err(Fault::Unpredictable(EARLY.into()));
            }
            if (RESULT + 2..SUMEXT_WORD).contains(&word) && self.unsaid[word - RESULT - 2] {
                return Err(Fault::Unpredictable(UNSAID.into()));
            }
        }
        Ok(self.words[word].clone())
    }

    /// `word` is written to register `at`.
    ///
    /// # Errors
    /// Where a product is on its way, none was chosen, or the register is none that is followed.
    pub fn write(&mut self, d: &mut D, at: u16, word: D::Word<16>) -> Result<(), Fault> {
        let busy = self.late.iter().any(|late| u16::from(*late) > self.cycles);
        if busy || self.mode.is_some_and(|mode| mode.half) && at != OP2H {
            return Err(Fault::Unpredictable(BUSY.into()));
        }
        match at {
            ..OP2 => self.choose(at, false, word),
            MPY32L..OP2L => match at & 2 {
                0 => self.choose((at - MPY32L) / 2, false, word),
                _ => {
                    self.words[OP1_WORD + 1] = word;
                    let mode = self.mode.filter(|_| !self.lost);
                    let mode = mode.ok_or(Fault::Convention(UNCHOSEN))?;
                    self.mode = Some(Mode { wide: true, ..mode });
                }
            },
            OP2 => self.begin(d, word, None)?,
            OP2L => {
                let mode = self.mode.ok_or(Fault::Convention(UNCHOSEN))?;
                self.words[OP2_WORD] = word;
                self.mode = Some(Mode { half: true, ..mode });
                self.late = LATE_LOW;
                self.fresh = true;
            }
            OP2H => {
                let half = self.mode.is_some_and(|mode| mode.half);
                if !half {
                    let text = "OP2H is written without OP2L, which has no effect";
                    return Err(Fault::Unsupported(text.into()));
                }
                let low = self.words[OP2_WORD].clone();
                self.begin(d, low, Some(word))?;
            }
            RESLO | RESHI | RES0..=RES3 => {
                let i = match at {
                    RESLO | RESHI => usize::from(at - RESLO) / 2,
                    _ => usize::from(at - RES0) / 2,
                };
                self.words[RESULT + i] = word;
                self.stale[i] = false;
                if i >= 2 {
                    self.unsaid[i - 2] = false;
                }
            }
            SUMEXT => return Err(Fault::Unsupported("SUMEXT is only read".into())),
            _ => return Err(control()),
        }
        Ok(())
    }

    /// The first operand, and with it the operation: MPY, MPYS, MAC or MACS by its place among them.
    fn choose(&mut self, place: u16, wide: bool, word: D::Word<16>) {
        let kind = place / 2;
        self.words[OP1_WORD] = word;
        self.lost = false;
        self.mode = Some(Mode {
            signed: kind & 1 == 1,
            accumulates: kind & 2 == 2,
            wide,
            half: false,
        });
    }

    /// The second operand, whose upper word is `high` if it has 32 bits.
    fn begin(
        &mut self,
        d: &mut D,
        low: D::Word<16>,
        high: Option<D::Word<16>>,
    ) -> Result<(), Fault> {
        let mode = self.mode.ok_or(Fault::Convention(UNCHOSEN))?;
        self.mode = Some(Mode {
            half: false,
            ..mode
        });
        self.late = self.kind.late(mode.wide, high.is_some());
        self.fresh = true;
        self.words[OP2_WORD] = low;
        let words = if mode.wide || high.is_some() { 4 } else { 2 };
        if mode.accumulates && self.stale[..words].contains(&true) {
            return Err(Fault::Convention(LOST));
        }
        self.stale[..words].fill(false);
        self.stale[SUMEXT_WORD - RESULT] = false;
        if mode.wide || high.is_some() {
            self.multiply_wide(d, mode, high);
        } else {
            let [x, y] = [OP1_WORD, OP2_WORD].map(|i| self.words[i].clone());
            let signs = if mode.signed {
                Signs::Signed
            } else {
                Signs::Unsigned
            };
            let (lo, hi) = d.mul(&x, &y, signs);
            self.unsaid = [true; 2];
            self.put(d, mode, &[lo, hi]);
        }
        Ok(())
    }

    /// Operands of which one at least has 32 bits.
    fn multiply_wide(&mut self, d: &mut D, mode: Mode, high: Option<D::Word<16>>) {
        let extended = |d: &mut D, word: &D::Word<16>| match mode.signed {
            true => {
                let (sign, zero, ones) = (d.bit(word, 15), d.known(0), d.known(0xffff));
                d.select(&sign, &ones, &zero)
            }
            false => d.known(0),
        };
        let [x, y] = [OP1_WORD, OP2_WORD].map(|i| self.words[i].clone());
        let x_high = match mode.wide {
            true => self.words[OP1_WORD + 1].clone(),
            false => extended(d, &x),
        };
        let y_high = high.unwrap_or_else(|| extended(d, &y));
        self.words[OP2_WORD + 1] = y_high.clone();
        let product = wide_product(d, [&x, &x_high], [&y, &y_high], mode.signed);
        self.unsaid = [false; 2];
        self.put(d, mode, &product);
    }

    /// The product becomes the result, or is added to it; SUMEXT is the carry, or the sign.
    fn put(&mut self, d: &mut D, mode: Mode, product: &[D::Word<16>]) {
        let result = &mut self.words[RESULT..RESULT + product.len()];
        let carry = match mode.accumulates {
            true => add_at(d, result, product),
            false => {
                result.clone_from_slice(product);
                d.flag(false)
            }
        };
        let (zero, ones) = (d.known(0), d.known(0xffff));
        self.words[SUMEXT_WORD] = match mode.signed {
            true => {
                let sign = d.bit(&self.words[RESULT + product.len() - 1], 15);
                d.select(&sign, &ones, &zero)
            }
            false => d.with_bit(&zero, 0, &carry),
        };
    }
}

/// The four words of `x y`: the partial products one after the other, each carry into the word above, none out of the
/// last. A sign takes the other factor off the upper half.
fn wide_product<D: Domain>(
    d: &mut D,
    [x0, x1]: [&D::Word<16>; 2],
    [y0, y1]: [&D::Word<16>; 2],
    signed: bool,
) -> [D::Word<16>; 4] {
    let low = d.mul(x0, y0, Signs::Unsigned);
    let high = d.mul(x1, y1, Signs::Unsigned);
    let mut words = [low.0, low.1, high.0, high.1];
    for (x, y) in [(x0, y1), (x1, y0)] {
        let (lo, hi) = d.mul(x, y, Signs::Unsigned);
        add_at(d, &mut words[1..], &[lo, hi]);
    }
    if signed {
        for (sign, [lo, hi]) in [(x1, [y0, y1]), (y1, [x0, x1])] {
            let (sign, zero, none) = (d.bit(sign, 15), d.known(0), d.flag(false));
            let [lo, hi] = [lo, hi].map(|word| d.select(&sign, word, &zero));
            let low = d.sub(&words[2], &lo, &none);
            words[3] = d.sub(&words[3], &hi, &low.carry).word;
            words[2] = low.word;
        }
    }
    words
}

const LOST: &str = "the multiplier is read after an interrupt handler may have used it";
const UNCHOSEN: &str = "a second operand, or an upper half, is written where no operation is chosen, or an interrupt handler may have chosen another";
const EARLY: &str = "a result of the multiplier is read before it is there";
const BUSY: &str = "the multiplier is written while a product is on its way";
const UNSAID: &str = "RES2 or RES3 is read after a product of 16 by 16 bits";

fn control() -> Fault {
    Fault::Unsupported("MPY32CTL0 and byte accesses to the multiplier are not followed".into())
}
