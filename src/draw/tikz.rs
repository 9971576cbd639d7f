//! The rhombus for papers: a `tikzpicture`, a circle for each product.

use std::fmt::Write;

use crate::draw::colour;
use crate::draw::picture::{Kind, Picture};

/// The picture, for `\input`: it needs the package `tikz` alone.
pub fn tikz(picture: &Picture) -> String {
    let all = picture.dots().count();
    let columns = picture.dots().map(|dot| dot.column).max().unwrap_or(0);
    // 14 cm wide at most.
    let step = (14.0 / f64::from(columns + 2)).min(0.5);
    let mut text = format!(
        "% {}\n% {}\n\\begin{{tikzpicture}}[x={step:.4}cm,y={:.4}cm]\n",
        picture.title,
        picture.summary,
        step / 2.0
    );
    let mut lowest = 0;
    for panel in &picture.panels {
        let most = panel.dots.iter().map(|dot| dot.height).max().unwrap_or(0);
        let least = panel.dots.iter().map(|dot| dot.height).min().unwrap_or(0);
        let base = lowest - most - 2;
        let title = panel.title.replace('^', "\\^{}").replace('_', "\\_");
        let _ = writeln!(
            text,
            "  \\node[right] at ({},{}) {{{title}}};",
            -columns,
            base + most + 2
        );
        for dot in &panel.dots {
            let [red, green, blue] = colour::of(dot.order, all);
            let edge = match dot.kind {
                Kind::Operands => "black",
                Kind::Reduction => "orange",
                Kind::Number => "teal",
                Kind::Computed => "violet",
            };
            let _ = writeln!(
                text,
                "  \\draw[{edge},fill={{rgb,255:red,{red};green,{green};blue,{blue}}}] ({},{}) circle[radius={:.4}cm]; % {}",
                -dot.column,
                base + dot.height,
                step * 0.4,
                dot.name
            );
        }
        lowest = base + least - 3;
    }
    text += "\\end{tikzpicture}\n";
    text
}
