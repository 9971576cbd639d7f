//! The run of decoded code from a call to its return: branches that go both ways, limits, reports.

use crate::domain::word::Domain;
use crate::isa::arm::cores::Pipeline;
use crate::isa::arm::machine::Arm;
use crate::isa::arm::run::{Account, Decoded};
use crate::isa::arm::ways::At;
use crate::isa::cost::{REPORT_EVERY, Stopped};
use crate::isa::ways;

impl<'a, D: Domain> Decoded<'a, D> {
    /// Executes the instruction at the program counter: has it returned to the caller?
    ///
    /// # Errors
    /// A fault and where.
    pub fn go_on(&self, m: &mut Arm<D>) -> Result<bool, Stopped> {
        let pc = m.pc;
        let slot = self.fetch(pc)?;
        m.d.at(pc);
        self.execute(m, slot, &mut Pipeline, &mut Account::default())
            .map_err(|fault| (pc, fault))
    }

    /// Runs `m` until it returns to its caller, at most `limit` instructions.
    ///
    /// # Errors
    /// A fault and where.
    pub fn run(&self, m: &mut Arm<D>, limit: u64) -> Result<Account, Stopped> {
        self.watched(m, limit, &mut |_, _| {})
    }

    /// The same; `watch` is told of instructions and cycles so far, from time to time.
    ///
    /// # Errors
    /// A fault and where.
    pub fn watched(
        &self,
        m: &mut Arm<D>,
        limit: u64,
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<Account, Stopped> {
        let mut account = Account::default();
        let mut pipeline = Pipeline;
        let mut returned = false;
        while !returned {
            let pc = m.pc;
            let slot = self.fetch(pc)?;
            if account.cost.executed % REPORT_EVERY == REPORT_EVERY - 1 {
                watch(account.cost.executed, account.cost.call.max);
            }
            if account.cost.executed == limit {
                return Err((pc, ways::limit(&mut At::new(self, m), limit)));
            }
            m.d.at(pc);
            returned = match self.execute(m, slot, &mut pipeline, &mut account) {
                Ok(returned) => returned,
                Err(fault) => {
                    let room = limit - account.cost.executed;
                    let mut at = At::new(self, m);
                    account.cost.executed += ways::both(&mut at, (pc, fault), room)?;
                    returned = at.returned;
                    continue;
                }
            };
            // Nobody claims anything of the program counter.
            let last = m.r.len() - 1;
            m.d.after::<32>(pc, |i| m.r[usize::from(i).min(last)].clone());
        }
        Ok(account.close())
    }
}
