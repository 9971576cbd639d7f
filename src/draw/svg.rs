//! The rhombus as SVG, in the papers' conventions: column 0 is on the right, words of the first factor stand along the
//! upper right edge and grow to the left, and a dot is a partial product.
//!
//! From [`MANY`] words on, dots become cells of several products each, so that the picture stays readable.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::draw::elements::{MANY, MARGIN, class, escaped, wrapped};
use crate::draw::picture::{Dot, Kind, Panel, Picture, Strip};
use crate::draw::{colour, legend};

/// Cells along a side then, at most.
const CELLS: i32 = 24;
/// Width of the drawing within the margins.
const WIDTH: f64 = 900.0;
/// Where a panel has few columns, dots are no further apart.
const WIDEST: f64 = 40.0;
/// Products of computed words are few, so their dots are at least as far apart.
const NARROWEST: f64 = 6.0;
/// From a title to its panel.
const TITLE: f64 = 28.0;

/// How a panel lies in the picture.
pub(crate) struct Frame {
    /// Between columns.
    pub step: f64,
    /// The largest column of all panels, which is on the left.
    columns: i32,
    /// The largest and the least height of the panel.
    highest: i32,
    lowest: i32,
    top: f64,
    left: f64,
}

impl Frame {
    /// The frame of a panel with this step, whose left and upper ends are there, beside panels with so many columns.
    fn of(panel: &Panel, [step, left, top]: [f64; 3], columns: i32) -> Self {
        let [lowest, highest] = heights(panel);
        Self {
            step,
            columns,
            highest,
            lowest,
            top,
            left,
        }
    }

    /// How much of the picture's height the panel takes, with what stands below it.
    fn height(&self, panel: &Panel) -> f64 {
        let bars = times(panel).values().map(|[new, again]| new + again).max();
        let deep = bars.unwrap_or(0).min(BARS + 1);
        f64::from(self.highest - self.lowest) * self.step / 2.0
            + self.step.clamp(8.0, 16.0)
            + 4.0 * deep as f64
            + 40.0
    }

    /// The place of a column and a height.
    pub fn at(&self, column: f64, height: f64) -> (f64, f64) {
        let x = self.left + (f64::from(self.columns) - column) * self.step;
        let y = self.top + (f64::from(self.highest) - height) * self.step / 2.0;
        (x, y)
    }
}

/// The whole picture.
pub fn svg(picture: &Picture) -> String {
    let columns = picture.columns();
    let step = (WIDTH / f64::from(columns + 2)).min(WIDEST);
    let width = 2.0 * MARGIN + f64::from(columns + 2) * step;
    let width = width.max(560.0);
    let left = (width - f64::from(columns) * step) / 2.0;
    let mut body = String::new();
    let (head, mut top) = head(&picture.title, width);
    let all = picture.dots().count();
    let mut rest = picture.panels.as_slice();
    while let Some(panel) = rest.first() {
        let small = rest.iter().take_while(|panel| panel.edges.is_none());
        let count = small.count();
        let (some, others) = rest.split_at(count.max(1));
        top = match count {
            0 => {
                let frame = Frame::of(panel, [step, left, top + TITLE], columns);
                titled(&mut body, panel, &frame, all, [MARGIN, top]);
                top + TITLE + frame.height(panel)
            }
            _ => side_by_side(&mut body, some, [step, width, top], all),
        };
        rest = others;
    }
    for (kind, words) in picture.strips() {
        strip(&mut body, kind, words, [width, top], all);
        top += 22.0;
    }
    let height = legend::draw(&mut body, picture, [width, top + 8.0]) + 12.0;
    let (title, summary) = (escaped(&picture.title), escaped(&picture.summary));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"schedule\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">\n<title>{title}</title>\n<desc>{summary}</desc>\n\
         <style>{STYLE}</style>\n{head}{body}</svg>\n"
    )
}

