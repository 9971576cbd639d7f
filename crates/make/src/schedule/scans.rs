//! Sweeps written as two nested loops: product scanning, operand scanning, and what is finely integrated
//! with them.
//!
//! As in [`crate::schedule::loops`] nothing is declared: the one sweep of a schedule in words is read as
//! [`Strand`]s, each the products `X[i] Y[k-i]` of two arrays in all columns `k`, or a sweep for each row
//! as the products `X[j] Y[i]` of row `i`. The strands must give every sweep back, and the words still say what is computed.

use std::collections::BTreeSet;
use std::ops::Range;

use spec::Op;

use crate::facts::Style;
use crate::schedule::blocks::{Counts, ScheduleError};
use crate::schedule::words::{Chain, Link, Origin, Pile, Sweep, Word, WordStep, Words};

/// Words that lie one after another in memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Array {
    /// An operand, in the order of the sources.
    Operand(usize),
    /// A fixed modulus and, behind it, `m'`: numbers that the code lays into memory.
    Numbers,
    /// What a number is multiplied by on its way to Montgomery's form, `R^2 mod M`: behind the modulus and `m'`.
    Square,
    /// The quotient words of the sweep.
    Quotients,
    /// The columns that the sweep keeps; of rows what each leaves to the next.
    Columns,
    /// What the chain that is step so many of the schedule makes.
    Chain(usize),
}

