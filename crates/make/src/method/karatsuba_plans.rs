//! The plans of Karatsuba's multiplication: how each product of the tree is made, and which are tried.

use std::sync::Arc;

use spec::Spec;

use crate::facts::Facts;
use crate::method::middle_signs::{difference, known_difference};
use crate::method::signature::{Method, MethodError, PLAN, Params};
use crate::plans;
use crate::plans::tree::{Child, Differences, HighSum, Node, Signs, Tree};
use crate::schedule::{Word, Words};

/// Words from which only what is usually best is tried: each trial takes seconds then.
const LARGE: usize = 40;

/// Free registers from which more of a product stays in them than its words.
const MANY: usize = 20;

const FEW_REGISTERS: &str = "few-registers";
const MANY_REGISTERS: &str = "many-registers";
const LARGE_NUMBERS: &str = "large";

/// The products of a tree: the whole, and of each product its L, Z and M.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Whole,
    L,
    Z,
    M,
}

impl Kind {
    /// How the product of this kind is made, of those that a node of the tree leaves to it.
    fn child(self, node: &Node) -> Child {
        match self {
            Kind::Z => node.high,
            Kind::M => node.middle,
            Kind::L | Kind::Whole => node.low,
        }
    }
}

/// How the recursion goes.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    pub levels: usize,
    pub tree: Tree,
    /// Levels that compute the middle product first.
    pub first: usize,
    /// Are its words added to others as they come?
    pub streams: bool,
    /// What is being computed, and at the bottom: by columns, with the operands exchanged?
    pub kind: Kind,
    pub by_columns: bool,
    pub swapped: bool,
    /// Take differences that another product has computed?
    pub shared: bool,
}

impl Plan {
    /// Products by columns, or by rows of up to `rows` words, on so many levels; differences are made when `differences`
    /// says.
    pub(super) fn plain(levels: usize, rows: usize, differences: Differences) -> Self {
        let node = Node {
            differences,
            ..Node::default()
        };
        let tree = Tree {
            rows,
            nodes: [node; 4],
            ..Tree::default()
        };
        Self::of(levels, tree)
    }

    /// By a tree, on so many levels.
    pub(super) fn of(levels: usize, tree: Tree) -> Self {
        Self {
            levels,
            tree,
            first: levels.saturating_sub(tree.last),
            streams: false,
            kind: Kind::Whole,
            by_columns: false,
            swapped: false,
            shared: false,
        }
    }

    /// The choices for what is being computed.
    pub(super) fn node(&self) -> Node {
        self.tree.nodes[self.kind as usize]
    }

    /// `x - y` modulo `2^(w length)`, and the borrow as a mask.
    pub(super) fn difference(&self, f: &mut Words, x: &[Word], y: &[Word]) -> (Vec<Word>, Word) {
        let known = self.shared.then(|| known_difference(f, x, y)).flatten();
        known.unwrap_or_else(|| difference(f, x, y))
    }

    /// From which word on the lower half with the upper one is summed up before the middle product, whose plan has so
    /// many levels: what is added only when that is there need not be stored; the half that signs correct before must.
    pub(super) fn stored_from(&self, low: usize, levels: usize) -> usize {
        let node = self.node();
        match (node.sum, node.signs) {
            (HighSum::InHalvedMiddle, _) if levels > 0 => low,
            (HighSum::InMiddle, _) => low,
            (HighSum::BothInMiddle, Signs::AfterMiddle | Signs::AsWords) => 2 * low,
            (HighSum::Apart | HighSum::InHalvedMiddle, _)
            | (
                HighSum::BothInMiddle,
                Signs::BeforeMiddle | Signs::SecondAfter | Signs::FirstAfter,
            ) => 0,
        }
    }

    /// The plan for each of the three products where the middle one comes first: that of a whole one.
    pub(super) fn half(&self) -> Self {
        Self {
            levels: self.levels - 1,
            first: self.first - 1,
            streams: false,
            ..*self
        }
    }

    /// The plan for one of the three products.
    pub(super) fn child(&self, kind: Kind) -> Self {
        Self {
            levels: match kind.child(&self.node()).whole {
                false => self.levels - 1,
                true => 0,
            },
            first: self.first.saturating_sub(1),
            streams: false,
            kind,
            ..self.at_the_bottom(kind)
        }
    }

    /// The same, as it is at the bottom for a product of that kind.
    fn at_the_bottom(&self, kind: Kind) -> Self {
        let child = kind.child(&self.node());
        Self {
            by_columns: child.columns,
            swapped: child.swapped,
            ..*self
        }
    }
}

/// The tree that parameters name; columns where they name none.
pub(super) fn tree_of(method: &'static str, params: &Params) -> Result<Tree, MethodError> {
    match &params.plan {
        None => Ok(Tree::default()),
        Some(plan) => plan.tree().ok_or_else(|| MethodError::NoTree {
            method,
            plan: plan.name.clone(),
        }),
    }
}

/// The plan of the product that a method calls `part`.
pub(super) fn part_of(
    method: &'static str,
    plan: &plans::Plan,
    part: &'static str,
) -> Result<Tree, MethodError> {
    plan.part(part).ok_or_else(|| MethodError::NoPart {
        method,
        part,
        plan: plan.name.clone(),
    })
}

