//! What is said in numbers: cycles, bytes, loads and stores of the tables in `tests/paper/`, from which the book is written, exactly.

mod energy;
mod methods;
mod modular_figures;
mod msp430;
mod ops;
mod paper;
mod records;
mod repro;
mod sentences;
mod special_figures;
