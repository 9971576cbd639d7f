//! What went wrong, for people and for scripts.

use lozenge::driver::build;
use lozenge::target::TargetError;
use lozenge::{Error, What, kernel};
use serde_json::json;

use crate::cli::advice::advice;
use crate::cli::output;
use crate::cli::words::{self, Said};

/// Why there is no result; exit code 2.
#[derive(Debug)]
pub struct Failure {
    /// `usage`, `target`, `kernel`, `budget` or `file`: the words of the schema.
    kind: &'static str,
    message: String,
    /// What to do instead.
    advice: Option<String>,
}

impl Failure {
    /// A file that cannot be read or written.
    pub fn file(message: String) -> Self {
        Self {
            kind: "file",
            ..Self::from(message)
        }
    }

    /// The line that people read.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The same behind the name of what it is about.
    pub fn of(self, name: impl std::fmt::Display) -> Self {
        Self {
            message: format!("{name}: {}", self.message),
            ..self
        }
    }

    /// One line on standard error, or one object on standard output: `{"error": {"kind", "message", "try"}}`.
    pub fn told(&self, as_json: bool) {
        let Failure {
            kind,
            message,
            advice,
        } = self;
        let text = message.strip_prefix("error: ").unwrap_or(message);
        match as_json {
            true => {
                let error = json!({"kind": kind, "message": text, "try": advice});
                // Nobody is left to tell if this cannot be printed.
                let _ = output::say(&json!({ "error": error }).to_string());
            }
            false => output::tell(&format!("error: {text}")),
        }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self {
            kind: "usage",
            advice: advice(&message).map(String::from),
            message,
        }
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        Self::from(message.to_string())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Unknown { what, .. } => match what {
                What::Part | What::Core | What::Extension => "target",
                What::Modulus | What::Plan => "usage",
                _ => "kernel",
            },
            Error::Target(TargetError::NoDialect { .. }) => "usage",
            Error::Target(_) => "target",
            Error::Budget { .. } | Error::Operands { .. } => "budget",
            Error::Load(_) => "file",
            Error::Spec(_)
            | Error::Contract(_)
            | Error::Certificate(_)
            | Error::Export(_)
            | Error::NothingToCertify { .. } => "usage",
            _ => "kernel",
        };
        let Said { text, advice } = words::of(&error);
        Self {
            kind,
            message: text,
            advice,
        }
    }
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        Error::from(error).into()
    }
}

impl From<kernel::Error> for Failure {
    fn from(error: kernel::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<build::Error> for Failure {
    fn from(error: build::Error) -> Self {
        match error {
            build::Error::Kernel(error) => error.into(),
            build::Error::Flash { wanted, .. } => Self {
                kind: "budget",
                ..Self::from(format!("{error}: try --max-flash {wanted}"))
            },
            build::Error::Link(_) => Self {
                kind: "budget",
                ..Self::from(format!("{error}: try --max-flash 47k"))
            },
            _ => Self {
                kind: "kernel",
                ..Self::from(error.to_string())
            },
        }
    }
}
