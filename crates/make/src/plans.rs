//! Plans of Karatsuba's multiplication, by name: `crates/make/plans/karatsuba.toml`, which says what the choices mean, what
//! found each plan and when.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::method::signature::Params;

/// A choice: for the whole number, and for its L, H and M where these are halved again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(untagged)]
pub enum Choice {
    /// The same for all.
    Same(usize),
    /// One for each.
    Each([usize; 4]),
}

impl Default for Choice {
    fn default() -> Self {
        Choice::Same(0)
    }
}

impl Choice {
    /// As the parameter of the method: one digit for all, or four.
    pub fn number(self) -> usize {
        match self {
            Choice::Same(digit) => digit,
            Choice::Each(digits) => digits.iter().fold(0, |number, digit| 10 * number + digit),
        }
    }

    /// For the whole number, and for its L, H and M.
    pub fn each(self) -> [usize; 4] {
        match self {
            Choice::Same(digit) => [digit; 4],
            Choice::Each(digits) => digits,
        }
    }
}

/// A plan, as the file has it.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// How it is called: `k160-a`.
    pub name: String,
    /// Which numbers it is tried for.
    #[serde(rename = "use")]
    pub used: String,
    /// What found it.
    pub found: String,
    /// And when: year, month and day.
    pub on: String,
    /// Words of a product that is not halved any more, at most.
    #[serde(default = "unlimited")]
    pub bottom: usize,
    /// Words of a product that is computed row by row, at most.
    #[serde(default)]
    pub rows: usize,
    #[serde(default)]
    early: Choice,
    #[serde(default)]
    late: Choice,
    #[serde(default)]
    columns: Choice,
    #[serde(default)]
    swap: Choice,
    #[serde(default)]
    apart: Choice,
    #[serde(default)]
    turn: Choice,
    #[serde(default)]
    whole: Choice,
    /// How many levels from the bottom take the middle product last.
    #[serde(default = "unlimited")]
    pub last: usize,
}

/// More words, and more levels, than any product has.
fn unlimited() -> usize {
    99
}

#[derive(Deserialize)]
struct File {
    plan: Vec<Plan>,
}

/// All plans, in the order of the file; a test reads it.
pub static PLANS: LazyLock<Vec<Plan>> = LazyLock::new(|| {
    let file = toml::from_str(include_str!("../plans/karatsuba.toml"));
    file.map_or(Vec::new(), |File { plan }| plan)
});

/// The plans that are tried for `used`.
pub fn of_use(used: &str) -> impl Iterator<Item = &'static Plan> {
    PLANS.iter().filter(move |plan| plan.used == used)
}

/// The plan called `name`; one that is tried for several uses comes once for each.
pub fn find(name: &str) -> Option<&'static Plan> {
    PLANS.iter().find(|plan| plan.name == name)
}

impl Plan {
    /// Its choices, by the names of the method's parameters.
    pub fn choices(&self) -> [(&'static str, Choice); 7] {
        [
            ("columns", self.columns),
            ("swap", self.swap),
            ("early", self.early),
            ("late", self.late),
            ("apart", self.apart),
            ("turn", self.turn),
            ("whole", self.whole),
        ]
    }

    /// Does it say nothing about a number that is halved on fewer than two levels that another does not?
    pub fn needs_two_levels(&self) -> bool {
        self.whole.number() > 0 || self.last < unlimited()
    }

    /// As parameters of the method, for so many levels.
    pub fn params(&self, levels: usize) -> Params {
        let choices = self.choices();
        let mut params: Params = choices
            .iter()
            .map(|(name, choice)| (*name, choice.number()))
            .collect();
        params.insert("levels", levels);
        params.insert("rows", self.rows);
        if levels > self.last {
            params.insert("first", levels - self.last);
        }
        params
    }
}
