//! Programs that we did not write: compilers, assemblers, emulators. Whatever is missing, scripts/test installs.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;

/// What to do where a tool is missing.
pub const HINT: &str = "if a tool is missing, scripts/test installs it";

/// Compiler, headers and libraries of an oracle in C.
pub const SIMAVR: &[&str] = &["-I/usr/include/simavr", "-lsimavr", "-lelf"];
pub const MGBA: &[&str] = &["-lmgba"];

/// The binutils for the MSP430, which scripts/test builds of Debian's binutils-source: their names begin so.
pub const MSP430_BINUTILS: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/msp430/bin/msp430-elf");

/// What `command` prints.
///
/// # Panics
/// When it does not start or fails: with all that it said.
pub fn run(command: &mut Command) -> Output {
    let text = format!("{command:?}");
    let output = command.output();
    let output = output.unwrap_or_else(|e| panic!("{text}: {e}: {HINT}"));
    assert!(
        output.status.success(),
        "{text}: {} ({HINT})\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// What `tool` prints of its `arguments` in `folder`, as text.
pub fn tool(folder: &Path, tool: &str, arguments: &[&str]) -> String {
    let output = run(Command::new(tool).args(arguments).current_dir(folder));
    String::from_utf8(output.stdout).expect("the tool prints text")
}

/// The program of this project.
pub fn lozenge() -> Command {
    Command::new(env!("CARGO_BIN_EXE_lozenge"))
}

/// A folder for files of a test; no other test has this name.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder for the test's files");
    folder
}

/// A file of `tests/oracle/`.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/oracle")
        .join(name)
}

/// `tests/oracle/NAME.c` as a program, built once in a run of the tests.
pub fn built(name: &'static str, flags: &[&str]) -> PathBuf {
    static BUILT: Mutex<BTreeMap<&str, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(|failed| failed.into_inner());
    if let Some(program) = built.get(name) {
        return program.clone();
    }
    let program = folder("oracles").join(name);
    // Another run of the tests may be using it: that keeps the file that it started from.
    let fresh = program.with_extension(std::process::id().to_string());
    run(Command::new("gcc")
        .args(["-O2", "-Wall", "-o"])
        .arg(&fresh)
        .arg(source(name).with_extension("c"))
        .args(flags));
    std::fs::rename(&fresh, &program).expect("the program takes its place");
    built.insert(name, program.clone());
    program
}

/// A script of `tests/oracle/` in a Python with unicorn and bitwuzla: the one scripts/test prepares, or the system's.
pub fn in_python(script: &str) -> Command {
    let prepared = Path::new(env!("CARGO_TARGET_TMPDIR")).join("oracle-venv/bin/python");
    let mut command = match prepared.exists() {
        true => Command::new(prepared),
        false => Command::new("python3"),
    };
    command.arg(source(script));
    command
}

/// What `command` answers to all of `input`.
///
/// # Panics
/// When it does not start or fails.
pub fn answer(command: &mut Command, input: &[u8]) -> Vec<u8> {
    let text = format!("{command:?}");
    let mut child = piped(command);
    let mut to = child.stdin.take().expect("a pipe");
    std::thread::scope(|scope| {
        // Whoever stops reading says why.
        scope.spawn(move || drop(to.write_all(input)));
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}: {said} ({HINT})");
        output.stdout
    })
}

fn piped(command: &mut Command) -> Child {
    let text = format!("{command:?}");
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    child.unwrap_or_else(|e| panic!("{text}: {e}: {HINT}"))
}

/// A program that answers one question after the other.
pub struct Dialogue(Child);

impl Dialogue {
    pub fn with(mut command: Command) -> Self {
        Self(piped(&mut command))
    }

    /// The `length` bytes that it answers to `question`.
    ///
    /// # Panics
    /// With what it said, when it has ended.
    pub fn ask(&mut self, question: &[u8], length: usize) -> Vec<u8> {
        let mut answer = vec![0; length];
        let to = self.0.stdin.as_mut().expect("a pipe");
        let from = self.0.stdout.as_mut().expect("a pipe");
        let asked = to.write_all(question).and_then(|()| to.flush());
        if let Err(error) = asked.and_then(|()| from.read_exact(&mut answer)) {
            let mut said = String::new();
            let errors = self.0.stderr.as_mut().expect("a pipe");
            drop(errors.read_to_string(&mut said));
            panic!("the oracle ended: {error}: {said} ({HINT})");
        }
        answer
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        drop(self.0.wait());
    }
}

/// The data after unicorn ran MIPS `code`, which `tests/oracle/mips_unicorn.py` places at 0, with `data` at `at`.
pub fn on_mips(unicorn: &mut Dialogue, big: bool, code: &[u8], at: usize, data: &[u8]) -> Vec<u8> {
    let number = |n: usize| (n as u32).to_le_bytes();
    let job = [
        &number(usize::from(big)),
        &number(code.len()),
        code,
        &number(at),
        &number(data.len()),
        data,
    ];
    unicorn.ask(&job.concat(), data.len())
}

/// The data after unicorn ran RV32 `code`, which `tests/oracle/riscv_unicorn.py` places at 0, with `data` at `at`.
pub fn on_riscv(unicorn: &mut Dialogue, code: &[u8], at: usize, data: &[u8]) -> Vec<u8> {
    let number = |n: usize| (n as u32).to_le_bytes();
    let job = [
        &number(code.len()),
        code,
        &number(at),
        &number(data.len()),
        data,
    ];
    unicorn.ask(&job.concat(), data.len())
}
