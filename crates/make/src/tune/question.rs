//! What a search is about (operation, size, target and objective), and counting what one place takes.

use machine::isa::core::Core;
use machine::isa::energy::Currents;
use spec::Spec;

use crate::budget::Budget;
use crate::candidate::{Candidate, Plan};
use crate::error::Error;
use crate::facts::{Facts, Style};
use crate::lower::{self, Limits};
use crate::method::catalogue::METHODS;
use crate::schedule::Schedule;
use crate::tune::point::{Cost, Counted, Objective, Point};

/// What a search is about.
pub struct Question {
    /// What is computed.
    pub spec: Spec,
    /// On which core.
    pub core: Core,
    /// Free registers to use, at most.
    pub max_regs: Option<usize>,
    /// Bytes of code and stack at most.
    pub budget: Budget,
    /// What is to be small.
    pub objective: Objective,
}

impl Question {
    fn facts(&self, style: Option<Style>) -> Facts {
        let facts = lower::facts(&self.core).limited(self.max_regs);
        facts.styled(style.unwrap_or_default())
    }

    /// Where the search begins: every method with its sensible parameters, unrolled and in loops.
    pub fn starts(&self) -> Vec<Point> {
        let styles = [None, Some(Style::Looped), Some(Style::Rolled)];
        let able = METHODS.iter().filter(|m| m.computes(self.spec.op));
        let able: Vec<_> = able.collect();
        let points = styles.into_iter().flat_map(|style| {
            let facts = self.facts(style);
            let points = able.iter().flat_map(move |method| {
                let sets = (method.defaults)(&self.spec, &facts).into_iter();
                sets.map(move |params| Point {
                    method,
                    params,
                    style,
                })
            });
            points.collect::<Vec<_>>()
        });
        points.collect()
    }

    /// The schedule of a place.
    ///
    /// # Errors
    /// Why it has none.
    pub fn schedule(&self, point: &Point) -> Result<Schedule, Error> {
        let facts = self.facts(point.style);
        Ok((point.method.schedule)(&self.spec, &facts, &point.params)?)
    }

    /// What the best function of a place takes, of those that keep the budget and take no more than `most` of what is to
    /// be small.
    ///
    /// # Errors
    /// Why there is none.
    pub fn count(&self, point: &Point, most: u64) -> Result<Option<Counted>, Error> {
        let facts = self.facts(point.style);
        let (method, params) = (point.method, point.params.clone());
        let plan = Plan::of(&self.spec, &self.core, method, params, &facts, point.style)?;
        let cycles = match self.objective {
            Objective::Cycles => most,
            Objective::Bytes | Objective::Stack | Objective::Energy => u64::MAX,
        };
        if plan.least > cycles || !plan.may_fit(&self.budget) {
            return Ok(None);
        }
        let limits = Limits {
            registers: facts.free_registers,
            cycles,
            overlap: false,
        };
        let candidates = plan.candidates(&self.spec, &self.core, limits)?;
        let currents = self.core.currents();
        let costs = candidates.iter().filter_map(|c| cost(c, currents.as_ref()));
        let fits = |cost: &Cost| {
            let within = |size: u64, most: Option<usize>| most.is_none_or(|m| size <= m as u64);
            within(cost.bytes, self.budget.flash)
                && within(cost.stack, self.budget.stack)
                && self.objective.of(cost) <= most
        };
        let best = costs
            .filter(fits)
            .min_by_key(|cost| self.objective.key(cost));
        Ok(best.map(|cost| Counted {
            point: point.clone(),
            cost,
            proved: false,
        }))
    }
}

/// What a candidate takes; none if it does not return.
fn cost(candidate: &Candidate, currents: Option<&Currents>) -> Option<Cost> {
    let run = candidate.cost.as_ref()?;
    let energy = currents.map(|currents| {
        let [body, frame] = &run.spent;
        // 1 nJ are 1000 pJ, of which fractions do not matter.
        (currents.energy(&body.and(frame)).nanojoules[1] * 1000.0).round() as u64
    });
    Some(Cost {
        cycles: candidate.cycles(),
        bytes: candidate.code.len() as u64,
        stack: candidate.stack_bytes() as u64,
        picojoules: energy,
    })
}
