//! What a picture of a schedule shows: panels of dots, each a partial product, in the order in which they are made.

use serde::Serialize;

/// What the factors of a product are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Words of operands.
    Operands,
    /// A quotient of Montgomery's reduction and a word of the modulus.
    Reduction,
    /// A word and a number that is known: a fold modulo a special prime.
    Number,
    /// Words that were computed: Karatsuba's differences or sums.
    Computed,
}

impl Kind {
    /// For the legend.
    pub fn text(self) -> &'static str {
        match self {
            Kind::Operands => "product of two operand words",
            Kind::Reduction => "quotient word times modulus word",
            Kind::Number => "word times a number",
            Kind::Computed => "product of computed words",
        }
    }
}

/// One partial product.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Dot {
    /// `a3 b2`.
    pub name: String,
    /// The column of the result that it is added to, within its panel.
    pub column: i32,
    /// How far above the middle of the panel it stands, in half dots.
    pub height: i32,
    /// When it is made: 0 is the first product of all.
    pub order: usize,
    /// The block or part it belongs to: an index into the panel's groups.
    pub group: usize,
    /// What it multiplies.
    pub kind: Kind,
    /// Does it count twice, as in a square?
    pub doubled: bool,
    /// Is the first factor fetched from memory for it, and the second?
    pub loads: [bool; 2],
    /// Is this the last product that finds the factor in its register?
    pub last: [bool; 2],
}

/// A column of a block that is written to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Store {
    /// The column.
    pub column: i32,
    /// Behind the product of this order; the number of products so far, if a block has none.
    pub after: usize,
    /// Was an intermediate result fetched and added first?
    pub reload: bool,
}

/// Dots that share columns: a rhombus, a triangle, or products of computed words.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Panel {
    /// What is multiplied: `a * b`.
    pub title: String,
    /// In their order.
    pub dots: Vec<Dot>,
    /// Names of the blocks and parts.
    pub groups: Vec<String>,
    /// Columns that are written.
    pub stores: Vec<Store>,
    /// Names along both upper edges, if it is a rhombus or a triangle: of the first factor and of the second.
    pub edges: Option<[Edge; 2]>,
}

impl Panel {
    /// The largest column of its dots.
    pub fn columns(&self) -> i32 {
        self.dots.iter().map(|dot| dot.column).max().unwrap_or(0)
    }
}

/// The words of a factor along an edge.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Edge {
    /// `a`.
    pub name: String,
    /// How many words.
    pub words: usize,
}

/// Words of an operand or of the result, where a schedule leaves loads and stores to the target.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Strip {
    /// `a`, `b`, `m` or `r`.
    pub name: String,
    /// For each word: how many products are made before it is first read, or complete.
    pub words: Vec<usize>,
}

/// The picture of a schedule.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Picture {
    /// `mul256 on atmega128: operand-caching e=10`.
    pub title: String,
    /// What it shows, in a sentence, for whoever does not see it.
    pub summary: String,
    /// One above the other.
    pub panels: Vec<Panel>,
    /// Operand words that are fetched, where a schedule leaves the place to the target.
    pub fetched: Vec<Strip>,
    /// Words of the result, the same.
    pub written: Vec<Strip>,
    /// How often the code of the picture is called: Karatsuba's products by calls.
    pub calls: usize,
}

impl Picture {
    /// All dots.
    pub fn dots(&self) -> impl Iterator<Item = &Dot> {
        self.panels.iter().flat_map(|panel| &panel.dots)
    }

    /// The largest column of any panel: of a rhombus or triangle the whole.
    pub fn columns(&self) -> i32 {
        let edges = self.panels.iter().filter_map(|panel| panel.edges.as_ref());
        let whole = edges.map(|[x, y]| (x.words + y.words) as i32 - 2);
        let dots = self.dots().map(|dot| dot.column);
        whole.chain(dots).max().unwrap_or(0)
    }

    /// Products, over all calls.
    pub fn products(&self) -> usize {
        self.calls * self.dots().count()
    }

    /// Words fetched from memory, over all calls.
    pub fn loads(&self) -> usize {
        let of = |dot: &Dot| dot.loads.iter().filter(|load| **load).count();
        let reloads = self.panels.iter().flat_map(|panel| &panel.stores);
        let strips: usize = self.fetched.iter().map(|strip| strip.words.len()).sum();
        let marked = self.dots().map(of).sum::<usize>() + reloads.filter(|s| s.reload).count();
        self.calls * (marked + strips)
    }

    /// Words written to memory, over all calls.
    pub fn stores(&self) -> usize {
        let strips: usize = self.written.iter().map(|strip| strip.words.len()).sum();
        let columns: usize = self.panels.iter().map(|panel| panel.stores.len()).sum();
        self.calls * (columns + strips)
    }

    /// The kinds of products there are.
    pub fn kinds(&self) -> Vec<Kind> {
        let mut kinds: Vec<_> = self.dots().map(|dot| dot.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    /// The strips, with what each shows: `load` or `store`.
    pub fn strips(&self) -> impl Iterator<Item = (&'static str, &Strip)> {
        let fetched = self.fetched.iter().map(|strip| ("load", strip));
        fetched.chain(self.written.iter().map(|strip| ("store", strip)))
    }
}
