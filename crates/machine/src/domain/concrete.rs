//! Words are numbers: one run on one input.

use std::ops::Range;

use crate::domain::place::{Address, Base};
use crate::domain::word::{Domain, Logic, Shift, Signs, Sum};
use crate::fault::{Fault, Source};
use crate::segment::Segment;

/// Flat data memory.
pub struct Concrete {
    pub memory: Vec<u8>,
    /// Address of the first byte of `memory`.
    pub start: usize,
    /// What else there is to read.
    pub rom: Vec<Segment>,
    /// Is the most significant byte of a word at the lowest address?
    pub big_endian: bool,
    /// The stacks whose depth is observed.
    pub stacks: Vec<Watched>,
    /// Where alone it may read and write, if that is watched.
    pub fences: Option<Vec<Fence>>,
    /// The fence of the last access.
    inside: usize,
    /// Accesses to what has a name, in order, if that is watched within fences.
    pub accesses: Option<Vec<Access>>,
}

/// An access to memory with a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    pub name: &'static str,
    /// Bytes from the start of it.
    pub at: usize,
    pub writes: bool,
}

/// Memory that a run may read, and perhaps write.
#[derive(Clone, Debug)]
pub struct Fence {
    pub name: &'static str,
    pub addresses: Range<usize>,
    pub writable: bool,
}

/// Addresses of a stack, and the lowest one among them that was written or that its pointer went to.
#[derive(Clone, Debug)]
pub struct Watched {
    addresses: Range<usize>,
    lowest: usize,
}

impl Watched {
    /// From the lowest to one past its first byte.
    pub fn addresses(&self) -> Range<usize> {
        self.addresses.clone()
    }

    /// One past its first byte.
    pub fn top(&self) -> usize {
        self.addresses.end
    }

    /// Bytes from the lowest one that was in use up.
    pub fn bytes(&self) -> usize {
        self.addresses.end - self.lowest
    }
}

/// A number below `2^W`, `W <= 32`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bits<const W: u32>(pub u64);

/// `2^w - 1`, `w < 64`.
#[inline(always)]
pub const fn mask(w: u32) -> u64 {
    (1 << w) - 1
}

#[inline(always)]
fn sign_extend(value: u64, w: u32) -> i64 {
    ((value << (64 - w)) as i64) >> (64 - w)
}

/// The number in `bytes`.
pub fn number(bytes: &[u8], big_endian: bool) -> u64 {
    let join = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
    match big_endian {
        true => bytes.iter().fold(0, join),
        false => bytes.iter().rev().fold(0, join),
    }
}

impl Concrete {
    /// All-zero memory of `size` bytes, little-endian.
    pub fn new(size: usize) -> Self {
        Self {
            memory: vec![0; size],
            start: 0,
            rom: Vec::new(),
            big_endian: false,
            stacks: Vec::new(),
            fences: None,
            inside: 0,
            accesses: None,
        }
    }

    /// Observes how far down from `top`, at most `limit` bytes, a stack is written.
    pub fn watch(&mut self, limit: i64, top: usize) {
        self.stacks.push(Watched {
            addresses: top.saturating_sub(limit as usize)..top,
            lowest: top,
        });
    }

    /// Notes that the byte at `to` of a stack is in use.
    #[inline(always)]
    fn reach(&mut self, to: usize) {
        for stack in &mut self.stacks {
            if to < stack.lowest && stack.addresses.contains(&to) {
                stack.lowest = to;
            }
        }
    }

    /// The byte range of a `width`-bit access, when it lies inside memory.
    #[inline(always)]
    fn range(&self, at: Address, width: u32) -> Option<std::ops::Range<usize>> {
        let start = (at.offset as usize).wrapping_sub(self.start);
        let end = start.wrapping_add((width / 8) as usize);
        (at.base == Base::ABSOLUTE && start <= end && end <= self.memory.len())
            .then_some(start..end)
    }

    /// Is an access of `bits` bits within the fences?
    #[inline(always)]
    fn is_allowed(&mut self, at: Address, bits: u32, writes: bool) -> bool {
        let Some(fences) = &self.fences else {
            return true;
        };
        let (from, bytes) = (at.offset as usize, bits as usize / 8);
        let holds = |f: &Fence| {
            let Range { start, end } = f.addresses;
            start <= from && from + bytes <= end && (f.writable || !writes)
        };
        if !fences.get(self.inside).is_some_and(holds) {
            let Some(found) = fences.iter().position(holds) else {
                return false;
            };
            self.inside = found;
        }
        if let Some(accesses) = &mut self.accesses {
            let Fence {
                name, addresses, ..
            } = &fences[self.inside];
            accesses.push(Access {
                name,
                at: from - addresses.start,
                writes,
            });
        }
        true
    }

