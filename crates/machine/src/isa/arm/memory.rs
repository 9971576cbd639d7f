//! What loads, stores, block transfers and swaps do.
//!
//! Words lie at multiples of 4, little-endian. A word load from between two words gives the
//! aligned word rotated, a word store ignores the two lowest address bits (ARM DDI 0100, LDR
//! and STR). Nothing may lie below the stack pointer.

use crate::domain::place::{Address, Base};
use crate::domain::word::{Domain, Shift};
use crate::fault::{BELOW_STACK, Fault};
use crate::isa::arm::machine::{Arm, Flow, Outcome, PC, SP, unpredictable};
use crate::isa::arm::operands::Ops;

type Loader<D> = fn(&mut Arm<D>, Address) -> Result<<D as Domain>::Word<32>, Fault>;
type Storer<D> = fn(&mut Arm<D>, Address, &<D as Domain>::Word<32>) -> Result<(), Fault>;

/// Memory accesses.
impl<D: Domain> Arm<D> {
    /// The offset of a load or store: a number, or a shifted register if bit 12 is set.
    fn offset(&mut self, o: &Ops) -> Result<D::Word<32>, Fault> {
        let k = o.k as u32;
        if k & 0x1000 == 0 {
            return Ok(self.d.known(u64::from(k & 0xfff)));
        }
        let m = (k & 15) as u8;
        if m == PC {
            return unpredictable("the program counter as an offset");
        }
        let x = self.r(m);
        Ok(self.shifted_by_immediate(&x, k)?.0)
    }

    /// The address accessed, and the base register's new value if it is written.
    fn place(&mut self, o: &Ops) -> Result<(Address, Option<D::Word<32>>), Fault> {
        let writes = !o.p || o.w;
        if writes && (o.n == o.d || o.n == PC) {
            return unpredictable("writing back to this register");
        }
        let base = self.r(o.n);
        let offset = self.offset(o)?;
        let no = self.d.flag(false);
        let moved = if o.u {
            self.d.add(&base, &offset, &no).word
        } else {
            self.d.sub(&base, &offset, &no).word
        };
        let at = self.d.address(&[if o.p { &moved } else { &base }], 0)?;
        Ok((at, writes.then_some(moved)))
    }

    /// Refuses accesses below the stack pointer: an interrupt may write there.
    fn keep_above_stack_pointer(&mut self, at: Address) -> Result<(), Fault> {
        if at.base != Base::STACK {
            return Ok(());
        }
        let sp = self.d.address(&[&self.r[usize::from(SP)]], 0)?;
        if sp.base == Base::STACK && sp.offset <= at.offset {
            return Ok(());
        }
        Err(Fault::Store(BELOW_STACK.into()))
    }

    /// A load into Rd.
    pub fn load(&mut self, o: &Ops, access: Loader<D>) -> Outcome {
        let (at, moved) = self.place(o)?;
        self.keep_above_stack_pointer(at)?;
        let word = access(self, at)?;
        if let Some(moved) = moved {
            self.set(o.n, moved)?;
        }
        self.set(o.d, word)
    }

    /// A store of Rd.
    pub fn store(&mut self, o: &Ops, access: Storer<D>) -> Outcome {
        if o.d == PC {
            return unpredictable("storing the program counter");
        }
        let (at, moved) = self.place(o)?;
        let word = self.r(o.d);
        access(self, at, &word)?;
        if let Some(moved) = moved {
            self.set(o.n, moved)?;
        }
        self.keep_above_stack_pointer(at)?;
        Ok(Flow::Next)
    }

    /// SWP, SWPB.
    pub fn swap(&mut self, o: &Ops, load: Loader<D>, store: Storer<D>) -> Outcome {
        if [o.d, o.m, o.n].contains(&PC) || o.n == o.m || o.n == o.d {
            return unpredictable("a swap with these registers");
        }
        let (base, new) = (self.r(o.n), self.r(o.m));
        let at = self.d.address(&[&base], 0)?;
        self.keep_above_stack_pointer(at)?;
        let old = load(self, at)?;
        store(self, at, &new)?;
        self.set(o.d, old)
    }

