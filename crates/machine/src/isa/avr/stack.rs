//! The stack, or the two: that of SP, and that of Y where a calling convention has one for data.

use crate::domain::place::{Address, Base};
use crate::domain::word::Domain;
use crate::fault::{DATA_STACK_LOST, Fault};
use crate::isa::avr::machine::{Avr, Flow, Outcome, Pointer};

impl<D: Domain> Avr<D> {
    fn move_sp(&mut self, up: bool) {
        let (one, zero, off) = (self.byte(1), self.byte(0), self.d.flag(false));
        let (lo, hi) = if up {
            let lo = self.d.add(&self.sp[0], &one, &off);
            let hi = self.d.add(&self.sp[1], &zero, &lo.carry);
            (lo.word, hi.word)
        } else {
            let lo = self.d.sub(&self.sp[0], &one, &off);
            let hi = self.d.sub(&self.sp[1], &zero, &lo.carry);
            (lo.word, hi.word)
        };
        self.sp = [lo, hi];
    }

    /// Where SP points: the stack, and no operand, as an interrupt writes below it.
    fn stack_top(&mut self) -> Result<Address, Fault> {
        let [lo, hi] = self.sp.clone();
        let at = self.d.address(&[&lo, &hi], 0)?;
        match at.base {
            Base::STACK | Base::ABSOLUTE => Ok(at),
            _ => Err(Fault::Store(
                "through a stack pointer that points to an operand".into(),
            )),
        }
    }

    /// Writes a byte of SP: it has moved when the other one is written, too.
    pub fn write_sp(&mut self, part: usize, word: D::Word<8>) {
        self.sp[part & 1] = word;
        self.half_moved = !self.half_moved;
        let [lo, hi] = self.sp.clone();
        if !self.half_moved
            && let Ok(at) = self.d.address(&[&lo, &hi], 1)
        {
            self.d.lowered(at);
        }
    }

    /// SP points below the last byte in use, Y to it.
    #[inline(always)]
    pub fn is_below_stack(&mut self, at: Address) -> Result<bool, Fault> {
        match at.base {
            Base::STACK => Ok(at.offset <= self.stack_top()?.offset),
            Base::DATA_STACK => Ok(at.offset < self.pointer(Pointer::Y, 0)?.offset),
            _ => Ok(false),
        }
    }

    /// Shows that Y, if it is the stack pointer of data, is still that: no higher than at entry.
    pub fn keeps_data_stack(&mut self) -> Result<(), Fault> {
        let Some(entry) = self.data_stack else {
            return Ok(());
        };
        let is_there = |at: Address| at.base == entry.base && at.offset <= entry.offset;
        match self.pointer(Pointer::Y, 0) {
            Ok(at) if is_there(at) => {
                self.d.lowered(at);
                Ok(())
            }
            _ => Err(Fault::Convention(DATA_STACK_LOST)),
        }
    }

    /// Stores at SP, then decrements it.
    pub fn push(&mut self, word: &D::Word<8>) -> Result<(), Fault> {
        let at = self.stack_top()?;
        match at.base {
            Base::STACK => self.d.store(at, word)?,
            _ => self.write(at, word.clone()).map(|_| ())?,
        }
        self.move_sp(false);
        Ok(())
    }

    /// Increments SP, then loads.
    pub fn pop(&mut self) -> Result<D::Word<8>, Fault> {
        self.move_sp(true);
        let at = self.stack_top()?;
        match at.base {
            Base::STACK => self.d.load(at),
            _ => self.read(at),
        }
    }

    /// Pushes the address `words` further on, low byte first.
    pub fn push_pc(&mut self, words: usize) -> Result<(), Fault> {
        let back = self.pc / 2 + words;
        for i in 0..self.pc_bytes {
            let byte = self.byte((back >> (8 * i)) as i32);
            self.push(&byte)?;
        }
        Ok(())
    }

    /// Pops a return address, high byte first.
    pub fn pop_pc(&mut self) -> Outcome {
        let mut parts = Vec::with_capacity(3);
        for _ in 0..self.pc_bytes {
            parts.insert(0, self.pop()?);
        }
        let parts: Vec<_> = parts.iter().collect();
        let at = self.d.address(&parts, 0)?;
        match at.base {
            Base::ABSOLUTE => Ok(Flow::Jump(2 * at.offset as usize)),
            Base::RETURN if at.offset == 0 => Ok(Flow::Return),
            _ => Err(Fault::Return),
        }
    }
}