/// A panel, with its title at this place.
fn titled(body: &mut String, panel: &Panel, frame: &Frame, all: usize, [x, y]: [f64; 2]) {
    let title = escaped(&panel.title);
    let _ = writeln!(
        body,
        "<text class=\"title\" x=\"{x:.1}\" y=\"{y:.1}\">{title}</text>"
    );
    draw(body, panel, frame, all);
}

/// Panels of computed words, which have columns of their own: as many in a line as fit the picture's width. Where they end.
fn side_by_side(
    body: &mut String,
    panels: &[Panel],
    [step, width, top]: [f64; 3],
    all: usize,
) -> f64 {
    let step = step.max(NARROWEST);
    let (mut x, mut y, mut deepest) = (MARGIN, top, 0.0_f64);
    for panel in panels {
        let columns = panel.columns();
        let wide = (f64::from(columns + 2) * step).max(7.5 * panel.title.len() as f64) + 2.0 * step;
        if x > MARGIN && x + wide > width - MARGIN / 2.0 {
            (x, y, deepest) = (MARGIN, y + deepest, 0.0);
        }
        let frame = Frame::of(panel, [step, x + step, y + TITLE], columns);
        titled(body, panel, &frame, all, [x, y]);
        deepest = deepest.max(TITLE + frame.height(panel) - 16.0);
        x += wide;
    }
    y + deepest + 12.0
}

/// The words of a number in a line, coloured by how many of `all` products stand before a word's first load or its store;
/// word 0 is on the right. The picture has this width, and the line this place from its top.
fn strip(body: &mut String, kind: &str, strip: &Strip, [width, top]: [f64; 2], all: usize) {
    let name = match kind {
        "load" => format!("words of {}: first needed", strip.name),
        _ => format!("words of {}: complete", strip.name),
    };
    let _ = writeln!(body, "<text x=\"{MARGIN}\" y=\"{top:.1}\">{name}</text>");
    let space = (width - MARGIN - 240.0) / strip.words.len().max(1) as f64;
    let side = space.min(14.0) * 0.8;
    for (i, order) in strip.words.iter().enumerate() {
        let x = width - MARGIN - side - i as f64 * space.min(14.0);
        let _ = writeln!(
            body,
            "<rect class=\"{kind}\" data-{kind}s=\"1\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{side:.1}\" height=\"{side:.1}\" \
             fill=\"{}\"><title>{}{i}, {order} products before</title></rect>",
            top - side,
            colour::hex(*order, all + 1),
            strip.name
        );
    }
}

/// The title in lines that fit, and where the first panel begins.
fn head(title: &str, width: f64) -> (String, f64) {
    let mut text = String::new();
    let mut y = 34.0;
    for line in wrapped(title, (width - 2.0 * MARGIN) / 9.2) {
        let line = escaped(&line);
        let _ = writeln!(
            text,
            "<text class=\"head\" x=\"{MARGIN}\" y=\"{y}\">{line}</text>"
        );
        y += 22.0;
    }
    (text, y + 8.0)
}

/// The least and the largest height: of a rhombus or triangle the whole, whether all of it is there or not.
fn heights(panel: &Panel) -> [i32; 2] {
    let heights = || panel.dots.iter().map(|dot| dot.height);
    let (least, most) = (heights().min().unwrap_or(0), heights().max().unwrap_or(0));
    match &panel.edges {
        Some([first, second]) => {
            let below = if first == second {
                0
            } else {
                1 - second.words as i32
            };
            [least.min(below), most.max(first.words as i32 - 1)]
        }
        None => [least, most],
    }
}

