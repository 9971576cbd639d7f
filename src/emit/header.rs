//! The C and C++ header.

use super::banner;
use crate::report::Report;

/// The `.h` file.
pub fn header(report: &Report) -> String {
    let symbol = &report.spec.symbol;
    let guard = format!("LOZENGE_{}_H", symbol.to_uppercase());
    let upper = symbol.to_uppercase();
    let spec = &report.spec;
    let alignment = match spec.word_bits {
        8 => String::new(),
        bits => format!("Pointers are aligned to words of {bits} bits.\n * "),
    };
    let mut text = banner::comment(report, &format!("{symbol}.h"));
    text.push_str(&format!(
        "#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n\n\
         #define {upper}_OPERAND_BYTES {}\n\
         #define {upper}_RESULT_BYTES {}\n\
         #define {upper}_STACK_BYTES {}\n\
         #define {upper}_CYCLES {}UL\n\n\
         #ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
        spec.operand_bytes, spec.result_bytes, report.stack_bytes, report.cycles.call.max,
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
