//! Assembly source, made an object by the target's GNU tools.

use std::path::Path;
use std::process::Command;

use lozenge::target::Target;

/// The object that the target's assembler makes of `source`.
///
/// # Errors
/// When there is no assembler on the PATH, or it objects.
pub fn assemble(source: &Path, target: &Target) -> Result<Vec<u8>, String> {
    let (program, flags) = assembler(target);
    let folder = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
    let object = folder.path().join("object.o");
    let run = Command::new(program)
        .args(&flags)
        .args(["-c", "-x", "assembler-with-cpp"])
        .arg(source)
        .arg("-o")
        .arg(&object)
        .output()
        .map_err(|e| format!("{program} assembles {}: {e}", source.display()))?;
    if !run.status.success() {
        let errors = String::from_utf8_lossy(&run.stderr);
        return Err(format!("{program}: {}", errors.trim()));
    }
    std::fs::read(&object).map_err(|e| format!("{program} left no object: {e}"))
}

fn assembler(target: &Target) -> (&'static str, Vec<String>) {
    match target {
        Target::Avr { core, part, .. } => {
            let mcu = part.map_or(core.name, |part| part.name);
            ("avr-gcc", vec![format!("-mmcu={mcu}")])
        }
        Target::Arm(_) => {
            let flags = ["-mcpu=arm7tdmi", "-marm"];
            ("arm-none-eabi-gcc", flags.map(String::from).to_vec())
        }
        Target::Mips(core) => {
            let flags = ["-march=mips32", "-mabi=32", "-mno-abicalls", "-fno-pic"];
            let program = match core.big_endian {
                true => "mips-linux-gnu-gcc",
                false => "mipsel-linux-gnu-gcc",
            };
            (program, flags.map(String::from).to_vec())
        }
    }
}
