//! Programs that are counted and not judged yet, and the best of them within a budget.

use machine::call::Operands;
use machine::function::Function;
use machine::isa::core::{Core, Insn};
use machine::isa::{Cost, RUN_LIMIT};
use machine::program::Program;
use num_bigint::BigUint;
use spec::vectors::Random;
use spec::{Alias, Spec, vectors};

use crate::budget::SHORTEST;
pub use crate::budget::{Budget, Extreme, Nearest};
use crate::error::Error;
use crate::facts::{Facts, Style};
use crate::lower::{self, Limits};
use crate::method;
use crate::method::signature::{Method, Params};
use crate::method::without_loops;
use crate::schedule::{Schedule, ScheduleError};

/// A program with its bytes and cost, not judged yet.
#[derive(Clone)]
pub struct Candidate {
    pub method: &'static Method,
    pub params: Params,
    pub style: Style,
    pub program: Program<Insn>,
    pub code: Vec<u8>,
    /// From one concrete run; `None` if it does not return.
    pub cost: Option<Cost>,
}

impl Candidate {
    /// Cycles of a call.
    pub fn cycles(&self) -> u64 {
        self.cost.map_or(u64::MAX, |cost| cost.call.max)
    }

    /// Bytes of stack below the return address.
    pub fn stack_bytes(&self) -> usize {
        self.cost.map_or(usize::MAX, |cost| cost.stack.total())
    }

    /// Is there a loop in it, that is, a branch back?
    pub fn loops(&self) -> bool {
        let mut branches = self.program.insns.iter().filter_map(Insn::branch);
        branches.any(|by| by <= 0)
    }

    /// Method and parameters: `operand-caching e=10`.
    pub fn name(&self) -> String {
        method::text(self.method.name, &self.params)
    }
}

/// A method with its parameters, and what is known before it is lowered. Its schedule is made when it is wanted: those of
/// all plans together may take gigabytes.
pub struct Plan {
    pub method: &'static Method,
    pub params: Params,
    facts: Facts,
    style: Style,
    /// No function for it takes fewer cycles.
    pub least: u64,
    /// Nor fewer bytes.
    least_bytes: usize,
}

impl Plan {
    /// May a function for it keep the budget's bytes of code?
    pub fn may_fit(&self, budget: &Budget) -> bool {
        budget.flash.is_none_or(|most| self.least_bytes <= most)
    }

    /// The plan of `method` with `params`, in the style that is asked for.
    ///
    /// # Errors
    /// What the method or its schedule says, or that there is no such style of it.
    pub fn of(
        spec: &Spec,
        core: &Core,
        method: &'static Method,
        params: Params,
        facts: &Facts,
        asked: Option<Style>,
    ) -> Result<Self, Error> {
        let schedule = (method.schedule)(spec, facts, &params)?;
        let made = schedule.style();
        if let Some(asked) = asked.filter(|style| *style != made) {
            let rolls = made == Style::Rolled;
            return Err(Error::Style {
                method: method.name,
                asked: asked.name(),
                made,
                why: without_loops::reason(method.name).filter(|_| made == Style::Unrolled),
                others: without_loops::instead(method.name, spec).filter(|_| !rolls),
            });
        }
        let counts = schedule.count().map_err(invalid(method))?;
        Ok(Self {
            method,
            params,
            least: lower::at_least(core, &schedule, &counts),
            least_bytes: match made {
                Style::Unrolled => counts.products * SHORTEST,
                _ => 0,
            },
            facts: *facts,
            style: made,
        })
    }

    fn schedule(&self, spec: &Spec) -> Result<Schedule, Error> {
        Ok((self.method.schedule)(spec, &self.facts, &self.params)?)
    }

    /// Shows that the schedule is one: every product once, at its place.
    ///
    /// # Errors
    /// A defect of this tool.
    pub fn check(&self, spec: &Spec) -> Result<(), Error> {
        let counts = self.schedule(spec)?.check();
        counts.map(|_| ()).map_err(invalid(self.method))
    }

    /// Every program of the plan that may be the cheapest within the limits, counted.
    ///
    /// # Errors
    /// Why there is none.
    pub fn candidates(
        &self,
        spec: &Spec,
        core: &Core,
        limits: Limits,
    ) -> Result<Vec<Candidate>, Error> {
        let schedule = self.schedule(spec)?;
        let programs = lower::programs(&schedule, core, limits);
        let programs = programs.map_err(|error| Error::Lower {
            method: self.method.name,
            error,
            others: without_loops::instead(self.method.name, spec),
        })?;
        let candidate = |program: Program<Insn>| {
            let code = core.encode(&program.insns).map_err(Error::Encode)?;
            let cost = slowest(spec, core, &code);
            Ok(Candidate {
                method: self.method,
                params: self.params.clone(),
                style: self.style,
                program,
                code,
                cost,
            })
        };
        programs.into_iter().map(candidate).collect()
    }
}

fn invalid(method: &'static Method) -> impl Fn(ScheduleError) -> Error {
    let method = method.name;
    move |error| Error::Schedule { method, error }
}

