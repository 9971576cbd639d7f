//! Instructions and faults as text, for reports.

use crate::fault::{Fault, Source};
use crate::function::Function;
use crate::isa::core::{Core, Insn};
use crate::isa::cost::Stopped;

/// `0x1a: adc r2, r3`.
pub fn at(core: &Core, function: &Function, pc: usize) -> String {
    let shown = function.shown(pc);
    match instruction(core, function, pc) {
        Some((insn, _)) => format!("{shown:#x}: {}", insn.text()),
        None => format!("{shown:#x}"),
    }
}

/// The instruction at `pc`, and its bytes.
pub fn instruction(core: &Core, function: &Function, pc: usize) -> Option<(Insn, usize)> {
    [2, 4].into_iter().find_map(|len| {
        let bytes = function.code_at(pc as u64, len);
        let list = core.decode(bytes).ok()?;
        let known = function.marks.gap(pc as u64, bytes.len()).is_none();
        Some((list.first()?.1, bytes.len())).filter(|_| known)
    })
}

/// Bytes of what stands at `pc`, if that is an instruction, known or not.
fn lacking(core: &Core, function: &Function, pc: usize) -> usize {
    let whole = |len: &usize| core.decode(function.code_at(pc as u64, *len)).is_ok();
    [2, 4].into_iter().find(whole).unwrap_or(2)
}

/// A fault in words, with its instruction, and the way that a secret took to it.
pub fn describe(core: &Core, function: &Function, (pc, fault): &Stopped) -> String {
    let missing = function.marks.gap(*pc as u64, lacking(core, function, *pc));
    if let Some(text) = missing {
        return format!("{text} at {:#x}", function.shown(*pc));
    }
    let text = if let Fault::Fetch(to) = fault {
        Fault::Fetch(function.shown(*to)).to_string()
    } else {
        fault.to_string()
    };
    let text = format!("{text} at {}", at(core, function, *pc));
    match fault.source() {
        Some(source) => text + &way(core, function, source, *pc),
        None => text,
    }
}

/// `, by way of 0x4: ldr r2, [r2], ...`: the instructions that a secret passed before the one at `pc`.
pub fn way(core: &Core, function: &Function, source: &Source, pc: usize) -> String {
    /// Steps told in full: those at the beginning and those at the end.
    const TOLD: usize = 3;
    let steps = source.path.iter().filter(|step| **step != pc);
    let steps: Vec<_> = steps.map(|pc| at(core, function, *pc)).collect();
    match steps.len() {
        0 => String::new(),
        n if n <= 2 * TOLD => format!(", by way of {}", steps.join(", ")),
        n => format!(
            ", by way of {}, ..., {}",
            steps[..TOLD].join(", "),
            steps[n - TOLD..].join(", ")
        ),
    }
}
