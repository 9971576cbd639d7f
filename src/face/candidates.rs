//! Candidates side by side: every method with its sensible parameters, counted and proved when that is asked for.

use make::facts::Style;
use make::method::catalogue::in_one_time;
use make::method::{METHODS, Method, Params};
use make::request::Request;
use make::{lower, method};
use spec::Spec;

use crate::face::asked::Asked;
use crate::face::error::Error;
use crate::face::kernel::Kernel;
use crate::kernel;
use crate::target::Target;

/// The candidates of a request, one after the other.
pub struct Candidates {
    asked: Asked,
    target: Target,
    cells: std::vec::IntoIter<Cell>,
}

/// A method with one set of parameters, on one target; not made yet.
#[derive(Clone, Debug)]
pub struct Candidate {
    asked: Asked,
    target: Target,
    method: &'static str,
    params: Params,
}

/// What a candidate takes, from runs on numbers: where time depends on operands, on those that take longest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Count {
    /// Cycles of a call.
    pub cycles: u64,
    /// Bytes of code.
    pub bytes: usize,
    /// Bytes of stack below the return address, of all stacks.
    pub stack: usize,
}

/// A method with its parameters in a style.
pub(super) struct Cell {
    method: &'static Method,
    params: Params,
    style: Option<Style>,
}

impl Candidates {
    pub(super) fn new(asked: Asked, target: Target, cells: Vec<Cell>) -> Self {
        Self {
            asked,
            target,
            cells: cells.into_iter(),
        }
    }
}

impl Iterator for Candidates {
    type Item = Candidate;

    fn next(&mut self) -> Option<Candidate> {
        let Cell {
            method,
            params,
            style,
        } = self.cells.next()?;
        let given = params.iter();
        let mut asked = self.asked.clone();
        asked.method = Some(method.name.into());
        asked.params = given.map(|(name, n)| (name.to_string(), *n)).collect();
        asked.plan = params.plan.clone();
        asked.style = style;
        asked.options.budget = Default::default();
        asked.options.aliases.clear();
        Some(Candidate {
            asked,
            target: self.target.clone(),
            method: method.name,
            params,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.cells.size_hint()
    }
}

impl ExactSizeIterator for Candidates {}

impl Candidate {
    /// The method.
    pub fn method(&self) -> &'static str {
        self.method
    }

    /// Its parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The style that it is asked for in.
    pub fn style(&self) -> Option<Style> {
        self.asked.style
    }

    /// What it is for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Makes it and runs it on numbers: nothing is proved.
    ///
    /// # Errors
    /// Why there is no such kernel.
    pub fn count(&self) -> Result<Count, Error> {
        let core = self.target.to_core();
        let (_, candidate) = kernel::choose(&self.asked.request(&self.target, None)?, &core)?;
        Ok(Count {
            cycles: candidate.cycles(),
            bytes: candidate.code.len(),
            stack: candidate.stack_bytes(),
        })
    }

    /// Makes and judges it. Of several functions for it, this is the cheapest that is proved.
    ///
    /// # Errors
    /// Why there is no such kernel, and [`Error::Unproved`] if there is one and not all that was demanded is proved.
    pub fn prove(&self) -> Result<Kernel, Error> {
        let kernel = self.asked.judge(&self.target, None)?;
        match kernel.verdicts().all_proved() {
            true => Ok(kernel),
            false => Err(Error::Unproved(Box::new(kernel.report().clone()))),
        }
    }
}

impl Asked {
    /// The cell of the method whose products take one time: no other search lists it.
    pub(super) fn cell_in_one_time(&self) -> Option<Cell> {
        let method = method::find(in_one_time(self.op)?)?;
        Some(Cell {
            method,
            params: Params::new(),
            style: self.style,
        })
    }
}

/// The cells of a request on a target; with those of what is `small`, beside the style that is asked for.
pub(super) fn cells(request: &Request, target: &Target, small: bool) -> Result<Vec<Cell>, Error> {
    let core = target.to_core();
    let spec: Spec = request.spec(core.word_bits())?;
    let unstyled = lower::facts(&core).limited(request.max_regs);
    let methods: Vec<_> = METHODS.iter().filter(|m| m.computes(spec.op)).collect();
    // What is small comes into question beside what is fast.
    let smaller = [Style::Looped, Style::Rolled].map(Some);
    let smaller = smaller
        .into_iter()
        .filter(|_| small && request.style.is_none());
    let mut cells = Vec::new();
    for style in std::iter::once(request.style).chain(smaller) {
        let facts = unstyled.styled(style.unwrap_or_default());
        for method in &methods {
            let has = |params: &Params| {
                let made = (method.schedule)(&spec, &facts, params);
                style == request.style || made.is_ok_and(|s| Some(s.style()) == style)
            };
            let sets = (method.defaults)(&spec, &facts).into_iter();
            // Loops that are not unrolled are the shortest.
            let unrolls = method.parameters.iter().any(|p| p.name == "unroll");
            let shortest = |params: Params| {
                let more = unrolls && style != request.style;
                let more = more && !params.contains_key("unroll");
                let mut short = params.clone();
                short.insert("unroll", 1);
                std::iter::once(params).chain(more.then_some(short))
            };
            let sets = sets.flat_map(shortest).filter(has);
            cells.extend(sets.map(|params| Cell {
                method,
                params,
                style,
            }));
        }
    }
    Ok(cells)
}
