//! Every command that README.md and `--help` show runs, and prints what is shown.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::tempdir;

/// How README calls the binary from a clone.
const CARGO_RUN: &str = "cargo run --release -- ";
/// Commands that only make sense in a clone: they would build, fetch, or run these tests.
const OF_A_CLONE: [&str; 8] = [
    "cargo build",
    "cargo install",
    "cargo test",
    "cargo bench",
    "cd ",
    "git clone",
    "scripts/test",
    "sudo ",
];

/// A command as shown, and the lines shown below it.
#[derive(Debug)]
struct Shown {
    command: String,
    output: Vec<String>,
}

/// The commands in the ```console and ```sh blocks of `text`, in order. In a console block a
/// command follows `$ ` (or is a `cargo run`), and what follows is output; in a sh block every
/// line is a command. A backslash continues a line.
fn commands(text: &str) -> Vec<Shown> {
    let mut list: Vec<Shown> = Vec::new();
    let mut block: Option<&str> = None;
    let mut continues = false;
    for line in text.lines() {
        if let Some(fence) = line.trim_start().strip_prefix("```") {
            let opens = block.is_none();
            block = opens.then(|| fence.split_whitespace().next().unwrap_or_default());
            continues = false;
            continue;
        }
        let Some(language @ ("console" | "sh")) = block else {
            continue;
        };
        let command = match line.strip_prefix("$ ") {
            Some(command) => Some(command),
            None if line.starts_with(CARGO_RUN) || language == "sh" => Some(line),
            None => None,
        };
        let last = list.last_mut();
        match (command, last) {
            (_, Some(last)) if continues => {
                last.command.pop();
                last.command.push_str(line.trim_start());
            }
            (Some(command), _) => {
                let command = command.trim().to_string();
                if command.is_empty() || command.starts_with('#') {
                    continue;
                }
                list.push(Shown {
                    command,
                    output: Vec::new(),
                });
            }
            (None, Some(last)) => last.output.push(line.trim_end().to_string()),
            (None, None) => panic!("output before any command: {line}"),
        }
        continues = list.last().is_some_and(|c| c.command.ends_with('\\'));
    }
    for shown in &mut list {
        while shown.output.last().is_some_and(String::is_empty) {
            shown.output.pop();
        }
    }
    list
}

/// Runs a command line in `folder`, where `lozenge` is the binary under test.
fn shell(folder: &Path, line: &str) -> Output {
    let binary = Path::new(env!("CARGO_BIN_EXE_lozenge"));
    let mut path = binary.parent().expect("a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    Command::new("sh")
        .arg("-c")
        .arg(format!("exec 2>&1; {line}"))
        .current_dir(folder)
        .env("PATH", path)
        .stdin(Stdio::null())
        .output()
        .expect("sh runs")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn readme_shows_what_happens() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).expect("README.md is there");
    let here = tempdir().expect("a temporary folder");
    let mut count = 0;
    for shown in commands(&readme) {
        let line = shown.command.replace(CARGO_RUN, "lozenge ");
        if OF_A_CLONE.iter().any(|start| line.starts_with(start)) {
            let first = line.split_whitespace().next().unwrap_or_default();
            let exists = !first.contains('/') || root.join(first).is_file();
            assert!(exists, "README shows {first}, which is not there");
            continue;
        }
        count += usize::from(line.starts_with("lozenge "));
        let output = shell(here.path(), &line);
        let printed = text(&output);
        assert!(
            output.status.success(),
            "README shows a command that fails: {}\n{printed}",
            shown.command
        );
        if !shown.output.is_empty() {
            let printed: Vec<_> = printed.trim_end().lines().map(str::trim_end).collect();
            assert_eq!(
                shown.output, printed,
                "left: below {} in README; right: printed now",
                shown.command
            );
        }
    }
    assert!(count >= 3, "README shows only {count} commands of lozenge");
}

#[test]
fn blocks_are_read_as_shown() {
    let list = commands(
        "```text\n$ no\n```\n```console\n$ a b \\\n    c\nout\n\n$ d\n```\n```sh\n# e\nscripts/f\n```\n",
    );
    let list: Vec<_> = list
        .iter()
        .map(|s| (s.command.as_str(), s.output.join("\n")))
        .collect();
    assert_eq!(
        list,
        [
            ("a b c", "out".to_string()),
            ("d", String::new()),
            ("scripts/f", String::new())
        ]
    );
}

/// The help of every subcommand ends with examples, and they run.
#[test]
fn help_has_examples_that_run() {
    let here = tempdir().expect("a temporary folder");
    let quiet = |line: &str| {
        let output = shell(here.path(), &format!("lozenge {line}"));
        let printed = text(&output);
        assert!(output.status.success(), "lozenge {line}:\n{printed}");
        // This is a pipe, so no colours and no progress.
        assert!(!printed.contains(['\x1b', '\r']), "lozenge {line}: escapes");
        printed
    };
    let main = quiet("--help");
    let (_, rest) = main
        .split_once("Commands:\n")
        .expect("a list of subcommands");
    let subcommands: Vec<_> = rest
        .lines()
        .take_while(|l| !l.trim().is_empty())
        .filter(|l| l.starts_with("  ") && !l.starts_with("   "))
        .filter_map(|l| l.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    for name in ["gen", "list", "bench"] {
        assert!(subcommands.contains(&name), "{name} is not in\n{main}");
    }
    let helps = subcommands.iter().map(|name| format!("{name} --help"));
    for help in std::iter::once("--help".to_string()).chain(helps) {
        let help_text = quiet(&help);
        let (_, examples) = help_text
            .split_once("\nExample")
            .unwrap_or_else(|| panic!("no Example in {help}:\n{help_text}"));
        let lines = examples.lines().map(str::trim);
        let lines: Vec<_> = lines.filter_map(|l| l.strip_prefix("lozenge ")).collect();
        assert!(!lines.is_empty(), "no command in the examples of {help}");
        for line in lines {
            quiet(line);
        }
    }
    let version = format!("lozenge {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(quiet("--version"), version);
}

/// The Rust of README is the first example of the library's documentation, which `cargo test --doc` runs.
#[test]
fn rust_is_what_the_documentation_runs() {
    let readme = include_str!("../../README.md");
    let blocks: Vec<_> = readme.split("```rust\n").skip(1).collect();
    assert_eq!(blocks.len(), 1, "one block of Rust");
    let shown = blocks[0].split("```").next().expect("a block");
    let docs: String = include_str!("../../src/lib.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line).to_string() + "\n")
        .collect();
    assert!(docs.contains(shown), "src/lib.rs has not:\n{shown}");
}
