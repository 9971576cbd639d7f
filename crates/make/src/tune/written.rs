//! Places, tasks and what comes of them as text: lines of JSON between processes, TOML in a file.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::method;
use crate::method::signature::{PLAN, Params};
use crate::plans::{Entry, PLANS};
use crate::tune::point::{Cost, Counted, Point};

/// A place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Place {
    method: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    style: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    params: BTreeMap<String, usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plan: Option<Entry>,
}

/// A place with what it takes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Found {
    cycles: u64,
    bytes: u64,
    stack: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    picojoules: Option<u64>,
    #[serde(default)]
    proved: bool,
    #[serde(flatten)]
    place: Place,
}

/// A piece of work for a process that counts or proves.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// Its number within the round.
    pub id: usize,
    /// What the search is about, as it is typed behind `lozenge tune`.
    pub question: Vec<String>,
    /// What is to be done.
    pub work: Work,
}

/// What is to be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    /// Count these places.
    Count(Vec<Place>),
    /// Walk so many steps from a place.
    Walk {
        from: Box<Found>,
        mates: Vec<Place>,
        steps: usize,
        seed: u64,
    },
    /// Make and prove the kernel of this place.
    Prove(Box<Place>),
}

/// What came of a task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Done {
    /// The number of the task.
    pub id: usize,
    /// Places that were counted.
    pub counted: usize,
    /// The best of them; of a proof the kernel that is proved, if any is.
    pub found: Vec<Found>,
}

impl Place {
    /// As text.
    pub fn of(point: &Point) -> Self {
        let numbers = point.params.iter();
        Self {
            method: point.method.name.into(),
            style: point.style.map(|style| style.name().into()),
            params: numbers.map(|(name, n)| (name.to_string(), *n)).collect(),
            plan: point.params.plan.as_deref().map(Entry::of),
        }
    }

    /// The place.
    ///
    /// # Errors
    /// A method, a parameter, a style or a plan that is not there.
    pub fn point(self) -> Result<Point, String> {
        let method = method::find(&self.method);
        let method = method.ok_or_else(|| format!("there is no method {}", self.method))?;
        let number = |(name, value): (String, usize)| {
            let mut known = method.parameters.iter().map(|p| p.name);
            let known = known.find(|known| *known == name && name != PLAN);
            let known = known.ok_or_else(|| format!("{} has no {name}", self.method))?;
            Ok::<_, String>((known, value))
        };
        let mut params: Params = self
            .params
            .into_iter()
            .map(number)
            .collect::<Result<_, _>>()?;
        let plan = self.plan.map(|plan| plan.plan(&PLANS)).transpose();
        params.plan = plan
            .map_err(|name| format!("there is no plan {name}"))?
            .map(Arc::new);
        Ok(Point {
            method,
            params,
            style: self.style.map(|style| style.parse()).transpose()?,
        })
    }
}

impl Found {
    /// As text.
    pub fn of(counted: &Counted) -> Self {
        let Cost {
            cycles,
            bytes,
            stack,
            picojoules,
        } = counted.cost;
        Self {
            cycles,
            bytes,
            stack,
            picojoules,
            proved: counted.proved,
            place: Place::of(&counted.point),
        }
    }

    /// A line for people.
    pub fn text(&self) -> String {
        let Self {
            cycles,
            bytes,
            stack,
            place,
            ..
        } = self;
        let numbers = place.params.iter().map(|(name, n)| format!(" {name}={n}"));
        let plan = place
            .plan
            .iter()
            .map(|plan| format!(" plan={}", plan.name()));
        let style = place.style.iter().map(|style| format!(", {style}"));
        let how: String = numbers.chain(plan).chain(style).collect();
        format!(
            "{cycles} cycles, {bytes} bytes, {stack} of stack: {}{how}",
            place.method
        )
    }

    /// The place with what it takes.
    ///
    /// # Errors
    /// Those of [`Place::point`].
    pub fn counted(self) -> Result<Counted, String> {
        Ok(Counted {
            point: self.place.point()?,
            cost: Cost {
                cycles: self.cycles,
                bytes: self.bytes,
                stack: self.stack,
                picojoules: self.picojoules,
            },
            proved: self.proved,
        })
    }
}

/// All of them.
///
/// # Errors
/// Those of [`Place::point`].
pub fn all(found: Vec<Found>) -> Result<Vec<Counted>, String> {
    found.into_iter().map(Found::counted).collect()
}

/// A search as a file has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    pub search: Search,
    /// The Pareto front: kernels that no other beats in cycles and bytes, or in cycles and stack.
    #[serde(default)]
    pub point: Vec<Found>,
    /// Other places where a search goes on.
    #[serde(default)]
    pub pool: Vec<Found>,
}

/// What was searched for, and how far it went.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Search {
    /// What was typed, without what says how long.
    pub command: String,
    /// What the search is about, in words.
    pub question: Vec<String>,
    /// What names the kernel: `mul,256,`.
    pub kernel: String,
    pub core: String,
    pub abi: String,
    pub seed: u64,
    /// Rounds that are done.
    pub rounds: u64,
    /// Places that were counted.
    pub counted: u64,
    /// The version of the tool.
    pub tool: String,
    /// When it was written: year, month and day.
    pub on: String,
}

/// Behind what a file begins.
const HEAD: &str = "\
# Kernels that `lozenge tune` found. `lozenge gen ... --tuned FILE` makes the fastest one that fits its limits and proves it;
# the command below goes on with the search. `point` are those that no other beats in cycles and bytes, or in cycles and stack,
# cycles of a call; from them and those of `pool` the search goes on.

";

impl Record {
    /// The text of the file.
    ///
    /// # Errors
    /// A defect of this tool.
    pub fn text(&self) -> Result<String, String> {
        let text = toml::to_string(self).map_err(|error| error.to_string())?;
        Ok(HEAD.to_string() + &text)
    }

    /// The record in a text.
    ///
    /// # Errors
    /// Why it is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.message().to_string())
    }
}
