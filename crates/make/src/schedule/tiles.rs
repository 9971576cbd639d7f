//! Products made by additions: tiles of the rhombus, `e` words of A by `f` words of B.
//!
//! A machine without a multiplier adds `A[..]` for every bit of B that is set. Doing so for a
//! tile at once shifts only its `e + f` words, 8 times (or 32), whatever their number. Tiles
//! follow one another along B, then along A. With `C` what is in memory and `d` the carry of
//! the tile before, at the place where that tile ended, a tile computes
//!
//! `(d, C) = A * B + C + 2^(w e) d`,
//!
//! and `A B + 2^(w e) d < 2^(w (e + f))`, so that one carry leaves its last addition. On the
//! diagonal of a squaring `(d, C) = A^2 + C + d`.

use std::ops::Range;

use crate::schedule::blocks::{Counts, ScheduleError};

/// How a word is added under a bit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Select {
    /// The addition is executed or not, in the same time.
    Conditional,
    /// The word is masked first: what is executed does not depend on operands.
    Mask,
}

/// Tiles of a multiplication of `n` by `n` words, or of a squaring.
///
/// Those of a squaring lie on both sides of the diagonal alike: it takes the ones on one side,
/// doubles their sum in memory, and adds the tiles on the diagonal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tiles {
    pub n: usize,
    /// Consecutive words of A, and of B.
    pub a: Vec<Range<usize>>,
    pub b: Vec<Range<usize>>,
    pub select: Select,
    /// B is A.
    pub square: bool,
    /// Has a tile all words of B, or of a squaring those behind its own and its own?
    pub rows: bool,
}

/// One tile and what its last addition meets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tile {
    pub a: Range<usize>,
    pub b: Range<usize>,
    /// Its words that are there already.
    pub reload: Range<usize>,
    /// Its word that takes the carry of the tile before.
    pub carry_in: Option<usize>,
    /// A carry may leave: for the next tile, or as a word of its own.
    pub carry_out: bool,
    pub carry_word: bool,
    /// The last one of its `a`.
    pub last: bool,
}

impl Tile {
    /// Its words of the result.
    pub fn place(&self) -> Range<usize> {
        self.a.start + self.b.start..self.a.end + self.b.end
    }
}

/// What is done, one after another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TileStep {
    Tile(Tile),
    /// These words of the result are doubled; the carry becomes the word above them.
    Double(Range<usize>),
}

/// `n` in as few parts of at most `size` as possible, as even as possible.
fn even(n: usize, size: usize) -> Vec<Range<usize>> {
    let parts = n.div_ceil(size);
    let cut = |i: usize| i * n / parts;
    (0..parts).map(|i| cut(i)..cut(i + 1)).collect()
}

impl Tiles {
    /// Tiles of at most `e` by `f` words, both at least 1.
    pub fn of(n: usize, e: usize, f: usize, select: Select) -> Self {
        Self {
            n,
            a: even(n, e),
            b: even(n, f),
            select,
            square: false,
            rows: false,
        }
    }

    /// Tiles of a squaring, at most `e` by `e` words, at least 2 if there are 2.
    pub fn square(n: usize, e: usize, select: Select) -> Self {
        Self {
            square: true,
            ..Self::of(n, e, e, select)
        }
    }

    /// Tiles of at most `e` words of A, and of all words of B.
    pub fn in_rows(n: usize, e: usize, square: bool) -> Self {
        Self {
            square,
            rows: true,
            ..Self::of(n, e, n, Select::Mask)
        }
    }

    /// The parts of B that part `i` of A is multiplied by: of a squaring those on one side of the diagonal.
    fn beside(&self, i: usize) -> Vec<Range<usize>> {
        let behind = self.a[i].end;
        match (self.square, self.rows) {
            (false, _) => self.b.clone(),
            (true, false) => self.b[i + 1..].to_vec(),
            (true, true) => {
                let behind = (behind < self.n).then_some(behind..self.n);
                behind.into_iter().collect()
            }
        }
    }

    /// All steps in order.
    pub fn steps(&self) -> Vec<TileStep> {
        let mut list = Vec::with_capacity(self.a.len() * self.b.len() + 1);
        // Words of the result that are there.
        let mut there: Range<usize> = 0..0;
        for (i, a) in self.a.iter().enumerate() {
            let beside = self.beside(i);
            for (j, b) in beside.iter().enumerate() {
                let last = j + 1 == beside.len();
                // Above the product of all there is nothing to carry to, nor above one whose upper words are new.
                let carry_word = i > 0 && last && a.end < self.n && !self.rows;
                let tile = Tile {
                    a: a.clone(),
                    b: b.clone(),
                    reload: 0..0,
                    carry_in: (i > 0 && j > 0).then_some(a.len()),
                    carry_out: i > 0 && !last || carry_word,
                    carry_word,
                    last,
                };
                let place = tile.place();
                if there.is_empty() {
                    there.start = place.start;
                }
                let reload = 0..there.end.min(place.end).saturating_sub(place.start);
                there.end = there.end.max(place.end) + usize::from(carry_word);
                list.push(TileStep::Tile(Tile { reload, ..tile }));
            }
        }
        if self.square {
            if !there.is_empty() {
                list.push(TileStep::Double(there.clone()));
                there.end += 1;
            }
            list.extend(self.diagonal(&there).map(TileStep::Tile));
        }
        list
    }

