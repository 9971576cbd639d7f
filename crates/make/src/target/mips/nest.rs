//! Products that add up in HI and LO, in loops: gk2003, section 4.3.

use machine::isa::mips::code::Insn;
use machine::isa::mips::cores::Core;
use machine::isa::mips::instructions::{Feature, Op};

use crate::engine::nest;
pub(super) use crate::engine::nest::{Home, Pointer};
use crate::engine::sweep::{Sweep, Take};
use crate::refusal::LowerError;
use crate::schedule::Scans;
use crate::target::mips::flow::Flow;
use crate::target::mips::registers::ZERO;
use crate::target::mips::sweeps;

/// Two nested loops on a MIPS32.
pub(super) type Nest<'a> = nest::Nest<'a, Flow, Guard>;

/// The accumulator beyond HI and LO.
#[derive(Clone, Copy)]
pub struct Guard {
    /// Guard bits in HI: there are no registers for them.
    pub wide: bool,
    /// Else a copy of HI, a register for the next one, and the carries counted since the last shift.
    pub high: u8,
    pub spare: u8,
    pub count: u8,
    /// Does it hold nothing?
    pub empty: bool,
    /// MADDL and MADDH add pairs of words.
    pub paired: bool,
    /// LWI moves its pointer.
    pub auto: bool,
}

/// Does the core add pairs of words?
fn is_paired(core: &Core) -> bool {
    core.features.has(Feature::MaddHl)
}

impl Nest<'_> {
    pub(super) fn three(&mut self, op: Op, d: u8, s: u8, t: u8) {
        self.flow.place(Insn::three(op, d, s, t));
    }

    pub(super) fn immediate(&mut self, op: Op, t: u8, s: u8, k: i32) {
        self.flow.place(Insn::immediate(op, t, s, k));
    }
}

impl Sweep for Flow {
    type Sum = Guard;

    fn wants_one(scans: &Scans, core: &Core) -> bool {
        scans.addend.is_some() || scans.rows && !is_paired(core)
    }

    fn sum(scans: &Scans, core: &Core, take: Take<'_>) -> Result<Guard, LowerError> {
        let sweep = scans.sweep();
        let wide = sweep.is_some_and(|s| sweeps::is_wide(s, core.features));
        let counts = !wide && !scans.rows;
        Ok(Guard {
            wide,
            high: take(counts)?,
            spare: take(counts)?,
            count: take(counts)?,
            empty: true,
            paired: is_paired(core),
            auto: core.features.has(Feature::AutoInc),
        })
    }

    fn begin(nest: &mut Nest<'_>) {
        if nest.named.one != ZERO {
            nest.immediate(Op::ADDIU, nest.named.one, ZERO, 1);
        }
    }

    fn product(nest: &mut Nest<'_>, x: u8, y: u8) -> Result<(), LowerError> {
        let Guard {
            wide,
            high,
            spare,
            count,
            empty,
            ..
        } = nest.sum;
        nest.sum.empty = false;
        if empty {
            nest.three(Op::MULTU, 0, x, y);
            if !wide {
                nest.three(Op::MFHI, high, 0, 0);
                nest.three(Op::ADDU, count, ZERO, ZERO);
            }
            return Ok(());
        }
        nest.three(Op::MADDU, 0, x, y);
        if !wide {
            // It leaves 64 bits exactly when HI becomes smaller.
            let carry = nest.take()?;
            nest.three(Op::MFHI, spare, 0, 0);
            nest.three(Op::SLTU, carry, spare, high);
            nest.three(Op::ADDU, count, count, carry);
            nest.release(carry);
            (nest.sum.high, nest.sum.spare) = (spare, high);
        }
        Ok(())
    }

    fn twice(nest: &mut Nest<'_>, x: u8, y: u8) -> Result<(), LowerError> {
        if nest.sum.wide && !nest.sum.empty {
            nest.three(Op::M2ADDU, 0, x, y);
            return Ok(());
        }
        Self::product(nest, x, y)?;
        Self::product(nest, x, y)
    }

    fn add_word(nest: &mut Nest<'_>, word: u8) -> Result<(), LowerError> {
        Self::product(nest, word, nest.named.one)
    }

    fn shift(nest: &mut Nest<'_>) {
        let Guard {
            wide, high, count, ..
        } = nest.sum;
        if wide {
            nest.three(Op::SHA, 0, 0, 0);
        } else {
            nest.three(Op::MTLO, 0, high, 0);
            nest.three(Op::MTHI, 0, count, 0);
            nest.three(Op::ADDU, high, count, ZERO);
            nest.three(Op::ADDU, count, ZERO, ZERO);
        }
    }

