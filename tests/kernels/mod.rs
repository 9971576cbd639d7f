//! What is generated: matrices of operation, method, size, style and machine, each kernel proved and run against big
//! integers, and faults in proved kernels, which must be rejected.

mod arm_kernels;
mod arm_loops;
mod arm_mutation;
mod avr_iar;
mod avr_kernels;
mod avr_loops;
mod avr_scans;
mod avr_shift_add;
mod avr_words;
mod chosen;
mod claims;
mod halves;
mod intervals;
mod karatsuba_terms;
mod matrix;
mod mips_kernels;
mod mips_loops;
mod mips_mutation;
mod modular;
mod montgomery;
mod msp430_calls;
mod msp430_mutation;
mod msp430_rows;
mod msp430_shift_add;
mod mutation;
mod riscv_ibex;
mod riscv_mutation;
mod small_operations;
mod special;
mod styles;
mod tables;
mod winners;
mod word_columns;
mod words;
