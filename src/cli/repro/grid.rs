//! Tables that are rows of printed cells, each row with the command that makes ours.

use serde::Deserialize;

use crate::cli::repro::cell::{Cell, Printed, Table};
use crate::cli::repro::made::{Book, Figure};

/// A paper: its file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// As the command line names it.
    pub key: String,
    pub title: String,
    #[serde(rename = "table")]
    pub tables: Vec<Grid>,
}

/// A table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    id: String,
    title: String,
    unit: String,
    columns: Vec<String>,
    /// What is read off ours: of each column, or one for all.
    figures: Vec<Figure>,
    #[serde(rename = "row")]
    rows: Vec<Row>,
}

/// A row; `{column}` in a command is the column's name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    printed: Vec<Printed>,
    command: Option<String>,
    /// In place of one for all columns.
    #[serde(default)]
    commands: Vec<String>,
    /// In place of the table's.
    figure: Option<Figure>,
    megahertz: Option<f64>,
    why: String,
}

/// Bits whose second difference tells a pass: their kernels have as many columns before and behind the loops.
const AROUND: [u32; 3] = [768, 1024, 1280];

/// Words between them.
const STEP: f64 = 8.0;

impl Row {
    /// What makes ours in a column, with its name in place.
    fn command(&self, column: usize, name: &str) -> Option<String> {
        let command = self.commands.get(column).or(self.command.as_ref())?;
        Some(command.replace("{column}", name))
    }
}

impl Grid {
    /// The table's name.
    pub fn id(&self) -> &str {
        &self.id
    }

    fn figure(&self, row: &Row, column: usize) -> Figure {
        let of_column = self.figures.get(column).or(self.figures.first());
        row.figure.or(of_column.copied()).unwrap_or(Figure::Cycles)
    }

    /// The commands that make its cells.
    pub fn commands(&self) -> Vec<String> {
        let mut all = Vec::new();
        for row in &self.rows {
            for (at, name) in self.columns.iter().enumerate() {
                match (row.command(at, name), self.figure(row, at)) {
                    (Some(command), Figure::Pass) => all.extend(around(&command)),
                    (Some(command), _) => all.push(command),
                    (None, _) => {}
                }
            }
        }
        all
    }

    /// The table with ours.
    pub fn table(&self, book: &Book) -> Table {
        let mut cells = Vec::new();
        for row in &self.rows {
            for ((at, name), printed) in self.columns.iter().enumerate().zip(&row.printed) {
                cells.push(self.cell(row, (at, name), printed, book));
            }
        }
        let why = self
            .rows
            .iter()
            .map(|row| (row.name.clone(), row.why.clone()));
        Table {
            id: self.id.clone(),
            title: self.title.clone(),
            unit: self.unit.clone(),
            cells,
            why: why.collect(),
        }
    }

    fn cell(&self, row: &Row, column: (usize, &str), printed: &Printed, book: &Book) -> Cell {
        let (at, name) = column;
        let figure = self.figure(row, at);
        let command = row.command(at, name);
        let made = match &command {
            Some(command) => read(book, command, figure, row.megahertz),
            None => Err(row.why.clone()),
        };
        let first = command.as_ref().and_then(|command| {
            let first = around(command).into_iter().next()?;
            book.get(&first).ok()
        });
        Cell {
            row: row.name.clone(),
            column: name.into(),
            printed: printed.clone(),
            formula: None,
            rule: None,
            base: None,
            ours: made,
            decimals: match figure {
                Figure::Milliseconds => 1,
                _ => 0,
            },
            basis: first.map(|made| made.basis),
            plan: first.and_then(|made| made.plan.clone()),
            command,
        }
    }
}

/// A command for each of three sizes.
fn around(command: &str) -> Vec<String> {
    match command.contains("{bits}") {
        true => AROUND
            .map(|bits| command.replace("{bits}", &bits.to_string()))
            .into(),
        false => vec![command.into()],
    }
}

/// A figure of what a command made. A product of s words has s^2 passes of the inner loop and what grows with s, so a
/// pass takes half the second difference of its cycles over s.
fn read(book: &Book, command: &str, figure: Figure, megahertz: Option<f64>) -> Result<f64, String> {
    if figure != Figure::Pass {
        return book.get(command)?.figure(figure, megahertz);
    }
    let mut cycles = Vec::new();
    for command in around(command) {
        cycles.push(book.get(&command)?.cycles as f64);
    }
    match cycles[..] {
        [less, middle, more] => Ok((less - 2.0 * middle + more) / (2.0 * STEP * STEP)),
        _ => Err(format!("`{command}` has no {{bits}}")),
    }
}
