//! What linkers, assemblers and preprocessors are told of RISC-V code.

use crate::format::{Attributes, Dialect, ObjectFormat, Stranger};
use crate::isa::riscv::operands::Features;

const fn stranger(when: &'static str, why: &'static str) -> Stranger {
    Stranger {
        when,
        why,
        in_assembly: true,
    }
}

/// Compilers for registers of 64 bits, for fewer instructions, and for other calls: *RISC-V C API Specification*.
const WIDER: Stranger = stranger("__riscv_xlen != 32", "is code for registers of 32 bits");
const NO_PRODUCTS: Stranger = stranger(
    "!defined(__riscv_mul)",
    "multiplies: this processor has no M, try -march=rv32im",
);
const NO_SHORT: Stranger = stranger(
    "!defined(__riscv_compressed)",
    "has instructions of 16 bits: this processor has no C, try -march=rv32imc",
);
const REDUCED: Stranger = stranger(
    "defined(__riscv_32e) || defined(__riscv_e)",
    "is called as ilp32 has it, and uses 32 registers",
);
const FULL: Stranger = stranger(
    "!defined(__riscv_32e) && !defined(__riscv_e)",
    "is called as ilp32e has it: make it for a core with 32 registers",
);

/// The directives with and without instructions of 16 bits: an assembler may choose none itself.
const LONG: &str = "\t.option norelax\n\t.option norvc\n";
const SHORT: &str = "\t.option norelax\n\t.option rvc\n";

/// How GNU as reads code for cores with these features.
pub fn dialect(features: Features) -> Dialect {
    let Features {
        multiply,
        compressed,
        reduced,
    } = features;
    let strangers: &'static [Stranger] = match (multiply, compressed, reduced) {
        (false, false, false) => &[WIDER, REDUCED],
        (true, false, false) => &[WIDER, REDUCED, NO_PRODUCTS],
        (false, true, false) => &[WIDER, REDUCED, NO_SHORT],
        (true, true, false) => &[WIDER, REDUCED, NO_PRODUCTS, NO_SHORT],
        (false, false, true) => &[WIDER, FULL],
        (true, false, true) => &[WIDER, FULL, NO_PRODUCTS],
        (false, true, true) => &[WIDER, FULL, NO_SHORT],
        (true, true, true) => &[WIDER, FULL, NO_PRODUCTS, NO_SHORT],
    };
    Dialect {
        preamble: if compressed { SHORT } else { LONG },
        align: if compressed {
            "\t.p2align 1\n"
        } else {
            "\t.p2align 2\n"
        },
        guard: "defined(__riscv)",
        strangers,
    }
}

/// `.riscv.attributes` (*RISC-V ABIs Specification*, section 8.3.7): sixteen bytes of stack alignment or four, and the
/// instruction set by its name.
macro_rules! attributes {
    ($align:literal, $name:literal) => {{
        const NAME: &[u8] = concat!($name, "\0").as_bytes();
        const FILE: usize = 5 + 3 + NAME.len();
        const ALL: usize = 4 + 6 + FILE;
        const HEAD: [u8; 19] = [
            b'A', ALL as u8, 0, 0, 0, b'r', b'i', b's', b'c', b'v', 0, 1, FILE as u8, 0, 0, 0, 4,
            $align, 5,
        ];
        const BYTES: [u8; 1 + ALL] = {
            let mut bytes = [0; 1 + ALL];
            let mut i = 0;
            while i < bytes.len() {
                bytes[i] = if i < 19 { HEAD[i] } else { NAME[i - 19] };
                i += 1;
            }
            bytes
        };
        &BYTES
    }};
}

/// What an object for cores with these features says.
pub fn object(features: Features) -> ObjectFormat {
    let Features {
        multiply,
        compressed,
        reduced,
    } = features;
    let bytes: &'static [u8] = match (multiply, compressed, reduced) {
        (false, false, false) => attributes!(16, "rv32i2p1"),
        (true, false, false) => attributes!(16, "rv32i2p1_m2p0"),
        (false, true, false) => attributes!(16, "rv32i2p1_c2p0"),
        (true, true, false) => attributes!(16, "rv32i2p1_m2p0_c2p0"),
        (false, false, true) => attributes!(4, "rv32e1p9"),
        (true, false, true) => attributes!(4, "rv32e1p9_m2p0"),
        (false, true, true) => attributes!(4, "rv32e1p9_c2p0"),
        (true, true, true) => attributes!(4, "rv32e1p9_m2p0_c2p0"),
    };
    ObjectFormat {
        architecture: object::Architecture::Riscv32,
        big_endian: false,
        // EF_RISCV_RVC, EF_RISCV_RVE; no floating-point registers in calls.
        flags: u32::from(compressed) | u32::from(reduced) << 3,
        align: if compressed { 2 } else { 4 },
        mapping_symbol: Some("$x"),
        attributes: Some(Attributes {
            section: ".riscv.attributes",
            // SHT_RISCV_ATTRIBUTES.
            kind: 0x7000_0003,
            flags: 0,
            align: 1,
            bytes,
        }),
        stack_note: false,
    }
}
