//! Products at the bottom of Karatsuba's recursion: by rows that stay in registers, or by columns; other words may be added
//! to them on the way.

use crate::schedule::{Claim, End, Pile, Sum, Term, Word, WordStep, Words};

/// What becomes of the word beyond the result.
#[derive(Clone, Copy)]
pub(super) enum Over {
    /// There is none.
    None,
    /// It is wanted.
    Wanted,
    /// It is added to this one.
    To(Word),
}

impl Over {
    /// What is beyond the result, with the word that it is added to.
    pub(super) fn added(self, f: &mut Words, beyond: Word) -> Word {
        match self {
            Over::None | Over::Wanted => beyond,
            Over::To(word) => f.chain(Sum::Add, &[beyond], &[word], End::Drop)[0],
        }
    }
}

/// Two factors.
pub(super) type Pair<'a> = (&'a [Word], &'a [Word]);

/// Claims that `words` are the sum of products and addends.
pub(super) fn equation(f: &mut Words, words: &[Word], factors: &[Pair<'_>], addends: &[Vec<Word>]) {
    let term = |shift: usize, x: &[Word], y: &[Word]| Term {
        negative: false,
        shift,
        x: x.to_vec(),
        y: y.to_vec(),
    };
    let mut terms: Vec<_> = factors.iter().map(|(x, y)| term(0, x, y)).collect();
    for (shift, list) in addends.iter().enumerate() {
        terms.extend(list.iter().map(|word| term(shift, &[*word], &[])));
    }
    f.claims.push(Claim {
        words: words.to_vec(),
        lead: 0,
        terms,
        magnitude: None,
    });
}

/// The first addend of every position, then the second, ...: words to add in one chain each.
pub(super) fn layers(addends: &[Vec<Word>]) -> Vec<Vec<Option<Word>>> {
    let most = addends.iter().map(Vec::len).max().unwrap_or(0);
    (0..most)
        .map(|i| addends.iter().map(|a| a.get(i).copied()).collect())
        .collect()
}

/// How a product is made.
#[derive(Clone, Copy)]
pub(super) struct Bottom {
    /// Row by row, not by columns.
    pub rows: bool,
    /// Rows are words of the second operand.
    pub swapped: bool,
    /// Every other column backwards.
    pub turn: bool,
}

/// The sum of products and addends, one product after the other.
pub(super) fn products(
    f: &mut Words,
    factors: &[Pair<'_>],
    addends: &[Vec<Word>],
    over: Over,
    how: Bottom,
) -> (Vec<Word>, Option<Word>) {
    if let [pair] = factors {
        return product(f, *pair, addends, over, how);
    }
    let (each, last) = match over {
        Over::None => (Over::None, None),
        Over::Wanted => (Over::Wanted, None),
        Over::To(word) => (Over::Wanted, Some(word)),
    };
    let (mut words, mut beyond) = (addends.to_vec(), Vec::new());
    for pair in factors {
        let (sum, more) = product(f, *pair, &words, each, how);
        words = sum.into_iter().map(|word| vec![word]).collect();
        beyond.extend(more);
    }
    let add = |x, y| f.chain(Sum::Add, &[x], &[y], End::Drop)[0];
    (words.concat(), beyond.into_iter().chain(last).reduce(add))
}

fn product(
    f: &mut Words,
    (x, y): Pair<'_>,
    addends: &[Vec<Word>],
    over: Over,
    how: Bottom,
) -> (Vec<Word>, Option<Word>) {
    if !how.rows {
        return columns(f, x, y, addends, over, how.turn);
    }
    let n = x.len();
    let (x, y) = if how.swapped { (y, x) } else { (x, y) };
    let mut layers = layers(addends);
    let (init, rest) = match layers.is_empty() {
        true => (vec![], vec![]),
        false => {
            let mut first = layers.remove(0);
            let rest = first.split_off(n.min(first.len()));
            (first, rest)
        }
    };
    let words = rows(f, x, y, &init);
    if !rest.is_empty() {
        let rest = vec![None; n].into_iter().chain(rest);
        layers.insert(0, rest.collect());
    }
    add_layers(f, words, layers, over)
}

/// Adds layers to words, each in a chain.
pub(super) fn add_layers(
    f: &mut Words,
    mut words: Vec<Word>,
    layers: Vec<Vec<Option<Word>>>,
    over: Over,
) -> (Vec<Word>, Option<Word>) {
    let mut beyond = match over {
        Over::To(word) => Some(word),
        _ => None,
    };
    for layer in layers {
        let first = layer.iter().take_while(|w| w.is_none()).count();
        let out = f.fresh();
        let end = match (over, beyond) {
            (Over::None, _) => End::Drop,
            (_, None) => End::Carry { out },
            (_, Some(x)) => End::Into { x, out },
        };
        let old = words.split_off(first);
        let pairs = old.iter().enumerate();
        let pairs = pairs.map(|(k, x)| (Some(*x), layer.get(first + k).copied().flatten()));
        let sum = f.links(Sum::Add, pairs.collect(), end);
        words.extend(sum);
        beyond = Some(out);
    }
    (words, beyond.filter(|_| !matches!(over, Over::None)))
}

/// `x y + init` row by row; `init` has at most as many words as `y`. Products of a row that lie
/// two words apart do not overlap: all even ones are added in one chain, all odd ones in
/// another, and the top word of a row is new.
fn rows(f: &mut Words, x: &[Word], y: &[Word], init: &[Option<Word>]) -> Vec<Word> {
    let n = y.len();
    let all = x;
    // acc[k] is the word of weight 2^(w k).
    let mut acc: Vec<Option<Word>> = init.to_vec();
    for (i, x) in x.iter().enumerate() {
        let wide = |f: &mut Words, j: usize| {
            let [low, high] = [f.fresh(), f.fresh()];
            f.push(WordStep::Wide {
                x: *x,
                y: y[j],
                low,
                high,
            });
            [low, high]
        };
        // The chain with the top product comes first: the other one carries into its high word.
        let place = acc.is_empty();
        let parities = match (n - 1) % 2 {
            1 if !place => [1, 0],
            _ => [0, 1],
        };
        let mut top = None;
        for parity in parities.into_iter().filter(|p| *p < n) {
            // The last product need not be moved before it is added: the lowest.
            let order = (parity..n).step_by(2).rev();
            let mut words: Vec<_> = order.map(|j| wide(f, j)).collect();
            words.reverse();
            let mut words = words.concat();
            let has_top = (n - 1) % 2 == parity;
            if has_top {
                top = words.pop();
            }
            let first = i + parity;
            if place && parity == 0 {
                // Nothing is there yet.
                acc = words.into_iter().map(Some).collect();
                continue;
            }
            acc.resize(i + n, None);
            let mut pairs: Vec<_> = acc.drain(first..).map(|x| (x, None)).collect();
            for (pair, word) in pairs.iter_mut().zip(words) {
                pair.1 = Some(word);
            }
            pairs.push((top, None));
            let mut sum = f.links(Sum::Add, pairs, End::Drop);
            top = sum.pop();
            acc.extend(sum.into_iter().map(Some));
        }
        acc.push(top);
        if !place {
            let words: Vec<_> = acc.iter().flatten().copied().collect();
            let init: Vec<_> = init.iter().map(|w| w.iter().copied().collect()).collect();
            equation(f, &words, &[(&all[..=i], y)], &init);
        }
    }
    acc.into_iter().flatten().collect()
}

/// Product scanning on words: `x y` and addends.
fn columns(
    f: &mut Words,
    x: &[Word],
    y: &[Word],
    addends: &[Vec<Word>],
    over: Over,
    turn: bool,
) -> (Vec<Word>, Option<Word>) {
    let long = !matches!(over, Over::None);
    let (n, m) = (x.len(), y.len());
    let pile = |k: usize| {
        let mut pile = Pile::column(x, y, k);
        if turn && k % 2 == 1 {
            pile.products.reverse();
        }
        pile.addends = addends.get(k).cloned().unwrap_or_default();
        pile
    };
    let piles = (0..n + m + usize::from(long)).map(pile).collect();
    let mut out = f.sweep(piles);
    if long {
        equation(f, &out, &[(x, y)], addends);
    }
    let beyond = if long { out.pop() } else { None };
    let beyond = beyond.map(|word| over.added(f, word));
    (out, beyond)
}