    /// What an access is that the fences do not allow.
    #[cold]
    fn refusal(&self, at: Address, bits: u32) -> String {
        /// How far beyond an operand an address still counts from it.
        const NEAR: i64 = 256;
        let (from, bytes) = (at.offset, i64::from(bits / 8));
        let start = |f: &Fence| f.addresses.start as i64;
        let holds = |f: &Fence| start(f) <= from && from + bytes <= f.addresses.end as i64;
        let fences = self.fences.iter().flatten();
        let near = fences
            .filter(|f| !f.name.is_empty() && (-NEAR..NEAR).contains(&(from - start(f))))
            .min_by_key(|f| (from - start(f)).abs());
        match near {
            Some(f) if holds(f) => format!("{}[{}], which is only read", f.name, from - start(f)),
            Some(f) => {
                let bytes = f.addresses.len();
                let at = from - start(f);
                format!("{}[{at}], outside its {bytes} bytes", f.name)
            }
            None => format!("data address {from:#x}, outside the operands and the stack"),
        }
    }

    /// Refuses bytes that nobody knows, and in a fenced run variables.
    #[cold]
    fn known_bytes(&self, at: Address, bits: u32) -> Result<(), Fault> {
        let address = u64::try_from(at.offset).unwrap_or(u64::MAX);
        let bytes = (bits / 8) as usize;
        for segment in self.rom.iter().filter(|s| s.overlaps(address, bytes)) {
            if let Some(text) = segment.marks.gap(address, bytes) {
                return Err(Fault::Unsupported(format!("reads {address:#x}: {text}")));
            }
            if segment.writable && self.fences.is_some() {
                return Err(Fault::Load(format!(
                    "the variable at {address:#x}, which is not the same in every run"
                )));
            }
        }
        Ok(())
    }

    /// A word outside `memory`.
    #[cold]
    fn read_only<const W: u32>(&self, at: Address) -> Result<Bits<W>, Fault> {
        self.known_bytes(at, W)?;
        let address = u64::try_from(at.offset).unwrap_or(u64::MAX);
        let bytes = self
            .rom
            .iter()
            .find_map(|s| s.get(address, (W / 8) as usize));
        match bytes.filter(|_| at.base == Base::ABSOLUTE) {
            Some(bytes) => Ok(Bits(number(bytes, self.big_endian))),
            None => Err(Fault::Load(format!("data address {:#x}", at.offset))),
        }
    }
}

impl Domain for Concrete {
    type Word<const W: u32> = Bits<W>;
    type Bit = bool;

    #[inline(always)]
    fn known<const W: u32>(&mut self, value: u64) -> Bits<W> {
        Bits(value & mask(W))
    }

    #[inline(always)]
    fn flag(&mut self, value: bool) -> bool {
        value
    }

    #[inline(always)]
    fn add<const W: u32>(&mut self, a: &Bits<W>, b: &Bits<W>, c: &bool) -> Sum<Self, W> {
        let (a, b) = (a.0, b.0);
        let sum = a + b + u64::from(*c);
        let carries = a ^ b ^ sum;
        Sum {
            word: Bits(sum & mask(W)),
            carry: (sum >> W) & 1 == 1,
            half: (carries >> 4) & 1 == 1,
            overflow: (((a ^ sum) & (b ^ sum)) >> (W - 1)) & 1 == 1,
        }
    }

    #[inline(always)]
    fn sub<const W: u32>(&mut self, a: &Bits<W>, b: &Bits<W>, c: &bool) -> Sum<Self, W> {
        let (a, b) = (a.0, b.0);
        let difference = a.wrapping_sub(b).wrapping_sub(u64::from(*c));
        let borrows = a ^ b ^ difference;
        Sum {
            word: Bits(difference & mask(W)),
            carry: (difference >> W) & 1 == 1,
            half: (borrows >> 4) & 1 == 1,
            overflow: (((a ^ b) & (a ^ difference)) >> (W - 1)) & 1 == 1,
        }
    }

    #[inline(always)]
    fn mul<const W: u32>(&mut self, a: &Bits<W>, b: &Bits<W>, signs: Signs) -> (Bits<W>, Bits<W>) {
        let product = match signs {
            Signs::Unsigned => a.0 * b.0,
            Signs::Signed => sign_extend(a.0, W).wrapping_mul(sign_extend(b.0, W)) as u64,
            Signs::SignedUnsigned => sign_extend(a.0, W).wrapping_mul(b.0 as i64) as u64,
        };
        (Bits(product & mask(W)), Bits(product >> W & mask(W)))
    }

    #[inline(always)]
    fn logic<const W: u32>(&mut self, op: Logic, a: &Bits<W>, b: &Bits<W>) -> Bits<W> {
        Bits(op.apply(a.0, b.0))
    }

