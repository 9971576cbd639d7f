//! The state of a machine: it is saved where the two ways of a branch part, and joined where they meet.

use crate::domain::word::Domain;
use crate::isa::machine::{BitOf, Machine, Past, WordOf};

/// Registers, flags, and where control is.
pub struct State<M: Machine<W>, const W: u32> {
    words: Vec<WordOf<M, W>>,
    flags: Vec<BitOf<M, W>>,
    doubts: Vec<bool>,
    control: M::Control,
    past: Option<M::Past>,
    pub returned: bool,
}

impl<M: Machine<W>, const W: u32> Clone for State<M, W> {
    fn clone(&self) -> Self {
        Self {
            words: self.words.clone(),
            flags: self.flags.clone(),
            doubts: self.doubts.clone(),
            control: self.control.clone(),
            past: self.past,
            returned: self.returned,
        }
    }
}

/// Copies of what the references are to.
fn copies<T: Clone>(list: Vec<&mut T>) -> Vec<T> {
    list.into_iter().map(|item| item.clone()).collect()
}

/// Writes `new` over what the references are to.
fn write<T>(list: Vec<&mut T>, new: Vec<T>) {
    for (item, new) in list.into_iter().zip(new) {
        *item = new;
    }
}

impl<M: Machine<W>, const W: u32> State<M, W> {
    pub fn of(m: &mut M, returned: bool) -> Self {
        Self {
            words: copies(m.words()),
            flags: copies(m.flags()),
            doubts: copies(m.doubts()),
            control: m.control(),
            past: m.past().copied(),
            returned,
        }
    }

    /// Puts it back.
    pub fn resume(self, m: &mut M) {
        write(m.words(), self.words);
        write(m.flags(), self.flags);
        write(m.doubts(), self.doubts);
        m.set_control(self.control);
        if let (Some(past), Some(was)) = (m.past(), self.past) {
            *past = was;
        }
    }

    /// The numbers in registers and flags, if they are the same in every run.
    pub fn numbers(self, m: &mut M) -> Option<Vec<u64>> {
        let words = self.words.iter();
        let mut list: Vec<_> = words.map(|w| m.domain().value(w)).collect::<Option<_>>()?;
        for flag in &self.flags {
            list.push(m.domain().decide(flag).ok()?.into());
        }
        list.extend(self.doubts.into_iter().map(u64::from));
        Some(list)
    }

    /// What `m` holds where `bit` is set, and what is kept here where it is not.
    pub fn join(self, m: &mut M, bit: &BitOf<M, W>) {
        // Carries first, as where instructions are skipped.
        let mut flags = copies(m.flags());
        for (flag, clear) in flags.iter_mut().zip(&self.flags) {
            *flag = m.domain().select_bit(bit, flag, clear);
        }
        write(m.flags(), flags);
        let mut words = copies(m.words());
        for (word, clear) in words.iter_mut().zip(&self.words) {
            *word = m.domain().select(bit, word, clear);
        }
        write(m.words(), words);
        for (doubt, clear) in m.doubts().into_iter().zip(self.doubts) {
            *doubt |= clear;
        }
        if let (Some(past), Some(clear)) = (m.past(), self.past) {
            *past = past.join(clear);
        }
    }
}
