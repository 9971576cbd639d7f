//! The energy of a kernel in its report.

use machine::isa::energy::{Currents, Energy, Spent};
use serde::Serialize;

/// Energy in the two conventions, and the currents that it follows from.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct EnergyReport {
    /// Without what only serves the call.
    pub body: Energy,
    /// From the first instruction to the return.
    pub call: Energy,
    /// Who says so, and of which voltage and clock.
    pub currents: Currents,
}

impl EnergyReport {
    /// Of cycles of a body, and of its call alone.
    pub fn of([body, frame]: &[Spent; 2], currents: Currents) -> Self {
        Self {
            body: currents.energy(body),
            call: currents.energy(&body.and(frame)),
            currents,
        }
    }

    /// `1.93..2.31 uJ body, 1.96..2.34 uJ call, 0.185..0.187 A (source: 1.5 V, 206 MHz)`.
    pub fn text(&self) -> String {
        let Currents {
            source,
            volts,
            megahertz,
            ..
        } = &self.currents;
        let [body, call] = [&self.body, &self.call].map(|e| joules(e.nanojoules));
        let amperes = span(self.call.amperes.map(|a| format!("{a:.3}")));
        format!("{body} body, {call} call, {amperes} A at {volts} V and {megahertz} MHz ({source})")
    }
}

/// One number, or the least and the most.
fn span([least, most]: [String; 2]) -> String {
    match least == most {
        true => most,
        false => format!("{least}..{most}"),
    }
}

/// At least and at most, in the unit of the most.
pub fn joules(nanojoules: [f64; 2]) -> String {
    let [_, most] = nanojoules;
    let (scale, unit) = match most {
        ..1e3 => (1.0, "nJ"),
        1e3..1e6 => (1e-3, "uJ"),
        _ => (1e-6, "mJ"),
    };
    let numbers = nanojoules.map(|e| format!("{:.2}", e * scale));
    format!("{} {unit}", span(numbers))
}

/// What is said where nothing is known.
pub const NO_DATA: &str = "no data: --energy FILE gives the currents of a core";
