//! Assembly for IAR's assemblers of AVR and ARM.
//!
//! Source: IAR Assembler User Guides for AVR and for Arm, *Assembler directives*: MODULE and
//! END, PUBLIC, RSEG (AVR) or SECTION (Arm) with segment type, NOROOT and alignment as a power
//! of two; labels at the start of a line; comments after a semicolon.

use object::Architecture;

use crate::emit::{banner, listing};
use crate::kernel::Kernel;
use crate::report::Report;

/// The `.s90` (AVR) or `.s` (ARM) file.
///
/// # Errors
/// What the listing says.
pub fn assembly(kernel: &Kernel, report: &Report) -> Result<String, String> {
    let symbol = &report.spec.symbol;
    let mut text = banner::semicolons(report, symbol);
    text += &format!("\n\tMODULE {symbol}\n\tPUBLIC {symbol}\n");
    text += match kernel.core.object_format().architecture {
        Architecture::Avr => "\tRSEG CODE:CODE:NOROOT(1)\n",
        _ => "\tSECTION `.text`:CODE:NOROOT(2)\n\tARM\n",
    };
    text += &format!("{symbol}:\n");
    text += &listing::text(kernel, symbol, ":")?;
    text += "\tEND\n";
    Ok(text)
}
