//! What only the MSP430 has in a run: operands behind instructions, a multiplier that takes time, interrupts that may use it.
//!
//! Clearing GIE closes the door one instruction later: what must not be interrupted begins with the second one behind DINT
//! at the soonest (SLAU144, section 3.4.6.18). So an interrupt may still come behind the first.

use crate::codec::{Insn, Places};
use crate::domain::word::Domain;
use crate::fault::Fault;
use crate::isa::cost::Stopped;
use crate::isa::environment::settle;
use crate::isa::machine::{Guard, Machine, Slot};
use crate::isa::msp430::code;
use crate::isa::msp430::cores::Core;
use crate::isa::msp430::instructions::{Row, table};
use crate::isa::msp430::machine::{GIE, Msp430};
use crate::isa::msp430::multiplier::{Irq, Mode};
use crate::isa::msp430::operands::{Ops, SP};
use crate::isa::run;
use crate::isa::runs::counted;
use crate::isa::ways::Position;

/// Code decoded for a domain and a core.
pub type Decoded<'a, D> = run::Decoded<'a, Msp430<D>, 16>;

const SPLIT: &str = "an interrupt may come between OP2L and OP2H, which saving and restoring does not survive (MPY1)";

/// Where control is, and what is on its way.
#[derive(Clone)]
pub struct Control {
    pc: usize,
    mode: Option<Mode>,
    late: [u8; 5],
    masked: u8,
}

impl<D: Domain> Msp430<D> {
    /// An interrupt may come now, unless GIE was 0 behind the last two instructions, too.
    fn may_be_interrupted(&mut self) -> Result<(), Fault> {
        const CLOSED: u8 = 3;
        self.masked = match self.d.decide(&self.flags[GIE]) {
            Ok(false) => CLOSED.min(self.masked + 1),
            Ok(true) | Err(_) => 0,
        };
        // From DINT until SR is written.
        let cycles = u64::from(self.unit.cycles);
        let [now, most] = &mut self.kept_out;
        *now = now.map(|before| before + cycles);
        match self.masked {
            0 => *most = (*most).max(now.take()),
            _ => *now = now.or(Some(0)),
        }
        let closed = self.masked == CLOSED;
        match self.irq {
            Irq::MaskAll | Irq::MaskPerColumn if !closed => self.unit.lose(),
            Irq::SaveRestore if !closed && self.unit.mode.is_some_and(|mode| mode.half) => {
                return Err(Fault::Convention(SPLIT));
            }
            Irq::None | Irq::MaskAll | Irq::MaskPerColumn | Irq::SaveRestore => {}
        }
        Ok(())
    }
}

impl<D: Domain> Machine<16> for Msp430<D> {
    type Domain = D;
    type Operands = Ops;
    type Core = Core;
    /// What it reads and writes.
    type Fact = [Places; 2];
    type Control = Control;
    type Past = i64;

    fn table() -> Vec<Row<D>> {
        table()
    }

    fn decode(core: &Core, bytes: &[u8]) -> Option<Insn<Ops>> {
        code::Insn::decode(bytes, core.features)
    }

    fn fact(_: &Core, insn: &Insn<Ops>) -> [Places; 2] {
        [insn.reads(), insn.writes()]
    }

    counted!();

    #[inline(always)]
    fn register(&self, i: u8) -> D::Word<16> {
        self.r(i)
    }

    fn words(&mut self) -> Vec<&mut D::Word<16>> {
        let words = self.r.iter_mut().chain(&mut self.unit.words);
        words.chain(&mut self.high).collect()
    }

    fn flags(&mut self) -> Vec<&mut D::Bit> {
        self.flags.iter_mut().collect()
    }

    fn doubts(&mut self) -> Vec<&mut bool> {
        let unit = &mut self.unit;
        let words = unit.unsaid.iter_mut().chain(&mut unit.stale);
        [&mut self.v_lost, &mut unit.lost]
            .into_iter()
            .chain(words)
            .collect()
    }

    fn control(&self) -> Control {
        Control {
            pc: self.pc,
            mode: self.unit.mode,
            late: self.unit.late,
            masked: self.masked,
        }
    }

    fn set_control(&mut self, control: Control) {
        (self.pc, self.masked) = (control.pc, control.masked);
        (self.unit.mode, self.unit.late) = (control.mode, control.late);
    }

    fn past(&mut self) -> Option<&mut i64> {
        self.environment.as_mut().map(|e| &mut e.at)
    }

    fn kept_out(&self) -> Option<u64> {
        let [now, most] = self.kept_out;
        most.max(now)
    }

    /// Ways meet only where the multiplier goes on alike.
    fn joins_at(&self) -> Option<Position> {
        let unit = self.unit.position() << 2 | usize::from(self.masked);
        Some((self.pc, unit))
    }

    #[inline(always)]
    fn guard(&mut self, slot: &Slot<Self, 16>) -> Result<Guard<D::Bit>, Stopped> {
        self.next = self.pc + slot.insn.form().bytes;
        self.unit.cycles = slot.work.cycles;
        Ok(Guard::Passes)
    }

    #[inline(always)]
    fn settle(&mut self, slot: &Slot<Self, 16>, returned: bool) -> Result<(), Fault> {
        self.unit.pass();
        self.may_be_interrupted()?;
        if let Some((entry, keeps)) = self.interrupts.clone() {
            keeps(self, &entry)?;
        }
        let [_, writes] = slot.fact;
        match returned {
            true => Ok(()),
            false => settle(self, writes >> SP & 1 == 1, slot.fact),
        }
    }

    #[inline(always)]
    fn executed(&mut self, pc: usize) {
        self.d
            .after::<16>(pc, |i| self.r[usize::from(i & 15)].clone());
    }
}
