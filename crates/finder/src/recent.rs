//! A bounded memory of results: the last [`Recent::KEPT`] at least, twice as many at most.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Results by what they were computed from.
#[derive(Clone, Debug)]
pub struct Recent<K, V> {
    new: FxHashMap<K, V>,
    old: FxHashMap<K, V>,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self {
            new: FxHashMap::default(),
            old: FxHashMap::default(),
        }
    }
}

impl<K: Hash + Eq, V: Copy> Recent<K, V> {
    /// Results that are certainly still known.
    pub const KEPT: usize = 4096;

    /// The result for `key`, if it is still known.
    pub fn get(&self, key: &K) -> Option<V> {
        self.new.get(key).or_else(|| self.old.get(key)).copied()
    }

    /// All results that are still known.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        let old = self
            .old
            .iter()
            .filter(|(key, _)| !self.new.contains_key(*key));
        self.new.iter().chain(old)
    }

    /// Remembers the result for `key`.
    pub fn put(&mut self, key: K, value: V) {
        if self.new.len() == Self::KEPT {
            self.old = std::mem::take(&mut self.new);
        }
        self.new.insert(key, value);
    }
}
