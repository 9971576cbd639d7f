//! What a machine says so that its code can be run ([`Machine`]): a table with meanings, and hooks for what is its own.
//!
//! The run itself (limits, accounts, both ways of a branch, marks) is in [`crate::isa::run`], once for all machines.

use crate::codec::{Insn, Operands, Row};
use crate::domain::word::Domain;
use crate::fault::Fault;
use crate::isa::clock::{Kind, Timed, WorkOf};
use crate::isa::cost::Stopped;
use crate::isa::ways::Position;
use crate::segment::Marks;

/// Where control goes next. Targets are byte addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    Next,
    /// To the target; on a machine with delay slots after the next instruction.
    Jump(usize),
    /// The next instruction is skipped.
    Skip,
    /// To the caller; on a machine with delay slots after the next instruction.
    Return,
}

/// What an instruction's meaning returns.
pub type Outcome = Result<Flow, Fault>;

/// What an instruction does to the machine `M` with its operands.
pub type Meaning<M, O> = fn(&mut M, &O) -> Outcome;

/// Is an instruction executed?
pub enum Guard<B> {
    Passes,
    Fails,
    /// That is not the same in every run.
    Perhaps(Condition<B>),
}

/// A condition whose outcome is not the same in every run.
#[derive(Clone, Debug)]
pub struct Condition<B> {
    pub bit: B,
    /// The value of the bit with which the instruction is executed.
    pub executes: bool,
    /// What to say where it cannot be executed under a condition.
    pub fault: Fault,
}

/// A register's word of the machine `M`.
pub type WordOf<M, const W: u32> = <<M as Machine<W>>::Domain as Domain>::Word<W>;
/// A flag of it.
pub type BitOf<M, const W: u32> = <<M as Machine<W>>::Domain as Domain>::Bit;
/// What a row says of it.
pub type RowOf<M, const W: u32> =
    Row<<M as Machine<W>>::Operands, Meaning<M, <M as Machine<W>>::Operands>>;
/// What an instruction takes on a core of it.
pub type TimeOf<M, const W: u32> = WorkOf<<M as Machine<W>>::Core, <M as Machine<W>>::Operands>;

/// A machine with registers of `W` bits, over a domain.
///
/// `inline(always)` on the small hooks matters: the run is compiled for each machine and domain.
pub trait Machine<const W: u32>: Sized {
    type Domain: Domain;
    type Operands: Operands;
    type Core: Timed<Self::Operands>;
    /// What is to be known of a decoded instruction beside its row.
    type Fact: Copy + Default;
    /// Where control is, and what it waits for.
    type Control: Clone;
    /// What is remembered of the instructions before, to judge the next one.
    type Past: Past;

    // Code

    /// The rows, with meanings.
    fn table() -> Vec<RowOf<Self, W>>;
    /// The instruction at the start of `bytes`; an instruction that the core has not may be one, too.
    fn decode(core: &Self::Core, bytes: &[u8]) -> Option<Insn<Self::Operands>>;
    /// What is to be known of an instruction on a core.
    fn fact(core: &Self::Core, insn: &Insn<Self::Operands>) -> Self::Fact;
    /// What `insn` means, whose row says `usual`: where the core has it not, a fault.
    fn meaning(
        _core: &Self::Core,
        _insn: &Insn<Self::Operands>,
        usual: Meaning<Self, Self::Operands>,
    ) -> Meaning<Self, Self::Operands> {
        usual
    }
    /// What becomes of an instruction at `address` of a program whose addresses are not numbers yet.
    fn placed(_slot: &mut Slot<Self, W>, _marks: &Marks, _address: u64) {}
    /// `fault`, in which `insn` stopped, in words that need the core.
    fn explain(_core: &Self::Core, _insn: &Insn<Self::Operands>, fault: Fault) -> Fault {
        fault
    }

    // State

    fn domain(&mut self) -> &mut Self::Domain;
    /// Byte address of the instruction to be executed.
    fn pc(&self) -> usize;
    fn set_pc(&mut self, pc: usize);
    /// Register `i`, as cores and claims name it.
    fn register(&self, i: u8) -> WordOf<Self, W>;
    /// All words that instructions change but memory, always in the same order.
    fn words(&mut self) -> Vec<&mut WordOf<Self, W>>;
    /// All flags.
    fn flags(&mut self) -> Vec<&mut BitOf<Self, W>> {
        Vec::new()
    }
    /// What is without a defined value, or may be: true after two ways if after either.
    fn doubts(&mut self) -> Vec<&mut bool> {
        Vec::new()
    }
    fn control(&self) -> Self::Control;
    fn set_control(&mut self, control: Self::Control);
    fn past(&mut self) -> Option<&mut Self::Past>;
    /// The most cycles in a row in which the run has kept interrupts out, if it has.
    fn kept_out(&self) -> Option<u64> {
        None
    }
    /// Where control is, if ways may be joined there.
    fn joins_at(&self) -> Option<Position> {
        Some((self.pc(), 0))
    }

    // A step

    /// Is the instruction at the program counter executed?
    ///
    /// # Errors
    /// A fault and where.
    #[inline(always)]
    fn guard(&mut self, _slot: &Slot<Self, W>) -> Result<Guard<BitOf<Self, W>>, Stopped> {
        Ok(Guard::Passes)
    }
    /// Executes an instruction under a condition.
    ///
    /// # Errors
    /// What the instruction says.
    fn under(&mut self, _slot: &Slot<Self, W>, condition: &Condition<BitOf<Self, W>>) -> Outcome {
        Err(condition.fault.clone())
    }
    /// Moves control on after an instruction, over `skipped` bytes if it skips the next one: has it returned to the caller?
    #[inline(always)]
    fn advance(&mut self, slot: &Slot<Self, W>, flow: Flow, skipped: usize) -> bool {
        let behind = self.pc() + usize::from(slot.bytes);
        self.set_pc(match flow {
            Flow::Next | Flow::Return => behind,
            Flow::Skip => behind + skipped,
            Flow::Jump(target) => target,
        });
        flow == Flow::Return
    }
    /// Shows after an instruction what a run for all inputs is held to, and tells the domain where stacks reach.
    ///
    /// # Errors
    /// What is broken.
    fn settle(&mut self, slot: &Slot<Self, W>, returned: bool) -> Result<(), Fault>;
    /// Tells the domain that the instruction at `pc` was executed.
    fn executed(&mut self, pc: usize);
}

/// What is remembered of instructions.
pub trait Past: Copy {
    /// What holds of either.
    fn join(self, other: Self) -> Self;
}

/// Where the one stack pointer pointed. The way that is joined into another says nothing of that: where the two
/// disagree it is no address any more, and the next instruction stops.
impl Past for i64 {
    fn join(self, _: Self) -> Self {
        self
    }
}

/// A decoded instruction.
pub struct Slot<M: Machine<W>, const W: u32> {
    pub meaning: Meaning<M, M::Operands>,
    pub insn: Insn<M::Operands>,
    /// What it takes at least on the core.
    pub work: TimeOf<M, W>,
    /// The register whose word decides how long it takes.
    pub observes: Option<u8>,
    /// Length in bytes.
    pub bytes: u8,
    pub kind: Kind,
    pub fact: M::Fact,
}
