//! The lines that the assembly files for all assemblers share: the decoded bytes one by one, with labels where jumps
//! go.

use std::collections::BTreeSet;

use machine::isa::core::Insn;

use crate::kernel::Kernel;

/// One instruction.
struct Line {
    /// Where a jump goes to: the name of this place.
    label: Option<String>,
    notes: Vec<String>,
    /// As GNU as reads it, but for the label.
    text: String,
}

/// The instructions of `kernel` with comments after a semicolon, labels beginning with `symbol` and
/// ending in `colon`.
///
/// # Errors
/// The address of something that is no instruction.
pub fn text(kernel: &Kernel, symbol: &str, colon: &str) -> Result<String, String> {
    let mut text = String::new();
    for line in lines(kernel, symbol)? {
        for note in line.notes {
            text += &format!("\t; {note}\n");
        }
        if let Some(label) = line.label {
            text += &format!("{label}{colon}\n");
        }
        text += &format!("\t{}\n", line.text);
    }
    Ok(text)
}

/// The lines of an MSP430 with the names that its vendors' assemblers have for PC, SP, SR and the constant generator.
pub fn with_names(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let named = |word: &str| match word {
        "r0" => "PC".into(),
        "r1" => "SP".into(),
        "r2" => "SR".into(),
        "r3" => "CG2".into(),
        _ => word.to_string(),
    };
    let line = |line: &str| {
        if !line.starts_with('\t') || line.starts_with("\t;") {
            return line.to_string();
        }
        let words = line.split_inclusive(|c| !is_part(c)).map(|piece| {
            let word = piece.trim_end_matches(|c| !is_part(c));
            named(word) + &piece[word.len()..]
        });
        words.collect()
    };
    text.split_inclusive('\n').map(line).collect()
}

fn lines(kernel: &Kernel, symbol: &str) -> Result<Vec<Line>, String> {
    let decoded = kernel
        .core
        .decode(&kernel.code)
        .map_err(|at| format!("{at:#x} is not an instruction (a defect of this tool)"))?;
    let target = |at: usize, insn: &Insn| Some(at.wrapping_add_signed(insn.jump()? as isize));
    let name = |at: usize| format!("{symbol}_{at}");
    let places = decoded.iter().filter_map(|(at, insn)| target(*at, insn));
    let places: BTreeSet<usize> = places.collect();
    let mut notes = kernel.program.notes.iter().peekable();
    let mut list = Vec::with_capacity(decoded.len());
    for (i, (at, insn)) in decoded.iter().enumerate() {
        let mut here = Vec::new();
        while let Some((_, note)) = notes.next_if(|(at, _)| *at <= i) {
            here.push(note.clone());
        }
        let text = insn.text();
        list.push(Line {
            label: places.contains(at).then(|| name(*at)),
            notes: here,
            // A relative target is the last operand, `.+n` or `$+n`.
            text: match (target(*at, insn), text.rfind(['.', '$'])) {
                (Some(to), Some(dot)) => text[..dot].to_string() + &name(to),
                _ => text,
            },
        });
    }
    Ok(list)
}
