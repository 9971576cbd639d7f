//! What a kernel may take: bytes of code and of stack.

use std::fmt;

/// Bytes of the shortest instruction that multiplies.
pub const SHORTEST: usize = 2;

/// The most a kernel may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Budget {
    /// Bytes of code.
    pub flash: Option<usize>,
    /// Bytes of stack below the return address.
    pub stack: Option<usize>,
}

impl Budget {
    /// Is there any limit?
    pub fn is_set(&self) -> bool {
        *self != Self::default()
    }

    /// The budget that also allows `flash` and `stack` bytes.
    pub fn widened(&self, flash: usize, stack: usize) -> Self {
        Self {
            flash: self.flash.map(|most| most.max(flash)),
            stack: self.stack.map(|most| most.max(stack)),
        }
    }
}

/// As on the command line.
impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limits = [("flash", self.flash), ("stack", self.stack)];
        let given = limits
            .iter()
            .filter_map(|(name, most)| Some((name, (*most)?)));
        let texts: Vec<_> = given
            .map(|(name, most)| format!("--max-{name} {most}"))
            .collect();
        f.write_str(&texts.join(" "))
    }
}

/// In what a candidate beyond the budget is the best.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extreme {
    /// It has the fewest bytes of code.
    Smallest,
    /// It takes the fewest bytes of stack.
    LeastStack,
}

/// A candidate beyond the budget that comes nearest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Nearest {
    /// Why it is named.
    pub what: Extreme,
    /// Its bytes of code.
    pub flash: usize,
    /// Its bytes of stack below the return address.
    pub stack: usize,
    /// Its method and parameters.
    pub name: String,
    /// The budget that allows it.
    pub budget: Budget,
}

/// The part that a kernel is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    pub part: &'static str,
    /// Bytes of program memory, and where it ends if code reaches no further than that: ` below 64 KB`.
    pub flash: usize,
    pub below: &'static str,
    /// Bytes of data memory, for operands, result and stack.
    pub ram: usize,
}