    /// A word; from an address between words, the aligned word rotated (DDI 0100, LDR).
    pub fn load_word(&mut self, at: Address) -> Result<D::Word<32>, Fault> {
        let over = self.d.above_multiple(at, 4)?;
        let word = self.d.load::<32>(Address {
            offset: at.offset - over,
            ..at
        })?;
        Ok(match over {
            0 => word,
            _ => self.d.shift(Shift::RotateRight, &word, 8 * over as u32).0,
        })
    }

    /// A byte, extended to a word.
    pub fn load_byte(&mut self, at: Address, signed: bool) -> Result<D::Word<32>, Fault> {
        let byte = self.d.load::<8>(at)?;
        Ok(self.d.extend::<8, 32>(&byte, signed))
    }

    /// A halfword, extended to a word.
    pub fn load_half(&mut self, at: Address, signed: bool) -> Result<D::Word<32>, Fault> {
        self.halfword_aligned(at)?;
        let half = self.d.load::<16>(at)?;
        Ok(self.d.extend::<16, 32>(&half, signed))
    }

    fn halfword_aligned(&self, at: Address) -> Result<(), Fault> {
        match self.d.above_multiple(at, 2)? {
            0 => Ok(()),
            _ => unpredictable("a halfword at an odd address"),
        }
    }

    /// A word, at the aligned address.
    pub fn store_word(&mut self, at: Address, word: &D::Word<32>) -> Result<(), Fault> {
        let over = self.d.above_multiple(at, 4)?;
        let at = Address {
            offset: at.offset - over,
            ..at
        };
        self.d.store::<32>(at, word)
    }

    /// The lowest byte of a word.
    pub fn store_byte(&mut self, at: Address, word: &D::Word<32>) -> Result<(), Fault> {
        let byte = self.d.slice::<32, 8>(word, 0);
        self.d.store::<8>(at, &byte)
    }

    /// The lower half of a word.
    pub fn store_half(&mut self, at: Address, word: &D::Word<32>) -> Result<(), Fault> {
        self.halfword_aligned(at)?;
        let half = self.d.slice::<32, 16>(word, 0);
        self.d.store::<16>(at, &half)
    }

    /// Address of the lowest register of a list, and the base's value after the transfer.
    fn block(&mut self, o: &Ops) -> Result<(Address, D::Word<32>), Fault> {
        if o.n == PC || o.k == 0 {
            return unpredictable("a block transfer with this base or list");
        }
        let size = 4 * i64::from((o.k as u32).count_ones());
        let base = self.r(o.n);
        let start = match (o.p, o.u) {
            (false, true) => 0,
            (true, true) => 4,
            (false, false) => 4 - size,
            (true, false) => -size,
        };
        let at = self.d.address(&[&base], start)?;
        let at = Address {
            offset: at.offset - self.d.above_multiple(at, 4)?,
            ..at
        };
        let (size, no) = (self.d.known(size as u64), self.d.flag(false));
        let moved = if o.u {
            self.d.add(&base, &size, &no).word
        } else {
            self.d.sub(&base, &size, &no).word
        };
        Ok((at, moved))
    }

    /// LDM.
    pub fn load_multiple(&mut self, o: &Ops) -> Outcome {
        if o.w && o.k >> o.n & 1 == 1 {
            return unpredictable("loading a base that is written back");
        }
        let (mut at, moved) = self.block(o)?;
        self.keep_above_stack_pointer(at)?;
        if o.w {
            self.set(o.n, moved)?;
        }
        let mut flow = Flow::Next;
        for i in (0..16u8).filter(|i| o.k >> i & 1 == 1) {
            let word = self.d.load::<32>(at)?;
            flow = self.set(i, word)?;
            at.offset += 4;
        }
        Ok(flow)
    }

    /// STM.
    pub fn store_multiple(&mut self, o: &Ops) -> Outcome {
        let below = o.k & ((1 << o.n) - 1);
        if o.w && o.k >> o.n & 1 == 1 && below != 0 || o.k >> PC & 1 == 1 {
            return unpredictable("storing this list");
        }
        let (lowest, moved) = self.block(o)?;
        let mut at = lowest;
        for i in (0..15u8).filter(|i| o.k >> i & 1 == 1) {
            let word = self.r(i);
            self.d.store::<32>(at, &word)?;
            at.offset += 4;
        }
        if o.w {
            self.set(o.n, moved)?;
        }
        self.keep_above_stack_pointer(lowest)?;
        Ok(Flow::Next)
    }
}
