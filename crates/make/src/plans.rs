//! Plans by name: how the products of a method are made. `crates/make/plans/` has those that come with the tool, a file for
//! each kind; `lozenge tune` finds others. A plan is a [`Tree`] of Karatsuba's products, or has a plan for each of its parts.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

use crate::plans::tree::Tree;

pub mod tree;

/// The files; a test reads them.
const FILES: [&str; 4] = [
    include_str!("../plans/few-registers.toml"),
    include_str!("../plans/many-registers.toml"),
    include_str!("../plans/parts.toml"),
    include_str!("../plans/record.toml"),
];

/// A plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// How it is called: `k160-a`.
    pub name: String,
    /// Which numbers it is tried for.
    pub used: String,
    /// What found it.
    pub found: String,
    /// And when: year, month and day.
    pub on: String,
    /// What is decided.
    pub how: How,
}

/// What a plan decides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum How {
    /// How a product is made: of a method with several products each of them.
    Tree(Tree),
    /// How each of several products is made, by their names in the method.
    Parts(BTreeMap<String, Arc<Plan>>),
}

impl Plan {
    /// A plan that nothing is said of: of a search, of a test.
    pub fn unnamed(how: How) -> Self {
        Self {
            name: String::new(),
            used: String::new(),
            found: String::new(),
            on: String::new(),
            how,
        }
    }

    /// How the product called `part` is made. A tree is for all products, and `above` for all parts that are not named.
    pub fn part(&self, part: &str) -> Option<Tree> {
        match &self.how {
            How::Tree(tree) => Some(*tree),
            How::Parts(parts) => parts.get(part).or(parts.get(ABOVE))?.part(part),
        }
    }

    /// The tree, of a plan that is one.
    pub fn tree(&self) -> Option<Tree> {
        match &self.how {
            How::Tree(tree) => Some(*tree),
            How::Parts(_) => None,
        }
    }
}

/// The part that is for all products without one of their own.
pub const ABOVE: &str = "above";

/// A plan as a file has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    name: String,
    #[serde(rename = "use")]
    used: String,
    found: String,
    on: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tree: Option<Tree>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    parts: BTreeMap<String, Part>,
}

/// A part: a plan by its name, or the choices themselves.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Part {
    Named(String),
    Own(Tree),
}

impl Entry {
    /// How the plan is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The entry of a plan whose parts are trees.
    pub fn of(plan: &Plan) -> Self {
        let own = |(name, part): (&String, &Arc<Plan>)| {
            let part = match part.tree().filter(|_| part.name.is_empty()) {
                Some(tree) => Part::Own(tree),
                None => Part::Named(part.name.clone()),
            };
            (name.clone(), part)
        };
        Self {
            name: plan.name.clone(),
            used: plan.used.clone(),
            found: plan.found.clone(),
            on: plan.on.clone(),
            tree: plan.tree(),
            parts: match &plan.how {
                How::Tree(_) => BTreeMap::new(),
                How::Parts(parts) => parts.iter().map(own).collect(),
            },
        }
    }

    /// The plan; those it names are among `known`. An entry that says nothing is one of them that is tried here, too.
    ///
    /// # Errors
    /// The name that is not known.
    pub fn plan(self, known: &[Arc<Plan>]) -> Result<Plan, String> {
        let find = |name: &str| known.iter().find(|plan| plan.name == name).cloned();
        let part = |part: Part| match part {
            Part::Own(tree) => Ok(Arc::new(Plan::unnamed(How::Tree(tree)))),
            Part::Named(name) => find(&name).ok_or(name),
        };
        let how = match self.tree {
            Some(tree) => How::Tree(tree),
            None if self.parts.is_empty() => find(&self.name).ok_or(self.name.clone())?.how.clone(),
            None => {
                let parts = self.parts.into_iter().map(|(k, p)| Ok((k, part(p)?)));
                How::Parts(parts.collect::<Result<_, String>>()?)
            }
        };
        Ok(Plan {
            name: self.name,
            used: self.used,
            found: self.found,
            on: self.on,
            how,
        })
    }
}

#[derive(Deserialize)]
struct File {
    plan: Vec<Entry>,
}

/// The plans of a file, which may name those before them and `known` ones.
///
/// # Errors
/// What is wrong in it.
pub fn read(text: &str, known: &[Arc<Plan>]) -> Result<Vec<Arc<Plan>>, String> {
    let File { plan } = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut all = known.to_vec();
    for entry in plan {
        let plan = entry.plan(&all);
        all.push(Arc::new(
            plan.map_err(|name| format!("there is no plan {name}"))?,
        ));
    }
    Ok(all.split_off(known.len()))
}

/// All plans that come with the tool, in the order of the files; those of a file that cannot be read are missing.
pub static PLANS: LazyLock<Vec<Arc<Plan>>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for file in FILES {
        let more = read(file, &all);
        all.extend(more.unwrap_or_default());
    }
    all
});

/// The plans that are tried for `used`.
pub fn of_use(used: &str) -> impl Iterator<Item = &'static Arc<Plan>> {
    PLANS.iter().filter(move |plan| plan.used == used)
}

/// The names of all plans.
pub fn names() -> impl Iterator<Item = &'static str> {
    PLANS.iter().map(|plan| plan.name.as_str())
}

/// The plan called `name`; one that is tried for several uses comes once for each.
pub fn find(name: &str) -> Option<&'static Arc<Plan>> {
    PLANS.iter().find(|plan| plan.name == name)
}
