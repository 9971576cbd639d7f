//! Lozenge: multi-precision arithmetic kernels for small processors, proved on the bytes that ship.
//!
//! ```
//! use lozenge::{Dialect, Request, Target};
//!
//! let chip = Target::mcu("atmega328p")?;
//! let kernel = Request::sqr(64).max_flash(1024).generate(&chip)?;
//! assert!(kernel.verdicts().all_proved());
//! let text = kernel.assembly(Dialect::Gnu)?;
//! assert!(text.contains(".global sqr64"));
//! # Ok::<(), lozenge::Error>(())
//! ```
//!
//! [`Request::compare`] sets all methods side by side, [`audit()`] judges anybody's code, and an [`Error`] says why
//! there is nothing, as data. The module [`face`] is what callers need; the others are what it stands on:
//!
//! ```text
//! Spec --method--> Schedule --lower--> Program --+-- encode -> bytes, ELF object
//! (what)           (which product       |        +-- emit   -> .S, .h
//!                   when)               |        +-- run    -> result, cycles
//!                                  (decoded)     +-- leak   -> constant-time verdict
//!                                                +-- prove  -> for all inputs
//! ```
//!
//! Everything before [`program::Program`] is untrusted, in the crates `make` (methods and lowering) and `finder` (of
//! proofs); everything after it works on decoded bytes, wherever they came from, in the crates `machine` and `judge`.

#![warn(missing_docs)]

pub mod audit;
mod cores;
pub mod draw;
pub mod driver;
pub mod emit;
pub mod face;
pub mod gnu;
pub mod hints;
pub mod kernel;
pub mod listing;
pub mod load;
pub mod pack;
pub mod prove;
pub mod report;
pub mod smt;
mod strangers;
pub mod target;

pub use face::{
    AnyModulus, Audit, Candidate, Candidates, Contract, Count, Counted, Error, Files, Function,
    Kernel, Operands, Request, Run, Time, Verdicts, What, audit,
};
pub use judge::{certificate, checker, timing, trial};
pub use machine::format::Assembler as Dialect;
pub use machine::{call, fault, function, isa, program, segment, told};
pub use make::{
    self, allocate, candidate, facts, intervals, lower, method, plans, request, schedule,
};
pub use spec::{self, nearest, vectors};
pub use target::Target;

pub use crate::kernel::Step;

/// What a machine word is, and what finds proofs about words.
pub mod domain {
    pub use finder::*;
    pub use machine::domain::*;

    pub use crate::smt::formula;
}
