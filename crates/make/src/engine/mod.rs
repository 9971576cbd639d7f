//! Lowering that is written once for several machines. Straight code ([`words`]), where a carry is a word that a
//! comparison makes ([`word_chains`]) or a flag ([`flag_chains`]). For machines without a carry flag: two nested loops and
//! the chains behind them ([`scans`]). For machines with words of 32 bits: drivers ([`drive`]), and
//! products that call themselves ([`halves`]).
//!
//! A machine says how it adds, compares, loads and stores ([`basic::Basic`], or
//! [`flag_chains::Flagged`]), how it branches ([`asm::Asm`]), and how it
//! adds up products, in straight code ([`words::Columns`]) and in loops ([`sweep::Sweep`]): in HI and LO, or in three
//! registers. Where results may be late, [`order`] moves instructions. For drivers it says its registers by role, its carries, calls and loops ([`driven::Driven`]). The engine
//! knows nothing else of it.

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
