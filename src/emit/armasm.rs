//! Assembly for ARM's own assembler, armasm (RealView, Keil).
//!
//! Source: ARM Compiler armasm User Guide, *Directives reference*: AREA with CODE, READONLY and
//! ALIGN as a power of two, EXPORT, PROC and ENDP, END; labels at the start of a line, without a
//! colon; comments after a semicolon.

use crate::emit::{banner, listing};
use crate::kernel::Kernel;
use crate::report::Report;

/// The `.s` file.
///
/// # Errors
/// What the listing says.
pub fn assembly(kernel: &Kernel, report: &Report) -> Result<String, String> {
    let symbol = &report.spec.symbol;
    let mut text = banner::semicolons(report, symbol);
    text += &format!("\n\tAREA |.text.{symbol}|, CODE, READONLY, ALIGN=2\n");
    text += &format!("\tARM\n\tEXPORT {symbol}\n{symbol} PROC\n");
    text += &listing::text(kernel, symbol, "")?;
    text += "\tENDP\n\tEND\n";
    Ok(text)
}
