//! Interrupts that are kept out while the multiplier is in use: by the whole function, or column by column.

use machine::isa::msp430::code::{Dest, FLAGS, Insn, Source};
use machine::isa::msp430::cores::Core;
use machine::isa::msp430::instructions::Op;
use machine::isa::msp430::multiplier::Irq;
use machine::isa::msp430::operands::{SP, SR};

/// GIE in SR.
const GIE: u16 = 8;

/// When interrupts are kept out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Masked {
    Never,
    /// From the start of the function to its end.
    Always,
    /// From the first product of a column until its result is read.
    ByColumns,
}

/// When they are kept out of this body.
pub fn masked(core: &Core, body: &[Insn]) -> Masked {
    let starts = |insn: &Insn| match (core.multiplier, insn.ops.dest()) {
        (Some(multiplier), Dest::Absolute(at)) => multiplier.starts(at).then_some(at),
        _ => None,
    };
    // Handlers cannot save what lies between OP2L and OP2H (MPY1).
    let splits = |at: u16| core.multiplier.is_some_and(|m| m.takes_two_words(at));
    let mut started = body.iter().filter_map(starts);
    let is_used = match core.irq {
        Irq::None => false,
        Irq::SaveRestore => started.any(splits),
        Irq::MaskAll | Irq::MaskPerColumn => started.next().is_some(),
    };
    match core.irq {
        Irq::MaskAll if is_used => Masked::Always,
        Irq::MaskPerColumn | Irq::SaveRestore if is_used => Masked::ByColumns,
        _ => Masked::Never,
    }
}

/// DINT, and the instruction behind it, which may still be interrupted (SLAU144, section 2.2).
pub fn close() -> [Insn; 2] {
    let dint = Insn::two(Op::BIC, Source::Constant(GIE), Dest::Register(SR));
    [dint, Insn::nop()]
}

/// The instructions with interrupts kept out of each column, and where each of them is then. SR as it was at entry lies
/// `status` bytes above SP.
pub fn by_columns(core: &Core, insns: &[Insn], status: usize) -> (Vec<Insn>, Vec<usize>) {
    let status = match status {
        0 => Source::Indirect(SP),
        at => Source::Indexed(SP, at as u16),
    };
    let open = Insn::two(Op::MOV, status, Dest::Register(SR));
    let stretches = stretches(core, insns);
    let (mut out, mut places) = (Vec::with_capacity(insns.len()), Vec::new());
    for (at, insn) in insns.iter().enumerate() {
        if stretches.iter().any(|(_, end)| *end == at) {
            out.push(open);
        }
        if stretches.iter().any(|(start, _)| *start == at) {
            out.extend(close());
        }
        places.push(out.len());
        out.push(*insn);
    }
    if stretches.iter().any(|(_, end)| *end == insns.len()) {
        out.push(open);
    }
    (out, places)
}

/// Where the multiplier starts anew, and the first instruction behind its last use at which no flag is waited for.
fn stretches(core: &Core, insns: &[Insn]) -> Vec<(usize, usize)> {
    let Some(multiplier) = core.multiplier else {
        return Vec::new();
    };
    let register = |at: u16| multiplier.register(at.into());
    let uses = |insn: &Insn| {
        let read = matches!(insn.ops.source(), Source::Absolute(at) if register(at).is_some());
        let written = matches!(insn.ops.dest(), Dest::Absolute(at) if register(at).is_some());
        read || written
    };
    let starts = |insn: &Insn| match insn.ops.dest() {
        Dest::Absolute(at) => multiplier.starts_anew(at),
        _ => false,
    };
    let flagless = flagless(insns);
    let mut list: Vec<(usize, usize)> = Vec::new();
    for (at, insn) in insns.iter().enumerate() {
        if !uses(insn) {
            continue;
        }
        let end = (at + 1..insns.len())
            .find(|q| flagless[*q])
            .unwrap_or(insns.len());
        match list.last_mut() {
            // What begins before the last one could end is one with it.
            Some(last) if !starts(insn) || last.1 > at => last.1 = end,
            _ => list.push((at, end)),
        }
    }
    list
}

/// Instructions in front of which no flag is waited for.
pub fn flagless(insns: &[Insn]) -> Vec<bool> {
    let mut live = 0;
    let insns = insns.iter().rev();
    let mut list: Vec<bool> = insns
        .map(|insn| {
            live = live & !insn.writes() | insn.reads() & FLAGS;
            live == 0
        })
        .collect();
    list.reverse();
    list
}
