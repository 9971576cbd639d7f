//! Why there is no target, kernel or audit, as data. What to type instead, the command line knows.

use std::fmt;

use make::candidate::{Budget, Nearest};
use make::error::Error as MakeError;
use make::facts::Style;
use make::lower::LowerError;
use make::method::MethodError;
use make::request::Room;
use spec::nearest::question;
use spec::{Alias, SpecError};

use crate::audit::ContractError;
use crate::load::LoadError;
use crate::report::Report;
use crate::target::TargetError;

/// What a name is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum What {
    /// A part: `atmega328p`.
    Part,
    /// A core: `arm7tdmi`.
    Core,
    /// An extension of a core: `wide-acc`.
    Extension,
    /// A method: `operand-caching`.
    Method,
    /// A parameter of a method: `e`.
    Parameter,
    /// A modulus: `p256`.
    Modulus,
    /// A plan: `k160-a`.
    Plan,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            What::Part => "part",
            What::Core => "core",
            What::Extension => "extension",
            What::Method => "method",
            What::Parameter => "parameter",
            What::Modulus => "modulus",
            What::Plan => "plan",
        })
    }
}

/// Why there is no target, kernel or audit.
#[derive(thiserror::Error, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A name that nothing has.
    #[error("unknown {what} {name}{}", question(.nearest.as_deref()))]
    Unknown {
        /// What it should be a name of.
        what: What,
        /// The name.
        name: String,
        /// The one that may be meant.
        nearest: Option<String>,
        /// The core or method whose names these are.
        of: Option<String>,
        /// Names that there are: all of an extension, of a parameter.
        known: Vec<&'static str>,
    },
    /// A target that cannot be.
    #[error(transparent)]
    Target(TargetError),
    /// Sizes or a modulus that do not fit the operation.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A parameter for which there are too few registers.
    #[error(
        "{method} {parameter}={value}: need {need} registers, {free} are free: the largest {parameter} that fits is \
         {largest}"
    )]
    Registers {
        /// The method.
        method: &'static str,
        /// Its parameter.
        parameter: &'static str,
        /// What was asked for.
        value: usize,
        /// Registers that it needs.
        need: usize,
        /// Registers that are free.
        free: usize,
        /// The largest value that fits.
        largest: usize,
    },
    /// No kernel is within the limits.
    #[error("no kernel is within {limits:?}")]
    Budget {
        /// The most it may take.
        limits: Budget,
        /// The part that the limits come from, where the request does not say them.
        part: Option<Room>,
        /// What comes nearest.
        nearest: Vec<Nearest>,
    },
    /// The part has no memory for operands and result.
    #[error("operands and result take {bytes} bytes, and {part} has {ram} of RAM")]
    Operands {
        /// The part.
        part: &'static str,
        /// Bytes of RAM that it has.
        ram: usize,
        /// Bytes that operands and result take.
        bytes: usize,
    },
    /// A method that is not for this machine, or not in this form.
    #[error("{method}: {why}")]
    NotForTarget {
        /// The method.
        method: &'static str,
        /// What the machine says.
        why: LowerError,
        /// A method that makes the same in loops.
        instead: Option<&'static str>,
    },
    /// A method that is not for these numbers, or not with these parameters.
    #[error(transparent)]
    Method(MethodError),
    /// A method does not compute the operation.
    #[error("{method} does not compute {op}")]
    Operation {
        /// The method.
        method: &'static str,
        /// The operation.
        op: &'static str,
        /// Methods that do: three at most.
        able: Vec<&'static str>,
    },
    /// A method that has no such style here.
    #[error("{method}: no {asked} form here, only {}", made.name())]
    Style {
        /// The method.
        method: &'static str,
        /// The style that was asked for.
        asked: &'static str,
        /// The one that there is.
        made: Style,
        /// What in its arithmetic keeps it from being loops.
        why: Option<&'static str>,
        /// A method that makes the same in loops.
        instead: Option<&'static str>,
    },
    /// Parameters without a method that they belong to.
    #[error("parameters belong to a method, and none is named")]
    NoMethodNamed,
    /// No method makes the operation, on any machine.
    #[error("no method makes {0}")]
    NoMethod(&'static str),
    /// No method makes it on this machine, at this size, in this style.
    #[error("no method makes it here")]
    Nothing,
    /// The time of all kernels depends on operands, also of the one by this method.
    #[error("no method makes it in one time here; not even {0}")]
    NotInOneTime(String),
    /// No kernel is right where operands and result share memory as it was asked for.
    #[error("no kernel is right where {}; not even {method}", alias.text())]
    Overlap {
        /// How they share memory.
        alias: Alias,
        /// A method that was tried.
        method: String,
    },
    /// An overlap with an operand that the operation has not.
    #[error("{op} has no {operand}")]
    NoAlias {
        /// The operation.
        op: &'static str,
        /// The operand.
        operand: &'static str,
        /// The overlap.
        alias: Alias,
    },
    /// An instruction that is to be left out, and is not there: its index, and how many there are.
    #[error("there is no instruction {0}: the kernel has {1}")]
    NoInstruction(usize, usize),
    /// A file without the function.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A contract that does not fit the function.
    #[error(transparent)]
    Contract(ContractError),
    /// Numbers that a kernel is not for: too many, too few, or one that is too large.
    #[error("{0}")]
    Numbers(String),
    /// A run that stopped, and where.
    #[error("{0}")]
    Stopped(String),
    /// The cheapest kernel that there is, and not all that was demanded is proved of it.
    #[error("{} is not proved: {}", .0.spec.symbol, .0.open().join("; "))]
    Unproved(Box<Report>),
    /// There is nothing to certify.
    #[error("{}: there is nothing to certify: {why}", alias.text())]
    NothingToCertify {
        /// How operands share memory.
        alias: Alias,
        /// What stayed open.
        why: String,
    },
    /// A certificate whose variables are not defined as they must be.
    #[error("{0}")]
    Certificate(String),
    /// The question cannot be put to a solver.
    #[error("{0}")]
    Export(String),
    /// A defect of this tool.
    #[error("{0} (a defect of this tool)")]
    Defect(String),
}

