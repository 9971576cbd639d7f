//! Assembly source, made an object by the target's GNU tools.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use lozenge::gnu::Gnu;
use lozenge::target::Target;

/// The object that the target's assembler makes of `source`.
///
/// # Errors
/// When there is no assembler on the PATH, or it objects.
pub fn assemble(source: &Path, target: &Target) -> Result<Vec<u8>, String> {
    let Gnu {
        program,
        package,
        flags,
    } = Gnu::of(target);
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
