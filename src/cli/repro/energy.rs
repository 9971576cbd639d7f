//! The tables of the SA-1100's paper in five columns: as printed, by its formula, with its additions counted by one rule,
//! our base instructions by that rule, and our kernel with all that waits.

use lozenge::isa::energy::Currents;
use lozenge::target::Target;
use serde::Deserialize;

use crate::cli::repro::cell::{Cell, Printed, Table};
use crate::cli::repro::made::{Base, Book};
use crate::cli::repro::polynomial::Polynomial;

/// The paper: its file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    pub key: String,
    pub title: String,
    pub(super) bits: Vec<u32>,
    #[serde(rename = "method")]
    methods: Vec<Method>,
}

/// A method: base instructions as formulas of s (tables 2 and 4), and what table 3 or 5 says of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Method {
    pub(super) name: String,
    pub(super) table: String,
    pub(super) mul: Polynomial,
    pub(super) add: Polynomial,
    pub(super) load: Polynomial,
    pub(super) store: Polynomial,
    pub(super) step_mul: Option<Polynomial>,
    pub(super) step_add: Option<Polynomial>,
    #[serde(default)]
    pub(super) microseconds: Vec<Printed>,
    #[serde(default)]
    pub(super) ampere: Vec<Printed>,
    pub(super) command: Option<String>,
    pub(super) why: String,
}

/// Base instructions at a size; of formulas, so they may have fractions.
#[derive(Clone, Copy)]
pub(super) struct Instructions {
    pub(super) mul: f64,
    pub(super) add: f64,
    pub(super) load: f64,
    pub(super) store: f64,
}

impl From<Base> for Instructions {
    fn from(base: Base) -> Self {
        Self {
            mul: base.mul as f64,
            add: base.add as f64,
            load: base.load as f64,
            store: base.store as f64,
        }
    }
}

/// Cycles of MUL, where factors have 32 bits.
const MUL: f64 = 4.0;

impl Instructions {
    /// In the order of the tables.
    pub(super) fn all(self) -> [f64; 4] {
        [self.mul, self.add, self.load, self.store]
    }

    pub(super) fn cycles(self) -> f64 {
        MUL * self.mul + self.add + self.load + self.store
    }

    /// Mean current: each cycle draws what its instruction does.
    pub(super) fn ampere(self, currents: &Currents) -> f64 {
        let drawn = MUL * self.mul * currents.mul
            + self.add * currents.alu
            + self.load * currents.load
            + self.store * currents.store;
        drawn / self.cycles()
    }

    pub(super) fn microseconds(self, currents: &Currents) -> f64 {
        self.cycles() / currents.megahertz
    }

    pub(super) fn microjoules(self, currents: &Currents) -> f64 {
        self.ampere(currents) * self.microseconds(currents) * currents.volts
    }
}

impl Method {
    pub(super) fn formulas(&self) -> [Polynomial; 4] {
        [self.mul, self.add, self.load, self.store]
    }

    pub(super) fn at(&self, s: f64) -> Instructions {
        let [mul, add, load, store] = self.formulas().map(|formula| formula.at(s));
        Instructions {
            mul,
            add,
            load,
            store,
        }
    }

    /// The same with additions counted as table 2 counts them.
    pub(super) fn by_rule(&self, s: f64) -> Instructions {
        let printed = self.at(s);
        Instructions {
            mul: self.step_mul.map_or(printed.mul, |formula| formula.at(s)),
            add: self.step_add.map_or(printed.add, |formula| formula.at(s)),
            ..printed
        }
    }

    fn command(&self, bits: u32) -> Option<String> {
        let command = self.command.as_ref()?;
        Some(command.replace("{bits}", &bits.to_string()))
    }
}

/// Words of 32 bits.
pub(super) fn words(bits: u32) -> f64 {
    f64::from(bits) / 32.0
}

/// Names of base instructions, as the tables have them.
pub(super) const NAMES: [&str; 4] = ["MUL", "ADD", "LOAD", "STORE"];

