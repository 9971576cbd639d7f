//! What panels and legend of an SVG share: margins, text, and the class of a dot.

use crate::draw::picture::Kind;

/// Columns of dots from which on several products are one cell.
pub const MANY: i32 = 96;
/// On each side of the drawing.
pub const MARGIN: f64 = 60.0;

/// Text that may stand in XML.
pub fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

/// Text in lines of at most so many characters, unless a word is longer.
pub fn wrapped(text: &str, most: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if (line.len() + 1 + word.len()) as f64 <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// The class of a dot of this kind, behind that of all dots.
pub fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Operands => "",
        Kind::Reduction => " reduction",
        Kind::Number => " number",
        Kind::Computed => " computed",
    }
}
