//! `lozenge check`: functions of compiled files through the four verdicts.

mod c;
mod cli;
mod compiled;
mod decode;
mod files;
mod fuzz;
mod modular;
mod mutants;
mod ops;
mod own;
mod pic;
mod refuted;
mod smt;
mod squaring;
mod time;
mod tools;
mod variants;
