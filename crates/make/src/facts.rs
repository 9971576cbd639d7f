//! Everything that a method may know about a target: word size and registers.

/// How much of a kernel is written out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// All of it: nothing is executed twice.
    #[default]
    Unrolled,
    /// Columns that are alike are loops.
    Looped,
    /// So are blocks that are alike: the size of the code does not depend on the operands'.
    Rolled,
}

impl Style {
    /// All of them, fastest first.
    pub const ALL: [Style; 3] = [Style::Unrolled, Style::Looped, Style::Rolled];

    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Style::Unrolled => "unrolled",
            Style::Looped => "looped",
            Style::Rolled => "rolled",
        }
    }
}

impl std::str::FromStr for Style {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Style::ALL.into_iter().find(|s| s.name() == text);
        found.ok_or_else(|| format!("{text} is not a style"))
    }
}

/// Facts of a machine that decide how a method is laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Bits of a word, w.
    pub word_bits: u32,
    /// Registers left for operand words, the accumulator and a zero, once pointers and the
    /// product are placed.
    pub free_registers: usize,
    /// Registers of the accumulator of a column, and those holding constants (zero).
    pub accumulator_registers: usize,
    pub constant_registers: usize,
    /// Registers for a product that is made by additions: two operands, their product, what
    /// controls them. 0 on a machine that multiplies.
    pub tile_registers: usize,
    /// Do the words of the second operand of such a product come from memory one after another, so that a tile has all of
    /// them?
    pub tile_rows: bool,
    /// Does one factor alone stop a multiplication early, and is it the one that a schedule in one time wants?
    pub one_time: bool,
    /// Not of the machine: what is asked of the method.
    pub style: Style,
}

impl Facts {
    /// The same with at most `most` free registers.
    pub fn limited(self, most: Option<usize>) -> Self {
        let free_registers = most.map_or(self.free_registers, |n| n.min(self.free_registers));
        Self {
            free_registers,
            ..self
        }
    }

    /// The same, with `style` asked for.
    pub fn styled(self, style: Style) -> Self {
        Self { style, ..self }
    }

    /// Are the columns of a sweep to be loops? Where products are made by additions, nothing else pays.
    pub fn in_scans(&self) -> bool {
        self.style != Style::Unrolled || self.tile_registers > 0
    }

    /// Registers left for operand words.
    pub fn operand_registers(&self) -> usize {
        self.free_registers
            .saturating_sub(self.accumulator_registers + self.constant_registers)
    }
}
