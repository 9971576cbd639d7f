//! Reproduced tables as text, as comma-separated values and as JSON.

use comfy_table::{Table as Columns, presets};
use serde_json::{Value, json};

use crate::cli::repro::cell::{Cell, Printed, Reproduced, State, Table, count};

fn number(value: f64, decimals: usize) -> String {
    format!("{value:.decimals$}")
}

/// As it is printed.
fn printed(cell: &Cell) -> String {
    match &cell.printed {
        Printed::Figure(value, decimals) => number(*value, *decimals),
        Printed::Lost => "?".into(),
        Printed::Empty => "-".into(),
    }
}

/// A number beside ours, in as many decimals.
fn beside(cell: &Cell, value: Option<f64>) -> String {
    value.map_or(String::new(), |value| {
        // Formulas of whole numbers may have halves.
        let decimals = cell.decimals.max(usize::from(value.fract() != 0.0));
        number(value, decimals)
    })
}

fn difference(cell: &Cell) -> String {
    let said = |value: f64| format!("{value:+.1} %");
    cell.difference().map_or(String::new(), said)
}

/// How many cells are in each state: `3 reproduced, 20 beaten`.
fn summary(counts: [usize; 5]) -> String {
    let named = State::ALL.iter().zip(counts);
    let told = named.filter(|(_, n)| *n > 0);
    let told: Vec<_> = told
        .map(|(state, n)| format!("{n} {}", state.name()))
        .collect();
    told.join(", ")
}

fn cells(all: &[Reproduced]) -> impl Iterator<Item = &Cell> {
    let tables = all.iter().flat_map(|paper| &paper.tables);
    tables.flat_map(|table| &table.cells)
}

/// For people.
pub fn text(all: &[Reproduced]) -> String {
    let mut text = String::new();
    for paper in all {
        text += &format!("{}: {}\n", paper.key, paper.title);
        for table in &paper.tables {
            text += &one(table);
        }
        for (i, slip) in paper.slips.iter().enumerate() {
            if i == 0 {
                text += "\nwhat the paper prints that does not follow:\n";
            }
            let (place, printed, right, why) = (&slip.place, &slip.printed, &slip.right, &slip.why);
            text += &format!("  {place}: {printed}; right is {right} ({why})\n");
        }
        let counts = count(paper.tables.iter().flat_map(|table| &table.cells));
        text += &format!("\n{}: {}\n\n", paper.key, summary(counts));
    }
    if all.len() > 1 {
        text += &format!("all papers: {}\n", summary(count(cells(all))));
    }
    text.trim_end().to_string()
}

fn one(table: &Table) -> String {
    let mut text = format!("\n{}: {} ({})\n", name(&table.id), table.title, table.unit);
    let has = |read: fn(&Cell) -> Option<f64>| table.cells.iter().any(|cell| read(cell).is_some());
    let [formula, rule, base]: [fn(&Cell) -> Option<f64>; 3] =
        [|cell| cell.formula, |cell| cell.rule, |cell| cell.base];
    // A column that no cell has is left out.
    let more = [
        ("formula", formula),
        ("by one rule", rule),
        ("our base", base),
    ];
    let more: Vec<_> = more.into_iter().filter(|(_, read)| has(*read)).collect();
    let mut columns = Columns::new();
    columns.load_style(presets::NOTHING);
    let mut head = vec!["row", "column", "printed"];
    head.extend(more.iter().map(|(name, _)| *name));
    head.extend(["ours", "difference", "state", ""]);
    columns.set_header(head);
    for cell in &table.cells {
        let mut line = vec![cell.row.clone(), cell.column.clone(), printed(cell)];
        line.extend(more.iter().map(|(_, read)| beside(cell, read(cell))));
        let ours = cell.ours.as_ref();
        line.push(ours.map_or("-".into(), |ours| number(*ours, cell.decimals)));
        line.push(difference(cell));
        line.push(cell.state().name().into());
        line.push(
            cell.basis
                .map_or(String::new(), |basis| basis.name().into()),
        );
        columns.add_row(line);
    }
    for line in columns.to_string().lines() {
        text += line.trim_end();
        text.push('\n');
    }
    // Rows with one reason share a line.
    let mut told: Vec<(Vec<&str>, &str)> = Vec::new();
    for (row, why) in &table.why {
        match told.iter_mut().find(|(_, known)| known == why) {
            Some((rows, _)) => rows.push(row),
            None => told.push((vec![row], why)),
        }
    }
    for (rows, why) in told {
        let rows = match rows.len() == table.why.len() {
            true => "all rows".into(),
            false => rows.join("; "),
        };
        text += &format!("  {rows}: {why}\n");
    }
    text
}

