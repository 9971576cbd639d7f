//! What only the AVR has in a run: skips, instructions that a core lacks, two stack pointers.

use crate::codec::Insn;
use crate::domain::word::Domain;
use crate::fault::Fault;
use crate::isa::avr::code;
use crate::isa::avr::core::Core;
use crate::isa::avr::instructions::{Row, table};
use crate::isa::avr::machine::Avr;
use crate::isa::avr::operands::{Op, Ops};
use crate::isa::avr::past::Past;
use crate::isa::avr::skip::can_be_conditional;
use crate::isa::clock::Timed;
use crate::isa::cost::Stopped;
use crate::isa::machine::{Condition, Guard, Machine, Meaning, Outcome, Slot};
use crate::isa::run;
use crate::isa::runs::counted;
use crate::isa::ways::Position;

/// Code decoded for a domain and a core.
pub type Decoded<'a, D> = run::Decoded<'a, Avr<D>, 8>;

/// An instruction that the core has not.
const REFUSED: &str = "not an instruction of the core";

/// What is to be known of a decoded instruction.
#[derive(Clone, Copy, Default)]
pub struct Fact {
    /// Does it take as long as to be skipped, and can it be executed under a condition?
    conditional: bool,
}

impl<D: Domain> Avr<D> {
    /// Is the instruction behind a skip executed whose bit is not the same in every run?
    #[cold]
    fn skipped(
        &mut self,
        slot: &Slot<Self, 8>,
        condition: Condition<D::Bit>,
    ) -> Result<Guard<D::Bit>, Stopped> {
        if slot.fact.conditional {
            return Ok(Guard::Perhaps(condition));
        }
        // It tells which way it goes, as a branch does. A skip has one word.
        let skip = self.pc - 2;
        self.d.at(skip);
        match self.d.branch(&condition.bit) {
            Ok(known) if known == condition.executes => Ok(Guard::Passes),
            Ok(_) => Ok(Guard::Fails),
            Err(_) => {
                let fault = condition.fault.clone();
                self.condition = Some(condition);
                Err((skip, fault))
            }
        }
    }
}

impl<D: Domain> Machine<8> for Avr<D> {
    type Domain = D;
    type Operands = Ops;
    type Core = Core;
    type Fact = Fact;
    type Control = (usize, Option<Condition<D::Bit>>);
    type Past = Past;

    fn table() -> Vec<Row<D>> {
        table()
    }

    fn decode(core: &Core, bytes: &[u8]) -> Option<Insn<Ops>> {
        code::read(core.is_reduced(), bytes)
    }

    fn fact(core: &Core, insn: &Insn<Ops>) -> Fact {
        let as_long = core.work(insn).cycles == core.left_out(insn.bytes()).cycles;
        Fact {
            conditional: as_long && can_be_conditional(insn.op),
        }
    }

    fn meaning(core: &Core, insn: &Insn<Ops>, usual: Meaning<Self, Ops>) -> Meaning<Self, Ops> {
        match (insn.is_undefined(), core.refusal(insn).is_some()) {
            (true, _) => |_, _| Err(Fault::Unpredictable("its result is undefined".into())),
            (false, true) => |_, _| Err(Fault::Unsupported(REFUSED.into())),
            (false, false) => usual,
        }
    }

    /// Names the instruction that the core has not.
    #[cold]
    fn explain(core: &Core, insn: &Insn<Ops>, fault: Fault) -> Fault {
        match (&fault, core.refusal(insn)) {
            (Fault::Unsupported(text), Some(refusal)) if text == REFUSED => {
                Fault::Unsupported(refusal)
            }
            _ => fault,
        }
    }

    counted!();

    #[inline(always)]
    fn register(&self, i: u8) -> D::Word<8> {
        self.r(i)
    }

    fn words(&mut self) -> Vec<&mut D::Word<8>> {
        let pages = [&mut self.rampz, &mut self.eind];
        self.r.iter_mut().chain(&mut self.sp).chain(pages).collect()
    }

    fn flags(&mut self) -> Vec<&mut D::Bit> {
        self.flags.iter_mut().collect()
    }

    fn control(&self) -> Self::Control {
        (self.pc, self.condition.clone())
    }

    fn set_control(&mut self, control: Self::Control) {
        (self.pc, self.condition) = control;
    }

    fn past(&mut self) -> Option<&mut Past> {
        self.environment.as_mut().map(|e| &mut e.past)
    }

    /// Between a skip and what it may skip nothing is joined.
    fn joins_at(&self) -> Option<Position> {
        self.condition.is_none().then_some((self.pc, 0))
    }

    #[inline(always)]
    fn guard(&mut self, slot: &Slot<Self, 8>) -> Result<Guard<D::Bit>, Stopped> {
        if self.condition.is_some()
            && let Some(condition) = self.condition.take()
        {
            return self.skipped(slot, condition);
        }
        Ok(Guard::Passes)
    }

    fn under(&mut self, slot: &Slot<Self, 8>, condition: &Condition<D::Bit>) -> Outcome {
        let ops = &slot.insn.ops;
        let count = if slot.insn.op == Op::MOVW { 2 } else { 1 };
        self.perhaps(condition, ops.d..ops.d + count, |m| (slot.meaning)(m, ops))
    }

    #[inline(always)]
    fn settle(&mut self, _: &Slot<Self, 8>, returned: bool) -> Result<(), Fault> {
        match (returned, self.environment.is_some()) {
            (true, _) => Ok(()),
            (false, true) => self.keeps_environment(),
            // Whichever instruction it is: registers have addresses, too.
            (false, false) => self.keeps_data_stack(),
        }
    }

    #[inline(always)]
    fn executed(&mut self, pc: usize) {
        self.d
            .after::<8>(pc, |i| self.r[usize::from(i & 31)].clone());
    }
}
