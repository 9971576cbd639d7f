//! Lowering to RISC-V: from schedules to instructions.
//!
//! | file | what |
//! |---|---|
//! | [`lower`], [`frame`], [`order`], [`registers`] | from a schedule to a program |
//! | [`basic`], [`asm`] | what the engine writes with |
//! | [`sweeps`], [`accumulator`], [`nest`] | its columns in words and in loops |
//! | [`flow`], [`driver`] | code with branches; programs that call kernels |

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
pub mod sweeps;

use machine::isa::riscv::{RiscvIsa, code, cores};
use machine::program::Program;

use crate::driver::{Assembled, Driver};
use crate::engine::{drive, whole};
use crate::facts::Facts;
use crate::lower::{Limits, Lower};
use crate::refusal::LowerError;
use crate::schedule::{Counts, Schedule};
use crate::target::riscv::driver::Code;

impl Lower for RiscvIsa {
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

    fn at_least(_: &cores::Core, _: &Schedule, counts: &Counts) -> u64 {
        // The low word of each product, and a sum for each link.
        (counts.products + counts.links) as u64
    }

    fn drive(core: &cores::Core, driver: &Driver) -> Result<Assembled<code::Insn>, LowerError> {
        drive::lower(Code::new(core.features), driver)
    }

    fn stub(core: &cores::Core, bytes: usize) -> Vec<code::Insn> {
        drive::stub(Code::new(core.features), bytes)
    }
}
