//! What linkers, assemblers and preprocessors are told.

use crate::format::{Attributes, Dialect, ObjectFormat};
use crate::isa::msp430::cores::Features;

/// Architecture variants (binutils, elf/msp430.h): MSP430x11, which GNU as writes for any MSP430, and MSP430X.
const MSP430: u32 = 11;
const MSP430X: u32 = 45;

/// The instruction set, and the small code and data models (SLAA534, section 13), as a file attribute of vendor `mspabi`.
const fn attributes(isa: u8) -> [u8; 23] {
    let mut bytes = *b"A\x16\0\0\0mspabi\0\x01\x0b\0\0\0\x04\0\x06\x01\x08\x01";
    bytes[18] = isa;
    bytes
}
static OF_MSP430: [u8; 23] = attributes(1);
static OF_MSP430X: [u8; 23] = attributes(2);

/// How objects are written.
pub fn object(features: Features) -> ObjectFormat {
    ObjectFormat {
        architecture: object::Architecture::Msp430,
        big_endian: false,
        flags: if features.extended { MSP430X } else { MSP430 },
        align: 2,
        mapping_symbol: None,
        attributes: Some(Attributes {
            section: ".MSP430.attributes",
            // SHT_MSP430_ATTRIBUTES.
            kind: 0x7000_0003,
            flags: 0,
            align: 1,
            bytes: if features.extended {
                &OF_MSP430X
            } else {
                &OF_MSP430
            },
        }),
        stack_note: false,
    }
}

/// How GNU as reads assembly files.
pub fn dialect(features: Features) -> Dialect {
    Dialect {
        preamble: "",
        align: "\t.p2align 1\n",
        guard: if features.extended {
            "defined(__MSP430X__)"
        } else {
            "defined(__MSP430__)"
        },
        strangers: &[],
    }
}
