//! The price of constant time on cores whose multiplier stops early.

use machine::isa::{Cost, Span};
use serde::Serialize;

/// Beside a kernel in one time, or a refusal: the fastest kernel, which leaks.
#[derive(Clone, Debug, Serialize)]
pub struct OneTime {
    /// The fastest kernel's method.
    pub fastest: String,
    /// Cycles of its body, over all inputs.
    pub body: Span,
    /// Cycles of a call of it.
    pub call: Span,
    /// Why there is no kernel in one time, if there is none.
    pub refused: Option<String>,
}

impl OneTime {
    /// Beside the fastest kernel; with the reason if no other is made.
    pub fn beside(fastest: String, cost: &Cost, refused: Option<String>) -> Self {
        Self {
            fastest,
            body: cost.body,
            call: cost.call,
            refused,
        }
    }

    /// `1.81 times the cycles of product-scanning, which leaks`, with both bodies; or why there is no such kernel.
    pub fn text(&self, own: &Span) -> String {
        let (fastest, most, body) = (&self.fastest, self.body.max, own.max);
        match &self.refused {
            None => {
                let times = body as f64 / most as f64;
                format!(
                    "{times:.2} times the cycles of {fastest}, which leaks ({body} body for at most {most})"
                )
            }
            Some(why) => {
                format!("refused: {why}; {fastest}, which leaks, takes at most {most} body")
            }
        }
    }
}
