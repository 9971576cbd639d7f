//! The run of decoded code from a call to its return: branches that go both ways, limits, reports.

use crate::domain::word::Domain;
use crate::isa::cost::{ClassCounts, Cost, Depth, REPORT_EVERY, Span, Stopped};
use crate::isa::mips::machine::Mips;
use crate::isa::mips::run::{Clock, Control, Decoded, RETURNED, Ran};
use crate::isa::mips::ways::At;
use crate::isa::ways;

impl<'a, D: Domain> Decoded<'a, D> {
    /// The same on the way to where two ways meet.
    ///
    /// # Errors
    /// A fault and where.
    pub fn go_on(&self, m: &mut Mips<D>, control: Control) -> Result<Control, Stopped> {
        let slot = self.fetch(control.pc)?;
        self.execute(m, slot, control, &mut Clock::default())
    }

    /// Runs `m` from `m.pc` until it returns to its caller or reaches `stop`, at most `limit` instructions.
    ///
    /// # Errors
    /// A fault and where.
    pub fn run(&self, m: &mut Mips<D>, stop: usize, limit: u64) -> Result<Ran, Stopped> {
        self.watched(m, stop, limit, &mut |_, _| {})
    }

    /// The same; `watch` is told of instructions and cycles so far, from time to time.
    ///
    /// # Errors
    /// A fault and where.
    pub fn watched(
        &self,
        m: &mut Mips<D>,
        stop: usize,
        limit: u64,
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<Ran, Stopped> {
        let mut clock = Clock::default();
        let mut by_class = [0u64; 7];
        let mut executed = 0;
        let mut control = Control {
            pc: m.pc,
            next: m.pc + 4,
            in_slot: false,
        };
        while control.pc != stop && control.pc != RETURNED {
            let slot = self.fetch(control.pc)?;
            if executed % REPORT_EVERY == REPORT_EVERY - 1 {
                watch(executed, clock.slow().now);
            }
            if executed == limit {
                let mut at = At::new(self, m, control);
                return Err((control.pc, ways::limit(&mut at, limit)));
            }
            control = match self.execute(m, slot, control, &mut clock) {
                Ok(control) => control,
                Err(stopped) => {
                    let mut at = At::new(self, m, control);
                    executed += ways::both(&mut at, stopped, limit - executed)?;
                    control = at.control;
                    continue;
                }
            };
            executed += 1;
            by_class[slot.class as usize] += 1;
        }
        m.pc = control.pc;
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
