//! A published cell beside ours, and which of them is better.

use serde::{Deserialize, Serialize};

use crate::cli::repro::made::Basis;

/// A cell as it is printed: a number with its decimals, or `?` for one that is lost and `-` for one that is empty.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub enum Printed {
    /// Value, and digits behind the point.
    Figure(f64, usize),
    Lost,
    Empty,
}

impl Printed {
    /// A whole number that a formula gives.
    pub fn whole(value: f64) -> Self {
        Self::Figure(value, 0)
    }

    /// The number.
    pub fn figure(&self) -> Option<f64> {
        match self {
            Self::Figure(value, _) => Some(*value),
            Self::Lost | Self::Empty => None,
        }
    }

    /// Would `value` be printed so?
    pub fn says(&self, value: f64) -> bool {
        matches!(self, Self::Figure(printed, decimals)
            if format!("{printed:.decimals$}") == format!("{value:.decimals$}"))
    }
}

impl TryFrom<String> for Printed {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let decimals = text.split_once('.').map_or(0, |(_, behind)| behind.len());
        match text.as_str() {
            "?" => Ok(Self::Lost),
            "-" => Ok(Self::Empty),
            number => match number.parse() {
                Ok(value) => Ok(Self::Figure(value, decimals)),
                Err(_) => Err(format!("{text} is no number, nor ? or -")),
            },
        }
    }
}

/// What a cell of ours is to theirs. Less is better in all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// As printed.
    Reproduced,
    /// Ours is less.
    Beaten,
    /// Ours is more.
    Worse,
    /// One of the two is missing, for a reason.
    NotComparable,
    /// Theirs is lost.
    NotLegible,
}

impl State {
    /// In the order of a summary.
    pub const ALL: [Self; 5] = [
        Self::Reproduced,
        Self::Beaten,
        Self::Worse,
        Self::NotComparable,
        Self::NotLegible,
    ];

    /// As people read it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Beaten => "beaten",
            Self::Worse => "worse",
            Self::NotComparable => "not comparable",
            Self::NotLegible => "not legible",
        }
    }
}

/// One cell.
#[derive(Clone, Debug)]
pub struct Cell {
    pub row: String,
    pub column: String,
    pub printed: Printed,
    /// What the paper's formula gives.
    pub formula: Option<f64>,
    /// The same with additions counted by one rule in all its tables.
    pub rule: Option<f64>,
    /// Ours by the paper's rule: base instructions alone, none of them waits.
    pub base: Option<f64>,
    /// Ours; without one, why.
    pub ours: Result<f64, String>,
    /// Digits of ours behind the point.
    pub decimals: usize,
    /// How sure ours is.
    pub basis: Option<Basis>,
    /// What makes ours.
    pub command: Option<String>,
    /// The method and parameters that it comes to.
    pub plan: Option<String>,
}

impl Cell {
    /// What ours is to theirs.
    pub fn state(&self) -> State {
        match (&self.printed, &self.ours) {
            (Printed::Lost, _) => State::NotLegible,
            (Printed::Empty, _) | (Printed::Figure(..), Err(_)) => State::NotComparable,
            (Printed::Figure(printed, _), Ok(ours)) => match self.printed.says(*ours) {
                true => State::Reproduced,
                false if ours < printed => State::Beaten,
                false => State::Worse,
            },
        }
    }

    /// By how many % ours is above theirs.
    pub fn difference(&self) -> Option<f64> {
        let (printed, ours) = (self.printed.figure()?, self.ours.as_ref().ok()?);
        (printed != 0.0).then(|| 100.0 * (ours / printed - 1.0))
    }
}

/// Cells, and why rows of ours are what they are.
#[derive(Clone, Debug)]
pub struct Table {
    pub id: String,
    pub title: String,
    pub unit: String,
    pub cells: Vec<Cell>,
    /// Row and reason.
    pub why: Vec<(String, String)>,
}

impl Table {
    /// The reason for a row.
    pub fn reason(&self, row: &str) -> &str {
        let found = self.why.iter().find(|(name, _)| name == row);
        found.map_or("", |(_, why)| why)
    }
}

/// What a paper prints wrong.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Slip {
    /// Table or section.
    pub place: String,
    /// As printed.
    pub printed: String,
    /// What is right.
    pub right: String,
    /// How that is found.
    pub why: String,
}

/// A paper's tables, and what it prints wrong.
pub struct Reproduced {
    pub key: String,
    pub title: String,
    pub tables: Vec<Table>,
    pub slips: Vec<Slip>,
}

/// How many cells are in each state, as [`State::ALL`].
pub fn count<'a>(cells: impl Iterator<Item = &'a Cell>) -> [usize; 5] {
    let mut counts = [0; 5];
    for cell in cells {
        let state = cell.state();
        let at = State::ALL.iter().position(|s| *s == state);
        counts[at.unwrap_or_default()] += 1;
    }
    counts
}
