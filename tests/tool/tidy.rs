//! Rules of ARCHITECTURE.md that a machine can check: who may know whom, and house rules.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Instruction sets and cores, as words; and how part and core names begin.
const MACHINES: [&str; 7] = ["avr", "arm", "mips", "msp430", "thumb", "cortex", "riscv"];
const PARTS: [&str; 6] = ["atmega", "attiny", "cortex", "armv", "msp430", "avrx"];

/// The crates of the workspace, with their folders of sources and the crates they may use, in the order of
/// ARCHITECTURE.md: each uses earlier ones. Cargo enforces the rest.
pub const CRATES: [(&str, &str, &[&str]); 6] = [
    ("spec", "crates/spec", &[]),
    ("machine", "crates/machine", &["spec"]),
    ("judge", "crates/judge", &["machine", "spec"]),
    ("finder", "crates/finder", &["judge", "machine", "spec"]),
    ("make", "crates/make", &["machine", "spec"]),
    (
        "lozenge",
        "",
        &["finder", "judge", "machine", "make", "spec"],
    ),
];

/// What a false verdict may come from besides: the libraries of the crates that are trusted.
const TRUSTED: [(&str, &[&str]); 3] = [
    (
        "crates/spec",
        &["num-bigint", "serde", "strsim", "thiserror"],
    ),
    (
        "crates/machine",
        &["num-bigint", "object", "serde", "thiserror"],
    ),
    (
        "crates/judge",
        &["num-bigint", "num-traits", "serde", "serde_json"],
    ),
];

/// Folders of the workspace with Rust that ships.
const SOURCES: [&str; 2] = ["src", "crates"];

/// Where methods are, and where machines are.
const METHODS: &str = "crates/make/src/method";
const TARGETS: [&str; 2] = ["crates/machine/src/isa", "crates/make/src/target"];

/// Crates that serve the command line only.
const CLI_CRATES: [&str; 8] = [
    "clap",
    "clap_complete",
    "clap_mangen",
    "comfy_table",
    "indicatif",
    "minijinja",
    "plotters",
    "tempfile",
];

const MAX_LINES: usize = 600;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Files below `folder` of the project, with paths relative to it; not hidden ones, nor what Cargo makes: `target` beside
/// a manifest.
fn files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(&folder).expect("a folder of the project");
        for entry in entries {
            let path = entry.expect("a folder of the project").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_made = name == "target" && folder.join("Cargo.toml").exists();
            if name.starts_with('.') || is_made {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path.strip_prefix(root()).expect("below").to_path_buf());
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no files in {folder}");
    found
}

pub fn rust(folder: &str) -> Vec<(PathBuf, String)> {
    let sources = files(folder).into_iter();
    let sources = sources.filter(|p| p.extension().is_some_and(|e| e == "rs"));
    sources.map(|p| (p.clone(), read(&p))).collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// What to blank in Rust text.
#[derive(Clone, Copy, PartialEq)]
enum Blank {
    Comments,
    CommentsAndStrings,
}

/// `text` with comments (and the contents of strings) blanked; lines stay where they are.
fn blanked(text: &str, what: Blank) -> String {
    let b: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut i = 0;
    let blank = |out: &mut String, part: &[char]| {
        out.extend(part.iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
    };
    while i < b.len() {
        let start = i;
        let rest = &b[i..];
        if rest.starts_with(&['/', '/']) {
            i += rest.iter().position(|c| *c == '\n').unwrap_or(rest.len());
            blank(&mut out, &b[start..i]);
        } else if rest.starts_with(&['/', '*']) {
            let mut depth = 0;
            loop {
                match (b.get(i), b.get(i + 1)) {
                    (Some('/'), Some('*')) => (depth, i) = (depth + 1, i + 2),
                    (Some('*'), Some('/')) => (depth, i) = (depth - 1, i + 2),
                    (Some(_), _) => i += 1,
                    (None, _) => break,
                }
                if depth == 0 {
                    break;
                }
            }
            blank(&mut out, &b[start..i]);
        } else if let Some(end) = string_end(&b, i) {
            i = end;
            match what {
                Blank::Comments => out.extend(&b[start..i]),
                Blank::CommentsAndStrings => blank(&mut out, &b[start..i]),
            }
        } else {
            out.push(b[i]);
            i += 1;
        }
    }
    out
}

/// Where the string or character literal that starts at `i` ends; `None` if none starts there.
fn string_end(b: &[char], i: usize) -> Option<usize> {
    let inside_word = i > 0 && (b[i - 1].is_alphanumeric() || b[i - 1] == '_');
    match b[i] {
        '"' => {
            let mut at = i + 1;
            while at < b.len() && b[at] != '"' {
                at += if b[at] == '\\' { 2 } else { 1 };
            }
            Some((at + 1).min(b.len()))
        }
        'r' if !inside_word || b[i - 1] == 'b' => {
            let hashes = b[i + 1..].iter().take_while(|c| **c == '#').count();
            if b.get(i + 1 + hashes) != Some(&'"') {
                return None;
            }
            let mut end = vec!['"'];
            end.resize(1 + hashes, '#');
            let from = i + 2 + hashes;
            let at = b[from..].windows(end.len()).position(|w| w == end)?;
            Some(from + at + end.len())
        }
        // A character, not a lifetime.
        '\'' if b.get(i + 1) == Some(&'\\') => {
            let at = b.get(i + 3..)?.iter().position(|c| *c == '\'')?;
            Some(i + 4 + at)
        }
        '\'' if b.get(i + 2) == Some(&'\'') => Some(i + 3),
        _ => None,
    }
}

/// Code that ships: no comments, no strings, no `#[cfg(test)]` items, and no files that are such an item.
pub fn shipped(text: &str) -> String {
    let mut code = blanked(text, Blank::CommentsAndStrings);
    if code.contains("#![cfg(test)]") {
        return String::new();
    }
    while let Some(start) = code.find("#[cfg(test)]") {
        let mut depth = 0;
        let mut end = code.len();
        for (at, c) in code[start..].char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ';' if depth == 0 => {}
                _ => continue,
            }
            if depth == 0 {
                end = start + at + 1;
                break;
            }
        }
        let blank = code[start..end].replace(|c| c != '\n', " ");
        code.replace_range(start..end, &blank);
    }
    code
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
}

