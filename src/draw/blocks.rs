//! Pictures of blocks: rows and columns of the rhombus, with the loads that a method has in mind.

use make::schedule::{Block, Blocks, Lifetimes, Part, Product};

use crate::draw::picture::{Dot, Edge, Kind, Panel, Store};

/// The rhombus of `a * b`; the triangle of a square, whose blocks hold the products of different words.
pub fn panel(blocks: &Blocks, square: bool) -> Panel {
    let n = blocks.n;
    let names = if square { ["a", "a"] } else { ["a", "b"] };
    let lives = Lifetimes::of(blocks);
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
    let mut products = 0;
    let mut dot = |panel: &mut Panel, p: Product| {
        let group = panel.groups.len() - 1;
        panel.dots.push(Dot {
            name: format!("{}{} {}{}", names[0], p.a, names[1], p.b),
            column: (p.a + p.b) as i32,
            height: p.a as i32 - p.b as i32,
            order: products,
            group,
            kind: Kind::Operands,
            doubled: square,
            loads: [p.load_a, p.load_b],
            last: [lives.a[products], lives.b[products]],
        });
        products += 1;
    };
    for (i, block) in blocks.blocks.iter().enumerate() {
        match block {
            Block::Columns(block) => {
                panel.groups.push(match block.part {
                    Part::Whole if blocks.blocks.len() > 1 => format!("block {}", i + 1),
                    part => part.to_string(),
                });
                for column in &block.columns {
                    column.products.iter().for_each(|p| dot(&mut panel, *p));
                    panel.stores.push(Store {
                        column: column.index as i32,
                        after: panel.dots.len(),
                        reload: column.reload,
                    });
                }
            }
            Block::Rows(block) => {
                for row in &block.rows {
                    panel.groups.push(format!("row {}{}", names[1], row.b));
                    for (i, step) in row.steps.iter().enumerate() {
                        let product = Product {
                            a: step.a,
                            b: row.b,
                            load_a: step.load_a,
                            load_b: i == 0,
                        };
                        dot(&mut panel, product);
                        panel.stores.push(Store {
                            column: (step.a + row.b) as i32,
                            after: panel.dots.len(),
                            reload: step.reload,
                        });
                    }
                    let last = row.steps.last().map_or(0, |step| step.a);
                    panel.stores.push(Store {
                        column: (last + row.b + 1) as i32,
                        after: panel.dots.len(),
                        reload: false,
                    });
                }
            }
        }
    }
    panel
}
