//! Two nested loops and the chains behind them, written once for machines whose carries are words.
//!
//! A machine says how it adds, compares, loads, stores and branches ([`asm::Asm`]), and how it adds up products
//! ([`sweep::Sweep`]): in HI and LO, or in three registers. The loops know nothing else of it.

pub mod asm;
pub mod links;
pub mod nest;
pub mod scans;
pub mod sweep;
