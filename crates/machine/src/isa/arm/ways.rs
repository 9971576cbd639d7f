//! Both ways through a branch: what is kept of a machine, and joined.

use crate::domain::word::Domain;
use crate::isa::arm::machine::{Arm, Flags};
use crate::isa::arm::run::Decoded;
use crate::isa::cost::Stopped;
use crate::isa::ways::{Place, RETURNED, Run};

/// Registers, flags, and where control is.
pub struct State<D: Domain> {
    r: [D::Word<32>; 15],
    flags: Flags<D>,
    status: D::Word<32>,
    /// Where the stack pointer points, if that is followed.
    sp: Option<i64>,
    pc: usize,
    returned: bool,
}

impl<D: Domain> Clone for State<D> {
    fn clone(&self) -> Self {
        Self {
            r: self.r.clone(),
            flags: self.flags.clone(),
            status: self.status.clone(),
            ..*self
        }
    }
}

/// A machine in the middle of its code.
pub struct At<'a, 'c, D: Domain> {
    code: &'a Decoded<'c, D>,
    m: &'a mut Arm<D>,
    pub returned: bool,
}

impl<'a, 'c, D: Domain> At<'a, 'c, D> {
    pub fn new(code: &'a Decoded<'c, D>, m: &'a mut Arm<D>) -> Self {
        Self {
            code,
            m,
            returned: false,
        }
    }
}

impl<D: Domain> Run for At<'_, '_, D> {
    type Domain = D;
    type State = State<D>;

    fn domain(&mut self) -> &mut D {
        &mut self.m.d
    }

    fn state(&self) -> State<D> {
        let m = &self.m;
        State {
            r: m.r.clone(),
            flags: m.flags.clone(),
            status: m.status.clone(),
            sp: m.environment.as_ref().map(|e| e.at),
            pc: m.pc,
            returned: self.returned,
        }
    }

    fn resume(&mut self, state: State<D>) {
        let m = &mut *self.m;
        (m.r, m.flags) = (state.r, state.flags);
        (m.status, m.pc, self.returned) = (state.status, state.pc, state.returned);
        if let (Some(environment), Some(at)) = (&mut m.environment, state.sp) {
            environment.at = at;
        }
    }

    fn place(&self) -> Option<Place> {
        Some(match self.returned {
            true => RETURNED,
            false => (self.m.pc, 0),
        })
    }

    fn step(&mut self) -> Result<(), Stopped> {
        self.returned = self.code.go_on(self.m)?;
        Ok(())
    }

    fn numbers(&mut self) -> Option<Vec<u64>> {
        let m = &mut *self.m;
        let words = m.r.iter().chain([&m.status]);
        let mut list: Vec<_> = words.map(|w| m.d.value(w)).collect::<Option<_>>()?;
        let Flags {
            n,
            z,
            c,
            v,
            undefined,
        } = &m.flags;
        for flag in [n, z, c, v] {
            list.push(m.d.decide(flag).ok()?.into());
        }
        list.extend(undefined.map(u64::from));
        Some(list)
    }

    fn join(&mut self, bit: &D::Bit, clear: State<D>) {
        let m = &mut *self.m;
        m.status = m.d.select(bit, &m.status, &clear.status);
        m.keep_unless(bit, &(clear.r, clear.flags), true);
    }
}
