//! What a target offers to those who make programs for it: [`Lower`], implemented once per instruction set.

use machine::isa::Isa;
use machine::program::Program;

use crate::driver::{Assembled, Driver};
use crate::facts::Facts;
pub use crate::refusal::LowerError;
use crate::schedule::{Counts, Schedule};

/// What a function may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Of the free registers of the target's facts.
    pub registers: usize,
    /// Cycles of a call, beyond which it need not be made.
    pub cycles: u64,
    /// May the result lie where an operand is? Then nothing that is not of the result waits in it.
    pub overlap: bool,
}

/// An instruction set that schedules and drivers are lowered to.
pub trait Lower: Isa {
    /// What a method may know of `core`.
    fn facts(core: &Self::Core) -> Facts;

    /// Functions in the C calling convention that run `schedule`: every candidate that may be the cheapest.
    ///
    /// # Errors
    /// Why there is none.
    fn lower(
        schedule: &Schedule,
        core: &Self::Core,
    ) -> Result<Vec<Program<Self::Insn>>, LowerError> {
        let limits = Limits {
            registers: Self::facts(core).free_registers,
            cycles: u64::MAX,
            overlap: false,
        };
        Self::lower_within(schedule, core, limits)
    }

    /// The same within limits; none if every function takes more cycles.
    ///
    /// # Errors
    /// Why there is none, however many cycles it may take.
    fn lower_within(
        schedule: &Schedule,
        core: &Self::Core,
        limits: Limits,
    ) -> Result<Vec<Program<Self::Insn>>, LowerError>;

    /// The most cycles of a call are at least these, for every function that runs the schedule, which
    /// has these counts.
    fn at_least(core: &Self::Core, schedule: &Schedule, counts: &Counts) -> u64;

    /// The instructions of a driver.
    ///
    /// # Errors
    /// Why there are none.
    fn drive(core: &Self::Core, driver: &Driver) -> Result<Assembled<Self::Insn>, LowerError>;

    /// A function of `bytes` bytes of results that only copies what its second argument points to: what
    /// stands for a kernel where only the time of its caller is of interest.
    fn stub(core: &Self::Core, bytes: usize) -> Vec<Self::Insn>;
}
