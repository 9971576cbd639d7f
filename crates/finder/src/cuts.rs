//! Words that were cut into pieces of bits, and these pieces.

use machine::domain::variable::{Value, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::truth::Told;

/// Bits `from .. to` of the word `whole`, whose bound has `width` bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Section {
    pub(crate) whole: VarId,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) width: u32,
}

/// Cuts made so far.
#[derive(Default)]
pub(crate) struct Cuts {
    /// The words of sections.
    pub(crate) words: FxHashMap<Section, Value>,
    /// The sections that variables are.
    pub(crate) sections: FxHashMap<VarId, Section>,
    /// Words that fall apart by their definitions.
    pub(crate) exact: FxHashMap<(VarId, u32), (Value, Value)>,
    /// Cuts that were written down.
    pub(crate) noted: FxHashSet<(VarId, u32)>,
    /// The definitions that show a cut, until it is written down.
    pub(crate) shown: FxHashMap<(VarId, u32), Vec<VarId>>,
}

impl Cuts {
    /// `v = lo + 2 hi` by its definition.
    pub(crate) fn whole(&mut self, v: VarId, parts: (Value, Value)) {
        self.exact.insert((v, 1), parts);
    }

    /// What words are pieces of which.
    pub(crate) fn told(&self) -> impl Iterator<Item = Told> {
        let exact = self.exact.iter();
        let exact = exact.map(|((word, at), (low, high))| Told::Cut {
            word: *word,
            at: *at,
            low: *low,
            high: *high,
        });
        let sections = self.sections.iter();
        exact.chain(sections.map(|(word, section)| Told::Section {
            word: *word,
            whole: section.whole,
            from: section.from,
            to: section.to,
        }))
    }
}
