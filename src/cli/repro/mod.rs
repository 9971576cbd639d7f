//! `lozenge repro`: the tables of the papers, cell by cell beside ours.

mod cell;
mod energy;
mod energy_slips;
mod grid;
mod hutter_wenger;
mod made;
mod polynomial;
mod told;

use std::collections::BTreeSet;

use clap::Args;

use crate::cli::failure::Failure;
use crate::cli::output;
use crate::cli::repro::cell::{Reproduced, Table};
use crate::cli::repro::made::Book;

/// Arguments of `repro`.
#[derive(Args)]
pub struct ReproArgs {
    /// The paper, or the beginning of its name: hutter-wenger-2018, seo-kim-2014, groszschaedl-kamendje-2003,
    /// groszschaedl-2005
    paper: Option<String>,
    /// All papers
    #[arg(long, conflicts_with = "paper")]
    all: bool,
    /// Only this table of the paper: 3, figure-6, equations
    #[arg(long, value_name = "N", requires = "paper")]
    table: Option<String>,
    /// Count kernels without proving them, which is faster; the cells say `counted` then
    #[arg(long)]
    unproved: bool,
    /// Print one JSON object
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print comma-separated values
    #[arg(long)]
    csv: bool,
}

/// A paper with all that its tables need.
enum Paper {
    HutterWenger(grid::Paper),
    Grid(grid::Paper),
    Energy(Box<energy::Paper>),
}

/// Figures of Hutter and Wenger that draw a table.
const DRAWN: [(&str, &str, &str); 2] = [
    ("4", "figure-6", "table 4, as figure 6 draws it"),
    ("5", "figure-7", "table 5, as figure 7 draws it"),
];

fn papers() -> Result<Vec<Paper>, String> {
    let grid = |text: &str| toml::from_str::<grid::Paper>(text).map_err(|e| e.to_string());
    let energy: energy::Paper =
        toml::from_str(include_str!("papers/groszschaedl-2005.toml")).map_err(|e| e.to_string())?;
    Ok(vec![
        Paper::HutterWenger(grid(include_str!("papers/hutter-wenger-2018.toml"))?),
        Paper::Grid(grid(include_str!("papers/seo-kim-2014.toml"))?),
        Paper::Grid(grid(include_str!(
            "papers/groszschaedl-kamendje-2003.toml"
        ))?),
        Paper::Energy(Box::new(energy)),
    ])
}

impl Paper {
    fn key(&self) -> &str {
        match self {
            Self::HutterWenger(paper) | Self::Grid(paper) => &paper.key,
            Self::Energy(paper) => &paper.key,
        }
    }

    fn title(&self) -> &str {
        match self {
            Self::HutterWenger(paper) | Self::Grid(paper) => &paper.title,
            Self::Energy(paper) => &paper.title,
        }
    }

    /// The names of its tables.
    fn tables(&self) -> Vec<&str> {
        match self {
            Self::HutterWenger(paper) => {
                let grids = paper.tables.iter().map(|table| table.id());
                let drawn = DRAWN.iter().map(|(_, id, _)| *id);
                ["1", "2"]
                    .into_iter()
                    .chain(grids)
                    .chain(["equations"])
                    .chain(drawn)
                    .collect()
            }
            Self::Grid(paper) => paper.tables.iter().map(|table| table.id()).collect(),
            Self::Energy(_) => energy::Paper::TABLES.to_vec(),
        }
    }

    /// The commands that make the cells of one of its tables, or of all.
    fn commands(&self, wanted: Option<&str>) -> Vec<String> {
        let of = |paper: &grid::Paper| -> Vec<String> {
            let drawn = DRAWN.iter().find(|(_, id, _)| Some(*id) == wanted);
            let wanted = drawn.map_or(wanted, |(table, ..)| Some(*table));
            let tables = paper.tables.iter();
            let tables = tables.filter(|table| wanted.is_none_or(|id| id == table.id()));
            tables.flat_map(|table| table.commands()).collect()
        };
        match self {
            Self::HutterWenger(paper) => {
                let mut commands = of(paper);
                commands.extend(hutter_wenger::commands(wanted));
                commands
            }
            Self::Grid(paper) => of(paper),
            Self::Energy(paper) => paper.commands(wanted),
        }
    }

