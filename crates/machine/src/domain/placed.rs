//! Words that depend on where the caller placed the operands: only their low bits are known.
//!
//! Compilers look at the lowest bits of a pointer before they store in larger units, as
//! `-p AND 3` or `p / 4 AND 1`. Operands lie at multiples of an alignment, so these bits are the
//! same in every run, though the word is not.

use crate::domain::abstract_memory::AbstractMemory;
use crate::domain::ids::Map;
use crate::domain::place::{Address, Base};
use crate::domain::public::Public;
use crate::domain::word::{Logic, Shift};

/// The low bits of a word that are the same in every run: how many, and what they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LowBits {
    pub(crate) count: u32,
    pub(crate) bits: u64,
}

impl LowBits {
    fn new(count: u32, bits: u64) -> Option<Self> {
        let count = count.min(32);
        (count > 0).then_some(Self {
            count,
            bits: bits & ((1 << count) - 1),
        })
    }

    /// How many, and what they are.
    pub fn told(self) -> (u32, u64) {
        (self.count, self.bits)
    }

    /// Those of a number, or of a pointer to an operand.
    pub fn of<V: Copy>(word: Public, memory: &AbstractMemory<V>) -> Option<Self> {
        match word {
            Public::Known(k) => Self::new(32, k),
            Public::Pointer {
                base,
                offset,
                part: 0,
            }
            | Public::Negated { base, offset }
                if base != Base::ABSOLUTE =>
            {
                let align = memory.align_of(Address { base, offset });
                Self::new(align.trailing_zeros(), offset as u64)
            }
            Public::Pointer { .. } | Public::Negated { .. } => None,
        }
    }

    /// Of `a + b + c`, or of `a - b - c`.
    pub fn sum(up: bool, a: Self, b: Self, c: bool) -> Option<Self> {
        let (b_bits, c) = (b.bits, u64::from(c));
        let bits = match up {
            true => a.bits.wrapping_add(b_bits).wrapping_add(c),
            false => a.bits.wrapping_sub(b_bits).wrapping_sub(c),
        };
        Self::new(a.count.min(b.count), bits)
    }

    /// Of the word shifted by `count`.
    pub fn shifted(self, kind: Shift, count: u32) -> Option<Self> {
        match kind {
            Shift::Left => Self::new(self.count + count, self.bits << count),
            Shift::Right | Shift::ArithmeticRight | Shift::RotateRight => {
                Self::new(self.count.saturating_sub(count), self.bits >> count)
            }
        }
    }

    /// The number `a AND b`, if one of the two has no other bits than known ones.
    pub fn masked(op: Logic, a: Self, b: Self) -> Option<u64> {
        let bits = a.bits & b.bits;
        let known = |mask: Self, other: Self| mask.count == 32 && mask.bits >> other.count == 0;
        (op == Logic::And && (known(a, b) || known(b, a))).then_some(bits)
    }
}

/// The low bits of the words of a domain, by their numbers.
pub type Placed = Map<u32, LowBits>;