/// `table 3`, `figure-6`.
fn name(id: &str) -> String {
    match id.starts_with(|c: char| c.is_ascii_digit()) {
        true if id.contains('.') => format!("section {id}"),
        true => format!("table {id}"),
        false => id.into(),
    }
}

const HEAD: &str = "paper,table,row,column,unit,printed,formula,by_one_rule,our_base,ours,difference,state,basis,plan,command,\
                    why";

/// One line a cell, and one a slip, whose `printed` and `ours` are what stands there and what is right.
pub fn csv(all: &[Reproduced]) -> String {
    let mut lines = vec![HEAD.to_string()];
    let quote = |field: &String| match field.contains([',', '"', '\n']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.clone(),
    };
    for paper in all {
        for table in &paper.tables {
            for cell in &table.cells {
                let why = match &cell.ours {
                    Err(reason) => reason,
                    Ok(_) => table.reason(&cell.row),
                };
                let fields = [
                    paper.key.clone(),
                    table.id.clone(),
                    cell.row.clone(),
                    cell.column.clone(),
                    table.unit.clone(),
                    printed(cell),
                    beside(cell, cell.formula),
                    beside(cell, cell.rule),
                    beside(cell, cell.base),
                    cell.ours
                        .as_ref()
                        .map_or(String::new(), |ours| number(*ours, cell.decimals)),
                    difference(cell),
                    cell.state().name().into(),
                    cell.basis
                        .map_or(String::new(), |basis| basis.name().into()),
                    cell.plan.clone().unwrap_or_default(),
                    cell.command.clone().unwrap_or_default(),
                    why.into(),
                ];
                lines.push(fields.iter().map(quote).collect::<Vec<_>>().join(","));
            }
        }
        for slip in &paper.slips {
            let mut fields = vec![String::new(); HEAD.split(',').count()];
            fields[0] = paper.key.clone();
            fields[1] = "slip".into();
            fields[2] = slip.place.clone();
            fields[5] = slip.printed.clone();
            fields[9] = slip.right.clone();
            fields[15] = slip.why.clone();
            lines.push(fields.iter().map(quote).collect::<Vec<_>>().join(","));
        }
    }
    lines.join("\n")
}

fn counted(counts: [usize; 5]) -> Value {
    let named = State::ALL.iter().zip(counts);
    let named = named.map(|(state, n)| (state.name().replace(' ', "_"), json!(n)));
    Value::Object(named.collect())
}

/// One object: papers, their tables, their cells.
///
/// # Errors
/// None is known (a defect of this tool).
pub fn json(all: &[Reproduced]) -> Result<String, String> {
    let one = |cell: &Cell, table: &Table| {
        json!({
            "row": cell.row, "column": cell.column,
            "printed": cell.printed.figure(), "formula": cell.formula, "by_one_rule": cell.rule,
            "our_base": cell.base, "ours": cell.ours.as_ref().ok(), "difference_percent": cell.difference(),
            "state": cell.state().name(), "basis": cell.basis.map(|basis| basis.name()), "plan": cell.plan,
            "command": cell.command,
            "why": match &cell.ours {
                Err(reason) => reason.as_str(),
                Ok(_) => table.reason(&cell.row),
            },
        })
    };
    let papers = all.iter().map(|paper| {
        let tables = paper.tables.iter().map(|table| {
            let cells = table.cells.iter().map(|cell| one(cell, table));
            json!({
                "table": table.id, "title": table.title, "unit": table.unit,
                "cells": cells.collect::<Vec<_>>(),
            })
        });
        let of_paper = paper.tables.iter().flat_map(|table| &table.cells);
        json!({
            "paper": paper.key, "title": paper.title, "tables": tables.collect::<Vec<_>>(), "slips": paper.slips,
            "summary": counted(count(of_paper)),
        })
    });
    let all = json!({"papers": papers.collect::<Vec<_>>(), "summary": counted(count(cells(all)))});
    serde_json::to_string_pretty(&all).map_err(|e| e.to_string())
}