/// `file:line: text` of each line that `is_bad`.
fn bad_lines(path: &Path, text: &str, is_bad: impl Fn(&str) -> bool) -> Vec<String> {
    let lines = text.lines().enumerate().filter(|(_, l)| is_bad(l));
    lines
        .map(|(i, l)| format!("{}:{}: {}", path.display(), i + 1, l.trim()))
        .collect()
}

fn none(rule: &str, bad: &[String]) {
    assert!(bad.is_empty(), "{rule}:\n{}", bad.join("\n"));
}

fn is_machine(word: &str) -> bool {
    let word = word.to_lowercase();
    MACHINES.contains(&word.as_str()) || PARTS.iter().any(|p| word.starts_with(p))
}

#[test]
fn a_method_knows_no_machine() {
    let mut bad = Vec::new();
    for (path, text) in rust(METHODS) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if words(&name).any(is_machine) {
            bad.push(path.display().to_string());
        }
        bad.extend(bad_lines(&path, &text, |l| words(l).any(is_machine)));
    }
    none("methods name machines", &bad);
}

/// Names of the methods, in the spellings that logic could use.
fn methods() -> Vec<String> {
    let mut names = vec!["comba".to_string()];
    for (path, _) in rust(METHODS) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if stem != "mod" {
            names.extend([stem.to_string(), stem.replace('_', "-")]);
        }
    }
    assert!(names.iter().any(|n| n == "product-scanning"), "{names:?}");
    names
}

#[test]
fn a_machine_knows_no_method() {
    let mut bad = Vec::new();
    let methods = methods();
    for (path, text) in TARGETS.iter().flat_map(|folder| rust(folder)) {
        let code = blanked(&text, Blank::Comments);
        let names_method = |l: &str| {
            let line = l.to_lowercase();
            methods.iter().any(|m| line.contains(m))
        };
        bad.extend(bad_lines(&path, &code, names_method));
    }
    none("machines name methods", &bad);
}

/// The names below `[dependencies]` of a crate.
fn dependencies(folder: &str) -> Vec<String> {
    let manifest = read(&Path::new(folder).join("Cargo.toml"));
    let manifest: toml::Table = manifest.parse().expect("a manifest");
    let list = manifest.get("dependencies").and_then(|d| d.as_table());
    list.map_or(Vec::new(), |list| list.keys().cloned().collect())
}

#[test]
fn crates_use_earlier_ones() {
    let ours: Vec<&str> = CRATES.iter().map(|(name, ..)| *name).collect();
    for (name, folder, may) in CRATES {
        let mut used = dependencies(folder);
        used.retain(|d| ours.contains(&d.as_str()));
        used.sort();
        assert_eq!(
            used, may,
            "{name} uses other crates than ARCHITECTURE.md says"
        );
    }
    for (folder, may) in TRUSTED {
        let mut used = dependencies(folder);
        used.retain(|d| !ours.contains(&d.as_str()));
        used.sort();
        assert_eq!(used, may, "{folder} is trusted, and so are these libraries");
    }
}

