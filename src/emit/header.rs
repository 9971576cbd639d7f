//! The C and C++ header.

use machine::format::Dialect;

use crate::emit::banner;
use crate::report::{Report, SourceReport, SpecReport};

/// The `.h` file.
pub fn header(report: &Report, dialect: &Dialect) -> String {
    let symbol = &report.spec.symbol;
    let guard = format!("LOZENGE_{}_H", symbol.to_uppercase());
    let mut text = banner::comment(report, &format!("{symbol}.h"));
    for stranger in dialect.strangers {
        text.push_str(&stranger.refusal(symbol));
    }
    text.push_str(&format!(
        "#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n\n"
    ));
    text.push_str(&defines(report));
    text.push_str("\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    text.push_str(&declaration(report));
    text.push_str("#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    text
}

/// Its sizes, costs and numbers.
pub fn defines(report: &Report) -> String {
    let spec = &report.spec;
    let upper = spec.symbol.to_uppercase();
    format!(
        "{}{}\
         #define {upper}_RESULT_BYTES {}\n\
         #define {upper}_STACK_BYTES {}\n\
         #define {upper}_CYCLES {}UL\n\
         #define {upper}_CONSTANT_TIME {}\n",
        sizes(report, &upper),
        constants(spec, &upper),
        spec.result_bytes,
        report.stack_bytes,
        report.cycles.call.max,
        u8::from(report.time(&report.core) == "proved"),
    )
}

/// The function, with its contract.
pub fn declaration(report: &Report) -> String {
    let spec = &report.spec;
    let alignment = match spec.word_bits {
        8 => String::new(),
        bits => format!("Pointers are aligned to words of {bits} bits.\n * "),
    };
    format!(
        "/* {}. The least significant word comes first.\n * {}{}{}Aliasing {}.\n */\n{}\n\n",
        spec.equation,
        spec.shorter.as_ref().map_or(String::new(), |rule| format!(
            "Shorter operands: {rule}.\n * "
        )),
        contract(spec),
        alignment,
        report.aliasing_text(),
        prototypes(report),
    )
}

/// The function, for C and C++: each has its own way to say what does not overlap.
fn prototypes(report: &Report) -> String {
    let c = report.prototype();
    let old = c.replace("[restrict ", "[");
    let cpp = report.prototype_in_cpp("__restrict");
    format!(
        "#if defined(__cplusplus)\nextern {cpp}\n\
         #elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L\nextern {c}\n\
         #else\nextern {old}\n#endif"
    )
}

/// What operands and result are below, for the comment.
fn contract(spec: &SpecReport) -> String {
    match &spec.modular {
        Some(modular) => format!("{}.\n * ", modular.contract),
        None => String::new(),
    }
}

/// Initialisers of arrays of words: a fixed modulus, and numbers that go with it.
fn constants(spec: &SpecReport, upper: &str) -> String {
    let Some(modular) = &spec.modular else {
        return String::new();
    };
    let digits = spec.word_bits as usize / 4;
    let words = |hex: &str| {
        let hex = hex.trim_start_matches("0x");
        let whole = format!("{hex:0>width$}", width = spec.bits as usize / 4);
        let starts = (0..whole.len()).step_by(digits).rev();
        let words: Vec<_> = starts
            .map(|at| format!("0x{}", &whole[at..at + digits]))
            .collect();
        words.join(", ")
    };
    let mut text = String::new();
    if modular.modulus.starts_with("0x") {
        text += &format!(
            "#define {upper}_MODULUS {{ {} }}\n",
            words(&modular.modulus)
        );
    }
    for (name, hex) in &modular.constants {
        text += &match *name {
            "mprime" => format!("#define {upper}_MPRIME {hex}\n"),
            name => format!(
                "#define {upper}_{} {{ {} }}\n",
                name.to_uppercase(),
                words(hex)
            ),
        };
    }
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
