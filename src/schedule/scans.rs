//! Columns of growing and shrinking length written as two nested loops: product scanning and what is
//! finely integrated with it.
//!
//! As in [`super::loops`] nothing is declared: the sweep of a schedule in words is read as
//! [`Strand`]s, each the products `X[i] Y[k-i]` of two arrays in all columns `k`, and what they say
//! must give every column of the sweep back. The words stay what is computed.

use std::collections::BTreeSet;

use super::blocks::{Counts, ScheduleError};
use super::words::{Chain, Link, Origin, Pile, Sweep, Word, WordStep, Words};
use crate::facts::Style;

/// Words that lie one after another in memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Array {
    /// An operand, in the order of the sources.
    Operand(usize),
    /// The quotient words of the sweep.
    Quotients,
    /// The columns that the sweep keeps.
    Columns,
    /// What the chain that is step so many of the schedule makes.
    Chain(usize),
}

/// Products `X[i] Y[k-i]` of column `k`, over all `i` for which both are words of the arrays.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Strand {
    pub x: Array,
    pub y: Array,
    /// Of a square: those with `i < k - i` count twice, and those with `i > k - i` are left out.
    pub pairs: bool,
}

/// A sweep as two nested loops, and what follows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scans {
    pub style: Style,
    /// What is computed.
    pub words: Words,
    /// Words of each array.
    pub n: usize,
    pub strands: Vec<Strand>,
    /// `m'` and `m[0]` of the quotients, if there are any.
    pub quotient: Option<[Word; 2]>,
    /// Products of a strand in a pass of the inner loop; if none is given, the target chooses.
    pub unroll: Option<usize>,
    places: Vec<Option<(Array, usize)>>,
}

/// Links of a chain of which each is the one before moved by a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    pub x: Option<(Array, usize)>,
    pub y: Option<(Array, usize)>,
    pub mask: Option<Word>,
    pub out: (Array, usize),
    /// How many.
    pub links: usize,
}

impl Scans {
    /// The loops of `words`; `None` if it is anything but one sweep of strands and chains after it.
    pub fn of(style: Style, words: Words, unroll: Option<usize>) -> Option<Self> {
        let mut sweeps = words.steps.iter().filter_map(|step| match step {
            WordStep::Sweep(sweep) => Some(sweep),
            _ => None,
        });
        let sweep = sweeps.next().filter(|_| words.claims.is_empty())?;
        if sweeps.next().is_some() {
            return None;
        }
        let n = words.lengths.first().copied().filter(|n| *n > 1)?;
        let places = places(&words, sweep);
        let array = |word: &Word| places[word.0].map(|(array, _)| array);
        let middle = sweep.piles.get(n.checked_sub(1)?)?;
        let quotient = middle.quotient.map(|q| [q.inverse, q.m]);
        let mut strands: Vec<Strand> = Vec::new();
        let pairs = |pairs: bool| move |(x, y): &(Word, Word)| (*x, *y, pairs);
        let doubled = middle.doubled.iter().map(pairs(true));
        for (x, y, pairs) in doubled.chain(middle.products.iter().map(pairs(false))) {
            let (x, y) = (array(&x)?, array(&y)?);
            if !strands.iter().any(|s| (s.x, s.y) == (x, y)) {
                strands.push(Strand { x, y, pairs });
            }
        }
        let scans = Self {
            style,
            n,
            strands,
            quotient,
            unroll,
            places,
            words,
        };
        let chains = scans.words.steps.iter().all(|step| {
            matches!(
                step,
                WordStep::Part(_) | WordStep::Sweep(_) | WordStep::Chain(_)
            )
        });
        (chains && scans.gives_back()).then_some(scans)
    }

    /// The array and index of a value, if it lies in one.
    pub fn place(&self, word: Word) -> Option<(Array, usize)> {
        self.places[word.0]
    }

    /// The one sweep.
    pub fn sweep(&self) -> Option<&Sweep> {
        self.words.steps.iter().find_map(|step| match step {
            WordStep::Sweep(sweep) => Some(sweep),
            _ => None,
        })
    }