#[test]
fn only_the_command_line_knows_its_libraries() {
    let mut bad = Vec::new();
    for (path, text) in SOURCES.iter().flat_map(|folder| rust(folder)) {
        let is_cli = path == Path::new("src/main.rs") || path.starts_with("src/cli");
        let uses_cli = |l: &str| {
            let mut words = l.split(|c: char| !c.is_alphanumeric() && c != '_');
            words.any(|w| CLI_CRATES.contains(&w)) || l.contains("mod cli") || l.contains("::cli")
        };
        if !is_cli {
            bad.extend(bad_lines(&path, &shipped(&text), uses_cli));
        }
    }
    none("the library uses the command line", &bad);
}

#[test]
fn house_rules() {
    let mut bad = Vec::new();
    for (path, text) in SOURCES.iter().flat_map(|folder| rust(folder)) {
        let forbidden = |l: &str| {
            l.contains(".unwrap()")
                || l.contains(".expect(")
                || words(l).any(|w| w == "unsafe")
                || ["todo!", "unimplemented!", "dbg!"]
                    .iter()
                    .any(|m| l.contains(m))
        };
        bad.extend(bad_lines(&path, &shipped(&text), forbidden));
    }
    for folder in ["src", "crates", "tests"] {
        for (path, text) in rust(folder) {
            let lines = text.lines().count();
            if lines > MAX_LINES {
                bad.push(format!("{}: {lines} lines", path.display()));
            }
            let code = blanked(&text, Blank::CommentsAndStrings);
            bad.extend(bad_lines(&path, &code, |l| l.contains("#[ignore")));
        }
    }
    for path in files(".") {
        let kind = path.extension().unwrap_or_default().to_string_lossy();
        if !["rs", "c", "h", "md", "toml", ""].contains(&&*kind) {
            continue;
        }
        let marks = [concat!("TO", "DO"), concat!("FIX", "ME")];
        let marked = |l: &str| words(l).any(|w| marks.contains(&w));
        let text = String::from_utf8_lossy(&std::fs::read(root().join(&path)).unwrap_or_default())
            .into_owned();
        bad.extend(bad_lines(&path, &text, marked));
    }
    none("house rules", &bad);
}

/// Files that `file` names with `mod name;`, at `#[path]` where the line before says one. A file that is neither
/// main.rs nor mod.rs has its modules in a folder of its name.
fn modules_of(file: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut said = None;
    let folder = file.parent().unwrap_or(Path::new(""));
    for line in read(file).lines() {
        let line = line.trim();
        if let Some(path) = line.strip_prefix("#[path = \"") {
            said = Some(path.trim_end_matches("\"]").to_string());
        } else if let Some(name) = line
            .trim_start_matches("pub ")
            .strip_prefix("mod ")
            .and_then(|rest| rest.strip_suffix(';'))
        {
            let stem = file.file_stem().unwrap_or_default();
            let below = match ["main", "mod"].iter().any(|s| *s == stem) {
                true => folder.to_path_buf(),
                false => folder.join(stem),
            };
            let places = match said.take() {
                Some(path) => vec![folder.join(path)],
                None => vec![
                    below.join(name).with_extension("rs"),
                    below.join(name).join("mod.rs"),
                ],
            };
            found.extend(places.into_iter().filter(|p| root().join(p).exists()));
        }
    }
    found
}

/// A test file that nobody names is not compiled, and nobody would miss it.
#[test]
fn every_test_file_is_compiled() {
    let mut open = vec![PathBuf::from("tests/main.rs")];
    let mut seen: Vec<PathBuf> = Vec::new();
    while let Some(path) = open.pop() {
        let full = root().join(&path).canonicalize().expect("it exists");
        if !seen.contains(&full) {
            open.extend(modules_of(&path));
            seen.push(full);
        }
    }
    let forgotten = rust("tests").into_iter().filter(|(path, _)| {
        let full = root().join(path).canonicalize().expect("it exists");
        !seen.contains(&full)
    });
    let forgotten: Vec<_> = forgotten.map(|(p, _)| p.display().to_string()).collect();
    none("test files that no `mod` line names", &forgotten);
}