/// Light and dark, print and screen. A page may have other drawings, so all rules are those of a schedule.
const STYLE: &str = ".schedule text{font:13px sans-serif;fill:#222}.schedule .head{font-size:17px;font-weight:bold}\
.schedule .title{font-weight:bold}.schedule .small{font-size:10px}.schedule .group{fill:none;stroke:#d4380d;stroke-width:1.4}\
.schedule .whole{fill:#8881;stroke:#999;stroke-dasharray:3 3}.schedule .way{fill:none;stroke:#888;stroke-width:.8}\
.schedule .dot{stroke:#333;stroke-width:.5}.schedule .reduction{stroke:#c4460a;stroke-width:1.6}\
.schedule .number{stroke:#0a7a8c;stroke-width:1.6}.schedule .computed{stroke:#8a2a9c;stroke-width:1.6}\
.schedule .load,.schedule .store{stroke:#333;stroke-width:.6}.schedule .mark{fill:#d4380d;stroke:none}\
.schedule .written{fill:none;stroke:#1668b8;stroke-width:1.2}.schedule .again{fill:#1668b8}\
@media(prefers-color-scheme:dark){.schedule{background:#16181c}.schedule text{fill:#ddd}.schedule .dot{stroke:#ccc}\
.schedule .way{stroke:#999}.schedule .load,.schedule .store{stroke:#ccc}.schedule .reduction{stroke:#f58a4c}\
.schedule .number{stroke:#4cc4d8}.schedule .computed{stroke:#d68ae4}.schedule .written{stroke:#5aa6f0}.schedule .again{fill:#5aa6f0}}";

/// One panel.
fn draw(body: &mut String, panel: &Panel, frame: &Frame, all: usize) {
    whole(body, panel, frame);
    if panel.columns() > MANY {
        cells(body, panel, frame, all);
    } else {
        borders(body, panel, frame);
        ways(body, panel, frame);
        dots(body, panel, frame, all);
    }
    stores(body, panel, frame);
    labels(body, panel, frame);
}

/// The whole rhombus or triangle, dashed, whether all of it is there or not.
fn whole(body: &mut String, panel: &Panel, frame: &Frame) {
    if let Some([first, second]) = &panel.edges {
        let (n, m) = (first.words as f64 - 0.5, second.words as f64 - 0.5);
        let corners = match first == second {
            true => vec![
                (-1.0, 0.0),
                (n - 0.5, n + 0.5),
                (2.0 * n, 0.0),
                (n - 0.5, -1.2),
            ],
            false => vec![
                (-1.0, 0.0),
                (n - 0.5, n + 0.5),
                (n + m, n - m),
                (m - 0.5, -m - 0.5),
            ],
        };
        let corners = corners.into_iter().map(|(column, height)| {
            let (x, y) = frame.at(column, height);
            format!("{x:.1},{y:.1}")
        });
        let corners = corners.collect::<Vec<_>>().join(" ");
        let _ = writeln!(body, "<polygon class=\"whole\" points=\"{corners}\"/>");
    }
}

/// The borders of blocks and parts, if there are several: where a dot's neighbour is of another one.
fn borders(body: &mut String, panel: &Panel, frame: &Frame) {
    if panel.groups.len() < 2 {
        return;
    }
    let places = panel
        .dots
        .iter()
        .map(|dot| ((dot.column, dot.height), dot.group));
    let groups: BTreeMap<(i32, i32), usize> = places.collect();
    let mut path = String::new();
    for ((column, height), group) in &groups {
        let (c, h) = (f64::from(*column), f64::from(*height));
        // The right, upper, left and lower corner of a dot's cell, and the neighbour across each edge.
        let corners = [(c - 1.0, h), (c, h + 1.0), (c + 1.0, h), (c, h - 1.0)];
        let across = [(-1, 1), (1, 1), (1, -1), (-1, -1)];
        for (i, (dc, dh)) in across.into_iter().enumerate() {
            if groups.get(&(column + dc, height + dh)) != Some(group) {
                let [from, to] = [corners[i], corners[(i + 1) % 4]].map(|(c, h)| frame.at(c, h));
                let _ = write!(path, "M{:.1},{:.1}L{:.1},{:.1}", from.0, from.1, to.0, to.1);
            }
        }
    }
    let _ = writeln!(body, "<path class=\"group\" d=\"{path}\"/>");
}

