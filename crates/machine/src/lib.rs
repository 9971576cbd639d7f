//! What machines do: instructions as data with a meaning over value domains, their cost, and how functions are called.
//!
//! | module | what |
//! |---|---|
//! | [`domain`] | what a machine word is: a number, public or secret, a variable |
//! | [`isa`] | a core and an instruction of any machine ([`isa::core`]), the trait [`isa::Isa`], and a folder for each instruction set |
//! | [`program`], [`function`], [`segment`] | instructions; code with its constants, arguments and entry; bytes in memory |
//! | [`call`] | calls on numbers |
//! | [`format`](mod@format) | what linkers, assemblers and preprocessors are told of a target |
//! | [`fault`], [`told`] | why a run stops, and that in words |
//!
//! A false verdict may come from here: it is trusted, with the crates `spec` and `judge`.

pub mod call;
pub mod codec;
pub mod domain;
pub mod fault;
pub mod format;
pub mod function;
pub mod isa;
pub mod program;
pub mod segment;
pub mod told;
