//! Lowering to MSP430: not there yet.

use machine::isa::msp430::{Msp430Isa, code, cores};
use machine::program::Program;

use crate::driver::{Assembled, Driver};
use crate::facts::{Facts, Style};
use crate::lower::{Limits, Lower};
use crate::refusal::LowerError;
use crate::schedule::{Counts, Schedule};

impl Lower for Msp430Isa {
    fn facts(_: &cores::Core) -> Facts {
        Facts {
            word_bits: 16,
            free_registers: 12,
            accumulator_registers: 3,
            constant_registers: 0,
            tile_registers: 0,
            one_time: false,
            style: Style::Unrolled,
        }
    }

    fn lower_within(
        _: &Schedule,
        _: &cores::Core,
        _: Limits,
    ) -> Result<Vec<Program<code::Insn>>, LowerError> {
        Err(LowerError::NotYet("MSP430"))
    }

    fn at_least(_: &cores::Core, _: &Schedule, counts: &Counts) -> u64 {
        (counts.products + counts.links) as u64
    }

    fn drive(_: &cores::Core, _: &Driver) -> Result<Assembled<code::Insn>, LowerError> {
        Err(LowerError::NotYet("MSP430"))
    }

    fn stub(_: &cores::Core, _: usize) -> Vec<code::Insn> {
        vec![code::Insn::ret()]
    }
}