/// The cost where time is longest, of two runs: on all ones, and, as a difference of such halves is
/// 0, on operands without pattern.
pub fn slowest(spec: &Spec, core: &Core, code: &[u8]) -> Option<Cost> {
    let mut random = Random::new(u64::from(spec.size.a));
    let uniform = |bytes: &usize| random.uniform(*bytes);
    let mixed: Vec<_> = spec.source_bytes().iter().map(uniform).collect();
    let call = core.calls(Function::kernel(code).returning(spec));
    let cost = |sources: &[BigUint]| {
        let operands = Operands::of(spec, sources, Alias::Distinct);
        Some(call(&operands, RUN_LIMIT).ok()?.1)
    };
    let (ones, mixed) = (cost(&corner(spec))?, cost(&mixed)?);
    Some(match ones.call.max < mixed.call.max {
        true => mixed,
        false => ones,
    })
}

/// All ones: the operands that take longest where time depends on them.
pub fn corner(spec: &Spec) -> Vec<BigUint> {
    let ones = |bytes: usize| (BigUint::from(1u8) << (8 * bytes)) - 1u8;
    let mut sources: Vec<_> = spec.source_bytes().into_iter().map(ones).collect();
    vectors::admit(spec, &mut sources);
    sources
}

/// The best of the candidates offered.
pub struct Choice {
    budget: Budget,
    /// Are loops asked for? Then what has none comes after all that have some.
    loops: bool,
    /// The cheapest within the budget: cycles of a call, then bytes.
    pub fits: Option<Candidate>,
    /// Where none fits: the smallest code, the least stack, of those that keep the other limit if any does.
    smallest: Option<Candidate>,
    shallowest: Option<Candidate>,
}

impl Choice {
    /// No candidate yet, of those in the style that is `asked` for.
    pub fn within(budget: Budget, asked: Option<Style>) -> Self {
        Self {
            budget,
            loops: asked.is_some_and(|style| style != Style::Unrolled),
            fits: None,
            smallest: None,
            shallowest: None,
        }
    }

    /// Was none offered?
    pub fn is_empty(&self) -> bool {
        self.fits.is_none() && self.smallest.is_none() && self.shallowest.is_none()
    }

    /// Is one of this method with these parameters kept?
    pub fn has(&self, method: &Method, params: &Params) -> bool {
        let kept = [&self.fits, &self.smallest, &self.shallowest];
        let made = |c: &Candidate| c.method.name == method.name && c.params == *params;
        kept.into_iter().flatten().any(made)
    }

    /// Cycles of a call beyond which a candidate cannot be the best.
    pub fn cycles(&self) -> u64 {
        let best = self
            .fits
            .as_ref()
            .filter(|best| !self.loops || best.loops());
        best.map_or(u64::MAX, Candidate::cycles)
    }

    /// Keeps `candidate` if it is better than what there is.
    pub fn offer(&mut self, candidate: Candidate) {
        let over = |most: Option<usize>, bytes: usize| most.is_some_and(|most| bytes > most);
        let flash = |c: &Candidate| over(self.budget.flash, c.code.len());
        let stack = |c: &Candidate| over(self.budget.stack, c.stack_bytes());
        let small = |c: &Candidate| (stack(c), c.code.len(), c.cycles());
        let shallow = |c: &Candidate| (flash(c), c.stack_bytes(), c.cycles());
        match (flash(&candidate), stack(&candidate)) {
            (false, false) => {
                let straight = |c: &Candidate| self.loops && !c.loops();
                let fast = |c: &Candidate| (straight(c), c.cycles(), c.code.len());
                keep(&mut self.fits, candidate, fast);
            }
            _ if self.fits.is_some() => {}
            (true, false) => keep(&mut self.smallest, candidate, small),
            (false, true) => keep(&mut self.shallowest, candidate, shallow),
            (true, true) => {
                keep(&mut self.smallest, candidate.clone(), small);
                keep(&mut self.shallowest, candidate, shallow);
            }
        }
    }

    /// The one that fits; if there is none, what comes nearest.
    pub fn candidates(self) -> impl Iterator<Item = Candidate> {
        let nearest = match self.fits {
            Some(_) => [None, None],
            None => [self.smallest, self.shallowest],
        };
        self.fits.into_iter().chain(nearest.into_iter().flatten())
    }

    /// Bytes of the smallest code, where none fits and it is too long.
    pub fn least_flash(&self) -> Option<usize> {
        self.smallest.as_ref().map(|c| c.code.len())
    }

    /// What comes nearest: one that needs no more of either is the only one.
    pub fn nearest(&self) -> Vec<Nearest> {
        let told = |what, c: &Candidate| {
            let (flash, stack) = (c.code.len(), c.stack_bytes());
            Nearest {
                what,
                flash,
                stack,
                name: c.name(),
                budget: self.budget.widened(flash, stack),
            }
        };
        let serves = |a: &Candidate, b: &Candidate| {
            a.code.len() <= b.code.len() && a.stack_bytes() <= b.stack_bytes()
        };
        match (&self.smallest, &self.shallowest) {
            (Some(small), Some(shallow)) if serves(small, shallow) => {
                vec![told(Extreme::Smallest, small)]
            }
            (Some(small), Some(shallow)) if serves(shallow, small) => {
                vec![told(Extreme::LeastStack, shallow)]
            }
            (small, shallow) => {
                let small = small.iter().map(|c| told(Extreme::Smallest, c));
                let shallow = shallow.iter().map(|c| told(Extreme::LeastStack, c));
                small.chain(shallow).collect()
            }
        }
    }
}

/// The one of `best` and `candidate` with the smaller key.
fn keep<K: Ord>(best: &mut Option<Candidate>, candidate: Candidate, key: impl Fn(&Candidate) -> K) {
    if best.as_ref().is_none_or(|old| key(&candidate) < key(old)) {
        *best = Some(candidate);
    }
}
