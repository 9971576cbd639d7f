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
pub mod ti;

pub use machine::format::{Assembler, ObjectFormat};

use crate::kernel::Kernel;
use crate::report::Report;

/// The assembly file.
///
/// # Errors
/// What the listing says.
pub fn assembly(assembler: Assembler, kernel: &Kernel, report: &Report) -> Result<String, String> {
    match assembler {
        Assembler::Gnu => Ok(gnu::assembly(kernel, report)),
        Assembler::Iar => iar::assembly(kernel, report),
        Assembler::CrossWorks => crossworks::assembly(kernel, report),
        Assembler::Armasm => armasm::assembly(kernel, report),
        Assembler::Ti => ti::assembly(kernel, report),
    }
}
