//! What is written once for machines whose carries are words: straight code ([`words`]), two nested loops and the chains
//! behind them ([`scans`]).
//!
//! A machine says how it adds, compares, loads and stores ([`basic::Basic`]), how it branches ([`asm::Asm`]), and how it
//! adds up products, in straight code ([`words::Columns`]) and in loops ([`sweep::Sweep`]): in HI and LO, or in three
//! registers. The engine knows nothing else of it.

pub mod asm;
pub mod basic;
pub mod links;
pub mod nest;
pub mod scans;
pub mod sweep;
pub mod words;
