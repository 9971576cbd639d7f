//! Why there is no kernel.

use spec::nearest::question;
use spec::{Alias, SpecError};
use thiserror::Error;

use crate::budget::{Budget, Nearest, Room};
use crate::facts::Style;
use crate::method::signature::MethodError;
use crate::refusal::LowerError;
use crate::schedule::ScheduleError;

/// Why there is no kernel.
#[derive(Error, Debug)]
pub enum Error {
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error("unknown method {name}{}", question(*.nearest))]
    UnknownMethod {
        name: String,
        nearest: Option<&'static str>,
    },
    #[error("{method} has no parameter {name}")]
    UnknownParameter {
        method: &'static str,
        name: String,
        /// Those that it takes.
        known: Vec<&'static str>,
    },
    #[error("{0} is no name of a plan")]
    NumberOfPlan(usize),
    #[error("parameters belong to a method, and none is named")]
    ParameterWithoutMethod,
    #[error("{method} does not compute {op}")]
    WrongOperation {
        method: &'static str,
        op: &'static str,
        /// Methods that compute it: three at most.
        able: Vec<&'static str>,
    },
    #[error(transparent)]
    Method(#[from] MethodError),
    #[error("{method}: {error}")]
    Lower {
        method: &'static str,
        error: LowerError,
        /// A method that makes the same in loops.
        others: Option<&'static str>,
    },
    #[error("{method} made an invalid schedule (a defect of this tool): {error}")]
    Schedule {
        method: &'static str,
        error: ScheduleError,
    },
    #[error("{0} (a defect of this tool)")]
    Encode(String),
    #[error("{method}: no {asked} form here, only {}{}", made.name(), because(.why))]
    Style {
        method: &'static str,
        asked: &'static str,
        made: Style,
        /// What in its arithmetic keeps it from being loops.
        why: Option<&'static str>,
        /// A method that makes the same in loops.
        others: Option<&'static str>,
    },
    #[error("there is no instruction {0}: the kernel has {1}")]
    Drop(usize, usize),
    #[error("no method makes {0}")]
    NoMethod(&'static str),
    #[error("no method makes it here")]
    Nothing,
    #[error("no method makes it in one time here; not even {0}")]
    NotInOneTime(String),
    #[error("no kernel is right where {}; not even {method}", alias.text())]
    Overlap {
        /// How operands and result share memory.
        alias: Alias,
        /// A method that was tried.
        method: String,
    },
    #[error("{op} has no {operand}")]
    NoAlias {
        op: &'static str,
        operand: &'static str,
        alias: Alias,
    },
    #[error("operands and result take {bytes} bytes, and {part} has {ram} of RAM")]
    Operands {
        part: &'static str,
        ram: usize,
        bytes: usize,
    },
    #[error("no kernel is within the bytes of code and stack that it may take")]
    Budget {
        /// What it may take.
        limits: Budget,
        /// The part that they come from, where nobody gave them.
        part: Option<Room>,
        /// What comes nearest.
        nearest: Vec<Nearest>,
        /// Bytes of the smallest, where it is too long.
        least: Option<usize>,
    },
}

/// A reason, in brackets.
fn because(why: &Option<&'static str>) -> String {
    why.map_or(String::new(), |why| format!(" ({why})"))
}
