//! The ledger: what every cell comes to, one line a cell, in a file for each machine below `tests/ledger/`.
//!
//! A test makes its cells and hands their lines to [`Sheet::hold`], which compares them with the file: a proof or a case of
//! aliasing that is lost, a figure that is larger, a cell that is gone fail, and so does what is better or new until it is
//! blessed by `cargo xtask ledger`, which runs the same tests and writes the files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;

/// What is typed to write the files.
const BLESS: &str = "cargo xtask ledger";
/// Lines of each kind that a failure shows.
const SHOWN: usize = 12;

/// Are the files written?
pub fn writes() -> bool {
    std::env::var("LOZENGE_LEDGER").as_deref() == Ok("bless")
}

/// A cell: what names it, its figures, of which less is better, and what is known of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    pub key: String,
    pub figures: Vec<String>,
    /// `proved`, what else is, and what tells: `proved; r == a; leaks on arm7tdmi`. Or why there is nothing.
    pub known: String,
}

impl Line {
    /// A cell without figures.
    pub fn known(key: String, known: &str) -> Self {
        Self {
            key,
            figures: Vec::new(),
            known: known.into(),
        }
    }

    fn parse(text: &str, figures: usize) -> Option<Self> {
        let mut cells: Vec<String> = text.split(',').map(String::from).collect();
        let known = cells.pop()?;
        let values = cells.split_off(cells.len().checked_sub(figures)?);
        Some(Self {
            key: cells.join(","),
            figures: values,
            known,
        })
    }

    fn text(&self) -> String {
        let mut cells = vec![self.key.clone()];
        cells.extend(self.figures.iter().cloned());
        cells.push(self.known.clone());
        cells.join(",")
    }

    /// Is it better, worse or both than `old`? Of what is known `leaks` and `unknown` count against it, all else for it.
    fn against(&self, old: &Self) -> Change {
        // `789..981` is as much as its end.
        let number = |text: &String| -> Option<u64> { text.rsplit("..").next()?.parse().ok() };
        let figures = self.figures.iter().zip(&old.figures);
        let mut change = Change::default();
        for (new, old) in figures {
            match (number(new), number(old)) {
                (Some(new), Some(old)) => {
                    change.worse |= new > old;
                    change.better |= new < old;
                }
                (new, old) => {
                    change.worse |= old.is_some() && new.is_none();
                    change.better |= new.is_some() && old.is_none();
                }
            }
        }
        let facts = |line: &Self| -> BTreeSet<String> {
            line.known.split("; ").map(String::from).collect()
        };
        let (new, before) = (facts(self), facts(old));
        let counts_against = |fact: &&String| {
            let against = ["leaks", "unknown", "none"];
            against.iter().any(|word| fact.starts_with(word))
        };
        let (bad, good): (Vec<_>, Vec<_>) = new.difference(&before).partition(counts_against);
        let (cured, lost): (Vec<_>, Vec<_>) = before.difference(&new).partition(counts_against);
        change.worse |= !lost.is_empty() || (!bad.is_empty() && cured.is_empty());
        change.better |= !good.is_empty() || !cured.is_empty();
        // Anything else is to be blessed, too.
        change.better |= self != old && !change.worse;
        change
    }
}

/// How a cell changed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Change {
    worse: bool,
    better: bool,
}

/// A file of the ledger.
pub struct Sheet {
    /// Below `tests/ledger/`, without `.csv`.
    pub name: String,
    /// The names of all columns: those of the key, of the figures, and of what is known.
    pub columns: &'static str,
    /// How many columns are figures.
    pub figures: usize,
}

impl Sheet {
    fn path(&self) -> PathBuf {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/ledger");
        root.join(format!("{}.csv", self.name))
    }

