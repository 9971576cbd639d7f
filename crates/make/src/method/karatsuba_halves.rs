//! The halves of a factor: their differences, and the words of a product that its lower half determines.

use crate::method::bottom::{Pair, layers};
use crate::method::karatsuba_plans::Plan;
use crate::method::square_product_scanning::Sink;
use crate::schedule::{End, Sum, Word, Words};

/// The lowest words of the result, given to `sink`, and what they carry: the caller's addends there are added
/// on their own.
pub(super) fn low_words(
    f: &mut Words,
    l_lo: &[Word],
    addends: &[Vec<Word>],
    sink: &mut Sink<'_>,
) -> (Vec<Word>, Vec<Word>) {
    let (mut result, mut carries) = (l_lo.to_vec(), Vec::new());
    for layer in layers(&addends[..addends.len().min(l_lo.len())]) {
        let carry = f.fresh();
        let pairs = result.iter().zip(&layer).map(|(x, y)| (Some(*x), *y));
        result = f.links(Sum::Add, pairs.collect(), End::Carry { out: carry });
        carries.push(carry);
    }
    sink(f, &result);
    (result, carries)
}

/// The lower halves of factors, of `low` words, and the upper ones.
pub(super) fn halved<'a>(factors: &[Pair<'a>], low: usize) -> (Vec<Pair<'a>>, Vec<Pair<'a>>) {
    let halves = factors.iter().map(|(x, y)| {
        let ((xl, xh), (yl, yh)) = (x.split_at(low), y.split_at(low));
        ((xl, yl), (xh, yh))
    });
    halves.unzip()
}

/// The differences of halves, `xl - xh` or `yh - yl`, with their signs.
pub(super) fn differences(
    f: &mut Words,
    lower: &[Pair<'_>],
    upper: &[Pair<'_>],
    of_x: bool,
    plan: Plan,
) -> Vec<(Vec<Word>, Word)> {
    let pairs = lower.iter().zip(upper);
    let difference = |((xl, yl), (xh, yh)): (&Pair<'_>, &Pair<'_>)| match of_x {
        true => plan.difference(f, xl, xh),
        false => plan.difference(f, yh, yl),
    };
    pairs.map(difference).collect()
}
