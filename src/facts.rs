//! All that a method may know of a target.

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

    /// Registers left for operand words.
    pub fn operand_registers(&self) -> usize {
        self.free_registers
            .saturating_sub(self.accumulator_registers + self.constant_registers)
    }
}
