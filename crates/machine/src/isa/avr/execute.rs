//! The run of decoded code from a call to its return: branches that go both ways, limits, reports.

use crate::domain::word::Domain;
use crate::isa::avr::machine::Avr;
use crate::isa::avr::run::Decoded;
use crate::isa::avr::ways::At;
use crate::isa::cost::{Class, ClassCounts, Cost, Depth, REPORT_EVERY, Span, Stopped};
use crate::isa::ways;

impl<D: Domain> Decoded<D> {
    /// Executes the instruction at the program counter: has it returned to the caller?
    ///
    /// # Errors
    /// A fault and where.
    pub fn go_on(&self, m: &mut Avr<D>) -> Result<bool, Stopped> {
        let slot = self.fetch(m.pc)?;
        Ok(self.observe(m, slot)?.1)
    }

    /// Runs `m` until it returns to its caller or reaches the word address `stop`, at most `limit` instructions.
    ///
    /// # Errors
    /// A fault and where.
    pub fn run(&self, m: &mut Avr<D>, stop: usize, limit: u64) -> Result<Cost, Stopped> {
        self.watched(m, stop, limit, &mut |_, _| {})
    }

    /// The same; `watch` is told of instructions and cycles so far, from time to time.
    ///
    /// # Errors
    /// A fault and where.
    pub fn watched(
        &self,
        m: &mut Avr<D>,
        stop: usize,
        limit: u64,
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<Cost, Stopped> {
        let mut pause = limit.min(REPORT_EVERY);
        let mut by_class = [0u64; 7];
        let (mut executed, mut cycles, mut frame) = (0u64, 0u64, 0u64);
        let mut returned = false;
        while m.pc != stop && !returned {
            let slot = self.fetch(m.pc)?;
            if executed >= pause {
                if executed == limit {
                    let pc = 2 * m.pc;
                    return Err((pc, ways::limit(&mut At::new(self, m), limit)));
                }
                watch(executed, cycles);
                pause = limit.min(pause + REPORT_EVERY);
            }
            let spent;
            (spent, returned) = match self.observe(m, slot) {
                Ok(done) => done,
                Err(stopped) => {
                    let mut at = At::new(self, m);
                    executed += ways::both(&mut at, stopped, limit - executed)?;
                    returned = at.returned;
                    continue;
                }
            };
            executed += 1;
            cycles += spent;
            by_class[slot.class as usize] += 1;
            if slot.class == Class::Frame {
                frame += spent;
            }
        }
        let span = |cycles| Span {
            min: cycles,
            max: cycles,
        };
        Ok(Cost {
            call: span(cycles),
            body: span(cycles - frame),
            counts: ClassCounts::of(&by_class),
            executed,
            stack: Depth::default(),
        })
    }
}
