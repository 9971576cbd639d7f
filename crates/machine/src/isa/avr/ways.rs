//! Both ways through a branch: what is kept of a machine, and joined.

use crate::domain::word::Domain;
use crate::isa::avr::machine::Avr;
use crate::isa::avr::past::{Condition, Past};
use crate::isa::avr::run::Decoded;
use crate::isa::cost::Stopped;
use crate::isa::ways::{Place, RETURNED, Run};

/// Registers, flags, and where control is.
pub struct State<D: Domain> {
    r: [D::Word<8>; 32],
    flags: [D::Bit; 8],
    sp: [D::Word<8>; 2],
    pages: [D::Word<8>; 2],
    condition: Option<Condition<D>>,
    past: Option<Past>,
    pc: usize,
    returned: bool,
}

impl<D: Domain> Clone for State<D> {
    fn clone(&self) -> Self {
        Self {
            r: self.r.clone(),
            flags: self.flags.clone(),
            sp: self.sp.clone(),
            pages: self.pages.clone(),
            condition: self.condition.clone(),
            ..*self
        }
    }
}

/// A machine in the middle of its code.
pub struct At<'a, D: Domain> {
    code: &'a Decoded<D>,
    m: &'a mut Avr<D>,
    pub returned: bool,
}

impl<'a, D: Domain> At<'a, D> {
    pub fn new(code: &'a Decoded<D>, m: &'a mut Avr<D>) -> Self {
        Self {
            code,
            m,
            returned: false,
        }
    }
}

impl<D: Domain> Run for At<'_, D> {
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
            sp: m.sp.clone(),
            pages: m.pages(),
            condition: m.condition.clone(),
            past: m.environment.as_ref().map(|e| e.past),
            pc: m.pc,
            returned: self.returned,
        }
    }

    fn resume(&mut self, state: State<D>) {
        let m = &mut *self.m;
        (m.r, m.flags, m.sp) = (state.r, state.flags, state.sp);
        m.set_pages(state.pages);
        (m.condition, m.pc) = (state.condition, state.pc);
        self.returned = state.returned;
        if let (Some(environment), Some(past)) = (&mut m.environment, state.past) {
            environment.past = past;
        }
    }

    fn place(&self) -> Option<Place> {
        let place = match self.returned {
            true => RETURNED,
            false => (self.m.pc, 0),
        };
        // Between a skip and what it may skip nothing is joined.
        self.m.condition.is_none().then_some(place)
    }

    fn step(&mut self) -> Result<(), Stopped> {
        self.returned = self.code.go_on(self.m)?;
        Ok(())
    }

    fn numbers(&mut self) -> Option<Vec<u64>> {
        let m = &mut *self.m;
        let pages = m.pages();
        let words = m.r.iter().chain(&m.sp).chain(&pages);
        let mut list: Vec<_> = words.map(|w| m.d.value(w)).collect::<Option<_>>()?;
        for flag in &m.flags {
            list.push(m.d.decide(flag).ok()?.into());
        }
        Some(list)
    }

    fn join(&mut self, bit: &D::Bit, clear: State<D>) {
        let m = &mut *self.m;
        // Carries first, as where instructions are skipped.
        for (flag, clear) in m.flags.iter_mut().zip(&clear.flags) {
            *flag = m.d.select_bit(bit, flag, clear);
        }
        let mut pages = m.pages();
        let words = m.r.iter_mut().chain(&mut m.sp).chain(&mut pages);
        for (word, clear) in words.zip(clear.r.iter().chain(&clear.sp).chain(&clear.pages)) {
            *word = m.d.select(bit, word, clear);
        }
        m.set_pages(pages);
        if let (Some(environment), Some(clear)) = (&mut m.environment, clear.past) {
            environment.past = environment.past.join(clear);
        }
    }
}
