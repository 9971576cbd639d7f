//! HI and LO: what the multiply and divide unit does to them, and when they are unpredictable.
//!
//! Each of the two has a mark of its own. MUL leaves both without a value; to move a word into one of them
//! before the last product was read leaves the other without (MD00086, MUL, MTHI, MTLO).

use crate::domain::word::{Domain, Shift, Signs};
use crate::fault::Fault;
use crate::isa::mips::machine::{Flow, GUARD_BITS, Mips, Outcome};
use crate::isa::mips::operands::Ops;
use crate::isa::words::Words;

impl<D: Domain> Mips<D> {
    fn set_accumulator(&mut self, lo: D::Word<32>, hi: D::Word<32>, guard: D::Word<32>) -> Outcome {
        (self.lo, self.hi, self.guard) = (lo, hi, guard);
        (self.lo_lost, self.hi_lost) = (false, false);
        self.unread = true;
        Ok(Flow::Next)
    }

    fn unpredictable<T>(what: &str, by: &str) -> Result<T, Fault> {
        Err(Fault::Unpredictable(format!(
            "{what} is read after MUL, or {by} before the product was read, which leaves it unpredictable"
        )))
    }

    /// LO and HI as they are; nothing where they are unpredictable.
    pub fn accumulator(&self) -> [Option<D::Word<32>>; 2] {
        let word = |lost: bool, word: &D::Word<32>| (!lost).then(|| word.clone());
        [word(self.lo_lost, &self.lo), word(self.hi_lost, &self.hi)]
    }

    /// MFHI.
    pub fn hi(&mut self) -> Result<D::Word<32>, Fault> {
        self.unread = false;
        match self.hi_lost {
            false => Ok(self.hi.clone()),
            true => Self::unpredictable("HI", "MTLO"),
        }
    }

    /// MFLO.
    pub fn lo(&mut self) -> Result<D::Word<32>, Fault> {
        self.unread = false;
        match self.lo_lost {
            false => Ok(self.lo.clone()),
            true => Self::unpredictable("LO", "MTHI"),
        }
    }

    /// A caller leaves a word in the place of the guard bits: no more than those are there.
    pub fn enter_guard(&mut self) {
        let word = self.guard.clone();
        self.guard = self.guard_bits(&word);
    }

    /// The guard bits.
    pub fn guard(&self) -> D::Word<32> {
        self.guard.clone()
    }

    pub fn set_hi(&mut self, word: D::Word<32>) -> Outcome {
        self.guard = self.d.known(0);
        (self.hi, self.hi_lost) = (word, false);
        self.lo_lost |= std::mem::take(&mut self.unread);
        Ok(Flow::Next)
    }

    pub fn set_lo(&mut self, word: D::Word<32>) -> Outcome {
        (self.lo, self.lo_lost) = (word, false);
        self.hi_lost |= std::mem::take(&mut self.unread);
        Ok(Flow::Next)
    }

    /// Only the guard bits of a word.
    fn guard_bits(&mut self, word: &D::Word<32>) -> D::Word<32> {
        let bits = self.d.slice::<32, GUARD_BITS>(word, 0);
        self.d.extend::<GUARD_BITS, 32>(&bits, false)
    }

    /// What a double word with the high word `hi` adds to the guard bits.
    fn sign_above(&mut self, hi: &D::Word<32>, signs: Signs) -> D::Word<32> {
        match signs {
            Signs::Unsigned => self.d.known(0),
            _ => {
                let ones = self.d.shift(Shift::ArithmeticRight, hi, 31).0;
                self.guard_bits(&ones)
            }
        }
    }

    /// `(HI, LO) = rs * rt`.
    pub fn multiply(&mut self, o: &Ops, signs: Signs) -> Outcome {
        let (x, y) = (self.r(o.s), self.r(o.t));
        let (lo, hi) = self.d.mul(&x, &y, signs);
        let guard = self.sign_above(&hi, signs);
        self.set_accumulator(lo, hi, guard)
    }

    /// `(HI, LO) += rs * rt`, or `-=`: modulo 2^64, with guard bits modulo 2^72.
    pub fn accumulate(&mut self, o: &Ops, signs: Signs, add: bool) -> Outcome {
        let (x, y) = (self.r(o.s), self.r(o.t));
        let (lo, hi) = self.d.mul(&x, &y, signs);
        self.accumulate_words(lo, hi, signs, add)
    }