/// The plan that parameters name; the first that `method` tries where they name none.
pub(super) fn given(
    method: &Method,
    spec: &Spec,
    facts: &Facts,
    params: &Params,
) -> Result<Arc<plans::Plan>, MethodError> {
    let first = || (method.defaults)(spec, facts).into_iter().next()?.plan;
    let plan = params.plan.clone().or_else(first);
    plan.ok_or(MethodError::Missing {
        method: method.name,
        parameter: PLAN,
    })
}

/// The plans that are tried.
pub(super) fn defaults(spec: &Spec, facts: &Facts) -> Vec<Params> {
    let [n, _] = spec.words(facts.word_bits);
    // Products of 3 to 20 words at the bottom.
    let mut levels: Vec<usize> = (1..8)
        .filter(|l| (3..=20).contains(&n.div_ceil(1 << l)))
        .collect();
    levels.sort_by_key(|l| n.div_ceil(1 << l).abs_diff(9));
    if n > LARGE {
        levels.truncate(1);
    }
    let (used, most) = match (are_many(facts), n > LARGE) {
        (true, false) => (MANY_REGISTERS, usize::MAX),
        (true, true) => (LARGE_NUMBERS, usize::MAX),
        (false, false) => (FEW_REGISTERS, usize::MAX),
        (false, true) => (FEW_REGISTERS, 1),
    };
    let tried = |levels: &usize| {
        let levels = *levels;
        let bottom = n.div_ceil(1 << levels);
        let fits =
            move |tree: Tree| bottom <= tree.bottom && (levels > 1 || !tree.needs_two_levels());
        let plans = plans::of_use(used).take(most);
        let plans = plans.filter(move |plan| plan.tree().is_some_and(fits));
        plans.map(move |plan| Params::from([("levels", levels)]).with(plan))
    };
    levels.iter().flat_map(tried).collect()
}

/// Do more words of a product stay in registers than those of an operand?
pub(super) fn are_many(facts: &Facts) -> bool {
    facts.free_registers >= MANY
}

/// `-p levels=1 ...`, as many as leave products of two words; of large numbers what is usually best.
pub(super) fn every_level(spec: &Spec, facts: &Facts) -> Vec<Params> {
    let [n, _] = spec.words(facts.word_bits);
    let most = n.ilog2().max(1) as usize;
    // With few registers shorter products at the bottom pay, too.
    let bottom = match are_many(facts) {
        true => 6..=12,
        false => 3..=12,
    };
    (1..=most)
        .filter(|levels| n <= LARGE || bottom.contains(&n.div_ceil(1 << levels)))
        .map(|levels| Params::from([("levels", levels)]))
        .collect()
}

/// The plans of few registers, of which that many serve within another method.
pub(super) fn few(count: usize) -> Vec<&'static Arc<plans::Plan>> {
    plans::of_use(FEW_REGISTERS).take(count).collect()
}

/// The plans of these names.
pub(super) fn named(names: &[&str]) -> Vec<&'static Arc<plans::Plan>> {
    names.iter().filter_map(|name| plans::find(name)).collect()
}

/// For about how many words each of joined-12 and joined-16 was found.
const JOINED: [(usize, &str); 2] = [(12, "joined-12"), (16, "joined-16")];

/// The plans for three products of `n` words each that one recombination takes: found for about as many.
pub(super) fn triples(n: usize, facts: &Facts) -> Vec<&'static Arc<plans::Plan>> {
    if !are_many(facts) {
        return few(usize::MAX);
    }
    let far = |words: usize| words.abs_diff(n);
    let nearest = JOINED.iter().map(|(words, _)| far(*words)).min();
    let near = JOINED
        .iter()
        .filter(|(words, _)| Some(far(*words)) == nearest);
    near.flat_map(|(_, used)| plans::of_use(used)).collect()
}

/// The plan of one of three products, of `n` words.
pub(super) fn triple_plan(
    method: &'static str,
    n: usize,
    plan: &plans::Plan,
    kind: Kind,
) -> Result<Plan, MethodError> {
    let part = match kind {
        Kind::M => "middle",
        Kind::L | Kind::Whole => "low",
        Kind::Z => "high",
    };
    let tree = part_of(method, plan, part)?;
    Ok(Plan::of(tree.levels(n), tree).at_the_bottom(kind))
}

/// A product inside another method.
#[derive(Clone, Copy)]
pub(super) struct Inner {
    /// How it is made.
    pub tree: Tree,
    /// How often it is halved; without: until 8 words are left.
    pub levels: Option<usize>,
    /// Are differences shared with other products?
    pub shared: bool,
}

impl Inner {
    /// By a tree, with differences that other products share.
    pub(super) fn shared(tree: Tree) -> Self {
        Self {
            tree,
            levels: None,
            shared: true,
        }
    }

    /// Its plan, for `n` words.
    pub(super) fn plan(self, n: usize) -> Plan {
        let levels = self.levels.unwrap_or_else(|| self.tree.levels(n));
        Plan {
            shared: self.shared,
            ..Plan::of(levels, self.tree)
        }
    }
}
