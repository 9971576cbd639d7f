//! What the verdicts on somebody's function take for granted of its callers, its linker and of interrupts.

use machine::function::Function;
use serde::Serialize;

/// What is assumed, in words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Assumes {
    /// How operands are made of words, and their addresses.
    pub operands: String,
    /// What may lie where.
    pub layout: String,
    /// What interrupt handlers may do.
    pub interrupts: &'static str,
}

impl Assumes {
    /// Of operands that are arrays of `word_bits` bits at multiples of `align` bytes, and of those that callers pass as one
    /// pointer (`r == a`); of what a function says of its arguments, and whether a linker is still to place its code.
    pub fn of(word_bits: u32, align: u32, together: Option<&str>, function: &Function) -> Self {
        let movable = function.movable;
        let one = together.map_or(String::new(), |case| format!("; {case}: one pointer"));
        let apart = match function.inverse_is_passed() {
            true => "; m' is an argument and does not lie behind m",
            false => "",
        };
        let code = match movable {
            true => "code and constants lie where a linker puts them",
            false => "code and constants lie where the file says",
        };
        Self {
            operands: format!(
                "arrays of {word_bits}-bit words, at multiples of {align} bytes{apart}"
            ),
            layout: format!(
                "operands lie apart unless aliasing says proved{one}; none wraps around the address space; {code}"
            ),
            interrupts: "may come after any instruction; handlers give registers back and write only below the stack pointer",
        }
    }

    /// The lines of a report: what each is about, and what is assumed.
    pub fn lines(&self) -> [(&'static str, &str); 3] {
        [
            ("operands", &self.operands),
            ("layout", &self.layout),
            ("interrupts", self.interrupts),
        ]
    }
}