    fn low(nest: &mut Nest<'_>, read: impl FnOnce(&mut Nest<'_>, u8)) -> Result<(), LowerError> {
        let low = nest.take()?;
        nest.three(Op::MFLO, low, 0, 0);
        read(nest, low);
        nest.release(low);
        Ok(())
    }

    fn top_word(nest: &mut Nest<'_>) -> Result<u8, LowerError> {
        let top = nest.take()?;
        nest.three(Op::MFHI, top, 0, 0);
        Ok(top)
    }

    fn quotient(nest: &mut Nest<'_>) -> Result<u8, LowerError> {
        let (q, inverse) = (nest.take()?, nest.named.inverse);
        if nest.scans.is_inverse_one() {
            nest.three(Op::MFLO, q, 0, 0);
        } else if nest.sum.wide {
            nest.three(Op::MFLO, q, 0, 0);
            nest.three(Op::MUL, q, q, inverse);
        } else {
            let (low, high) = (nest.take()?, nest.sum.high);
            nest.three(Op::MFLO, low, 0, 0);
            nest.three(Op::MULTU, 0, low, inverse);
            nest.three(Op::MFLO, q, 0, 0);
            nest.three(Op::MTLO, 0, low, 0);
            nest.three(Op::MTHI, 0, high, 0);
            nest.release(low);
        }
        Ok(q)
    }

    fn place(nest: &Nest<'_>) -> u8 {
        nest.sum.high
    }

    fn back(nest: &mut Nest<'_>, place: u8) {
        if nest.sum.high != place {
            nest.three(Op::ADDU, place, nest.sum.high, ZERO);
            (nest.sum.high, nest.sum.spare) = (place, nest.sum.high);
        }
    }

    fn load_and_step(
        nest: &mut Nest<'_>,
        pointer: &mut Pointer,
        home: Home,
        index: usize,
        step: i32,
    ) -> Result<u8, LowerError> {
        if !nest.sum.auto || pointer.at != home.place(index) {
            return nest.load(*pointer, home, index);
        }
        let r = nest.take()?;
        nest.immediate(Op::LWI, r, pointer.r, step);
        pointer.at += 4 * step;
        nest.pointers.insert(pointer.r, *pointer);
        Ok(r)
    }

    fn low_product(nest: &mut Nest<'_>, d: u8, [x, y]: [u8; 2]) {
        nest.three(Op::MUL, d, x, y);
    }

    /// The first one is even, the other its successor.
    fn take_pair(nest: &mut Nest<'_>) -> Result<[u8; 2], LowerError> {
        let even = |r: &&u8| r.is_multiple_of(2) && nest.free.contains(&(**r + 1));
        let first = nest.free.iter().find(even).copied();
        let pair = first.map(|r| [r, r + 1]).ok_or(LowerError::Registers)?;
        nest.free.retain(|r| !pair.contains(r));
        Ok(pair)
    }

    fn loads_early(nest: &Nest<'_>) -> bool {
        nest.sum.paired
    }

    /// MADDL and MADDH, or HI and LO that begin as `(0, t)`, to which `x y` and `u 1` are added.
    fn multiply_add(
        nest: &mut Nest<'_>,
        [high, low]: [u8; 2],
        [x, y]: [u8; 2],
        [t, u]: [u8; 2],
    ) -> Result<(), LowerError> {
        if nest.sum.paired {
            nest.flow.place(Insn::row(Op::MADDL, low, x, y, t));
            nest.flow.place(Insn::row(Op::MADDH, high, x, y, t));
            return Ok(());
        }
        nest.three(Op::MTHI, 0, ZERO, 0);
        nest.three(Op::MTLO, 0, t, 0);
        nest.three(Op::MADDU, 0, x, y);
        nest.three(Op::MADDU, 0, u, nest.named.one);
        nest.three(Op::MFLO, low, 0, 0);
        nest.three(Op::MFHI, high, 0, 0);
        Ok(())
    }

    fn carry(nest: &mut Nest<'_>, [x, y]: [u8; 2], [t, high]: [u8; 2]) -> Result<(), LowerError> {
        if nest.sum.paired {
            nest.three(Op::ADDU, high, ZERO, ZERO);
            nest.flow.place(Insn::row(Op::MADDH, high, x, y, t));
            return Ok(());
        }
        nest.three(Op::MTLO, 0, t, 0);
        nest.three(Op::MTHI, 0, ZERO, 0);
        nest.three(Op::MADDU, 0, x, y);
        nest.three(Op::MFHI, high, 0, 0);
        Ok(())
    }
}