    #[inline(always)]
    fn shift_right<const W: u32>(&mut self, a: &Bits<W>, top: &bool) -> (Bits<W>, bool) {
        (Bits(a.0 >> 1 | u64::from(*top) << (W - 1)), a.0 & 1 == 1)
    }

    #[inline(always)]
    fn shift<const W: u32>(&mut self, kind: Shift, a: &Bits<W>, count: u32) -> (Bits<W>, bool) {
        let (word, out) = kind.apply(a.0, count, W);
        (Bits(word), out)
    }

    #[inline(always)]
    fn select<const W: u32>(&mut self, bit: &bool, x: &Bits<W>, y: &Bits<W>) -> Bits<W> {
        if *bit { *x } else { *y }
    }

    #[inline(always)]
    fn slice<const W: u32, const V: u32>(&mut self, a: &Bits<W>, from: u32) -> Bits<V> {
        Bits(a.0 >> from & mask(V))
    }

    #[inline(always)]
    fn extend<const V: u32, const W: u32>(&mut self, a: &Bits<V>, signed: bool) -> Bits<W> {
        let value = if signed {
            sign_extend(a.0, V) as u64
        } else {
            a.0
        };
        Bits(value & mask(W))
    }

    #[inline(always)]
    fn value<const W: u32>(&self, word: &Bits<W>) -> Option<u64> {
        Some(word.0)
    }

    fn origin<const W: u32>(&self, word: &Bits<W>) -> Source {
        format!("{:#x}", word.0).as_str().into()
    }

    #[inline(always)]
    fn is_zero<const W: u32>(&mut self, a: &Bits<W>) -> bool {
        a.0 == 0
    }

    #[inline(always)]
    fn bit<const W: u32>(&mut self, a: &Bits<W>, index: u32) -> bool {
        a.0 >> index & 1 == 1
    }

    #[inline(always)]
    fn with_bit<const W: u32>(&mut self, a: &Bits<W>, index: u32, bit: &bool) -> Bits<W> {
        Bits(a.0 & !(1 << index) | u64::from(*bit) << index)
    }

    fn content(&self) -> Option<&[u8]> {
        Some(&self.memory)
    }

    #[inline(always)]
    fn lowered(&mut self, at: Address) {
        self.reach(at.offset as usize);
    }

    #[inline(always)]
    fn gate(&mut self, op: Logic, x: &bool, y: &bool) -> bool {
        op.apply(u64::from(*x), u64::from(*y)) == 1
    }

    #[inline(always)]
    fn decide(&mut self, bit: &bool) -> Result<bool, Fault> {
        Ok(*bit)
    }

    #[inline(always)]
    fn number<const W: u32>(&mut self, word: &Bits<W>) -> Result<u64, Fault> {
        Ok(word.0)
    }

    #[inline(always)]
    fn address<const W: u32>(&mut self, parts: &[&Bits<W>], offset: i64) -> Result<Address, Fault> {
        let mut value = 0;
        for (i, part) in parts.iter().enumerate() {
            value |= part.0 << (W * i as u32);
        }
        let width = W * parts.len() as u32;
        Ok(Address {
            base: Base::ABSOLUTE,
            offset: (value.wrapping_add(offset as u64) & mask(width)) as i64,
        })
    }

    #[inline(always)]
    fn above_multiple(&self, at: Address, bytes: i64) -> Result<i64, Fault> {
        Ok(at.offset.rem_euclid(bytes))
    }

    #[inline(always)]
    fn load<const W: u32>(&mut self, at: Address) -> Result<Bits<W>, Fault> {
        match self.range(at, W) {
            Some(range) => {
                if !self.is_allowed(at, W, false) {
                    self.known_bytes(at, W)?;
                    return Err(Fault::Load(self.refusal(at, W)));
                }
                let mut value = 0;
                for (i, byte) in self.memory[range].iter().enumerate() {
                    value |= u64::from(*byte) << (8 * i);
                }
                if self.big_endian {
                    value = value.swap_bytes() >> (64 - W);
                }
                Ok(Bits(value))
            }
            None => self.read_only(at),
        }
    }

    #[inline(always)]
    fn store<const W: u32>(&mut self, at: Address, word: &Bits<W>) -> Result<(), Fault> {
        if !self.is_allowed(at, W, true) {
            return Err(Fault::Store(self.refusal(at, W)));
        }
        match self.range(at, W) {
            Some(range) => {
                let value = match self.big_endian {
                    true => word.0.swap_bytes() >> (64 - W),
                    false => word.0,
                };
                let to = at.offset as usize;
                self.reach(to);
                for (i, byte) in self.memory[range].iter_mut().enumerate() {
                    *byte = (value >> (8 * i)) as u8;
                }
                Ok(())
            }
            None => Err(Fault::Store(format!("data address {:#x}", at.offset))),
        }
    }
}
