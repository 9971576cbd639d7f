//! What tests share: how much is tried, what is asked for, faults, and the oracles that we did not write.

pub mod ask;
pub mod book;
pub mod crates;
pub mod icicle;
pub mod known;
pub mod mspdebug;
pub mod mutants;
pub mod oracle;
pub mod paper;
pub mod refused;
pub mod tier;
pub mod words;
pub mod work;

use lozenge::isa::core::{Core, Insn};

/// A machine's core as the library takes it.
pub fn any<C: Clone + Into<Core>>(core: &C) -> Core {
    core.clone().into()
}

/// Instructions as their machine knows them.
///
/// # Panics
/// When one is another machine's.
pub fn own<I: TryFrom<Insn>>(insns: &[Insn]) -> Vec<I> {
    let own = insns.iter().map(|insn| I::try_from(*insn).ok());
    own.map(|insn| insn.expect("an instruction of this machine"))
        .collect()
}
