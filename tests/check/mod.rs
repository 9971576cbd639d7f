//! `lozenge check`: functions of compiled files through the four verdicts.

mod c;
mod certificates;
mod cli;
mod compiled;
mod counterexamples;
mod decode;
mod environment;
mod files;
mod fuzz;
mod honest;
mod mbed_tls;
mod modular;
mod multiplier;
mod mutants;
mod ops;
mod own;
mod pic;
mod promises;
mod refuted;
mod smt;
mod squaring;
mod strongarm;
mod time;
mod tools;
mod variants;
mod words;
