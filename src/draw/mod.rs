//! Pictures of schedules: the rhombus of partial products, in the order in which they are made.
//!
//! A [`Picture`] is read off the very schedule that is lowered. [`svg`] draws it, [`ansi`] in a terminal, [`tikz`] for
//! papers, and [`animation`] plays it in a page.

pub mod animation;
pub mod ansi;
mod blocks;
pub mod colour;
pub mod elements;
mod legend;
pub mod picture;
pub mod svg;
pub mod tikz;
mod words;

use make::schedule::{Halves, Lowest, Schedule, Stages, TileStep, Tiles};
use spec::Spec;

pub use crate::draw::picture::Picture;
use crate::draw::picture::{Dot, Edge, Kind, Panel, Store};

/// The picture of `schedule`, which computes `spec`.
pub fn of(schedule: &Schedule, spec: &Spec, title: String) -> Picture {
    let mut picture = read(schedule, spec, 0);
    picture.title = title;
    let columns = picture.dots().map(|dot| dot.column).max().unwrap_or(0) + 1;
    let what = if picture.calls > 1 { " a call" } else { "" };
    picture.summary = format!(
        "{} partial products{what} in {columns} columns, the first made darkest, the last brightest; {} loads and {} stores \
         of words in the schedule.",
        picture.dots().count(),
        picture.loads(),
        picture.stores()
    );
    picture
}

fn read(schedule: &Schedule, spec: &Spec, first: usize) -> Picture {
    let of_panel = |panel| Picture {
        panels: vec![panel],
        calls: 1,
        ..Picture::default()
    };
    match schedule {
        Schedule::Blocks(list) => of_panel(blocks::panel(list, false)),
        Schedule::Loops(loops) => of_panel(blocks::panel(&loops.blocks, loops.square)),
        Schedule::Words(list) => in_words(words::read(list, spec, first)),
        Schedule::Scans(scans) => in_words(words::read(&scans.words, spec, first)),
        Schedule::Tiles(list) => of_panel(tiles(list)),
        Schedule::Halves(list) => halves(list, spec),
        Schedule::Stages(list) => stages(list, first),
    }
}

fn in_words(read: words::Read) -> Picture {
    Picture {
        panels: read.panels,
        fetched: read.fetched,
        written: read.written,
        calls: 1,
        ..Picture::default()
    }
}

/// Karatsuba's product at the bottom, which is called for all others.
fn halves(halves: &Halves, spec: &Spec) -> Picture {
    let mut picture = match &halves.base {
        Lowest::Bands(loops) => read(&Schedule::Loops(loops.clone()), spec, 0),
        Lowest::Scans(scans) => read(&Schedule::Scans((**scans).clone()), spec, 0),
    };
    picture.calls = 3usize.pow(halves.levels as u32);
    let words = halves.lowest_words();
    for panel in &mut picture.panels {
        panel.title = format!(
            "{} of {words} words, called {} times by Karatsuba's {} levels",
            panel.title, picture.calls, halves.levels
        );
    }
    picture
}

/// A product, and what is made of it.
fn stages(stages: &Stages, first: usize) -> Picture {
    let [product, rest] = stages.operations();
    let mut all = read(&stages.product, &product, first);
    let made = first + all.products();
    let behind = read(&stages.rest, &rest, made);
    all.panels
        .extend(behind.panels.into_iter().map(|mut panel| {
            for store in &mut panel.stores {
                store.after += made;
            }
            panel
        }));
    all.fetched.extend(behind.fetched);
    all.written.extend(behind.written);
    all
}

/// Tiles that are made by additions: their words, tile by tile.
fn tiles(tiles: &Tiles) -> Panel {
    let second = if tiles.square { "a" } else { "b" };
    let mut panel = Panel {
        title: format!("a * {second}, tile by tile, each by additions"),
        edges: Some(["a", second].map(|name| Edge {
            name: name.into(),
            words: tiles.n,
        })),
        ..Panel::default()
    };
    let mut fetched = vec![false; tiles.n];
    for step in tiles.steps() {
        let tile = match step {
            TileStep::Tile(tile) => tile,
            TileStep::Double(range) => {
                let after = panel.dots.len();
                let store = |column: usize, reload| Store {
                    column: column as i32,
                    after,
                    reload,
                };
                panel.stores.extend(range.clone().map(|k| store(k, true)));
                panel.stores.push(store(range.end, false));
                continue;
            }
        };
        let group = panel.groups.len();
        panel.groups.push(format!("tile {}", group + 1));
        for a in tile.a.clone() {
            for b in tile.b.clone() {
                panel.dots.push(Dot {
                    name: format!("a{a} {second}{b}"),
                    column: (a + b) as i32,
                    height: a as i32 - b as i32,
                    order: panel.dots.len(),
                    group,
                    kind: Kind::Operands,
                    doubled: false,
                    loads: [!std::mem::replace(&mut fetched[a], true), a == tile.a.start],
                    last: [b + 1 == tile.b.end, a + 1 == tile.a.end],
                });
            }
        }
        let after = panel.dots.len();
        let place = tile.place();
        let there = tile.reload.clone();
        let stores = place.clone().enumerate().map(|(i, column)| Store {
            column: column as i32,
            after,
            reload: there.contains(&i),
        });
        panel.stores.extend(stores);
        panel.stores.extend(tile.carry_word.then_some(Store {
            column: place.end as i32,
            after,
            reload: false,
        }));
    }
    panel
}