impl From<TargetError> for Error {
    fn from(error: TargetError) -> Self {
        let unknown = |what, name, nearest: Option<&'static str>| Error::Unknown {
            what,
            name,
            nearest: nearest.map(String::from),
            of: None,
            known: Vec::new(),
        };
        match error {
            TargetError::UnknownMcu { name, nearest } => unknown(What::Part, name, nearest),
            TargetError::UnknownCore { name, nearest } => unknown(What::Core, name, nearest),
            TargetError::UnknownExtension {
                core,
                name,
                nearest,
                known,
            } => Error::Unknown {
                what: What::Extension,
                name,
                nearest: nearest.map(String::from),
                of: Some(core),
                known,
            },
            TargetError::PartIsCore(_)
            | TargetError::CoreIsPart(_)
            | TargetError::NotYet { .. }
            | TargetError::Conflict(..)
            | TargetError::Missing
            | TargetError::NoBigEndian(_)
            | TargetError::NoDialect { .. }
            | TargetError::NoAbi { .. }
            | TargetError::NoIrq { .. } => Error::Target(error),
        }
    }
}

impl From<MakeError> for Error {
    fn from(error: MakeError) -> Self {
        match error {
            MakeError::Spec(error) => Error::Spec(error),
            MakeError::UnknownMethod { name, nearest } => Error::Unknown {
                what: What::Method,
                name,
                nearest: nearest.map(String::from),
                of: None,
                known: Vec::new(),
            },
            MakeError::UnknownParameter {
                method,
                name,
                known,
            } => Error::Unknown {
                what: What::Parameter,
                name,
                nearest: None,
                of: Some(method.into()),
                known,
            },
            MakeError::NumberOfPlan(number) => Error::Unknown {
                what: What::Plan,
                name: number.to_string(),
                nearest: None,
                of: None,
                known: Vec::new(),
            },
            MakeError::ParameterWithoutMethod => Error::NoMethodNamed,
            MakeError::WrongOperation { method, op, able } => Error::Operation { method, op, able },
            MakeError::Method(MethodError::Registers {
                method,
                parameter,
                value,
                need,
                free,
                largest,
            }) => Error::Registers {
                method,
                parameter,
                value,
                need,
                free,
                largest,
            },
            MakeError::Method(error) => Error::Method(error),
            MakeError::Lower {
                method,
                error,
                others,
            } => Error::NotForTarget {
                method,
                why: error,
                instead: others,
            },
            MakeError::Schedule { method, error } => {
                Error::Defect(format!("{method} made an invalid schedule: {error}"))
            }
            MakeError::Encode(text) => Error::Defect(text),
            MakeError::Style {
                method,
                asked,
                made,
                why,
                others,
            } => Error::Style {
                method,
                asked,
                made,
                why,
                instead: others,
            },
            MakeError::Drop(index, count) => Error::NoInstruction(index, count),
            MakeError::NoMethod(op) => Error::NoMethod(op),
            MakeError::Nothing => Error::Nothing,
            MakeError::NotInOneTime(method) => Error::NotInOneTime(method),
            MakeError::Overlap { alias, method } => Error::Overlap { alias, method },
            MakeError::NoAlias { op, operand, alias } => Error::NoAlias { op, operand, alias },
            MakeError::Operands { part, ram, bytes } => Error::Operands { part, ram, bytes },
            MakeError::Budget {
                limits,
                part,
                nearest,
                ..
            } => Error::Budget {
                limits,
                part,
                nearest,
            },
        }
    }
}

impl From<ContractError> for Error {
    fn from(error: ContractError) -> Self {
        match error {
            ContractError::Spec(error) => Error::Spec(error),
            ContractError::Arguments(_) | ContractError::Scratch(_) => Error::Contract(error),
        }
    }
}
