//! No circle of imports: a file that uses another is not used by it, by way of whatever files, so that every file can be
//! read after those that it names.
//!
//! A file imports what its `use` trees and its paths name, and a re-export is an import of the file it stands in. A
//! line `mod name;` is none: it says where a file is, not what is in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::tool::tidy::{CRATES, rust, shipped};

/// The command line is a crate of its own: `src/main.rs` and its modules, which use the library.
const PROGRAM: &str = "main";

/// What a module says.
#[derive(Default)]
struct Module {
    file: PathBuf,
    /// Items that it defines.
    items: BTreeSet<String>,
    /// Names that `use` gives it, with the paths they stand for.
    names: BTreeMap<String, Vec<Vec<String>>>,
    /// Paths of `use path::*`.
    globs: Vec<Vec<String>>,
    /// Paths outside `use`.
    paths: Vec<Vec<String>>,
}

/// All modules by their paths from the crate: `make::schedule::halves`.
#[derive(Default)]
struct Modules(BTreeMap<String, Module>);

/// Files that a file imports, each with the paths that name it.
type Imports = BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<String>>>;

/// Names, `::`, and every other character alone.
fn tokens(code: &str) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let length = match first {
            c if is_name(c) => rest.find(|c| !is_name(c)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            c => c.len_utf8(),
        };
        if !first.is_whitespace() {
            list.push(rest[..length].to_string());
        }
        rest = &rest[length..];
    }
    list
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The module that a file of the folder `root` is, of the crate `name`.
fn module_of(name: &str, root: &str, file: &Path) -> String {
    let below = file.strip_prefix(root).expect("a file of the crate");
    let mut parts = vec![name.to_string()];
    parts.extend(
        below
            .with_extension("")
            .iter()
            .map(|p| p.to_string_lossy().into_owned()),
    );
    if ["lib", "mod", "main"].contains(&parts[parts.len() - 1].as_str()) {
        parts.pop();
    }
    parts.join("::")
}

/// Reads a `use` tree from `at` on into the module; where it ends.
fn use_tree(t: &[String], mut at: usize, mut path: Vec<String>, to: &mut Module) -> usize {
    loop {
        match t[at].as_str() {
            "{" => {
                at += 1;
                while t[at] != "}" {
                    at = use_tree(t, at, path.clone(), to);
                    at += usize::from(t[at] == ",");
                }
                return at + 1;
            }
            "*" => {
                to.globs.push(path);
                return at + 1;
            }
            "::" => at += 1,
            name => {
                assert!(is_name(name), "{}: use .. {name}", to.file.display());
                if name != "self" || path.is_empty() {
                    path.push(name.to_string());
                }
                at += 1;
                if t[at] == "::" {
                    continue;
                }
                let mut alias = path[path.len() - 1].clone();
                if t[at] == "as" {
                    alias = t[at + 1].clone();
                    at += 2;
                }
                to.names.entry(alias).or_default().push(path);
                return at;
            }
        }
    }
}

