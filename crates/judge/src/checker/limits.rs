//! Sizes that an entry may name: words of at most 32 bits, cut within themselves, and numbers of at most a million bits.
//!
//! What a run writes down never names others. A file may, and no shift of the checker's may overflow for it.

use machine::domain::trace::{Change, Entry, Equation, Step};
use machine::domain::variable::{BitValue, Value};

use crate::checker::refused::Check;

/// The widest word.
const WIDEST: u32 = 32;
/// The most bits of a number.
const LONGEST: u64 = 1 << 20;

/// A number of bits that a reason names, if it is one.
pub(super) fn number(bits: u64) -> Check<u64> {
    match bits <= LONGEST {
        true => Ok(bits),
        false => Err("a number is too long"),
    }
}

fn word(w: u32) -> bool {
    (1..=WIDEST).contains(&w)
}

fn bit(bit: &BitValue) -> bool {
    match bit {
        BitValue::Top { w, .. } => word(*w),
        BitValue::Public(_) | BitValue::Var(_) | BitValue::Zero { .. } | BitValue::Opaque => true,
    }
}

fn bits(w: u32, words: usize) -> bool {
    u64::from(w).saturating_mul(words as u64) <= LONGEST
}

fn numbers(w: u32, list: &[&[Value]]) -> bool {
    word(w) && list.iter().all(|words| bits(w, words.len()))
}

fn equation(e: &Equation) -> bool {
    let term = |t: &machine::domain::trace::Product| {
        bits(e.w, t.shift) && numbers(e.w, &[&t.x, &t.y]) && (t.sign == 1 || t.sign == -1)
    };
    numbers(e.w, &[&e.words]) && bits(e.w, e.lead) && e.terms.iter().all(term)
}

/// Are all sizes of an entry among them?
pub(super) fn are_kept(entry: &Entry) -> bool {
    match entry {
        Entry::Unknown { w, .. }
        | Entry::Sum { w, .. }
        | Entry::Product { w, .. }
        | Entry::Logic { w, .. }
        | Entry::Turn { w, .. } => word(*w),
        Entry::Halved { w, .. } => word(*w) && *w > 1,
        Entry::Select { w, bit: by, .. } => word(*w) && bit(by),
        Entry::SelectBit {
            bit: by, x, y, out, ..
        } => [by, x, y, out].into_iter().all(bit),
        Entry::Gate { x, y, out, .. } => [x, y, out].into_iter().all(bit),
        Entry::Named { bit: of, name } => bit(of) && bit(name),
        Entry::Cut { w, k, .. } => word(*w) && word(*k) && k < w,
        Entry::Digits { digits, .. } => word(digits.len() as u32) && digits.len() < 64,
        Entry::Slice { w, from, v, .. } => {
            word(*w) && word(*v) && from.checked_add(*v).is_some_and(|end| end <= *w)
        }
        Entry::Join { pieces, w, .. } => word(*w) && pieces.iter().all(|(_, shift)| shift < w),
        Entry::Shift {
            w, count, bit: out, ..
        } => word(*w) && word(*count) && count < w && bit(out),
        Entry::WithBit { index, bit: by, .. } => *index < WIDEST && bit(by),
        Entry::Bit { w, index, out, .. } => word(*w) && index < w && bit(out),
        Entry::Extend { from, to, .. } => word(*from) && word(*to) && from <= to,
        Entry::LowBits { count, .. } => word(*count),
        Entry::IsZero { out, .. } => bit(out),
        Entry::Zero { .. } | Entry::UnknownBit { .. } => true,
        Entry::Step(step) => is_kept(step),
    }
}

fn is_kept(step: &Step) -> bool {
    match step {
        Step::Bound { .. }
        | Step::Exclusive { .. }
        | Step::Below { .. }
        | Step::Bit { .. }
        | Step::Around { .. }
        | Step::Odd { .. }
        | Step::Newton { .. }
        | Step::Even { .. }
        | Step::Factor { .. }
        | Step::Follows { .. }
        | Step::NeverSet { .. } => true,
        Step::Inverse { bits, .. } => *bits <= WIDEST.into(),
        Step::Quotient { w, .. } => word(*w),
        Step::Inverses { m, inverse, w } => numbers(*w, &[m, inverse]),
        Step::Claim { equation: e, .. }
        | Step::LongQuotient { equation: e, .. }
        | Step::Half { equation: e, .. }
        | Step::Signed { equation: e, .. } => equation(e),
        Step::Magnitude {
            equation: e,
            wrapped,
            ..
        } => equation(e) && numbers(e.w, &[wrapped]),
        Step::Joint { change, .. } => match change {
            Change::Raise { shift, .. } | Change::Put { shift, .. } => u64::from(*shift) <= LONGEST,
            Change::Slice { from, w, shift, .. } => {
                word(*w) && bits(*w, *from as usize) && u64::from(*shift) <= LONGEST
            }
            Change::Start
            | Change::Product { .. }
            | Change::Claim { .. }
            | Change::Mask { .. }
            | Change::Choose { .. }
            | Change::Bounds { .. } => true,
        },
    }
}
