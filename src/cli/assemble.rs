//! Assembly source, made an object by the target's GNU tools.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use lozenge::isa::arm::cores::Version;
use lozenge::target::Target;

/// The object that the target's assembler makes of `source`.
///
/// # Errors
/// When there is no assembler on the PATH, or it objects.
pub fn assemble(source: &Path, target: &Target) -> Result<Vec<u8>, String> {
    let (program, package, flags) = assembler(target);
    let folder = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
    let object = folder.path().join("object.o");
    let run = Command::new(program)
        .args(&flags)
        .args(["-c", "-x", "assembler-with-cpp"])
        .arg(source)
        .arg("-o")
        .arg(&object)
        .output()
        .map_err(|e| match e.kind() {
            ErrorKind::NotFound => format!(
                "{program}, which assembles {}, is not on the PATH: install it (Debian: {package}), \
                 or give an object file",
                source.display()
            ),
            _ => format!("{program} assembles {}: {e}", source.display()),
        })?;
    if !run.status.success() {
        let errors = String::from_utf8_lossy(&run.stderr);
        return Err(format!("{program}: {}", errors.trim()));
    }
    std::fs::read(&object).map_err(|e| format!("{program} left no object: {e}"))
}

/// The program, the Debian package it is in, and the options for `target`.
fn assembler(target: &Target) -> (&'static str, &'static str, Vec<String>) {
    match target {
        Target::Avr { core, part, .. } => {
            let mcu = part.map_or(core.name, |part| part.name);
            ("avr-gcc", "gcc-avr", vec![format!("-mmcu={mcu}")])
        }
        Target::Arm(core) => {
            let cpu = match core.version {
                Version::V4 => "-mcpu=strongarm1100",
                Version::V4t => "-mcpu=arm7tdmi",
            };
            let flags = [cpu, "-marm"];
            (
                "arm-none-eabi-gcc",
                "gcc-arm-none-eabi",
                flags.map(String::from).to_vec(),
            )
        }
        Target::Mips(core) => {
            let flags = ["-march=mips32", "-mabi=32", "-mno-abicalls", "-fno-pic"];
            let (program, package) = match core.big_endian {
                true => ("mips-linux-gnu-gcc", "gcc-mips-linux-gnu"),
                false => ("mipsel-linux-gnu-gcc", "gcc-mipsel-linux-gnu"),
            };
            (program, package, flags.map(String::from).to_vec())
        }
        Target::Riscv { core, .. } => {
            let march = format!("-march={}", core.features.name());
            let mabi = format!("-mabi={}", target.to_core().abi());
            let package = "gcc-riscv64-unknown-elf";
            ("riscv64-unknown-elf-gcc", package, vec![march, mabi])
        }
    }
}
