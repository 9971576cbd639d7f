//! Pictures of blocks: rows and columns of the rhombus, with the loads that a method has in mind.

use make::schedule::{Block, Blocks, ColumnBlock, Lifetimes, Part, Product, Row};

use crate::draw::picture::{Dot, Edge, Kind, Panel, Store};

/// The rhombus of `a * b`; the triangle of a square, whose blocks hold the products of different words.
pub fn panel(blocks: &Blocks, square: bool) -> Panel {
    let n = blocks.n;
    let names = if square { ["a", "a"] } else { ["a", "b"] };
    let mut panel = Panel {
        title: match square {
            true => "products of different words of a, each of which counts twice".into(),
            false => "a * b".into(),
        },
        edges: Some(names.map(|name| Edge {
            name: name.into(),
            words: n,
        })),
        ..Panel::default()
    };
    let mut drawing = Drawing {
        panel: &mut panel,
        names,
        square,
        lives: Lifetimes::of(blocks),
        products: 0,
    };
    for (i, block) in blocks.blocks.iter().enumerate() {
        match block {
            Block::Columns(block) => {
                let part = match block.part {
                    Part::Whole if blocks.blocks.len() > 1 => format!("block {}", i + 1),
                    part => part.to_string(),
                };
                drawing.columns(block, part);
            }
            Block::Rows(block) => block.rows.iter().for_each(|row| drawing.row(row)),
        }
    }
    panel
}

/// A panel and what is drawn so far.
struct Drawing<'a> {
    panel: &'a mut Panel,
    names: [&'static str; 2],
    square: bool,
    lives: Lifetimes,
    products: usize,
}

impl Drawing<'_> {
    fn columns(&mut self, block: &ColumnBlock, part: String) {
        self.panel.groups.push(part);
        for column in &block.columns {
            column.products.iter().for_each(|p| self.dot(*p));
            self.store(column.index, column.reload);
        }
    }

    fn row(&mut self, row: &Row) {
        self.panel
            .groups
            .push(format!("row {}{}", self.names[1], row.b));
        for (i, step) in row.steps.iter().enumerate() {
            self.dot(Product {
                a: step.a,
                b: row.b,
                load_a: step.load_a,
                load_b: i == 0,
            });
            self.store(step.a + row.b, step.reload);
        }
        let last = row.steps.last().map_or(0, |step| step.a);
        self.store(last + row.b + 1, false);
    }

    fn dot(&mut self, p: Product) {
        let [a, b] = self.names;
        let order = self.products;
        self.panel.dots.push(Dot {
            name: format!("{a}{} {b}{}", p.a, p.b),
            column: (p.a + p.b) as i32,
            height: p.a as i32 - p.b as i32,
            order,
            group: self.panel.groups.len() - 1,
            kind: Kind::Operands,
            doubled: self.square,
            loads: [p.load_a, p.load_b],
            last: [self.lives.a[order], self.lives.b[order]],
        });
        self.products += 1;
    }

    fn store(&mut self, column: usize, reload: bool) {
        self.panel.stores.push(Store {
            column: column as i32,
            after: self.panel.dots.len(),
            reload,
        });
    }
}