    /// The products of column `k`, by the strands: those that count twice, and those that count once.
    fn products(&self, k: usize) -> [BTreeSet<[(Array, usize); 2]>; 2] {
        let mut sets = [BTreeSet::new(), BTreeSet::new()];
        for strand in &self.strands {
            for i in (k + 1).saturating_sub(self.n)..self.n.min(k + 1) {
                let j = k - i;
                // Those of a column and of its quotient word: q[k] m[0] comes last.
                let last = strand.x == Array::Quotients && j == 0;
                if !(last || strand.pairs && i > j) {
                    let twice = strand.pairs && i < j;
                    sets[usize::from(!twice)].insert([(strand.x, i), (strand.y, j)]);
                }
            }
        }
        sets
    }

    /// Does the sweep's column `k` hold what the strands say?
    fn is_column(&self, k: usize, pile: &Pile) -> bool {
        let set = |list: &[(Word, Word)]| {
            let both = list
                .iter()
                .map(|(x, y)| Some([self.place(*x)?, self.place(*y)?]));
            let set = both.collect::<Option<BTreeSet<_>>>()?;
            (set.len() == list.len()).then_some(set)
        };
        let [twice, once] = self.products(k);
        let quotient = pile.quotient.map(|q| [q.inverse, q.m]);
        let wanted = self.quotient.filter(|_| k < self.n);
        let q = pile.quotient.and_then(|q| self.place(q.q));
        set(&pile.doubled) == Some(twice)
            && set(&pile.products) == Some(once)
            && pile.addends.is_empty()
            && quotient == wanted
            && q == wanted.map(|_| (Array::Quotients, k))
            && pile.out.is_some() == (self.quotient.is_none() || k >= self.n)
    }

    /// Are the strands the sweep?
    fn gives_back(&self) -> bool {
        let piles = self.sweep().map_or(&[][..], |sweep| &sweep.piles);
        let whole = (2 * self.n..=2 * self.n + 1).contains(&piles.len());
        let mut piles = piles.iter().enumerate();
        whole && piles.all(|(k, pile)| self.is_column(k, pile))
    }

    /// Checks that the strands are the sweep and that the words compute what they should, and counts.
    ///
    /// # Errors
    /// The first violation.
    pub fn check(&self) -> Result<Counts, ScheduleError> {
        match self.gives_back() {
            true => self.words.check(),
            false => Err(ScheduleError::Loops),
        }
    }

    /// How many links at the start of `chain` are alike.
    pub fn stretch(&self, chain: &Chain) -> Option<Stretch> {
        let place = |word: Option<Word>| word.and_then(|w| self.place(w));
        let first = chain.links.first()?;
        let moved = |at: Option<(Array, usize)>, by: usize| at.map(|(a, i)| (a, i + by));
        let alike = |(i, link): &(usize, &Link)| {
            link.flip.is_none()
                && link.mask == first.mask
                && place(link.x) == moved(place(first.x), *i)
                && place(link.y) == moved(place(first.y), *i)
                && (link.x.is_some(), link.y.is_some()) == (first.x.is_some(), first.y.is_some())
        };
        let out = self.place(first.out)?;
        Some(Stretch {
            x: place(first.x),
            y: place(first.y),
            mask: first.mask,
            out,
            links: chain.links.iter().enumerate().take_while(alike).count(),
        })
    }
}

/// Where every value lies.
fn places(words: &Words, sweep: &Sweep) -> Vec<Option<(Array, usize)>> {
    let operand = |origin: &Origin| match origin {
        Origin::Operand { side, index } => Some((Array::Operand(*side), *index)),
        _ => None,
    };
    let mut places: Vec<_> = words.origins.iter().map(operand).collect();
    for (k, pile) in sweep.piles.iter().enumerate() {
        if let Some(quotient) = pile.quotient {
            places[quotient.q.0] = Some((Array::Quotients, k));
        }
        if let Some(out) = pile.out {
            places[out.0] = Some((Array::Columns, k));
        }
    }
    for (at, step) in words.steps.iter().enumerate() {
        if let WordStep::Chain(chain) = step {
            for (i, link) in chain.links.iter().enumerate() {
                places[link.out.0] = Some((Array::Chain(at), i));
            }
        }
    }
    places
}
