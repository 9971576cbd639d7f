//! What every assembly file says, whoever's assembler reads it: the decoded bytes line by line,
//! with labels where jumps go.

use std::collections::BTreeSet;

use crate::isa::Isa;
use crate::kernel::Kernel;

/// One instruction.
pub struct Line {
    /// Where a jump goes to: the name of this place.
    pub label: Option<String>,
    pub notes: Vec<String>,
    /// As GNU as reads it, but for the label.
    pub text: String,
}

/// The instructions of `kernel`, labels beginning with `symbol`.
///
/// # Errors
/// The address of something that is no instruction.
pub fn lines<I: Isa>(
    kernel: &Kernel<I>,
    core: &I::Core,
    symbol: &str,
) -> Result<Vec<Line>, String> {
    let decoded = I::decode(core, &kernel.code)
        .map_err(|at| format!("{at:#x} is not an instruction (a defect of this tool)"))?;
    let target = |at: usize, insn: &I::Insn| Some(at.wrapping_add_signed(I::jump(insn)? as isize));
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
        let text = I::text(insn);
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
