//! What tests share: how much is tried, what is asked for, faults, and the oracles that we did not write.

pub mod ask;
pub mod mutants;
pub mod oracle;
pub mod refused;
pub mod tier;
pub mod words;
pub mod work;
