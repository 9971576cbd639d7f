//! What is asked for: an operation, a size, and which methods, parameters and styles come into question.

use std::collections::BTreeMap;
use std::sync::Arc;

use spec::modulus::Modular;
use spec::nearest::nearest;
use spec::{Alias, Op, Size, Spec, SpecError};

pub use crate::budget::Room;
use crate::budget::{Budget, SHORTEST};
use crate::error::Error;
use crate::facts::{Facts, Style};
use crate::method::catalogue::{METHODS, in_one_time};
use crate::method::signature::{Method, PLAN, Params};
use crate::plans::Plan;
use crate::winners::Winner;
use crate::{method, winners};

/// What a kernel must be besides right, within its memory and in its calling convention; by default, in constant
/// time on the core it is made for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Demands {
    /// May time and addresses depend on operands?
    pub variable_time: bool,
    /// Is a candidate out of question whose time or addresses depend on operands, on the core it is made for?
    pub one_time: bool,
    /// Overlaps that the kernel must be proved for, besides operands apart and `a == b`.
    pub aliases: Vec<Alias>,
}

impl Demands {
    /// Of kernels whose time may depend on their operands.
    pub fn variable_time() -> Self {
        Self {
            variable_time: true,
            ..Self::default()
        }
    }
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    pub op: Op,
    pub size: Size,
    /// What a modular operation works modulo.
    pub modular: Option<Modular>,
    /// A method's name; the cheapest if none.
    pub method: Option<String>,
    pub params: BTreeMap<String, usize>,
    /// The plan of the method's products.
    pub plan: Option<Arc<Plan>>,
    /// The most free registers to use, of those the target's facts count.
    pub max_regs: Option<usize>,
    /// How much is written out; if it does not say, all, but for methods that are loops.
    pub style: Option<Style>,
    /// The most it may take.
    pub budget: Budget,
    /// The part it must fit, where the budget does not say otherwise.
    pub room: Option<Room>,
    /// What is proved besides.
    pub demands: Demands,
    /// Leave out the instruction of this index, to watch the proof fail.
    pub drop: Option<usize>,
    /// Try all methods even if a winner is on record.
    pub search: bool,
}

impl Request {
    /// What is computed, in words of `word_bits` bits.
    ///
    /// # Errors
    /// When sizes or modulus do not fit.
    pub fn spec(&self, word_bits: u32) -> Result<Spec, SpecError> {
        Spec::with(self.op, self.size, self.modular.clone(), word_bits)
    }

    /// The same of kernels that take one time: by a method of its own where all products leak, by any that does not leak
    /// elsewhere. None if no method computes it so.
    pub fn in_one_time(&self, facts: &Facts) -> Option<Self> {
        let mut request = self.clone();
        match facts.one_time {
            true => request.method = Some(in_one_time(self.op)?.into()),
            false => request.demands.one_time = true,
        }
        Some(request)
    }

    /// The most it may take: the budget, or what the part has where it says nothing.
    ///
    /// # Errors
    /// When operands and result are more than the part's RAM, or an overlap names what `spec` has not.
    pub fn limits(&self, spec: &Spec) -> Result<Budget, Error> {
        let strange = |alias: &&Alias| !spec.aliases().contains(alias);
        if let Some(alias) = self.demands.aliases.iter().find(strange) {
            return Err(Error::NoAlias {
                op: spec.op.name(),
                operand: "b",
                alias: *alias,
            });
        }
        let Some(Room {
            part, flash, ram, ..
        }) = self.room
        else {
            return Ok(self.budget);
        };
        let bytes = spec.source_bytes().iter().sum::<usize>() + spec.result_bytes();
        let stack = match (self.budget.stack, ram.checked_sub(bytes)) {
            (Some(most), _) => most,
            (None, Some(left)) => left,
            (None, None) => return Err(Error::Operands { part, ram, bytes }),
        };
        Ok(Budget {
            flash: self.budget.flash.or(Some(flash)),
            stack: Some(stack),
        })
    }

    /// The part that the limits come from, where the budget does not say them.
    pub fn limited_by(&self) -> Option<Room> {
        self.room.filter(|_| !self.budget.is_set())
    }

    /// The plans on record for `spec`, the fastest first. Those in loops are for a part only, and only if it is known that
    /// code that is written out does not fit, or the record names that, too. None if the record does not speak of what is
    /// asked for: a style, registers, a budget, overlaps.
    pub fn winners(&self, core: &str, abi: &str, spec: &Spec) -> Vec<Winner> {
        let free = self.style.is_none() && !self.budget.is_set() && self.max_regs.is_none();
        if !free || !self.demands.aliases.is_empty() {
            return Vec::new();
        }
        let mut list = winners::of(core, abi, spec);
        let large = self.is_large(spec);
        let written_out = list.iter().any(|winner| winner.style == Style::Unrolled);
        list.retain(|winner| match winner.style {
            Style::Unrolled => !large,
            Style::Looped | Style::Rolled => self.room.is_some() && (large || written_out),
        });
        list
    }

