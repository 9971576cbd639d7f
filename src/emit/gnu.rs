//! Assembly for GNU as: the decoded bytes, one instruction a line.

use crate::emit::banner;
use crate::hints;
use crate::kernel::Kernel;
use crate::report::Report;

/// The `.S` file.
pub fn assembly(kernel: &Kernel, report: &Report) -> String {
    let dialect = kernel.core.dialect();
    let symbol = &report.spec.symbol;
    let mut text = banner::comment(report, &format!("{symbol}.S"));
    text.push_str(&format!("\n#if {}\n", dialect.guard));
    text.push_str(&dialect.refusals(symbol));
    text.push_str(dialect.preamble);
    text.push_str(&format!("\t.section .text.{symbol},\"ax\",%progbits\n"));
    text.push_str(dialect.align);
    text.push_str(&format!("\t.global {symbol}\n"));
    text.push_str(&format!("\t.type {symbol}, %function\n{symbol}:\n"));
    let mut notes = kernel.program.notes.iter().peekable();
    for (i, insn) in kernel.program.insns.iter().enumerate() {
        while let Some((_, note)) = notes.next_if(|(at, _)| *at <= i) {
            text.push_str(&format!("\t/* {note} */\n"));
        }
        text.push_str(&format!("\t{}\n", insn.text()));
    }
    text.push_str(&format!("\t.size {symbol}, . - {symbol}\n"));
    let claims = kernel.claims();
    if !claims.is_empty() {
        let text_section = format!("\t.section {},\"\",%progbits\n", hints::SECTION);
        text += "\t/* Hints for `lozenge check`, which proves them before it uses them: no memory is taken. */\n";
        text += &text_section;
        for line in hints::encode(symbol, &claims).chunks(32) {
            let numbers: Vec<_> = line.iter().map(u8::to_string).collect();
            text += &format!("\t.byte {}\n", numbers.join(","));
        }
    }
    // As GCC does where Linux is meant: without it ld makes the stack executable.
    text.push_str("#ifdef __linux__\n\t.section .note.GNU-stack,\"\",%progbits\n#endif\n");
    text.push_str("#endif\n");
    exact(&text)
}

/// May instructions be short, or only long?
const SHORT: &str = "\t.option rvc";
const LONG: &str = "\t.option norvc";

/// The same where RISC-V has instructions of 16 bits, with each one said to be short or long: branches here name distances,
/// and an assembler that chooses lengths by itself may choose others.
pub fn exact(text: &str) -> String {
    let mut lines = String::new();
    // Nothing is said where there is one length only.
    let mut last = None;
    for line in text.lines() {
        let is_code =
            line.starts_with('\t') && !line.starts_with("\t.") && !line.starts_with("\t/*");
        let option = match line.starts_with("\tc.") {
            true => SHORT,
            false => LONG,
        };
        if line == SHORT || line == LONG {
            last = Some(line);
        } else if is_code && last.is_some_and(|last| last != option) {
            last = Some(option);
            lines += &format!("{option}\n");
        }
        lines += &format!("{line}\n");
    }
    lines
}
