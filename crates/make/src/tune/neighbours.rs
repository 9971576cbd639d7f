//! The neighbours of a place differ in one choice of its plan, or in one number.

use std::collections::BTreeMap;
use std::sync::Arc;

use spec::vectors::Random;

use crate::method::catalogue::parts;
use crate::plans::tree::{Child, Differences, HighSum, Node, Signs, Tree, UNLIMITED};
use crate::plans::{How, PLANS, Plan};
use crate::tune::point::Point;

/// Of so many neighbours one is two steps away.
const TWICE: usize = 3;

/// The most words at the bottom of a tree, and of rows there.
const MOST_WORDS: usize = 20;
const MOST_ROWS: usize = 12;

/// A neighbour of `point`; parts of plans may come from `mates`.
pub fn neighbour(point: &Point, mates: &[Point], random: &mut Random) -> Point {
    let mut next = step(point, mates, random);
    if random.below(TWICE) == 0 {
        next = step(&next, mates, random);
    }
    next
}

fn step(point: &Point, mates: &[Point], random: &mut Random) -> Point {
    let mut next = point.clone();
    let numbers = next.params.len();
    match &point.params.plan {
        Some(plan) if numbers == 0 || random.below(12) > 0 => {
            next.params.plan = Some(Arc::new(planned(point, plan, mates, random)));
        }
        Some(_) | None => number(&mut next, random),
    }
    next
}

/// Changes one number by 1, or to any small one.
fn number(point: &mut Point, random: &mut Random) {
    let chosen = random.below(point.params.len());
    let Some(value) = point.params.values_mut().nth(chosen) else {
        return;
    };
    *value = match random.below(4) {
        0 => random.below(MOST_WORDS),
        1 => value.saturating_sub(1),
        _ => *value + 1,
    };
}

/// Another plan: one choice of a tree, or a tree of another plan.
fn planned(point: &Point, plan: &Plan, mates: &[Point], random: &mut Random) -> Plan {
    let names = parts(point.method.name, &point.params);
    if names.is_empty() {
        let tree = plan.tree().unwrap_or_default();
        return Plan::unnamed(How::Tree(other(tree, "", mates, random)));
    }
    let own = |name: &&'static str| {
        let tree = plan.part(name).unwrap_or_default();
        (name.to_string(), tree)
    };
    let mut trees: BTreeMap<_, _> = names.iter().map(own).collect();
    let chosen = names[random.below(names.len())];
    if let Some(tree) = trees.get_mut(chosen) {
        *tree = other(*tree, chosen, mates, random);
    }
    let part = |(name, tree)| (name, Arc::new(Plan::unnamed(How::Tree(tree))));
    Plan::unnamed(How::Parts(trees.into_iter().map(part).collect()))
}

/// Another tree for a part: mostly this one with another choice, else one that is known.
fn other(tree: Tree, part: &str, mates: &[Point], random: &mut Random) -> Tree {
    let known = match random.below(12) {
        0 => {
            let trees: Vec<_> = PLANS.iter().filter_map(|plan| plan.tree()).collect();
            trees.get(random.below(trees.len())).copied()
        }
        1 => {
            let plans = mates.iter().filter_map(|mate| mate.params.plan.as_ref());
            let trees: Vec<_> = plans.filter_map(|plan| plan.part(part)).collect();
            trees.get(random.below(trees.len())).copied()
        }
        _ => None,
    };
    known.unwrap_or_else(|| changed(tree, random))
}

/// The same tree with one other choice.
fn changed(mut tree: Tree, random: &mut Random) -> Tree {
    match random.below(24) {
        0 => tree.bottom = 3 + random.below(MOST_WORDS - 3),
        1 | 2 => tree.rows = random.below(MOST_ROWS + 1),
        3 => tree.last = [UNLIMITED, 0, 1, 2][random.below(4)],
        4 => tree.nodes[random.below(4)] = tree.nodes[random.below(4)],
        _ => {
            let at = random.below(4);
            tree.nodes[at] = changed_node(tree.nodes[at], random);
        }
    }
    tree
}

fn changed_node(mut node: Node, random: &mut Random) -> Node {
    const DIFFERENCES: [Differences; 4] = [
        Differences::AfterHigh,
        Differences::BeforeHigh,
        Differences::FirstBefore,
        Differences::SecondBefore,
    ];
    const SIGNS: [Signs; 5] = [
        Signs::BeforeMiddle,
        Signs::AfterMiddle,
        Signs::SecondAfter,
        Signs::FirstAfter,
        Signs::AsWords,
    ];
    const SUMS: [HighSum; 4] = [
        HighSum::Apart,
        HighSum::InHalvedMiddle,
        HighSum::InMiddle,
        HighSum::BothInMiddle,
    ];
    match random.below(8) {
        0 => node.differences = DIFFERENCES[random.below(4)],
        1 => node.signs = SIGNS[random.below(5)],
        2 => node.sum = SUMS[random.below(4)],
        3 => node.backwards = !node.backwards,
        _ => {
            let children = [&mut node.low, &mut node.high, &mut node.middle];
            let chosen = random.below(children.len());
            for (i, child) in children.into_iter().enumerate() {
                if i == chosen {
                    *child = changed_child(*child, random);
                }
            }
        }
    }
    node
}

fn changed_child(mut child: Child, random: &mut Random) -> Child {
    match random.below(3) {
        0 => child.columns = !child.columns,
        1 => child.swapped = !child.swapped,
        _ => child.whole = !child.whole,
    }
    child
}
