//! Parts that people ask for but whose machine is not supported, and the nearest one that is.

/// What comes nearest to a machine that there are no kernels for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Near {
    /// That core, which is the part's.
    Same(&'static str),
    /// That core, with a word on what differs.
    Core(&'static str, &'static str),
    /// None.
    Nothing,
}

/// Parts that people ask for, and no kernels are made for.
pub(crate) struct Unmade {
    /// How their names begin.
    pub(crate) begins: &'static str,
    pub(crate) machine: &'static str,
    pub(crate) nearest: Near,
}

const fn unmade(begins: &'static str, machine: &'static str, nearest: Near) -> Unmade {
    Unmade {
        begins,
        machine,
        nearest,
    }
}

const THUMB: &str = "Cortex-M, which has Thumb only";
const OLD_ARM: Near = Near::Core("arm7tdmi", "ARM code that does not run there");
const SAME_MIPS: Near = Near::Core(
    "mips-4km",
    "MIPS32 code whose cycles there nobody has counted",
);
const RISCV: &str = "RV32IMC code whose cycles there nobody has counted";
const NONE_NEAR: Near = Near::Nothing;

pub(crate) static STRANGERS: [Unmade; 15] = [
    unmade("stm32", THUMB, OLD_ARM),
    unmade("cortex", THUMB, OLD_ARM),
    unmade("nrf5", THUMB, OLD_ARM),
    unmade("rp2", THUMB, OLD_ARM),
    unmade("samd", THUMB, OLD_ARM),
    unmade("atsam", THUMB, OLD_ARM),
    unmade("efm32", THUMB, OLD_ARM),
    unmade("lpc1", THUMB, OLD_ARM),
    unmade("lpc2", "core of the ARM7 family", Near::Same("arm7tdmi")),
    unmade(
        "at91sam7",
        "core of the ARM7 family",
        Near::Same("arm7tdmi"),
    ),
    unmade("pic32", "MIPS32 core", SAME_MIPS),
    unmade("msp430", "MSP430 core", NONE_NEAR),
    unmade(
        "esp32",
        "Xtensa core, or RISC-V with another letter",
        NONE_NEAR,
    ),
    unmade("esp8266", "Xtensa core", NONE_NEAR),
    unmade("ch32v", "RISC-V core", Near::Core("rv32imc", RISCV)),
];
