//! Files that appear whole or not at all.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use lozenge::pack::manifest;
use tempfile::NamedTempFile;

/// Options of `gen` that make it another kernel; the others choose among functions that do the same.
const OF_THE_KERNEL: [&str; 12] = [
    "--mcu",
    "--core",
    "--abi",
    "--isa-ext",
    "--big-endian",
    "--modulus",
    "--reduce",
    "--shift",
    "--times",
    "--exponent-bits",
    "--dialect",
    "--alias",
];

/// What the command in a generated file makes, and for what: `gen mul 160 --mcu atmega128`.
fn made(file: &[u8]) -> Option<Vec<String>> {
    const COMMANDS: [&str; 2] = ["lozenge gen ", "lozenge pack "];
    let text = String::from_utf8_lossy(file);
    let place = |command: &&str| Some(text.find(*command)? + command.len());
    let at = COMMANDS.iter().filter_map(place).min()?;
    let line = text[at..].split(['\n', '"', '`']).next()?;
    let words: Vec<_> = line.split_whitespace().collect();
    let named = words.iter().take(2).map(|w| w.to_string());
    let pairs = words.windows(2).chain([words.get(words.len() - 1..)?]);
    let options = pairs.filter(|pair| OF_THE_KERNEL.contains(&pair[0]));
    Some(named.chain(options.map(|pair| pair.join(" "))).collect())
}

/// Is the file that is there, and is to be replaced, of the same kernel? Text says so itself; of an object it is
/// enough that a text file of the same stem or a pack's manifest does.
fn is_ours(folder: &Path, name: &str, files: &[(String, Vec<u8>)]) -> bool {
    let stem = |name: &str| Path::new(name).file_stem().map(OsString::from);
    let is_text = |name: &str| ![".o", ".a"].iter().any(|end| name.ends_with(end));
    let beside = |(other, _): &&(String, Vec<u8>)| match is_text(name) {
        true => other == name,
        false => is_text(other) && (stem(other) == stem(name) || other.ends_with(manifest::NAME)),
    };
    files.iter().filter(beside).any(|(other, new)| {
        let old = std::fs::read(folder.join(other)).unwrap_or_default();
        made(&old).is_some_and(|old| Some(old) == made(new))
    })
}

/// Refuses to replace what is not of the same kernel.
///
/// # Errors
/// The first such file.
fn keep_others(folder: &Path, files: &[(String, Vec<u8>)]) -> Result<(), String> {
    for (name, new) in files {
        let path = folder.join(name);
        let is_new = std::fs::read(&path).is_ok_and(|old| old != *new);
        if is_new && !is_ours(folder, name, files) {
            return Err(format!(
                "{} is there and not of this kernel: try --force, which replaces it, --prefix lz_ or another folder",
                path.display()
            ));
        }
    }
    Ok(())
}

/// Writes all `files` (name and contents) into `folder`, which is made if needed. Every file
/// is written beside its place first; only when all are there do they take their names. Files that are there and
/// not of the same kernel are replaced by `force` alone.
///
/// # Errors
/// One line saying what could not be written; nothing new is left behind then.
pub fn write_all(folder: &Path, files: &[(String, Vec<u8>)], force: bool) -> Result<(), String> {
    if !force {
        keep_others(folder, files)?;
    }
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
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(|e| cannot(parent, e))?;
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

/// Was `--quiet` typed?
static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on reports of what is proved, and progress, are left out, if that is asked for.
pub fn be_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Are reports of what is proved, and progress, left out?
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints a report for people, unless nobody asks for one where all is well.
///
/// # Errors
/// When it cannot be written.
pub fn report(text: &str, is_well: bool) -> Result<(), String> {
    match is_quiet() && is_well {
        true => Ok(()),
        false => say(text),
    }
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
