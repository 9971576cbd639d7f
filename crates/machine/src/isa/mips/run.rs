//! What only the MIPS has in a run: delay slots, and code whose address is not known yet.

use crate::codec::{Insn, Operands, Places};
use crate::domain::word::Domain;
use crate::fault::Fault;
use crate::isa::cost::Stopped;
use crate::isa::environment::settle;
use crate::isa::machine::{Flow, Guard, Machine, Slot};
use crate::isa::mips::cores::Core;
use crate::isa::mips::instructions::{Op, Row, Timing, table};
use crate::isa::mips::machine::Mips;
use crate::isa::mips::operands::Ops;
use crate::isa::mips::registers::SP;
use crate::isa::run;
use crate::isa::runs::counted;
use crate::isa::ways::Position;
use crate::isa::words::Words;
use crate::segment::{Addresses, Marks};

/// Code decoded for a domain and a core.
pub type Decoded<'a, D> = run::Decoded<'a, Mips<D>, 32>;

/// Where the instruction after a return would be: no code is there.
const RETURNED: usize = usize::MAX - 7;

/// What is to be known of a decoded instruction.
#[derive(Clone, Copy, Default)]
pub struct Fact {
    reads: Places,
    writes: Places,
    /// Has it a delay slot?
    branches: bool,
}

impl<D: Domain> Machine<32> for Mips<D> {
    type Domain = D;
    type Operands = Ops;
    type Core = Core;
    type Fact = Fact;
    type Control = (usize, Option<usize>);
    type Past = i64;

    fn table() -> Vec<Row<D>> {
        table()
    }

    fn decode(core: &Core, bytes: &[u8]) -> Option<Insn<Ops>> {
        let has = |feature| core.features.has(feature);
        Ops::codec().decode(bytes, core.big_endian, |form| has(form.feature))
    }

    fn fact(_: &Core, insn: &Insn<Ops>) -> Fact {
        Fact {
            reads: insn.reads(),
            writes: insn.writes(),
            branches: matches!(insn.form().timing, Timing::Branch | Timing::Jump),
        }
    }

    fn placed(slot: &mut Slot<Self, 32>, marks: &Marks, address: u64) {
        let located = marks.addresses(address, 4) == Addresses::Whole;
        match slot.insn.op {
            // The upper half of an address that a linker decides.
            Op::LUI if located => {
                slot.meaning = |m, o| {
                    let k = m.word(o.k << 16);
                    m.set(o.t, k)?;
                    m.locate(o.t)
                };
            }
            Op::J | Op::JAL if !located => {
                slot.meaning = |_, _| {
                    let text = "a jump to a number, in code that has no address yet";
                    Err(Fault::Unsupported(text.into()))
                };
            }
            _ => {}
        }
    }

    counted!();

    #[inline(always)]
    fn register(&self, i: u8) -> D::Word<32> {
        self.r(i)
    }

    fn words(&mut self) -> Vec<&mut D::Word<32>> {
        let accumulator = [&mut self.hi, &mut self.lo, &mut self.guard];
        self.r.iter_mut().chain(accumulator).collect()
    }

    fn doubts(&mut self) -> Vec<&mut bool> {
        vec![&mut self.lo_lost, &mut self.hi_lost, &mut self.unread]
    }

    fn control(&self) -> Self::Control {
        (self.pc, self.behind)
    }

    fn set_control(&mut self, control: Self::Control) {
        (self.pc, self.behind) = control;
    }

    fn past(&mut self) -> Option<&mut i64> {
        self.environment.as_mut().map(|e| &mut e.at)
    }

    /// A branch may not stand in a delay slot, whichever way it came there.
    fn joins_at(&self) -> Option<Position> {
        self.behind.is_none().then_some((self.pc, 0))
    }

    #[inline(always)]
    fn guard(&mut self, slot: &Slot<Self, 32>) -> Result<Guard<D::Bit>, Stopped> {
        if slot.fact.branches && self.behind.is_some() {
            let text = "a branch in the delay slot of another";
            return Err((self.pc, Fault::Unpredictable(text.into())));
        }
        Ok(Guard::Passes)
    }

    #[inline(always)]
    fn advance(&mut self, slot: &Slot<Self, 32>, flow: Flow, skipped: usize) -> bool {
        let next = self.behind.take().unwrap_or(self.pc + 4);
        (self.pc, self.behind) = match flow {
            Flow::Next => (next, slot.fact.branches.then_some(next + 4)),
            Flow::Jump(target) => (next, Some(target)),
            Flow::Return => (next, Some(RETURNED)),
            // Of a "likely" branch that is not taken.
            Flow::Skip => (next + skipped, None),
        };
        self.pc == RETURNED
    }

    #[inline(always)]
    fn settle(&mut self, slot: &Slot<Self, 32>, _: bool) -> Result<(), Fault> {
        let Fact { reads, writes, .. } = slot.fact;
        settle(self, writes >> SP & 1 == 1, [reads, writes])
    }

    #[inline(always)]
    fn executed(&mut self, pc: usize) {
        self.d
            .after::<32>(pc, |i| self.r[usize::from(i & 31)].clone());
    }
}
