//! The parts people buy: which core, how much memory, what their size implies.
//!
//! Source: each part's datasheet, *Features* and *Memories*; the architecture numbers
//! are those of the avr-gcc manual (option `-mmcu`).

use super::cores::{ATMEGA128, ATMEGA2560, Core};

/// One part.
#[derive(Debug)]
pub struct Part {
    pub name: &'static str,
    pub core: &'static Core,
    /// Bytes of program memory.
    pub flash: usize,
    /// Bytes of internal SRAM, and its first address.
    pub ram: usize,
    pub ram_start: usize,
    pub has_mul: bool,
    /// More than 64 KB of flash: ELPM reads through RAMPZ.
    pub has_rampz: bool,
    /// More than 128 KB of flash: indirect jumps go through EIND, return addresses have 3 bytes.
    pub has_eind: bool,
    /// ELF machine number of binutils (`EF_AVR_MACH`).
    pub arch: u32,
}

const fn part(
    name: &'static str,
    flash_kb: usize,
    ram: usize,
    ram_start: usize,
    arch: u32,
) -> Part {
    Part {
        name,
        core: if flash_kb > 128 {
            &ATMEGA2560
        } else {
            &ATMEGA128
        },
        flash: flash_kb * 1024,
        ram,
        ram_start,
        has_mul: arch != 25,
        has_rampz: flash_kb > 64,
        has_eind: flash_kb > 128,
        arch,
    }
}

/// All parts, by name.
#[rustfmt::skip]
pub static PARTS: [Part; 23] = [
    part("atmega8",      8,  1024, 0x060, 4),
    part("atmega16",    16,  1024, 0x060, 5),
    part("atmega32",    32,  2048, 0x060, 5),
    part("atmega32u4",  32,  2560, 0x100, 5),
    part("atmega48p",    4,   512, 0x100, 4),
    part("atmega64",    64,  4096, 0x100, 5),
    part("atmega88p",    8,  1024, 0x100, 4),
    part("atmega128",  128,  4096, 0x100, 51),
    part("atmega128rfa1", 128, 16384, 0x200, 51),
    part("atmega164p",  16,  1024, 0x100, 5),
    part("atmega168p",  16,  1024, 0x100, 5),
    part("atmega324p",  32,  2048, 0x100, 5),
    part("atmega328",   32,  2048, 0x100, 5),
    part("atmega328p",  32,  2048, 0x100, 5),
    part("atmega640",   64,  8192, 0x200, 5),
    part("atmega644",   64,  4096, 0x100, 5),
    part("atmega644p",  64,  4096, 0x100, 5),
    part("atmega1280", 128,  8192, 0x200, 51),
    part("atmega1281", 128,  8192, 0x200, 51),
    part("atmega1284p",128, 16384, 0x100, 51),
    part("atmega2560", 256,  8192, 0x200, 6),
    part("atmega2561", 256,  8192, 0x200, 6),
    part("attiny85",     8,   512, 0x060, 25),
];
