//! Both ways through a branch: what is kept of a machine, and joined.

use crate::domain::word::Domain;
use crate::isa::cost::Stopped;
use crate::isa::riscv::machine::{Riscv, State};
use crate::isa::riscv::run::{Clock, Decoded, RETURNED};
use crate::isa::ways;
use crate::isa::ways::{Place, Run};

/// A machine in the middle of its code.
pub struct At<'a, 'c, D: Domain> {
    code: &'a Decoded<'c, D>,
    m: &'a mut Riscv<D>,
    /// Address of the next instruction.
    pub pc: usize,
}

impl<'a, 'c, D: Domain> At<'a, 'c, D> {
    pub fn new(code: &'a Decoded<'c, D>, m: &'a mut Riscv<D>, pc: usize) -> Self {
        Self { code, m, pc }
    }
}

impl<D: Domain> Run for At<'_, '_, D> {
    type Domain = D;
    type State = (State<D>, usize);

    fn domain(&mut self) -> &mut D {
        &mut self.m.d
    }

    fn state(&mut self) -> (State<D>, usize) {
        (self.m.state(), self.pc)
    }

    fn resume(&mut self, (state, pc): (State<D>, usize)) {
        self.m.resume(state);
        self.pc = pc;
    }

    fn place(&self) -> Option<Place> {
        Some(match self.pc == RETURNED {
            true => ways::RETURNED,
            false => (self.pc, self.pc),
        })
    }

    fn step(&mut self) -> Result<(), Stopped> {
        let slot = self.code.fetch(self.pc)?;
        let mut clock = Clock::default();
        self.pc = self.code.execute(self.m, slot, self.pc, &mut clock)?;
        Ok(())
    }

    fn numbers(&mut self) -> Option<Vec<u64>> {
        self.m.state().numbers(&self.m.d)
    }

    fn join(&mut self, bit: &D::Bit, (clear, _): (State<D>, usize)) {
        self.m.join(bit, clear);
    }
}
