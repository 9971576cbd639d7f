//! Sparse polynomials, and a form of them in which the term of the newest variable is found quickly.

use std::collections::BinaryHeap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::scaled::Scaled;

/// A factor for each key; none of them vanishes.
pub type Sparse<K> = FxHashMap<K, Scaled>;

/// Adds to an entry of a sparse sum. Is it a new one?
pub(crate) fn accumulate<K: Eq + Hash>(
    sum: &mut Sparse<K>,
    key: K,
    by: &Scaled,
    bits: u64,
) -> bool {
    match sum.entry(key) {
        Entry::Vacant(empty) => {
            empty.insert(by.clone());
            true
        }
        Entry::Occupied(mut old) => {
            old.get_mut().add(by);
            if old.get().vanishes(bits) {
                old.remove();
            }
            false
        }
    }
}

/// What waits for its turn, by a key: the greatest is due first.
pub struct Due<K, T> {
    waiting: FxHashMap<K, T>,
    /// The keys of all that waits, and of what waits no more.
    turns: BinaryHeap<K>,
}

impl<K: Ord, T> Default for Due<K, T> {
    fn default() -> Self {
        Self {
            waiting: FxHashMap::default(),
            turns: BinaryHeap::new(),
        }
    }
}

impl<K: Copy + Ord + Hash, T> Due<K, T> {
    /// The key that is due.
    pub fn last(&mut self) -> Option<K> {
        loop {
            let key = *self.turns.peek()?;
            if self.waiting.contains_key(&key) {
                return Some(key);
            }
            self.turns.pop();
        }
    }

    pub fn get(&self, key: K) -> Option<&T> {
        self.waiting.get(&key)
    }

    pub fn remove(&mut self, key: K) -> Option<T> {
        self.waiting.remove(&key)
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// All that waits, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (K, &T)> {
        self.waiting.iter().map(|(key, waits)| (*key, waits))
    }

    /// What waits under a key, from now on if nothing did.
    pub fn entry(&mut self, key: K) -> &mut T
    where
        T: Default,
    {
        let turns = &mut self.turns;
        self.waiting.entry(key).or_insert_with(|| {
            turns.push(key);
            T::default()
        })
    }
}

impl<K: Copy + Ord + Hash> Due<K, Scaled> {
    /// Adds to a term.
    pub fn add(&mut self, key: K, by: &Scaled, bits: u64) {
        if accumulate(&mut self.waiting, key, by, bits) {
            self.turns.push(key);
        }
    }

    /// Exchanges a term.
    pub fn insert(&mut self, key: K, by: Scaled) {
        if self.waiting.insert(key, by).is_none() {
            self.turns.push(key);
        }
    }
}
