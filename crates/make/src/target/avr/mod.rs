//! Lowering to AVR: from schedules and drivers to instructions.
//!
//! | file | what |
//! |---|---|
//! | [`lower`], [`columns`], [`rows`], [`pointers`] | from a schedule to a program |

pub mod access;
pub mod arrive;
pub mod assign;
pub mod bands;
pub mod blocks;
pub mod chains;
pub mod code;
pub mod colour;
pub mod columns;
pub mod draft;
pub mod driver;
pub mod emitter;
pub mod frame;
pub mod halves;
pub mod least;
pub mod lower;
pub mod nest;
pub mod pointers;
pub mod products;
pub mod registers;
pub mod residence;
pub mod rings;
pub mod rounds;
pub mod rows;
pub mod scans;
pub mod setting;
pub mod sink;
pub mod squares;
pub mod stages;
pub mod sums;
pub mod sweeps;
pub mod tiles;
pub mod webs;
pub mod windows;
pub mod words;

use machine::isa::avr::code::Insn;
use machine::isa::avr::instructions::Timing;
use machine::isa::avr::{AvrIsa, cores};
use machine::program::Program;

use crate::driver::{Assembled, Driver};
use crate::facts::Facts;
use crate::lower::{Limits, Lower};
use crate::refusal::LowerError;
use crate::schedule::{Counts, Schedule};

impl Lower for AvrIsa {
    fn facts(core: &cores::Core) -> Facts {
        lower::facts(core)
    }

    fn lower_within(
        schedule: &Schedule,
        core: &cores::Core,
        limits: Limits,
    ) -> Result<Vec<Program<Insn>>, LowerError> {
        match schedule {
            Schedule::Stages(stages) => stages::all(core, stages, limits),
            schedule => lower::lower(schedule, core, limits),
        }
    }

    fn at_least(core: &cores::Core, schedule: &Schedule, counts: &Counts) -> u64 {
        if let Some(cycles) = lower::at_least(core, schedule) {
            return cycles;
        }
        let cycles = |timing, count: usize| u64::from((core.cycles)(timing)) * count as u64;
        // ADD and ADC for a product, ADD or ADC for a link; MUL sets no word it could be added in.
        cycles(Timing::Load, counts.loads)
            + cycles(Timing::Store, counts.stores)
            + cycles(Timing::Multiply, counts.products)
            + cycles(Timing::Alu, 2 * counts.accumulated + counts.links)
    }

    fn drive(core: &cores::Core, driver: &Driver) -> Result<Assembled<Insn>, LowerError> {
        if core.abi.data_stack {
            return Err(LowerError::Driver("--abi iar"));
        }
        driver::lower(driver)
    }

    fn stub(_: &cores::Core, bytes: usize) -> Vec<Insn> {
        driver::stub(bytes)
    }
}
