//! Views of a finished kernel: assembly text, C header, linkable object. All of the same bytes.

pub mod armasm;
pub mod banner;
pub mod c_driver;
pub mod crossworks;
pub mod driver;
pub mod elf;
pub mod gnu;
pub mod header;
pub mod iar;
pub mod listing;

pub use machine::format::{Assembler, ObjectFormat};
use machine::isa::Isa;

use crate::kernel::Kernel;
use crate::report::Report;

/// The assembly file.
///
/// # Errors
/// What the listing says.
pub fn assembly<I: Isa>(
    assembler: Assembler,
    kernel: &Kernel<I>,
    core: &I::Core,
    format: &ObjectFormat,
    report: &Report,
) -> Result<String, String> {
    match assembler {
        Assembler::Gnu => Ok(gnu::assembly(kernel, core, report)),
        Assembler::Iar => iar::assembly(kernel, core, format, report),
        Assembler::CrossWorks => crossworks::assembly(kernel, core, report),
        Assembler::Armasm => armasm::assembly(kernel, core, report),
    }
}

/// Is there such an assembler for `core`?
///
/// # Errors
/// Which there are.
pub fn known_to<I: Isa>(assembler: Assembler, core: &str) -> Result<(), String> {
    if I::ASSEMBLERS.contains(&assembler) {
        return Ok(());
    }
    let known: Vec<_> = I::ASSEMBLERS.iter().map(|a| a.name()).collect();
    let (name, known) = (assembler.name(), known.join(" or "));
    Err(format!(
        "there is no {name} assembler for {core}: try --dialect {known}"
    ))
}
