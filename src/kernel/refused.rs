//! Several methods may refuse a request: which of their reasons is shown.

use machine::isa::core::Core;
use make::candidate::Plan;
use make::error::Error;
use make::facts::Style;
use make::lower::{self, Limits, LowerError};
use make::method::{Method, MethodError};
use make::request::{Request, parameters};
use spec::Spec;

/// The reason why a method has not even the style that `error` names, if it has not: that the machine does not multiply
/// comes before what to type instead.
pub(super) fn if_advice_fails(
    spec: &Spec,
    core: &Core,
    method: &'static Method,
    request: &Request,
    error: Error,
) -> Error {
    let made = match &error {
        Error::Style { made, .. } => *made,
        Error::Method(MethodError::Straight(_) | MethodError::NoLoopsOfHalves) => Style::Unrolled,
        _ => return error,
    };
    let facts = lower::facts(core).styled(made);
    // What is written out takes its time, and is there wherever there is a multiplier.
    if made == Style::Unrolled && facts.tile_registers == 0 {
        return error;
    }
    let limits = Limits {
        registers: facts.free_registers,
        cycles: u64::MAX,
        overlap: false,
    };
    let sets = match parameters(method, &request.params, request.plan.as_ref()) {
        Ok(given) if given.is_empty() => match (method.defaults)(spec, &facts) {
            // A method that is made only where it is named.
            none if none.is_empty() => vec![given],
            sets => sets,
        },
        given => given.into_iter().collect(),
    };
    let mut refused = None;
    for params in sets {
        let plan = Plan::of(spec, core, method, params, &facts, Some(made));
        match plan.and_then(|plan| plan.candidates(spec, core, limits)) {
            Ok(_) => return error,
            Err(failed) => refused = refused.or(Some(failed)),
        }
    }
    refused.unwrap_or(error)
}

/// Of two reasons the one that says more: that others have no such style says least, that a machine
/// does not multiply most.
pub(super) fn more_telling(known: Option<Error>, new: Error) -> Error {
    let says = |error: &Error| match error {
        // About another machine.
        Error::Method(MethodError::Multiplies(_)) => 0,
        Error::Style { .. } => 1,
        Error::Method(MethodError::OnlyLoops(_) | MethodError::Shifted(_)) => 2,
        // Every fold says it.
        Error::Method(MethodError::LazyFold) => 4,
        Error::Lower {
            error:
                LowerError::NoMultiplier(_) | LowerError::NoProducts(_) | LowerError::ByAdditions(_),
            ..
        } => 4,
        // Another method would have been taken, but for the overlap, or its time.
        Error::Overlap { .. } | Error::NotInOneTime(_) => 5,
        _ => 3,
    };
    match known {
        Some(known) if says(&known) >= says(&new) => known,
        _ => new,
    }
}