impl Paper {
    /// The tables' names.
    pub const TABLES: [&'static str; 6] = ["1", "2", "3", "4", "5", "text"];

    /// The commands that make the cells of one of its tables, or of all.
    pub fn commands(&self, wanted: Option<&str>) -> Vec<String> {
        // Tables 3 and 5 are of the methods of tables 2 and 4.
        let sources: &[&str] = match wanted {
            Some("1") => &[],
            Some("2" | "3") => &["2"],
            Some("4" | "5") => &["4"],
            _ => &["2", "4"],
        };
        let methods = sources.iter().flat_map(|id| self.of_table(id));
        let commands =
            methods.flat_map(|method| self.bits.iter().map(|bits| method.command(*bits)));
        commands.flatten().collect()
    }

    /// The tables with ours.
    ///
    /// # Errors
    /// When the core is unknown, or draws what nobody published.
    pub fn tables(&self, book: &Book) -> Result<Vec<Table>, String> {
        let currents = currents()?;
        Ok(vec![
            sources(&currents),
            self.counts(
                "2",
                "base instructions of products and squares, by bits",
                book,
            ),
            self.times("3", "2", book, &currents),
            self.counts(
                "4",
                "base instructions of Montgomery's products and squares, by bits",
                book,
            ),
            self.times("5", "4", book, &currents),
            self.text(book, &currents)?,
        ])
    }

    pub(super) fn of_table<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Method> {
        self.methods.iter().filter(move |method| method.table == id)
    }

    pub(super) fn find(&self, name: &str) -> Result<&Method, String> {
        let found = self.methods.iter().find(|method| method.name == name);
        found.ok_or(format!("{}: no method {name}", self.key))
    }

    /// Table 2 or 4.
    fn counts(&self, id: &str, title: &str, book: &Book) -> Table {
        let mut cells = Vec::new();
        for method in self.of_table(id) {
            for bits in &self.bits {
                let command = method.command(*bits);
                let made = match &command {
                    Some(command) => book.get(command),
                    None => Err(method.why.clone()),
                };
                let s = words(*bits);
                let (printed, rule) = (method.at(s).all(), method.by_rule(s).all());
                for (at, name) in NAMES.iter().enumerate() {
                    let ours = made.clone().and_then(|made| {
                        let base = made
                            .base
                            .ok_or("our code has loops, whose instructions are none of these")?;
                        Ok(Instructions::from(base).all()[at])
                    });
                    cells.push(Cell {
                        row: method.name.clone(),
                        column: format!("{bits} {name}"),
                        printed: Printed::whole(printed[at]),
                        formula: Some(printed[at]),
                        rule: Some(rule[at]),
                        base: ours.clone().ok(),
                        ours,
                        decimals: 0,
                        basis: made.as_ref().ok().map(|made| made.basis),
                        plan: made.as_ref().ok().and_then(|made| made.plan.clone()),
                        command: command.clone(),
                    });
                }
            }
        }
        Table {
            id: id.into(),
            title: title.into(),
            unit: "instructions; ours: those of our code, a word of LDM a LOAD, what UMLAL adds two ADD".into(),
            cells,
            why: self.reasons(id),
        }
    }

    fn reasons(&self, id: &str) -> Vec<(String, String)> {
        let reason = |method: &Method| (method.name.clone(), method.why.clone());
        self.of_table(id).map(reason).collect()
    }

    /// Table 3 or 5, of the methods of table 2 or 4.
    fn times(&self, id: &str, of: &str, book: &Book, currents: &Currents) -> Table {
        let mut cells = Vec::new();
        for method in self.of_table(of) {
            let printed = method.microseconds.iter().zip(&method.ampere);
            for (bits, (time, ampere)) in self.bits.iter().zip(printed) {
                let s = words(*bits);
                let command = method.command(*bits);
                let made = match &command {
                    Some(command) => book.get(command),
                    None => Err(method.why.clone()),
                };
                let base = made.clone().ok().and_then(|made| made.base);
                let base = base.map(Instructions::from);
                let ours = made
                    .clone()
                    .map(|made| made.cycles as f64 / currents.megahertz);
                let drawn = made.clone().and_then(|made| {
                    let energy = made.energy.ok_or("no currents of the core")?;
                    Ok(energy.amperes[1])
                });
                for (unit, printed, ours, decimals, of) in [
                    (
                        "us",
                        time,
                        ours,
                        1,
                        Instructions::microseconds as fn(Instructions, &Currents) -> f64,
                    ),
                    ("A", ampere, drawn, 3, Instructions::ampere),
                ] {
                    cells.push(Cell {
                        row: method.name.clone(),
                        column: format!("{bits} {unit}"),
                        printed: printed.clone(),
                        formula: Some(of(method.at(s), currents)),
                        rule: Some(of(method.by_rule(s), currents)),
                        base: base.map(|base| of(base, currents)),
                        ours,
                        decimals,
                        basis: made.as_ref().ok().map(|made| made.basis),
                        plan: made.as_ref().ok().and_then(|made| made.plan.clone()),
                        command: command.clone(),
                    });
                }
            }
        }
        Table {
            id: id.into(),
            title: "time and mean current on an SA-1100, by bits".into(),
            unit: "microseconds at 206 MHz, amperes".into(),
            cells,
            why: self.reasons(of),
        }
    }

    /// What the text says of 1024 bits.
    fn text(&self, book: &Book, currents: &Currents) -> Result<Table, String> {
        let mut cells = Vec::new();
        let mut why = Vec::new();
        for (name, printed) in ENERGIES {
            let method = self.find(name)?;
            let command = method.command(BITS);
            let made = match &command {
                Some(command) => book.get(command),
                None => Err(method.why.clone()),
            };
            let ours = made.clone().and_then(|made| {
                let energy = made.energy.as_ref().ok_or("no currents of the core")?;
                Ok(energy.nanojoules[1] / 1000.0)
            });
            let s = words(BITS);
            let base = made.clone().ok().and_then(|made| made.base);
            cells.push(Cell {
                row: format!("{name}, 1024 bits"),
                column: "uJ".into(),
                printed: Printed::Figure(printed, 1),
                formula: Some(method.at(s).microjoules(currents)),
                rule: Some(method.by_rule(s).microjoules(currents)),
                base: base.map(|base| Instructions::from(base).microjoules(currents)),
                ours,
                decimals: 1,
                basis: made.as_ref().ok().map(|made| made.basis),
                plan: made.ok().and_then(|made| made.plan.clone()),
                command,
            });
            why.push((format!("{name}, 1024 bits"), method.why.clone()));
        }
        for saving in self.savings(currents)? {
            cells.push(Cell {
                row: saving.text.into(),
                column: "%".into(),
                printed: Printed::Figure(saving.printed, 1),
                formula: Some(saving.formula),
                rule: Some(saving.rule),
                base: None,
                ours: Err("a comparison of two rows of theirs".into()),
                decimals: 1,
                basis: None,
                command: None,
                plan: None,
            });
        }
        Ok(Table {
            id: "text".into(),
            title: "what sections 3.4 and 4.3 say of 1024 bits".into(),
            unit: "microjoules, %".into(),
            cells,
            why,
        })
    }

    /// What the text says that one method saves, by the formulas and by one rule.
    pub(super) fn savings(&self, currents: &Currents) -> Result<Vec<Saving>, String> {
        let s = words(BITS);
        let mut all = Vec::new();
        for (text, printed, slow, fast, of) in SAVINGS {
            let (slow, fast) = (self.find(slow)?, self.find(fast)?);
            let saved = |a: Instructions, b: Instructions| {
                100.0 * (1.0 - of(b, currents) / of(a, currents))
            };
            all.push(Saving {
                text,
                printed,
                formula: saved(slow.at(s), fast.at(s)),
                rule: saved(slow.by_rule(s), fast.by_rule(s)),
            });
        }
        Ok(all)
    }
}

/// What the text compares.
pub(super) const BITS: u32 = 1024;

/// Microjoules of 1024 bits, in sections 3.4 and 4.3.
const ENERGIES: [(&str, f64); 4] = [
    ("schoolbook product", 15.9),
    ("Comba product", 12.9),
    ("CIOS product", 27.2),
    ("KCM product", 21.2),
];

/// Text, what it says in %, the slow method, the fast one, and what is saved.
type Said = (
    &'static str,
    f64,
    &'static str,
    &'static str,
    fn(Instructions, &Currents) -> f64,
);

const SAVINGS: [Said; 3] = [
    (
        "energy saved by Comba's method over the schoolbook's",
        18.9,
        "schoolbook product",
        "Comba product",
        Instructions::microjoules,
    ),
    (
        "time saved by KCM over CIOS",
        20.5,
        "CIOS product",
        "KCM product",
        Instructions::microseconds,
    ),
    (
        "energy saved by KCM over CIOS",
        22.1,
        "CIOS product",
        "KCM product",
        Instructions::microjoules,
    ),
];

/// What the text says that one method saves, in %.
pub(super) struct Saving {
    pub(super) text: &'static str,
    pub(super) printed: f64,
    pub(super) formula: f64,
    pub(super) rule: f64,
}

pub(super) fn currents() -> Result<Currents, String> {
    let core = Target::core("sa-1100").map_err(|e| e.to_string())?;
    let currents = core.to_core().currents();
    currents.ok_or("no currents of the SA-1100".into())
}

/// Table 1: what the core's table of currents was read from.
fn sources(currents: &Currents) -> Table {
    let mut cells = Vec::new();
    for (row, ampere, ours, energies) in [
        ("arithmetic and logic", 0.178, currents.alu, &[1.296][..]),
        ("multiply", 0.196, currents.mul, &[1.427, 5.709]),
        ("load", 0.196, currents.load, &[1.427]),
        ("store", 0.229, currents.store, &[1.667]),
        ("other", 0.170, currents.other, &[1.238]),
    ] {
        let cell = |column: String, printed: f64, ours: f64| Cell {
            row: row.into(),
            column,
            printed: Printed::Figure(printed, 3),
            formula: None,
            rule: None,
            base: None,
            ours: Ok(ours),
            decimals: 3,
            basis: None,
            command: None,
            plan: None,
        };
        cells.push(cell("A".into(), ampere, ours));
        for (printed, cycles) in energies.iter().zip([1.0, MUL]) {
            let nanojoules = cycles * ours * currents.volts / currents.megahertz * 1000.0;
            cells.push(cell(format!("nJ, {cycles} cycles"), *printed, nanojoules));
        }
    }
    Table {
        id: "1".into(),
        title: "currents of an SA-1100 at 1.5 V and 206 MHz".into(),
        unit: "amperes, nanojoules".into(),
        cells,
        why: Vec::new(),
    }
}
