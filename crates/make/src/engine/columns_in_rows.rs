//! A product in columns, made in rows instead.
//!
//! In a row `(d, c[i+j]) = a[i] b[j] + c[i+j] + d` two words are added to each product, which takes six instructions, but
//! none to the first product of all, and one to the others of the first row and to the first of each row: `6 n^2 - 6 n`.
//! Columns take as many for each product but the first, less one for each column: `6 n^2 - 2 n`. So a sweep that is a
//! whole product of two numbers, and nothing else, has its words made by rows. So has a whole square: the products that
//! come twice are rows, `a[i] a[j]` for `i < j`, their words are doubled, and the squares are added to these.

use crate::schedule::{End, Pile, Sum, Sweep, Word, WordStep, Words};

/// The same words made in another order, if there is such a sweep.
pub fn of(words: &Words) -> Option<Words> {
    let mut made = words.clone();
    made.steps.clear();
    let mut found = false;
    for step in &words.steps {
        let WordStep::Sweep(sweep) = step else {
            made.push(step.clone());
            continue;
        };
        match (factors(sweep), root(sweep)) {
            (Some([x, y]), _) => rows(&mut made, sweep, [&x, &y]),
            (None, Some(x)) => square(&mut made, sweep, &x),
            (None, None) => {
                made.push(step.clone());
                continue;
            }
        }
        found = true;
    }
    found.then_some(made)
}

/// The factors of which the sweep is the whole product, of as many words each and at least two.
fn factors(sweep: &Sweep) -> Option<[Vec<Word>; 2]> {
    let n = sweep.piles.len() / 2;
    let plain =
        |pile: &Pile| pile.doubled.is_empty() && pile.addends.is_empty() && pile.quotient.is_none();
    if n < 2 || sweep.piles.len() != 2 * n || !sweep.piles.iter().all(plain) {
        return None;
    }
    let [(x0, y0)] = sweep.piles[0].products[..] else {
        return None;
    };
    let rising = || sweep.piles[..n].iter();
    let with = |pile: &Pile, first: Option<Word>, second: Option<Word>| {
        let mut list = pile.products.iter();
        let is = |(x, y): &&(Word, Word)| {
            first.is_none_or(|word| word == *x) && second.is_none_or(|word| word == *y)
        };
        list.find(is).copied()
    };
    let x: Option<Vec<_>> = rising()
        .map(|p| with(p, None, Some(y0)).map(|p| p.0))
        .collect();
    let y: Option<Vec<_>> = rising()
        .map(|p| with(p, Some(x0), None).map(|p| p.1))
        .collect();
    let (x, y) = (x?, y?);
    let is_column = |(k, pile): (usize, &Pile)| {
        let want = Pile::column(&x, &y, k).products;
        let all = want.iter().all(|product| pile.products.contains(product));
        all && want.len() == pile.products.len()
    };
    let whole = sweep.piles.iter().enumerate().all(is_column);
    whole.then_some([x, y])
}

/// Pushes the rows that make the words of `sweep`.
fn rows(made: &mut Words, sweep: &Sweep, [x, y]: [&[Word]; 2]) {
    let n = x.len();
    let mut above: Vec<Option<Word>> = vec![None; n];
    for (i, factor) in y.iter().enumerate() {
        let mut piles: Vec<Pile> = (0..n)
            .map(|j| Pile {
                products: vec![(x[j], *factor)],
                addends: above[j].into_iter().collect(),
                ..Pile::default()
            })
            .collect();
        piles.push(Pile::default());
        for (j, pile) in piles.iter_mut().enumerate() {
            let is_final = j == 0 || i + 1 == n;
            pile.out = match is_final {
                true => sweep.piles[i + j].out,
                false => Some(made.fresh()),
            };
        }
        above = piles[1..].iter().map(|pile| pile.out).collect();
        made.push(WordStep::Sweep(Sweep { piles }));
    }
}

/// The number of which the sweep is the whole square, of three words at least.
fn root(sweep: &Sweep) -> Option<Vec<Word>> {
    let n = sweep.piles.len() / 2;
    if n < 3 || sweep.piles.len() != 2 * n {
        return None;
    }
    let squares = sweep
        .piles
        .iter()
        .step_by(2)
        .map(|pile| match pile.products[..] {
            [(x, same)] if x == same => Some(x),
            _ => None,
        });
    let x: Vec<_> = squares.collect::<Option<_>>()?;
    let is_column = |(k, pile): (usize, &Pile)| {
        let pairs = pairs(n, k);
        let is_there = |(i, j): &(usize, usize)| {
            let (a, b) = (x[*i], x[*j]);
            pile.doubled.contains(&(a, b)) || pile.doubled.contains(&(b, a))
        };
        pile.addends.is_empty()
            && pile.quotient.is_none()
            && pile.products.len() == (k + 1) % 2
            && pile.doubled.len() == pairs.len()
            && pairs.iter().all(is_there)
    };
    let whole = sweep.piles.iter().enumerate().all(is_column);
    whole.then_some(x)
}

/// `i < j`, `i + j = k`, both below `n`.
fn pairs(n: usize, k: usize) -> Vec<(usize, usize)> {
    let first = (k + 1).saturating_sub(n);
    (first..k.div_ceil(2)).map(|i| (i, k - i)).collect()
}

/// Pushes the rows, the doubling and the squares that make the words of `sweep`.
fn square(made: &mut Words, sweep: &Sweep, x: &[Word]) {
    let n = x.len();
    // The words of the products that come twice, columns 1 to 2n - 2.
    let mut columns: Vec<Option<Word>> = vec![None; 2 * n];
    for i in 0..n - 1 {
        let mut piles: Vec<Pile> = (i + 1..n)
            .map(|j| Pile {
                products: vec![(x[j], x[i])],
                addends: columns[i + j].into_iter().collect(),
                ..Pile::default()
            })
            .collect();
        piles.push(Pile::default());
        for (k, pile) in (2 * i + 1..).zip(&mut piles) {
            pile.out = Some(made.fresh());
            columns[k] = pile.out;
        }
        made.push(WordStep::Sweep(Sweep { piles }));
    }
    let once: Vec<Word> = columns.into_iter().flatten().collect();
    let top = made.fresh();
    let mut twice = made.chain(Sum::Add, &once, &once, End::Carry { out: top });
    twice.push(top);
    let piles = sweep.piles.iter().enumerate().map(|(k, pile)| Pile {
        products: pile.products.clone(),
        addends: k.checked_sub(1).map(|k| twice[k]).into_iter().collect(),
        out: pile.out,
        ..Pile::default()
    });
    let piles = piles.collect();
    made.push(WordStep::Sweep(Sweep { piles }));
}
