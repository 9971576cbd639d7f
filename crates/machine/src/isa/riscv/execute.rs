//! The run of decoded code from a call to its return: branches that go both ways, limits, reports.

use crate::domain::word::Domain;
use crate::isa::cost::{ClassCounts, Cost, Depth, REPORT_EVERY, SlowOperand, Span, Stopped};
use crate::isa::riscv::machine::Riscv;
use crate::isa::riscv::run::{Clock, Decoded, RETURNED};
use crate::isa::riscv::ways::At;
use crate::isa::ways;

/// What a run cost, and which operand its time depends on.
#[derive(Debug)]
pub struct Ran {
    pub cost: Cost,
    pub slow_operand: Option<SlowOperand>,
}

impl<D: Domain> Decoded<'_, D> {
    /// Runs `m` from `m.pc` until it returns to its caller or reaches `stop`, at most `limit` instructions.
    ///
    /// # Errors
    /// A fault and where.
    pub fn run(&self, m: &mut Riscv<D>, stop: usize, limit: u64) -> Result<Ran, Stopped> {
        self.watched(m, stop, limit, &mut |_, _| {})
    }

    /// The same; `watch` is told of instructions and cycles so far, from time to time.
    ///
    /// # Errors
    /// A fault and where.
    pub fn watched(
        &self,
        m: &mut Riscv<D>,
        stop: usize,
        limit: u64,
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<Ran, Stopped> {
        let mut clock = Clock::default();
        let mut by_class = [0u64; 7];
        let mut executed = 0;
        let mut pc = m.pc;
        while pc != stop && pc != RETURNED {
            let slot = self.fetch(pc)?;
            if executed % REPORT_EVERY == REPORT_EVERY - 1 {
                watch(executed, clock.slow().now);
            }
            if executed == limit {
                return Err((pc, ways::limit(&mut At::new(self, m, pc), limit)));
            }
            pc = match self.execute(m, slot, pc, &mut clock) {
                Ok(next) => next,
                Err(stopped) => {
                    let mut at = At::new(self, m, pc);
                    executed += ways::both(&mut at, stopped, limit - executed)?;
                    pc = at.pc;
                    continue;
                }
            };
            executed += 1;
            by_class[slot.class as usize] += 1;
        }
        m.pc = pc;
        let tells = clock.fast.end() != clock.slow().end();
        Ok(Ran {
            cost: Cost {
                call: Span {
                    min: clock.fast.now,
                    max: clock.slow().now,
                },
                body: clock.body,
                counts: ClassCounts::of(&by_class),
                executed,
                stack: Depth::default(),
            },
            slow_operand: clock.parted.or(clock.observed).filter(|_| tells),
        })
    }
}
