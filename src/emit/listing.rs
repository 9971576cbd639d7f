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
            // A relative target is the last operand, `.+n`.
            text: match (target(*at, insn), text.rfind('.')) {
                (Some(to), Some(dot)) => text[..dot].to_string() + &name(to),
                _ => text,
            },
        });
    }
    Ok(list)
}
