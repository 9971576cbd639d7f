//! README and the book: every command that they and `--help` show runs and prints what is shown, links resolve, and what the
//! tool writes of them is what it writes now.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::tempdir;

use crate::kit::book::{book, pages, text as text_of};
use crate::kit::work;

/// How pages call the binary from a clone.
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

/// Runs the commands of a page in a folder of their own; how many of them are ours.
fn shows_what_happens(page: &Path) -> usize {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let here = tempdir().expect("a temporary folder");
    let name = page.display();
    let mut count = 0;
    for shown in commands(&text_of(page)) {
        let line = shown.command.replace(CARGO_RUN, "lozenge ");
        if OF_A_CLONE.iter().any(|start| line.starts_with(start)) {
            let first = line.split_whitespace().next().unwrap_or_default();
            let exists = !first.contains('/') || root.join(first).is_file();
            assert!(exists, "{name} shows {first}, which is not there");
            continue;
        }
        count += usize::from(line.starts_with("lozenge "));
        let output = shell(here.path(), &line);
        let printed = text(&output);
        assert!(
            output.status.success(),
            "{name} shows a command that fails: {}\n{printed}",
            shown.command
        );
        if !shown.output.is_empty() {
            let printed: Vec<_> = printed.trim_end().lines().map(str::trim_end).collect();
            assert_eq!(
                shown.output, printed,
                "left: below {} in {name}; right: printed now",
                shown.command
            );
        }
    }
    count
}

/// Every command of README and of the book runs, and prints what is shown.
#[test]
fn pages_show_what_happens() {
    let counts = work::each(&pages(), |page| shows_what_happens(page));
    let (all, readme) = (counts.iter().sum::<usize>(), counts.last().copied());
    println!("{all} commands");
    assert!(
        readme >= Some(8) && all >= 60,
        "only {all} commands, {readme:?} of README"
    );
}

/// README is short, and the pages of the book name each other where they are.
#[test]
fn links_resolve() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = text_of(Path::new("README.md"));
    assert!(
        readme.lines().count() <= 150,
        "README has {} lines",
        readme.lines().count()
    );
    let mut count = 0;
    let contents = [PathBuf::from("docs/src/SUMMARY.md")];
    for page in pages().iter().chain(&contents) {
        let folder = page.parent().expect("a folder");
        for rest in text_of(page).split("](").skip(1) {
            let link = rest.split(')').next().unwrap_or_default();
            assert!(
                !link.contains("://"),
                "{}: {link} leaves the book",
                page.display()
            );
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => page.clone(),
                _ => folder.join(path),
            };
            let exists = root.join(&target).is_file();
            assert!(exists, "{}: {link} is not there", page.display());
            if !anchor.is_empty() {
                let slug = |line: &str| {
                    let kept = line.trim_start_matches('#').trim().to_lowercase();
                    let kept = kept
                        .chars()
                        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
                    kept.map(|c| if c == ' ' { '-' } else { c })
                        .collect::<String>()
                };
                let text = text_of(&target);
                let mut heads = text.lines().filter(|line| line.starts_with('#'));
                assert!(
                    heads.any(|line| slug(line) == anchor),
                    "{}: {link}",
                    page.display()
                );
            }
            count += 1;
        }
    }
    assert!(count > 60, "only {count} links");
}

/// README's ten figures, theirs and ours, stand together in a line of the results, which other tests make again; the
/// ratio is theirs.
#[test]
fn readme_has_figures_of_the_book() {
    let readme = text_of(Path::new("README.md"));
    let (_, table) = readme
        .split_once("| | in print | ours | ratio |")
        .expect("a table");
    let rows: Vec<_> = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert_eq!(rows.len(), 10);
    let results = pages()
        .into_iter()
        .filter(|page| page.starts_with("docs/src/results"));
    let results: String = results.map(|page| text_of(&page)).collect();
    for row in rows {
        let cells: Vec<_> = row
            .split('|')
            .map(|cell| cell.trim().replace('*', ""))
            .collect();
        let [theirs, ours]: [u64; 2] = [2, 3].map(|i| cells[i].parse().expect("a number"));
        assert!(ours < theirs, "{row}");
        let ratio = format!("{:.2}", ours as f64 / theirs as f64);
        assert_eq!(cells[4], ratio, "{row}");
        let has = |line: &str, number: u64| {
            let digits = line.split(|c: char| !c.is_ascii_digit());
            digits.into_iter().any(|word| word == number.to_string())
        };
        let said = results
            .lines()
            .any(|line| has(line, theirs) && has(line, ours));
        // The best for the optimal prime field stands in a sentence above its table.
        let apart = theirs == 3237 && results.lines().any(|line| has(line, ours));
        assert!(
            said || apart,
            "no line of the results has {theirs} and {ours}"
        );
    }
}

/// The reference is what the tool writes, and every page of the folder is in the contents.
#[test]
fn reference_is_what_the_tool_writes() {
    let here = tempdir().expect("a temporary folder");
    let output = shell(here.path(), "lozenge reference -o made");
    assert!(output.status.success(), "{}", text(&output));
    let files = |folder: &Path| -> BTreeMap<String, Vec<u8>> {
        let entries = std::fs::read_dir(folder).expect("a folder").flatten();
        let file = |entry: std::fs::DirEntry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, std::fs::read(entry.path()).expect("a file"))
        };
        entries.map(file).collect()
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (made, kept) = (
        files(&here.path().join("made")),
        files(&root.join("docs/src/reference")),
    );
    assert_eq!(
        made.keys().collect::<Vec<_>>(),
        kept.keys().collect::<Vec<_>>()
    );
    for (name, bytes) in &made {
        let same = bytes == &kept[name];
        assert!(
            same,
            "docs/src/reference/{name} is old: `lozenge reference -o docs/src/reference`"
        );
    }
    let listed: Vec<PathBuf> = pages();
    for name in kept.keys().filter(|name| name.ends_with(".md")) {
        let page = Path::new("docs/src/reference").join(name);
        assert!(listed.contains(&page), "{name} is not in the contents");
    }
}

/// README's C, with the kernels that its commands make, prints 42 on an ATmega128 and on an ARM.
#[test]
fn c_of_readme_runs() {
    let here = tempdir().expect("a temporary folder");
    let readme = text_of(Path::new("README.md"));
    let block = |fence: &str| {
        let rest = readme.split_once(fence).expect("a block").1;
        rest.split_once("```").expect("its end").0.to_string()
    };
    for shown in commands(&readme)
        .iter()
        .filter(|c| c.command.contains("mul 160"))
    {
        let line = shown.command.replace(CARGO_RUN, "lozenge ");
        assert!(shell(here.path(), &line).status.success(), "{line}");
    }
    std::fs::write(here.path().join("main.c"), block("```c\n")).expect("a file");
    let mut answers = Vec::new();
    for line in block("```text\n").lines() {
        let output = shell(here.path(), &format!("timeout 60 {line}"));
        let printed = text(&output);
        assert!(output.status.success(), "{line}: {printed}");
        if !line.contains("-gcc") {
            answers.push(printed.contains("42"));
        }
    }
    assert_eq!(answers, [true, true]);
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
    let version = quiet("--version");
    let named = format!("lozenge {} (", env!("CARGO_PKG_VERSION"));
    assert!(
        version.starts_with(&named) && version.contains("features: cli"),
        "{version}"
    );
}

/// The Rust of the book is the first example of the library's documentation, which `cargo test --doc` runs.
#[test]
fn rust_is_what_the_documentation_runs() {
    let readme = book();
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
