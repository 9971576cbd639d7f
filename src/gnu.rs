//! The GNU tools for a target: what assembles and links its files.

use machine::isa::arm::cores::Version;
use machine::isa::msp430::convention::MSPGCC;

use crate::target::Target;

/// A compiler driver and what it must be told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gnu {
    /// The program, as `avr-gcc`.
    pub program: &'static str,
    /// The Debian package that has it.
    pub package: &'static str,
    /// Options that name the processor.
    pub flags: Vec<String>,
}

impl Gnu {
    /// The tools for `target`.
    pub fn of(target: &Target) -> Self {
        match target {
            Target::Avr { core, part, .. } => {
                let mcu = part.map_or(core.name, |part| part.name);
                Self {
                    program: "avr-gcc",
                    package: "gcc-avr",
                    flags: vec![format!("-mmcu={mcu}")],
                }
            }
            Target::Arm(core) => {
                let cpu = match core.version {
                    Version::V4 => "-mcpu=strongarm1100",
                    Version::V4t => "-mcpu=arm7tdmi",
                };
                Self {
                    program: "arm-none-eabi-gcc",
                    package: "gcc-arm-none-eabi",
                    flags: [cpu, "-marm"].map(String::from).to_vec(),
                }
            }
            Target::Mips(core) => {
                let (program, package) = match core.big_endian {
                    true => ("mips-linux-gnu-gcc", "gcc-mips-linux-gnu"),
                    false => ("mipsel-linux-gnu-gcc", "gcc-mipsel-linux-gnu"),
                };
                let flags = ["-march=mips32", "-mabi=32", "-mno-abicalls", "-fno-pic"];
                Self {
                    program,
                    package,
                    flags: flags.map(String::from).to_vec(),
                }
            }
            Target::Riscv { core, .. } => Self {
                program: "riscv64-unknown-elf-gcc",
                package: "gcc-riscv64-unknown-elf",
                flags: vec![
                    format!("-march={}", core.features.name()),
                    format!("-mabi={}", target.to_core().abi()),
                ],
            },
            Target::Msp430 {
                core, part, abi, ..
            } => {
                let is_old = **abi == MSPGCC;
                let mut flags = vec![match (part, core.features.extended) {
                    (Some(part), _) => format!("-mmcu={}", part.name),
                    (None, true) => format!("-mcpu={}", if is_old { "430x" } else { "msp430x" }),
                    (None, false) => format!("-mcpu={}", if is_old { "430" } else { "msp430" }),
                }];
                if abi.large {
                    flags.extend(["-mlarge", "-mdata-region=lower"].map(String::from));
                }
                let (program, package) = match is_old {
                    true => ("msp430-gcc", "mspgcc"),
                    false => ("msp430-elf-gcc", "TI's MSP430-GCC"),
                };
                Self {
                    program,
                    package,
                    flags,
                }
            }
        }
    }

    /// The command that builds a program of `files`.
    pub fn link(&self, files: &str) -> String {
        format!("{} {} main.c {files}", self.program, self.flags.join(" "))
    }
}
