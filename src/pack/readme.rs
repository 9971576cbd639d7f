//! The README of a pack: ten lines.

use crate::gnu::Gnu;
use crate::pack::made::Made;

/// The file.
pub fn readme(made: &Made<'_>, library: Option<String>) -> String {
    let Made { name, title, .. } = made;
    let core = made.target.core_name();
    let chip = made.target.part_name().unwrap_or(&core);
    let gnu = Gnu::of(made.target);
    let (program, flags) = (gnu.program, gnu.flags.join(" "));
    let runs = match made.target.word_bits() {
        8 => format!("simavr -m {chip} -f 8000000 selftest.elf"),
        _ => "qemu (arm, mipsel, riscv32) in user mode".into(),
    };
    let (files, calls) = match made.whole {
        Some(whole) => (" x25519.c", whole.readme()),
        None => ("", String::new()),
    };
    let library = match library {
        Some(text) => format!("\n{text}\n"),
        None => String::new(),
    };
    format!(
        "# {name} for {chip}\n\n\
         {title}: {} functions, {} bytes of code, at most {} bytes of stack below the caller's, made by `{}`.\n\n\
         {calls}Include `{file}.h` and link the `.o` files, or assemble the `.S` files, which are the same bytes. \
         `manifest.json` has each function's contract, verdicts, cycles, bytes and stack.\n\n\
         Test it: `{program} {flags} -Os selftest.c{files} *.o -o selftest.elf`, then {runs}; it prints PASS.\n\n\
         Prove it again, in your own program: `lozenge check firmware.elf --manifest manifest.json`.\n\
         {library}\n\
         Licence: {}, at your choice.\n",
        made.kernels.len(),
        made.bytes(),
        made.stack(),
        made.command,
        crate::emit::banner::LICENCE,
        file = made.file,
    )
}
