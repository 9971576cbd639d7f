//! Which package fits which machine, and what the tools call that machine.

use lozenge::Target;
use machine::isa::avr::abi::IAR;
use machine::isa::avr::cores::Set;
use machine::isa::msp430::convention::GCC;

use crate::cli::pack::package::kind::Package;

/// Boards with RISC-V: the core, its architecture in Arduino, and its platform in PlatformIO.
const BOARDS: [(&str, Option<&str>, &str); 5] = [
    ("esp32-c3", Some("esp32"), "espressif32"),
    ("hazard3", Some("rp2040"), "raspberrypi"),
    ("qingke-v2a", Some("ch32v"), "ch32v"),
    ("sifive-e31", Some("riscv"), "sifive"),
    ("bumblebee", None, "gd32v"),
];

/// Espressif's chips with RISC-V and multiplication.
const ESPRESSIF: [&str; 7] = [
    "esp32c2", "esp32c3", "esp32c5", "esp32c6", "esp32c61", "esp32h2", "esp32p4",
];

/// What ESP-IDF's chips execute, by the names of cores.
const OF_ESPRESSIF: [&str; 4] = ["esp32-c3", "rv32imc", "rv32im", "rv32i"];

/// Arduino's name of the architecture, if there are boards.
pub(super) fn arduino(target: &Target) -> Option<&'static str> {
    match target {
        Target::Avr { core, .. } => match core.set {
            Set::Avre | Set::AvrePlus => Some("avr"),
            Set::Avrxt => Some("megaavr"),
            Set::Avrxm | Set::Avrrc => None,
        },
        Target::Riscv { core, .. } => board(core.name).and_then(|(_, arduino, _)| *arduino),
        Target::Arm(_) | Target::Mips(_) | Target::Msp430 { .. } => None,
    }
}

/// PlatformIO's name of the platform, if there is one.
pub(super) fn platformio(target: &Target) -> Option<&'static str> {
    match target {
        Target::Avr { core, .. } => match core.set {
            Set::Avre | Set::AvrePlus | Set::Avrrc => Some("atmelavr"),
            Set::Avrxt => Some("atmelmegaavr"),
            Set::Avrxm => None,
        },
        Target::Riscv { core, .. } => board(core.name).map(|(_, _, platform)| *platform),
        Target::Msp430 { .. } => Some("timsp430"),
        Target::Mips(core) => (!core.big_endian).then_some("microchippic32"),
        Target::Arm(_) => None,
    }
}

/// What a Kconfig of Zephyr must have set, if Zephyr runs there.
pub(super) fn depends(target: &Target) -> Option<Vec<&'static str>> {
    match target {
        Target::Riscv { core, .. } => {
            let features = core.features;
            let base = match features.reduced {
                true => "RISCV_ISA_RV32E",
                false => "RISCV_ISA_RV32I",
            };
            let multiply = features.multiply.then_some("RISCV_ISA_EXT_M");
            let compressed = features.compressed.then_some("RISCV_ISA_EXT_C");
            Some(
                [Some(base), multiply, compressed]
                    .into_iter()
                    .flatten()
                    .collect(),
            )
        }
        Target::Mips(core) if core.big_endian => Some(vec!["MIPS", "BIG_ENDIAN"]),
        Target::Mips(_) => Some(vec!["MIPS", "!BIG_ENDIAN"]),
        Target::Avr { .. } | Target::Arm(_) | Target::Msp430 { .. } => None,
    }
}

/// The chips of ESP-IDF that execute these kernels, if there are any.
pub(super) fn espressif(target: &Target) -> Option<Vec<&'static str>> {
    let core = target.core_name();
    let part = |part: &str| ESPRESSIF.into_iter().filter(|chip| *chip == part).collect();
    match target.part_name() {
        _ if !OF_ESPRESSIF.contains(&core.as_str()) => None,
        Some(name) => Some(part(name)),
        None => Some(ESPRESSIF.to_vec()),
    }
}

fn board(core: &str) -> Option<&'static (&'static str, Option<&'static str>, &'static str)> {
    BOARDS.iter().find(|(name, _, _)| *name == core)
}

/// Refuses a package that does not fit the machine, or that makes no sense.
///
/// # Errors
/// What fits.
pub fn refuse(package: Option<Package>, has_library: bool, target: &Target) -> Result<(), String> {
    let Some(package) = package else {
        return Ok(());
    };
    if has_library {
        return Err(
            "a package has kernels alone, without a library: leave out --for or --package".into(),
        );
    }
    let is_usual = match target {
        Target::Avr { abi, .. } => abi.name != IAR.name,
        Target::Msp430 { abi, .. } => **abi == GCC,
        Target::Arm(_) | Target::Mips(_) | Target::Riscv { .. } => true,
    };
    if !is_usual {
        return Err("packages are built by GCC: leave out --abi".into());
    }
    let (fits, what) = match package {
        Package::Arduino => (
            arduino(target).is_some(),
            "Arduino's boards have an ATmega, an ATtiny, an ESP32-C3 or C6, an RP2350, a CH32V003 or an FE310: try --mcu atmega328p",
        ),
        Package::Platformio => (
            platformio(target).is_some(),
            "PlatformIO's boards have AVR, MSP430, MIPS32 or a chip with RISC-V: try --mcu atmega328p or --mcu esp32c3",
        ),
        Package::Zephyr => (
            depends(target).is_some(),
            "Zephyr runs on RV32 and MIPS32: try --core rv32imc",
        ),
        Package::EspIdf => (
            espressif(target).is_some(),
            "ESP-IDF is for Espressif's chips: try --mcu esp32c3",
        ),
        Package::Cmake | Package::Rust => (true, ""),
    };
    match fits {
        true => Ok(()),
        false => Err(format!(
            "a package for {} does not fit {}: {what}; --package cmake and rust fit all",
            package.name(),
            target
                .part_name()
                .map_or_else(|| target.core_name(), String::from),
        )),
    }
}
