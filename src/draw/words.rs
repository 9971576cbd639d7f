//! Pictures of schedules in words: products are sorted by what their factors are.

use std::collections::{BTreeMap, BTreeSet};

use make::schedule::{Origin, Pile, Word, WordStep, Words};
use spec::Spec;

use crate::draw::picture::{Dot, Edge, Kind, Panel, Strip};

/// A product as it is met.
struct Met {
    x: Word,
    y: Word,
    /// Its pile, and the sweep of that.
    column: usize,
    sweep: usize,
    doubled: bool,
    order: usize,
    /// The remark before it.
    part: usize,
}

/// Panels, and the words that are fetched and written.
pub struct Read {
    pub panels: Vec<Panel>,
    pub fetched: Vec<Strip>,
    pub written: Vec<Strip>,
}

/// Which panel a product belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// Two operands, by their numbers.
    Operands(usize, usize),
    /// Quotients and the modulus.
    Reduction,
    /// Words and numbers of a sweep.
    Number(usize),
    /// Computed words, behind a remark.
    Computed(usize),
}

/// What the steps of `words` multiply, from product `first` on.
pub fn read(words: &Words, spec: &Spec, first: usize) -> Read {
    let quotients = quotients(words);
    let Walk {
        parts,
        met,
        seen,
        order: _,
    } = Walk::over(words, first);
    let mut sorted: BTreeMap<Place, Vec<Met>> = BTreeMap::new();
    for product in met {
        let place = place(words, &quotients, &product);
        sorted.entry(place).or_default().push(product);
    }
    let names = names(words, spec);
    let panels = sorted.iter();
    let mut panels: Vec<_> = panels
        .map(|(place, list)| panel(words, &names, &quotients, &parts, *place, list))
        .collect();
    panels.sort_by_key(|panel| panel.dots.first().map(|dot| dot.order));
    Read {
        panels,
        fetched: fetched(words, &names, &seen),
        written: vec![Strip {
            name: "r".into(),
            words: words
                .result
                .iter()
                .map(|word| seen.get(word).copied().unwrap_or(first))
                .collect(),
        }],
    }
}

/// What was met on the way through a schedule.
struct Walk {
    /// Remarks; the first is for the products that stand before any.
    parts: Vec<String>,
    met: Vec<Met>,
    /// How many products stand before the first use of a word.
    seen: BTreeMap<Word, usize>,
    order: usize,
}

impl Walk {
    fn over(words: &Words, first: usize) -> Self {
        let mut walk = Self {
            parts: vec![String::new()],
            met: Vec::new(),
            seen: BTreeMap::new(),
            order: first,
        };
        for (sweep, step) in words.steps.iter().enumerate() {
            match step {
                WordStep::Part(text) => walk.parts.push(text.clone()),
                WordStep::Sweep(list) => {
                    for (column, pile) in list.piles.iter().enumerate() {
                        for (x, y, doubled) in products(pile) {
                            walk.see([x, y]);
                            walk.product(x, y, doubled, [sweep, column]);
                        }
                        walk.see(pile.addends.iter().copied().chain(pile.out));
                        walk.see(pile.quotient.iter().flat_map(|q| [q.inverse, q.m]));
                    }
                }
                WordStep::Wide { x, y, .. } => walk.product(*x, *y, false, [sweep, 0]),
                _ => {}
            }
            let (read, made) = Words::uses(step);
            walk.see(read.into_iter().chain(made));
        }
        walk
    }

    fn see(&mut self, words: impl IntoIterator<Item = Word>) {
        for word in words {
            self.seen.entry(word).or_insert(self.order);
        }
    }

    fn product(&mut self, x: Word, y: Word, doubled: bool, [sweep, column]: [usize; 2]) {
        self.met.push(Met {
            x,
            y,
            column,
            sweep,
            doubled,
            order: self.order,
            part: self.parts.len() - 1,
        });
        self.order += 1;
    }
}

/// A quotient of Montgomery's reduction.
struct Made {
    /// How many there are before it.
    index: usize,
    /// The sweep and the pile that make it.
    sweep: usize,
    column: usize,
}

