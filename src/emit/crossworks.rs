//! Assembly for the assembler of Rowley's CrossWorks for AVR, which the papers used.
//!
//! `.code` selects the code section, `.public` exports a symbol, labels end in a colon, comments
//! follow a semicolon. Only our own parser has read such files so far: neither the assembler nor
//! its manual was at hand.

use crate::emit::{banner, listing};
use crate::kernel::Kernel;
use crate::report::Report;

/// The `.asm` file.
///
/// # Errors
/// What the listing says.
pub fn assembly(kernel: &Kernel, report: &Report) -> Result<String, String> {
    let symbol = &report.spec.symbol;
    let mut text = banner::semicolons(report, symbol);
    text += &format!("\n\t.code\n\t.public {symbol}\n{symbol}:\n");
    text += &listing::text(kernel, symbol, ":")?;
    text += "\t.end\n";
    Ok(text)
}
