//! Lowering to MSP430: from schedules to instructions.
//!
//! | file | what |
//! |---|---|
//! | [`lower`] | from a schedule to a program |
//! | [`basic`] | what the engine writes with |
//! | [`driver`] | what drivers are written with |
//! | [`frame`] | registers that are saved, room on the stack |
//! | [`renamed`] | arguments in other registers than the EABI's |
//! | [`interrupts`] | interrupts that are kept out |
//! | [`flow`], [`columns`], [`rows`], [`links`] | code with loops: columns, rows, and sums behind them or alone |
//! | [`sweeps`] | its columns in words: the multiplier adds products up |
//! | [`tiles`] | products without a multiplier |
//! | [`pointers`] | pointers that move along |
//! | [`waits`] | waits for the multiplier |

pub mod basic;
pub mod columns;
pub mod driver;
pub mod flow;
pub mod frame;
pub mod interrupts;
pub mod links;
pub mod lower;
pub mod pointers;
pub mod renamed;
pub mod rows;
pub mod sweeps;
pub mod tiles;
pub mod waits;

use machine::isa::msp430::multiplier::Kind;
use machine::isa::msp430::{Msp430Isa, code, cores};
use machine::program::Program;

use crate::driver::{Assembled, Driver};
use crate::engine::drive;
use crate::facts::Facts;
use crate::lower::{Limits, Lower};
use crate::refusal::LowerError;
use crate::schedule::{Counts, Schedule};
use crate::target::msp430::driver::Code;

impl Lower for Msp430Isa {
    fn facts(core: &cores::Core) -> Facts {
        lower::facts(core)
    }

    fn lower_within(
        schedule: &Schedule,
        core: &cores::Core,
        limits: Limits,
    ) -> Result<Vec<Program<code::Insn>>, LowerError> {
        lower::lower(schedule, core, limits)
    }

    fn at_least(core: &cores::Core, _: &Schedule, counts: &Counts) -> u64 {
        let wide = core.multiplier.is_some_and(|m| m.kind == Kind::Mpy32);
        // A second operand and the carry of each product, 3 cycles each on the CPUX, where an MPY32 makes four of
        // them with two words, and a sum for each link.
        let product = if wide { 2 } else { 6 };
        (product * counts.products + counts.links) as u64
    }

    fn drive(core: &cores::Core, driver: &Driver) -> Result<Assembled<code::Insn>, LowerError> {
        let made = drive::lower(Code::of(core.abi), driver)?;
        Ok(Assembled {
            program: renamed::program(core.abi, made.program),
            ..made
        })
    }

    fn stub(core: &cores::Core, bytes: usize) -> Vec<code::Insn> {
        renamed::insns(core.abi, drive::stub(Code::of(core.abi), bytes))
    }
}
