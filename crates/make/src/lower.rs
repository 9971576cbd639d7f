//! What a target offers to those who make programs for it: [`Lower`], implemented once per instruction set.

use machine::isa::Isa;
use machine::isa::core::{Core, Insn};
use machine::on_machine;
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
    /// May the result lie where an operand is? Then no value waits in a word of the result while a word of an operand there is still read.
    pub overlap: bool,
}

/// An instruction set that schedules and drivers are lowered to.
pub trait Lower: Isa<Core: Into<Core>, Insn: Into<Insn>> {
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

/// What a method may know of `core`.
pub fn facts(core: &Core) -> Facts {
    on_machine!(core, |I, core| I::facts(core))
}

/// [`Lower::lower_within`] on the machine of `core`.
///
/// # Errors
/// Why there is none, however many cycles it may take.
pub fn programs(
    schedule: &Schedule,
    core: &Core,
    limits: Limits,
) -> Result<Vec<Program<Insn>>, LowerError> {
    on_machine!(core, |I, core| {
        let programs = I::lower_within(schedule, core, limits)?.into_iter();
        Ok(programs.map(|program| program.map(Insn::from)).collect())
    })
}

/// [`Lower::at_least`] on the machine of `core`.
pub fn at_least(core: &Core, schedule: &Schedule, counts: &Counts) -> u64 {
    on_machine!(core, |I, core| I::at_least(core, schedule, counts))
}

/// The instructions of a driver.
///
/// # Errors
/// Why there are none.
pub fn drive(core: &Core, driver: &Driver) -> Result<Assembled<Insn>, LowerError> {
    on_machine!(core, |I, core| {
        let Assembled { program, calls } = I::drive(core, driver)?;
        let program = program.map(Insn::from);
        Ok(Assembled { program, calls })
    })
}

/// [`Lower::stub`] on the machine of `core`.
pub fn stub(core: &Core, bytes: usize) -> Vec<Insn> {
    on_machine!(core, |I, core| {
        let stub = I::stub(core, bytes).into_iter();
        stub.map(Insn::from).collect()
    })
}