/// What `scripts/test fast` leaves out, on most days or (`full`) always, is a test: `folder::file::test`.
#[test]
fn tests_that_take_long_are_there() {
    let list = read(&root().join("tests/long.txt"));
    let tests = rust("tests");
    for line in list.lines() {
        let name = line.strip_prefix("full ").unwrap_or(line);
        let (folder, rest) = name.split_once("::").expect("a folder");
        let function = format!("fn {}()", rest.rsplit("::").next().unwrap_or(rest));
        let here = PathBuf::from("tests").join(folder);
        let mut files = tests.iter().filter(|(path, _)| path.starts_with(&here));
        assert!(files.any(|(_, text)| text.contains(&function)), "{name}");
    }
    let count = list.lines().count();
    let distinct = list.lines().collect::<std::collections::BTreeSet<_>>();
    assert!(count > 0 && distinct.len() == count, "each once");
}

/// Targets of `[text](target)` in Markdown, outside code.
fn links(text: &str) -> Vec<String> {
    let mut list = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let prose: String = line.split('`').step_by(2).collect();
        for part in prose.split("](").skip(1) {
            let target = part.split([')', ' ']).next().unwrap_or_default();
            list.push(target.to_string());
        }
    }
    list
}

/// `#anchors` of the headings, as code hosts make them.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|l| l.starts_with('#'));
    headings
        .map(|l| {
            let title = l.trim_start_matches('#').trim().to_lowercase();
            let kept = title
                .chars()
                .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            kept.collect::<String>().replace(' ', "-")
        })
        .collect()
}

#[test]
fn links_lead_somewhere() {
    let mut bad = Vec::new();
    for path in files(".") {
        // Links of templates are those of the pages made from them.
        let is_template = path.starts_with("xtask/templates");
        if is_template || path.extension().is_none_or(|e| e != "md") {
            continue;
        }
        for link in links(&read(&path)) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let folder = path.parent().unwrap_or(Path::new(""));
            let target = if file.is_empty() {
                path.clone()
            } else {
                folder.join(file)
            };
            let full = root().join(&target);
            let known = full.exists()
                && (anchor.is_empty() || anchors(&read(&target)).iter().any(|a| a == anchor));
            if !known {
                bad.push(format!("{}: {link}", path.display()));
            }
        }
    }
    none("links to nothing", &bad);
}

#[test]
fn licences_are_there() {
    for (file, start) in [
        ("LICENSE-MIT", "MIT License"),
        ("LICENSE-APACHE", "Apache License"),
    ] {
        let text = read(Path::new(file));
        assert!(text.contains(start), "{file} does not say {start}");
    }
    let manifest = read(Path::new("Cargo.toml"));
    assert!(manifest.contains("license = \"MIT OR Apache-2.0\""));
}

#[test]
fn everything_is_formatted() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["fmt", "--all", "--check"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "cargo fmt --check (scripts/test installs rustfmt):\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A crate whose own tests are not built has none.
#[test]
fn no_test_is_left_out() {
    let mut without = 0;
    for (_, folder, _) in CRATES {
        if !read(&Path::new(folder).join("Cargo.toml")).contains("\ntest = false\n") {
            continue;
        }
        without += 1;
        for path in files(format!("{folder}/src").trim_start_matches('/')) {
            assert!(
                !read(&path).contains("#[test]"),
                "nobody builds the tests of {}",
                path.display()
            );
        }
    }
    assert_eq!(without, 4);
}

#[test]
fn the_rules_see_what_they_should() {
    let text = "a // unsafe\n\"x \\\" unsafe\" 'u' '\\'' r#\"\"unsafe\"# /* /* */ unsafe */ b<'u>\n\
                #[cfg(test)]\nmod t { fn f() { x.unwrap() } }\nc";
    let code = shipped(text);
    let left: Vec<_> = code.split_whitespace().collect();
    assert_eq!(left, ["a", "b<'u>", "c"]);
    assert_eq!(
        shipped("//! Tests.\n#![cfg(test)]\nfn f() { x.unwrap() }"),
        ""
    );
    assert!(words("a Thumb_2 b").any(is_machine) && words("ATmega128").any(is_machine));
    assert!(!words("harmless alarm charm").any(is_machine));
    assert_eq!(links("[a](b.md) `[c](d)` [e](f#g)"), ["b.md", "f#g"]);
    assert_eq!(anchors("## What \"it\" is, 1"), ["what-it-is-1"]);
}

#[test]
fn what_is_trusted_is_counted() {
    let printed = Command::new(root().join("scripts/trusted"))
        .output()
        .expect("scripts/trusted runs");
    assert!(printed.status.success(), "scripts/trusted fails");
    let table = String::from_utf8(printed.stdout).expect("text");
    assert!(table.lines().count() > 10, "{table}");
    let text = read(Path::new("SOUNDNESS.md"));
    assert!(
        text.contains(table.trim()),
        "SOUNDNESS.md says other numbers than scripts/trusted:\n{table}"
    );
}
