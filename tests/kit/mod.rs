//! What test binaries share: how much is tried, and the oracles that we did not write. Every binary takes it whole
//! with `#[path]`; a part that one of them does not use is used by another.
#![allow(dead_code)]

pub mod oracle;
pub mod tier;
pub mod words;
pub mod work;