impl Modules {
    /// The modules of files of a crate, given with their contents.
    fn read(&mut self, module: &str, file: &Path, text: &str) {
        const DEFINES: [&str; 8] = [
            "struct", "enum", "union", "trait", "fn", "type", "const", "static",
        ];
        let t = tokens(&shipped(text));
        let fresh = || Module {
            file: file.to_path_buf(),
            ..Module::default()
        };
        // The modules that are open here, with the depth of their braces.
        let mut open = vec![(module.to_string(), 0)];
        self.0.insert(module.to_string(), fresh());
        let (mut at, mut depth) = (0, 0);
        while at < t.len() {
            let (name, base) = open[open.len() - 1].clone();
            let here = self.0.get_mut(&name).expect("it is open");
            let after = |n: usize| t.get(at + n).map_or("", String::as_str);
            let before = if at > 0 { t[at - 1].as_str() } else { "" };
            match t[at].as_str() {
                "{" => depth += 1,
                "}" => {
                    if depth == base {
                        open.pop();
                    }
                    depth -= 1;
                }
                "mod" if after(2) == "{" => {
                    let inner = format!("{name}::{}", after(1));
                    depth += 1;
                    open.push((inner.clone(), depth));
                    self.0.insert(inner, fresh());
                    at += 2;
                }
                "use" => {
                    at = use_tree(&t, at + 1, Vec::new(), here);
                    continue;
                }
                word if DEFINES.contains(&word) && depth == base => {
                    here.items.insert(after(1).to_string());
                }
                word if is_name(word) && after(1) == "::" && before != "::" => {
                    let mut path = vec![word.to_string()];
                    while after(2 * path.len() - 1) == "::" && is_name(after(2 * path.len())) {
                        path.push(after(2 * path.len()).to_string());
                    }
                    at += 2 * path.len() - 2;
                    here.paths.push(path);
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Follows a path from a module: the modules it comes by and ends at, in `met`; the one that it is, if it is one.
    /// `last` says whether the last name can be a module: in a `use`, but not in an expression or a type.
    fn follow(
        &self,
        from: &str,
        path: &[String],
        last: bool,
        (deep, met): (usize, &mut BTreeSet<String>),
    ) -> Option<String> {
        const DEEPEST: usize = 12;
        if deep > DEEPEST {
            return None;
        }
        let mut at = from.to_string();
        for (i, name) in path.iter().enumerate() {
            let may_be_module = last || i + 1 < path.len();
            let first = i == 0;
            at = match name.as_str() {
                "crate" if first => at.split("::").next().unwrap_or_default().to_string(),
                "self" if first => at,
                "super" => at.rsplit_once("::")?.0.to_string(),
                _ => match self.step(&at, name, may_be_module, (deep, &mut *met)) {
                    Some(Some(module)) => module,
                    Some(None) => return None,
                    None if first && self.0.contains_key(name) => name.clone(),
                    None if first => return None,
                    None => {
                        met.insert(at);
                        return None;
                    }
                },
            };
        }
        met.insert(at.clone());
        Some(at)
    }

    /// What `name` is in the module `at`: `None` if it is not known there, else the module that it is, if it is one.
    fn step(
        &self,
        at: &str,
        name: &str,
        may_be_module: bool,
        (deep, met): (usize, &mut BTreeSet<String>),
    ) -> Option<Option<String>> {
        let here = self.0.get(at)?;
        let child = format!("{at}::{name}");
        if here.items.contains(name) {
            met.insert(at.to_string());
        }
        if may_be_module && self.0.contains_key(&child) {
            return Some(Some(child));
        }
        if here.items.contains(name) {
            return Some(None);
        }
        if let Some(paths) = here.names.get(name) {
            met.insert(at.to_string());
            let mut module = None;
            for path in paths {
                // `use spec;` and `use spec::{self}` name the crate.
                let from = if path[0] == name { "" } else { at };
                module = self
                    .follow(from, path, may_be_module, (deep + 1, &mut *met))
                    .or(module);
            }
            return Some(module);
        }
        for glob in &here.globs {
            let mut way = BTreeSet::new();
            let module = self.follow(at, glob, true, (deep + 1, &mut way));
            let module = module.filter(|m| m != at);
            let found = module
                .and_then(|module| self.step(&module, name, may_be_module, (deep + 1, &mut way)));
            if found.is_some() {
                met.insert(at.to_string());
                met.extend(way);
                return found;
            }
        }
        None
    }

    /// What every file imports.
    fn imports(&self) -> Imports {
        let mut all = Imports::new();
        for (name, module) in &self.0 {
            let named = module.names.values().flatten().map(|path| (path, true));
            let globs = module.globs.iter().map(|path| (path, true));
            let paths = module.paths.iter().map(|path| (path, false));
            for (path, is_use) in named.chain(globs).chain(paths) {
                let mut met = BTreeSet::new();
                let own_alias =
                    is_use && module.names.get(&path[0]).is_some_and(|p| p.contains(path));
                let child = self.0.contains_key(&format!("{name}::{}", path[0]));
                let from = if own_alias
                    && !child
                    && !["crate", "self", "super"].contains(&path[0].as_str())
                {
                    ""
                } else {
                    name
                };
                self.follow(from, path, is_use, (0, &mut met));
                for module_met in met {
                    let file = &self.0[&module_met].file;
                    if *file != module.file {
                        let list = all.entry(module.file.clone()).or_default();
                        let paths = list.entry(file.clone()).or_default();
                        paths.insert(path.join("::"));
                    }
                }
            }
        }
        all
    }
}

/// The files of each circle.
fn circles(imports: &Imports) -> BTreeSet<Vec<PathBuf>> {
    let reached = |from: &PathBuf| {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(file) = open.pop() {
            for next in imports.get(file).into_iter().flat_map(BTreeMap::keys) {
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        seen
    };
    let reach: BTreeMap<_, _> = imports.keys().map(|file| (file, reached(file))).collect();
    let circle = |file: &&PathBuf| {
        let back = |other: &&&PathBuf| reach.get(**other).is_some_and(|r| r.contains(*file));
        reach[*file]
            .iter()
            .filter(back)
            .map(|f| (*f).clone())
            .collect()
    };
    let in_circles = imports.keys().filter(|file| reach[file].contains(file));
    in_circles.map(|file| circle(&file)).collect()
}

/// The imports among the files of a circle, a line each.
fn told(circle: &[PathBuf], imports: &Imports) -> String {
    let mut lines = Vec::new();
    for from in circle {
        for (to, paths) in &imports[from] {
            if circle.contains(to) {
                let paths: Vec<_> = paths.iter().map(String::as_str).collect();
                let (from, to) = (from.display(), to.display());
                lines.push(format!("    {from} uses {to}: {}", paths.join(", ")));
            }
        }
    }
    lines.join("\n")
}

/// The modules of files that are given with their crates, folders and contents.
fn modules(files: &[(&str, &str, PathBuf, String)]) -> Modules {
    let mut all = Modules::default();
    for (name, root, file, text) in files {
        all.read(&module_of(name, root, file), file, text);
    }
    all
}

#[test]
fn no_file_is_in_a_circle() {
    let mut files = Vec::new();
    let roots = CRATES.map(|(name, folder, _)| match folder {
        "" => (name, "src".to_string()),
        folder => (name, format!("{folder}/src")),
    });
    for (name, root) in &roots {
        for (file, text) in rust(root) {
            let program = file == Path::new("src/main.rs") || file.starts_with("src/cli");
            let name = if program { PROGRAM } else { *name };
            files.push((name, root.as_str(), file, text));
        }
    }
    let imports = modules(&files).imports();
    let found: Vec<_> = circles(&imports)
        .iter()
        .map(|c| told(c, &imports))
        .collect();
    assert!(
        found.is_empty(),
        "files import each other in circles:\n{}",
        found.join("\n\n")
    );
}

/// The circles among files of one crate, by the paths below its folder.
fn circles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let list: Vec<_> = files
        .iter()
        .map(|(file, text)| ("x", "x", Path::new("x").join(file), text.to_string()))
        .collect();
    let name = |file: &PathBuf| file.strip_prefix("x").expect("below").display().to_string();
    let found = circles(&modules(&list).imports());
    found.iter().map(|c| c.iter().map(name).collect()).collect()
}

const NONE: [&[&str]; 0] = [];

#[test]
fn a_circle_through_a_re_export_is_seen() {
    let parent = "mod b; mod c; pub use crate::a::b::{self, B as Other};";
    let b = "use crate::a::c::f; pub struct B; fn g() { f() }";
    let by = |c: &str| {
        circles_of(&[
            ("lib.rs", "mod a;"),
            ("a/mod.rs", parent),
            ("a/b.rs", b),
            ("a/c.rs", c),
        ])
    };
    let all = [["a/b.rs", "a/c.rs", "a/mod.rs"]];
    assert_eq!(by("use super::Other; pub fn f() {}"), all);
    assert_eq!(by("pub fn f() -> crate::a::Other { todo() }"), all);
    assert_eq!(by("use super::*; pub fn f() {}"), all);
    // Without the parent between them.
    assert_eq!(by("use super::b::B; pub fn f() {}"), [["a/b.rs", "a/c.rs"]]);
    assert_eq!(by("pub fn f() {}"), NONE);
}

#[test]
fn every_way_to_name_a_file_is_an_import() {
    let by = |a: &str, b: &str| {
        circles_of(&[
            ("lib.rs", "pub mod a; pub mod b; pub use a::inner as alias;"),
            ("a.rs", a),
            ("a/inner.rs", "pub fn f() {} pub mod deep { pub fn g() {} }"),
            ("b.rs", b),
        ])
    };
    let both = [["a.rs", "b.rs"]];
    let back = "pub struct A; pub fn h() { crate::b::f() }";
    for way in [
        "use crate::{a::{A, h}};",
        "use super::a::A as X;",
        "use x::a::*;",
        "use crate::a; fn f() { a::h() }",
        "fn f() { let y: crate::a::A = h; }",
        "fn f() { Vec::<super::a::A>::new() }",
        "mod inline { use super::super::a::A; }",
        "fn f() { use crate::a::A; }",
    ] {
        assert_eq!(by(back, way), both, "{way}");
    }
    // A module of the file itself, and one that another name leads to.
    assert_eq!(by("mod inner; fn f() { inner::f() }", ""), NONE);
    let inner = "pub mod inner; pub fn h() { crate::b::f() }";
    assert_eq!(by(inner, "fn f() { crate::a::inner::deep::g() }"), NONE);
    assert_eq!(by(inner, "fn f() { crate::alias::f() }"), NONE);
    // What is no code that ships.
    for way in [
        "// crate::a::h()",
        "const T: &str = \"crate::a::h()\";",
        "#[cfg(test)] mod tests { use crate::a::A; }",
        "#![cfg(test)] use crate::a::A;",
    ] {
        assert_eq!(by(back, way), NONE, "{way}");
    }
}
