//! Assembly for TI's assembler of the MSP430, which cl430 calls.
//!
//! Source: SLAU131, *MSP430 Assembly Language Tools User's Guide*, chapters 4 (source statements, constants, symbols) and 5
//! (directives): .def exports, .sect names a section, .align takes bytes, .asmfunc and .endasmfunc are around a function,
//! .end ends; labels at the start of a line; comments after a semicolon. The guide was seen in part, and the assembler was not
//! at hand.

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
    text += &format!("\n\t.def {symbol}\n\t.sect \".text:{symbol}\"\n\t.align 2\n");
    text += &format!("{symbol}:\t.asmfunc\n");
    text += &listing::with_names(&listing::text(kernel, symbol, ":")?);
    text += "\t.endasmfunc\n\t.end\n";
    Ok(text)
}
