//! Why there is no kernel, and what to type instead.

use thiserror::Error;

use crate::facts::Style;
use crate::method::signature::MethodError;
use crate::refusal::LowerError;
use crate::schedule::ScheduleError;
use spec::SpecError;

/// Why there is no kernel.
#[derive(Error, Debug)]
pub enum Error {
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error("unknown method {name}{hint}; `lozenge list methods` names them all")]
    UnknownMethod { name: String, hint: String },
    #[error("{method} has no parameter {name}; it takes {known}")]
    UnknownParameter {
        method: &'static str,
        name: String,
        known: String,
    },
    #[error("-p needs --method: parameters belong to a method")]
    ParameterWithoutMethod,
    #[error("{method} does not compute {op}: {able} do, or leave out --method")]
    WrongOperation {
        method: &'static str,
        op: &'static str,
        /// Methods that compute it.
        able: String,
    },
    #[error(transparent)]
    Method(#[from] MethodError),
    #[error("{method}: {error}{}", advice(.error, .others))]
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
    #[error("{method}: no {asked} form here, only {}{}: try --style {}{}", made.name(), because(.why), made.name(), other(.others, ", or "))]
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
    #[error("no method makes {0}: `lozenge check --op {0}` audits a function that computes it")]
    NoMethod(&'static str),
    #[error(
        "no method makes it here: leave out --method, --style and --max-regs, or try another size"
    )]
    Nothing,
    #[error(
        "no kernel here is right where {0}, not even {1}: leave out --alias, and let r lie elsewhere"
    )]
    Overlap(&'static str, String),
    #[error("{op} has no {operand}: leave out --alias {alias}")]
    NoAlias {
        op: &'static str,
        operand: &'static str,
        alias: &'static str,
    },
    #[error(
        "operands and result take {bytes} bytes, and {part} has {ram} of RAM: try a larger part or fewer bits, or, if \
         they need not all be there, --max-stack 64"
    )]
    Operands {
        part: &'static str,
        ram: usize,
        bytes: usize,
    },
    #[error("no kernel {limits}: {nearest}")]
    Budget {
        /// `within --max-flash 100`, or `fits attiny85 (...)`.
        limits: String,
        nearest: String,
        /// Bytes of the smallest, where it is too long.
        least: Option<usize>,
    },
}

/// A method, as it is typed.
fn other(name: &Option<&'static str>, before: &str) -> String {
    let typed = |name| format!("{before}--style rolled --method {name}");
    name.map_or(String::new(), typed)
}

/// A reason, in brackets.
fn because(why: &Option<&'static str>) -> String {
    why.map_or(String::new(), |why| format!(" ({why})"))
}

/// What works where this does not: a machine knows no method.
fn advice(error: &LowerError, others: &Option<&'static str>) -> String {
    let text = match error {
        LowerError::NoMultiplier(_) => {
            ": mul and sqr are made by shift-and-add there, and on cores with 32 registers by hybrid and \
             square-product-scanning, montmul and montsqr by shift-and-add+sps and hfips, redc, tomont and frommont \
             by fips, modmul and modsqr by hybrid+fold and square-product-scanning+fold"
        }
        LowerError::ThreePointers => {
            let loops = others.map(|_| other(others, "") + ", or ");
            return format!(": try {}--abi gcc", loops.unwrap_or_default());
        }
        LowerError::Loops
        | LowerError::Sums(_)
        | LowerError::RowsOfQuotients
        | LowerError::WideRows
        | LowerError::Blocks => return other(others, ": try "),
        LowerError::Column(_) => ": try larger ones, --method hfips or hybrid -p d=4",
        LowerError::Displacements(_) => ": there only mul and sqr are made, by shift-and-add",
        _ => "",
    };
    text.to_string()
}
