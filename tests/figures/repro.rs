//! `lozenge repro`: every cell as `tests/paper/repro.csv` has it. After a change that is meant:
//! `lozenge repro --all --csv > tests/paper/repro.csv`.

use std::collections::BTreeSet;

use crate::kit::oracle;
use crate::kit::tier::{self, Tier};

const RECORDED: &str = include_str!("../paper/repro.csv");

/// A cell on record.
pub struct Recorded {
    pub paper: String,
    pub table: String,
    pub row: String,
    pub column: String,
    pub printed: String,
    pub ours: String,
    pub state: String,
    pub basis: String,
    pub command: String,
    pub why: String,
}

/// The fields of a line of comma-separated values.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        let field = fields.last_mut().expect("one");
        match c {
            '"' if quoted && rest.peek() == Some(&'"') => {
                rest.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => field.push(c),
        }
    }
    assert!(!quoted, "{line}");
    fields
}

/// All lines on record, slips among them.
fn lines() -> impl Iterator<Item = Recorded> {
    let names = fields(RECORDED.lines().next().expect("a head"));
    RECORDED.lines().skip(1).map(move |line| {
        let fields = fields(line);
        assert_eq!(fields.len(), names.len(), "{line}");
        let of = |name: &str| {
            let at = names.iter().position(|n| n == name);
            fields[at.unwrap_or_else(|| panic!("no column {name}"))].clone()
        };
        Recorded {
            paper: of("paper"),
            table: of("table"),
            row: of("row"),
            column: of("column"),
            printed: of("printed"),
            ours: of("ours"),
            state: of("state"),
            basis: of("basis"),
            command: of("command"),
            why: of("why"),
        }
    })
}

/// The cells on record.
pub fn recorded() -> impl Iterator<Item = Recorded> {
    lines().filter(|line| line.table != "slip")
}

/// A row on record: theirs and ours.
pub fn recorded_row(paper: &str, table: &str, row: &str) -> (Vec<u64>, Vec<u64>) {
    let cells = recorded().filter(|c| (&*c.paper, &*c.table, &*c.row) == (paper, table, row));
    let number = |text: &str| text.parse::<u64>().expect("a whole number");
    let row: (Vec<_>, Vec<_>) = cells
        .map(|cell| (number(&cell.printed), number(&cell.ours)))
        .unzip();
    assert!(!row.0.is_empty(), "no such row");
    row
}

/// What the command prints, all kernels proved.
fn made(wanted: &[&str]) -> String {
    let output = oracle::lozenge()
        .arg("repro")
        .args(wanted)
        .args(["--csv", "--quiet"])
        .output()
        .expect("lozenge runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// Made again: all at night, else a part of the tables, as the ledger and the figures hold what others ask of the kernels.
#[test]
fn every_cell_is_as_recorded() {
    if tier::tier() == Tier::Night {
        assert!(
            made(&["--all"]) == RECORDED,
            "the file has lines that are made no more, or in another order"
        );
        return;
    }
    let tables: BTreeSet<_> = recorded().map(|cell| (cell.paper, cell.table)).collect();
    let known: BTreeSet<_> = RECORDED.lines().collect();
    for (paper, table) in tier::part(tables, 4, 57) {
        let made = made(&[&paper, "--table", &table]);
        let made: BTreeSet<_> = made.lines().collect();
        for line in &made {
            assert!(known.contains(line), "not on record: {line}");
        }
        let starts = [&*paper, &*table].map(|field| format!("{field},")).concat();
        for line in known.iter().filter(|line| line.starts_with(&starts)) {
            assert!(made.contains(line), "made no more: {line}");
        }
    }
}

/// What is on record says why, and what stands behind it.
#[test]
fn cells_that_are_not_better_say_why() {
    for cell in recorded() {
        let name = format!("{} {} {} {}", cell.paper, cell.table, cell.row, cell.column);
        let fine = matches!(cell.state.as_str(), "reproduced" | "beaten");
        assert!(fine || !cell.why.is_empty(), "{name}: no reason");
        let made = cell.command.is_empty() == cell.basis.is_empty();
        assert!(made, "{name}: {} by {}", cell.basis, cell.command);
        assert!(cell.basis != "counted", "{name} is not proved");
        assert!(
            !cell.ours.is_empty() || !cell.why.is_empty(),
            "{name}: nothing of ours, and no reason"
        );
    }
}

/// Slips that are known from the papers themselves; each is found by the command.
#[test]
fn slips_are_found() {
    let slips: Vec<_> = lines().filter(|line| line.table == "slip").collect();
    let found = |place: &str, printed: &str, right: &str| {
        let is = |slip: &&Recorded| {
            slip.row.contains(place) && slip.printed.contains(printed) && slip.ours.contains(right)
        };
        let slip = slips.iter().find(is);
        slip.unwrap_or_else(|| panic!("{place}: {printed} for {right} is not found"))
    };
    let squares = found("KCM square, ADD", "7/4 s", "77/4 s");
    assert!(squares.why.contains("16.7, 59.1, 127, 221 us"));
    found("KCM product, 1536 bits", "163 us", "161.5");
    found("CIOS square, MUL", "5/2 s", "3/2 s");
    found("table 4, CIOS", "2 ADD a step", "4 ADD a step");
    let rule = found("table 4, KCM", "1 ADD a step", "3 ADD a step");
    assert!(rule.why.contains("25 % of the time and 26 % of the energy"));
    found("text", "22.1 %", "21.8 %");
    found("text", "18.9 %", "19.1 %");
    found("equation 1", "2 n^2 / e", "e / 2");
    found("equation 4", ">", "n < d (3 d - 1) / 2");
}

/// A paper and a table that are not there are named beside those that are.
#[test]
fn unknown_papers_and_tables() {
    for (line, told) in [
        ("repro hutter-wenger-2011", "try hutter-wenger-2018"),
        ("repro groszschaedl", "say which"),
        (
            "repro seo-kim-2014 --table 9",
            "no table 9: try 1, 2, 3, 4, 5",
        ),
        ("repro", "--all"),
    ] {
        let output = oracle::lozenge()
            .args(line.split_whitespace())
            .output()
            .expect("lozenge runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(
            errors.contains(told) && errors.lines().count() == 1,
            "{line}: {errors}"
        );
    }
}
