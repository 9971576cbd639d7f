//! The C and C++ header.

use super::{Dialect, banner};
use crate::report::{Report, SourceReport};

/// The `.h` file.
pub fn header(report: &Report, dialect: &Dialect) -> String {
    let symbol = &report.spec.symbol;
    let guard = format!("LOZENGE_{}_H", symbol.to_uppercase());
    let upper = symbol.to_uppercase();
    let spec = &report.spec;
    let alignment = match spec.word_bits {
        8 => String::new(),
        bits => format!("Pointers are aligned to words of {bits} bits.\n * "),
    };
    let mut text = banner::comment(report, &format!("{symbol}.h"));
    if let Some(stranger) = dialect.stranger {
        text.push_str(&format!(
            "#if {stranger}\n#error \"{symbol} is called as {}: this compiler calls in another way\"\n#endif\n",
            report.abi
        ));
    }
    text.push_str(&format!(
        "#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n\n\
         {}\
         #define {upper}_RESULT_BYTES {}\n\
         #define {upper}_STACK_BYTES {}\n\
         #define {upper}_CYCLES {}UL\n\n\
         #ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
        sizes(report, &upper),
        spec.result_bytes,
        report.stack_bytes,
        report.cycles.call.max,
    ));
    text.push_str(&format!(
        "/* {}. The least significant word comes first.\n * {}Aliasing {}.\n */\n{}\n\n",
        spec.equation,
        alignment,
        report.aliasing_text(),
        report.prototype().replace("void ", "extern void "),
    ));
    text.push_str("#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    text
}

/// The bytes of the sources: of all at once if they have as many.
fn sizes(report: &Report, upper: &str) -> String {
    let sources = &report.spec.sources;
    let define = |name: &str, bytes: usize| format!("#define {upper}_{name}_BYTES {bytes}\n");
    let each = |s: &SourceReport| define(&s.name.to_uppercase(), s.bytes);
    match sources.iter().all(|s| s.bytes == sources[0].bytes) {
        true => define("OPERAND", sources[0].bytes),
        false => sources.iter().map(each).collect(),
    }
}