/// The order as lines with arrows: through the products of a column or row, one after the other.
fn ways(body: &mut String, panel: &Panel, frame: &Frame) {
    let mut list: Vec<Vec<&Dot>> = Vec::new();
    for dot in &panel.dots {
        let near = |last: &Dot| {
            let by = (dot.column - last.column, dot.height - last.height);
            last.group == dot.group && matches!(by, (0, _) | (1, 1) | (1, -1))
        };
        match list.last_mut() {
            Some(way) if way.last().is_some_and(|last| near(last)) => way.push(dot),
            _ => list.push(vec![dot]),
        }
    }
    body.push_str(
        "<defs><marker id=\"arrow\" viewBox=\"0 0 6 6\" refX=\"5\" refY=\"3\" markerWidth=\"5\" markerHeight=\"5\" \
         orient=\"auto\"><path d=\"M0,0L6,3L0,6z\" fill=\"#888\"/></marker></defs>\n",
    );
    for way in list.iter().filter(|way| way.len() > 1) {
        let points = way.iter().map(|dot| {
            let (x, y) = frame.at(dot.column.into(), dot.height.into());
            format!("{x:.1},{y:.1}")
        });
        let points = points.collect::<Vec<_>>().join(" ");
        let _ = writeln!(
            body,
            "<polyline class=\"way\" points=\"{points}\" marker-end=\"url(#arrow)\"/>"
        );
    }
}

/// A circle each; a mark above for a word of the first factor that is fetched for it, below for the second.
fn dots(body: &mut String, panel: &Panel, frame: &Frame, all: usize) {
    let r = (frame.step * 0.42).clamp(1.5, 9.0);
    // A rim tells the kind, and leaves most of a small dot to its colour.
    let rim = match r < 4.0 {
        true => " style=\"stroke-width:.6\"",
        false => "",
    };
    for dot in &panel.dots {
        let (x, y) = frame.at(dot.column.into(), dot.height.into());
        let loads = dot.loads.iter().filter(|load| **load).count();
        let twice = if dot.doubled { ", counts twice" } else { "" };
        let _ = writeln!(
            body,
            "<circle class=\"dot{}\" data-dots=\"1\" data-loads=\"{loads}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\" fill=\"{}\"\
             {rim}><title>{}, column {}, product {}{twice}</title></circle>",
            class(dot.kind),
            colour::hex(dot.order, all),
            dot.name,
            dot.column,
            dot.order + 1
        );
        for (load, by) in dot.loads.iter().zip([-0.7, 0.7]) {
            if *load {
                let _ = writeln!(
                    body,
                    "<circle class=\"mark\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{:.1}\"/>",
                    x + r * 0.75,
                    y + r * by,
                    (r * 0.32).max(0.8)
                );
            }
        }
    }
}

/// Several products in one cell, with the mean of their order.
fn cells(body: &mut String, panel: &Panel, frame: &Frame, all: usize) {
    // (i, j) are the sum and the difference of column and height, halved, in a rhombus.
    let side = (panel.columns() / 2 / CELLS + 1).max(1);
    let mut cells: BTreeMap<(i32, i32), Vec<&Dot>> = BTreeMap::new();
    for dot in &panel.dots {
        let (i, j) = (
            (dot.column + dot.height).div_euclid(2),
            (dot.column - dot.height).div_euclid(2),
        );
        let place = (i.div_euclid(side), j.div_euclid(side));
        cells.entry(place).or_default().push(dot);
    }
    for ((i, j), list) in cells {
        let (i, j, s) = (f64::from(i * side), f64::from(j * side), f64::from(side));
        // The corners, half a dot outside the outermost products.
        let corners = [(0.0, 0.0), (s, 0.0), (s, s), (0.0, s)].map(|(di, dj)| {
            let (i, j) = (i + di - 0.5, j + dj - 0.5);
            let (x, y) = frame.at(i + j, i - j);
            format!("{x:.1},{y:.1}")
        });
        let orders = || list.iter().map(|dot| dot.order);
        let (first, last) = (orders().min().unwrap_or(0), orders().max().unwrap_or(0));
        let loads: usize = list
            .iter()
            .map(|d| d.loads.iter().filter(|l| **l).count())
            .sum();
        let kind = list.first().map_or(Kind::Operands, |dot| dot.kind);
        let _ = writeln!(
            body,
            "<polygon class=\"dot{}\" data-dots=\"{}\" data-loads=\"{loads}\" points=\"{}\" fill=\"{}\"><title>{} products \
             from {} on, number {} to {}, {loads} loads</title></polygon>",
            class(kind),
            list.len(),
            corners.join(" "),
            colour::hex(orders().sum::<usize>() / list.len(), all),
            list.len(),
            list[0].name,
            first + 1,
            last + 1
        );
    }
}

