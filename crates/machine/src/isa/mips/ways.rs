//! Both ways through a branch: what is kept of a machine, and joined.

use crate::domain::word::Domain;
use crate::isa::cost::Stopped;
use crate::isa::mips::machine::{Mips, State};
pub use crate::isa::mips::run::Control;
use crate::isa::mips::run::{Decoded, RETURNED};
use crate::isa::ways;
use crate::isa::ways::{Place, Run};

/// A machine in the middle of its code.
pub struct At<'a, 'c, D: Domain> {
    code: &'a Decoded<'c, D>,
    m: &'a mut Mips<D>,
    pub control: Control,
}

impl<'a, 'c, D: Domain> At<'a, 'c, D> {
    pub fn new(code: &'a Decoded<'c, D>, m: &'a mut Mips<D>, control: Control) -> Self {
        Self { code, m, control }
    }
}

impl<D: Domain> Run for At<'_, '_, D> {
    type Domain = D;
    type State = (State<D>, Control);

    fn domain(&mut self) -> &mut D {
        &mut self.m.d
    }

    fn state(&self) -> (State<D>, Control) {
        (self.m.state(), self.control)
    }

    fn resume(&mut self, (state, control): (State<D>, Control)) {
        self.m.resume(state);
        self.control = control;
    }

    fn place(&self) -> Option<Place> {
        let Control { pc, next, in_slot } = self.control;
        let place = match pc == RETURNED {
            true => ways::RETURNED,
            false => (pc, next),
        };
        // A branch may not stand in a delay slot, whichever way it came there.
        (!in_slot).then_some(place)
    }

    fn step(&mut self) -> Result<(), Stopped> {
        self.control = self.code.go_on(self.m, self.control)?;
        Ok(())
    }

    fn numbers(&mut self) -> Option<Vec<u64>> {
        self.m.state().numbers(&self.m.d)
    }

    fn join(&mut self, bit: &D::Bit, (clear, _): (State<D>, Control)) {
        self.m.join(bit, clear);
    }
}
