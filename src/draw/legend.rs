//! The legend of a picture: what colours, marks and lines mean, as far as the picture has them.

use std::fmt::Write;

use crate::draw::colour;
use crate::draw::elements::{MANY, MARGIN, class, escaped, wrapped};
use crate::draw::picture::{Kind, Panel, Picture};

/// Draws the legend of a picture of this width at this place from its top; where it ends.
pub(crate) fn draw(body: &mut String, picture: &Picture, [width, top]: [f64; 2]) -> f64 {
    scale(body, top);
    let mut y = top + 20.0;
    for (i, kind) in picture.kinds().into_iter().enumerate() {
        let x = MARGIN + 220.0 * i as f64;
        let shape = format!(
            "<circle class=\"dot{}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\" fill=\"#7d7c78\"/>",
            class(kind),
            x + 5.0,
            y - 4.0
        );
        entry(body, &shape, kind.text(), x, y);
    }
    if picture.dots().any(|dot| dot.loads.contains(&true)) {
        y += 20.0;
        accesses(body, y);
    }
    y += 24.0;
    for note in notes(picture) {
        for line in wrapped(note, (width - 2.0 * MARGIN) / 6.2) {
            let line = escaped(&line);
            let _ = writeln!(body, "<text x=\"{MARGIN}\" y=\"{y:.1}\">{line}</text>");
            y += 17.0;
        }
    }
    y
}

/// What the colours of dots mean.
fn scale(body: &mut String, top: f64) {
    let mut x = MARGIN;
    let _ = write!(body, "<text x=\"{x:.0}\" y=\"{top:.1}\">first</text>");
    x += 32.0;
    for i in 0..40usize {
        let _ = write!(
            body,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"2.6\" height=\"10\" fill=\"{}\"/>",
            x + 2.5 * i as f64,
            top - 9.0,
            colour::hex(i, 40)
        );
    }
    x += 106.0;
    let _ = writeln!(
        body,
        "<text x=\"{x:.0}\" y=\"{top:.1}\">last product</text>"
    );
}

/// A mark and what it means.
fn entry(body: &mut String, shape: &str, text: &str, x: f64, y: f64) {
    let x = x + 14.0;
    let _ = writeln!(body, "{shape}<text x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>");
}

/// The marks of loads and stores.
fn accesses(body: &mut String, y: f64) {
    let loaded = format!(
        "<circle class=\"mark\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"/>",
        MARGIN + 5.0,
        y - 4.0
    );
    entry(body, &loaded, "a factor is loaded", MARGIN, y);
    let mut written = |class: &str, text: &str, x: f64| {
        let y_of_bar = y - 6.0;
        let bar = format!(
            "<rect class=\"written{class}\" x=\"{x:.1}\" y=\"{y_of_bar:.1}\" width=\"10\" height=\"3\"/>"
        );
        entry(body, &bar, text, x, y);
    };
    written("", "column stored", MARGIN + 150.0);
    written(" again", "loaded, added to, stored", MARGIN + 270.0);
}

/// What needs a sentence.
fn notes(picture: &Picture) -> Vec<&'static str> {
    let any = |is: &dyn Fn(&Panel) -> bool| picture.panels.iter().any(is);
    let is_of = |kind: Kind| picture.dots().any(|dot| dot.kind == kind);
    let square = |panel: &Panel| panel.edges.as_ref().is_some_and(|[x, y]| x == y);
    let mut notes = Vec::new();
    let mut say = |if_so: bool, note| notes.extend(if_so.then_some(note));
    say(
        any(&|panel| panel.edges.is_some()),
        "A dot is a partial product. Word i times word j stands in column i + j. The numbers along the edges are those of \
         the words, and those at the bottom are the columns.",
    );
    say(
        any(&|panel| panel.columns() > MANY),
        "A cell stands for several products; its colour is the mean of their order.",
    );
    say(
        any(&|panel| panel.columns() <= MANY),
        "Thin lines lead from one product to the next.",
    );
    say(
        any(&|panel| panel.groups.len() > 1),
        "Red lines are the borders of the parts that the method makes one after another.",
    );
    say(
        picture.dots().any(|dot| dot.doubled) || any(&square),
        "A product of two different words of a square is made once and counts twice.",
    );
    say(
        is_of(Kind::Reduction),
        "A quotient word q takes up to two more products, with m' and with the lowest word of m, which are not drawn.",
    );
    say(
        any(&lacks),
        "Where dots are missing, a word of the modulus is 0 or 1 and needs no product.",
    );
    say(
        any(&|panel| panel.title.contains("DA DB")),
        "Karatsuba: x = xl + W xh and y = yl + W yh. L = xl yl, H = xh yh, DA and DB are the differences of the halves of x and \
         of y, and Z is H and the upper half of L.",
    );
    say(
        any(&|panel| panel.title.contains("square of x")),
        "Of a number x the low half is xl, the high half xh, and xd is their difference without its sign.",
    );
    say(
        picture.strips().next().is_some(),
        "A strip has a square for each word, word 0 on the right. Its colour says at which product the word is first needed, or \
         is complete. The target decides when it loads a word, whether it loads it again, and when it stores a word of the \
         result. The picture does not show this, but a listing does (lozenge show).",
    );
    notes
}

/// Are products by words of the modulus left out, more than those by its lowest word?
fn lacks(panel: &Panel) -> bool {
    let is_reduction = |dot: &crate::draw::picture::Dot| dot.kind == Kind::Reduction;
    panel.dots.iter().any(is_reduction)
        && panel
            .edges
            .as_ref()
            .is_some_and(|[q, m]| panel.dots.len() < q.words * (m.words - 1))
}
