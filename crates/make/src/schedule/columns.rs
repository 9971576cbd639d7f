//! The columns of a sweep with products of numbers of one or two words.
//!
//! `(x + W x') (y + W y')` is four products of words of the columns `k`, `k + 1` and `k + 2`: a machine that multiplies two
//! words by two takes them at once in column `k`. Only columns with an even number are read so, so that all products that
//! it adds up have the same weight.

use std::collections::{BTreeMap, VecDeque};

use crate::schedule::words::{Pile, Quotient, Sweep, Word};

/// A product of two numbers of one or two words each, the low word first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Factors {
    pub x: Vec<Word>,
    pub y: Vec<Word>,
}

impl Factors {
    /// Of two words.
    fn of((x, y): (Word, Word)) -> Self {
        let (x, y) = (vec![x], vec![y]);
        Self { x, y }
    }

    /// The words it reads, each once.
    fn words(&self) -> Vec<Word> {
        once(self.x.iter().chain(&self.y))
    }
}

/// `q = acc m' mod W`, then `acc += q m`, where `m` has one or two words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clearing {
    pub inverse: Word,
    pub q: Word,
    pub m: Vec<Word>,
}

/// What is added to the accumulator at one weight, in this order; `out` is its low word then.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WordColumn {
    /// Numbers of one or two words.
    pub addends: Vec<Vec<Word>>,
    /// Products that count twice.
    pub doubled: Vec<Factors>,
    pub products: Vec<Factors>,
    pub clearing: Option<Clearing>,
    pub out: Option<Word>,
}

/// What is read at one time, and what is made.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Event {
    pub reads: Vec<Word>,
    pub makes: Vec<Word>,
}

fn once<'a>(words: impl Iterator<Item = &'a Word>) -> Vec<Word> {
    let mut list = Vec::new();
    for word in words {
        if !list.contains(word) {
            list.push(*word);
        }
    }
    list
}

impl WordColumn {
    /// The events of its addends, of each product, of a quotient and of its product.
    pub fn events(&self) -> Vec<Event> {
        let reads = |reads: Vec<Word>| Event {
            reads,
            makes: Vec::new(),
        };
        let mut events = vec![reads(self.addends.concat())];
        let products = self.doubled.iter().chain(&self.products);
        events.extend(products.map(|product| reads(product.words())));
        if let Some(Clearing { inverse, q, m }) = &self.clearing {
            events.push(Event {
                reads: vec![*inverse],
                makes: vec![*q],
            });
            events.push(reads(once([q].into_iter().chain(m))));
        }
        if let Some(last) = events.last_mut() {
            last.makes.extend(self.out);
        }
        events
    }

    /// The columns of a sweep as they are, word by word.
    pub fn of(sweep: &Sweep) -> Vec<Self> {
        let column = |pile: &Pile| Self {
            clearing: pile.quotient.map(|Quotient { inverse, m, q }| Clearing {
                inverse,
                q,
                m: vec![m],
            }),
            ..Self::in_words(&pile.addends, &pile.doubled, &pile.products, pile.out)
        };
        sweep.piles.iter().map(column).collect()
    }

    /// Word by word.
    fn in_words(
        addends: &[Word],
        doubled: &[(Word, Word)],
        products: &[(Word, Word)],
        out: Option<Word>,
    ) -> Self {
        Self {
            addends: addends.iter().map(|word| vec![*word]).collect(),
            doubled: doubled.iter().copied().map(Factors::of).collect(),
            products: products.iter().copied().map(Factors::of).collect(),
            clearing: None,
            out,
        }
    }

    /// The events of a sweep, word by word.
    pub fn events_of(sweep: &Sweep) -> Vec<Event> {
        Self::of(sweep).iter().flat_map(Self::events).collect()
    }

    /// The columns of a sweep with products of two words by two wherever four products of words are one.
    pub fn in_pairs(sweep: &Sweep) -> Vec<Self> {
        let mut left = Left::of(sweep);
        let piles = || sweep.piles.iter().enumerate();
        let clearings = piles().map(|(k, pile)| pile.quotient.map(|q| left.clearing(k, q)));
        let clearings: Vec<_> = clearings.collect();
        let column = |((k, pile), clearing): ((usize, &Pile), Option<Clearing>)| match k % 2 {
            0 => Self {
                addends: left.addends(k),
                // Squares first: products that count twice are part of them.
                products: left.squares(k),
                doubled: left.pairs(k, true),
                clearing,
                out: pile.out,
            }
            .with(left.pairs(k, false)),
            _ => Self {
                clearing,
                ..Self::in_words(
                    &left.addends[k],
                    &left.products[k][0],
                    &left.products[k][1],
                    pile.out,
                )
            },
        };
        piles().zip(clearings).map(column).collect()
    }

    /// The same with more products.
    fn with(mut self, products: Vec<Factors>) -> Self {
        self.products.extend(products);
        self
    }
}

/// What no column has taken yet.
struct Left {
    addends: Vec<Vec<Word>>,
    /// Products of each column: those that count twice, and those that count once.
    products: Vec<[Vec<(Word, Word)>; 2]>,
    /// The columns that make words of the sweep.
    made: BTreeMap<Word, usize>,
}

