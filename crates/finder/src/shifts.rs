//! Shifts of words in the algebra: what falls out and what stays are the two parts of a word cut in two.

use machine::domain::Shift;
use machine::domain::variable::{BitValue, Value};

use crate::algebra::Algebra;

impl Algebra {
    /// Bits of `a` one place down below the bit `top`, and the bit that fell out.
    pub(crate) fn find_turn<const W: u32>(&mut self, a: Value, top: Value) -> (Value, BitValue) {
        // a = 2 hi + out, word = hi + 2^(W-1) top.
        let (out, half) = self.split(a, 1, W);
        let word = self.weighted_sum(&[(half, 1), (top, 1 << (W - 1))], W);
        (word, Self::as_bit(out))
    }

    /// `a` shifted by `count`, and the bit that fell out last.
    pub(crate) fn find_shift<const W: u32>(
        &mut self,
        kind: Shift,
        a: &Value,
        count: u32,
    ) -> (Value, BitValue) {
        if let Some(shifted) = self.shift_sign::<W>(kind, *a, count) {
            return shifted;
        }
        match kind {
            // word = 2^count lo, a = lo + 2^(W-count) over.
            Shift::Left => {
                let (lo, over) = self.split(*a, W - count, W);
                let word = self.weighted_sum(&[(lo, 1 << count)], W);
                let out = match count {
                    1 => Self::as_bit(over),
                    _ => BitValue::Opaque,
                };
                (word, out)
            }
            // a = rest + 2^count word.
            Shift::Right | Shift::RotateRight => {
                let (rest, word) = self.split(*a, count, W);
                let out = match count {
                    1 => Self::as_bit(rest),
                    _ => BitValue::Opaque,
                };
                match kind {
                    Shift::Right => (word, out),
                    _ => {
                        let turned = [(rest, 1 << (W - count)), (word, 1)];
                        (self.weighted_sum(&turned, W), out)
                    }
                }
            }
            Shift::ArithmeticRight if self.bound(*a, W) >> (W - 1) == 0 => {
                self.find_shift::<W>(Shift::Right, a, count)
            }
            Shift::ArithmeticRight => (self.shift_signed::<W>(*a, count), BitValue::Opaque),
        }
    }
}