    /// The lines of the file, by their keys; none if there is no file yet.
    pub fn lines(&self) -> BTreeMap<String, Line> {
        let Ok(text) = std::fs::read_to_string(self.path()) else {
            return BTreeMap::new();
        };
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some(self.columns), "{}", self.name);
        let lines = lines.map(|text| {
            let line = Line::parse(text, self.figures);
            let line = line.unwrap_or_else(|| panic!("{}: {text}", self.name));
            (line.key.clone(), line)
        });
        lines.collect()
    }

    /// Compares what was made with the file, or writes it where `LOZENGE_LEDGER=bless`; `whole`: were all cells made, and
    /// not a sample of them?
    ///
    /// # Panics
    /// With every cell that changed, and what to type.
    pub fn hold(&self, made: Vec<Line>, whole: bool) {
        let count = made.len();
        let made: BTreeMap<_, _> = made.into_iter().map(|l| (l.key.clone(), l)).collect();
        assert_eq!(made.len(), count, "{}: two cells have one key", self.name);
        if writes() {
            assert!(whole, "a sample is no ledger");
            return self.write(&made);
        }
        let told = compared(&self.lines(), &made, whole);
        assert!(
            told.is_empty(),
            "tests/ledger/{}.csv says otherwise; what is meant to be so is blessed by `{BLESS}`:\n{told}",
            self.name
        );
    }

    fn write(&self, made: &BTreeMap<String, Line>) {
        let mut text = format!("{}\n", self.columns);
        for line in made.values() {
            let _ = writeln!(text, "{}", line.text());
        }
        let path = self.path();
        let folder = path.parent().expect("a folder");
        std::fs::create_dir_all(folder).expect("tests/ledger can be written");
        std::fs::write(&path, text).expect("tests/ledger can be written");
        println!("{}: {} cells written", self.name, made.len());
    }
}

/// What differs, in lines of text.
fn compared(held: &BTreeMap<String, Line>, made: &BTreeMap<String, Line>, whole: bool) -> String {
    let mut kinds: [(&str, Vec<String>); 4] = [
        ("WORSE", vec![]),
        ("GONE", vec![]),
        ("better", vec![]),
        ("new", vec![]),
    ];
    for (key, line) in made {
        let Some(old) = held.get(key) else {
            kinds[3].1.push(line.text());
            continue;
        };
        let change = line.against(old);
        let told = || format!("{}\n     now {}", old.text(), line.text());
        match change {
            Change { worse: true, .. } => kinds[0].1.push(told()),
            Change { better: true, .. } => kinds[2].1.push(told()),
            Change { .. } => {}
        }
    }
    if whole {
        let gone = held.iter().filter(|(key, _)| !made.contains_key(*key));
        kinds[1].1.extend(gone.map(|(_, line)| line.text()));
    }
    let mut text = String::new();
    for (kind, lines) in kinds.iter().filter(|(_, lines)| !lines.is_empty()) {
        let _ = writeln!(text, "{} {kind}:", lines.len());
        for line in lines.iter().take(SHOWN) {
            let _ = writeln!(text, "  {line}");
        }
        if lines.len() > SHOWN {
            let _ = writeln!(text, "  ...");
        }
    }
    text
}

#[test]
fn what_changes_is_told() {
    let line = |text: &str| Line::parse(text, 2).expect("a line");
    let change = |old: &str, new: &str| {
        let Change { worse, better } = line(new).against(&line(old));
        (worse, better)
    };
    let (worse, better, none) = ((true, false), (false, true), (false, false));
    for (old, new, told) in [
        ("k,1,2,proved", "k,1,2,proved", none),
        ("k,1,2,proved", "k,1,3,proved", worse),
        ("k,1,2,proved", "k,0,2,proved", better),
        ("k,1,2,proved", "k,0,3,proved", (true, true)),
        ("k,1..5,2,proved", "k,1..6,2,proved", worse),
        ("k,2..5,2,proved", "k,1..5,2,proved", better),
        ("k,1,2,proved", "k,1,2,unknown", worse),
        ("k,1,2,proved; r == a", "k,1,2,proved", worse),
        ("k,1,2,proved", "k,1,2,proved; r == a", better),
        ("k,1,2,proved", "k,1,2,proved; leaks on x", worse),
        ("k,1,2,proved; leaks on x", "k,1,2,proved", better),
        ("k,,,none: registers", "k,1,2,proved", better),
        ("k,1,2,proved", "k,,,none: registers", worse),
        ("k,,,none: registers", "k,,,none: columns", better),
    ] {
        assert_eq!(change(old, new), told, "{old} -> {new}");
    }
    let sheet = |lines: &[&str]| -> BTreeMap<_, _> {
        lines.iter().map(|l| (line(l).key, line(l))).collect()
    };
    let held = sheet(&["a,1,2,proved", "b,1,2,proved"]);
    let made = sheet(&["a,1,3,proved", "c,1,2,proved"]);
    let told = compared(&held, &made, true);
    for part in ["1 WORSE:", "1 GONE:\n  b,1", "1 new:\n  c,1"] {
        assert!(told.contains(part), "{told}");
    }
    assert!(!compared(&held, &made, false).contains("GONE"));
    assert_eq!(compared(&held, &held, true), "");
}
