//! Products by numbers, where there is no multiplier: `x d` in two words, by Horner's rule on the bits of `d`.

use crate::schedule::{Chain, End, Link, Sum, Word, WordStep, Words};

/// Makes products by a number additions, before the sweep that adds them up; other products stay.
pub fn make(words: &mut Words) {
    for step in std::mem::take(&mut words.steps) {
        let WordStep::Sweep(mut sweep) = step else {
            words.push(step);
            continue;
        };
        let mut carried = Vec::new();
        for pile in &mut sweep.piles {
            pile.addends.append(&mut carried);
            for (x, y) in std::mem::take(&mut pile.products) {
                let number = words.known(y).map(|d| (x, d));
                match number.or(words.known(x).map(|d| (y, d))) {
                    None => pile.products.push((x, y)),
                    Some((x, d)) => {
                        let (low, high) = times(words, x, d);
                        pile.addends.extend(low);
                        carried.extend(high);
                    }
                }
            }
        }
        words.push(WordStep::Sweep(sweep));
    }
}

/// `x d`: its words but those that are 0.
fn times(words: &mut Words, x: Word, d: u64) -> (Option<Word>, Option<Word>) {
    let Some(top) = d.checked_ilog2() else {
        return (None, None);
    };
    let (mut low, mut high) = (x, None);
    for bit in (0..top).rev() {
        (low, high) = sum(words, (low, high), (low, high));
        if d >> bit & 1 == 1 {
            (low, high) = sum(words, (low, high), (x, None));
        }
    }
    (Some(low), high)
}

/// `x + y` of two words, which it never leaves.
fn sum(
    words: &mut Words,
    x: (Word, Option<Word>),
    y: (Word, Option<Word>),
) -> (Word, Option<Word>) {
    let [low, high] = [words.fresh(), words.fresh()];
    let mut links = vec![Link::new(Some(x.0), Some(y.0), low)];
    let end = match x.1 {
        None => End::Carry { out: high },
        above => {
            links.push(Link::new(above, y.1, high));
            End::Drop
        }
    };
    words.push(WordStep::Chain(Chain {
        sum: Sum::Add,
        carry: None,
        links,
        end,
    }));
    (low, Some(high))
}
