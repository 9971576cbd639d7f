//! Lozenge: multi-precision arithmetic kernels for small processors, proved on the bytes that ship.
//!
//! ```text
//! Spec --method--> Schedule --lower--> Program --+-- encode -> bytes, ELF object
//! (what)           (which product       |        +-- emit   -> .S, .h
//!                   when)               |        +-- run    -> result, cycles
//!                                  (decoded)     +-- leak   -> constant-time verdict
//!                                                +-- prove  -> for all inputs
//! ```
//!
//! Everything before [`program::Program`] is untrusted; everything after it works on
//! decoded bytes, wherever they came from.

pub mod allocate;
pub mod audit;
pub mod candidate;
pub mod certificate;
pub mod checker;
pub mod domain;
pub mod driver;
pub mod emit;
pub mod facts;
pub mod fault;
pub mod function;
pub mod hints;
pub mod intervals;
pub mod isa;
pub mod kernel;
pub mod load;
pub mod method;
pub mod nearest;
pub mod program;
pub mod prove;
pub mod report;
pub mod request;
pub mod schedule;
pub mod segment;
#[cfg(debug_assertions)]
pub mod shared;
pub mod smt;
pub mod spec;
pub mod target;
pub mod timing;
pub mod trial;
pub mod vectors;