/// Quotients: those that a pile makes by `m'`, and, where that is 1, words of a sweep that its later piles multiply.
fn quotients(words: &Words) -> BTreeMap<Word, Made> {
    let mut found: BTreeMap<Word, Made> = BTreeMap::new();
    for (sweep, step) in words.steps.iter().enumerate() {
        let WordStep::Sweep(list) = step else {
            continue;
        };
        let factors: BTreeSet<Word> = list
            .piles
            .iter()
            .flat_map(products)
            .flat_map(|(x, y, _)| [x, y])
            .collect();
        for (column, pile) in list.piles.iter().enumerate() {
            let multiplied = pile.out.filter(|out| factors.contains(out));
            if let Some(q) = pile.quotient.map(|quotient| quotient.q).or(multiplied) {
                let index = found.len();
                found.entry(q).or_insert(Made {
                    index,
                    sweep,
                    column,
                });
            }
        }
    }
    found
}

/// The products of a pile in the order in which they are added, and whether each counts twice.
fn products(pile: &Pile) -> impl Iterator<Item = (Word, Word, bool)> {
    let doubled = pile.doubled.iter().map(|(x, y)| (*x, *y, true));
    doubled.chain(pile.products.iter().map(|(x, y)| (*x, *y, false)))
}

/// Names of the operands: those of the spec, by their sides.
fn names(words: &Words, spec: &Spec) -> Vec<String> {
    let names: Vec<_> = spec.sources().iter().map(|s| s.name.to_string()).collect();
    let sides = words.lengths.len();
    match sides <= names.len() {
        true => names,
        // A reduction behind a product reads that one first.
        false => (0..sides).map(|i| format!("x{i}")).collect(),
    }
}

/// The operand words that are read, in strips, by when that is.
fn fetched(words: &Words, names: &[String], seen: &BTreeMap<Word, usize>) -> Vec<Strip> {
    let mut strips: Vec<Strip> = Vec::new();
    for (side, name) in names.iter().enumerate().take(words.lengths.len()) {
        let of_side = |(word, origin): (usize, &Origin)| match origin {
            Origin::Operand { side: s, .. } if *s == side => seen.get(&Word(word)).copied(),
            _ => None,
        };
        let read: Vec<_> = words
            .origins
            .iter()
            .enumerate()
            .filter_map(of_side)
            .collect();
        if !read.is_empty() {
            strips.push(Strip {
                name: name.clone(),
                words: read,
            });
        }
    }
    strips
}

fn place(words: &Words, quotients: &BTreeMap<Word, Made>, product: &Met) -> Place {
    let origin = |word: Word| words.origins[word.0];
    if quotients.contains_key(&product.x) || quotients.contains_key(&product.y) {
        return Place::Reduction;
    }
    match (origin(product.x), origin(product.y)) {
        (Origin::Operand { side: x, .. }, Origin::Operand { side: y, .. }) => {
            Place::Operands(x.min(y), x.max(y))
        }
        (Origin::Constant(_) | Origin::Stored { .. }, _)
        | (_, Origin::Constant(_) | Origin::Stored { .. }) => Place::Number(product.sweep),
        (Origin::Computed, _) | (_, Origin::Computed) => Place::Computed(product.part),
    }
}

