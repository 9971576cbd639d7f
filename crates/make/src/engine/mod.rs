//! Lowering that is written once for several machines.
//!
//! | file | what | a machine says |
//! |---|---|---|
//! | [`words`], [`word_chains`], [`flag_chains`] | straight code, where a carry is a word that a comparison makes, or a flag | [`basic::Basic`] or [`flag_chains::Flagged`]; [`words::Columns`] |
//! | [`straight`], [`columns_in_rows`] | whole functions of it | [`straight::Straight`] |
//! | [`scans`], [`nest`], [`links`] | two nested loops, and the chains behind them, without a carry flag | [`asm::Asm`], [`sweep::Sweep`] |
//! | [`rounds`], [`triangle`], [`operand_rows`] | rows in these loops | [`sweep::Sweep`] |
//! | [`order`] | moves instructions where results may be late | |
//! | [`frames`], [`calls`] | what a function saves; functions that call two stages | [`frames::Frames`], [`calls::Calls`] |
//! | [`drive`], [`halves`] | drivers (words of 16 or 32 bits), and products that call themselves (words of 32 bits) | [`driven::Driven`], [`halves::Recursive`] |
//! | [`whole`] | any schedule, on machines that have all of this | [`whole::Whole`] |
//!
//! The engine knows nothing else of a machine.

pub mod asm;
pub mod basic;
pub mod calls;
pub mod columns_in_rows;
pub mod drive;
pub mod driven;
pub mod flag_chains;
pub mod frames;
pub mod halves;
pub mod links;
pub mod nest;
pub mod operand_rows;
pub mod order;
pub mod rounds;
pub mod scans;
pub mod straight;
pub mod sweep;
pub mod triangle;
pub mod whole;
pub mod word_chains;
pub mod words;
