//! Assembly for IAR's assemblers of AVR, ARM and MSP430.
//!
//! Source: IAR Assembler User Guides for AVR and for Arm, *Assembler directives*: MODULE and
//! END, PUBLIC, RSEG (AVR) or SECTION (Arm) with segment type, NOROOT and alignment as a power
//! of two; labels at the start of a line; comments after a semicolon. The file of an MSP430 has the form of AVR's, with DC16 for
//! words, as examples have it: neither IAR's guide to that assembler nor the assembler was at hand.

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
        Architecture::Avr | Architecture::Msp430 => "\tRSEG CODE:CODE:NOROOT(1)\n",
        _ => "\tSECTION `.text`:CODE:NOROOT(2)\n\tARM\n",
    };
    text += &format!("{symbol}:\n");
    let lines = listing::text(kernel, symbol, ":")?;
    text += &match kernel.core.object_format().architecture {
        Architecture::Msp430 => listing::with_names(&lines).replace("\t.word ", "\tDC16 "),
        _ => lines,
    };
    text += "\tEND\n";
    Ok(text)
}
