//! The prototype of a kernel, for C and for C++.

use crate::report::{Report, SourceReport};

impl Report {
    /// The C prototype, as C99 has it: what may not overlap is `restrict`.
    pub fn prototype(&self) -> String {
        let spec = &self.spec;
        let restricted = self.restricted();
        let argument = |(name, bytes): (&str, usize)| {
            let words = 8 * bytes / spec.word_bits as usize;
            match restricted.contains(&name) {
                true => format!("{name}[restrict {words}]"),
                false => format!("{name}[{words}]"),
            }
        };
        self.declared(argument)
    }

    /// The same for C++, which has no `restrict`: with the word `keyword` instead.
    pub fn prototype_in_cpp(&self, keyword: &str) -> String {
        let restricted = self.restricted();
        self.declared(|(name, _)| match restricted.contains(&name) {
            true => format!("*{keyword} {name}"),
            false => format!("*{name}"),
        })
    }

    fn declared(&self, argument: impl Fn((&str, usize)) -> String) -> String {
        let spec = &self.spec;
        let word = format!("uint{}_t", spec.word_bits);
        let result = format!("{word} {}", argument(("r", spec.result_bytes)));
        let source = |s: &SourceReport| format!("const {word} {}", argument((s.name, s.bytes)));
        let sources = spec.sources.iter().map(source);
        let arguments: Vec<_> = std::iter::once(result).chain(sources).collect();
        let returned = if spec.returns { &word } else { "void" };
        format!("{returned} {}({});", spec.symbol, arguments.join(", "))
    }

    /// The arguments that C may take to share no memory that is written: the result, unless it may be an operand;
    /// then the operands that it may not be.
    fn restricted(&self) -> Vec<&'static str> {
        let may_be = |name: &str| match name {
            "a" => self.may_coincide("r == a"),
            "b" => self.may_coincide("r == b"),
            _ => false,
        };
        let names = self.spec.sources.iter().map(|s| s.name);
        let (shared, apart): (Vec<_>, Vec<_>) = names.partition(|name| may_be(name));
        match shared.is_empty() {
            true => vec!["r"],
            false => apart,
        }
    }
}
