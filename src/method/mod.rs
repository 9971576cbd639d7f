//! The methods: pure functions from a spec, a machine's facts and parameters to a [`Schedule`].

pub mod karatsuba;
pub mod operand_caching;
pub mod operand_scanning;
pub mod product_scanning;
pub mod shift_and_add;

use std::collections::BTreeMap;

use thiserror::Error;

use crate::facts::Facts;
use crate::schedule::Schedule;
use crate::spec::{Op, Spec};

/// Method parameters by name: `e = 10`.
pub type Params = BTreeMap<&'static str, usize>;

/// A parameter a method takes.
#[derive(Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub meaning: &'static str,
}

/// One method.
pub struct Method {
    /// The word on the command line, and the name of its file.
    pub name: &'static str,
    pub summary: &'static str,
    pub source: &'static str,
    pub op: Op,
    pub parameters: &'static [Parameter],
    /// Parameters to use when none are given, best first.
    pub defaults: fn(&Spec, &Facts) -> Vec<Params>,
    pub schedule: fn(&Spec, &Facts, &Params) -> Result<Schedule, MethodError>,
}

/// All methods.
pub static METHODS: [&Method; 5] = [
    &operand_caching::METHOD,
    &product_scanning::METHOD,
    &operand_scanning::METHOD,
    &karatsuba::METHOD,
    &shift_and_add::METHOD,
];

/// Why a method has no schedule for these parameters.
#[derive(Error, Debug, Clone, PartialEq, Eq)]
pub enum MethodError {
    #[error(
        "{method} {parameter}={value}: need {need} registers, {free} are free: \
         the largest {parameter} that fits is {largest} (try -p {parameter}={largest})"
    )]
    Registers {
        method: &'static str,
        parameter: &'static str,
        value: usize,
        need: usize,
        free: usize,
        largest: usize,
    },
    #[error("{method} {parameter}={value}: {parameter} is at least {least}")]
    TooSmall {
        method: &'static str,
        parameter: &'static str,
        value: usize,
        least: usize,
    },
    #[error("{method} {parameter}={value}: {parameter} is at most {largest}")]
    TooLarge {
        method: &'static str,
        parameter: &'static str,
        value: usize,
        largest: usize,
    },
    #[error("{0} is for machines without a multiplier, and this one multiplies")]
    Multiplies(&'static str),
    #[error("{method} needs -p {parameter}=...")]
    Missing {
        method: &'static str,
        parameter: &'static str,
    },
}

/// The method called `name`.
pub fn find(name: &str) -> Option<&'static Method> {
    METHODS.iter().copied().find(|m| m.name == name)
}

/// A parameter that must be given and is at least 1.
fn positive(
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
