//! What only the ARM has in a run: conditional instructions, and its stack pointer.

use crate::codec::{Insn, Operands};
use crate::domain::word::Domain;
use crate::fault::Fault;
use crate::isa::arm::code::Form;
use crate::isa::arm::cores::Core;
use crate::isa::arm::instructions::{Row, Timing, table};
use crate::isa::arm::machine::{Arm, SP};
use crate::isa::arm::operands::{ALWAYS, Ops};
use crate::isa::cost::Stopped;
use crate::isa::environment::settle;
use crate::isa::machine::{Condition, Guard, Machine, Outcome, Slot};
use crate::isa::run;
use crate::isa::runs::counted;

/// Code decoded for a domain and a core.
pub type Decoded<'a, D> = run::Decoded<'a, Arm<D>, 32>;

/// What is to be known of a decoded instruction.
#[derive(Clone, Copy, Default)]
pub struct Fact {
    /// May its condition be one that is not the same in every run?
    selects: bool,
    sets_flags: bool,
    /// May it move the stack pointer?
    moves_stack: bool,
}

impl<D: Domain> Machine<32> for Arm<D> {
    type Domain = D;
    type Operands = Ops;
    type Core = Core;
    type Fact = Fact;
    type Control = usize;
    type Past = i64;

    fn table() -> Vec<Row<D>> {
        table()
    }

    fn decode(core: &Core, bytes: &[u8]) -> Option<Insn<Ops>> {
        let has = |form: &Form| core.version.has(form);
        Ops::codec().decode(bytes, false, has)
    }

    fn fact(_: &Core, insn: &Insn<Ops>) -> Fact {
        let form = insn.form();
        let computes = matches!(form.timing, Timing::Alu | Timing::Multiply(..));
        Fact {
            selects: computes && !insn.writes_pc(),
            sets_flags: insn.ops.s || !form.has('S'),
            moves_stack: insn.registers() >> SP & 1 == 1,
        }
    }

    counted!();

    /// Nobody asks for the program counter.
    #[inline(always)]
    fn register(&self, i: u8) -> D::Word<32> {
        let last = self.r.len() - 1;
        self.r[usize::from(i).min(last)].clone()
    }

    fn words(&mut self) -> Vec<&mut D::Word<32>> {
        self.r.iter_mut().chain([&mut self.status]).collect()
    }

    fn flags(&mut self) -> Vec<&mut D::Bit> {
        let flags = &mut self.flags;
        vec![&mut flags.n, &mut flags.z, &mut flags.c, &mut flags.v]
    }

    fn doubts(&mut self) -> Vec<&mut bool> {
        self.flags.undefined.iter_mut().collect()
    }

    fn control(&self) -> usize {
        self.pc
    }

    fn set_control(&mut self, control: usize) {
        self.pc = control;
    }

    fn past(&mut self) -> Option<&mut i64> {
        self.environment.as_mut().map(|e| &mut e.at)
    }

    #[inline(always)]
    fn guard(&mut self, slot: &Slot<Self, 32>) -> Result<Guard<D::Bit>, Stopped> {
        if slot.insn.ops.cond == ALWAYS {
            return Ok(Guard::Passes);
        }
        let pc = self.pc;
        let bit = self
            .condition(slot.insn.ops.cond)
            .map_err(|fault| (pc, fault))?;
        let holds = match slot.fact.selects {
            true => self.d.decide(&bit),
            false => self.d.branch(&bit),
        };
        match holds {
            Ok(true) => Ok(Guard::Passes),
            Ok(false) => Ok(Guard::Fails),
            Err(fault) if slot.fact.selects => Ok(Guard::Perhaps(Condition {
                bit,
                executes: true,
                fault,
            })),
            Err(fault) => Err((pc, fault)),
        }
    }

    fn under(&mut self, slot: &Slot<Self, 32>, condition: &Condition<D::Bit>) -> Outcome {
        let old = (self.r.clone(), self.flags.clone());
        let flow = (slot.meaning)(self, &slot.insn.ops)?;
        self.keep_unless(&condition.bit, &old, slot.fact.sets_flags);
        Ok(flow)
    }

    #[inline(always)]
    fn settle(&mut self, slot: &Slot<Self, 32>, returned: bool) -> Result<(), Fault> {
        match returned {
            true => Ok(()),
            false => settle(self, slot.fact.moves_stack, [0; 2]),
        }
    }

    #[inline(always)]
    fn executed(&mut self, pc: usize) {
        let last = self.r.len() - 1;
        self.d
            .after::<32>(pc, |i| self.r[usize::from(i).min(last)].clone());
    }
}
