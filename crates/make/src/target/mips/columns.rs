//! Columns on a MIPS32: products are accumulated in HI and LO.
//!
//! With the wide accumulator the guard bits hold what leaves HI, and SHA shifts the column
//! away: one instruction per product. Without it a register counts the carries out of HI.
//! A product is at most `(2^32 - 1)^2 = 2^64 - 2^33 + 1`, so `(HI, LO) + a*b` leaves 64 bits
//! exactly when HI becomes *smaller*: MFHI and SLTU against the HI before it. At the end
//! of a column HI moves to LO, and the count to HI.
//!
//! A word on its own is added as its product with 1.

use machine::isa::mips::cores::Features;
use machine::isa::mips::instructions::{Feature, Op};

use crate::refusal::LowerError;
use crate::schedule::{Blocks, Column, ColumnBlock};
use crate::target::mips::registers::{Array, Draft, Words, ZERO};

/// The largest product of two words.
const PRODUCT: u128 = 0xffff_ffff * 0xffff_ffff;

/// The accumulator between two instructions.
struct Columns<'a> {
    draft: &'a mut Draft,
    features: Features,
    /// Its largest value; 0 when HI and LO hold nothing yet.
    bound: u128,
    /// What the columns that are left can hold: an accumulator that is larger cannot be.
    cap: u128,
    /// Without guard bits: registers with a copy of HI, and with the carries counted since the last shift.
    high: Option<u8>,
    count: Option<u8>,
}

/// Lowers the blocks of `schedule`.
///
/// # Errors
/// When registers run out.
pub fn lower(
    schedule: &Blocks,
    blocks: &[&ColumnBlock],
    features: Features,
    draft: &mut Draft,
) -> Result<(), LowerError> {
    let mut words = Words::new(schedule);
    for block in blocks {
        draft.note(block.part.to_string());
        let mut columns = Columns {
            draft,
            features,
            bound: 0,
            cap: u128::MAX,
            high: None,
            count: None,
        };
        columns.block(block, &mut words)?;
    }
    Ok(())
}

impl Columns<'_> {
    fn has(&self, feature: Feature) -> bool {
        self.features.has(feature)
    }

    fn block(&mut self, block: &ColumnBlock, words: &mut Words) -> Result<(), LowerError> {
        let mut columns = block.columns.iter().peekable();
        while let Some(column) = columns.next() {
            let left = columns.len() + 1;
            self.cap = if left < 4 {
                (1 << (32 * left)) - 1
            } else {
                u128::MAX
            };
            self.draft.note(format!("column {}", column.index));
            if column.reload {
                self.reload(column.index)?;
            }
            for product in &column.products {
                let (a, b) = words.factors(self.draft, product)?;
                self.accumulate(a, b, PRODUCT)?;
                words.retire(self.draft, product);
            }
            let empty = |c: &&Column| c.products.is_empty() && !c.reload;
            match columns.next_if(|c| left == 2 && empty(c)) {
                Some(last) => {
                    self.store(Op::MFLO, column.index)?;
                    self.store(Op::MFHI, last.index)?;
                }
                None if left == 1 => self.store(Op::MFLO, column.index)?,
                None => {
                    self.store(Op::MFLO, column.index)?;
                    self.shift()?;
                }
            }
        }
        self.forget();
        Ok(())
    }

    /// Stores HI or LO.
    fn store(&mut self, half: Op, index: usize) -> Result<(), LowerError> {
        if self.bound == 0 {
            self.draft.store(index, ZERO);
            return Ok(());
        }
        let r = self.draft.take()?;
        self.draft.three(half, r, 0, 0);
        self.draft.store(index, r);
        self.draft.release(r);
        Ok(())
    }

    /// Adds the product of two registers, at most `most`.
    fn accumulate(&mut self, a: u8, b: u8, most: u128) -> Result<(), LowerError> {
        let bound = (self.bound + most).min(self.cap);
        if self.bound == 0 {
            self.draft.three(Op::MULTU, 0, a, b);
        } else if self.has(Feature::WideAcc) || bound >> 64 == 0 {
            self.draft.three(Op::MADDU, 0, a, b);
            self.drop_high();
        } else {
            let before = self.high()?;
            self.draft.three(Op::MADDU, 0, a, b);
            let after = self.draft.take()?;
            self.draft.three(Op::MFHI, after, 0, 0);
            let carry = self.draft.take()?;
            self.draft.three(Op::SLTU, carry, after, before);
            match self.count {
                None => self.count = Some(carry),
                Some(count) => {
                    self.draft.three(Op::ADDU, count, count, carry);
                    self.draft.release(carry);
                }
            }
            self.draft.release(before);
            self.high = Some(after);
        }
        self.bound = bound;
        Ok(())
    }

    /// Adds the intermediate word `C[index]`.
    fn reload(&mut self, index: usize) -> Result<(), LowerError> {
        let r = self.draft.take()?;
        self.draft.load(Array::R, index, r);
        if self.bound == 0 {
            self.draft.three(Op::MTLO, 0, r, 0);
            self.draft.three(Op::MTHI, 0, ZERO, 0);
            self.bound = 0xffff_ffff;
        } else {
            let one = self.draft.one()?;
            self.accumulate(r, one, 0xffff_ffff)?;
        }
        self.draft.release(r);
        Ok(())
    }

    /// The register with a copy of HI.
    fn high(&mut self) -> Result<u8, LowerError> {
        match self.high {
            Some(r) => Ok(r),
            None => {
                let r = self.draft.take()?;
                self.draft.three(Op::MFHI, r, 0, 0);
                self.high = Some(r);
                Ok(r)
            }
        }
    }

    fn drop_high(&mut self) {
        if let Some(r) = self.high.take() {
            self.draft.release(r);
        }
    }

    fn forget(&mut self) {
        self.drop_high();
        if let Some(r) = self.count.take() {
            self.draft.release(r);
        }
    }

    /// Shifts the stored word away.
    fn shift(&mut self) -> Result<(), LowerError> {
        let old = self.bound;
        self.bound >>= 32;
        if old == 0 {
            return Ok(());
        }
        if self.has(Feature::WideAcc) {
            self.draft.three(Op::SHA, 0, 0, 0);
            return Ok(());
        }
        let high = self.high()?;
        self.draft.three(Op::MTLO, 0, high, 0);
        self.drop_high();
        let count = self.count.take().unwrap_or(ZERO);
        self.draft.three(Op::MTHI, 0, count, 0);
        // HI is the count now.
        self.high = Some(count);
        Ok(())
    }
}