impl Left {
    fn of(sweep: &Sweep) -> Self {
        let piles = sweep.piles.iter();
        let products = |pile: &Pile| [pile.doubled.clone(), pile.products.clone()];
        let mut made = BTreeMap::new();
        for (k, pile) in sweep.piles.iter().enumerate() {
            let words = pile.out.into_iter().chain(pile.quotient.map(|q| q.q));
            made.extend(words.map(|word| (word, k)));
        }
        Self {
            addends: piles.clone().map(|pile| pile.addends.clone()).collect(),
            products: piles.map(products).collect(),
            made,
        }
    }

    /// Is a word there when column `k` begins?
    fn is_there(&self, word: Word, k: usize) -> bool {
        self.made.get(&word).is_none_or(|made| *made < k)
    }

    /// Takes a product out of column `k`.
    fn take(&mut self, k: usize, twice: bool, product: (Word, Word)) {
        if let Some(products) = self.products.get_mut(k) {
            let list = &mut products[usize::from(!twice)];
            let at = list.iter().position(|other| *other == product);
            at.map(|at| list.remove(at));
        }
    }

    /// The products of column `k`.
    fn column(&self, k: usize, twice: bool) -> &[(Word, Word)] {
        let column = self.products.get(k);
        column.map_or(&[], |products| &products[usize::from(!twice)])
    }

    /// The product of a quotient, with the next word of the modulus if the next column has its product.
    fn clearing(&mut self, k: usize, Quotient { inverse, m, q }: Quotient) -> Clearing {
        let mut list = self.column(k + 1, false).iter();
        let found = list.find(|(x, y)| *x == q || *y == q).copied();
        let mut words = vec![m];
        if let Some((x, y)) = found {
            let next = if x == q { y } else { x };
            if self.is_there(next, k) {
                self.take(k + 1, false, (x, y));
                words.push(next);
            }
        }
        Clearing {
            inverse,
            q,
            m: words,
        }
    }

    /// Addends of column `k` with those of the next one.
    fn addends(&mut self, k: usize) -> Vec<Vec<Word>> {
        let low = std::mem::take(&mut self.addends[k]);
        let next = self.addends.get(k + 1).cloned().unwrap_or_default();
        let (mut there, later): (VecDeque<Word>, VecDeque<Word>) =
            next.into_iter().partition(|word| self.is_there(*word, k));
        let number = |word: Word| [word].into_iter().chain(there.pop_front()).collect();
        let list = low.into_iter().map(number).collect();
        if let Some(next) = self.addends.get_mut(k + 1) {
            *next = there.into_iter().chain(later).collect();
        }
        list
    }

    /// `(x + W x')^2`: its middle product counts twice.
    fn squares(&mut self, k: usize) -> Vec<Factors> {
        let mut list = Vec::new();
        for (x, y) in self.column(k, false).to_vec() {
            let mut middle = self.column(k + 1, true).iter();
            let found = middle.find_map(|(a, b)| match (*a == x, *b == x) {
                (true, false) => Some((*b, (*a, *b))),
                (false, true) => Some((*a, (*a, *b))),
                _ => None,
            });
            let Some((high, middle)) = found.filter(|_| x == y) else {
                continue;
            };
            let is_whole = self.column(k + 2, false).contains(&(high, high));
            if is_whole && self.is_there(high, k) {
                self.take(k, false, (x, x));
                self.take(k + 1, true, middle);
                self.take(k + 2, false, (high, high));
                list.push(Factors {
                    x: vec![x, high],
                    y: vec![x, high],
                });
            }
        }
        list
    }

    /// All other products of column `k`, with those of the next two that they are whole with.
    fn pairs(&mut self, k: usize, twice: bool) -> Vec<Factors> {
        let products = self.column(k, twice).to_vec();
        products
            .into_iter()
            .map(|(x, y)| self.widest(k, twice, x, y))
            .collect()
    }

    fn widest(&mut self, k: usize, twice: bool, x: Word, y: Word) -> Factors {
        let next = self.column(k + 1, twice);
        let fits = |word: &Word| self.is_there(*word, k);
        let rows = next.iter().filter(|p| p.0 == x).map(|p| p.1).filter(fits);
        let rows: Vec<Word> = rows.collect();
        let columns = next.iter().filter(|p| p.1 == y).map(|p| p.0).filter(fits);
        let columns: Vec<Word> = columns.collect();
        // What lies above the last column is dropped.
        let above = k + 2;
        let is_last = above >= self.products.len();
        let is_whole = |pair: &(Word, Word)| is_last || self.column(above, twice).contains(pair);
        let mut pairs = rows
            .iter()
            .flat_map(|y1| columns.iter().map(|x1| (*x1, *y1)))
            // Words of a modulus may be one; then `x y1` and `x1 y` must not be one product.
            .filter(|pair| *pair != (x, y));
        let (x1, y1) = match pairs.find(is_whole) {
            Some((x1, y1)) => (Some(x1), Some(y1)),
            None => match rows.first() {
                Some(y1) => (None, Some(*y1)),
                None => (columns.first().copied(), None),
            },
        };
        let beside = y1.map(|y1| (k + 1, (x, y1)));
        let below = x1.map(|x1| (k + 1, (x1, y)));
        let both = x1.zip(y1).map(|pair| (above, pair));
        for (column, pair) in [beside, below, both].into_iter().flatten() {
            self.take(column, twice, pair);
        }
        Factors {
            x: [x].into_iter().chain(x1).collect(),
            y: [y].into_iter().chain(y1).collect(),
        }
    }
}
