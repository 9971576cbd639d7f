//! Lowering, a folder for each instruction set, and what they share.

pub mod arm;
pub mod avr;
pub mod claimed;
pub mod claims;
pub mod homes;
pub mod mips;
pub mod msp430;
pub mod riscv;
pub mod stages;
