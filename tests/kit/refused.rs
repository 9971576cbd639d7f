//! What a refusal says, and, as an error holds it as data, what it names that works instead.

use lozenge::kernel::Error;
use lozenge::lower::LowerError;

/// The error, and style and method that work where it names some.
pub fn instead(error: &Error) -> String {
    let rolled = |name: &Option<&str>| {
        let typed = |name: &str| format!("--style rolled --method {name}");
        name.map(typed)
    };
    let named = match error {
        Error::Style { made, others, .. } => {
            let own = format!("--style {}", made.name());
            [Some(own), rolled(others)]
        }
        Error::Lower {
            error: LowerError::Column(_),
            ..
        } => [Some("--method hfips".into()), None],
        Error::Lower {
            error:
                LowerError::Loops
                | LowerError::Sums(_)
                | LowerError::RowsOfQuotients
                | LowerError::WideRows
                | LowerError::Blocks
                | LowerError::ThreePointers,
            others,
            ..
        } => [rolled(others), None],
        _ => [None, None],
    };
    let named: Vec<_> = named.into_iter().flatten().collect();
    match named.is_empty() {
        true => error.to_string(),
        false => format!("{error}: try {}", named.join(", or ")),
    }
}