    /// `(HI, LO) += lo + 2^32 hi`, or `-=`: modulo 2^64, with guard bits modulo 2^72.
    pub fn accumulate_words(
        &mut self,
        lo: D::Word<32>,
        hi: D::Word<32>,
        signs: Signs,
        add: bool,
    ) -> Outcome {
        let (old_lo, old_hi) = (self.lo.clone(), self.hi.clone());
        // What is made of an unpredictable word is unpredictable; no carry comes down from HI.
        let lost = (self.lo_lost, self.hi_lost || self.lo_lost);
        let zero = self.d.flag(false);
        let combine = |d: &mut D, a: &D::Word<32>, b: &D::Word<32>, c: &D::Bit| match add {
            true => d.add(a, b, c),
            false => d.sub(a, b, c),
        };
        let low = combine(&mut self.d, &old_lo, &lo, &zero);
        let high = combine(&mut self.d, &old_hi, &hi, &low.carry);
        let mut guard = self.guard();
        if self.wide {
            let above = self.sign_above(&hi, signs);
            let sum = combine(&mut self.d, &guard, &above, &high.carry).word;
            guard = self.guard_bits(&sum);
        }
        self.set_accumulator(low.word, high.word, guard)?;
        (self.lo_lost, self.hi_lost) = lost;
        Ok(Flow::Next)
    }

    /// SHA: `(HI, LO) >>= 32`, the guard bits going into HI.
    pub fn shift_accumulator(&mut self) -> Outcome {
        let (lo, hi, zero) = (self.hi.clone(), self.guard(), self.d.known(0));
        let lost = self.hi_lost;
        self.set_accumulator(lo, hi, zero)?;
        // The guard bits are HI's.
        (self.lo_lost, self.hi_lost) = (lost, lost);
        Ok(Flow::Next)
    }

    /// MUL: HI and LO become unpredictable, but the wide accumulator keeps them (gk2003, footnote 5).
    pub fn multiply_to_register(&mut self, o: &Ops) -> Outcome {
        let (x, y) = (self.r(o.s), self.r(o.t));
        let (lo, _) = self.d.mul(&x, &y, Signs::Unsigned);
        if !self.wide {
            (self.hi_lost, self.lo_lost) = (true, true);
        }
        self.set(o.d, lo)
    }

    /// MADDL, MADDH: both words of `rs * rt + rp + rp'`, which is below 2^64; `rp'` follows `rp`.
    pub fn multiply_add_pair(&mut self, o: &Ops) -> (D::Word<32>, D::Word<32>) {
        let (x, y) = (self.r(o.s), self.r(o.t));
        let (mut lo, mut hi) = self.d.mul(&x, &y, Signs::Unsigned);
        for p in [o.p | 1, o.p] {
            let (addend, none, zero) = (self.r(p), self.d.flag(false), self.d.known(0));
            let low = self.d.add(&lo, &addend, &none);
            hi = self.d.add(&hi, &zero, &low.carry).word;
            lo = low.word;
        }
        (lo, hi)
    }

    /// DIV, DIVU, of numbers only.
    pub fn divide(&mut self, o: &Ops, signed: bool) -> Outcome {
        let (x, y) = (self.d.value(&self.r(o.s)), self.d.value(&self.r(o.t)));
        let (Some(x), Some(y)) = (x, y) else {
            let from = self.d.origin(&self.r(o.s));
            return Err(Fault::Unsupported(format!(
                "a division that depends on {from}"
            )));
        };
        if y == 0 {
            let text = "a division by 0, which leaves HI and LO unpredictable";
            return Err(Fault::Unpredictable(text.into()));
        }
        let (quotient, rest) = match signed {
            true => {
                let (x, y) = (x as u32 as i32, y as u32 as i32);
                (x.wrapping_div(y) as u32, x.wrapping_rem(y) as u32)
            }
            false => ((x / y) as u32, (x % y) as u32),
        };
        let [lo, hi, zero] = [quotient, rest, 0].map(|k| self.d.known(u64::from(k)));
        self.set_accumulator(lo, hi, zero)
    }
}