/// The most bars below each other.
const BARS: usize = 8;

/// How often each column is written, and after fetching an intermediate result.
fn times(panel: &Panel) -> BTreeMap<i32, [usize; 2]> {
    let mut times: BTreeMap<i32, [usize; 2]> = BTreeMap::new();
    for store in &panel.stores {
        times.entry(store.column).or_default()[usize::from(store.reload)] += 1;
    }
    times
}

/// Below the panel: bars for the times that a column is written, filled where an intermediate result was fetched first. Of
/// many all are one bar, as long as there are.
fn stores(body: &mut String, panel: &Panel, frame: &Frame) {
    let r = (frame.step * 0.35).clamp(0.6, 6.0);
    let most = times(panel)
        .values()
        .map(|[new, again]| new + again)
        .max()
        .unwrap_or(0);
    for (column, [new, again]) in times(panel) {
        let (x, y) = frame.at(column.into(), frame.lowest.into());
        let mut y = y + frame.step.clamp(8.0, 16.0) + 8.0;
        let mut bar = |class: &str, count: usize, loads: usize, height: f64| {
            let _ = writeln!(
                body,
                "<rect class=\"written{class}\" data-stores=\"{count}\" data-loads=\"{loads}\" x=\"{:.1}\" y=\"{y:.1}\" \
                 width=\"{:.1}\" height=\"{height:.1}\"><title>column {column}: {count} times</title></rect>",
                x - r,
                2.0 * r
            );
            y += height + 1.6;
        };
        match most > BARS {
            true => {
                let long = |count: usize| 3.5 * BARS as f64 * count as f64 / most as f64;
                bar("", new, 0, long(new));
                bar(" again", again, again, long(again));
            }
            false => {
                (0..new).for_each(|_| bar("", 1, 0, 2.2));
                (0..again).for_each(|_| bar(" again", 1, 1, 2.2));
            }
        }
    }
}

/// The words along the edges.
fn labels(body: &mut String, panel: &Panel, frame: &Frame) {
    let Some([first, second]) = &panel.edges else {
        return;
    };
    let every = ((26.0 / frame.step).ceil() as usize).max(1);
    let mut label = |name: &str, i: usize, (x, y): (f64, f64)| {
        let _ = writeln!(
            body,
            "<text class=\"small\" x=\"{x:.1}\" y=\"{y:.1}\">{name}{i}</text>"
        );
    };
    let near = frame.step.clamp(4.0, 16.0);
    for i in (0..first.words).step_by(every) {
        let (x, y) = frame.at(i as f64, i as f64);
        label(&first.name, i, (x + near * 0.7, y - near * 0.5));
    }
    // Column 0 is on the right; its number stands above the stores.
    for column in (0..(first.words + second.words).saturating_sub(1)).step_by(every) {
        let (x, y) = frame.at(column as f64, frame.lowest.into());
        let below = frame.step.clamp(8.0, 16.0) + 3.0;
        label("", column, (x - 3.0, y + below));
    }
    for j in (0..second.words).step_by(every).filter(|_| first != second) {
        let (x, y) = frame.at(j as f64, -(j as f64));
        label(&second.name, j, (x + near * 0.7, y + near * 0.5 + 8.0));
    }
}
