//! What linkers, assemblers and preprocessors are told.

use crate::format::{Attributes, Dialect, ObjectFormat, Stranger};
use crate::isa::msp430::convention::{GCC, IAR, LARGE};
use crate::isa::msp430::cores::Core;

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
/// The same of the large models; and of vendor `gnu`, whose linker asks: no data lies above 64 KB.
static OF_LARGE: [u8; 38] = *b"A\x16\0\0\0mspabi\0\x01\x0b\0\0\0\x04\x02\x06\x02\x08\x02\x0f\0\0\0gnu\0\x01\x07\0\0\0\x04\x01";

const fn stranger(when: &'static str, why: &'static str) -> Stranger {
    Stranger {
        when,
        why,
        in_assembly: true,
    }
}

/// Compilers that call otherwise: those with large code models, IAR's, that before the EABI, and those after.
const FAR: Stranger = stranger(
    "defined(__MSP430X_LARGE__) || defined(__LARGE_CODE_MODEL__)",
    "returns as in the small code model: there is --abi large",
);
const FAR_IAR: Stranger = stranger(
    "defined(__CODE_MODEL_LARGE__) && __CODE_MODEL__ == __CODE_MODEL_LARGE__",
    "returns as in the small code model: there is no other for IAR",
);
const OLD: Stranger = stranger(
    "defined(__MSPGCC__)",
    "is not called as mspgcc calls: there is --abi mspgcc",
);
const OF_IAR: Stranger = stranger(
    "defined(__IAR_SYSTEMS_ICC__)",
    "may change r11, which belongs to the caller: there is --abi iar",
);
const NEAR: Stranger = stranger(
    "defined(__MSP430__) && !defined(__MSP430X_LARGE__) && !defined(__LARGE_CODE_MODEL__)",
    "returns by RETA: it is for -mlarge -mdata-region=lower",
);
const NEW: Stranger = stranger(
    "defined(__MSP430__) && !defined(__MSPGCC__)",
    "is called as mspgcc calls: leave out --abi mspgcc",
);

/// How objects are written.
pub fn object(core: &Core) -> ObjectFormat {
    let extended = core.features.extended;
    ObjectFormat {
        architecture: object::Architecture::Msp430,
        big_endian: false,
        flags: if extended { MSP430X } else { MSP430 },
        align: 2,
        mapping_symbol: None,
        attributes: Some(Attributes {
            section: ".MSP430.attributes",
            // SHT_MSP430_ATTRIBUTES.
            kind: 0x7000_0003,
            flags: 0,
            align: 1,
            bytes: match (extended, core.abi.large) {
                (_, true) => &OF_LARGE,
                (true, false) => &OF_MSP430X,
                (false, false) => &OF_MSP430,
            },
        }),
        stack_note: false,
    }
}

/// How GNU as reads assembly files.
pub fn dialect(core: &Core) -> Dialect {
    Dialect {
        preamble: "",
        align: "\t.p2align 1\n",
        guard: if core.features.extended {
            "defined(__MSP430X__)"
        } else {
            "defined(__MSP430__)"
        },
        strangers: match core.abi {
            abi if *abi == GCC => &[FAR, OLD, OF_IAR],
            abi if *abi == LARGE => &[NEAR],
            abi if *abi == IAR => &[FAR, FAR_IAR, OLD],
            _ => &[NEW],
        },
    }
}
