//! Lowering to MSP430: from schedules to instructions.
//!
//! | file | what |
//! |---|---|
//! | [`lower`] | from a schedule to a program |
//! | [`basic`] | what the engine writes with |
//! | [`sweeps`] | its columns in words: the multiplier adds products up |

pub mod basic;
pub mod lower;
pub mod sweeps;

use machine::isa::msp430::{Msp430Isa, code, cores};
use machine::program::Program;

use crate::driver::{Assembled, Driver};
use crate::facts::Facts;
use crate::lower::{Limits, Lower};
use crate::refusal::LowerError;
use crate::schedule::{Counts, Schedule};

impl Lower for Msp430Isa {
    fn facts(_: &cores::Core) -> Facts {
        lower::facts()
    }

    fn lower_within(
        schedule: &Schedule,
        core: &cores::Core,
        limits: Limits,
    ) -> Result<Vec<Program<code::Insn>>, LowerError> {
        lower::lower(schedule, core, limits)
    }

    fn at_least(_: &cores::Core, _: &Schedule, counts: &Counts) -> u64 {
        // A second operand and the carry of each product, 3 cycles each on the CPUX, and a sum for each link.
        (6 * counts.products + counts.links) as u64
    }

    fn drive(_: &cores::Core, _: &Driver) -> Result<Assembled<code::Insn>, LowerError> {
        Err(LowerError::NotYet("MSP430"))
    }

    fn stub(_: &cores::Core, _: usize) -> Vec<code::Insn> {
        vec![code::Insn::ret()]
    }
}
