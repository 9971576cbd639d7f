//! Lowering to MIPS32: from schedules and drivers to instructions.
//!
//! | file | what |
//! |---|---|
//! | [`lower`], [`frame`], [`registers`], [`order`] | from a schedule to a program |
//! | [`basic`], [`asm`] | what the engine writes with |
//! | [`sweeps`], [`rows`], [`accumulator`], [`nest`] | its columns and rows in words, and in loops |
//! | [`flow`], [`driver`] | blocks with branches between them; programs that call kernels |

pub mod accumulator;
pub mod asm;
pub mod basic;
pub mod driver;
pub mod flow;
pub mod frame;
pub mod halves;
pub mod lower;
pub mod nest;
pub mod order;
pub mod registers;
pub mod rows;
pub mod sweeps;

use machine::isa::mips::{MipsIsa, code, cores};
use machine::program::Program;

use crate::driver::{Assembled, Driver};
use crate::engine::{drive, whole};
use crate::facts::Facts;
use crate::lower::{Limits, Lower};
use crate::refusal::LowerError;
use crate::schedule::{Counts, Schedule};
use crate::target::mips::driver::Code;

impl Lower for MipsIsa {
    fn facts(core: &cores::Core) -> Facts {
        lower::facts(core)
    }

    fn lower_within(
        schedule: &Schedule,
        core: &cores::Core,
        limits: Limits,
    ) -> Result<Vec<Program<code::Insn>>, LowerError> {
        whole::lower::<Self>(schedule, core, limits)
    }

    fn at_least(core: &cores::Core, _: &Schedule, counts: &Counts) -> u64 {
        // The multiplier is busy all the time, or an instruction issues in every cycle.
        let multiplier = u64::from(core.multiply.cycles) * counts.products as u64;
        let issued = (counts.products + counts.links) as u64;
        multiplier.max(issued)
    }

    fn drive(_: &cores::Core, driver: &Driver) -> Result<Assembled<code::Insn>, LowerError> {
        drive::lower(Code::default(), driver)
    }

    fn stub(_: &cores::Core, bytes: usize) -> Vec<code::Insn> {
        drive::stub(Code::default(), bytes)
    }
}
