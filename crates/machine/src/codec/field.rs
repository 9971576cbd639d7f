//! Where the bits of one operand lie in the code, and how they are read.

/// How the number in an operand's bits is read: `base + step * bits`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    pub base: i64,
    pub step: i64,
    /// Two's complement.
    pub signed: bool,
    /// Bits of the number that stand inverted in the code.
    pub inverted: i64,
    /// For each bit of the operand in the pattern, from the highest on, its place in the number; none if they descend.
    pub order: &'static [u32],
}

impl Reading {
    /// A number from 0 on.
    pub const PLAIN: Self = Self {
        base: 0,
        step: 1,
        signed: false,
        inverted: 0,
        order: &[],
    };
    /// A number in two's complement.
    pub const SIGNED: Self = Self {
        signed: true,
        ..Self::PLAIN
    };
}

/// Bits that lie side by side in the code and in a number: how many, and the lowest of them in either.
#[derive(Clone, Copy, Debug)]
struct Run {
    bits: u32,
    code: u32,
    number: u32,
}

/// Where the bits of one operand lie, and how they are read.
#[derive(Clone, Debug)]
pub struct Field {
    pub letter: char,
    /// How many.
    pub bits: u32,
    pub reading: Reading,
    /// Does it stand for an operand for the second time?
    pub(super) repeats: bool,
    runs: Vec<Run>,
}

/// An operand's letter, its smallest and largest number, and the step from one to the next.
pub type Range = (char, i64, i64, i64);

impl Field {
    /// `places` are the bits of the operand in the code, from the highest on.
    pub(super) fn new(letter: char, places: &[u32], reading: Reading, repeats: bool) -> Self {
        let bits = places.len() as u32;
        let mut runs: Vec<Run> = Vec::new();
        for (i, code) in places.iter().enumerate() {
            let plain = bits - 1 - i as u32;
            let number = reading.order.get(i).copied().unwrap_or(plain);
            match runs.last_mut() {
                Some(run) if run.code == code + 1 && run.number == number + 1 => {
                    (run.bits, run.code, run.number) = (run.bits + 1, *code, number);
                }
                _ => runs.push(Run {
                    bits: 1,
                    code: *code,
                    number,
                }),
            }
        }
        Self {
            letter,
            bits,
            reading,
            repeats,
            runs,
        }
    }

    /// The number in `code`.
    pub(super) fn read(&self, code: u32) -> i64 {
        let part = |run: &Run| (i64::from(code >> run.code) & ((1 << run.bits) - 1)) << run.number;
        let bits = self.runs.iter().map(part).sum::<i64>() ^ self.reading.inverted;
        let above = match self.reading.signed && bits >> (self.bits - 1) & 1 == 1 {
            true => 1i64 << self.bits,
            false => 0,
        };
        self.reading.base + self.reading.step * (bits - above)
    }

    /// The bits of `number` in the code; none if it does not fit.
    pub(super) fn write(&self, number: i64) -> Option<u32> {
        let (_, least, most, step) = self.range();
        let raw = number - self.reading.base;
        if number < least || number > most || raw % step != 0 {
            return None;
        }
        let bits = (raw / step) ^ self.reading.inverted;
        let part = |run: &Run| ((bits >> run.number & ((1 << run.bits) - 1)) as u32) << run.code;
        Some(self.runs.iter().map(part).sum())
    }

    /// The numbers that fit.
    pub(super) fn range(&self) -> Range {
        let Reading {
            base, step, signed, ..
        } = self.reading;
        let count = 1i64 << self.bits;
        let first = if signed { -count / 2 } else { 0 };
        let at = |bits: i64| base + step * bits;
        (self.letter, at(first), at(first + count - 1), step)
    }
}