    /// Its tables with ours.
    fn reproduced(&self, book: &Book, wanted: Option<&str>) -> Result<Reproduced, String> {
        let (mut tables, slips) = match self {
            Self::HutterWenger(paper) => {
                let mut grids = filled(paper, book);
                grids.iter_mut().for_each(hutter_wenger::fit);
                let drawn = DRAWN.iter().filter_map(|(table, id, title)| {
                    let drawn = grids.iter().find(|grid| grid.id == *table)?;
                    Some(Table {
                        id: (*id).into(),
                        title: (*title).into(),
                        ..drawn.clone()
                    })
                });
                let drawn: Vec<_> = drawn.collect();
                let mut tables = hutter_wenger::tables(book);
                let equations = tables.split_off(2);
                tables.extend(grids.into_iter().chain(equations).chain(drawn));
                (tables, hutter_wenger::slips())
            }
            Self::Grid(paper) => (filled(paper, book), Vec::new()),
            Self::Energy(paper) => (paper.tables(book)?, paper.slips()?),
        };
        tables.retain(|table| wanted.is_none_or(|id| id == table.id));
        Ok(Reproduced {
            key: self.key().into(),
            title: self.title().into(),
            tables,
            slips,
        })
    }
}

fn filled(paper: &grid::Paper, book: &Book) -> Vec<Table> {
    paper.tables.iter().map(|table| table.table(book)).collect()
}

/// The papers that are asked for.
fn asked(args: &ReproArgs) -> Result<Vec<Paper>, Failure> {
    let papers = papers()?;
    let names: Vec<_> = papers.iter().map(|paper| paper.key().to_string()).collect();
    let Some(name) = &args.paper else {
        return match args.all {
            true => Ok(papers),
            false => Err(format!("which paper? try {} or --all", names.join(", ")).into()),
        };
    };
    let exact = names.iter().any(|key| key == name);
    let mut found: Vec<_> = papers
        .into_iter()
        .filter(|paper| paper.key() == name || !exact && paper.key().starts_with(name.as_str()))
        .collect();
    match found.len() {
        1 => {}
        0 => return Err(format!("no paper {name}: try {}", names.join(", ")).into()),
        _ => {
            let keys: Vec<_> = found.iter().map(Paper::key).collect();
            return Err(format!("{name} may be {}: say which", keys.join(" or ")).into());
        }
    }
    if let (Some(id), Some(paper)) = (&args.table, found.first_mut()) {
        let tables = paper.tables();
        if !tables.contains(&id.as_str()) {
            let (key, all) = (paper.key(), tables.join(", "));
            return Err(format!("{key} has no table {id}: try {all}").into());
        }
    }
    Ok(found)
}

/// Makes ours and prints both. `Ok(true)` if every kernel is proved, or none was to be.
pub fn run(args: &ReproArgs) -> Result<bool, Failure> {
    let papers = asked(args)?;
    let wanted = args.table.as_deref();
    let commands: BTreeSet<_> = papers.iter().flat_map(|p| p.commands(wanted)).collect();
    let book = Book::of(commands, !args.unproved);
    let mut all = Vec::new();
    for paper in &papers {
        all.push(paper.reproduced(&book, wanted)?);
    }
    output::say(&match (args.json, args.csv) {
        (true, _) => told::json(&all)?,
        (false, true) => told::csv(&all),
        (false, false) => told::text(&all),
    })?;
    let failed = book.failed();
    for (command, reason) in &failed {
        output::tell(&format!("warning: `{command}`: {reason}"));
    }
    Ok(failed.is_empty())
}