/// Products `X[i] Y[k-i]` of column `k`, over all `i` for which both are words of the arrays; or `X[j] Y[i]`
/// of row `i`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Strand {
    pub x: Array,
    pub y: Array,
    /// Of a square: those with `i < k - i` count twice, and those with `i > k - i` are left out; in a row those
    /// with `j > i` count twice, and those with `j < i` are left out.
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
    /// A sweep for each row, instead of one for all columns.
    pub rows: bool,
    /// Of a reduction alone: word `k` of it, where it has so many, is added in column `k`.
    pub addend: Option<Array>,
    /// `m'` and `m[0]` of the quotients, if there are any.
    pub quotient: Option<[Word; 2]>,
    /// Products of a strand in a pass of the inner loop; if none is given, the target chooses.
    pub unroll: Option<usize>,
    /// Words of a side of the blocks that a pass takes; if none is given, the target chooses.
    pub side: Option<usize>,
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
    /// The loops of `words`; `None` if it is anything but one sweep of strands, or a sweep for each row,
    /// and chains after it.
    pub fn of(style: Style, words: Words, unroll: Option<usize>) -> Option<Self> {
        let sweeps: Vec<&Sweep> = sweeps(&words).collect();
        let rows = sweeps.len() > 1;
        let made_zero = sweeps
            .first()?
            .piles
            .iter()
            .filter(|p| p.quotient.is_some());
        let n = match made_zero.count() {
            0 | 1 => words.lengths.first().copied()?,
            count => count,
        };
        if n < 2 {
            return None;
        }
        // The column with the most products.
        let middle = sweeps.first()?.piles.get(n - 1)?;
        let first = sweeps.first()?.piles.get(if rows { 0 } else { n - 1 })?;
        let quotient = first.quotient.map(|q| [q.inverse, q.m]);
        let places = places(&words, &sweeps);
        let array = |word: &Word| places[word.0].map(|(array, _)| array);
        let mut strands: Vec<Strand> = Vec::new();
        let addend = first.addends.first().filter(|_| !rows);
        let addend = addend.and_then(array);
        let pairs = |pairs: bool| move |(x, y): &(Word, Word)| (*x, *y, pairs);
        let doubled = middle.doubled.iter().map(pairs(true));
        for (x, y, pairs) in doubled.chain(middle.products.iter().map(pairs(false))) {
            let (x, y) = match (rows, array(&x)?, array(&y)?) {
                // What stays during a row is Y.
                (true, Array::Quotients, m) => (m, Array::Quotients),
                (_, x, y) => (x, y),
            };
            if !strands.iter().any(|s| (s.x, s.y) == (x, y)) {
                strands.push(Strand { x, y, pairs });
            }
        }
        let scans = Self {
            style,
            n,
            strands,
            rows,
            addend,
            quotient,
            unroll,
            side: None,
            places,
            words,
        };
        let chains = scans.words.steps.iter().all(|step| {
            matches!(
                step,
                WordStep::Part(_) | WordStep::Sweep(_) | WordStep::Chain(_)
            )
        });
        let claims = !scans.words.claims.is_empty();
        (chains && !claims && scans.gives_back()).then_some(scans)
    }

    /// Chains alone, each a loop over all its words; `None` if there is anything else.
    pub fn chains(style: Style, words: Words) -> Option<Self> {
        let n = words.lengths.first().copied().filter(|n| *n > 1)?;
        let scans = Self {
            style,
            n,
            strands: Vec::new(),
            rows: false,
            addend: None,
            quotient: None,
            unroll: None,
            side: None,
            places: places(&words, &[]),
            words,
        };
        let alike = |step: &WordStep| match step {
            WordStep::Part(_) => true,
            WordStep::Chain(chain) => {
                let stretch = scans.stretch(chain);
                chain.carry.is_none() && stretch.is_some_and(|s| s.links == n)
            }
            _ => false,
        };
        let loops = scans.words.steps.iter().all(alike);
        loops.then_some(scans)
    }

    /// The array and index of a value, if it lies in one.
    pub fn place(&self, word: Word) -> Option<(Array, usize)> {
        self.places[word.0]
    }

    /// The operand of which word `k` is added in column `k`.
    pub fn added(&self, k: usize) -> Option<usize> {
        match self.addend {
            Some(Array::Operand(side)) if k < self.words.lengths[side] => Some(side),
            _ => None,
        }
    }

    /// Is `m'` a number, and 1? Then a quotient word is the word that it makes 0.
    pub fn is_inverse_one(&self) -> bool {
        let origin = self
            .quotient
            .map(|[inverse, _]| self.words.origins[inverse.0]);
        matches!(origin, Some(Origin::Stored { value: 1, .. }))
    }

    /// The array of the modulus, `m'` behind it.
    pub fn modulus(&self) -> Option<Array> {
        let [inverse, m] = self.quotient?;
        match [m, inverse].map(|word| self.place(word)) {
            [
                Some((array @ (Array::Operand(_) | Array::Numbers), 0)),
                Some((same, last)),
            ] => (array == same && last == self.n).then_some(array),
            _ => None,
        }
    }

    /// The one sweep, or that of the first row.
    pub fn sweep(&self) -> Option<&Sweep> {
        sweeps(&self.words).next()
    }

    /// The sweep of the last row, or the one sweep.
    pub fn last_sweep(&self) -> Option<&Sweep> {
        sweeps(&self.words).last()
    }

    /// The products `X[i] Y[k-i]` of a strand in column `k` that its quotient word does not wait for: the least `i`,
    /// and how many. Those that count twice are pairs.
    pub fn range(&self, strand: Strand, k: usize) -> (usize, usize) {
        let low = (k + 1).saturating_sub(self.n);
        // q[k] m[0] comes last.
        let last = usize::from(strand.x == Array::Quotients && k < self.n);
        let count = (k + 1).saturating_sub(2 * low) - last;
        (low, if strand.pairs { count / 2 } else { count })
    }

    /// The columns: the first ones, those that become longer, those that become shorter, and the last ones.
    /// What lies between is `long` enough for an inner loop.
    pub fn parts(&self, long: impl Fn(usize) -> bool) -> [Range<usize>; 4] {
        let n = self.n;
        let rising = (0..n).find(|k| long(*k)).unwrap_or(n);
        let falling = (n..2 * n).find(|k| !long(*k)).unwrap_or(2 * n);
        [0..rising, rising..n, n..falling, falling..2 * n]
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
        let addend = self.added(k).map(|side| Some((Array::Operand(side), k)));
        let quotient = pile.quotient.map(|q| [q.inverse, q.m]);
        let wanted = self.quotient.filter(|_| k < self.n);
        let q = pile.quotient.and_then(|q| self.place(q.q));
        set(&pile.doubled) == Some(twice)
            && set(&pile.products) == Some(once)
            && pile.addends.iter().map(|t| self.place(*t)).eq(addend)
            && quotient == wanted
            && q == wanted.map(|_| (Array::Quotients, k))
            && pile.out.is_some() == (self.quotient.is_none() || k >= self.n)
    }

    /// Does column `j` of row `i` hold what the strands say?
    fn is_row(&self, i: usize, j: usize, pile: &Pile) -> bool {
        let n = self.n;
        let products = |twice: bool| {
            let of = move |s: &Strand| {
                // q[i] m[0] comes last in its column.
                let quotient = s.y == Array::Quotients;
                let here = j < n && !(quotient && j == 0 || s.pairs && j < i);
                let (x, y) = ((s.x, j), (s.y, i));
                let here = here && twice == (s.pairs && j > i);
                here.then_some(if quotient { [y, x] } else { [x, y] })
            };
            self.strands.iter().filter_map(of).collect::<BTreeSet<_>>()
        };
        let made = |list: &[(Word, Word)]| {
            let both = list.iter();
            let both = both.map(|(x, y)| Some([self.place(*x)?, self.place(*y)?]));
            both.collect::<Option<BTreeSet<_>>>()
        };
        let addends = pile.addends.iter().map(|t| self.place(*t));
        let quotient = pile.quotient.map(|q| ([q.inverse, q.m], self.place(q.q)));
        let wanted = self.quotient.map(|q| (q, Some((Array::Quotients, i))));
        // With quotients everything moves down by a word; without them row i begins at word i.
        let (down, from) = match self.quotient {
            Some(_) => (1, 0),
            None => (0, i),
        };
        let before = match self.quotient {
            Some(_) => i > 0 && self.places.contains(&Some((Array::Columns, j))),
            None => i > 0 && j < n,
        };
        made(&pile.products) == Some(products(false))
            && made(&pile.doubled) == Some(products(true))
            && pile.products.len() + pile.doubled.len() <= self.strands.len()
            && addends.eq(before.then_some(Some((Array::Columns, from + j))))
            && quotient == wanted.filter(|_| j == 0)
            && pile.out.and_then(|out| self.place(out))
                == j.checked_sub(down).map(|k| (Array::Columns, from + k))
    }

    /// Are the strands the sweeps?
    fn gives_back(&self) -> bool {
        let n = self.n;
        let mut sweeps = sweeps(&self.words).enumerate();
        let ends = |sweep: &Sweep, least: usize| [least, least + 1].contains(&sweep.piles.len());
        let (least, count) = match self.strands.is_empty() {
            true => (0, 0),
            false if self.rows => (n + 1, n),
            false => (2 * n, 1),
        };
        let lengths = sweeps.clone().all(|(_, sweep)| ends(sweep, least));
        sweeps.clone().count() == count
            && lengths
            && sweeps.all(|(i, sweep)| {
                let mut piles = sweep.piles.iter().enumerate();
                piles.all(|(k, pile)| match self.rows {
                    true => self.is_row(i, k, pile),
                    false => self.is_column(k, pile),
                })
            })
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

/// The sweeps of a schedule.
fn sweeps(words: &Words) -> impl Iterator<Item = &Sweep> + Clone {
    words.steps.iter().filter_map(|step| match step {
        WordStep::Sweep(sweep) => Some(sweep),
        _ => None,
    })
}

/// Where every value lies.
fn places(words: &Words, sweeps: &[&Sweep]) -> Vec<Option<(Array, usize)>> {
    let operand = |origin: &Origin| match origin {
        Origin::Operand { side, index } => Some((Array::Operand(*side), *index)),
        Origin::Stored { index, .. } => Some((Array::Numbers, *index)),
        _ => None,
    };
    // The factor of a conversion, which follows the modulus and m'.
    let behind = words.lengths.first().map_or(0, |n| n + 1);
    let square = |place: (Array, usize)| match place {
        (Array::Operand(1) | Array::Numbers, index) if words.op == Op::Tomont => {
            let index = index.checked_sub(behind);
            index.map_or(place, |index| (Array::Square, index))
        }
        place => place,
    };
    let origins = words.origins.iter();
    let mut places: Vec<_> = origins.map(|o| operand(o).map(square)).collect();
    // A row moves everything down by a word, or begins a word further on.
    let quotients = sweeps
        .iter()
        .flat_map(|s| &s.piles)
        .any(|p| p.quotient.is_some());
    let rows = sweeps.len() > 1;
    for (i, sweep) in sweeps.iter().enumerate() {
        let (down, from) = match rows {
            true if quotients => (1, 0),
            true => (0, i),
            false => (0, 0),
        };
        for (k, pile) in sweep.piles.iter().enumerate() {
            if let Some(quotient) = pile.quotient {
                places[quotient.q.0] = Some((Array::Quotients, i + k));
            }
            if let (Some(out), Some(at)) = (pile.out, k.checked_sub(down)) {
                places[out.0] = Some((Array::Columns, from + at));
            }
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
