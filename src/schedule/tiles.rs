//! Products made by additions: tiles of the rhombus, `e` words of A by `f` words of B.
//!
//! A machine without a multiplier adds `A[..]` for every bit of B that is set. Doing so for a
//! tile at once shifts only its `e + f` words, 8 times (or 32), whatever their number. Tiles
//! follow one another along B, then along A. With `C` what is in memory and `d` the carry of
//! the tile before, at the place where that tile ended, a tile computes
//!
//! `(d, C) = A * B + C + 2^(w e) d`,
//!
//! and `A B + 2^(w e) d < 2^(w (e + f))`, so that one carry leaves its last addition.

use std::ops::Range;

use super::{Counts, ScheduleError};

/// How a word is added under a bit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Select {
    /// The addition is executed or not, in the same time.
    Conditional,
    /// The word is masked first: what is executed does not depend on operands.
    Mask,
}

/// Tiles of a multiplication of `n` by `n` words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tiles {
    pub n: usize,
    /// Consecutive words of A, and of B.
    pub a: Vec<Range<usize>>,
    pub b: Vec<Range<usize>>,
    pub select: Select,
}

/// One tile and what its last addition meets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tile {
    pub a: Range<usize>,
    pub b: Range<usize>,
    /// Words of the result already there, from `a.start + b.start` on.
    pub reload: usize,
    pub carry_in: bool,
    /// A carry may leave: the next tile of this `a` takes it, or it becomes a word of its own.
    pub carry_out: bool,
    /// The last one of its `a`.
    pub last: bool,
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
        let (a, b) = (even(n, e), even(n, f));
        Self { n, a, b, select }
    }

    /// All tiles in order.
    pub fn tiles(&self) -> Vec<Tile> {
        let mut list = Vec::with_capacity(self.a.len() * self.b.len());
        // Words of the result that are there: 0 .. stored.
        let mut stored = 0;
        for (i, a) in self.a.iter().enumerate() {
            let end = a.end + self.n;
            for (j, b) in self.b.iter().enumerate() {
                let last = j + 1 == self.b.len();
                let (first, top) = (a.start + b.start, a.end + b.end);
                list.push(Tile {
                    a: a.clone(),
                    b: b.clone(),
                    reload: stored.min(top) - first.min(stored),
                    carry_in: i > 0 && j > 0,
                    // Above the product of all there is nothing to carry to.
                    carry_out: i > 0 && !(last && end == 2 * self.n),
                    last,
                });
                stored = stored.max(top);
            }
            if i > 0 && end < 2 * self.n {
                stored += 1;
            }
        }
        list
    }

    /// Checks that every product lies in one tile, and that every word a tile adds to is there.
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
        let mut counts = Counts::default();
        let mut stored = vec![false; 2 * n];
        for tile in self.tiles() {
            let (first, top) = (tile.a.start + tile.b.start, tile.a.end + tile.b.end);
            for (k, there) in stored.iter_mut().enumerate().take(top).skip(first) {
                match (*there, k < first + tile.reload) {
                    (false, true) => return Err(ScheduleError::ReloadBeforeStore(k)),
                    (true, false) => return Err(ScheduleError::Overwritten(k)),
                    _ => *there = true,
                }
            }
            if tile.last && tile.carry_out {
                match stored.get_mut(top) {
                    Some(there) if !*there => *there = true,
                    _ => return Err(ScheduleError::Overwritten(top)),
                }
                counts.stores += 1;
            }
            counts.reloads += tile.reload;
            counts.loads += tile.reload + tile.b.len();
            counts.stores += top - first;
            counts.products += tile.a.len() * tile.b.len();
            counts.resident = counts.resident.max(tile.a.len() + tile.b.len());
        }
        counts.loads += n;
        match stored.iter().position(|there| !there) {
            Some(column) => Err(ScheduleError::NotStored(column)),
            None => Ok(counts),
        }
    }
}
