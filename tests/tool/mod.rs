//! The tool as its users meet it: the command line, the files it writes, linked into programs and run, what the book
//! shows, and the rules of this project.

mod avr_link;
mod bearssl;
mod cli;
mod compare;
mod cross_cells;
mod cross_link;
mod dial;
mod dialects;
mod drivers;
mod face;
mod imports;
mod inversions;
mod mbed_tls;
mod modular_link;
mod msp430_drivers;
mod p256_m;
mod packages;
mod packs;
mod pictures;
mod readme;
mod rsa;
mod tidy;
mod tune;
