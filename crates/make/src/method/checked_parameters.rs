//! Parameters and sizes that a method checks before it makes a schedule.

use spec::Spec;

use crate::facts::{Facts, Style};
use crate::method::signature::{MethodError, Params};

/// Words of each operand, where both must have as many.
pub fn one_size(method: &'static str, spec: &Spec, facts: &Facts) -> Result<usize, MethodError> {
    match spec.words(facts.word_bits) {
        [n, m] if n == m => Ok(n),
        _ => Err(MethodError::TwoSizes { method }),
    }
}

/// Nothing but straight code is asked for.
pub fn straight(method: &'static str, facts: &Facts) -> Result<(), MethodError> {
    match facts.style {
        Style::Unrolled => Ok(()),
        Style::Looped | Style::Rolled => Err(MethodError::Straight(method)),
    }
}

/// A parameter that must be given and is at least 1.
pub fn positive(
    method: &'static str,
    parameter: &'static str,
    params: &Params,
) -> Result<usize, MethodError> {
    match params.get(parameter) {
        None => Err(MethodError::Missing { method, parameter }),
        Some(0) => Err(MethodError::TooSmall {
            method,
            parameter,
            value: 0,
            least: 1,
        }),
        Some(value) => Ok(*value),
    }
}

/// `e` words of each operand kept in registers: at least 1, and as many as fit.
pub fn cached_words(
    method: &'static str,
    facts: &Facts,
    params: &Params,
) -> Result<usize, MethodError> {
    let parameter = "e";
    let e = positive(method, parameter, params)?;
    let largest = facts.operand_registers() / 2;
    if e > largest {
        return Err(MethodError::Registers {
            method,
            parameter,
            value: e,
            need: e
                .saturating_mul(2)
                .saturating_add(facts.accumulator_registers + facts.constant_registers),
            free: facts.free_registers,
            largest,
        });
    }
    Ok(e)
}
