//! What is said in numbers: cycles, bytes, loads and stores of the book and of the tables in `tests/paper/`, exactly.

mod energy;
mod methods;
mod modular_figures;
mod msp430;
mod ops;
mod paper;
mod records;
mod repro;
mod special_figures;
