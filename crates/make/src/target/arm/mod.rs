//! Lowering to ARM: from schedules and drivers to instructions.
//!
//! | file | what |
//! |---|---|
//! | [`lower`], [`pointers`], [`order`] | from a schedule to a program |
//! | [`plan`], [`outlook`], [`columns`], [`search`] | blocks of columns |
//! | [`words`], [`sweeps`] | schedules in words |
//! | [`stages`] | a product in loops, and what is made of it |
//! | [`scans`], [`rounds`], [`nest`], [`links`], [`flow`] | two nested loops |

pub mod chains;
pub mod columns;
pub mod driver;
pub mod flow;
pub mod frame;
pub mod halves;
pub mod links;
pub mod lower;
pub mod nest;
pub mod order;
pub mod outlook;
pub mod plan;
pub mod pointers;
pub mod rounds;
pub mod scans;
pub mod search;
pub mod stages;
pub mod sweeps;
pub mod words;

use machine::isa::arm::{ArmIsa, code, cores, instructions};
use machine::program::Program;

use crate::driver::{Assembled, Driver};
use crate::engine::drive;
use crate::facts::Facts;
use crate::lower::{Limits, Lower};
use crate::refusal::LowerError;
use crate::schedule::{Counts, Schedule};
use crate::target::arm::driver::Code;

impl Lower for ArmIsa {
    fn facts(_: &cores::Core) -> Facts {
        lower::FACTS
    }

    fn lower_within(
        schedule: &Schedule,
        core: &cores::Core,
        limits: Limits,
    ) -> Result<Vec<Program<code::Insn>>, LowerError> {
        let mut made = match schedule {
            Schedule::Stages(stages) => stages::all(stages, core, limits)?,
            schedule => lower::lower(schedule, core, limits)?,
        };
        for program in &mut made {
            order::order_loops(core, program);
            frame::return_by(core, &mut program.insns);
        }
        Ok(made)
    }

    fn at_least(core: &cores::Core, _: &Schedule, counts: &Counts) -> u64 {
        // MUL is the shortest multiplication; to accumulate takes it a cycle, too. How often words
        // are loaded and stored is for the lowering to say, and may be less than a method has in mind.
        let effects = cores::Effects::default();
        let multiply = (core.cycles)(
            instructions::Timing::Multiply(1, instructions::Ends::Same, false),
            &effects,
        );
        multiply.max * counts.products as u64 + (counts.accumulated + counts.links) as u64
    }

    fn drive(core: &cores::Core, driver: &Driver) -> Result<Assembled<code::Insn>, LowerError> {
        let mut assembled = drive::lower(Code::default(), driver)?;
        frame::return_by(core, &mut assembled.program.insns);
        Ok(assembled)
    }

    fn stub(core: &cores::Core, bytes: usize) -> Vec<code::Insn> {
        let mut insns = drive::stub(Code::default(), bytes);
        frame::return_by(core, &mut insns);
        insns
    }
}