    /// The tiles on the diagonal, with the words `there`: each begins where the one before ends.
    fn diagonal(&self, there: &Range<usize>) -> impl Iterator<Item = Tile> {
        let [there, parts] = [there.clone(), 0..self.a.len()];
        let last = self.a.len() - 1;
        self.a.iter().zip(parts).map(move |(a, i)| {
            let (start, end) = (2 * a.start, 2 * a.end);
            let reload = there.start.max(start)..there.end.min(end);
            Tile {
                a: a.clone(),
                b: a.clone(),
                reload: reload.start - start..reload.end.max(reload.start) - start,
                carry_in: (i > 0).then_some(0),
                carry_out: i < last,
                carry_word: false,
                last: true,
            }
        })
    }

    /// Checks that every product lies in one tile, of a squaring in one or a doubled one, and that
    /// every word a tile adds to is there.
    ///
    /// # Errors
    /// The first violation.
    pub fn check(&self) -> Result<Counts, ScheduleError> {
        let n = self.n;
        for parts in [&self.a, &self.b] {
            let mut next = 0;
            for part in parts {
                if part.start != next || part.is_empty() {
                    return Err(ScheduleError::NotConsecutive(part.start));
                }
                next = part.end;
            }
            if next != n {
                return Err(ScheduleError::NotConsecutive(next));
            }
        }
        let mut found = Found {
            n,
            stored: vec![false; 2 * n],
            times: vec![0; n * n],
            counts: Counts::default(),
        };
        for step in self.steps() {
            match step {
                TileStep::Tile(tile) => found.tile(&tile)?,
                TileStep::Double(words) => found.double(&words)?,
            }
        }
        let Found {
            stored,
            times,
            mut counts,
            ..
        } = found;
        counts.loads += n;
        if let Some(at) = times.iter().position(|t| *t != 1) {
            return Err(ScheduleError::Product(at / n, at % n, times[at]));
        }
        match stored.iter().position(|there| !there) {
            Some(column) => Err(ScheduleError::NotStored(column)),
            None => Ok(counts),
        }
    }
}

/// What the steps so far have made.
struct Found {
    n: usize,
    stored: Vec<bool>,
    /// How often each product is in the result.
    times: Vec<usize>,
    counts: Counts,
}

impl Found {
    fn double(&mut self, words: &Range<usize>) -> Result<(), ScheduleError> {
        if let Some(k) = words.clone().find(|k| !self.stored[*k]) {
            return Err(ScheduleError::ReloadBeforeStore(k));
        }
        self.first(words.end)?;
        let n = self.n;
        for (i, j) in (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))) {
            self.times[n * j + i] = self.times[n * i + j];
        }
        self.counts.loads += words.len();
        self.counts.stores += words.len() + 1;
        Ok(())
    }

    /// A word that was not stored yet is now.
    fn first(&mut self, k: usize) -> Result<(), ScheduleError> {
        match self.stored.get_mut(k) {
            Some(there) if !*there => {
                *there = true;
                Ok(())
            }
            _ => Err(ScheduleError::Overwritten(k)),
        }
    }

    fn tile(&mut self, tile: &Tile) -> Result<(), ScheduleError> {
        let place = tile.place();
        for (k, there) in self.stored[place.clone()].iter_mut().enumerate() {
            match (*there, tile.reload.contains(&k)) {
                (false, true) => return Err(ScheduleError::ReloadBeforeStore(place.start + k)),
                (true, false) => return Err(ScheduleError::Overwritten(place.start + k)),
                _ => *there = true,
            }
        }
        if tile.carry_word {
            self.first(place.end)?;
            self.counts.stores += 1;
        }
        for i in tile.a.clone() {
            for j in tile.b.clone() {
                self.times[self.n * i + j] += 1;
            }
        }
        let counts = &mut self.counts;
        counts.reloads += tile.reload.len();
        counts.loads += tile.reload.len() + tile.b.len();
        counts.stores += place.len();
        counts.products += tile.a.len() * tile.b.len();
        counts.resident = counts.resident.max(tile.a.len() + tile.b.len());
        Ok(())
    }
}
