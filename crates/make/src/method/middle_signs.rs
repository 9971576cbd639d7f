//! The signs of Karatsuba's differences, and the correction of the middle product that follows from them.

use crate::schedule::{Chain, End, Link, Sum, Word, WordStep, Words};

/// `x - y` modulo `2^(w length)`, and the borrow as a mask. The shorter one is extended by zeros.
pub(super) fn difference(f: &mut Words, x: &[Word], y: &[Word]) -> (Vec<Word>, Word) {
    let mask = f.fresh();
    let out = f.chain(Sum::Sub, x, y, End::Mask { out: mask });
    (out, mask)
}

/// The same, if it is among the operands or another product has computed it already.
pub(super) fn known_difference(f: &Words, x: &[Word], y: &[Word]) -> Option<(Vec<Word>, Word)> {
    if let Some(d) = f.differences.iter().find(|d| d.x == x && d.y == y) {
        return Some((d.words.clone(), d.negative));
    }
    f.steps.iter().find_map(|step| match step {
        WordStep::Chain(Chain {
            sum: Sum::Sub,
            carry: None,
            links,
            end: End::Mask { out: mask },
        }) => {
            let alike = |(i, link): (usize, &Link)| {
                *link
                    == Link {
                        x: x.get(i).copied(),
                        y: y.get(i).copied(),
                        ..Link::new(None, None, link.out)
                    }
            };
            let all = links.len() == x.len().max(y.len()) && links.iter().enumerate().all(alike);
            all.then(|| (links.iter().map(|link| link.out).collect(), *mask))
        }
        _ => None,
    })
}

/// `x & y`.
pub(super) fn both(f: &mut Words, x: Word, y: Word) -> Word {
    let out = f.fresh();
    f.push(WordStep::And { x, y, out });
    out
}

/// `x | y`.
pub(super) fn either(f: &mut Words, x: Word, y: Word) -> Word {
    let out = f.fresh();
    f.push(WordStep::Or { x, y, out });
    out
}

/// `sum (~d & mask)` and, as one word more, how many masks are ones.
pub(super) fn complemented(f: &mut Words, parts: [(&[Word], Word); 2]) -> Vec<Vec<Word>> {
    let mut list = complements(f, parts);
    let ones = f.links(Sum::Sub, vec![(None, Some(parts[0].1))], End::Drop);
    list[0].extend(f.chain(Sum::Sub, &ones, &[parts[1].1], End::Drop));
    list
}

/// The words of `~d & mask`.
pub(super) fn complements(f: &mut Words, parts: [(&[Word], Word); 2]) -> Vec<Vec<Word>> {
    let mut list = vec![Vec::new(); parts[0].0.len()];
    for (d, mask) in parts {
        for (words, x) in list.iter_mut().zip(d) {
            let (taken, out) = (both(f, *x, mask), f.fresh());
            let [x, y] = [taken, mask];
            f.push(WordStep::Xor { x, y, out });
            words.push(out);
        }
    }
    list
}

/// `y - W (d & mask)`, and `e` less the borrow.
pub(super) fn correct(
    f: &mut Words,
    y: &[Word],
    low: usize,
    d: &[Word],
    mask: Word,
    e: Word,
) -> (Word, Vec<Word>) {
    let out = f.fresh_words(low);
    let links = (0..low)
        .map(|i| Link {
            mask: Some(mask),
            ..Link::new(Some(y[low + i]), Some(d[i]), out[i])
        })
        .collect();
    let less = f.fresh();
    f.push(WordStep::Chain(Chain {
        sum: Sum::Sub,
        carry: None,
        links,
        end: End::Into { x: e, out: less },
    }));
    (less, [&y[..low], &out].concat())
}
