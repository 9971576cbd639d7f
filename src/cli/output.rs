//! Files that appear whole or not at all.

use std::io::Write;
use std::path::Path;

use tempfile::NamedTempFile;

/// Writes all `files` (name and contents) into `folder`, which is made if needed. Every file
/// is written beside its place first; only when all are there do they take their names.
///
/// # Errors
/// One line saying what could not be written; nothing new is left behind then.
pub fn write_all(folder: &Path, files: &[(String, Vec<u8>)]) -> Result<(), String> {
    let cannot = |what: &Path, error: std::io::Error| {
        // Without the random name of a temporary file.
        let error = error.to_string();
        let error = error.split(" at path ").next().unwrap_or_default();
        format!("cannot write {}: {error}", what.display())
    };
    std::fs::create_dir_all(folder).map_err(|e| cannot(folder, e))?;
    let mut ready = Vec::with_capacity(files.len());
    for (name, contents) in files {
        let path = folder.join(name);
        if path.is_dir() {
            return Err(format!("cannot write {}: it is a folder", path.display()));
        }
        let mut file = NamedTempFile::new_in(folder).map_err(|e| cannot(&path, e))?;
        file.write_all(contents).map_err(|e| cannot(&path, e))?;
        set_mode(&file).map_err(|e| cannot(&path, e))?;
        ready.push((file, path));
    }
    let mut placed = Vec::with_capacity(ready.len());
    for (file, path) in ready {
        if let Err(error) = file.persist(&path) {
            for path in &placed {
                // The first failure is what is told; these files would be half a result.
                let _ = std::fs::remove_file(path);
            }
            return Err(cannot(&path, error.error));
        }
        placed.push(path);
    }
    Ok(())
}

/// Prints a line to standard output. A reader that has gone away wants no more of it.
///
/// # Errors
/// When it cannot be written for any other reason.
pub fn say(text: &str) -> Result<(), String> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(format!("cannot print: {error}"))
        }
        _ => Ok(()),
    }
}

/// Prints a line to standard error, for whoever listens: a reader that has gone away changes no exit code.
pub fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Temporary files are private; results are readable like any other file.
#[cfg(unix)]
fn set_mode(file: &NamedTempFile) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.as_file()
        .set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn set_mode(_: &NamedTempFile) -> std::io::Result<()> {
    Ok(())
}
