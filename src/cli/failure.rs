//! What went wrong, for people and for scripts.

use lozenge::driver::build;
use lozenge::kernel;
use lozenge::target::TargetError;
use serde_json::json;

use crate::cli::output;

/// Why there is no result; exit code 2.
#[derive(Debug)]
pub struct Failure {
    /// `usage`, `target`, `kernel`, `budget` or `file`: the words of the schema.
    kind: &'static str,
    message: String,
}

impl Failure {
    /// A file that cannot be read or written.
    pub fn file(message: String) -> Self {
        let kind = "file";
        Self { kind, message }
    }

    /// One line on standard error, or one object on standard output: `{"error": {"kind", "message", "try"}}`.
    pub fn told(&self, as_json: bool) {
        let Failure { kind, message } = self;
        let text = message.strip_prefix("error: ").unwrap_or(message);
        match as_json {
            true => {
                let error = json!({"kind": kind, "message": text, "try": advice(text)});
                // Nobody is left to tell if this cannot be printed.
                let _ = output::say(&json!({ "error": error }).to_string());
            }
            false => output::tell(&format!("error: {text}")),
        }
    }
}

/// What to do instead: the words behind the last `try`, or `leave out`.
fn advice(message: &str) -> Option<&str> {
    let after = |word: &str| Some(message.rfind(word)? + word.len());
    let rest = match (after("try "), message.rfind("leave out ")) {
        (Some(at), leave) if leave.is_none_or(|leave| leave < at) => &message[at..],
        (_, Some(at)) => &message[at..],
        (_, None) => return None,
    };
    Some(rest.trim_end_matches(')'))
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        let kind = "usage";
        Self { kind, message }
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        Self::from(message.to_string())
    }
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        Self {
            kind: "target",
            message: error.to_string(),
        }
    }
}

impl From<kernel::Error> for Failure {
    fn from(error: kernel::Error) -> Self {
        let kind = match error {
            kernel::Error::Budget { .. } | kernel::Error::Operands { .. } => "budget",
            kernel::Error::Spec(_) => "usage",
            _ => "kernel",
        };
        Self {
            kind,
            message: error.to_string(),
        }
    }
}

impl From<build::Error> for Failure {
    fn from(error: build::Error) -> Self {
        match error {
            build::Error::Kernel(error) => error.into(),
            build::Error::Flash { .. } => Self {
                kind: "budget",
                message: error.to_string(),
            },
            _ => Self {
                kind: "kernel",
                message: error.to_string(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::advice;

    #[test]
    fn advice_is_what_stands_behind_try() {
        let told = [
            ("7 bits are no words: try 8", Some("8")),
            ("no b: leave out --alias r=b", Some("leave out --alias r=b")),
            ("what (try `lozenge --help`)", Some("`lozenge --help`")),
            ("try this, or leave out that", Some("leave out that")),
            ("cannot write", None),
        ];
        for (message, want) in told {
            assert_eq!(advice(message), want, "{message}");
        }
    }
}