    /// The same with each plan on record, unless a method is named.
    pub fn on_record(&self, core: &str, abi: &str, spec: &Spec) -> Vec<Self> {
        if self.method.is_some() || self.has_params() {
            return Vec::new();
        }
        let known = self.winners(core, abi, spec).into_iter();
        let request = |winner: Winner| Self {
            style: Some(winner.style),
            method: Some(winner.named.method),
            params: winner.named.params,
            plan: winner.named.plan,
            ..self.clone()
        };
        known.map(request).collect()
    }

    /// Has the part no room for all products one by one?
    fn is_large(&self, spec: &Spec) -> bool {
        let words = |bits: u32| (bits / spec.word_bits) as usize;
        let products = words(self.size.a) * words(self.size.b);
        // Montgomery's `q m` has as many products again, each of which is added by two instructions.
        let shortest = match self.op {
            Op::Montmul | Op::Montsqr => 4 * SHORTEST,
            _ => SHORTEST,
        };
        let flash = |room: Room| self.budget.flash.unwrap_or(room.flash);
        self.room
            .is_some_and(|room| shortest * products > flash(room))
    }

    /// Is a parameter given?
    fn has_params(&self) -> bool {
        !self.params.is_empty() || self.plan.is_some()
    }

    /// The styles to try: the one asked for; within a budget all of them, and for a part that has no room for all
    /// products one by one.
    pub fn styles(&self, spec: &Spec) -> &'static [Option<Style>] {
        match self.style {
            None if self.budget.is_set() || self.is_large(spec) => {
                &[None, Some(Style::Looped), Some(Style::Rolled)]
            }
            None => &[None],
            Some(Style::Unrolled) => &[Some(Style::Unrolled)],
            Some(Style::Looped) => &[Some(Style::Looped)],
            Some(Style::Rolled) => &[Some(Style::Rolled)],
        }
    }

    /// Those to try where nothing else fits the part.
    pub fn smaller_styles(&self) -> &'static [Option<Style>] {
        let overlaps = !self.demands.aliases.is_empty();
        match (
            self.style,
            self.room.is_some() || overlaps,
            self.budget.is_set(),
        ) {
            (None, true, false) => &[Some(Style::Looped), Some(Style::Rolled)],
            _ => &[],
        }
    }
}

/// The methods that come into question.
pub fn methods(request: &Request) -> Result<Vec<&'static Method>, Error> {
    let Some(name) = &request.method else {
        if request.has_params() {
            return Err(Error::ParameterWithoutMethod);
        }
        let able = METHODS.iter().copied().filter(|m| m.computes(request.op));
        let able: Vec<_> = able.collect();
        return match able.is_empty() {
            true => Err(Error::NoMethod(request.op.name())),
            false => Ok(able),
        };
    };
    let method = method::find_for(name, request.op).ok_or_else(|| Error::UnknownMethod {
        name: name.clone(),
        nearest: nearest(name, METHODS.iter().map(|m| m.name)),
    })?;
    if !method.computes(request.op) {
        let able = METHODS.iter().filter(|m| m.computes(request.op));
        let able: Vec<_> = able.map(|m| m.name).take(3).collect();
        return Err(Error::WrongOperation {
            method: method.name,
            op: request.op.name(),
            able,
        });
    }
    Ok(vec![method])
}

/// Parameters given by name; a plan is no number, and the other way round.
pub fn parameters(
    method: &'static Method,
    given: &BTreeMap<String, usize>,
    plan: Option<&Arc<Plan>>,
) -> Result<Params, Error> {
    let known = |name: &str| {
        let known = method.parameters.iter().find(|p| p.name == name);
        let parameter = known.ok_or_else(|| Error::UnknownParameter {
            method: method.name,
            name: name.into(),
            known: method.parameters.iter().map(|p| p.name).collect(),
        })?;
        Ok(parameter.name)
    };
    let number = |(name, value): (&String, &usize)| match known(name)? {
        PLAN => Err(Error::NumberOfPlan(*value)),
        name => Ok((name, *value)),
    };
    let numbers: Params = given.iter().map(number).collect::<Result<_, Error>>()?;
    match plan {
        Some(plan) => known(PLAN).map(|_| numbers.with(plan)),
        None => Ok(numbers),
    }
}
