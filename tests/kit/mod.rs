//! What test binaries share: how much is tried, what is asked for, faults, and the oracles that we did not write. Every binary takes it whole
//! with `#[path]`; a part that one of them does not use is used by another.
#![allow(dead_code)]

pub mod ask;
pub mod mutants;
pub mod oracle;
pub mod refused;
pub mod tier;
pub mod words;
pub mod work;
