//! The rhombus in a terminal: a digit for each product, 0 for the first tenth of all, 9 for the last.

use std::collections::BTreeMap;

use crate::draw::colour;
use crate::draw::picture::{Panel, Picture};

/// Columns of a terminal.
const WIDTH: i32 = 100;

/// The picture as lines of text; in colours, if they are wanted.
pub fn ansi(picture: &Picture, colours: bool) -> String {
    let all = picture.dots().count();
    let mut text = format!("{}\n", picture.title);
    for line in wrapped(&picture.summary) {
        text += &format!("{line}\n");
    }
    for panel in &picture.panels {
        text += &format!("\n{}\n", panel.title);
        text += &lines(panel, all, colours);
    }
    text
}

/// Lines of whole words.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let long = |line: &String| line.len() + 1 + word.len() > WIDTH as usize;
        if lines.last().is_some_and(long) {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// Where several products fall on one place of the terminal, the first of them is shown.
fn lines(panel: &Panel, all: usize, colours: bool) -> String {
    let columns = panel.dots.iter().map(|dot| dot.column).max().unwrap_or(0);
    let scale = columns / WIDTH + 1;
    let mut grid: BTreeMap<(i32, i32), usize> = BTreeMap::new();
    for dot in &panel.dots {
        // Two halves of a height are a line.
        let place = (
            -dot.height.div_euclid(scale),
            (columns - dot.column) / scale,
        );
        grid.entry(place).or_insert(dot.order);
    }
    let mut text = String::new();
    let mut rows: Vec<i32> = grid.keys().map(|(row, _)| *row).collect();
    rows.dedup();
    for row in rows {
        let mut line = String::new();
        for column in 0..=columns / scale {
            match grid.get(&(row, column)) {
                None => line.push(' '),
                Some(order) => {
                    let digit = order * 10 / all.max(1);
                    match colours {
                        true => {
                            let colour = colour::terminal(*order, all);
                            line += &format!("\x1b[38;5;{colour}m{digit}\x1b[0m");
                        }
                        false => line += &digit.to_string(),
                    }
                }
            }
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}
