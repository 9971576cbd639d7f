//! What a refusal says, with what the command line says to type instead.

use lozenge::kernel::Error;
use lozenge::spec::SpecError;

#[path = "../../src/cli/instead.rs"]
#[allow(dead_code, reason = "tests ask for some of it")]
mod words;

/// The error, and what works instead, where something does.
pub fn instead(error: &Error) -> String {
    let advice = match error {
        Error::Style { made, others, .. } => {
            let others = others.map(words::in_loops);
            let own = std::iter::once(format!("--style {}", made.name()));
            Some(own.chain(others).collect::<Vec<_>>().join(", or "))
        }
        Error::Lower { error, others, .. } => words::lowering(error, *others),
        Error::Method(error) => words::method(error),
        Error::Spec(error) => words::spec(error),
        _ => None,
    };
    with(error.to_string(), advice)
}

/// The same of a size or a modulus.
pub fn spec(error: &SpecError) -> String {
    with(error.to_string(), words::spec(error))
}

fn with(error: String, advice: Option<String>) -> String {
    match advice {
        Some(advice) => format!("{error}: try {advice}"),
        None => error,
    }
}
