//! Choices of Karatsuba's multiplication. With `x = xl + W xh`, `y = yl + W yh` a product is
//! `L + W (L + H + M) + W^2 H`, `L = xl yl`, `H = xh yh`, `M = (xl - xh)(yh - yl)`; each of the three may be halved again.

use serde::{Deserialize, Serialize};

/// The choices for the whole number, and for its L, its H and its M where these are halved again, on any level.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Tree {
    /// Words of a product that is not halved any more, at most.
    pub bottom: usize,
    /// Words of a product that is computed row by row, at most.
    pub rows: usize,
    /// How many levels from the bottom take the middle product last; those above take it first.
    pub last: usize,
    /// Of the whole number, of its L, its H and its M.
    pub nodes: [Node; 4],
}

/// More words, and more levels, than any product has.
pub const UNLIMITED: usize = 99;

/// What is decided where a number is halved.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Node {
    #[serde(skip_serializing_if = "is_usual")]
    pub differences: Differences,
    #[serde(skip_serializing_if = "is_usual")]
    pub signs: Signs,
    #[serde(skip_serializing_if = "is_usual")]
    pub sum: HighSum,
    /// Does every other column of a product at the bottom go backwards?
    #[serde(skip_serializing_if = "is_usual")]
    pub backwards: bool,
    #[serde(skip_serializing_if = "is_usual")]
    pub low: Child,
    #[serde(skip_serializing_if = "is_usual")]
    pub high: Child,
    #[serde(skip_serializing_if = "is_usual")]
    pub middle: Child,
}

/// When the differences of halves are made.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Differences {
    /// Both after H.
    #[default]
    AfterHigh,
    /// Both before H.
    BeforeHigh,
    /// That of the first factor before H.
    FirstBefore,
    /// That of the second factor before H.
    SecondBefore,
}

/// When the sum of the middle is corrected for negative differences.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Signs {
    /// For both before M.
    #[default]
    BeforeMiddle,
    /// For both after M.
    AfterMiddle,
    /// By the second difference after M.
    SecondAfter,
    /// By the first difference after M.
    FirstAfter,
    /// By words that are added with those of M.
    AsWords,
}

/// How the two words of `L_lo + Z + W Z`, `Z = H + L_hi`, join M.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HighSum {
    /// As a sum of their own.
    #[default]
    Apart,
    /// The low half is added to M word by word, if M is halved again.
    InHalvedMiddle,
    /// The low half is added to M word by word.
    InMiddle,
    /// Both halves are added to M word by word, where signs come as words or after M.
    BothInMiddle,
}

/// How one of the three products is made.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Child {
    /// By columns, though rows would fit?
    #[serde(skip_serializing_if = "is_usual")]
    pub columns: bool,
    /// Are its rows words of the second factor?
    #[serde(skip_serializing_if = "is_usual")]
    pub swapped: bool,
    /// Is it never halved?
    #[serde(skip_serializing_if = "is_usual")]
    pub whole: bool,
}

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A tree as a file has it: a part without choices of its own has those of the number.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    #[serde(skip_serializing_if = "Option::is_none")]
    bottom: Option<usize>,
    #[serde(skip_serializing_if = "is_usual")]
    rows: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<usize>,
    #[serde(skip_serializing_if = "is_usual")]
    number: Node,
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<Node>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<Node>,
    #[serde(skip_serializing_if = "Option::is_none")]
    middle: Option<Node>,
}

impl From<Written> for Tree {
    fn from(w: Written) -> Self {
        Self {
            bottom: w.bottom.unwrap_or(UNLIMITED),
            rows: w.rows,
            last: w.last.unwrap_or(UNLIMITED),
            nodes: [Some(w.number), w.low, w.high, w.middle].map(|n| n.unwrap_or(w.number)),
        }
    }
}

impl From<Tree> for Written {
    fn from(tree: Tree) -> Self {
        let [number, low, high, middle] = tree.nodes;
        let limit = |value: usize| Some(value).filter(|value| *value != UNLIMITED);
        let own = |node: Node| Some(node).filter(|node| *node != number);
        Self {
            bottom: limit(tree.bottom),
            rows: tree.rows,
            last: limit(tree.last),
            number,
            low: own(low),
            high: own(high),
            middle: own(middle),
        }
    }
}

impl Default for Tree {
    fn default() -> Self {
        Written::default().into()
    }
}

impl Node {
    /// How its L, its H and its M are made.
    pub fn children(&self) -> [Child; 3] {
        [self.low, self.high, self.middle]
    }
}

impl Tree {
    /// Does it say nothing about a number that is halved on fewer than two levels that another does not?
    pub fn needs_two_levels(&self) -> bool {
        let mut children = self.nodes.iter().flat_map(Node::children);
        self.last < UNLIMITED || children.any(|child| child.whole)
    }

    /// Words of a product that is not halved any more, at most: 8, if it does not say.
    pub fn bottom_words(&self) -> usize {
        match self.bottom {
            UNLIMITED => 8,
            words => words,
        }
    }

    /// How often a number of `n` words is halved.
    pub fn levels(&self, n: usize) -> usize {
        let bottom = self.bottom_words().max(1);
        (0..).find(|l| n.div_ceil(1 << l) <= bottom).unwrap_or(0)
    }
}