/// The panel of the products `list`.
fn panel(
    words: &Words,
    names: &[String],
    quotients: &BTreeMap<Word, Made>,
    parts: &[String],
    place: Place,
    list: &[Met],
) -> Panel {
    let (kind, title) = match place {
        Place::Operands(x, y) if x == y => (Kind::Operands, format!("{}^2", names[x])),
        Place::Operands(x, y) => (Kind::Operands, format!("{} * {}", names[x], names[y])),
        Place::Reduction => (Kind::Reduction, "q * m".into()),
        Place::Number(_) => (Kind::Number, part_of(parts, list)),
        Place::Computed(_) => (Kind::Computed, part_of(parts, list)),
    };
    let edge = |name: &str, words| Edge {
        name: name.into(),
        words,
    };
    let edges = match place {
        Place::Operands(x, y) => Some([x, y].map(|side| edge(&names[side], words.lengths[side]))),
        Place::Reduction => Some(["q", "m"].map(|name| edge(name, quotients.len()))),
        Place::Number(_) | Place::Computed(_) => None,
    };
    let mut groups: Vec<usize> = list.iter().map(|product| product.part).collect();
    groups.dedup();
    groups.sort_unstable();
    groups.dedup();
    let rows = first_seen(list, |product| product.x);
    let others = first_seen(list, |product| product.y);
    let dot = |product: &Met| {
        let (name, column, height) = match place {
            Place::Operands(..) => of_operands(words, names, product),
            Place::Reduction => of_reduction(words, quotients, product),
            // Numbers that are the same are one: which it is follows from row and column.
            Place::Number(_) => {
                let row = index(&rows, product.x);
                numbered(row, product.column as i32 - row)
            }
            Place::Computed(_) => numbered(index(&rows, product.x), index(&others, product.y)),
        };
        let group = groups.iter().position(|part| *part == product.part);
        Dot {
            name,
            column,
            height,
            order: product.order,
            group: group.unwrap_or(0),
            kind,
            doubled: product.doubled,
            loads: [false; 2],
            last: [false; 2],
        }
    };
    Panel {
        title,
        dots: list.iter().map(dot).collect(),
        groups: groups.iter().map(|part| parts[*part].clone()).collect(),
        stores: Vec::new(),
        edges,
    }
}

/// The remark that the first of them stands behind.
fn part_of(parts: &[String], list: &[Met]) -> String {
    let part = list.first().map_or("", |product| &parts[product.part]);
    match part {
        "" => "products of computed words".into(),
        part => part.into(),
    }
}

/// Factors, numbered in the order in which they come.
fn first_seen(list: &[Met], factor: impl Fn(&Met) -> Word) -> BTreeMap<Word, usize> {
    let mut seen = BTreeMap::new();
    for product in list {
        let next = seen.len();
        seen.entry(factor(product)).or_insert(next);
    }
    seen
}

fn index(known: &BTreeMap<Word, usize>, word: Word) -> i32 {
    known.get(&word).map_or(0, |i| *i as i32)
}

/// The name, column and height of the product of a row's word and another.
fn numbered(row: i32, other: i32) -> (String, i32, i32) {
    (format!("x{row} y{other}"), row + other, row - other)
}

fn of_operands(words: &Words, names: &[String], product: &Met) -> (String, i32, i32) {
    let at = |word: Word| match words.origins[word.0] {
        Origin::Operand { side, index } => (side, index),
        _ => (0, 0),
    };
    let (mut x, mut y) = (at(product.x), at(product.y));
    // The first operand first; of a square the larger index, so that all stand on one side.
    if x.0 > y.0 || x.0 == y.0 && x.1 < y.1 {
        (x, y) = (y, x);
    }
    let name = format!("{}{} {}{}", names[x.0], x.1, names[y.0], y.1);
    (name, (x.1 + y.1) as i32, x.1 as i32 - y.1 as i32)
}

/// A quotient word stands in the column that made it; the word of the modulus follows from the column, as two that are
/// the same number are one.
fn of_reduction(
    words: &Words,
    quotients: &BTreeMap<Word, Made>,
    product: &Met,
) -> (String, i32, i32) {
    let of_x = quotients.get(&product.x).map(|made| (made, product.y));
    let of_y = || quotients.get(&product.y).map(|made| (made, product.x));
    let Some((made, m)) = of_x.or_else(of_y) else {
        return (String::new(), product.column as i32, 0);
    };
    let q = made.index;
    let j = match words.origins[m.0] {
        Origin::Operand { index, .. } | Origin::Stored { index, .. } => index,
        Origin::Constant(_) | Origin::Computed if made.sweep == product.sweep => {
            product.column.saturating_sub(made.column)
        }
        Origin::Constant(_) | Origin::Computed => product.column,
    };
    (format!("q{q} m{j}"), (q + j) as i32, q as i32 - j as i32)
}
