//! Rows on an AVR: `(d, C[k]) = A[a] * B[b] + C[k] + d`, one product after another.
//!
//! After MUL the product lies in r1:r0. `C[k] + r0` and `+ d` each send a carry to r1, which
//! cannot overflow: `255^2 + 2 * 255 = 2^16 - 1`. What is then in r1 is the next `d`; it is
//! moved out of the way when the next product comes.

use machine::isa::avr::code::Insn;
use machine::isa::avr::instructions::Op;

use crate::schedule::{Row, RowBlock, RowProduct};
use crate::target::avr::columns::OutOfRegisters;
use crate::target::avr::pointers::{Array, Item};

/// Lowers blocks of rows to items.
pub struct Rows {
    pub items: Vec<Item>,
    pub notes: Vec<(usize, String)>,
    free: Vec<u8>,
    zero: u8,
    /// Words of A that stay in registers.
    kept: Vec<Option<u8>>,
    /// Registers for a word of A that does not stay, a word of C, and the word carried along.
    a: Option<u8>,
    c: u8,
    d: u8,
}

impl Rows {
    /// Lowers every row of `blocks`, a schedule of `n` words, with the registers of `order`.
    ///
    /// # Errors
    /// When registers run out.
    pub fn lower(n: usize, blocks: &[&RowBlock], order: &[u8]) -> Result<Self, OutOfRegisters> {
        let mut free: Vec<u8> = order.iter().rev().copied().collect();
        let mut take = || free.pop().ok_or(OutOfRegisters);
        let (zero, c, d) = (take()?, take()?, take()?);
        let mut rows = Self {
            items: Vec::new(),
            notes: Vec::new(),
            free,
            zero,
            kept: vec![None; n],
            a: None,
            c,
            d,
        };
        if n > 1 {
            rows.emit(Op::EOR, zero, zero);
        }
        let all: Vec<&Row> = blocks.iter().flat_map(|b| &b.rows).collect();
        for (i, row) in all.iter().enumerate() {
            rows.row(row, all.get(i + 1).copied())?;
        }
        Ok(rows)
    }

    fn take(&mut self) -> Result<u8, OutOfRegisters> {
        self.free.pop().ok_or(OutOfRegisters)
    }

    fn emit(&mut self, op: Op, d: u8, r: u8) {
        self.items.push(Item::Insn(Insn::rr(op, d, r)));
    }

    fn load(&mut self, array: Array, offset: usize, reg: u8) {
        self.items.push(Item::Load { array, offset, reg });
    }

    fn store(&mut self, offset: usize, reg: u8) {
        self.items.push(Item::Store {
            array: Array::R,
            offset,
            reg,
        });
    }

    /// The register of `A[a]`, loaded if the step says so, and kept if `next` wants it there.
    fn operand(&mut self, step: &RowProduct, next: Option<&Row>) -> Result<u8, OutOfRegisters> {
        if let (Some(r), false) = (self.kept[step.a], step.load_a) {
            return Ok(r);
        }
        let stays = next.is_some_and(|row| row.steps.iter().any(|s| s.a == step.a && !s.load_a));
        let r = match (stays, self.kept[step.a], self.a) {
            (true, Some(r), _) | (false, _, Some(r)) => r,
            _ => self.take()?,
        };
        if stays {
            self.kept[step.a] = Some(r);
        } else {
            self.a = Some(r);
        }
        self.load(Array::A, step.a, r);
        Ok(r)
    }

    fn row(&mut self, row: &Row, next: Option<&Row>) -> Result<(), OutOfRegisters> {
        self.notes
            .push((self.items.len(), format!("row {}", row.b)));
        let b = self.take()?;
        self.load(Array::B, row.b, b);
        for (i, step) in row.steps.iter().enumerate() {
            let index = step.a + row.b;
            let a = self.operand(step, next)?;
            if step.reload {
                self.load(Array::R, index, self.c);
            }
            if i > 0 {
                // The word carried along is still where the product comes.
                self.emit(Op::MOV, self.d, 1);
            }
            self.emit(Op::MUL, a, b);
            // The word that becomes C[index]: C + r0 + d, as far as they are there.
            let sum = match (step.reload, i > 0) {
                (false, false) => 0,
                (false, true) => self.d,
                (true, _) => self.c,
            };
            if sum != 0 {
                self.emit(Op::ADD, sum, 0);
                self.emit(Op::ADC, 1, self.zero);
            }
            if step.reload && i > 0 {
                self.emit(Op::ADD, sum, self.d);
                self.emit(Op::ADC, 1, self.zero);
            }
            self.store(index, sum);
        }
        if let Some(last) = row.steps.last() {
            self.store(last.a + row.b + 1, 1);
        }
        self.free.push(b);
        Ok(())
    }
}
