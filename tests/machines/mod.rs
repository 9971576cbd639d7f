//! What a machine is: every row of the instruction tables, and every core, against assemblers, emulators and libraries
//! that we did not write. Nothing here makes a kernel.

mod arm_encoding;
mod arm_semantics;
mod avr_cores;
mod avr_encoding;
mod avr_semantics;
mod binutils;
mod mips_encoding;
mod mips_semantics;
mod msp430_encoding;
mod msp430_large;
mod msp430_semantics;
mod riscv_encoding;
mod riscv_semantics;
